#include "judge/summary.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "support/pattern.h"

namespace normtune {
namespace {

constexpr std::size_t most_extremes = 5;

struct Sum {
    std::uint64_t pairs = 0;
    std::uint64_t slower = 0;
    std::uint64_t faster = 0;
    double logs = 0;
    void add(const Pair& pair) {
        ++pairs;
        slower += pair.verdict == Verdict::slower ? 1U : 0U;
        faster += pair.verdict == Verdict::faster ? 1U : 0U;
        logs += std::log(pair.ratio);
    }
};

/// Sums by name, in the order of first appearance.
class Sums {
public:
    Sum& at(std::string_view name) {
        const auto [place, added] = places_.try_emplace(name, sums_.size());
        if (added) {
            sums_.emplace_back(std::string(name), Sum{});
        }
        return sums_[place->second].second;
    }
    void append(std::vector<RatioGroup>& groups, std::string_view by) const {
        for (const auto& [name, sum] : sums_) {
            if (sum.pairs > 0 && (by == "all" || !name.empty())) {
                groups.push_back(
                    {std::string(by), name, sum.pairs, sum.slower, sum.faster, std::exp(sum.logs / static_cast<double>(sum.pairs))});
            }
        }
    }

private:
    std::unordered_map<std::string_view, std::size_t> places_;  // views of the texts of the rows, which live on
    std::vector<std::pair<std::string, Sum>> sums_;
};

bool has_ratio(const Pair& pair) {
    return pair.judged() && std::isfinite(pair.ratio) && pair.ratio > 0;
}

}  // namespace

Summary summarise(const Comparison& comparison) {
    Summary out;
    Sums all;
    Sums ops;
    Sums modes;
    Sums sites;
    std::vector<const Pair*> order;
    const bool all_same_code = comparison.all_same_code();
    for (const Pair& pair : comparison.pairs) {
        ++out.counts[static_cast<std::size_t>(pair.verdict)];
        if (!has_ratio(pair)) {
            continue;
        }
        if (!pair.same_code || all_same_code) {
            order.push_back(&pair);
        }
        all.at("").add(pair);
        ops.at(comparison.text(pair, &RowProblem::op)).add(pair);
        modes.at(comparison.text(pair, &RowProblem::mode)).add(pair);
        for (const std::string_view site : split(comparison.text(pair, &RowProblem::site), ';')) {
            sites.at(site).add(pair);
        }
    }
    all.append(out.groups, "all");
    ops.append(out.groups, "op");
    modes.append(out.groups, "mode");
    sites.append(out.groups, "site");
    // Each pair once, and of an odd one the worse.
    const auto place = [&](std::size_t pairs) { return order.begin() + static_cast<std::ptrdiff_t>(pairs); };
    const std::size_t worst = std::min(most_extremes, (order.size() + 1) / 2);
    const std::size_t best = std::min(most_extremes, order.size() / 2);
    // Equal ratios stay in the order of the pairs, so that equal files give equal text.
    const auto by = [](auto before) {
        return [before](const Pair* a, const Pair* b) { return a->ratio != b->ratio ? before(a->ratio, b->ratio) : a < b; };
    };
    std::partial_sort(order.begin(), place(worst), order.end(), by(std::greater<>()));
    out.worst.assign(order.begin(), place(worst));
    std::partial_sort(place(worst), place(worst + best), order.end(), by(std::less<>()));
    out.best.assign(place(worst), place(worst + best));
    return out;
}

}  // namespace normtune
