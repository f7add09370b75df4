#include "run/finals.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "judge/side_by_side.h"
#include "support/random.h"
#include "trial/dependent_launch.h"

namespace normtune {

namespace {

class FinalRounds : public FinalsSampler {
public:
    struct Finalist {
        TrialId id = 0;
        Series series{};
        bool failed = false;
    };

    FinalRounds(const SweepOptions& options, const std::string& problem_key, const std::vector<Candidate>& candidates,
                const std::vector<TrialId>& ids, Recorder& recorder, FinalsTakers& takers, std::optional<Deadline> end)
        : options_(options), key_(problem_key), candidates_(candidates), ids_(ids), recorder_(recorder), takers_(takers), end_(end) {}

    void begin(std::span<const std::size_t> trials) override {
        finalists_.clear();
        floors_.clear();
        for (const std::size_t trial : trials) {
            finalists_.push_back({ids_[trial]});
            floors_.try_emplace(launched_dependent(candidates_[ids_[trial]]));
        }
    }
    bool take_round(const std::vector<bool>& running) override {
        std::vector<std::size_t> order(finalists_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        shuffle(order, Random(mix_seed(options_.seed, "finals order/" + key_, round_++)));
        if (!take_floors()) {
            return false;
        }
        for (const std::size_t i : order) {
            Finalist& finalist = finalists_[i];
            if (!running[i]) {
                continue;
            }
            if (!note(finalist, takers_.kernels.take(finalist.series, finalist.id, candidates_[finalist.id]))) {
                return false;
            }
        }
        return true;
    }
    bool look_at_timed() override {
        for (Finalist& finalist : finalists_) {
            if (!note(finalist, takers_.kernels.check(finalist.id, candidates_[finalist.id]))) {
                return false;
            }
        }
        return true;
    }
    const Series* series(std::size_t i) const override { return finalists_[i].failed ? nullptr : &finalists_[i].series; }
    bool out_of_time() const override { return past(end_); }
    /// Of an empty launch in the rounds so far, launched as the candidate is. None: it failed.
    std::optional<double> floor_us(const Candidate& candidate) const {
        const auto found = floors_.find(launched_dependent(candidate));
        return found == floors_.end() ? std::nullopt : std::optional(found->second.p50_us());
    }
    const std::vector<std::pair<TrialId, Failure>>& failures() const { return failures_; }

private:
    /// False: nothing of the problem can be measured any more. An empty launch that fails alone is left out from then on.
    bool take_floors() {
        for (auto floor = floors_.begin(); floor != floors_.end();) {
            const std::optional<Failure> failure = takers_.empty_launches.take(floor->second, SampleKind::empty, floor->first);
            if (failure && failure->of_problem) {
                return false;
            }
            if (failure) {
                recorder_.warn(fmt::format("{}: the empty launch cannot be measured in the finals: {}", key_, failure->reason));
            }
            floor = failure ? floors_.erase(floor) : std::next(floor);
        }
        return true;
    }
    /// False: it is the problem's.
    bool note(Finalist& finalist, std::optional<Failure> failure) {
        if (failure && failure->of_problem) {
            return false;
        }
        if (failure) {
            finalist.failed = true;
            failures_.emplace_back(finalist.id, std::move(*failure));
        }
        recorder_.update(key_, 0);
        return true;
    }

    const SweepOptions& options_;
    const std::string& key_;
    const std::vector<Candidate>& candidates_;
    const std::vector<TrialId>& ids_;
    Recorder& recorder_;
    FinalsTakers& takers_;
    std::optional<Deadline> end_;
    std::vector<Finalist> finalists_;
    std::map<bool, Series> floors_;  // of plain and of dependent launches
    std::vector<std::pair<TrialId, Failure>> failures_;
    std::uint64_t round_ = 0;
};

}  // namespace

std::size_t run_finals(const SweepOptions& options, const Problem& problem, const std::vector<Candidate>& candidates, Recorder& recorder,
                       FinalsTakers takers, std::optional<Deadline> end, double fastest_failed_us, std::optional<TrialId> leader) {
    const std::string key = problem.key();
    std::vector<FinalsTrial> trials;
    std::vector<TrialId> ids;
    std::map<Contestant, int> contestants;
    for (TrialId id = 0; id < candidates.size(); ++id) {
        std::string identity = candidates[id].identity();
        const Record* record = recorder.find(key, identity);
        if (record == nullptr || record->outcome != Outcome::passed || !record->measurement) {
            continue;
        }
        FinalsTrial trial{{std::move(identity), record->measurement->p50_us, {}}, !record->may_win()};
        trial.leads = id == leader;
        trial.contestant = contestants.try_emplace(contestant_of(*record), static_cast<int>(contestants.size())).first->second;
        for (const Round& round : record->measurement->rounds) {
            trial.entrant.rounds_us.push_back(round.median_us);
        }
        trials.push_back(std::move(trial));
        ids.push_back(id);
    }
    FinalRounds sampler(options, key, candidates, ids, recorder, takers, end);
    const FinalsResult result = hold_finals(std::move(trials), sampler, fastest_failed_us);
    for (const auto& [id, failure] : sampler.failures()) {
        Record record = *recorder.find(key, candidates[id].identity());
        note_failure(record, failure);
        recorder.add(std::move(record));
    }
    FinalEntry entry;
    entry.problem_key = key;
    for (const FinalsResult::Place& place : result.places) {
        const int rank = place.guest ? 0 : static_cast<int>(entry.finalists.size()) + 1;
        const Candidate& candidate = candidates[ids[place.trial]];
        const std::optional<double> floor_us = place.rounds_us.empty() ? std::nullopt : sampler.floor_us(candidate);
        entry.finalists.push_back({candidate.identity(), place.rounds_us, rank, place.tied, floor_us});
    }
    recorder.add(entry);
    return result.left_out;
}

}  // namespace normtune
