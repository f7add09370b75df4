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
        const bool read = std::find(filter_.axes.begin(), filter_.axes.end(), axis.axis) != filter_.axes.end();
        strides_.push_back(read ? combinations_ : 0);
        if (read) {
            reads_.push_back({&axis, combinations_});
            combinations_ *= axis.values.size();
        }
    }
    if (combinations_ <= most_answers) {
        answers_.assign(static_cast<std::size_t>(combinations_), unknown);
    }
}

Configuration FilterTable::configuration(std::uint64_t combination) const {
    Configuration configuration;
    for (const Read& read : reads_) {
        const std::vector<int>& values = read.axis->values;
        const std::uint64_t index = combination / read.stride % values.size();
        set_axis(configuration, read.axis->axis, values[static_cast<std::size_t>(index)]);
    }
    return configuration;
}

RuleAnswer FilterTable::answer(std::uint64_t combination) {
    if (answers_.empty()) {
        return filter_.ask(configuration(combination));
    }
    std::uint8_t& known = answers_[static_cast<std::size_t>(combination)];
    if (known == unknown) {
        known = static_cast<std::uint8_t>(filter_.ask(configuration(combination)));
    }
    return static_cast<RuleAnswer>(known);
}

bool FilterTable::always_keeps() {
    std::uint64_t combination = combinations_ <= most_asked_ahead ? 0 : combinations_ + 1;
    while (combination < combinations_ && answer(combination) == RuleAnswer::keeps) {
        ++combination;
    }
    return combination == combinations_;
}

}  // namespace normtune
