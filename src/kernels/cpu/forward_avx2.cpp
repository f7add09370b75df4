#include "kernels/cpu/forward_table.h"
#include "kernels/cpu/pass_sets.h"
#include "kernels/cpu/vector_avx2.h"

namespace normtune::cpu::avx2 {

void add_forward(PassSet& set) {
    using Table = ForwardTable<InstructionSet>;
    set.name = InstructionSet::name;
    set.lanes = Single::lanes;
    set.square_sum = &Table::square_sum;
    set.scale_rows = &Table::scale_rows;
    set.resident_forward = &Table::resident;
    set.prepare_gamma = &Table::prepare_gamma;
    set.copy = &Table::copy;
    set.copy_stream = &Table::copy_stream;
    set.read = &Table::read;
    set.fence = &InstructionSet::fence;
}

}  // namespace normtune::cpu::avx2
