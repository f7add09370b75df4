#include "kernels/cpu/element.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace normtune::cpu {
namespace {

/// Rounding by its definition: of the two neighbours the nearer one, at equal distance the even one.
template <class T, class Convert>
void expect_nearest(float value, Convert convert) {
    const T got = convert(value);
    const auto distance = [&](std::uint16_t bits) { return std::abs(static_cast<double>(to_float(T{bits})) - static_cast<double>(value)); };
    const double own = distance(got.bits);
    for (const int step : {-1, 1}) {
        const auto other = static_cast<std::uint16_t>(got.bits + step);
        if ((other & 0x8000U) != (got.bits & 0x8000U) || !std::isfinite(to_float(T{other}))) {
            continue;
        }
        EXPECT_LE(own, distance(other)) << value;
        if (own == distance(other)) {
            EXPECT_EQ(got.bits % 2, 0) << value;
        }
    }
}

TEST(Element, Every16BitValueComesBack) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const bf16 b{static_cast<std::uint16_t>(bits)};
        const fp16 h{static_cast<std::uint16_t>(bits)};
        if (std::isnan(to_float(b))) {
            EXPECT_TRUE(std::isnan(to_float(to_bf16(to_float(b)))));
        } else {
            EXPECT_EQ(to_bf16(to_float(b)).bits, b.bits);
        }
        if (std::isnan(to_float(h))) {
            EXPECT_TRUE(std::isnan(to_float(to_fp16(to_float(h)))));
        } else {
            EXPECT_EQ(to_fp16(to_float(h)).bits, h.bits);
        }
    }
}

TEST(Element, RoundsToNearestEven) {
    // All exponents, and lower halves around a tie.
    for (std::uint32_t upper = 0; upper < 0x7f80; upper += 3) {
        for (const std::uint32_t lower : {0x0U, 0x1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
            const auto value = std::bit_cast<float>((upper << 16) | lower);
            expect_nearest<bf16>(value, to_bf16);
            expect_nearest<bf16>(-value, to_bf16);
            if (value < 65504.0F) {
                expect_nearest<fp16>(value, to_fp16);
            }
        }
    }
    for (std::uint32_t half = 0; half < 0x7bff; ++half) {  // the ties of fp16, subnormal ones included
        const float low = to_float(fp16{static_cast<std::uint16_t>(half)});
        const float high = to_float(fp16{static_cast<std::uint16_t>(half + 1)});
        expect_nearest<fp16>((low + high) / 2, to_fp16);
    }
}

TEST(Element, OverflowAndSpecialValues) {
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(to_fp16(65519.0F).bits, 0x7bff);
    EXPECT_EQ(to_fp16(65520.0F).bits, 0x7c00);
    EXPECT_EQ(to_fp16(-1e9F).bits, 0xfc00);
    EXPECT_EQ(to_fp16(infinity).bits, 0x7c00);
    EXPECT_EQ(to_bf16(infinity).bits, 0x7f80);
    EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()).bits, 0x7f80);
    EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(0x7f800001U)))));
    EXPECT_TRUE(std::isnan(to_float(to_fp16(std::bit_cast<float>(0x7f800001U)))));
    EXPECT_EQ(to_float(fp16{0x0001}), 0x1p-24F);
}

}  // namespace
}  // namespace normtune::cpu
