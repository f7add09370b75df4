// A sweep in parts, for machines that do not talk to each other: which problems each part has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"
#include "space/backend_traits.h"
#include "space/device_info.h"
#include "space/space.h"

namespace normtune {

inline constexpr int most_shards = 100'000;

/// One of `count` parts: "2/4".
struct Shard {
    int index = 1;  // 1…count
    int count = 1;

    bool whole() const { return count == 1; }
    std::string text() const;
    friend bool operator==(const Shard&, const Shard&) = default;
};

/// The inverse of Shard::text(). Throws InputError.
Shard parse_shard(std::string_view text);

/// What an exhaustive sweep of a problem costs, in bytes that a device would move in that time. A trial costs about
/// 70 ms, whatever its size, and 60 ms for each GiB of its least bytes: least squares over the 213 problems swept in
/// results/h100. So 1 GiB stands for the fixed part.
double estimated_work(const Problem& problem, std::uint64_t kept_configurations);

struct ProblemWork {
    std::string key;
    double work = 0;
};

/// The shard of each problem, 1…count: the problem with the most work first, each to the shard that has the least so
/// far (longest processing time first: at most 4/3 of the best division's longest part, Graham 1969). Equal work goes
/// by key and to the lower shard, so that everybody who divides the same problems divides them alike, in whatever order
/// they come.
std::vector<int> divide(const std::vector<ProblemWork>& problems, int count);

/// What a shard has of a selection.
struct ShardShare {
    std::vector<std::size_t> places;  // of its problems in the selection, ascending
    double of_work = 1;               // its share of all the estimated work
};

/// Plans every problem to count what is kept. Throws InputError where a rule's expression fails.
ShardShare share_of(const Shard& shard, const std::vector<Problem>& problems, const SearchSpace& space, const BackendTraits& traits,
                    const DeviceInfo& device);

}  // namespace normtune
