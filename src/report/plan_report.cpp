#include "report/plan_report.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "report/json_document.h"
#include "support/escape.h"
#include "support/plural.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

constexpr int plan_schema_version = 1;

struct Totals {
    std::uint64_t points = 0;
    std::uint64_t kept = 0;
    std::vector<RuleTally> rules;  // in the order of their first appearance
};

Totals add_up(const std::vector<PlannedProblem>& problems) {
    Totals totals;
    for (const PlannedProblem& problem : problems) {
        totals.points += problem.plan.points;
        totals.kept += problem.plan.kept;
        for (const RuleTally& tally : problem.plan.tallies) {
            const auto same =
                std::find_if(totals.rules.begin(), totals.rules.end(), [&](const RuleTally& known) { return known.rule == tally.rule; });
            if (same == totals.rules.end()) {
                totals.rules.push_back(tally);
            } else {
                same->pruned += tally.pruned;
            }
        }
    }
    return totals;
}

constexpr std::size_t rules_told = 3;

/// What took something, the most first; `all`: in their order, with those that were lifted.
std::vector<RuleTally> told_of(const std::vector<RuleTally>& tallies, bool all) {
    std::vector<RuleTally> out;
    std::copy_if(tallies.begin(), tallies.end(), std::back_inserter(out),
                 [&](const RuleTally& tally) { return tally.pruned > 0 || (all && tally.lifted); });
    if (!all) {
        std::stable_sort(out.begin(), out.end(), [](const RuleTally& a, const RuleTally& b) { return a.pruned > b.pruned; });
    }
    return out;
}

std::string pruned_text(const ProblemPlan& plan, bool all) {
    const std::vector<RuleTally> told = told_of(plan.tallies, all);
    const std::size_t shown = all ? told.size() : std::min(told.size(), rules_told);
    std::string out;
    for (std::size_t i = 0; i < shown; ++i) {
        out += fmt::format("{}{} {}", i == 0 ? "" : ", ", told[i].rule, told[i].lifted ? "lifted" : grouped(told[i].pruned));
    }
    return shown < told.size() ? fmt::format("{}, {} more", out, told.size() - shown) : out;
}

Section rules_section(const Totals& totals, bool all) {
    const std::vector<RuleTally> told = told_of(totals.rules, all);
    Section section{"", Table("rule|>pruned|because"), ""};
    std::uint64_t others = 0;
    std::size_t left_out = 0;
    for (const RuleTally& tally : told) {
        if (!all && section.table.lines().size() > rules_told) {
            others += tally.pruned;
            ++left_out;
        } else if (tally.pruned > 0) {
            section.table.add({tally.rule, grouped(tally.pruned), tally.reason});
        }
    }
    section.note = left_out == 0
                       ? ""
                       : fmt::format("{} more rule{} took {}; --rules tells all.\n", left_out, left_out == 1 ? "" : "s", grouped(others));
    return section;
}

/// A line for people; where it is too wide, its parts on lines of their own.
std::string key_line(std::string_view problem, std::string_view key, std::string_view rest, const Style& style) {
    std::string line = fmt::format("{}  {}{}{}\n", problem, key, rest.empty() ? "" : "  ", rest);
    if (style.width == 0 || display_width(line) <= style.width + 1) {
        return line;
    }
    return fmt::format("{}\n{}{}", problem, prose(fmt::format("  {}", key), style),
                       rest.empty() ? "" : prose(fmt::format("    {}", rest), style));
}

/// What is worth a line of its own: what failed, what spills, what a rule took.
bool amiss(const TrialCode& one) {
    return !one.info || one.pruned || one.info->spill_bytes.value_or(0) > 0;
}

std::string code_line(const TrialCode& one) {
    if (!one.info) {
        return one.reason;
    }
    const CompileInfo& info = *one.info;
    std::string out;
    const auto tell = [&](const std::string& text) { out += text + ", "; };
    if (info.registers) {
        tell(fmt::format("{} registers", *info.registers));
    }
    if (info.spill_bytes) {
        tell(fmt::format("{} bytes spilled", *info.spill_bytes));
    }
    if (info.shared_bytes) {
        tell(fmt::format("{} shared", byte_text(*info.shared_bytes)));
    }
    if (info.occupancy) {
        tell(fmt::format("occupancy {:.2f}", *info.occupancy));
    }
    out += fmt::format("code {:.8}", info.code_hash);
    return one.pruned ? fmt::format("{}; pruned by {}", out, one.reason) : out;
}

struct CodeTotals {
    std::size_t compiled = 0;
    std::size_t failed = 0;
    std::size_t spilling = 0;
    std::size_t pruned = 0;
    std::optional<int> registers;  // the most that is known
    std::set<std::string> distinct;

    void add(const TrialCode& one) {
        ++(one.info ? compiled : failed);
        if (one.info) {
            spilling += one.info->spill_bytes.value_or(0) > 0 ? 1 : 0;
            pruned += one.pruned ? 1 : 0;
            registers = std::max(registers, one.info->registers);  // none is less than any
            distinct.insert(one.info->code_hash);
        }
    }
    std::vector<std::string> cells(std::string name) const {
        return {std::move(name),
                grouped(compiled),
                grouped(distinct.size()),
                grouped(failed),
                grouped(spilling),
                grouped(pruned),
                registers ? fmt::format("{}", *registers) : "-"};
    }
};

Section code_section(const Planning& planning) {
    Section section{
        fmt::format("Compiled for {} by {} in {}.", planning.options.device.arch, planning.compiler, time_text(planning.compile_s)),
        Table("problem|>compiled|>distinct code|>failed|>spill|>pruned by code|>most registers"), ""};
    CodeTotals all;
    for (const PlannedProblem& problem : planning.problems) {
        CodeTotals totals;
        for (const TrialCode& code : problem.compiled) {
            totals.add(code);
            all.add(code);
        }
        section.table.add(totals.cells(problem.plan.problem.key()));
    }
    section.table.add_sums(all.cells(fmt::format("{} in all", planning.problems.size())));
    return section;
}

nlohmann::json code_json(const PlannedProblem& problem) {
    nlohmann::json out = nlohmann::json::array();
    for (std::size_t i = 0; i < problem.compiled.size(); ++i) {
        const TrialCode& one = problem.compiled[i];
        nlohmann::json code{{"key", problem.kept[i].identity()},
                            {"outcome", one.info ? one.pruned ? "pruned" : "passed" : "compile_failed"}};
        if (!one.reason.empty()) {
            code["reason"] = one.reason;
        }
        if (one.info) {
            code["code_hash"] = one.info->code_hash;
            const auto tell = [&](const char* name, const auto& figure) {
                if (figure) {
                    code[name] = *figure;
                }
            };
            tell("registers", one.info->registers);
            tell("spill_bytes", one.info->spill_bytes);
            tell("shared_bytes", one.info->shared_bytes);
            tell("occupancy", one.info->occupancy);
            code["compile_ms"] = one.info->compile_ms;
            code["from_cache"] = one.info->from_cache;
        }
        out.push_back(std::move(code));
    }
    return out;
}

nlohmann::json problem_json(const Planning& planning, const PlannedProblem& problem) {
    const ProblemPlan& plan = problem.plan;
    nlohmann::json out{{"problem", to_json(plan.problem)}, {"points", plan.points}, {"kept", plan.kept}};
    out["pruned"] = json_list(plan.tallies, [](const RuleTally& tally) {
        return nlohmann::json{{"rule", tally.rule}, {"reason", tally.reason}, {"count", tally.pruned}, {"lifted", tally.lifted}};
    });
    if (planning.options.list) {
        out["configurations"] = json_list(problem.kept, [](const Candidate& candidate) { return candidate.identity(); });
    }
    if (planning.options.list_pruned) {
        out["pruned_configurations"] = json_list(problem.pruned, [](const PlannedProblem::Pruned& pruned) {
            return nlohmann::json{{"key", pruned.candidate.identity()}, {"rule", pruned.rule}};
        });
    }
    if (planning.options.compile) {
        out["compiled"] = code_json(problem);
    }
    return out;
}

}  // namespace

std::vector<Section> plan_sections(const Planning& planning, bool all_rules) {
    const SearchSpace& space = planning.options.space;
    const DeviceInfo& device = planning.options.device;
    const std::optional<Shard>& shard = planning.options.shard;
    const Totals totals = add_up(planning.problems);
    Section head;
    head.note = planning.options.candidates.alone
                    ? std::string("Candidates alone.")
                    : fmt::format("Space {}: {} {}.", for_terminal(space.name), grouped(space.points()), plural(space.points(), "point"));
    head.note +=
        fmt::format(" Device: {} ({}, {}).\n", for_terminal(device.name), backend_names.name(device.backend), for_terminal(device.arch));
    if (shard) {
        head.note += fmt::format("Shard {}: {} of {} problems, {:.1f}% of the estimated work.\n", shard->text(), planning.problems.size(),
                                 planning.options.problems.size(), 100 * planning.of_work);
    }
    Section problems{"", Table(all_rules ? "problem|>points|>kept|pruned by" : "problem|>points|>kept|pruned most by"), ""};
    for (const PlannedProblem& problem : planning.problems) {
        const ProblemPlan& plan = problem.plan;
        problems.table.add({plan.problem.key(), grouped(plan.points), grouped(plan.kept), pruned_text(plan, all_rules)});
    }
    problems.table.add_sums({fmt::format("{} in all", planning.problems.size()), grouped(totals.points), grouped(totals.kept), ""});
    std::vector<Section> out{std::move(head), std::move(problems)};
    if (Section rules = rules_section(totals, all_rules); !rules.table.empty()) {
        out.push_back(std::move(rules));
    }
    if (planning.has_code()) {
        out.push_back(code_section(planning));
    }
    return out;
}

std::string plan_keys(const Planning& planning, const Style& style) {
    std::string code;
    std::string kept;
    std::string pruned;
    for (const PlannedProblem& problem : planning.problems) {
        const std::string key = problem.plan.problem.key();
        for (std::size_t i = 0; i < problem.compiled.size(); ++i) {
            if (planning.options.list || amiss(problem.compiled[i])) {
                code += key_line(key, problem.kept[i].identity(), for_terminal(code_line(problem.compiled[i])), style);
            }
        }
        // The lines of compiled code list what is kept with its figures.
        for (std::size_t i = 0; planning.options.list && !planning.options.compile && i < problem.kept.size(); ++i) {
            kept += key_line(key, problem.kept[i].identity(), "", style);
        }
        for (const PlannedProblem::Pruned& one : problem.pruned) {
            pruned += key_line(key, one.candidate.identity(), fmt::format("pruned by {}", for_terminal(one.rule)), style);
        }
    }
    const bool listed = (planning.options.list && !planning.options.compile) || planning.options.list_pruned;
    return (code.empty() ? "" : "\n") + code + (listed && !planning.problems.empty() ? "\n" : "") + kept + pruned;
}

std::string plan_json(const Planning& planning) {
    const PlanningOptions& options = planning.options;
    const Totals totals = add_up(planning.problems);
    nlohmann::json out{
        {"device", to_json(options.device)},
        {"space", {{"name", options.space.name}, {"points", options.space.points()}}},
        {"problems", json_list(planning.problems, [&](const PlannedProblem& problem) { return problem_json(planning, problem); })},
        {"totals", {{"points", totals.points}, {"kept", totals.kept}}}};
    if (options.shard) {
        out["shard"] = {{"index", options.shard->index},
                        {"count", options.shard->count},
                        {"problems", options.problems.size()},
                        {"share_of_work", planning.of_work}};
    }
    if (planning.has_code()) {
        out["compiler"] = planning.compiler;
        out["compile_s"] = planning.compile_s;
    }
    return json_document(plan_schema_version, std::move(out));
}

}  // namespace normtune
