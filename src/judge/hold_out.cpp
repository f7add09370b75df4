#include "judge/hold_out.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "support/error.h"
#include "support/pattern.h"

namespace normtune {
namespace {

constexpr std::size_t largest_number = 1000;

/// A whole number from `least` to 1000; empty where the text is none.
std::optional<std::size_t> number(std::string_view text, std::size_t least) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && value >= least && value <= largest_number ? std::optional(value) : std::nullopt;
}

}  // namespace

HoldOut HoldOut::parse(const std::string& text) {
    HoldOut out;
    out.text_ = text;
    if (text == "none") {
        return out;
    }
    if (const std::size_t slash = text.find('/'); slash != std::string::npos) {
        out.model_ = text.substr(0, slash);
        out.site_ = text.substr(slash + 1);
        return out;
    }
    const std::size_t colon = text.find(':');
    const std::optional<std::size_t> every = number(text.substr(0, colon), 2);
    const std::optional<std::size_t> first = colon == std::string::npos ? std::size_t{2} : number(text.substr(colon + 1), 1);
    if (!every || !first || *first > *every) {
        throw InputError(
            fmt::format("{} holds nothing out; give 4 (one shape in four), 4:1 (from the first on), a "
                        "pattern MODEL/SITE, or none",
                        quoted_for_message(text)));
    }
    out.every_ = *every;
    out.first_ = *first - 1;
    return out;
}

bool HoldOut::holds(const ShapeLosses& shape, std::size_t index) const {
    if (every_ > 0) {
        return index % every_ == first_;
    }
    return std::any_of(shape.rankings.begin(), shape.rankings.end(), [&](const ProblemRanking* ranking) {
        const std::vector<Use>& uses = ranking->problem().uses;
        return std::any_of(uses.begin(), uses.end(),
                           [&](const Use& use) { return matches_pattern(model_, use.model) && matches_pattern(site_, use.site); });
    });
}

}  // namespace normtune
