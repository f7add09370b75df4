#include "verify/compare.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/float_formats.h"
#include "verify/fill.h"

namespace normtune {
namespace {

// Blocks of the scan, odd ends, and more hits than a 16-bit counter holds.
constexpr std::int64_t many = 200'003;

std::vector<std::byte> codes(Dtype dtype, std::int64_t count, std::uint32_t code) {
    const auto size = static_cast<std::size_t>(bytes_of(dtype));
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size);
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        std::memcpy(bytes.data() + at, &code, size);
    }
    return bytes;
}

void put(Dtype dtype, std::vector<std::byte>& bytes, std::int64_t place, std::uint32_t code) {
    const auto size = static_cast<std::size_t>(bytes_of(dtype));
    std::memcpy(bytes.data() + static_cast<std::size_t>(place) * size, &code, size);
}

struct Codes {
    Dtype dtype;
    std::uint32_t one;
    std::uint32_t largest;
    std::uint32_t infinity;
};

class ScanCodes : public ::testing::TestWithParam<Codes> {};

TEST_P(ScanCodes, CountsEveryElement) {
    const auto [dtype, one, largest, infinity] = GetParam();
    const Scan unwritten = scan_codes(dtype, codes(dtype, many, row_of(dtype).poison));
    EXPECT_EQ(unwritten.unwritten, many);
    EXPECT_EQ(unwritten.not_finite, many);
    EXPECT_EQ(unwritten.first, 0);
    const Scan infinite = scan_codes(dtype, codes(dtype, many, infinity));
    EXPECT_EQ(infinite.unwritten, 0);
    EXPECT_EQ(infinite.not_finite, many);
}

TEST_P(ScanCodes, FindsSingleOnesWhereverTheyAre) {
    const auto [dtype, one, largest, infinity] = GetParam();
    std::vector<std::byte> bytes = codes(dtype, many, one);
    put(dtype, bytes, 17, largest);
    EXPECT_EQ(scan_codes(dtype, bytes).not_finite, 0);
    EXPECT_EQ(scan_codes(dtype, bytes).first, -1);
    for (const std::int64_t place : {std::int64_t{0}, std::int64_t{4095}, std::int64_t{4096}, many - 1}) {
        std::vector<std::byte> with = bytes;
        put(dtype, with, place, infinity);
        EXPECT_EQ(scan_codes(dtype, with).not_finite, 1) << place;
        EXPECT_EQ(scan_codes(dtype, with).unwritten, 0) << place;
        EXPECT_EQ(scan_codes(dtype, with).first, place);
        put(dtype, with, place, row_of(dtype).poison);
        EXPECT_EQ(scan_codes(dtype, with).unwritten, 1) << place;
    }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, ScanCodes,
                         ::testing::Values(Codes{Dtype::bf16, 0x3f80, 0x7f7f, 0xff80}, Codes{Dtype::fp16, 0x3c00, 0x7bff, 0x7c00},
                                           Codes{Dtype::fp32, 0x3f800000, 0x7f7fffff, 0x7f800000}),
                         [](const auto& one) { return std::string(dtype_names.name(one.param.dtype)); });

}  // namespace
}  // namespace normtune
