#include "space/shard.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "space/plan.h"
#include "support/error.h"
#include "support/parallel.h"

namespace normtune {
namespace {

std::optional<int> whole_number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// On all cores: every shard plans all problems, and a large space takes half a second each.
std::vector<ProblemWork> work_of(const std::vector<Problem>& problems, const SearchSpace& space, const BackendTraits& traits,
                                 const DeviceInfo& device) {
    std::vector<ProblemWork> work(problems.size());
    on_all_cores(problems.size(), [&](std::size_t i) {
        const ProblemPlan plan = plan_problem(problems[i], space, traits, device, false, {});
        work[i] = {problems[i].key(), estimated_work(problems[i], plan.kept)};
    });
    return work;
}

}  // namespace

std::string Shard::text() const {
    return fmt::format("{}/{}", index, count);
}

Shard parse_shard(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash != std::string_view::npos) {
        const std::optional<int> index = whole_number(text.substr(0, slash));
        const std::optional<int> count = whole_number(text.substr(slash + 1));
        if (index && count && *count >= 1 && *count <= most_shards && *index >= 1 && *index <= *count) {
            return {*index, *count};
        }
    }
    throw InputError(
        fmt::format("{} is no shard; I/N is the I-th of N parts, from 1/N to N/N, with N up to {}", quoted_for_message(text), most_shards));
}

double estimated_work(const Problem& problem, std::uint64_t kept_configurations) {
    constexpr double fixed_bytes = 1 << 30;
    return static_cast<double>(kept_configurations) * (fixed_bytes + static_cast<double>(least_bytes(problem)));
}

std::vector<int> divide(const std::vector<ProblemWork>& problems, int count) {
    std::vector<std::size_t> order(problems.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return problems[a].work != problems[b].work ? problems[a].work > problems[b].work : problems[a].key < problems[b].key;
    });
    std::vector<double> load(static_cast<std::size_t>(count), 0);
    std::vector<int> shard_of(problems.size());
    for (const std::size_t problem : order) {
        const auto least = std::min_element(load.begin(), load.end());
        *least += problems[problem].work;
        shard_of[problem] = static_cast<int>(least - load.begin()) + 1;
    }
    return shard_of;
}

ShardShare share_of(const Shard& shard, const std::vector<Problem>& problems, const SearchSpace& space, const BackendTraits& traits,
                    const DeviceInfo& device) {
    ShardShare share;
    if (shard.whole()) {
        share.places.resize(problems.size());
        std::iota(share.places.begin(), share.places.end(), std::size_t{0});
        return share;
    }
    const std::vector<ProblemWork> work = work_of(problems, space, traits, device);
    const std::vector<int> shard_of = divide(work, shard.count);
    double own = 0;
    double all = 0;
    for (std::size_t place = 0; place < problems.size(); ++place) {
        all += work[place].work;
        if (shard_of[place] == shard.index) {
            share.places.push_back(place);
            own += work[place].work;
        }
    }
    share.of_work = all > 0 ? own / all : 0;
    return share;
}

}  // namespace normtune
