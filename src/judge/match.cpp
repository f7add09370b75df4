#include "judge/match.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace normtune {
namespace {

struct Key {
    TextId problem = 0;
    TextId device = 0;
    TextId configuration = 0;
    friend bool operator==(const Key&, const Key&) = default;

    std::uint64_t hash() const {
        // SplitMix64's finaliser over the three numbers.
        std::uint64_t h = (std::uint64_t{problem} << 32 | configuration) + 0x9e3779b97f4a7c15U * (device + 1U);
        h = (h ^ (h >> 30U)) * 0xbf58476d1ce4e5b9U;
        h = (h ^ (h >> 27U)) * 0x94d049bb133111ebU;
        return h ^ (h >> 31U);
    }
};

/// Entries by key, in the order of their first appearance.
class Index {
public:
    explicit Index(std::size_t most) {
        std::size_t slots = 64;
        while (slots < 2 * most) {
            slots *= 2;
        }
        slots_.assign(slots, 0);
        keys_.reserve(most);
        matches_.reserve(most);
    }

    Match& at(const Key& key) { return matches_[number(key)]; }

    /// Of the entry; it is made where it is new.
    std::uint32_t number(const Key& key) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = key.hash() & mask;
        while (slots_[slot] != 0 && !(keys_[slots_[slot] - 1] == key)) {
            slot = (slot + 1) & mask;
        }
        if (slots_[slot] == 0) {
            keys_.push_back(key);
            matches_.emplace_back();
            slots_[slot] = static_cast<std::uint32_t>(keys_.size());
        }
        return slots_[slot] - 1;
    }

    std::vector<Match> take() { return std::move(matches_); }

private:
    std::vector<std::uint32_t> slots_;
    std::vector<Key> keys_;
    std::vector<Match> matches_;
};

bool may_differ(const CompareSettings& settings, Facet facet) {
    return std::find(settings.across.begin(), settings.across.end(), facet) != settings.across.end();
}

/// Does `row` stand for its key rather than `other`?
bool better(const ResultRow& row, const ResultRow& other, const CompareSettings& settings) {
    if (settings.by == MatchBy::config) {
        return row.timestamp >= other.timestamp;
    }
    const bool row_usable = usable(row, settings.metric);
    if (row_usable != usable(other, settings.metric)) {
        return row_usable;
    }
    if (row.dropped != other.dropped) {
        return other.dropped;
    }
    if ((row.rank == 1) != (other.rank == 1)) {
        return row.rank == 1;
    }
    if (std::isnan(row.p50_us) != std::isnan(other.p50_us)) {
        return std::isnan(other.p50_us);
    }
    return std::isnan(row.p50_us) ? row.memory_mib < other.memory_mib : row.p50_us < other.p50_us;
}

}  // namespace

std::vector<std::uint32_t> repeats_of(const ResultRows& side) {
    if (std::all_of(side.rows.begin(), side.rows.end(), [](const ResultRow& row) { return row.process == 0; })) {
        return {};
    }
    Index index(side.rows.size());
    std::vector<std::vector<std::uint32_t>> trials;
    for (std::uint32_t i = 0; i < side.rows.size(); ++i) {
        const ResultRow& row = side.rows[i];
        const std::uint32_t number = index.number({side.problem_of(row).key, side.origin_of(row).device, row.configuration});
        std::vector<std::uint32_t>& rows = number == trials.size() ? trials.emplace_back() : trials[number];
        const auto held =
            std::find_if(rows.begin(), rows.end(), [&](std::uint32_t other) { return side.rows[other].process == row.process; });
        if (held == rows.end()) {
            rows.push_back(i);
        } else if (row.timestamp >= side.rows[*held].timestamp) {
            *held = i;
        }
    }
    std::vector<std::uint32_t> next(side.rows.size());
    std::iota(next.begin(), next.end(), 0U);
    for (const std::vector<std::uint32_t>& rows : trials) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            next[rows[i]] = rows[(i + 1) % rows.size()];
        }
    }
    return next;
}

bool usable(const ResultRow& row, Metric metric) {
    return row.outcome == Outcome::passed && !std::isnan(metric == Metric::latency ? row.p50_us : row.memory_mib);
}

std::vector<Match> match_rows(const ResultRows& baseline, const ResultRows& candidate, const CompareSettings& settings) {
    const bool any_casting = may_differ(settings, Facet::casting);
    const bool any_device = may_differ(settings, Facet::device);
    Index index(baseline.rows.size() + candidate.rows.size());
    // The candidate's texts by the baseline's numbers; those that the baseline has not come after them.
    std::vector<TextId> numbers(candidate.texts.size());
    for (std::size_t id = 0; id < numbers.size(); ++id) {
        const auto theirs = static_cast<TextId>(id);
        numbers[id] = baseline.texts.find(candidate.texts[theirs]).value_or(static_cast<TextId>(baseline.texts.size() + id));
    }
    const auto add = [&](const ResultRows& side, std::uint32_t Match::*member, const auto& number) {
        for (std::uint32_t i = 0; i < side.rows.size(); ++i) {
            const ResultRow& row = side.rows[i];
            const RowProblem& problem = side.problem_of(row);
            const TextId none = 0;
            std::uint32_t& held = index.at({number(any_casting ? problem.key_any_casting : problem.key),
                                            number(any_device ? none : side.origin_of(row).device),
                                            number(settings.by == MatchBy::best ? none : row.configuration)}).*
                                  member;
            if (held == no_row || better(row, side.rows[held], settings)) {
                held = i;
            }
        }
    };
    add(baseline, &Match::baseline, [](TextId id) { return id; });
    add(candidate, &Match::candidate, [&](TextId id) { return numbers[id]; });
    return index.take();
}

}  // namespace normtune
