#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "report/table.h"
#include "report/winners.h"

namespace normtune {
namespace {

constexpr std::string_view legend =
    "tied: cannot be told apart, of those measured. limit: the winner's p50 over a copy's of the same bytes.\n"
    "worst and the heuristics: time of the slowest, and of the best that obeys the heuristic, over the winner's.\n";

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
    Table table("problem|best configuration|>p50 us|>GB/s|>limit|>worst");
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
                                       ratio_text(measurement.limit_ratio), ratio_text(winner.over_worst)};
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
    constexpr double short_us = 10;
    double least = 0;
    double most = 0;
    for (const Winner& winner : winners) {
        const Measurement& m = *winner.record->measurement;
        if (m.p50_us < short_us && m.floor_us > 0) {
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

/// Parts joined with ", ", on as many indented lines as the width asks for.
std::string wrapped(const std::vector<std::string>& parts, std::size_t width) {
    std::string out;
    std::string line = " ";
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string part = parts[i] + (i + 1 < parts.size() ? "," : "");
        if (line.size() + 1 + part.size() > width && line.size() > 1) {
            out += line + "\n";
            line = "   ";
        }
        line += ' ';
        line += part;
    }
    return out + line + "\n";
}

std::string few_lines_each(const std::vector<Winner>& winners, std::size_t width, const Style& style) {
    std::string out;
    for (const Winner& winner : winners) {
        const Measurement& measurement = *winner.record->measurement;
        out += fmt::format("{}\n  {}\n", winner.record->problem.key(), style.bold(winner.record->candidate.identity()));
        std::vector<std::string> figures{three_digits(measurement.p50_us) + " us", three_digits(measurement.gbps) + " GB/s",
                                         ratio_text(measurement.limit_ratio) + " of the limit",
                                         fmt::format("tied {}/{}", winner.tied + 1, winner.measured)};
        if (winner.stored) {
            figures.push_back("stored " + stored_text(winner));
        }
        out += wrapped(figures, width);
        std::vector<std::string> gains{"worst " + ratio_text(winner.over_worst)};
        for (const Winner::Gain& gain : winner.over_heuristics) {
            gains.push_back(fmt::format("{} {}", gain.heuristic, ratio_text(gain.ratio)));
        }
        out += wrapped(gains, width);
    }
    return out;
}

}  // namespace

std::string winners_table(const std::vector<Winner>& winners, int width, bool color) {
    if (winners.empty()) {
        return "No winners: no configuration was measured.\n";
    }
    const Style style{color};
    const std::string notes = std::string(legend) + std::string(any_stored(winners) ? stored_legend : "") + floor_note(winners);
    const Table table = one_line_each(winners);
    const auto columns = static_cast<std::size_t>(std::max(width, 0));
    if (columns > 0 && table.width() > columns) {
        return few_lines_each(winners, columns, style) + notes;
    }
    return table.text(style) + notes;
}

}  // namespace normtune
