#include "problem/plan_walk.h"

#include <algorithm>
#include <utility>

namespace normtune {
namespace {

constexpr std::size_t most_table_entries = std::size_t{1} << 22;
constexpr std::size_t most_filled_ahead = std::size_t{1} << 13;

}  // namespace

PlanWalk::PlanWalk(const SearchSpace& space, std::vector<PlanFilter> filters)
    : axes_(space.axes), index_(space.axes.size(), 0) {
    for (const AxisValues& values : axes_) {
        set_axis(configuration_, values.axis, values.values.front());
    }
    filters_.reserve(filters.size());
    for (PlanFilter& filter : filters) {
        filters_.emplace_back().ask = std::move(filter);
        fill_table(filters_.back());
    }
    order_levels();
}

void PlanWalk::fill_table(Filter& filter) {
    std::size_t entries = 1;
    for (std::size_t position = 0; position < axes_.size(); ++position) {
        const bool read =
            std::find(filter.ask.axes.begin(), filter.ask.axes.end(), axes_[position].axis) != filter.ask.axes.end();
        if (read) {
            filter.strides.emplace_back(position, entries);
            entries = std::min(entries * axes_[position].values.size(), most_table_entries + 1);
        }
    }
    if (entries > most_table_entries) {
        return;
    }
    if (entries > most_filled_ahead) {
        filter.table.resize(entries);
        filter.known.resize(entries);
        return;
    }
    filter.table.reserve(entries);
    Configuration combination = configuration_;
    for (std::size_t entry = 0; entry < entries; ++entry) {
        for (const auto& [position, stride] : filter.strides) {
            const AxisValues& axis = axes_[position];
            set_axis(combination, axis.axis, axis.values[entry / stride % axis.values.size()]);
        }
        filter.table.push_back(filter.ask.ask(combination));
    }
    const auto is_keeps = [](RuleAnswer a) { return a == RuleAnswer::keeps; };
    filter.ever_keeps = std::any_of(filter.table.begin(), filter.table.end(), is_keeps);
    filter.always_keeps = std::all_of(filter.table.begin(), filter.table.end(), is_keeps);
}

/// Axes of earlier filters come first: a point's first taker is then known early, and the rest of its subtree is
/// counted at once.
void PlanWalk::order_levels() {
    std::vector<std::size_t> level_of(axes_.size(), axes_.size());
    const auto place = [&](std::size_t position) {
        if (level_of[position] == axes_.size()) {
            level_of[position] = levels_.size();
            levels_.push_back({position, {}, filters_.size(), 1});
        }
    };
    for (const Filter& filter : filters_) {
        if (!filter.always_keeps) {
            for (const auto& [position, stride] : filter.strides) {
                place(position);
            }
        }
    }
    for (std::size_t position = 0; position < axes_.size(); ++position) {
        place(position);
    }
    for (std::size_t f = 0; f < filters_.size(); ++f) {
        if (filters_[f].always_keeps) {
            continue;
        }
        if (filters_[f].strides.empty()) {
            constant_.push_back(f);
            continue;
        }
        std::size_t last = 0;
        for (const auto& [position, stride] : filters_[f].strides) {
            last = std::max(last, level_of[position]);
        }
        levels_[last].filters.push_back(f);
        for (std::size_t level = 0; level <= last; ++level) {
            levels_[level].first_undecided = std::min(levels_[level].first_undecided, f);
        }
    }
    std::uint64_t points = 1;
    for (std::size_t level = levels_.size(); level-- > 0;) {
        points *= axes_[levels_[level].axis].values.size();
        levels_[level].points_below = points;
    }
}

RuleAnswer PlanWalk::answer(std::size_t f) const {
    const Filter& filter = filters_[f];
    if (filter.lifted) {
        return RuleAnswer::keeps;
    }
    if (filter.table.empty()) {
        return filter.ask.ask(configuration_);
    }
    std::size_t entry = 0;
    for (const auto& [position, stride] : filter.strides) {
        entry += index_[position] * stride;
    }
    if (!filter.known.empty() && !filter.known[entry]) {
        filter.table[entry] = filter.ask.ask(configuration_);
        filter.known[entry] = true;
    }
    return filter.table[entry];
}

void PlanWalk::set(std::size_t level, std::size_t index) {
    const std::size_t position = levels_[level].axis;
    index_[position] = index;
    set_axis(configuration_, axes_[position].axis, axes_[position].values[index]);
}

void PlanWalk::narrow(const std::vector<std::size_t>& filters, std::size_t& first, bool& undefined) const {
    for (const std::size_t f : filters) {
        if (f >= first) {
            return;
        }
        const RuleAnswer given = answer(f);
        if (given != RuleAnswer::keeps) {
            first = f;
            undefined = given == RuleAnswer::undefined;
            return;
        }
    }
}

bool PlanWalk::any_kept(std::size_t count) {
    std::size_t first = count;
    bool undefined = false;
    narrow(constant_, first, undefined);
    if (first < count) {
        if (undefined && (first == 0 || any_kept(first))) {
            filters_[first].ask.fail(configuration_);
        }
        return false;
    }
    return survives(0, count);
}

bool PlanWalk::survives(std::size_t level, std::size_t count) {
    if (level == levels_.size() || levels_[level].first_undecided >= count) {
        return true;
    }
    for (std::size_t i = 0; i < axes_[levels_[level].axis].values.size(); ++i) {
        set(level, i);
        std::size_t first = count;
        bool undefined = false;
        narrow(levels_[level].filters, first, undefined);
        if (first == count) {
            if (survives(level + 1, count)) {
                return true;
            }
        } else if (undefined && survives(level + 1, first)) {
            filters_[first].ask.fail(configuration_);
        }
    }
    return false;
}

void PlanWalk::lift(std::size_t filter) {
    filters_[filter].lifted = true;
}

PlanWalk::Counts PlanWalk::count(bool visit_taken, const Visit& visit) {
    counts_ = {0, std::vector<std::uint64_t>(filters_.size(), 0)};
    visit_ = visit ? &visit : nullptr;
    visit_taken_ = visit_taken;
    std::size_t first = kept;
    bool undefined = false;
    narrow(constant_, first, undefined);
    descend(0, first, undefined);
    return std::move(counts_);
}

void PlanWalk::descend(std::size_t level, std::size_t first, bool undefined) {
    if (level == levels_.size()) {
        settle(first, undefined, 1);
        if (visit_ != nullptr && (first == kept || visit_taken_)) {
            (*visit_)(configuration_, first);
        }
        return;
    }
    const bool seen = visit_ != nullptr && (first == kept || visit_taken_);
    const bool settled =
        first == kept ? levels_[level].first_undecided == filters_.size() : levels_[level].first_undecided >= first;
    if (settled && !seen) {
        settle(first, undefined, levels_[level].points_below);
        return;
    }
    for (std::size_t i = 0; i < axes_[levels_[level].axis].values.size(); ++i) {
        set(level, i);
        std::size_t narrowed = first;
        bool narrowed_undefined = undefined;
        narrow(levels_[level].filters, narrowed, narrowed_undefined);
        descend(level + 1, narrowed, narrowed_undefined);
    }
}

void PlanWalk::settle(std::size_t first, bool undefined, std::uint64_t points) {
    if (first == kept) {
        counts_.kept += points;
        return;
    }
    if (undefined) {
        filters_[first].ask.fail(configuration_);
    }
    counts_.taken[first] += points;
}

}  // namespace normtune
