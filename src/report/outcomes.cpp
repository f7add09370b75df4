#include "report/outcomes.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "support/escape.h"
#include "support/plural.h"

namespace normtune {
namespace {

constexpr std::size_t most_faults_shown = 10;

using Counts = std::array<std::uint64_t, outcome_names.names.size()>;

std::uint64_t& count_of(Counts& counts, Outcome outcome) {
    return counts.at(static_cast<std::size_t>(outcome));
}

std::uint64_t sum(const Counts& counts) {
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts) {
        total += count;
    }
    return total;
}

/// "2 incorrect, 1 crashed": every outcome but passed that occurs.
std::string others_text(const Counts& counts) {
    std::string out;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto outcome = static_cast<Outcome>(i);
        if (outcome != Outcome::passed && counts[i] > 0) {
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", counts[i], outcome_names.name(outcome));
        }
    }
    return out;
}

/// Did trials of it stay undone, for the budget or an interrupt?
bool cut_short(const PlanSummary& plan) {
    return plan.taken_by(budget_rule).value_or(0) + plan.taken_by(interrupted_rule).value_or(0) > 0;
}

/// "The budget, or a problem's share of it, ran out: 1,200 trials of 3 problems were not run; …".
std::string undone_text(const Results& results, std::string_view rule, std::string_view why) {
    std::uint64_t trials = 0;
    std::uint64_t problems = 0;
    std::vector<std::string> untouched;
    for (const PlanSummary& plan : results.plans) {
        const std::uint64_t left = plan.taken_by(rule).value_or(0);
        trials += left;
        problems += left > 0 ? 1 : 0;
        if (left > 0 && plan.kept == 0) {
            untouched.push_back(plan.problem_key);
        }
    }
    if (trials == 0) {
        return "";
    }
    std::string out = fmt::format("{}: {} trial{} of {} problem{} {} not run.\n", why, grouped(trials), trials == 1 ? "" : "s",
                                  grouped(problems), problems == 1 ? "" : "s", trials == 1 ? "was" : "were");
    for (std::size_t i = 0; i < std::min(untouched.size(), most_faults_shown); ++i) {
        // An interrupt leaves trials with some of their rounds.
        out += fmt::format(fmt::runtime(rule == interrupted_rule ? "  no trial of {} was complete\n" : "  nothing of {} was measured\n"),
                           for_terminal(untouched[i]));
    }
    if (untouched.size() > most_faults_shown) {
        out += fmt::format("  and nothing of {} more {}\n", untouched.size() - most_faults_shown,
                           plural(untouched.size() - most_faults_shown, "problem"));
    }
    return out;
}

std::string unfinished_text(const Results& results) {
    const Unfinished unfinished = unfinished_problems(results);
    if (unfinished.problems == 0) {
        return "";
    }
    std::string out = unfinished.title() + ":\n";
    for (const std::string& problem : unfinished.first) {
        out += fmt::format("  {}\n", for_terminal(problem));
    }
    return unfinished.others().empty() ? out : out + fmt::format("  and {}\n", unfinished.others());
}

/// Problems of which the plan kept nothing, and the rule that took what others had left: "nothing of …: cpu.dgamma took the last 1 of 1
/// (…)".
std::string nothing_kept_text(const Results& results) {
    std::string out;
    std::size_t shown = 0;
    for (const PlanSummary& plan : results.plans) {
        if (plan.kept > 0 || plan.stored() || plan.pruned.empty() || cut_short(plan)) {
            continue;
        }
        const PlanSummary::Pruned* const last = plan.took_the_rest();
        if (last != nullptr && ++shown <= most_faults_shown) {
            out += fmt::format("  nothing of {} was measured: {} took the last {} of {} ({})\n", for_terminal(plan.problem_key),
                               for_terminal(last->rule), last->count, plan.points, for_terminal(last->reason));
        }
    }
    if (shown > most_faults_shown) {
        out += fmt::format("  and nothing of {} more {}\n", shown - most_faults_shown, plural(shown - most_faults_shown, "problem"));
    }
    return out;
}

/// What a device lacks is no fault of a configuration; that another provider's kernel is not for it, nothing but the record says.
bool faulty(const Record& record) {
    const bool usual = record.outcome == Outcome::passed || record.outcome == Outcome::pruned ||
                       (record.outcome == Outcome::unsupported && record.candidate.configuration() != nullptr);
    return !usual;
}

/// Where none of normtune's own trials passed and some are unsupported: the reason of the most of them, for no table has it.
std::string all_unsupported_text(const std::vector<Record>& records) {
    std::map<std::string_view, std::uint64_t> reasons;
    for (const Record& record : records) {
        if (record.candidate.configuration() == nullptr) {
            continue;
        }
        if (record.outcome == Outcome::passed) {
            return "";
        }
        if (record.outcome == Outcome::unsupported) {
            ++reasons[record.reason];
        }
    }
    const auto most = std::ranges::max_element(reasons, {}, [](const auto& reason) { return reason.second; });
    return most == reasons.end() ? ""
                                 : fmt::format("  {} {} unsupported: {}\n", grouped(most->second), most->second == 1 ? "is" : "are",
                                               for_terminal(most->first));
}

}  // namespace

Section outcomes_section(const Results& results) {
    std::vector<std::string> order;
    std::map<std::string, Counts> counts;
    for (const Record& record : results.records) {
        const auto [entry, fresh] = counts.try_emplace(record.problem.key());
        if (fresh) {
            order.push_back(entry->first);
        }
        ++count_of(entry->second, record.outcome);
    }
    Section section{"", Table(outcome_columns), ""};
    for (const std::string& key : order) {
        Counts& of_problem = counts[key];
        section.table.add(
            {key, fmt::format("{}", sum(of_problem)), fmt::format("{}", count_of(of_problem, Outcome::passed)), others_text(of_problem)});
    }
    return section;
}

std::string Unfinished::title() const {
    return fmt::format("The sweep was interrupted before {} problem{} {} finished", grouped(problems), problems == 1 ? "" : "s",
                       problems == 1 ? "was" : "were");
}

std::string Unfinished::others() const {
    return problems > first.size() ? fmt::format("{} more", grouped(problems - first.size())) : "";
}

Unfinished unfinished_problems(const Results& results) {
    Unfinished out;
    for (const PlanSummary& plan : results.plans) {
        const PlanSummary::Pruned* const left = plan.unfinished();
        if (left != nullptr && ++out.problems <= most_faults_shown) {
            out.first.push_back(fmt::format("{}: {}", plan.problem_key, left->reason));
        }
    }
    return out;
}

std::string missing_processes_text(const Results& results) {
    std::size_t fewest = SIZE_MAX;
    std::size_t most = 0;
    for (const Record& record : results.records) {
        if (record.may_win()) {
            fewest = std::min(fewest, record.measurement->repetitions.size() + 1);
            most = std::max(most, record.measurement->repetitions.size() + 1);
        }
    }
    return fewest >= most ? ""
                          : fmt::format(
                                "Trials that may win were measured in {} to {} processes: those in fewer were interrupted, or are of "
                                "another sweep.",
                                fewest, most);
}

std::string outcomes_text(const Results& results) {
    Counts counts{};
    std::vector<const Record*> faults;
    for (const Record& record : results.records) {
        ++count_of(counts, record.outcome);
        if (faulty(record)) {
            faults.push_back(&record);
        }
    }
    const std::string others = others_text(counts);
    std::string out = fmt::format("{} trial{}: {} passed{}{}.\n", sum(counts), sum(counts) == 1 ? "" : "s",
                                  count_of(counts, Outcome::passed), others.empty() ? "" : ", ", others);
    out += all_unsupported_text(results.records);
    for (std::size_t i = 0; i < std::min(faults.size(), most_faults_shown); ++i) {
        out += fmt::format("  {} {}: {}\n    repeat: {}\n", outcome_names.name(faults[i]->outcome), for_terminal(faults[i]->trial_key()),
                           for_terminal(faults[i]->reason), for_terminal(faults[i]->repeat));
    }
    if (faults.size() > most_faults_shown) {
        out += fmt::format("  and {} more; all of them are in results.csv\n", faults.size() - most_faults_shown);
    }
    const std::string processes = missing_processes_text(results);
    return out + undone_text(results, budget_rule, "The budget, or a problem's share of it, ran out") +
           undone_text(results, interrupted_rule, "The sweep was interrupted") + unfinished_text(results) +
           (processes.empty() ? "" : processes + "\n") + nothing_kept_text(results);
}

}  // namespace normtune
