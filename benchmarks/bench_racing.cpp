// What racing, a time budget and random draws find of what an exhaustive sweep found, on recorded exhaustive sweeps,
// and for how much measuring time. No worker process, no device: the decisions are those of src/measure/race.h,
// src/run/trial_order.h, src/run/finals.h and src/run/budget.h, the samples those of a replay device that plays the
// records.
//
//   gunzip -c results/h100/qwen3.json.gz > qwen3.json; gunzip -c results/h100/llama3.json.gz > llama3.json
//   build/bin/bench_racing 100 qwen3.json llama3.json
//
// Measuring time is device time: samples × launches × time of a launch, with one uncounted sample more for each kernel
// that is measured for the first time (it uploads the graph), the copies and empty launches of every round, and the
// finals. A record does not keep the copy's launches: a reference's sample counts as the problem's median sample.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "devices/replay/recorded_times.h"
#include "measure/race.h"
#include "measure/ranking.h"
#include "measure/statistics.h"
#include "measure/stop_rule.h"
#include "run/budget.h"
#include "run/finals.h"
#include "run/series.h"
#include "run/sweep.h"
#include "run/trial_order.h"
#include "run/tuning.h"
#include "store/results.h"
#include "support/random.h"

using namespace normtune;

namespace {

/// What a trial costs besides its samples, seconds; with a warm compile cache these are the most of a sweep's time.
constexpr double build_s = 0.02;
constexpr double open_s = 0.1;
const auto samples_a_round = static_cast<std::size_t>(SweepOptions{}.samples_per_round);
constexpr int exhaustive_seeds = 10;

struct RecordedProblem {
    Problem problem;
    std::vector<Candidate> configurations;
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
        problem.configurations.push_back(record.candidate);
        const bool passed = record.outcome == Outcome::passed && record.measurement;
        problem.trials.push_back(passed ? &*record.measurement : nullptr);
    }
    for (RecordedProblem& problem : problems) {
        problem = finished(std::move(problem));
    }
    std::erase_if(problems, [](const RecordedProblem& problem) { return problem.winner == nullptr; });
    return problems;
}

/// What has been measured of a problem so far.
struct Played {
    std::vector<std::size_t> order;
    std::size_t next = 0;  // into order
    struct Trial {
        std::size_t id;
        Series series;
        bool dropped;
    };
    std::vector<Trial> tried;
    std::vector<double> noise;
    std::optional<std::size_t> winner;
    double spent_us = 0;
    bool visited = false;
};

class Player {
public:
    Player(const RecordedProblem& problem, std::uint64_t seed) : problem_(problem), random_(mix_seed(seed, problem.problem.key())) {}

    /// Races the next `count` of the order, beside the best so far.
    void race(Played& played, std::size_t count) {
        std::vector<std::size_t> ids;
        const std::size_t guests = best_so_far(played, ids);
        for (; count > 0 && played.next < played.order.size(); ++played.next, --count) {
            if (problem_.trials[played.order[played.next]] != nullptr) {
                ids.push_back(played.order[played.next]);
            }
        }
        std::vector<Series> series(ids.size());
        std::vector<RecordedTimes> times;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            times.emplace_back(*problem_.trials[ids[i]]);
            warm_up(played, ids[i], i < guests);
        }
        Race race(ids.size(), problem_.trials.size(), tuning::race, std::move(played.noise));
        const StopRule rule;
        while (race.left() > 0 && !race.over(rule.least_rounds)) {
            for (std::size_t i = 0; i < ids.size(); ++i) {
                if (race.running(i)) {
                    race.take(i, one_round(played, times[i], series[i]));
                }
            }
            references(played);
            race.end_round();
        }
        played.noise = race.noise();
        for (std::size_t i = guests; i < ids.size(); ++i) {
            played.tried.push_back({ids[i], std::move(series[i]), !race.running(i)});
        }
    }

    void finals(Played& played, double round_us = tuning::race_round_us) {
        std::vector<Entrant> candidates;
        std::vector<std::size_t> ids;
        for (const Played::Trial& trial : played.tried) {
            if (!trial.dropped) {
                candidates.push_back(
                    {problem_.configurations[trial.id].identity(), trial.series.p50_us(), trial.series.round_medians_us()});
                ids.push_back(trial.id);
            }
        }
        if (candidates.empty()) {
            return;
        }
        std::vector<Entrant> fresh;
        std::vector<std::size_t> chosen;
        std::vector<Measurement> in_finals;
        for (const std::size_t i : finalists(candidates, tuning::finalists_within, tuning::most_finalists)) {
            in_finals.push_back(final_measurement(ids[i]));
            fresh.push_back({candidates[i].key, 0, {}});
            chosen.push_back(ids[i]);
        }
        std::vector<RecordedTimes> times(in_finals.begin(), in_finals.end());
        std::vector<Series> series(fresh.size());
        for (int round = 0; !finals_over(round, fresh); ++round) {
            for (std::size_t i = 0; i < fresh.size(); ++i) {
                one_round(played, times[i], series[i], round_us);
                fresh[i].p50_us = series[i].p50_us();
                fresh[i].rounds_us = series[i].round_medians_us();
            }
        }
        played.winner = chosen[rank(fresh).order.front()];
    }

    /// Ordinary rounds, as exhaustive and random take them.
    void measure(Played& played) {
        const std::size_t id = played.order[played.next++];
        if (problem_.trials[id] == nullptr) {
            return;
        }
        RecordedTimes times(*problem_.trials[id]);
        Series series;
        warm_up(played, id, false);
        const StopRule rule;
        while (rule.decide(series.round_medians_us(), series.spent_us()) == StopReason::none) {
            one_round(played, times, series, SweepOptions{}.round_time_us);
        }
        played.tried.push_back({id, std::move(series), false});
    }

private:
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

    std::size_t best_so_far(const Played& played, std::vector<std::size_t>& ids) const {
        const Played::Trial* best = nullptr;
        for (const Played::Trial& trial : played.tried) {
            if (!trial.dropped && (best == nullptr || trial.series.p50_us() < best->series.p50_us())) {
                best = &trial;
            }
        }
        if (best != nullptr) {
            ids.push_back(best->id);
        }
        return ids.size();
    }
    void warm_up(Played& played, std::size_t id, bool warm) const { played.spent_us += warm ? 0 : sample_us(*problem_.trials[id]); }
    void references(Played& played) const { played.spent_us += 2 * problem_.reference_us; }
    double one_round(Played& played, RecordedTimes& times, Series& series, double round_us = tuning::race_round_us) {
        times.begin_round(random_);
        SampleBatch batch;
        batch.launches_per_sample = times.launches_per_sample();
        double spent_us = 0;
        while (batch.us.size() < samples_a_round && (batch.us.empty() || spent_us < round_us)) {
            batch.us.push_back(times.sample_us(random_));
            spent_us += batch.us.back() * batch.launches_per_sample;
        }
        const double before = series.spent_us();
        series.add(batch);
        played.spent_us += series.spent_us() - before;
        return series.round_medians_us().back();
    }

    const RecordedProblem& problem_;
    Random random_;
};

MeasuredProblem known_of(const RecordedProblem& problem, const Played& played) {
    MeasuredProblem known{problem.problem, {}, {}};
    double best = 0;
    for (const Played::Trial& trial : played.tried) {
        const double us = trial.series.p50_us();
        known.log_ratios[problem.configurations[trial.id].identity()] = std::log(us);
        best = best > 0 ? std::min(best, us) : us;
    }
    for (auto& [key, value] : known.log_ratios) {
        value -= std::log(best);
    }
    if (played.winner) {
        known.winner = problem.configurations[*played.winner].identity();
    }
    return known;
}

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

    void add(const RecordedProblem& problem, const Played& played) {
        spent_us += played.spent_us;
        exhaustive_us += problem.exhaustive_us;
        tried += static_cast<double>(played.next);
        trials += static_cast<double>(problem.trials.size());
        ++problems;
        if (!played.winner) {
            ++nothing;
            return;
        }
        const double regret = problem.ratios[*played.winner];
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

Spent race_all(const std::vector<RecordedProblem>& problems, std::uint64_t seed, Tally& tally) {
    std::vector<MeasuredProblem> known;
    Spent spent;
    for (const RecordedProblem& problem : problems) {
        Played played;
        played.order = promising_first(problem.problem, problem.configurations, known, seed);
        Player player(problem, seed);
        while (played.next < played.order.size()) {
            player.race(played, tuning::race_batch(played.order.size() - played.next));
        }
        player.finals(played);
        known.push_back(known_of(problem, played));
        tally.add(problem, played);
        spent.push_back(played.spent_us);
    }
    return spent;
}

/// Configurations in random order, each measured as an exhaustive sweep does: all of them, or until a problem has taken
/// `most` of its own.
void measure_all(const std::vector<RecordedProblem>& problems, std::uint64_t seed, const Spent* most, Tally& tally) {
    for (std::size_t i = 0; i < problems.size(); ++i) {
        Played played;
        played.order.resize(problems[i].trials.size());
        std::iota(played.order.begin(), played.order.end(), std::size_t{0});
        shuffle(played.order, Random(mix_seed(seed, "random", i)));
        Player player(problems[i], seed);
        while (played.next < played.order.size() && (most == nullptr || played.spent_us < (*most)[i])) {
            player.measure(played);
        }
        // A draw's finals are not charged: it is given all of racing's time for its configurations.
        const double spent = played.spent_us;
        player.finals(played, SweepOptions{}.round_time_us);
        played.spent_us = most == nullptr ? played.spent_us : spent;
        tally.add(problems[i], played);
    }
}

/// Those not tried yet, by what is known by now.
void order_rest(const RecordedProblem& problem, Played& played, const std::vector<MeasuredProblem>& known, std::uint64_t seed) {
    const std::vector<std::size_t> order = promising_first(problem.problem, problem.configurations, known, seed);
    const std::vector<std::size_t> before(played.order.begin(), played.order.begin() + static_cast<std::ptrdiff_t>(played.next));
    played.order = before;
    std::copy_if(order.begin(), order.end(), std::back_inserter(played.order),
                 [&](std::size_t i) { return std::find(before.begin(), before.end(), i) == before.end(); });
}

/// A budget in seconds of a sweep's whole time, with what building and opening cost.
void spend_budget(const std::vector<RecordedProblem>& problems, std::uint64_t seed, double budget_s, Tally& tally) {
    std::vector<MeasuredProblem> known(problems.size());
    std::vector<Played> played(problems.size());
    std::vector<ProblemState> states(problems.size());
    std::vector<Player> players;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        states[i].trials = states[i].missing = problems[i].trials.size();
        players.emplace_back(problems[i], seed);
    }
    double left_s = budget_s;
    while (const auto slice = next_slice(states, budget_s, left_s, tuning::least_slice_s)) {
        const std::size_t i = slice->problem;
        Played& one = played[i];
        order_rest(problems[i], one, known, seed);
        const auto took_s = [&, before = one.spent_us, first = one.next] {
            return open_s + (one.spent_us - before) / 1e6 + build_s * static_cast<double>(one.next - first);
        };
        const double for_rounds = slice->seconds * (1 - tuning::raced.finals);
        while (one.next < one.order.size() && took_s() < for_rounds) {
            const double fit = (for_rounds - took_s()) * tuning::raced.build / build_s;
            const std::size_t all = tuning::race_batch(one.order.size() - one.next);
            players[i].race(one, std::clamp<std::size_t>(static_cast<std::size_t>(fit), 1, all));
        }
        players[i].finals(one);
        left_s -= took_s();
        states[i].visited = true;
        states[i].missing = one.order.size() - one.next;
        if (one.winner) {
            states[i].limit_ratio = problems[i].trials[*one.winner]->limit_ratio;
            known[i] = known_of(problems[i], one);
        }
    }
    for (std::size_t i = 0; i < problems.size(); ++i) {
        tally.add(problems[i], played[i]);
    }
}

void play(const std::string& file, int seeds) {
    const Results results = read_results_json(file);
    const std::vector<RecordedProblem> problems = problems_of(results);
    const std::string name = std::filesystem::path(file).stem().string();
    const auto count = static_cast<double>(problems.size());
    constexpr double budgets[] = {0.75, 0.625, 0.5, 0.25};  // seconds a problem
    Tally exhaustive;
    Tally racing;
    Tally random;
    std::vector<Tally> budget(std::size(budgets));
    for (int i = 0; i < seeds; ++i) {
        const auto seed = static_cast<std::uint64_t>(i);
        const Spent spent = race_all(problems, seed, racing);
        measure_all(problems, seed, &spent, random);
        if (i < exhaustive_seeds) {
            measure_all(problems, seed, nullptr, exhaustive);
        }
        for (std::size_t b = 0; b < budget.size(); ++b) {
            spend_budget(problems, seed, budgets[b] * count, budget[b]);
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
