#include "judge/control.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "measure/statistics.h"

namespace normtune {
namespace {

constexpr double short_us = 10;           // times below tell what is in microseconds, others what is relative
constexpr double clock_deviation = 1e-3;  // timers tick
constexpr double usual_shift = 0.05;      // before anything is known
constexpr double usual_shift_us = 0.3;

/// The mean without what the greatest in fifty exceed the next by: one disturbed trial is not the scatter of all.
double winsorised_mean(std::vector<double> values) {
    const double most = quantile(values, 0.98);
    double sum = 0;
    for (const double value : values) {
        sum += std::min(value, most);
    }
    return sum / static_cast<double>(values.size());
}

class Fitting {
public:
    Fitting(std::span<const ControlSample> samples, double usual_us) : samples_(samples), usual_us_(usual_us) {
        out_.pairs = samples.size();
        out_.deviation = clock_deviation;
        out_.deviation_us = usual_us;
    }

    Control fit() {
        std::vector<double> logs;
        logs.reserve(samples_.size());
        for (const ControlSample& sample : samples_) {
            logs.push_back(sample.log_ratio);
        }
        out_.shift = median(logs);
        constexpr int rounds = 6;
        for (int i = 0; i < rounds; ++i) {
            step(i > 0);
            scatter();
        }
        step(true);
        tails();
        return out_;
    }

private:
    double residual(const ControlSample& sample) const { return sample.log_ratio - out_.shift_at(sample.us); }
    double variance(const ControlSample& sample) const { return sample.variance + out_.variance_at(sample.us); }

    /// One step of Gauss and Newton; `bounded` limits what one sample may pull (Huber 1964).
    void step(bool bounded) {
        double aa = 1 / (usual_shift * usual_shift);
        double bb = 1 / (usual_shift_us * usual_shift_us);
        double ab = 0;
        double ar = -out_.shift * aa;
        double br = -out_.shift_us * bb;
        for (const ControlSample& sample : samples_) {
            const double slope = 1 / std::max(sample.us + out_.shift_us, sample.us / 2);
            const double off = residual(sample);
            const double own = variance(sample);
            constexpr double most_deviations = 1.5;
            const double far = std::abs(off) / (most_deviations * std::sqrt(own));
            const double weight = 1 / own / (bounded ? std::max(1.0, far) : 1.0);
            aa += weight;
            ab += weight * slope;
            bb += weight * slope * slope;
            ar += weight * off;
            br += weight * off * slope;
        }
        const double determinant = aa * bb - ab * ab;
        out_.shift += (bb * ar - ab * br) / determinant;
        out_.shift_us += (aa * br - ab * ar) / determinant;
        out_.covariance = {bb / determinant, aa / determinant, -ab / determinant};
    }

    /// Both parts of the scatter: what is relative from the longer trials, what is in microseconds from the shorter ones.
    void scatter() {
        std::vector<double> relative;
        std::vector<double> absolute;
        const auto longer = static_cast<std::size_t>(
            std::count_if(samples_.begin(), samples_.end(), [](const ControlSample& sample) { return sample.us >= short_us; }));
        for (const ControlSample& sample : samples_) {
            const double square = residual(sample) * residual(sample) - sample.variance;
            if (sample.us >= short_us || longer < Control::least_pairs) {
                const double in_us = out_.deviation_us / sample.us;
                relative.push_back(square - in_us * in_us);
            }
            if (sample.us < short_us) {
                absolute.push_back((square - out_.deviation * out_.deviation) * sample.us * sample.us);
            }
        }
        out_.deviation = std::sqrt(std::max(clock_deviation * clock_deviation, winsorised_mean(std::move(relative))));
        if (absolute.size() >= Control::least_pairs) {
            out_.deviation_us = std::sqrt(std::max(usual_us_ * usual_us_, winsorised_mean(std::move(absolute))));
        }
    }

    /// Student's t with d degrees of freedom has a kurtosis of 3 + 6/(d − 4).
    void tails() {
        constexpr double least = 4;
        constexpr double most = 100;
        double squares = 0;
        double fourths = 0;
        for (const ControlSample& sample : samples_) {
            const double square = residual(sample) * residual(sample) / variance(sample);
            squares += square;
            fourths += square * square;
        }
        const auto count = static_cast<double>(samples_.size());
        const double excess = fourths * count / (squares * squares) - 3;
        out_.degrees = std::clamp(std::min(excess > 0 ? least + 6 / excess : most, count - 2), least, most);
    }

    std::span<const ControlSample> samples_;
    double usual_us_;
    Control out_;
};

}  // namespace

double Control::shift_at(double us) const {
    return shift + std::log1p(std::max(shift_us / us, -0.5));
}

double Control::shift_variance_at(double us) const {
    return std::max(0.0, covariance[0] + 2 * covariance[2] / us + covariance[1] / (us * us));
}

double Control::variance_at(double us) const {
    const double in_us = deviation_us / us;
    return deviation * deviation + in_us * in_us;
}

Control find_control(std::span<const ControlSample> samples, double usual_us) {
    if (samples.size() < Control::least_pairs) {
        Control out;
        out.pairs = samples.size();
        return out;
    }
    return Fitting(samples, usual_us).fit();
}

}  // namespace normtune
