#include "measure/trial_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "measure/statistics.h"
#include "support/random.h"

namespace normtune {

namespace {

constexpr std::size_t most_neighbours = 4;
constexpr double weight_of_rows = 0.25;  // of a doubling of M, beside one of N

struct Neighbour {
    const MeasuredProblem* measured;
    double distance;
};

std::vector<Neighbour> nearest(const Problem& problem, std::span<const MeasuredProblem> measured) {
    std::vector<Neighbour> out;
    for (const MeasuredProblem& other : measured) {
        const double away = other.problem.same_work(problem) ? std::numeric_limits<double>::infinity() : distance(problem, other.problem);
        if (std::isfinite(away) && !other.log_ratios.empty()) {
            out.push_back({&other, away});
        }
    }
    std::stable_sort(out.begin(), out.end(), [](const Neighbour& a, const Neighbour& b) { return a.distance < b.distance; });
    out.resize(std::min(out.size(), most_neighbours));
    return out;
}

/// Each stratum's first, then each stratum's second, …; `order` is shuffled already. Candidates of other providers are few
/// and asked for by name: they come before all.
std::vector<std::size_t> stratified(const std::vector<Candidate>& candidates, const std::vector<std::size_t>& order) {
    const auto stratum = [](const Configuration& c) { return std::tuple(c.num_warps, c.threads_per_row, c.residency, c.grid); };
    std::map<decltype(stratum({})), std::size_t> seen;
    std::vector<std::pair<std::size_t, std::size_t>> turns;  // (which of its stratum, candidate)
    for (const std::size_t i : order) {
        const Configuration* own = candidates[i].configuration();
        turns.emplace_back(own != nullptr ? ++seen[stratum(*own)] : 0, i);
    }
    std::stable_sort(turns.begin(), turns.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::size_t> out;
    for (const auto& [turn, i] : turns) {
        out.push_back(i);
    }
    return out;
}

constexpr double others_score = -2;   // of other providers' candidates: they were asked for by name
constexpr double winners_score = -1;  // before all recorded ratios, which are not below 0

double score_of(const std::string& key, const std::vector<Neighbour>& neighbours) {
    double sum = 0;
    double weights = 0;
    for (std::size_t place = 0; place < neighbours.size(); ++place) {
        const MeasuredProblem& measured = *neighbours[place].measured;
        if (measured.winner == key) {
            return winners_score / static_cast<double>(place + 1);
        }
        if (const auto found = measured.log_ratios.find(key); found != measured.log_ratios.end()) {
            const double weight = 1 / (0.25 + neighbours[place].distance);
            sum += weight * found->second;
            weights += weight;
        }
    }
    return weights > 0 ? sum / weights : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

MeasuredProblem::MeasuredProblem(Problem of, std::map<std::string, double> times_us, std::string best)
    : problem(std::move(of)), log_ratios(std::move(times_us)), winner(std::move(best)) {
    double least = std::numeric_limits<double>::infinity();
    for (auto& [key, value] : log_ratios) {
        value = std::log(value);
        least = std::min(least, value);
    }
    for (auto& [key, value] : log_ratios) {
        value -= least;
    }
}

double distance(const Problem& a, const Problem& b) {
    Operation operation = a.operation;
    operation.eps = b.operation.eps;
    if (!(operation == b.operation)) {
        return std::numeric_limits<double>::infinity();
    }
    const auto octaves = [](std::int64_t x, std::int64_t y) {
        return std::abs(std::log2(static_cast<double>(x) / static_cast<double>(y)));
    };
    return octaves(a.shape.cols, b.shape.cols) + weight_of_rows * octaves(a.shape.rows, b.shape.rows);
}

std::vector<std::size_t> promising_first(const Problem& problem, const std::vector<Candidate>& candidates,
                                         std::span<const MeasuredProblem> measured, std::uint64_t seed) {
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order, Random(mix_seed(seed, "order/" + problem.key())));
    order = stratified(candidates, order);
    const std::vector<Neighbour> neighbours = nearest(problem, measured);
    if (neighbours.empty()) {
        return order;
    }
    std::vector<double> scores;
    std::vector<double> known;
    for (const Candidate& candidate : candidates) {
        const bool own = candidate.configuration() != nullptr;
        scores.push_back(own ? score_of(candidate.key(), neighbours) : others_score);
        if (own && !std::isnan(scores.back())) {
            known.push_back(scores.back());
        }
    }
    const double middle = known.empty() ? 0 : median(known);
    std::replace_if(
        scores.begin(), scores.end(), [](double score) { return std::isnan(score); }, middle);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
    return order;
}

void Experience::note(MeasuredProblem measured) {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(measured_.begin(), measured_.end(), [&](const MeasuredProblem& m) { return m.problem.same_work(measured.problem); });
    if (found == measured_.end()) {
        measured_.push_back(std::move(measured));
    } else {
        *found = std::move(measured);
    }
}

std::vector<std::size_t> Experience::order(const Problem& problem, const std::vector<Candidate>& candidates, std::uint64_t seed) const {
    const std::lock_guard lock(mutex_);
    return promising_first(problem, candidates, measured_, seed);
}

}  // namespace normtune
