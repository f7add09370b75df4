// Every pair of values that the kernels can express, on the emulated GPU, against the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "kernels/gpu/covering/covering_array.h"
#include "kernels/gpu/covering/kernel_cases.h"
#include "kernels/gpu/emulated_device.h"
#include "kernels/gpu/without_sanitizer.h"
#include "verify/verifier.h"

namespace normtune::covering {
namespace {

const auto any_row = [](const Row&) { return true; };
const auto no_cost = [](const Row&) { return 0.0; };

TEST(CoveringArray, HasEveryPairInFewRows) {
    const std::vector<int> values{3, 3, 3, 3, 5};
    const Array array = cover_pairs(values, {Row(5, 0)}, any_row, no_cost);
    EXPECT_TRUE(array.uncovered.empty());
    EXPECT_TRUE(missing_pairs(values, array.rows).empty());
    EXPECT_LE(array.rows.size(), 25u);  // of 405; no fewer than 15 would do
    EXPECT_EQ(array.rows, cover_pairs(values, {Row(5, 0)}, any_row, no_cost).rows);
}

TEST(CoveringArray, KeepsToWhatIsAllowedAndNamesWhatIsNot) {
    const std::vector<int> values{3, 4, 2};
    const auto allowed = [](const Row& row) { return row[0] != 2 || row[1] != 3; };
    const Array array = cover_pairs(values, {Row(3, 0)}, allowed, no_cost);
    EXPECT_EQ(array.uncovered, (std::vector<Pair>{{0, 2, 1, 3}}));
    EXPECT_EQ(missing_pairs(values, array.rows), array.uncovered);
    for (const Row& row : array.rows) {
        EXPECT_TRUE(allowed(row));
    }
    EXPECT_THROW(cover_pairs(values, {Row{2, 3, 0}}, allowed, no_cost), std::invalid_argument);
}

using Texts = std::vector<std::string>;

/// Pairs that no case can have, and why.
std::set<std::string> excluded_pairs(int warp_size) {
    std::set<std::string> out;
    const auto exclude = [&out](const char* first, const Texts& values, const char* second, const Texts& others) {
        for (const std::string& value : values) {
            for (const std::string& other : others) {
                out.insert(std::string(first) + "=" + value + " " + second + "=" + other);
            }
        }
    };
    const Texts tiles{"64x64x4", "32x8x1", "16x32x2", "32x16x4"};
    Texts deferred{"cooperative/d1", "cooperative/d2"};
    Texts reduced{"partials", "split", "cooperative"};
    if (warp_size == 32) {
        deferred.insert(deferred.end(), {"published/d1", "published/d2"});
        reduced.emplace_back("published");
    }
    reduced.insert(reduced.end(), deferred.begin(), deferred.end());
    Texts sums = reduced;
    sums.emplace_back("atomic");
    const Texts forward{"rms_norm/forward", "rms_norm/inference", "fused_add_rms_norm/forward", "fused_add_rms_norm/inference"};
    // The forward has no gradients, the backward adds no residual, and without gamma there is nothing of it.
    exclude("op/mode", {"rms_norm/forward", "fused_add_rms_norm/forward"}, "in_place", {"true"});
    exclude("op/mode", forward, "dgamma", sums);
    exclude("op/mode", forward, "tile", tiles);
    exclude("op/mode", {"rms_norm/forward", "rms_norm/backward", "rms_norm/full", "rms_norm/inference", "fused_add_rms_norm/backward"},
            "residual", {"fp32"});
    exclude("gamma_dtype/gamma", {"weightless"}, "offset", {"1"});
    exclude("gamma_dtype/gamma", {"weightless"}, "dgamma", sums);
    exclude("gamma_dtype/gamma", {"weightless"}, "tile", tiles);
    exclude("dgamma", {"none", "atomic"}, "tile", tiles);
    exclude("dgamma", reduced, "tile", {"none"});
    // An fp32 gamma is that of fp32 rows, and two bytes are no element of them.
    const Texts fp32{"fp32/llama", "fp32/gemma", "fp32/none"};
    exclude("dtype/casting", fp32, "gamma_dtype/gamma", {"fp32/after", "fp32/before", "fp32/hoisted"});
    exclude("dtype/casting", fp32, "vector_bytes", {"2"});
    // Too much to emulate.
    exclude("rows", {"173"}, "cols", {"3571", "4096", "17389"});
    exclude("rows", {"601"}, "cols", {"1000", "3571", "4096", "17389"});
    exclude("rows", {"601"}, "threads_per_row", {"512", "1024"});
    exclude("rows", {"173"}, "block_size", {"4096"});
    exclude("rows", {"601"}, "block_size", {"1024", "4096"});
    // A block of mostly nothing.
    exclude("cols", {"64"}, "block_size", {"128", "1024", "4096"});
    exclude("cols", {"96", "409", "512"}, "block_size", {"1024", "4096"});
    exclude("cols", {"1000"}, "block_size", {"4096"});
    // Four threads, the least, take at least eight columns at once; vectors divide rows or are narrower.
    exclude("cols", {"409", "1000", "3571", "17389"}, "reduction", {"even"});
    exclude("cols", {"409", "3571", "17389"}, "vector_bytes", {"8", "16"});
    exclude("gap", {"67"}, "vector_bytes", {"8", "16"});
    // A row's threads are the program's at most, and take at most 32 vectors each of a block, all of it at least.
    for (const int warps : {1, 2, 4, 8, 16}) {
        for (const int threads : {64, 128, 256, 512, 1024}) {
            if (warps * warp_size < threads) {
                exclude("num_warps", {std::to_string(warps)}, "threads_per_row", {std::to_string(threads)});
            }
        }
    }
    exclude("threads_per_row", {"4", "8"}, "block_size", {"4096"});
    exclude("threads_per_row", {"256", "512", "1024"}, "block_size", {"128"});
    // What comes directly would have waited in shared memory, as a whole row.
    exclude("op/mode",
            {"rms_norm/forward", "rms_norm/backward", "rms_norm/full", "rms_norm/inference", "fused_add_rms_norm/forward",
             "fused_add_rms_norm/inference"},
            "incoming_ds", {"direct"});
    exclude("residency/stages", {"registers/1", "registers/2", "registers/3", "reload/1"}, "incoming_ds", {"direct"});
    exclude("block_size", {"128", "1024", "4096"}, "incoming_ds", {"direct"});
    // per_row has one row a program, so one step of it, and no row to fetch ahead.
    exclude("threads_per_row", {"4", "8", "16"}, "grid/rows_binding", {"per_row"});
    exclude("steps", {"2", "3"}, "grid/rows_binding", {"per_row"});
    exclude("tile_rows", {"2", "4"}, "grid/rows_binding", {"per_row"});
    exclude("residency/stages", {"registers/2", "registers/3"}, "grid/rows_binding", {"per_row"});
    exclude("grid/rows_binding", {"per_row"}, "dgamma", deferred);
    exclude("grid/rows_binding", {"packed/constexpr", "packed/runtime", "per_row"}, "programs_per_sm", {"2"});
    if (warp_size == 64) {
        exclude("threads_per_row", {"32"}, "grid/rows_binding", {"per_row"});
        // Two rows of it are more shared memory than a program has.
        exclude("cols", {"17389"}, "dgamma", {"cooperative/d2"});
        // As are x and dy.
        exclude("cols", {"17389"}, "incoming_ds", {"direct"});
    } else {
        exclude("residency/stages", {"shared/2", "shared/3"}, "grid/rows_binding", {"per_row"});
        // Bulk copies fetch whole rows ahead, in units of 16 bytes; results leave by them from shared memory, all of them.
        const Texts bulk{"tma_loads", "tma"};
        exclude("residency/stages", {"registers/1", "shared/1", "reload/1"}, "staging", bulk);
        exclude("residency/stages", {"registers/2", "registers/3"}, "staging", {"tma"});
        exclude("staging", bulk, "grid/rows_binding", {"per_row"});
        exclude("staging", bulk, "vector_bytes", {"2", "4", "8"});
        exclude("cols", {"409", "3571", "17389"}, "staging", bulk);
        exclude("gap", {"67"}, "staging", bulk);
        exclude("staging", {"tma"}, "dgamma", deferred);
        // Rows side by side come by one copy if each is one access of its threads: four of them have 32 columns at most.
        exclude("threads_per_row", {"4"}, "staging", bulk);
    }
    return out;
}

class CoveredKernels : public testing::WithoutSanitizer<int> {};

TEST_P(CoveredKernels, HaveEveryPairThatTheyCanExpress) {
    const DeviceInfo device = testing::emulated_device_info(GetParam());
    const std::vector<Factor> factors = kernel_factors(device);
    const Array array = covering_cases(factors, device);
    std::set<std::string> uncovered;
    for (const Pair& pair : missing_pairs(value_counts(factors), array.rows)) {
        uncovered.insert(pair_text(factors, pair));
    }
    const std::set<std::string> excluded = excluded_pairs(GetParam());
    std::vector<std::string> only_one;
    std::set_symmetric_difference(uncovered.begin(), uncovered.end(), excluded.begin(), excluded.end(), std::back_inserter(only_one));
    EXPECT_EQ(only_one, std::vector<std::string>()) << "excluded and covered, or the other way round";
    for (const Row& row : array.rows) {
        EXPECT_EQ(objection(kernel_case(factors, row, device), device), "");
    }
    const std::vector<int> values = value_counts(factors);
    const std::size_t pairs = missing_pairs(values, {}).size() - uncovered.size();
    std::cout << "warp size " << GetParam() << ": " << pairs << " pairs of values in " << array.rows.size()
              << " cases, each on two shapes\n";
}

INSTANTIATE_TEST_SUITE_P(WarpSize, CoveredKernels, ::testing::Values(32, 64),
                         [](const auto& given) { return std::to_string(given.param); });

struct Share {
    int warp_size;
    std::size_t number;
};
constexpr std::size_t shares = 10;

void PrintTo(const Share& share, std::ostream* out) {
    *out << "share " << share.number << " of " << shares << ", warps of " << share.warp_size;
}

class EmulatedShare : public testing::WithoutSanitizer<Share> {};

/// The case's own shape, and one row.
TEST_P(EmulatedShare, ComputesWhatTheOracleSays) {
    const DeviceInfo info = testing::emulated_device_info(GetParam().warp_size);
    const std::vector<Factor> factors = kernel_factors(info);
    const Array array = covering_cases(factors, info);
    int cases = 0;
    for (std::size_t i = GetParam().number; i < array.rows.size(); i += shares, ++cases) {
        const KernelCase given = kernel_case(factors, array.rows[i], info);
        SCOPED_TRACE(given.text());
        const Shape& shape = given.problem.shape;
        testing::EmulationOptions options;
        options.supports = [&](const Shape& wanted) { return wanted == shape || wanted == Shape{1, shape.cols, shape.row_stride}; };
        testing::EmulatedDevice device(info.warp_size, options);
        try {
            const Verification verification = Verifier(device, given.problem, 7).verify(given.configuration);
            EXPECT_TRUE(verification.passed) << verification.reason;
            EXPECT_EQ(verification.shapes.size(), 2u);
        } catch (const DeviceError& error) {
            ADD_FAILURE() << error.what();
        }
    }
    std::cout << "warp size " << info.warp_size << ", share " << GetParam().number << ": " << cases << " of " << array.rows.size()
              << " cases\n";
}

std::vector<Share> all_shares() {
    std::vector<Share> out;
    for (const int warp_size : {32, 64}) {
        for (std::size_t number = 0; number < shares; ++number) {
            out.push_back({warp_size, number});
        }
    }
    return out;
}

INSTANTIATE_TEST_SUITE_P(Space, EmulatedShare, ::testing::ValuesIn(all_shares()), [](const auto& given) {
    return "warps_of_" + std::to_string(given.param.warp_size) + "_share_" + std::to_string(given.param.number);
});

}  // namespace
}  // namespace normtune::covering
