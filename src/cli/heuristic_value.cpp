#include "cli/heuristic_value.h"

#include <algorithm>

#include <fmt/format.h>

namespace normtune::cli {

Value heuristic(std::vector<ThumbRule>& target) {
    return {"NAME=EXPRESSION", {}, Completion::none, [&target](const std::string& word) {
                ThumbRule own = ThumbRule::parse(word);
                if (std::any_of(target.begin(), target.end(), [&](const ThumbRule& other) { return other.name() == own.name(); })) {
                    throw InputError(fmt::format("'{}' is there already; take another name", own.name()));
                }
                target.push_back(std::move(own));
            }};
}

}  // namespace normtune::cli
