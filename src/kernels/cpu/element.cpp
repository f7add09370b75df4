#include "kernels/cpu/element.h"

#include <bit>

namespace normtune::cpu {

float to_float(bf16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

bf16 to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
    }
    return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

float to_float(fp16 value) {
    const std::uint32_t sign = (value.bits & 0x8000U) << 16;
    const std::uint32_t magnitude = value.bits & 0x7fffU;
    if (magnitude >= 0x7c00U) {  // inf, NaN
        return std::bit_cast<float>(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13));
    }
    // Exponents differ by 112; the multiplication also makes subnormals right, exactly.
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112F));
}

fp16 to_fp16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000U) {
        half = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
    } else if (magnitude >= 0x477ff000U) {  // 65520 and above round to infinity
        half = 0x7c00U;
    } else if (magnitude < 0x38800000U) {  // below 2⁻¹⁴: adding 1/2 leaves units of 2⁻²⁴, rounded to even
        half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
    } else {
        half = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
    }
    return {static_cast<std::uint16_t>(sign | half)};
}

}  // namespace normtune::cpu
