#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/comparable.h"
#include "report/comparison_report.h"
#include "support/escape.h"
#include "support/plural.h"

namespace normtune {
namespace {

std::string group_name(const RatioGroup& group) {
    return group.by == "all" ? "all" : group.by + " " + group.name;
}

std::string side_text(const ResultRows& side) {
    const std::string devices = value_names(side, Facet::device);
    return fmt::format("{} ({} {}{}{})", for_terminal(side.name), grouped(side.rows.size()), plural(side.rows.size(), "row"),
                       devices.empty() ? "" : ", ", for_terminal(devices));
}

constexpr std::string_view extreme_columns = "extremes|problem|configuration|>change|>interval";

std::string group_columns(Metric metric) {
    return fmt::format("ratios of|>pairs|>geometric mean|>{}|>{}", verdict_word(Verdict::slower, metric),
                       verdict_word(Verdict::faster, metric));
}

std::string pair_columns(Metric metric) {
    return fmt::format("verdict|problem|configuration|>before {0}|>after {0}|>change|>interval|evidence|note",
                       metric == Metric::latency ? "us" : "MiB");
}

std::string threshold_text(const CompareSettings& settings) {
    return fmt::format("{:.3g}%{}", settings.threshold * 100, settings.own_threshold ? " (or the policy's own threshold of the pair)" : "");
}

}  // namespace

std::string verdict_counts(const Summary& summary, Metric metric) {
    std::string out;
    for (const Verdict verdict :
         {Verdict::slower, Verdict::faster, Verdict::same, Verdict::same_code, Verdict::ambiguous, Verdict::missing, Verdict::new_}) {
        if (summary.count(verdict) > 0 || verdict == Verdict::slower) {
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", grouped(summary.count(verdict)), verdict_word(verdict, metric));
        }
    }
    return out;
}

std::string interval_text(const Pair& pair) {
    return std::isnan(pair.low) || pair.evidence == Evidence::exact ? "-" : interval_text(pair.low, pair.high);
}

std::string evidence_text(const Comparison& comparison, const Pair& pair) {
    if (pair.evidence == Evidence::none) {
        return "-";
    }
    if (pair.evidence == Evidence::exact) {
        return "exact";
    }
    if (pair.evidence == Evidence::processes || pair.evidence == Evidence::paired) {
        return std::string(evidence_names.name(pair.evidence));
    }
    const ResultRow& before = *comparison.baseline_row(pair);
    const ResultRow& after = *comparison.candidate_row(pair);
    if (pair.evidence == Evidence::rounds) {
        return fmt::format("{}/{} rounds", before.rounds, after.rounds);
    }
    if (pair.evidence == Evidence::fresh_rounds) {
        return fmt::format("{}/{} fresh rounds", before.finals, after.finals);
    }
    return "quantiles";
}

std::vector<std::string> pair_cells(const Comparison& comparison, const Pair& pair) {
    const auto number = [](double value) { return std::isnan(value) ? "-" : three_digits(value); };
    return {std::string(comparison.text(pair, &RowProblem::key)),
            comparison.configuration(pair),
            number(pair.before),
            number(pair.after),
            change_text(pair.ratio),
            interval_text(pair),
            evidence_text(comparison, pair)};
}

std::string method_text(const Comparison& comparison) {
    if (comparison.settings.metric == Metric::memory) {
        return fmt::format("Memory has no noise: a change of {} or more counts.", threshold_text(comparison.settings));
    }
    const RunToRun& noise = comparison.run_to_run;
    std::string out = fmt::format(
        "A change counts from {} on and where its interval leaves out no change. Intervals are corrected for the "
        "number of pairs (each misses with probability {:.2g}), so that at most {:.3g}% of the calls are expected to be false.",
        threshold_text(comparison.settings), 1 - comparison.coverage, comparison.settings.false_discoveries * 100);
    const Floors& floors = comparison.floors;
    if (std::any_of(comparison.pairs.begin(), comparison.pairs.end(),
                    [&](const Pair& pair) { return pair.both() && comparison.floor_change_us(pair) != 0; })) {
        out += fmt::format(" An empty launch took {:.2f} us before and {:.2f} us after: times are compared without the difference.",
                           floors.before_us, floors.after_us);
    }
    const Control& control = comparison.control;
    if (control.known()) {
        out += fmt::format(
            " The {} pairs of the same code moved by {} and {:+.3f} us, and scatter by {:.2f}% and {:.3f} us: other pairs are "
            "judged beyond that.",
            grouped(control.pairs), change_text(std::exp(control.shift)), control.shift_us + 0.0, control.deviation * 100,
            control.deviation_us);
    }
    if (comparison.side_by_side) {
        if (comparison.of_a_run == 0) {
            return out + " Nothing was measured on both sides.";
        }
        out += fmt::format(
            " The two of a pair were measured right after one another, in turn, in the same rounds of up to {} process{}: the change is "
            "the mean of their differences, and its interval is what processes differ by.",
            comparison.processes[0], comparison.processes[0] == 1 ? "" : "es");
    } else if (comparison.repeated()) {
        out += fmt::format(" Up to {} processes measured a trial before and {} after; what they differ by was measured.",
                           comparison.processes[0], comparison.processes[1]);
    } else if (!control.known()) {
        out += fmt::format(
            " Two runs of the same code are taken to differ by {:.2f}% (standard deviation){}.", noise.deviation * 100,
            noise.told ? "" : ", which so few pairs and copies do not tell: normtune selfcheck measures it, for a policy of gate");
    }
    const auto runs = [&](double change) {
        const int count = comparison.runs_to_find(change);
        const std::string_view what = comparison.side_by_side ? "process" : "run";
        const std::string_view several = comparison.side_by_side ? "processes" : "runs";
        return count == 0 ? fmt::format("more than 99 {}", several) : fmt::format("{} {}", count, count == 1 ? what : several);
    };
    out += fmt::format(" Of the usual pair a change of 1% is significant in 95 of 100 cases with {}{}, of 2% with {}.", runs(0.01),
                       comparison.side_by_side ? "" : " a side", runs(0.02));
    if (noise.copies > 0) {
        out += fmt::format(" A plain copy, which no kernel's change moves, changed by {} (median of {} problem{}).",
                           change_text(noise.copy_ratio), noise.copies, noise.copies == 1 ? "" : "s");
    }
    return out;
}

std::vector<const Pair*> pairs_with(const Comparison& comparison, Verdict verdict) {
    std::vector<const Pair*> out;
    for (const Pair& pair : comparison.pairs) {
        if (pair.verdict == verdict) {
            out.push_back(&pair);
        }
    }
    const auto size = [](const Pair* pair) { return std::isnan(pair->ratio) ? 0.0 : std::abs(std::log(pair->ratio)); };
    std::stable_sort(out.begin(), out.end(), [&](const Pair* a, const Pair* b) { return size(a) > size(b); });
    return out;
}

Table group_table(const Comparison& comparison, std::span<const RatioGroup> groups) {
    Table table(group_columns(comparison.settings.metric));
    for (const RatioGroup& group : groups) {
        table.add(
            {group_name(group), grouped(group.pairs), change_text(group.geometric_mean), grouped(group.slower), grouped(group.faster)});
    }
    return table;
}

namespace {

Tone tone_of(Verdict verdict) {
    return verdict == Verdict::slower || verdict == Verdict::missing ? Tone::bad
           : verdict == Verdict::faster                              ? Tone::good
           : verdict == Verdict::ambiguous                           ? Tone::unsure
                                                                     : Tone::plain;
}

/// Pairs by verdict, the largest changes first.
Section pairs_section(const Comparison& comparison, std::size_t most) {
    const Metric metric = comparison.settings.metric;
    Section section{"", Table(pair_columns(metric)), ""};
    for (const Verdict verdict : {Verdict::slower, Verdict::ambiguous, Verdict::missing, Verdict::faster, Verdict::new_}) {
        const std::vector<const Pair*> pairs = pairs_with(comparison, verdict);
        const std::size_t shown = most == 0 ? pairs.size() : std::min(most, pairs.size());
        for (std::size_t i = 0; i < shown; ++i) {
            std::vector<std::string> cells = pair_cells(comparison, *pairs[i]);
            cells.insert(cells.begin(), std::string(verdict_word(verdict, metric)));
            cells.push_back(comparison.note(*pairs[i]));
            section.table.add(std::move(cells), tone_of(verdict));
        }
        if (shown < pairs.size()) {
            section.note += fmt::format("… and {} more {} (--most {} shows them)\n", grouped(pairs.size() - shown),
                                        verdict_word(verdict, metric), pairs.size());
        }
    }
    return section;
}

std::string count_remarks(const Comparison& comparison) {
    std::string out;
    if (comparison.failed_both > 0) {
        out += fmt::format("{} trial{} failed on both sides, or on the only side that has {}\n", grouped(comparison.failed_both),
                           comparison.failed_both == 1 ? "" : "s", comparison.failed_both == 1 ? "it" : "them");
    }
    return out;
}

}  // namespace

std::vector<std::string> comparison_headings(Metric metric) {
    return headings_of({group_columns(metric), pair_columns(metric), extreme_columns});
}

std::vector<Section> comparison_sections(const Comparison& comparison, const Summary& summary, std::size_t most) {
    std::vector<Section> out;
    out.push_back({verdict_counts(summary, comparison.settings.metric), group_table(comparison, summary.groups),
                   fmt::format("baseline   {}\ncandidate  {}\n", side_text(*comparison.baseline), side_text(*comparison.candidate))});
    if (Section pairs = pairs_section(comparison, most); !pairs.table.empty()) {
        out.push_back(std::move(pairs));
    }
    if (!summary.groups.empty()) {
        Section extremes{"", Table(extreme_columns), ""};
        const auto add = [&](std::string_view word, const std::vector<const Pair*>& pairs) {
            for (const Pair* pair : pairs) {
                extremes.table.add({std::string(word), std::string(comparison.text(*pair, &RowProblem::key)),
                                    comparison.configuration(*pair), change_text(pair->ratio), interval_text(*pair)});
            }
        };
        add("worst", summary.worst);
        add("best", summary.best);
        out.push_back(std::move(extremes));
    }
    std::string notes = count_remarks(comparison);
    for (const std::string& remark : remarks_on(comparison)) {
        notes += for_terminal(remark) + "\n";
    }
    out.push_back({"", Table(), notes + method_text(comparison) + "\n"});
    return out;
}

}  // namespace normtune
