#include "report/side_by_side_report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace normtune {
namespace {

constexpr std::string_view row_columns = "problem|>normtune us|>limit";
constexpr std::string_view row_columns_of_short = "problem|>normtune us|>limit|>floor";
constexpr std::string_view last_column = "fastest other";
constexpr std::string_view mean_columns = "operation|>problems|>geometric mean|>least|>limit at most";

constexpr std::string_view columns_note =
    "us: of each provider's best the median of the finals' fresh rounds; p50 of all rounds of what was not in them. limit: "
    "normtune's p50 over a copy's of the same bytes. fastest other: its time over normtune's; above 1 normtune is faster.\n";

constexpr std::string_view dependent_columns_note =
    "dependent: launched while the launch ahead ends (docs/measuring.md): not comparable with plain launches.\n";

constexpr std::string_view floor_column_note = "floor: what an empty launch took beside normtune's, us, where that is below 10.\n";

/// Of which an empty launch is a part that counts (docs/measuring.md).
bool is_short(const Record* own) {
    return own != nullptr && time_of(*own) < floor_counts_below_us && floor_of(*own) > 0;
}

/// Four digits, or all before the point.
std::string microseconds(double us) {
    return us < 999.95 ? fmt::format("{:#.4g}", us) : fmt::format("{:.0f}", us);
}

std::string thousandths(double ratio) {
    return fmt::format("{:.3f}x", ratio);
}

std::string contestant_heading(const Contestant& contestant) {
    return contestant.first + (contestant.second ? ", dependent" : "");
}

}  // namespace

std::vector<std::string> side_by_side_headings(std::span<const std::string> providers, bool own_dependent) {
    std::vector<std::string> out = headings_of({row_columns_of_short, last_column, mean_columns});
    if (own_dependent) {
        out.push_back(contestant_heading({std::string(own_provider), true}));
    }
    for (const std::string& provider : providers) {
        out.push_back(contestant_heading({provider, false}));
        out.push_back(contestant_heading({provider, true}));
    }
    return out;
}

std::vector<Section> side_by_side_sections(std::span<const SideBySide> problems) {
    if (problems.empty()) {
        return {{"", Table(), "No candidate was measured.\n"}};
    }
    std::set<Contestant> contestants;
    bool dependent = false;
    for (const SideBySide& problem : problems) {
        for (const auto& [contestant, record] : problem.best) {
            dependent |= contestant.second;
            if (contestant != Contestant(own_provider, false)) {
                contestants.insert(contestant);
            }
        }
    }
    const bool any_short = std::ranges::any_of(problems, [](const SideBySide& problem) { return is_short(problem.own()); });
    Section rows{
        "Side by side", Table(any_short ? row_columns_of_short : row_columns),
        std::string(columns_note) + std::string(any_short ? floor_column_note : "") + std::string(dependent ? dependent_columns_note : "")};
    for (const Contestant& contestant : contestants) {
        rows.table.add_column(contestant_heading(contestant), Align::right);
    }
    rows.table.add_column(std::string(last_column), Align::right);
    for (const SideBySide& problem : problems) {
        const Record* const own = problem.own();
        std::vector<std::string> cells{problem.problem->key(), own == nullptr ? "-" : microseconds(time_of(*own)),
                                       own == nullptr ? "-" : limit_text(own->measurement->limit_ratio)};
        if (any_short) {
            cells.push_back(is_short(own) ? fmt::format("{:.2f}", floor_of(*own)) : "");
        }
        for (const Contestant& contestant : contestants) {
            const auto found = problem.best.find(contestant);
            cells.push_back(found == problem.best.end() ? "-" : microseconds(time_of(*found->second)));
        }
        const std::optional<double> fastest = problem.fastest_other();
        cells.push_back(fastest ? thousandths(*fastest) : "-");
        rows.table.add(std::move(cells));
    }
    std::vector<Section> out{std::move(rows)};
    const std::vector<SideBySideMean> all = means(problems);
    if (std::ranges::any_of(all, [](const SideBySideMean& mean) { return mean.problems > 1; })) {
        out.push_back({"Means", Table(mean_columns), "Of the fastest other's time over normtune's, over the problems that have both.\n"});
        for (const SideBySideMean& mean : all) {
            out.back().table.add({mean.operation, fmt::format("{}", mean.problems), thousandths(mean.geometric_mean),
                                  thousandths(mean.least), limit_text(mean.most_limit)});
        }
    }
    return out;
}

}  // namespace normtune
