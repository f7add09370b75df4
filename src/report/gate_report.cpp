#include "report/gate_report.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "judge/summary.h"
#include "report/comparison_report.h"
#include "support/csv.h"
#include "support/escape.h"

namespace normtune {
namespace {

constexpr std::size_t most_annotations = 10;
constexpr std::size_t most_cases = 200;
constexpr std::size_t most_open = 5;           // failures that stand unfolded
constexpr std::size_t most_markdown = 60'000;  // GitHub refuses comments beyond 65,536 characters

std::string key_of(const GateCase& it) {
    return fmt::format("{} {}", it.comparison->text(*it.pair, &RowProblem::key), it.comparison->configuration(*it.pair));
}

std::string_view word(GateResult result) {
    return gate_result_names.name(result);
}

/// What fails first, the largest change before smaller ones, then what is inconclusive.
std::vector<const GateCase*> not_passed(const GateVerdict& verdict) {
    std::vector<const GateCase*> out;
    for (const GateCase& it : verdict.cases) {
        if (it.result != GateResult::pass) {
            out.push_back(&it);
        }
    }
    std::stable_sort(out.begin(), out.end(), [](const GateCase* a, const GateCase* b) {
        if (a->result != b->result) {
            return a->result == GateResult::fail;
        }
        return a->pair->ratio > b->pair->ratio;
    });
    return out;
}

std::string counts(const GateVerdict& verdict) {
    const auto known = std::count_if(verdict.cases.begin(), verdict.cases.end(), [](const GateCase& it) { return it.known; });
    std::string out = fmt::format("{} passed, {} failed, {} inconclusive", verdict.count(GateResult::pass), verdict.count(GateResult::fail),
                                  verdict.count(GateResult::inconclusive));
    return known > 0 ? out + fmt::format(", {} known", known) : out;
}

constexpr std::string_view summary_columns = "metric|>pairs|>geometric mean|>slower|>faster|>worst|on";

constexpr std::string_view case_columns = "result|metric|problem and configuration|>change|reason";

/// A line a metric: its geometric mean, and its worst pair.
std::vector<std::vector<std::string>> summaries(const GateVerdict& verdict) {
    std::vector<const Comparison*> seen;
    std::vector<std::vector<std::string>> out;
    for (const GateCase& it : verdict.cases) {
        if (std::find(seen.begin(), seen.end(), it.comparison) != seen.end()) {
            continue;
        }
        seen.push_back(it.comparison);
        const Summary summary = summarise(*it.comparison);
        if (!summary.groups.empty()) {
            const RatioGroup& all = summary.groups.front();
            const Pair* const worst = summary.worst.empty() ? nullptr : summary.worst.front();
            out.push_back({std::string(metric_names.name(it.comparison->settings.metric)), grouped(all.pairs),
                           change_text(all.geometric_mean), grouped(all.slower), grouped(all.faster),
                           worst == nullptr ? "-" : change_text(worst->ratio),
                           worst == nullptr ? "" : std::string(it.comparison->text(*worst, &RowProblem::key))});
        }
    }
    return out;
}

Tone tone_of(GateResult result) {
    return result == GateResult::pass ? Tone::good : result == GateResult::fail ? Tone::bad : Tone::unsure;
}

/// Of a trial that did not pass its outcome: it is not missing.
std::string_view failure_word(const GateCase& it) {
    const ResultRow* const after = it.verdict == Verdict::missing ? it.comparison->candidate_row(*it.pair) : nullptr;
    return after != nullptr && after->outcome != Outcome::passed ? outcome_names.name(after->outcome)
                                                                 : verdict_word(it.verdict, it.comparison->settings.metric);
}

struct Suite {
    std::string cases;
    std::size_t tests = 0;
    std::size_t failures = 0;
    std::size_t skipped = 0;
};

}  // namespace

std::vector<std::string> gate_headings() {
    return headings_of({summary_columns, case_columns});
}

std::vector<Section> gate_sections(const GateVerdict& verdict) {
    Section head{fmt::format("{}: gate {}: {}", word(verdict.result), verdict.policy, counts(verdict)), Table(summary_columns), ""};
    for (std::vector<std::string>& cells : summaries(verdict)) {
        head.table.add(std::move(cells), tone_of(verdict.result));
    }
    for (const std::string& remark : verdict.remarks) {
        head.note += for_terminal(remark) + "\n";
    }
    std::vector<Section> out{std::move(head)};
    const std::vector<const GateCase*> cases = not_passed(verdict);
    if (!cases.empty()) {
        Section section{"", Table(case_columns), ""};
        for (std::size_t i = 0; i < std::min(most_cases, cases.size()); ++i) {
            const GateCase& it = *cases[i];
            section.table.add({std::string(word(it.result)), std::string(metric_names.name(it.comparison->settings.metric)), key_of(it),
                               change_text(it.pair->ratio), it.reason},
                              tone_of(it.result));
        }
        if (cases.size() > most_cases) {
            section.note = fmt::format("… and {} more (--junit has all)\n", cases.size() - most_cases);
        }
        out.push_back(std::move(section));
    }
    return out;
}

std::string gate_markdown(const GateVerdict& verdict) {
    std::string out =
        fmt::format("### normtune gate {}: {}\n\n{}\n\n", markdown_code(verdict.policy), word(verdict.result), counts(verdict));
    Table means(summary_columns);
    for (std::vector<std::string>& cells : summaries(verdict)) {
        means.add(std::move(cells));
    }
    out += means.empty() ? "" : means.markdown() + "\n";
    const auto add = [&](const std::string& text) {
        const bool fits = out.size() + text.size() <= most_markdown;
        out += fits ? text : "";
        return fits;
    };
    for (const std::string& remark : verdict.remarks) {
        add("- " + for_markdown(remark) + "\n");
    }
    out += verdict.remarks.empty() ? "" : "\n";
    std::vector<const GateCase*> cases[2];  // that fail, and that are inconclusive
    for (const GateCase* it : not_passed(verdict)) {
        cases[it->result == GateResult::fail ? 0 : 1].push_back(it);
    }
    const auto table = [&](const std::vector<const GateCase*>& list, std::size_t begin, std::size_t end) {
        out += Table("metric|problem|configuration|>change|reason").markdown();
        const auto row = [](const GateCase& it) {
            return markdown_row({std::string(metric_names.name(it.comparison->settings.metric)),
                                 markdown_code(it.comparison->text(*it.pair, &RowProblem::key)),
                                 markdown_code(it.comparison->configuration(*it.pair)), change_text(it.pair->ratio),
                                 for_markdown(it.reason)});
        };
        std::size_t at = begin;
        while (at < end && add(row(*list[at]))) {
            ++at;
        }
        out += at < end ? fmt::format("\n… and {} more.\n\n", grouped(end - at)) : "\n";
    };
    const std::size_t open = std::min(most_open, cases[0].size());
    if (open > 0) {
        table(cases[0], 0, open);
    }
    for (const auto& [list, begin] : {std::pair(&cases[0], open), std::pair(&cases[1], std::size_t{0})}) {
        if (list->size() > begin) {
            out += fmt::format("<details><summary>{} {}</summary>\n\n", grouped(list->size() - begin),
                               list == &cases[0] ? "more that fail" : "inconclusive");
            table(*list, begin, list->size());
            out += "</details>\n\n";
        }
    }
    return out;
}

std::string gate_junit(const GateVerdict& verdict) {
    std::map<std::string, Suite> suites;
    std::size_t failures = 0;
    for (const GateCase& it : verdict.cases) {
        const auto text = [&](TextId RowProblem::*member) { return it.comparison->text(*it.pair, member); };
        const std::string name =
            fmt::format("{}.{}.{}", metric_names.name(it.comparison->settings.metric), text(&RowProblem::op), text(&RowProblem::mode));
        Suite& suite = suites[name];
        ++suite.tests;
        suite.cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", for_xml(name), for_xml(key_of(it)));
        if (it.result == GateResult::fail) {
            ++suite.failures;
            ++failures;
            suite.cases +=
                fmt::format(">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n", failure_word(it), for_xml(it.reason));
        } else if (it.result == GateResult::inconclusive || it.known) {
            ++suite.skipped;
            suite.cases += fmt::format(">\n      <skipped message=\"{}: {}\"/>\n    </testcase>\n", it.known ? "known" : "inconclusive",
                                       for_xml(it.reason));
        } else {
            suite.cases += "/>\n";
        }
    }
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"normtune gate {}\" tests=\"{}\" "
        "failures=\"{}\" "
        "errors=\"0\" time=\"0\">\n",
        for_xml(verdict.policy), verdict.cases.size(), failures);
    for (const auto& [name, suite] : suites) {
        out += fmt::format(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\">\n{}  "
            "</testsuite>\n",
            for_xml(name), suite.tests, suite.failures, suite.skipped, suite.cases);
    }
    if (!verdict.remarks.empty()) {  // of no single suite
        out += "  <testsuite name=\"remarks\" tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\" time=\"0\">\n    <system-out>";
        for (const std::string& remark : verdict.remarks) {
            out += for_xml(remark) + "\n";
        }
        out += "</system-out>\n  </testsuite>\n";
    }
    return out + "</testsuites>\n";
}

void write_gate_csv(TextSink& out, const GateVerdict& verdict) {
    out += "result,metric,verdict,problem,configuration,before,after,ratio,ratio_low,ratio_high,threshold,reason\r\n";
    for (const GateCase& it : verdict.cases) {
        const auto number = [&](double Pair::*member) { return csv_number(it.pair->*member, 6); };
        const Metric metric = it.comparison->settings.metric;
        std::vector<std::string> cells{std::string(word(it.result)),
                                       std::string(metric_names.name(metric)),
                                       std::string(verdict_word(it.verdict, metric)),
                                       std::string(it.comparison->text(*it.pair, &RowProblem::key)),
                                       it.comparison->configuration(*it.pair),
                                       number(&Pair::before),
                                       number(&Pair::after),
                                       number(&Pair::ratio),
                                       number(&Pair::low),
                                       number(&Pair::high),
                                       csv_number(it.threshold, 6),
                                       it.reason};
        std::ranges::transform(cells, cells.begin(), [](const std::string& cell) { return report_for_terminal(for_terminal(cell)); });
        out += csv_line(cells);
    }
}

std::string gate_annotations(const GateVerdict& verdict) {
    std::string out;
    std::size_t shown = 0;
    std::size_t failed = 0;
    for (const GateCase* it : not_passed(verdict)) {
        if (it->result != GateResult::fail) {
            continue;
        }
        if (++failed >= most_annotations && verdict.count(GateResult::fail) > most_annotations) {
            continue;
        }
        ++shown;
        out += fmt::format("::error title={}::{}\n", for_workflow_command(fmt::format("normtune: {}", failure_word(*it)), true),
                           for_workflow_command(fmt::format("{}: {}", key_of(*it), it->reason)));
    }
    if (failed > shown) {
        out += fmt::format("::error title=normtune::and {} more\n", failed - shown);
    }
    if (verdict.result == GateResult::inconclusive) {
        out += fmt::format("::warning title=normtune::{}\n",
                           for_workflow_command(fmt::format("gate {} is inconclusive: {}", verdict.policy, counts(verdict))));
    }
    return out;
}

}  // namespace normtune
