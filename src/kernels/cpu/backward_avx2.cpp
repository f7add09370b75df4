#include "kernels/cpu/backward_table.h"
#include "kernels/cpu/pass_sets.h"
#include "kernels/cpu/vector_avx2.h"

namespace normtune::cpu::avx2 {

void add_backward(PassSet& set) {
    using Table = BackwardTable<InstructionSet>;
    set.gradient_sum = &Table::gradient_sum;
    set.gradient_rows = &Table::gradient_rows;
    set.resident_backward = &Table::resident;
    set.column_gradient = &Table::column_gradient;
    set.fold = &Table::fold;
}

}  // namespace normtune::cpu::avx2
