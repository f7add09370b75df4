#include "space/plan_filter.h"

#include <algorithm>
#include <utility>

namespace normtune {
namespace {

constexpr std::uint8_t unknown = 0xff;
constexpr std::uint64_t most_answers = std::uint64_t{1} << 22;
constexpr std::uint64_t most_asked_ahead = std::uint64_t{1} << 13;

}  // namespace

FilterTable::FilterTable(PlanFilter filter, const std::vector<AxisValues>& axes) : filter_(std::move(filter)) {
    for (const AxisValues& axis : axes) {
        std::vector<std::size_t>& kinds = kinds_.emplace_back();
        read_of_.push_back(reads_.size());
        if (std::ranges::find(filter_.axes, axis.axis) == filter_.axes.end()) {
            continue;
        }
        const auto alike = std::ranges::find(filter_.alike, axis.axis, &AlikeValues::axis);
        const auto as = [&](int value) { return alike == filter_.alike.end() ? value : alike->as(value); };
        Read read{axis.axis, {}, combinations_};
        for (const int value : axis.values) {
            const auto known = std::ranges::find(read.values, as(value), as);
            kinds.push_back(static_cast<std::size_t>(known - read.values.begin()));
            if (known == read.values.end()) {
                read.values.push_back(value);
            }
        }
        combinations_ *= read.values.size();
        reads_.push_back(std::move(read));
    }
    if (combinations_ <= most_answers) {
        answers_.assign(static_cast<std::size_t>(combinations_), unknown);
    }
}

Configuration FilterTable::configuration(std::uint64_t combination) const {
    Configuration configuration;
    for (const Read& read : reads_) {
        const std::uint64_t index = combination / read.stride % read.values.size();
        set_axis(configuration, read.axis, read.values[static_cast<std::size_t>(index)]);
    }
    return configuration;
}

RuleAnswer FilterTable::answer(std::uint64_t combination, const Configuration& configuration) {
    if (answers_.empty()) {
        return filter_.ask(configuration);
    }
    std::uint8_t& known = answers_[static_cast<std::size_t>(combination)];
    if (known == unknown) {
        known = static_cast<std::uint8_t>(filter_.ask(configuration));
    }
    return static_cast<RuleAnswer>(known);
}

bool FilterTable::always_keeps() {
    std::uint64_t combination = combinations_ <= most_asked_ahead ? 0 : combinations_ + 1;
    while (combination < combinations_ && answer(combination, configuration(combination)) == RuleAnswer::keeps) {
        ++combination;
    }
    return combination == combinations_;
}

}  // namespace normtune
