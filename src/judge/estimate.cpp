#include "judge/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "measure/statistics.h"

namespace normtune {
namespace {

constexpr int rounds_where_unknown = 5;
constexpr double degrees_of_usual = 4;    // what the usual noise counts beside a trial's own
constexpr std::size_t least_in_bin = 16;  // estimates; fewer take the noise of all
constexpr double noise_where_unknown = 0.01;
constexpr double least_noise = 0.001;  // of one round: timers tick, so rounds alike to the last digit prove nothing

int bin_of(double center) {
    return std::clamp(static_cast<int>(std::floor(center / std::numbers::ln10)), 0, 3);
}

/// The median of variances with d degrees of freedom lies at about (1 − 2/(9d))³ of the true one (Wilson and Hilferty).
double unbiased(double variance, double degrees) {
    const double root = 1 - 2 / (9 * degrees);
    return variance / (root * root * root);
}

}  // namespace

Estimate estimate_from_rounds(std::span<const double> medians_us) {
    constexpr std::size_t most_on_stack = 32;
    std::array<double, most_on_stack> few;
    std::vector<double> many;
    const std::size_t n = medians_us.size();
    double* logs = few.data();
    if (n > most_on_stack) {
        many.resize(n);
        logs = many.data();
    }
    std::transform(medians_us.begin(), medians_us.end(), logs, [](double us) { return std::log(us); });
    std::sort(logs, logs + n);
    const std::size_t cut = n / 5;
    const std::size_t kept = n - 2 * cut;
    double sum = 0;
    for (std::size_t i = cut; i < n - cut; ++i) {
        sum += logs[i];
    }
    Estimate out;
    out.rounds = static_cast<int>(n);
    out.center = sum / static_cast<double>(kept);
    if (n < 2) {
        return out;
    }
    double winsorised_sum = 0;
    const auto winsorised = [&](std::size_t i) { return logs[std::clamp(i, cut, n - cut - 1)]; };
    for (std::size_t i = 0; i < n; ++i) {
        winsorised_sum += winsorised(i);
    }
    const double mean = winsorised_sum / static_cast<double>(n);
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        squares += (winsorised(i) - mean) * (winsorised(i) - mean);
    }
    out.variance = squares / static_cast<double>(kept * (kept - 1));
    out.degrees = static_cast<double>(kept - 1);
    return out;
}

Estimate estimate_from_processes(std::span<const Estimate> processes) {
    const auto count = static_cast<double>(processes.size());
    Estimate out;
    out.of_processes = true;
    out.rounds = static_cast<int>(processes.size());
    for (const Estimate& process : processes) {
        out.center += process.center / count;
    }
    for (const Estimate& process : processes) {
        out.variance += (process.center - out.center) * (process.center - out.center) / (count * (count - 1));
    }
    out.degrees = count - 1;
    return out;
}

Estimate estimate_from_quantiles(double p20_us, double p50_us, double p80_us, int rounds) {
    constexpr double normal_p80 = 0.8416212335729143;
    Estimate out;
    out.rounds = rounds > 0 ? rounds : rounds_where_unknown;
    out.center = std::log(p50_us);
    if (p20_us > 0 && p80_us >= p20_us && out.rounds > 1) {
        const double sigma = (std::log(p80_us) - std::log(p20_us)) / (2 * normal_p80);
        out.variance = std::numbers::pi / 2 * sigma * sigma / out.rounds;
        out.degrees = out.rounds - 1;
    }
    return out;
}

UsualNoise::UsualNoise(std::span<const Estimate> estimates) {
    std::array<std::vector<double>, bins> of_bin;
    std::vector<double> all;
    for (const Estimate& estimate : estimates) {
        if (estimate.degrees > 0) {
            const double of_one = estimate.variance * estimate.rounds;
            all.push_back(estimate.of_processes ? of_one : unbiased(of_one, estimate.degrees));
            of_bin[static_cast<std::size_t>(bin_of(estimate.center))].push_back(all.back());
        }
    }
    known_ = all.size() >= least_in_bin;
    const bool of_processes = !estimates.empty() && estimates.front().of_processes;
    const auto usual_of = [&](std::vector<double>& values) {
        if (of_processes) {
            const double most = quantile(values, 0.98);
            return std::accumulate(values.begin(), values.end(), 0.0,
                                   [&](double sum, double value) { return sum + std::min(value, most); }) /
                   static_cast<double>(values.size());
        }
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        return *middle;
    };
    const double of_all = known_ ? usual_of(all) : noise_where_unknown * noise_where_unknown;
    for (std::size_t i = 0; i < bins; ++i) {
        usual_[i] = of_bin[i].size() >= least_in_bin ? usual_of(of_bin[i]) : of_all;
    }
}

double UsualNoise::degrees() const {
    return known_ ? degrees_of_usual : 0;
}

Estimate UsualNoise::moderated(const Estimate& estimate) const {
    Estimate out = estimate;
    const double rounds = std::max(estimate.rounds, 1);
    const double usual = std::max(usual_[bin_of(estimate.center)], least_noise * least_noise) / rounds;
    if (estimate.degrees <= 0) {
        out.variance = usual;
        out.degrees = known_ ? degrees_of_usual : 1;
        return out;
    }
    if (known_) {
        const double together = estimate.degrees + degrees_of_usual;
        const double mean = (estimate.degrees * estimate.variance + degrees_of_usual * usual) / together;
        out.variance = std::max(estimate.variance, mean);
        out.degrees = together;
    }
    out.variance = std::max(out.variance, least_noise * least_noise / rounds);
    return out;
}

}  // namespace normtune
