#include "kernels/cpu/element.h"

#include <bit>

#include "kernels/cpu/vector_baseline.h"

namespace normtune::cpu {

float to_float(bf16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

float to_float(fp16 value) {
    return baseline::Vector::widen_fp16(value.bits);
}

bf16 to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
    }
    return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

fp16 to_fp16(float value) {
    return {baseline::Vector::narrow_fp16(value)};
}

}  // namespace normtune::cpu
