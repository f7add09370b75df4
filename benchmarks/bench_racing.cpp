// What the strategies find of what an exhaustive sweep found, on recorded exhaustive sweeps, and for how much measuring
// time. No worker process, no device: the schedulers and the finals are the product's, the samples those of a replay
// device that plays the records.
//
//   gunzip -c results/h100/qwen3.json.gz > qwen3.json; gunzip -c results/h100/llama3.json.gz > llama3.json
//   build/bin/bench_racing 100 qwen3.json llama3.json
//
// Measuring time is device time: samples × launches × time of a launch, with one uncounted sample more for each kernel
// that is measured for the first time (it uploads the graph), the copies and empty launches of every round of a race, and
// the finals. A record does not keep the copy's launches: a reference's sample counts as the problem's median sample.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "devices/replay/recorded_times.h"
#include "measure/finals.h"
#include "measure/statistics.h"
#include "measure/strategies/strategy.h"
#include "run/sweep.h"
#include "store/results.h"
#include "support/random.h"

using namespace normtune;

namespace {

/// What a trial costs besides its samples, seconds; with a warm compile cache these are the most of a sweep's time.
constexpr double build_s = 0.02;
constexpr double open_s = 0.1;
const auto samples_a_round = static_cast<std::size_t>(SweepOptions{}.samples_per_round);
constexpr int exhaustive_seeds = 10;
const StopRule stop_rule;

struct RecordedProblem {
    Problem problem;
    std::vector<Candidate> candidates;
    std::vector<const Measurement*> trials;  // null: it did not pass
    std::vector<double> ratios;              // of a trial's time to the recorded winner's
    const Measurement* winner = nullptr;
    double reference_us = 0;   // of one sample of the copy or of the empty launch, launches together
    double exhaustive_us = 0;  // measuring time of the recorded sweep
};

double sample_us(const Measurement& trial) {
    return trial.p50_us * trial.launches_per_sample;
}

/// Between two finalists by the medians of the finals, else by the median ratio of the rounds that were taken together.
/// (A p50 over all rounds would flatter a trial that went on while the others had stopped: with few kernels
/// alternating, short ones run up to a tenth faster.)
double ratio_of(const Measurement& trial, const Measurement& winner) {
    if (!trial.final_rounds_us.empty()) {
        return median(trial.final_rounds_us) / median(winner.final_rounds_us);
    }
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(trial.rounds.size(), winner.rounds.size()); ++i) {
        ratios.push_back(trial.rounds[i].median_us / winner.rounds[i].median_us);
    }
    return median(ratios);
}

RecordedProblem finished(RecordedProblem problem) {
    constexpr std::size_t references = 2;
    std::vector<double> samples;
    std::size_t rounds = 0;
    for (const Measurement* trial : problem.trials) {
        if (trial != nullptr) {
            samples.push_back(sample_us(*trial));
            rounds = std::max(rounds, trial->rounds.size());
            const auto taken =
                static_cast<double>(trial->samples) + static_cast<double>(trial->final_rounds_us.size() * samples_a_round) + 1;
            problem.exhaustive_us += taken * sample_us(*trial);
            problem.winner = trial->rank == 1 ? trial : problem.winner;
        }
    }
    if (problem.winner != nullptr) {
        for (const Measurement* trial : problem.trials) {
            problem.ratios.push_back(trial != nullptr ? ratio_of(*trial, *problem.winner) : 0);
        }
    }
    problem.reference_us = samples.empty() ? 0 : median(samples);
    problem.exhaustive_us += static_cast<double>(rounds * samples_a_round * references) * problem.reference_us;
    return problem;
}

std::vector<RecordedProblem> problems_of(const Results& results) {
    std::vector<RecordedProblem> problems;
    std::map<std::string, std::size_t> by_key;
    for (const Record& record : results.records) {
        const auto [found, added] = by_key.emplace(record.problem.key(), problems.size());
        if (added) {
            problems.emplace_back().problem = record.problem;
        }
        RecordedProblem& problem = problems[found->second];
        problem.candidates.push_back(record.candidate);
        const bool passed = record.outcome == Outcome::passed && record.measurement;
        problem.trials.push_back(passed ? &*record.measurement : nullptr);
    }
    for (RecordedProblem& problem : problems) {
        problem = finished(std::move(problem));
    }
    std::erase_if(problems, [](const RecordedProblem& problem) { return problem.winner == nullptr; });
    return problems;
}

/// One problem as a strategy runs it, on samples that the records give.
class Player : public BatchSampler, public FinalsSampler {
public:
    Player(const RecordedProblem& problem, const Strategy& strategy, std::uint64_t seed)
        : problem_(problem),
          random_(mix_seed(seed, problem.problem.key())),
          scheduler_(strategy.schedule({problem.problem, problem.candidates, stop_rule, SweepOptions{}.round_time_us, seed})),
          left_(problem.trials.size()) {
        std::iota(left_.begin(), left_.end(), std::size_t{0});
    }

    const Scheduler& scheduler() const { return *scheduler_; }
    std::size_t left() const { return left_.size(); }
    double spent_us() const { return spent_us_; }
    std::optional<std::size_t> winner() const { return winner_; }

    void order(const Experience& experience) {
        std::sort(left_.begin(), left_.end());
        scheduler_->order(left_, experience);
    }
    /// The next batch, or as much of it as is given.
    void measure_next(std::size_t most) {
        contenders_.clear();
        for (std::size_t count = std::min(most, scheduler_->batch_size(left_.size())); count > 0; --count, left_.pop_back()) {
            if (const Measurement* trial = problem_.trials[left_.back()]) {
                contenders_.push_back({left_.back(), RecordedTimes(*trial)});
                spent_us_ += sample_us(*trial);
            }
        }
        const std::size_t trials = contenders_.size();
        if (scheduler_->has_incumbent() && best_) {
            contenders_.push_back({*best_, RecordedTimes(*problem_.trials[*best_])});
        }
        reference_us_ = most > 1 ? 2 * problem_.reference_us : 0;
        measure_batch(*scheduler_, trials, contenders_.size() > trials, *this);
        contenders_.erase(contenders_.begin() + static_cast<std::ptrdiff_t>(trials), contenders_.end());
        for (Contender& trial : contenders_) {
            const double p50_us = trial.series.p50_us();
            if (!trial.dropped && (!best_ || p50_us < best_us_)) {
                best_ = trial.id;
                best_us_ = p50_us;
            }
            tried_.push_back(std::move(trial));
        }
    }
    void finals() {
        std::vector<FinalsTrial> trials;
        for (const Contender& trial : tried_) {
            trials.push_back({{identity(trial.id), trial.series.p50_us(), trial.series.round_medians_us()}, trial.dropped});
        }
        reference_us_ = 0;
        const FinalsResult result = hold_finals(std::move(trials), *this);
        winner_ = result.places.empty() ? std::nullopt : std::optional(tried_[result.places.front().trial].id);
    }
    MeasuredProblem measured() const {
        std::map<std::string, double> times_us;
        for (const Contender& trial : tried_) {
            times_us.emplace(identity(trial.id), trial.series.p50_us());
        }
        return {problem_.problem, std::move(times_us), winner_ ? identity(*winner_) : ""};
    }

    bool take_round(const std::vector<bool>& running) override {
        for (std::size_t i = 0; i < running.size(); ++i) {
            if (running[i]) {
                take_round(contenders_[i]);
            }
        }
        spent_us_ += reference_us_;
        return true;
    }
    const Series* series(std::size_t contender) const override { return &contenders_[contender].series; }
    void stop(std::size_t contender, StopReason reason) override { contenders_[contender].dropped = reason == StopReason::dropped; }
    void begin(std::span<const std::size_t> trials) override {
        contenders_.clear();
        in_finals_.clear();
        for (const std::size_t trial : trials) {
            in_finals_.push_back(final_measurement(tried_[trial].id));
            contenders_.push_back({tried_[trial].id, RecordedTimes(in_finals_.back())});
        }
    }

private:
    struct Contender {
        std::size_t id;
        RecordedTimes times;
        Series series{};
        bool dropped = false;
    };

    std::string identity(std::size_t id) const { return problem_.candidates[id].identity(); }
    /// The trial in the finals: its recorded final rounds, or for one that was no finalist the winner's, slower by its
    /// ratio.
    Measurement final_measurement(std::size_t id) const {
        Measurement out = *problem_.trials[id];
        const bool finalist = !out.final_rounds_us.empty();
        std::vector<double> rounds_us = finalist ? out.final_rounds_us : problem_.winner->final_rounds_us;
        out.rounds.clear();
        for (double& us : rounds_us) {
            us *= finalist ? 1 : problem_.ratios[id];
            out.rounds.push_back({us, 1, false});
        }
        // What a record keeps of the finals is medians of five samples. One normal sample deviates 1.87 times as much:
        // beside the medians, which are drawn from, that leaves √(1.87² − 1).
        constexpr double sample_beside_median_of_five = 1.58;
        out.p50_us = median(rounds_us);
        const auto spread = [&](double q) { return out.p50_us + sample_beside_median_of_five * (quantile(rounds_us, q) - out.p50_us); };
        out.p20_us = spread(0.2);
        out.p80_us = spread(0.8);
        return out;
    }

    void take_round(Contender& contender) {
        contender.times.begin_round(random_);
        SampleBatch batch;
        batch.launches_per_sample = contender.times.launches_per_sample();
        double spent_us = 0;
        while (batch.us.size() < samples_a_round && (batch.us.empty() || spent_us < scheduler_->round_time_us())) {
            batch.us.push_back(contender.times.sample_us(random_));
            spent_us += batch.us.back() * batch.launches_per_sample;
        }
        contender.series.add(batch);
        spent_us_ += spent_us;
    }

    const RecordedProblem& problem_;
    Random random_;
    std::unique_ptr<Scheduler> scheduler_;
    std::vector<std::size_t> left_;  // trials, in the order in which they are tried
    std::vector<Contender> tried_;
    std::vector<Contender> contenders_;  // of the batch or of the finals
    std::deque<Measurement> in_finals_;
    std::optional<std::size_t> best_;
    double best_us_ = 0;
    double reference_us_ = 0;
    double spent_us_ = 0;
    std::optional<std::size_t> winner_;
};

struct Tally {
    double log_regret = 0;
    double worst = 1;
    std::string worst_problem;
    double problems = 0;
    double nothing = 0;  // problems without a winner
    double tried = 0;
    double trials = 0;
    double over = 0;  // problems whose winner is over 3% off
    double spent_us = 0;
    double exhaustive_us = 0;

    void add(const RecordedProblem& problem, const Player& played) { add(problem, played, played.spent_us()); }
    void add(const RecordedProblem& problem, const Player& played, double its_spent_us) {
        spent_us += its_spent_us;
        exhaustive_us += problem.exhaustive_us;
        tried += static_cast<double>(problem.trials.size() - played.left());
        trials += static_cast<double>(problem.trials.size());
        ++problems;
        if (!played.winner()) {
            ++nothing;
            return;
        }
        const double regret = problem.ratios[*played.winner()];
        log_regret += std::log(regret);
        over += regret > 1.03 ? 1 : 0;
        if (regret > worst) {
            worst = regret;
            worst_problem = problem.problem.key();
        }
    }
    void print(const std::string& sweep, const std::string& strategy) const {
        fmt::print("| {} | {} | {:.2f} % | {:.2f} % | {:.2f} % | {:.1f} % | {:.1f} % | {}{} |\n", sweep, strategy,
                   100 * (std::exp(log_regret / (problems - nothing)) - 1), 100 * (worst - 1), 100 * over / problems, 100 * tried / trials,
                   100 * spent_us / exhaustive_us, worst_problem,
                   nothing > 0 ? fmt::format("; {:.2f} % without a winner", 100 * nothing / problems) : "");
    }
};

/// Measuring time of each problem, for what is to take no more.
using Spent = std::vector<double>;

/// A sweep in whole batches.
Spent sweep(const std::vector<RecordedProblem>& problems, const Strategy& strategy, std::uint64_t seed, Tally& tally) {
    Experience experience;
    Spent spent;
    for (const RecordedProblem& problem : problems) {
        Player player(problem, strategy, seed);
        player.order(experience);
        while (player.left() > 0) {
            player.measure_next(player.left());
        }
        player.finals();
        experience.note(player.measured());
        tally.add(problem, player);
        spent.push_back(player.spent_us());
    }
    return spent;
}

/// One trial after the other, until all are measured or a problem has taken `most` of its own. Copies and empty launches
/// are not counted, and of those that end early no finals: a draw is given all of racing's time for its trials.
void draw(const std::vector<RecordedProblem>& problems, const Strategy& strategy, std::uint64_t seed, const Spent* most, Tally& tally) {
    for (std::size_t i = 0; i < problems.size(); ++i) {
        Player player(problems[i], strategy, seed);
        player.order({});
        while (player.left() > 0 && (most == nullptr || player.spent_us() < (*most)[i])) {
            player.measure_next(1);
        }
        const double spent_us = player.spent_us();
        player.finals();
        tally.add(problems[i], player, most == nullptr ? player.spent_us() : spent_us);
    }
}

/// A budget in seconds of a sweep's whole time, with what building and opening cost.
void spend_budget(const std::vector<RecordedProblem>& problems, const Strategy& strategy, std::uint64_t seed, double budget_s,
                  Tally& tally) {
    Experience experience;
    std::vector<ProblemState> states(problems.size());
    std::deque<Player> players;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        states[i].trials = states[i].missing = problems[i].trials.size();
        players.emplace_back(problems[i], strategy, seed);
    }
    double left_s = budget_s;
    while (const auto slice = strategy.next_slice(states, budget_s, left_s)) {
        Player& player = players[slice->problem];
        const BudgetShares shares = player.scheduler().shares();
        player.order(experience);
        const auto took_s = [&, before = player.spent_us(), first = player.left()] {
            return open_s + (player.spent_us() - before) / 1e6 + build_s * static_cast<double>(first - player.left());
        };
        const double for_rounds = slice->seconds * (1 - shares.finals);
        while (player.left() > 0 && took_s() < for_rounds) {
            player.measure_next(std::max<std::size_t>(1, static_cast<std::size_t>((for_rounds - took_s()) * shares.build / build_s)));
        }
        player.finals();
        left_s -= took_s();
        ProblemState& state = states[slice->problem];
        state.visited = true;
        state.missing = player.left();
        if (player.winner()) {
            state.limit_ratio = problems[slice->problem].trials[*player.winner()]->limit_ratio;
            experience.note(player.measured());
        }
    }
    for (std::size_t i = 0; i < problems.size(); ++i) {
        tally.add(problems[i], players[i]);
    }
}

void play(const std::string& file, int seeds) {
    const Results results = read_results_json(file);
    const std::vector<RecordedProblem> problems = problems_of(results);
    const std::string name = std::filesystem::path(file).stem().string();
    const auto count = static_cast<double>(problems.size());
    constexpr double budgets[] = {0.75, 0.625, 0.5, 0.25};  // seconds a problem
    const Strategy& race = *find_strategy("racing");
    Tally exhaustive;
    Tally racing;
    Tally random;
    std::vector<Tally> budget(std::size(budgets));
    for (int i = 0; i < seeds; ++i) {
        const auto seed = static_cast<std::uint64_t>(i);
        const Spent spent = sweep(problems, race, seed, racing);
        draw(problems, *find_strategy("random"), seed, &spent, random);
        if (i < exhaustive_seeds) {
            draw(problems, *find_strategy("exhaustive"), seed, nullptr, exhaustive);
        }
        for (std::size_t b = 0; b < budget.size(); ++b) {
            spend_budget(problems, race, seed, budgets[b] * count, budget[b]);
        }
    }
    exhaustive.print(name, "exhaustive, once more");
    racing.print(name, "racing");
    random.print(name, "random, in racing's time");
    for (std::size_t b = 0; b < budget.size(); ++b) {
        budget[b].print(name, fmt::format("racing, --budget {:.0f}s", budgets[b] * count));
    }
}

}  // namespace

int main(int argc, char** argv) {
    int seeds = 0;
    const std::string_view count = argc > 2 ? argv[1] : "";
    if (std::from_chars(count.data(), count.data() + count.size(), seeds).ec != std::errc{} || seeds < 1) {
        fmt::print(stderr, "usage: bench_racing SEEDS RESULTS.json...\n");
        return 2;
    }
    fmt::print(
        "| sweep | strategy | regret, geometric mean | worst | problems over 3 % | configurations tried | "
        "measuring time | worst at |\n|---|---|---|---|---|---|---|---|\n");
    try {
        for (int file = 2; file < argc; ++file) {
            play(argv[file], seeds);
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_racing: {}\n", error.what());
        return 2;
    }
}
