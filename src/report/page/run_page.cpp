#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "measure/statistics.h"
#include "report/outcomes.h"
#include "report/page/html.h"
#include "report/page/pages.h"
#include "report/page/run_plots.h"
#include "report/page/trials_table.h"
#include "report/sections.h"
#include "report/table.h"
#include "support/plural.h"

namespace normtune {
namespace {

constexpr std::array<std::string_view, 8> plot_names{"limit", "rows", "cols", "axes", "heuristics", "rules", "rounds", "machine"};

std::string ratio_cell(double ratio) {
    return !std::isfinite(ratio) || ratio <= 0 ? "-" : ratio < 100 ? fmt::format("{:.2f}×", ratio) : fmt::format("{:.0f}×", ratio);
}

/// The winners' times over the copy's.
struct Limits {
    explicit Limits(const RunView& run) {
        double logs = 0;
        for (const ProblemView& problem : run.problems) {
            const double ratio = problem.winner().limit_ratio;
            if (ratio > 0) {
                logs += std::log(ratio);
                least = count == 0 ? ratio : std::min(least, ratio);
                if (ratio > most) {
                    most = ratio;
                    worst = &problem;
                }
                ++count;
            }
        }
        mean = std::exp(logs / static_cast<double>(std::max<std::size_t>(count, 1)));
    }
    std::size_t count = 0;
    double mean = 1;
    double least = 0;
    double most = 0;
    const ProblemView* worst = nullptr;
};

/// "3,586 passed, 39 pruned": every outcome that occurs.
std::string outcome_counts(const Results& results, bool faults_alone) {
    std::map<Outcome, std::size_t> counts;
    for (const Record& record : results.records) {
        ++counts[record.outcome];
    }
    std::string out;
    for (const auto& [outcome, count] : counts) {
        const bool fault = outcome != Outcome::passed && outcome != Outcome::pruned && outcome != Outcome::unsupported;
        if (fault || !faults_alone) {
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", grouped(count), outcome_names.name(outcome));
        }
    }
    return out;
}

std::size_t left_out_by(const Results& results, std::string_view rule) {
    std::size_t out = 0;
    for (const PlanSummary& plan : results.plans) {
        out += plan.taken_by(rule).value_or(0);
    }
    return out;
}

/// What the reader has to know before believing the rest.
std::vector<std::string> warnings(const RunView& run) {
    std::vector<std::string> out;
    const auto add = [&](std::size_t count, std::string_view one, std::string_view several, std::string_view text) {
        if (count > 0) {
            out.push_back(fmt::format("{} {} {}", grouped(count), plural(count, one, several), text));
        }
    };
    if (const std::string faults = outcome_counts(run.results, true); !faults.empty()) {
        out.push_back(fmt::format("Trials that failed: {}. The table of trials has their reasons.", faults));
    }
    add(left_out_by(run.results, interrupted_rule), "trial was", "trials were", "not run: the sweep was interrupted.");
    if (const Unfinished unfinished = unfinished_problems(run.results); unfinished.problems > 0) {
        std::vector<std::string> problems = unfinished.first;
        if (!unfinished.others().empty()) {
            problems.push_back(unfinished.others());
        }
        out.push_back(fmt::format("{}: {}.", unfinished.title(), fmt::join(problems, "; ")));
    }
    if (std::string processes = missing_processes_text(run.results); !processes.empty()) {
        out.push_back(std::move(processes));
    }
    add(left_out_by(run.results, budget_rule), "trial was", "trials were",
        "not run: the time budget, or a problem's share of it, was too short.");
    std::size_t unranked = 0;
    std::size_t stored = 0;
    for (const ProblemRanking& ranking : run.rankings) {
        unranked += ranking.winner->measurement->rank != 1 ? 1 : 0;
        stored += ranking.plan != nullptr && ranking.plan->stored() ? 1 : 0;
    }
    add(unranked, "problem has", "problems have", "no finals: the best is the least p50 so far.");
    add(stored, "problem was", "problems were", "not run: the times are from the store of winners, measured earlier.");
    return out;
}

void write_summary(TextSink& out, const RunView& run) {
    const Limits limits(run);
    const std::size_t problems = run.problems.size();
    if (problems == 0) {
        write_paragraph(out, "Nothing was measured: no trial has a time.", "verdict");
    } else if (limits.count == 0) {
        write_paragraph(out,
                        fmt::format("{} {} a fastest candidate. No copy was measured beside {}.", grouped(problems),
                                    problems == 1 ? "problem has" : "problems have", problems == 1 ? "it" : "them"),
                        "verdict");
    } else {
        write_paragraph(
            out,
            fmt::format("The fastest candidates take {} the time of a copy of the same bytes{}.", ratio_cell(limits.mean),
                        limits.count == 1 ? ""
                                          : fmt::format(" (geometric mean of {} problems; from {} to {})", grouped(limits.count),
                                                        ratio_cell(limits.least), ratio_cell(limits.most))),
            "verdict");
    }
    for (const std::string& text : warnings(run)) {
        write_paragraph(out, text, "warning");
    }
    std::vector<std::pair<std::string, std::string>> cards{{grouped(problems), "problems measured"},
                                                           {grouped(run.results.records.size()), "trials"}};
    if (limits.count > 0) {
        cards.emplace_back(ratio_cell(limits.mean), "time over the copy's, geometric mean");
        cards.emplace_back(ratio_cell(limits.most), "at most, on " + limits.worst->group + " " + limits.worst->shape);
    }
    for (std::size_t i = 1; i < run.providers.size(); ++i) {
        const auto best = std::count_if(run.problems.begin(), run.problems.end(), [&](const ProblemView& problem) {
            return problem.ranking->winner->candidate.provider() == run.providers[i];
        });
        cards.emplace_back(fmt::format("{} of {}", best, problems), "problems on which " + run.providers[i] + " is fastest");
    }
    write_cards(out, cards);
    write_paragraph(out, fmt::format("Trials: {}.", outcome_counts(run.results, false)));
    if (run.audit) {
        Numbers numbers{{"heuristic", ">judged on", ">mean loss", ">worst", "on"}, {}};
        for (std::size_t i = 0; i < run.audit->heuristics.size(); ++i) {
            const LossGroup& all = run.audit->heuristic_groups[i].back();
            numbers.lines.push_back({run.audit->heuristics[i].name(), judged_text(all), mean_text(all), worst_text(all),
                                     all.worst > 0 ? all.worst_on->problem().key() : "-"});
        }
        write_table(out, "What named heuristics lose against normtune's own fastest", numbers);
    }
}

std::size_t tied_with(const ProblemRanking& ranking) {
    return static_cast<std::size_t>(std::count_if(ranking.standings.begin(), ranking.standings.end(), [&](const Standing& standing) {
        return standing.record != ranking.winner && standing.record->measurement->tied;
    }));
}

void write_winners(TextSink& out, const RunView& run) {
    Numbers numbers{{"problem", ">p50 µs", ">p20 – p80", ">GB/s", ">over the copy", ">tied", ">measured"}, {}};
    for (const ThumbRule& heuristic : run.heuristics) {
        numbers.headings.push_back(">" + heuristic.name());
    }
    for (std::size_t i = 1; i < run.providers.size(); ++i) {
        numbers.headings.push_back(">" + run.providers[i]);
    }
    numbers.headings.emplace_back("fastest candidate");
    for (const ProblemView& problem : run.problems) {
        const Measurement& m = problem.winner();
        std::vector<std::string> line{problem.ranking->problem().key(),
                                      plot_number(m.p50_us),
                                      fmt::format("{} – {}", plot_number(m.p20_us), plot_number(m.p80_us)),
                                      plot_number(m.gbps),
                                      ratio_cell(m.limit_ratio),
                                      grouped(tied_with(*problem.ranking)),
                                      grouped(problem.ranking->standings.size())};
        const auto add = [&](const Standing* standing) { line.push_back(standing == nullptr ? "-" : ratio_cell(standing->ratio)); };
        std::for_each(problem.heuristic.begin(), problem.heuristic.end(), add);
        for (std::size_t i = 1; i < run.providers.size(); ++i) {
            add(problem.best_of[i]);
        }
        line.push_back(problem.ranking->winner->candidate.identity());
        numbers.lines.push_back(std::move(line));
    }
    write_paragraph(
        out,
        "Over the copy: p50 over that of the fastest copy of the same bytes, in the same rounds. Tied: others that cannot be told "
        "from the fastest. Heuristics and other providers: the time of the best that obeys, or is theirs, over the fastest's.",
        "caption");
    write_table(out, "The fastest candidate of each problem", numbers);
}

void write_rules(TextSink& out, const RunView& run, int& next_id) {
    Numbers numbers{{"rule", ">judged on", ">lifted", ">takes none", ">pruned by", ">mean loss", ">worst", "on"}, {}};
    std::string idle;
    for (std::size_t i = 0; i < run.audit->rules.size(); ++i) {
        const RuleGroup& all = run.audit->rule_groups[i].back();
        if (all.count(RuleFinding::takes_nothing) == all.places) {
            idle += (idle.empty() ? "" : ", ") + run.audit->rules[i].name;
            continue;
        }
        numbers.lines.push_back({run.audit->rules[i].name, judged_text(all), grouped(all.count(RuleFinding::lifted)),
                                 grouped(all.count(RuleFinding::takes_nothing)), grouped(all.count(RuleFinding::applied)), mean_text(all),
                                 worst_text(all), all.worst > 0 ? all.worst_on->problem().key() : "-"});
    }
    const Plot heuristics = heuristics_plot(run);
    if (!heuristics.panels.empty()) {
        out += "<h3>Heuristics</h3>\n";
        write_plot(out, heuristics, next_id);
    }
    out += "<h3>Prune rules</h3>\n";
    const Plot rules = rules_plot(run);
    if (!rules.panels.empty()) {
        write_plot(out, rules, next_id);
    }
    write_paragraph(
        out,
        "Judged on: problems where it would have taken configurations that were measured. Lifted: it would leave nothing. Takes none: "
        "all that was measured passes it. Pruned by: the sweep itself pruned by it, so what it took has no time.",
        "caption");
    if (!numbers.lines.empty()) {
        write_table(out, "Prune rules, by problems", numbers);
    }
    if (!idle.empty()) {
        write_paragraph(out, fmt::format("These take nothing of what was measured, on any problem: {}.", idle), "caption");
    }
}

std::string spread_of(std::vector<double> values, std::string_view unit) {
    std::erase_if(values, [](double value) { return !(value > 0); });
    return values.empty() ? "not told"
                          : fmt::format("{:.4g} {} (median of {} trials; {:.4g} to {:.4g})", median(values), unit, grouped(values.size()),
                                        quantile(values, 0), quantile(values, 1));
}

std::vector<std::pair<std::string, std::string>> measuring_facts(const Results& results) {
    std::vector<double> floors;
    std::vector<double> clocks;
    std::vector<double> memory_clocks;
    std::set<std::string> timers;
    std::set<std::string> throttled_by;
    std::size_t cold = 0;
    std::size_t repeats = 0;
    for (const Record& record : results.records) {
        if (!record.measurement) {
            continue;
        }
        const Measurement& m = *record.measurement;
        floors.push_back(m.floor_us);
        clocks.push_back(m.clock_mhz.value_or(0));
        memory_clocks.push_back(m.memory_clock_mhz.value_or(0));
        timers.insert(m.timer);
        throttled_by.insert(m.throttle_reasons.begin(), m.throttle_reasons.end());
        cold += m.cold ? 1 : 0;
        repeats += static_cast<std::size_t>(m.throttled_repeats);
    }
    return {{"floor (an empty launch)", spread_of(floors, "µs")},
            {"clock of the compute units", spread_of(clocks, "MHz")},
            {"clock of the memory", spread_of(memory_clocks, "MHz")},
            {"timer", fmt::format("{}", fmt::join(timers, ", "))},
            {"data in cache", cold == floors.size() ? "cold"
                              : cold == 0           ? "hot"
                                                    : "cold in some trials, hot in others"},
            {"rounds repeated, being throttled", grouped(repeats)},
            {"reasons for throttling", throttled_by.empty() ? "none told" : fmt::format("{}", fmt::join(throttled_by, ", "))}};
}

std::vector<std::pair<std::string, std::string>> environment_facts(const Environment& environment,
                                                                   const std::vector<std::string>& command) {
    const DeviceInfo& device = environment.device;
    const auto told = [](const std::string& text) { return text.empty() ? std::string("not told") : text; };
    return {{"device", fmt::format("{} ({}, {})", device.name, device.arch, backend_names.name(device.backend))},
            {"driver", told(device.driver)},
            {"compiler of the kernels", told(environment.compiler)},
            {"UUID", told(device.uuid)},
            {"compute units", fmt::format("{}", device.compute_units)},
            {"last-level cache", byte_text(device.cache_bytes)},
            {"memory", byte_text(device.memory_bytes)},
            {"system", told(environment.os)},
            {"host", told(environment.hostname)},
            {"normtune", environment.normtune_version + " " + environment.source_revision},
            {"started", told(environment.started)},
            {"seed", fmt::format("{}", environment.seed)},
            {"command", fmt::format("{}", fmt::join(command, " "))}};
}

void write_machine(TextSink& out, const RunView& run, int& next_id) {
    const Results& results = run.results;
    write_facts(out, "Measuring", measuring_facts(results));
    if (results.merged.empty()) {
        write_facts(out, "Machine", environment_facts(results.environment, results.command));
    }
    for (const MergedRun& part : results.merged) {
        write_facts(out, "Machine of a merged run", environment_facts(part.environment, part.command));
    }
    const Plot plot = machine_plot(run);
    if (!plot.panels.empty()) {
        write_plot(out, plot, next_id);
    }
}

}  // namespace

std::vector<std::string> run_plot_names() {
    return {plot_names.begin(), plot_names.end()};
}

Plot run_plot(const RunView& run, std::string_view name) {
    return name == "limit"        ? limit_plot(run)
           : name == "rows"       ? throughput_plot(run, true)
           : name == "cols"       ? throughput_plot(run, false)
           : name == "axes"       ? axes_plot(run)
           : name == "heuristics" ? heuristics_plot(run)
           : name == "rules"      ? rules_plot(run)
           : name == "rounds"     ? rounds_plot(run)
                                  : machine_plot(run);
}

std::string about_run(const Results& results) {
    const Environment& environment = results.environment;
    const DeviceInfo& device = environment.device;
    return fmt::format("{} ({}{}{}){}{}.", device.name, device.arch, device.driver.empty() ? "" : ", ", device.driver,
                       environment.started.empty() ? "" : ", ", environment.started);
}

void write_run_page(TextSink& out, const RunView& run, std::string_view file) {
    int next_id = 0;
    std::vector<PageSection> sections{{"summary", "Summary", [&](TextSink& to) {
                                           write_paragraph(to, fmt::format("{} {}", file, about_run(run.results)), "caption");
                                           write_summary(to, run);
                                       }}};
    const auto add_plot = [&](Plot plot) {
        if (!plot.panels.empty()) {
            sections.push_back({plot.name, plot.title, [&next_id, plot](TextSink& to) { write_plot(to, plot, next_id); }});
        }
    };
    if (!run.problems.empty()) {
        sections.push_back({"winners", "Winners", [&](TextSink& to) { write_winners(to, run); }});
    }
    add_plot(limit_plot(run));
    add_plot(throughput_plot(run, true));
    add_plot(throughput_plot(run, false));
    sections.push_back({"trials", "Trials", [&](TextSink& to) { write_trials(to, run); }});
    add_plot(axes_plot(run));
    if (run.audit) {
        sections.push_back({"rules", "Heuristics and prune rules", [&](TextSink& to) { write_rules(to, run, next_id); }});
    }
    if (Plot rounds = rounds_plot(run); !rounds.panels.empty()) {
        sections.push_back({"rounds", rounds.title, [&, rounds](TextSink& to) { write_choice_of_panels(to, rounds, "Problem", next_id); }});
    }
    sections.push_back({"machine", "Machine, clocks, floor", [&](TextSink& to) { write_machine(to, run, next_id); }});
    write_page(out, fmt::format("normtune: {}", run.results.environment.device.name), sections);
}

}  // namespace normtune
