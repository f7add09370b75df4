#include "support/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace normtune {
namespace {

TEST(Random, IsSplitMix64) {
    // The generator's published sequence for seed 1234567.
    Random random(1234567);
    EXPECT_EQ(random.next(), 6457827717110365317U);
    EXPECT_EQ(random.next(), 3203168211198807973U);
    EXPECT_EQ(random.next(), 9817491932198370423U);
}

TEST(Random, ShufflesAreSeededPermutationsThatReachEveryPlace) {
    std::vector<int> first(20);
    std::iota(first.begin(), first.end(), 0);
    std::vector<int> again = first;
    std::vector<int> other = first;
    const std::vector<int> sorted = first;
    shuffle(first, Random(1));
    shuffle(again, Random(1));
    shuffle(other, Random(2));
    EXPECT_EQ(first, again);
    EXPECT_NE(first, other);
    EXPECT_TRUE(std::is_permutation(first.begin(), first.end(), sorted.begin()));
    std::set<int> in_front;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        std::vector<int> values = sorted;
        shuffle(values, Random(seed));
        in_front.insert(values.front());
    }
    EXPECT_EQ(in_front.size(), sorted.size());
}

TEST(Random, PurposesAndIndicesGiveDifferentSeeds) {
    EXPECT_EQ(mix_seed(1, "rounds", 2), mix_seed(1, "rounds", 2));
    EXPECT_NE(mix_seed(1, "rounds", 2), mix_seed(1, "finals", 2));
    EXPECT_NE(mix_seed(1, "rounds", 2), mix_seed(1, "rounds", 3));
    EXPECT_NE(mix_seed(1, "rounds", 2), mix_seed(2, "rounds", 2));
}

}  // namespace
}  // namespace normtune
