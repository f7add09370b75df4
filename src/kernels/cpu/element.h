// The 16-bit element types of the CPU kernels, and their scalar conversions (round to nearest even, NaN stays NaN).
#pragma once

#include <cstdint>

namespace normtune::cpu {

struct bf16 {
    std::uint16_t bits;
};
struct fp16 {
    std::uint16_t bits;
};

// Not inline: sources compiled for a wider instruction set include this header, and the linker may keep any one copy
// of an inline function, also on a processor that cannot run it.
float to_float(bf16 value);
float to_float(fp16 value);
bf16 to_bf16(float value);
fp16 to_fp16(float value);

}  // namespace normtune::cpu
