// How the sources of one instruction set fill their PassSet.
#pragma once

#include "kernels/cpu/row_tile.h"

namespace normtune::cpu {

namespace baseline {
void add_forward(PassSet& set);
void add_backward(PassSet& set);
}  // namespace baseline
namespace avx2 {
void add_forward(PassSet& set);
void add_backward(PassSet& set);
}  // namespace avx2
namespace avx512 {
void add_forward(PassSet& set);
void add_backward(PassSet& set);
}  // namespace avx512

}  // namespace normtune::cpu
