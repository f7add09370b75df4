#include "space/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "support/error.h"

namespace normtune {
namespace {

std::string shard_error(std::string_view text) {
    try {
        return parse_shard(text).text() + " is no error";
    } catch (const InputError& error) {
        return error.what();
    }
}

TEST(Shard, ReadsWhatItPrints) {
    EXPECT_EQ(parse_shard("2/4"), (Shard{2, 4}));
    EXPECT_EQ(parse_shard("1/1"), Shard{});
    EXPECT_EQ(parse_shard(Shard{7, most_shards}.text()), (Shard{7, most_shards}));
    for (const char* wrong : {"", "x", "2", "/", "2/", "/4", "0/4", "5/4", "1/0", "-1/4", "1/-4", "1/4/4", " 1/4", "1/4 ", "1.0/4", "+1/4",
                              "1/100001", "99999999999/99999999999"}) {
        EXPECT_NE(shard_error(wrong).find("is no shard; I/N is the I-th of N parts"), std::string::npos) << wrong;
    }
}

std::vector<double> loads(const std::vector<ProblemWork>& problems, const std::vector<int>& shards, int count) {
    std::vector<double> out(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < problems.size(); ++i) {
        out.at(static_cast<std::size_t>(shards[i] - 1)) += problems[i].work;
    }
    return out;
}

TEST(Shard, TheLongestGoFirstEachToTheLeastLoaded) {
    EXPECT_EQ(divide({{"a", 3}, {"b", 7}, {"c", 4}, {"d", 5}}, 2), (std::vector<int>{1, 1, 2, 2}));
    EXPECT_EQ(divide({{"b", 1}, {"a", 1}, {"c", 1}}, 3), (std::vector<int>{2, 1, 3})) << "equal work goes by key";
    EXPECT_EQ(divide({{"only", 1}}, 4), std::vector<int>{1});
    EXPECT_TRUE(divide({}, 4).empty());
}

TEST(Shard, DividesAlikeInWhateverOrderAndEvenly) {
    std::mt19937 random(5);
    std::vector<ProblemWork> problems;
    for (int i = 0; i < 200; ++i) {
        problems.push_back({"problem " + std::to_string(i), static_cast<double>(random() % 50 + 1)});
    }
    const std::vector<int> shards = divide(problems, 7);
    std::vector<std::size_t> order(problems.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<ProblemWork> shuffled;
    for (const std::size_t i : order) {
        shuffled.push_back(problems[i]);
    }
    const std::vector<int> again = divide(shuffled, 7);
    for (std::size_t i = 0; i < order.size(); ++i) {
        EXPECT_EQ(again[i], shards[order[i]]);
    }
    const std::vector<double> load = loads(problems, shards, 7);
    // However they are divided, the least and the most loaded are no further apart than the last one given: 1 or 2
    // here.
    EXPECT_LE(*std::max_element(load.begin(), load.end()) - *std::min_element(load.begin(), load.end()), 50);
    EXPECT_LE(*std::max_element(load.begin(), load.end()), 4.0 / 3 * std::accumulate(load.begin(), load.end(), 0.0) / 7 + 50.0 / 3);
}

TEST(Shard, SharesHaveEveryProblemOnceWhateverIsKept) {
    std::vector<Problem> problems;
    for (const std::int64_t cols : {128, 1024, 4096, 16384, 512}) {
        Problem problem;
        problem.shape = {4096, cols, cols};
        problems.push_back(problem);
    }
    SearchSpace space;
    space.name = "small";
    space.axes = {{Axis::num_warps, {1, 2, 4, 8}}};
    space.rules = {{"narrow", "cols < 10000 || num_warps == 8", false, "test", 1}};
    const BackendTraits traits{};
    std::vector<std::size_t> seen;
    double work = 0;
    for (int index = 1; index <= 7; ++index) {
        const ShardShare share = share_of({index, 7}, problems, space, traits, DeviceInfo{});
        EXPECT_TRUE(std::is_sorted(share.places.begin(), share.places.end()));
        EXPECT_LE(share.places.size(), 1U) << "more shards than problems: the last are empty";
        seen.insert(seen.end(), share.places.begin(), share.places.end());
        work += share.of_work;
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
    EXPECT_NEAR(work, 1, 1e-12);
    EXPECT_EQ(share_of({}, problems, space, traits, DeviceInfo{}).places.size(), 5U);
    // 4 configurations of 64 MiB are more work than 1 of 256 MiB.
    EXPECT_GT(estimated_work(problems[2], 4), estimated_work(problems[3], 1));
}

}  // namespace
}  // namespace normtune
