// Sweeps of the same code, recorded one after another: whatever compare calls changed between them is a false alarm.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "judge/comparison.h"
#include "support/sanitized.h"

namespace normtune {
namespace {

TEST(Recorded, FewEqualPairsAreCalledAndInFewComparisons) {
    NORMTUNE_NOT_SANITIZED("rates of many draws");
    int folders = 0;
    for (const auto& folder : std::filesystem::directory_iterator(std::string(NORMTUNE_SOURCE_DIR) + "/tests/data/repeated")) {
        std::vector<ResultRows> sweeps;
        for (const auto& file : std::filesystem::directory_iterator(folder)) {
            sweeps.push_back(read_result_rows(file.path().string()));
        }
        ASSERT_GE(sweeps.size(), 6U) << folder.path();
        std::size_t pairs = 0;
        std::size_t called = 0;
        double comparisons = 0;
        double with_calls = 0;
        for (const ResultRows& before : sweeps) {
            for (const ResultRows& after : sweeps) {
                if (&before != &after) {
                    CompareSettings settings;
                    settings.judge_same_code = true;
                    const Comparison comparison = compare(before, after, settings);
                    EXPECT_EQ(comparison.not_comparable, "");
                    pairs += comparison.pairs.size();
                    const std::size_t of_this = comparison.count(Verdict::slower) + comparison.count(Verdict::faster);
                    called += of_this;
                    ++comparisons;
                    with_calls += of_this > 0 ? 1 : 0;
                }
            }
        }
        ++folders;
        EXPECT_GE(pairs, 1000U);
        EXPECT_LE(static_cast<double>(called), 0.004 * static_cast<double>(pairs)) << folder.path();
        EXPECT_LE(with_calls, 0.1 * comparisons) << folder.path();
    }
    EXPECT_GE(folders, 2) << "tests/data/repeated holds no sweeps";
}

}  // namespace
}  // namespace normtune
