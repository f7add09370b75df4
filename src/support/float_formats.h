// bf16 and fp16 to float and double and back. Decoding is exact; encoding rounds once, to nearest even, and overflows
// to infinity. Rounding a double does not pass through float, which would round twice. Branch-free, so loops vectorise.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace normtune {

inline float bf16_to_float(std::uint16_t code) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

inline std::uint16_t bf16_from_float(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    return static_cast<std::uint16_t>(value != value ? (bits >> 16) | 0x40U : rounded);  // NaN stays NaN, made quiet
}

inline float fp16_to_float(std::uint16_t code) {
    const std::uint32_t magnitude = code & 0x7fffU;
    const std::uint32_t normal = (magnitude << 13) + (112U << 23);  // exponent bias 15 → 127
    const auto subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
    const std::uint32_t special = (magnitude << 13) | 0x7f800000U;
    const std::uint32_t bits = magnitude < 0x400U ? subnormal : magnitude < 0x7c00U ? normal : special;
    return std::bit_cast<float>(bits | (static_cast<std::uint32_t>(code & 0x8000U) << 16));
}

inline std::uint16_t fp16_from_float(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    const std::uint32_t normal = (magnitude - (112U << 23) + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
    // Adding ½ puts the least subnormal, 2⁻²⁴, at the last place, so the addition itself rounds.
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000U;
    const std::uint32_t special = magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U;  // 65520 and above round to infinity
    const std::uint32_t code = magnitude < 0x38800000U ? subnormal : magnitude < 0x477ff000U ? normal : special;
    return static_cast<std::uint16_t>(code | ((bits >> 16) & 0x8000U));
}

/// Nearest value with `fraction_bits` stored bits, least normal exponent `least` and exponents up to `1 - least`.
template <int fraction_bits, int least>
double round_to_format(double value) {
    constexpr int dropped = 52 - fraction_bits;
    constexpr std::uint64_t mask = (std::uint64_t{1} << dropped) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const double normal = std::bit_cast<double>((bits + (mask >> 1) + ((bits >> dropped) & 1U)) & ~mask);
    // 1.5·2⁵² quanta: the sum's last place is one quantum (the least subnormal), so the addition itself rounds.
    constexpr double quantum = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + least - fraction_bits) << 52);
    constexpr double shifter = 0x1.8p52 * quantum;
    const double subnormal = (value + shifter) - shifter;
    constexpr double least_normal = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + least) << 52);
    constexpr double beyond = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 2 - least) << 52);
    const double magnitude = std::fabs(value);
    const double rounded = magnitude < least_normal ? subnormal : normal;
    const double bounded = std::fabs(rounded) < beyond ? rounded : std::copysign(std::numeric_limits<double>::infinity(), value);
    return magnitude <= std::numeric_limits<double>::max() ? bounded : value;
}

inline double round_to_bf16(double value) {
    return round_to_format<7, -126>(value);
}
inline double round_to_fp16(double value) {
    return round_to_format<10, -14>(value);
}
inline double round_to_fp32(double value) {
    return static_cast<double>(static_cast<float>(value));
}

}  // namespace normtune
