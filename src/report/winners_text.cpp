#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "judge/side_by_side.h"
#include "report/table.h"
#include "report/winners.h"
#include "space/heuristics.h"
#include "support/escape.h"

namespace normtune {
namespace {

constexpr std::string_view legend =
    "tied: cannot be told apart, of those measured. limit: the winner's p50 over a copy's of the same bytes.\n"
    "worst: time of the slowest over the winner's. Heuristics: of the best that obeys one over normtune's best.\n";

constexpr std::string_view winner_columns = "problem|best configuration|>p50 us|>GB/s|>limit|>worst";
constexpr std::string_view leader_columns = "problem|configuration|>p50 us|>GB/s|>limit|>measured";

constexpr std::string_view stored_legend =
    "stored: measured on that day (UTC), and not run again: the store of winners had it (sweep --fresh runs it).\n";

/// The day on which a winner from the store was measured; empty: it is this run's own.
std::string stored_text(const Winner& winner) {
    constexpr std::size_t day = 10;  // "2026-11-20"
    return winner.stored ? winner.record->timestamp.substr(0, day) : "";
}

bool any_stored(const std::vector<Winner>& winners) {
    return std::any_of(winners.begin(), winners.end(), [](const Winner& winner) { return winner.stored; });
}

std::string ratio_text(const std::optional<double>& ratio) {
    return ratio ? fmt::format("{:.2f}x", *ratio) : "-";
}

Table one_line_each(const std::vector<Winner>& winners) {
    Table table(winner_columns);
    for (const Winner::Gain& gain : winners.front().over_heuristics) {
        table.add_column(gain.heuristic, Align::right);
    }
    table.add_column("tied", Align::right);
    const bool with_stored = any_stored(winners);
    if (with_stored) {
        table.add_column("stored");
    }
    for (const Winner& winner : winners) {
        const Measurement& measurement = *winner.record->measurement;
        std::vector<std::string> cells{winner.record->problem.key(),        winner.record->candidate.identity(),
                                       three_digits(measurement.p50_us),    three_digits(measurement.gbps),
                                       limit_text(measurement.limit_ratio), ratio_text(winner.over_worst)};
        for (const Winner::Gain& gain : winner.over_heuristics) {
            cells.push_back(ratio_text(gain.ratio));
        }
        cells.push_back(fmt::format("{}/{}", winner.tied + 1, winner.measured));
        if (with_stored) {
            cells.push_back(stored_text(winner));
        }
        table.add(std::move(cells));
    }
    return table;
}

/// What of a short kernel's time is its launch; empty where no winner is short.
std::string floor_note(const std::vector<Winner>& winners) {
    double least = 0;
    double most = 0;
    for (const Winner& winner : winners) {
        const Measurement& m = *winner.record->measurement;
        if (m.p50_us < floor_counts_below_us && m.floor_us > 0) {
            least = least == 0 ? m.floor_us : std::min(least, m.floor_us);
            most = std::max(most, m.floor_us);
        }
    }
    if (most == 0) {
        return "";
    }
    const std::string from = three_digits(least);
    const std::string to = three_digits(most);
    constexpr std::string_view note = "floor: in the rounds of the winners below 10 us an empty launch took {} us.\n";
    return fmt::format(note, from == to ? from : fmt::format("{} to {}", from, to));
}

/// Whose times are not those of plain launches; empty where none is launched so.
std::string dependent_note(const std::vector<Winner>& winners) {
    const auto dependent = std::ranges::count_if(winners, [](const Winner& winner) { return winner.record->measurement->dependent(); });
    return dependent == 0 ? ""
                          : fmt::format(
                                "dependent: {} of {} winners, with the copies and empty launches beside them, began while\n"
                                "the launch ahead ended (dependent_launch): not comparable with plain launches.\n",
                                dependent, winners.size());
}

/// Why winners have no limit; empty where all have one, or where their files do not tell.
std::string no_copy_note(const std::vector<Winner>& winners) {
    constexpr std::string_view failed = "failed: ";
    std::size_t without = 0;
    std::string first;
    for (const Winner& winner : winners) {
        const std::string& copy = winner.record->measurement->limit_copy;
        if (copy.starts_with(failed) && without++ == 0) {
            first = fmt::format("{}: {}", winner.record->problem.key(), for_terminal(copy.substr(failed.size())));
        }
    }
    return without == 0
               ? ""
               : fmt::format("no limit: the copy of {} problem{} could not be measured: {}\n", without, without == 1 ? "" : "s", first);
}

/// A line more where the best has not all its rounds.
void say_incomplete(Section& section, const std::vector<Winner>& leaders, const std::set<std::string>& incomplete) {
    const auto count =
        std::ranges::count_if(leaders, [&](const Winner& leader) { return incomplete.contains(leader.record->trial_key()); });
    if (count == 1 && leaders.size() == 1) {
        const std::size_t rounds = leaders.front().record->measurement->rounds.size();
        section.note +=
            fmt::format("It was still being measured, after {} round{}: it is measured again.\n", rounds, rounds == 1 ? "" : "s");
    } else if (count > 0) {
        section.note += fmt::format("{} of them were still being measured: they are measured again.\n", count);
    }
}

Section leaders_section(const std::vector<Winner>& leaders, bool of_two_versions) {
    Section section{
        of_two_versions ? "Least p50" : "Best so far", Table(leader_columns),
        of_two_versions
            ? "The run is of normtune ab, which compares two versions side by side: no finals are held, and there is no winner.\n"
            : "By the p50 of what was measured: the finals that decide were not held, as the sweep did not come to its end.\n"};
    for (const Winner& leader : leaders) {
        const Measurement& measurement = *leader.record->measurement;
        section.table.add({leader.record->problem.key(), leader.record->candidate.identity(), three_digits(measurement.p50_us),
                           three_digits(measurement.gbps), limit_text(measurement.limit_ratio), grouped(leader.measured)});
    }
    return section;
}

}  // namespace

std::vector<std::string> winners_headings() {
    std::vector<std::string> out = headings_of({winner_columns, leader_columns, "tied|stored"});
    for (const Heuristic& heuristic : heuristics()) {
        out.emplace_back(heuristic.name);
    }
    return out;
}

Section winners_section(const std::vector<Winner>& winners) {
    return {"", one_line_each(winners),
            std::string(legend) + std::string(any_stored(winners) ? stored_legend : "") + floor_note(winners) + dependent_note(winners) +
                no_copy_note(winners)};
}

std::vector<Section> winners_sections(const Results& results, std::span<const Record> under_way) {
    if (under_way.empty()) {
        return winners_sections(find_winners(results), find_leaders(results), of_two_versions(results));
    }
    Results all = results;
    std::set<std::string> incomplete;
    for (const Record& record : under_way) {
        incomplete.insert(record.trial_key());
        all.records.push_back(record);
    }
    const std::vector<Winner> leaders = find_leaders(all);
    std::vector<Section> out = winners_sections(find_winners(results), leaders);
    say_incomplete(out.back(), leaders, incomplete);
    return out;
}

std::vector<Section> winners_sections(const std::vector<Winner>& winners, const std::vector<Winner>& leaders, bool of_two_versions) {
    std::vector<Section> out;
    if (!winners.empty()) {
        out.push_back(winners_section(winners));
    }
    if (!leaders.empty()) {
        out.push_back(leaders_section(leaders, of_two_versions));
    }
    if (out.empty()) {
        out.push_back({"", Table(), "No winners: no configuration was measured.\n"});
    }
    return out;
}

}  // namespace normtune
