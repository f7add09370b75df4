#include "run/sweep_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <unordered_set>

#include "devices/callables.h"
#include "devices/registry.h"
#include "judge/reproducible.h"
#include "judge/thumb_rule.h"
#include "run/sweep_text.h"
#include "store/stored_results.h"
#include "support/error.h"
#include "support/version.h"

namespace normtune {

namespace {

using Keys = std::unordered_set<std::string>;

Keys keys_of(const std::vector<Record>& records) {
    Keys keys;
    for (const Record& record : records) {
        keys.insert(record.candidate.identity());
    }
    return keys;
}

void keep_only(std::vector<Candidate>& candidates, const Keys& keys) {
    std::erase_if(candidates, [&](const Candidate& candidate) { return !keys.contains(candidate.identity()); });
}

/// Narrows the plan to what the store has. False, and nothing is done: the store's trials are not those of the plan,
/// because this normtune plans otherwise.
bool narrow(ProblemTrials& plan, const StoredProblem& stored) {
    std::vector<Candidate> candidates = plan.candidates;
    keep_only(candidates, keys_of(stored.records));
    if (plan.candidates.size() != stored.trials || candidates.size() != stored.records.size()) {
        return false;
    }
    plan.candidates = std::move(candidates);
    plan.summary = stored_plan(std::move(plan.summary), stored);
    return true;
}

FinalEntry finals_of(const StoredProblem& stored) {
    FinalEntry entry;
    entry.problem_key = stored.problem().key();
    for (const Record& record : stored.records) {
        const Measurement& measurement = *record.measurement;
        if (measurement.rank > 0 || !measurement.final_rounds_us.empty()) {
            entry.finalists.push_back(
                {record.candidate.identity(), measurement.final_rounds_us, measurement.rank, measurement.tied, measurement.final_floor_us});
        }
    }
    std::sort(entry.finalists.begin(), entry.finalists.end(), [](const FinalEntry::Finalist& a, const FinalEntry::Finalist& b) {
        return std::pair(a.rank == 0, a.rank) < std::pair(b.rank == 0, b.rank);
    });
    return entry;
}

/// Problems with stored records, which are no younger than the run's start (in whole seconds), of which a kill came before the last was
/// entered.
Keys entered_in_part(const JournalContents& contents) {
    std::unordered_map<std::string, std::uint64_t> kept;
    for (const PlanSummary& plan : contents.header.plans) {
        if (plan.stored()) {
            kept.emplace(plan.problem_key, plan.kept);
        }
    }
    std::unordered_map<std::string, Keys> old;
    for (const Record& record : contents.records) {
        if (kept.contains(record.problem.key()) && record.timestamp <= contents.header.environment.started) {
            old[record.problem.key()].insert(record.candidate.identity());
        }
    }
    Keys out;
    for (const auto& [key, identities] : old) {
        const bool has_finals = std::ranges::any_of(contents.finals, [&](const FinalEntry& entry) { return entry.problem_key == key; });
        if (identities.size() < kept.at(key) || !has_finals) {
            out.insert(key);
        }
    }
    return out;
}

/// What the sweep took from the store when it was new. A kill may have come before all of a problem was entered: that
/// one is run.
void narrow_as_journaled(std::vector<ProblemTrials>& plans, const JournalContents& contents) {
    Keys entered;
    for (const FinalEntry& entry : contents.finals) {
        if (!entry.stale) {
            entered.insert(entry.problem_key);
        }
    }
    std::unordered_map<std::string, const PlanSummary*> stored;
    for (const PlanSummary& plan : contents.header.plans) {
        if (plan.stored() && entered.contains(plan.problem_key)) {
            stored.emplace(plan.problem_key, &plan);
        }
    }
    std::unordered_map<std::string, Keys> recorded;
    for (const Record& record : contents.records) {
        recorded[record.problem.key()].insert(record.candidate.identity());
    }
    for (ProblemTrials& plan : plans) {
        const auto found = stored.find(plan.summary.problem_key);
        if (found != stored.end() && recorded[plan.summary.problem_key].size() == found->second->kept) {
            keep_only(plan.candidates, recorded[plan.summary.problem_key]);
            plan.summary = *found->second;
        }
    }
}

/// Those that the problem's line in the table of winners rests on: the finalists, the slowest, and of each named
/// heuristic the best that obeys it; the fastest of each class of rows, where one is to be chosen for several M.
std::vector<Record> records_to_keep(const ProblemRanking& ranking, bool of_each_class) {
    std::unordered_set<const Record*> wanted;
    const Standing* slowest = &ranking.standings.front();
    for (const Standing& standing : ranking.standings) {
        if (standing.record->measurement->rank > 0) {
            wanted.insert(standing.record);
        }
        slowest = standing.ratio > slowest->ratio ? &standing : slowest;
    }
    wanted.insert(slowest->record);
    if (ranking.winner->candidate.configuration() == nullptr) {  // another's kernel won: the best of normtune's own stays known
        const Standing* own = nullptr;
        for (const Standing& standing : ranking.standings) {
            if (standing.record->candidate.configuration() != nullptr && (own == nullptr || standing.ratio < own->ratio)) {
                own = &standing;
            }
        }
        if (own != nullptr) {
            wanted.insert(own->record);
        }
    }
    for (const ThumbRule& heuristic : named_thumb_rules()) {
        if (const Standing* const best = heuristic.obeying(ranking).best) {
            wanted.insert(best->record);
        }
    }
    for (const Standing* standing : of_each_class ? fastest_of_classes(ranking) : std::vector<const Standing*>()) {
        wanted.insert(standing->record);
    }
    std::vector<Record> records;
    for (const Standing& standing : ranking.standings) {
        if (wanted.contains(standing.record)) {
            records.push_back(*standing.record);
        }
    }
    return records;
}

/// Trials of each problem by its key, and the problems of which one failed: it might have been the best.
struct Tally {
    std::unordered_map<std::string, std::uint64_t> trials;
    Keys faulty;
};

Tally tally_of(const std::vector<Record>& records) {
    Tally tally;
    for (const Record& record : records) {
        std::string key = record.problem.key();
        ++tally.trials[key];
        if (is_faulty(record.outcome)) {
            tally.faulty.insert(std::move(key));
        }
    }
    return tally;
}

/// Here, with every trial that was planned, and its winner by fresh rounds. (Not always by all processes of --repeat.)
bool ran_to_its_end(const ProblemRanking& ranking) {
    const PlanSummary& plan = *ranking.plan;
    return !plan.stored() && !plan.taken_by(budget_rule) && plan.taken_by(interrupted_rule).value_or(0) == 0 &&
           !ranking.winner->measurement->final_rounds_us.empty();
}

/// What a resumed sweep compares, with a store or none; empty where it cannot be told.
std::string digest_or_none(const DeviceInfo& device, const std::string& script) {
    try {
        return kernels_digest(device, script);
    } catch (const std::exception&) {
        return {};
    }
}

}  // namespace

SweepStore::SweepStore(const SweepOptions& options, const DeviceInfo& device, ProgressSink& sink)
    : options_(options), sink_(sink), usable_(!options.store.empty() && !options.verify_only) {
    if (!usable_) {
        identity_.kernels = digest_or_none(device, options.replay_script);
    }
    use([&] {
        identity_ = {device.backend,
                     device.name,
                     device.arch,
                     device.driver,
                     device.compute_units,
                     kernels_digest(device, options.replay_script),
                     sweep_identity(options).space,
                     measuring_digest(options)};
    });
}

/// Whatever is wrong with the store is said once, and it is left alone from then on.
template <typename Work>
void SweepStore::use(const Work& work) {
    if (!usable_) {
        return;
    }
    try {
        work();
    } catch (const std::runtime_error& error) {
        usable_ = false;
        sink_.warn(fmt::format("no store of winners: {}", error.what()));
    }
}

/// What was found beside another candidate is another finding.
WinnerIdentity SweepStore::identity_of(const Problem& problem) const {
    WinnerIdentity identity = identity_;
    const std::string candidates = candidates_digest(options_.candidates, problem);
    identity.space += candidates.empty() ? "" : "+" + candidates;
    return identity;
}

void SweepStore::take(std::vector<ProblemTrials>& plans) {
    if (options_.resume || options_.fresh || !options_.strategy->wants_winners_alone()) {
        return;
    }
    use([&] {
        std::optional<WinnerStore> store = WinnerStore::open(options_.store);
        for (std::size_t i = 0; store && i < plans.size(); ++i) {
            if (plans[i].candidates.size() < 2) {
                continue;  // nothing to choose from: whoever names one candidate wants it measured
            }
            if (std::ranges::any_of(plans[i].candidates, is_callable)) {
                continue;  // what Python code runs is not known before it ran
            }
            std::optional<StoredProblem> found;
            try {
                found = store->find(identity_of(options_.problems[i]), options_.problems[i]);
            } catch (const BadRow& row) {
                sink_.warn(row.what());
            }
            if (found && narrow(plans[i], *found)) {
                for (Record& record : found->records) {
                    record.problem = options_.problems[i];  // with the uses that this selection has for it
                }
                taken_.push_back(std::move(*found));
            }
        }
    });
    if (!taken_.empty()) {
        sink_.note(fmt::format("from the store of winners: {} of {} problems; --fresh measures them again", taken_.size(), plans.size()));
    }
}

void SweepStore::enter(std::vector<ProblemTrials>& plans, Journal& journal, JournalContents& contents) const {
    for (const StoredProblem& stored : taken_) {
        for (const Record& record : stored.records) {
            journal.append(record);
            contents.records.push_back(record);
        }
        const FinalEntry finals = finals_of(stored);
        journal.append(finals);
        contents.finals.push_back(finals);
    }
    if (options_.resume) {
        for (const std::string& key : entered_in_part(contents)) {
            journal.append(VoidEntry{key});
            std::erase_if(contents.records, [&](const Record& record) { return record.problem.key() == key; });
            std::erase_if(contents.finals, [&](const FinalEntry& entry) { return entry.problem_key == key; });
        }
        narrow_as_journaled(plans, contents);
    }
}

/// The host's gaps are in its times.
bool is_ungated(const ProblemRanking& ranking) {
    return std::ranges::any_of(ranking.standings,
                               [](const Standing& standing) { return standing.record->measurement->timer.ends_with("/ungated"); });
}

/// A resumed sweep may have trials of other kernels, or of another driver.
void SweepStore::keep(const Results& results, const JournalHeader& header, const Recorder& recorder) {
    const bool alike = header.kernels == identity_.kernels && header.environment.device.driver == identity_.driver &&
                       header.environment.device.compute_units == identity_.compute_units &&
                       header.environment.normtune_version == version();
    if (options_.strategy->draws() || !alike) {
        return;
    }
    use([&] {
        const Tally tally = tally_of(results.records);
        std::vector<StoredProblem> completed;
        for (const ProblemRanking& ranking : problem_rankings(results)) {
            const std::string& key = ranking.plan->problem_key;
            const std::uint64_t trials = tally.trials.at(key);
            if (trials < 2 || tally.faulty.contains(key) || !recorder.has_finals(key) || !ran_to_its_end(ranking) || is_ungated(ranking)) {
                continue;
            }
            completed.push_back({identity_of(ranking.problem()), results.environment, "", trials, ranking.standings.size(),
                                 records_to_keep(ranking, options_.batch_invariant)});
            for (const Record& record : completed.back().records) {
                completed.back().measured_at = std::max(completed.back().measured_at, record.timestamp);
            }
        }
        if (!completed.empty()) {
            WinnerStore::open_or_create(options_.store).put(completed);
        }
    });
}

}  // namespace normtune
