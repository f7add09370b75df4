#include "support/float_formats.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Format {
    float (*decode)(std::uint16_t);
    std::uint16_t (*encode)(float);
    double (*round)(double);
    std::uint16_t largest;  // code of the largest finite value
};

class SixteenBit : public ::testing::TestWithParam<Format> {};

TEST_P(SixteenBit, EveryCodeComesBack) {
    const Format& format = GetParam();
    for (std::uint32_t code = 0; code <= 0xffff; ++code) {
        const float value = format.decode(static_cast<std::uint16_t>(code));
        if (std::isnan(value)) {
            EXPECT_TRUE(std::isnan(format.decode(format.encode(value)))) << code;
            EXPECT_TRUE(std::isnan(format.round(static_cast<double>(value))));
        } else {
            ASSERT_EQ(format.encode(value), code);
            ASSERT_EQ(format.round(static_cast<double>(value)), static_cast<double>(value)) << code;
        }
    }
}

TEST_P(SixteenBit, MidpointsGoToTheEvenCodeAndNeighboursToTheNearest) {
    const Format& format = GetParam();
    for (std::uint16_t code = 0; code < format.largest; ++code) {
        const auto low = static_cast<double>(format.decode(code));
        const auto high = static_cast<double>(format.decode(static_cast<std::uint16_t>(code + 1)));
        const double middle = (low + high) / 2;
        const double even = code % 2 == 0 ? low : high;
        ASSERT_EQ(format.round(middle), even) << code;
        ASSERT_EQ(format.round(-middle), -even) << code;
        ASSERT_EQ(format.decode(format.encode(static_cast<float>(middle))), static_cast<float>(even)) << code;
        // A double just off the midpoint: a detour through float would lose the difference and round to even.
        ASSERT_EQ(format.round(std::nextafter(middle, 1e300)), high) << code;
        ASSERT_EQ(format.round(std::nextafter(middle, 0.0)), low) << code;
        if (std::isnormal(static_cast<float>(middle))) {
            ASSERT_EQ(format.decode(format.encode(std::nextafter(static_cast<float>(middle), infinity))), static_cast<float>(high));
        }
    }
}

TEST_P(SixteenBit, OverflowsHalfAStepAboveTheLargest) {
    const Format& format = GetParam();
    const auto largest = static_cast<double>(format.decode(format.largest));
    const double step = largest - static_cast<double>(format.decode(static_cast<std::uint16_t>(format.largest - 1)));
    const double edge = largest + step / 2;
    EXPECT_EQ(format.round(std::nextafter(edge, 0.0)), largest);
    EXPECT_TRUE(std::isinf(format.round(edge)));
    EXPECT_EQ(format.decode(format.encode(std::nextafter(static_cast<float>(edge), 0.0f))), static_cast<float>(largest));
    EXPECT_EQ(format.decode(format.encode(static_cast<float>(edge))), infinity);
    EXPECT_EQ(format.decode(format.encode(-infinity)), -infinity);
    EXPECT_EQ(format.round(-std::numeric_limits<double>::infinity()), -std::numeric_limits<double>::infinity());
}

INSTANTIATE_TEST_SUITE_P(Formats, SixteenBit,
                         ::testing::Values(Format{bf16_to_float, bf16_from_float, round_to_bf16, 0x7f7f},
                                           Format{fp16_to_float, fp16_from_float, round_to_fp16, 0x7bff}));

TEST(Fp16, KnownValues) {
    EXPECT_EQ(fp16_to_float(0x3c00), 1.0f);
    EXPECT_EQ(fp16_to_float(0x0001), 0x1p-24f);
    EXPECT_EQ(fp16_to_float(0x7bff), 65504.0f);
    EXPECT_EQ(fp16_from_float(0.1f), 0x2e66);
    EXPECT_EQ(fp16_from_float(0x1p-25f), 0) << "half of the least subnormal goes to even";
    EXPECT_EQ(fp16_from_float(0x1.8p-25f), 1);
}

TEST(Bf16, KnownValues) {
    EXPECT_EQ(bf16_to_float(0x3f80), 1.0f);
    EXPECT_EQ(bf16_from_float(3.14159265f), 0x4049);
    EXPECT_EQ(bf16_from_float(1 + 0x1p-8f), 0x3f80) << "a tie goes to even";
}

}  // namespace
}  // namespace normtune
