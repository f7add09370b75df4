// Racing: which of the configurations that are measured side by side need no more rounds. Pure; why this rule:
// docs/strategies.md.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace normtune {

struct RaceRule {
    double confidence = 0.99;  // that no configuration of a problem is dropped wrongly, over all looks
    /// Beyond the `keep` fastest, who with confidence is not this much faster than the best is dropped, too.
    double indifference = 0.005;
    double hopeless = 1.5;  // times the best: out after one round
    int most_rounds = 9;    // whoever is left then has been raced enough
    std::size_t keep = 8;   // as many as the finals take
};

/// One race: contenders that take part in the same rounds, from the first round on.
class Race {
public:
    /// `configurations`: of the problem in all, at least `contenders`: the confidence is shared among them. `noise`: of
    /// an earlier race of the problem.
    Race(std::size_t contenders, std::size_t configurations, const RaceRule& rule, std::vector<double> noise = {});

    /// What a later race of the same problem knows of its noise from this one.
    const std::vector<double>& noise() const { return steps_; }
    bool running(std::size_t contender) const { return running_[contender]; }
    std::size_t left() const;
    int rounds() const { return rounds_; }
    /// After `least_rounds` no more than `keep` are left, or the most rounds are over: the finals decide the rest.
    bool over(int least_rounds) const { return rounds_ >= rule_.most_rounds || (rounds_ >= least_rounds && left() <= rule_.keep); }
    /// The round's median, microseconds > 0, of a contender that runs.
    void take(std::size_t contender, double median_us);
    /// It could not be measured: out, and nothing is learnt from it.
    void leave(std::size_t contender) { running_[contender] = false; }
    /// After every contender that runs took its round: those that are out now, in the order of their numbers.
    std::vector<std::size_t> end_round();

private:
    double mean(std::size_t contender) const;
    void note_noise();
    double paired_deviation(std::size_t a, std::size_t b) const;
    std::vector<std::size_t> by_mean() const;

    RaceRule rule_;
    double level_;  // of one test
    int rounds_ = 0;
    std::vector<bool> running_;
    std::vector<std::vector<double>> logs_;  // of the medians, by contender and round
    std::vector<double> steps_;              // |change from round to round, less the round's common one|
};

}  // namespace normtune
