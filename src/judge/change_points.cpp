#include "judge/change_points.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "measure/statistics.h"

namespace normtune {
namespace {

constexpr std::size_t least_before = 5;  // nights of a level that another is compared with
constexpr std::size_t least_after = 3;   // one night, or two, may be an accident
constexpr std::size_t recent = 5;        // nights that may be of a new level already: they say nothing of the usual noise
constexpr std::size_t least_usual = 8;   // nights that say what is usual
constexpr double prior_degrees = 5;      // how far the usual noise is believed of a few nights
constexpr double prior_phi = 0.3;        // what is taken for φ, as if so many nights had said it:
constexpr double prior_nights = 10;
constexpr double most_phi = 0.8;
constexpr double clip_deviations = 3;     // a night is no further from its level than that
constexpr double least_deviation = 1e-5;  // files have times to five digits: no noise is less
constexpr std::array<std::size_t, 14> lengths{3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224};
constexpr std::size_t short_lengths = 3;
constexpr double share_of_short = 0.5;
constexpr std::array<std::size_t, 8> changed_lengths{3, 4, 5, 7, 10, 14, 20, 28};  // at which a night with a cause is looked at
constexpr std::size_t most_saved = 30;                                             // nights whose share one such night may take

double share(std::size_t length, std::size_t of) {
    return length < short_lengths ? share_of_short / short_lengths : (1 - share_of_short) / static_cast<double>(of - short_lengths);
}

/// Of each night with a cause: how many nights' shares it has, those since the last one.
std::vector<double> saved_shares(const std::vector<bool>& changed) {
    std::vector<double> out(changed.size(), 0);
    std::size_t last = 0;
    for (std::size_t i = 0; i < changed.size(); ++i) {
        if (changed[i]) {
            out[i] = static_cast<double>(std::min(i - last, most_saved));
            last = i;
        }
    }
    return out;
}

double middle_of(std::span<const double> values, std::vector<double>& scratch) {
    scratch.assign(values.begin(), values.end());
    const auto middle = scratch.begin() + static_cast<std::ptrdiff_t>(scratch.size() / 2);
    std::nth_element(scratch.begin(), middle, scratch.end());
    return *middle;
}

/// Of the noise of a series about its levels.
struct Scale {
    double deviation = 0;  // of a usual night
    double phi = 0;        // correlation of a night with the next
    double degrees = 1;    // of freedom of the deviation

    /// Variance of a mean, over that of a night, times nights.
    double long_run() const { return (1 + phi) / (1 - phi); }
};

/// Sums over the first nights of a segment, of values between two bounds.
struct SegmentSums {
    std::vector<double> weight{0};
    std::vector<double> value{0};
    std::vector<double> square{0};
};

struct Level {
    double mean = 0;
    double variance = 0;  // of the mean
    double degrees = 0;
};

LevelChange difference(const Level& before, const Level& after) {
    constexpr double tail = 0.025;
    constexpr double most_degrees = 400;  // beyond, t is normal
    const double variance = before.variance + after.variance;
    const double satterthwaite =
        variance * variance / (before.variance * before.variance / before.degrees + after.variance * after.variance / after.degrees);
    const int degrees = static_cast<int>(std::clamp(satterthwaite, 1.0, most_degrees));
    LevelChange out;
    out.size = after.mean - before.mean;
    const double error = std::sqrt(variance);
    const double half = student_t_quantile(tail, degrees) * error;
    out.low = out.size - half;
    out.high = out.size + half;
    out.p = std::min(1.0, 2 * student_t_tail(std::abs(out.size) / error, degrees));
    return out;
}

/// One series on its way through the nights.
class Pass {
public:
    Pass(std::span<const double> values, std::span<const double> noise, std::vector<double> shares)
        : values_(values), noise_(noise), shares_(std::move(shares)) {}

    /// The level ends before `night`: what is left of its nights is noise.
    void close(std::size_t night) {
        const double middle = middle_of(part(values_, begin_, night), scratch_);
        for (; begin_ < night; ++begin_) {
            residuals_.push_back((values_[begin_] - middle) / noise_at(begin_));
        }
    }

    /// The smallest p over the splits of the present segment, each over its share of the false alarms; 2: nothing to test.
    struct Alarm {
        double p = 2;
        std::size_t after = 0;
    };
    Alarm test(std::size_t end) {
        Alarm out;
        const std::size_t nights = end - begin_;
        if (nights < least_before + least_after || end < least_usual + recent) {
            return out;
        }
        const Scale scale = usual_scale(end - recent);
        const double middle = middle_of(part(values_, begin_, end), scratch_);
        const double reach = clip_deviations * scale.deviation;
        sum(begin_, end, middle - reach, middle + reach);
        const auto look = [&](std::size_t length, double share) {
            const std::size_t split = nights - length;
            const Level before = long_level(split, scale);
            const Level after = short_level(begin_ + split, end, scale);
            constexpr double least_squared_t = 4;  // most splits are nowhere near, and the tail of t is dear
            if (std::pow(after.mean - before.mean, 2) < least_squared_t * (before.variance + after.variance)) {
                return;
            }
            const double p = difference(before, after).p / share;
            if (p < out.p) {
                out = {p, length};
            }
        };
        for (std::size_t i = 0; i < lengths.size() && lengths[i] + least_before <= nights; ++i) {
            look(lengths[i], share(i, lengths.size()));
        }
        for (std::size_t i = 0; i < changed_lengths.size() && changed_lengths[i] + least_before <= nights; ++i) {
            if (const double saved = shares_.empty() ? 0 : shares_[end - changed_lengths[i]]; saved > 0) {
                look(changed_lengths[i], saved * share(i, changed_lengths.size()));
            }
        }
        return out;
    }

    /// Where [begin, end) is best split in two, and what else the likelihood leaves open; `guess` is near.
    void locate(std::size_t begin, std::size_t guess, std::size_t end, ChangePoint& point) {
        const Scale scale = scale_about(begin, guess, end);
        const double a = middle_of(part(values_, begin, guess), scratch_);
        const double b = middle_of(part(values_, guess, end), scratch_);
        // Twice the logarithm of the likelihood ratio of two splits, as of independent nights that vary by as much in the long run. One
        // night that belongs to neither level weighs no more than one at the usual limit.
        const auto misfit = [&](std::size_t night, double level) {
            const double away = (values_[night] - level) / (scale.deviation * noise_at(night));
            return std::min(away * away, clip_deviations * clip_deviations) / scale.long_run();
        };
        constexpr double chi_square_95 = 3.841458820694124;
        const auto odds = [&](std::size_t night) {
            return shares_.empty() || shares_[night] == 0 ? 0 : chi_square_95 + 2 * std::log(shares_[night]);
        };
        std::vector<double> misfits(end - begin + 1, 0);  // of a split after so many nights, over that of one before the first
        for (std::size_t i = begin; i < end; ++i) {
            misfits[i - begin + 1] = misfits[i - begin] + misfit(i, a) - misfit(i, b);
        }
        const std::size_t last = std::min(end - least_after, point.found + 1 - least_after);
        std::size_t best = begin + least_after;
        for (std::size_t split = best; split <= last; ++split) {
            best = misfits[split - begin] - odds(split) < misfits[best - begin] - odds(best) ? split : best;
        }
        const double most =
            *std::min_element(misfits.begin() + least_after, misfits.begin() + static_cast<std::ptrdiff_t>(last - begin + 1)) +
            chi_square_95;
        point.night = point.earliest = point.latest = best;
        while (point.earliest > begin + least_after && misfits[point.earliest - 1 - begin] <= most) {
            --point.earliest;
        }
        while (point.latest < last && misfits[point.latest + 1 - begin] <= most) {
            ++point.latest;
        }
    }

    LevelChange change(std::size_t begin, std::size_t split, std::size_t end) {
        const Scale scale = scale_about(begin, split, end);
        return difference(level(begin, split, scale), level(split, end, scale));
    }

    std::size_t begin() const { return begin_; }

private:
    static std::span<const double> part(std::span<const double> all, std::size_t begin, std::size_t end) {
        return all.subspan(begin, end - begin);
    }
    double noise_at(std::size_t night) const { return noise_.empty() ? 1 : noise_[night]; }
    double weight_at(std::size_t night) const { return 1 / (noise_at(night) * noise_at(night)); }

    /// From residuals of nights that follow one another, each in units of its night's noise.
    Scale scale_of(std::span<const double> residuals) {
        scratch_.clear();
        for (const double r : residuals) {
            scratch_.push_back(std::abs(r));
        }
        const auto middle = scratch_.begin() + static_cast<std::ptrdiff_t>(scratch_.size() / 2);
        std::nth_element(scratch_.begin(), middle, scratch_.end());
        const double deviation = std::max(*middle / normal_median, least_deviation);
        const double reach = clip_deviations * deviation;
        double products = 0;
        double squares = 0;
        double last = 0;
        for (const double residual : residuals) {
            const double r = std::clamp(residual, -reach, reach);
            squares += r * r;
            products += r * last;
            last = r;
        }
        const auto nights = static_cast<double>(residuals.size());
        const double phi = squares > 0 ? products / squares : 0;
        constexpr double efficiency = 0.37;  // of a median distance, on normal noise
        return {deviation, std::clamp((nights * phi + prior_nights * prior_phi) / (nights + prior_nights), 0.0, most_phi),
                std::max(1.0, efficiency * (nights - 1))};
    }
    /// Of the levels that are over, and of the present one up to a night.
    Scale usual_scale(std::size_t end) {
        const std::size_t closed = residuals_.size();
        if (end > begin_ + 1) {
            const double middle = middle_of(part(values_, begin_, end), scratch_);
            for (std::size_t i = begin_; i < end; ++i) {
                residuals_.push_back((values_[i] - middle) / noise_at(i));
            }
        }
        const Scale out = scale_of(residuals_);
        residuals_.resize(closed);
        return out;
    }
    /// Of two levels.
    Scale scale_about(std::size_t begin, std::size_t split, std::size_t end) {
        std::vector<double> residuals;
        for (const auto& [from, to] : {std::pair(begin, split), std::pair(split, end)}) {
            const double middle = middle_of(part(values_, from, to), scratch_);
            for (std::size_t i = from; i < to; ++i) {
                residuals.push_back((values_[i] - middle) / noise_at(i));
            }
        }
        return scale_of(residuals);
    }

    void sum(std::size_t begin, std::size_t end, double low, double high) {
        sums_.weight.resize(1);
        sums_.value.resize(1);
        sums_.square.resize(1);
        for (std::size_t i = begin; i < end; ++i) {
            const double weight = weight_at(i);
            const double value = std::clamp(values_[i], low, high);
            sums_.weight.push_back(sums_.weight.back() + weight);
            sums_.value.push_back(sums_.value.back() + weight * value);
            sums_.square.push_back(sums_.square.back() + weight * value * value);
        }
    }
    /// Of the first nights of what was summed: clipped, and not less noisy than is usual.
    Level long_level(std::size_t nights, const Scale& scale) const {
        const double weight = sums_.weight[nights];
        Level out;
        out.mean = sums_.value[nights] / weight;
        const double own = std::max(0.0, sums_.square[nights] / weight - out.mean * out.mean) * weight / static_cast<double>(nights);
        out.variance = std::max(scale.deviation * scale.deviation, own) * scale.long_run() / weight;
        out.degrees = std::min(scale.degrees, static_cast<double>(nights - 1));
        return out;
    }
    /// Of a few nights: nothing is left out, and their own noise is part of the estimate.
    Level short_level(std::size_t begin, std::size_t end, const Scale& scale) const {
        double weights = 0;
        double sum = 0;
        double squares = 0;
        for (std::size_t i = begin; i < end; ++i) {
            weights += weight_at(i);
            sum += weight_at(i) * values_[i];
            if (i > begin) {
                const double d = values_[i] - values_[i - 1];
                squares += 2 * d * d / (noise_at(i) * noise_at(i) + noise_at(i - 1) * noise_at(i - 1));
            }
        }
        const auto differences = static_cast<double>(end - begin - 1);
        const double own = squares / differences / (2 * (1 - scale.phi));
        const double degrees = 2.0 / 3 * differences;  // squares of successive differences are no independent ones
        const double usual = scale.deviation * scale.deviation;
        const double prior = std::min(prior_degrees, scale.degrees);
        const double moderated = (prior * usual + degrees * own) / (prior + degrees);
        return {sum / weights, std::max(usual, moderated) * scale.long_run() / weights, prior + degrees};
    }
    Level level(std::size_t begin, std::size_t end, const Scale& scale) {
        constexpr std::size_t few = 10;
        if (end - begin < few) {
            return short_level(begin, end, scale);
        }
        const double middle = middle_of(part(values_, begin, end), scratch_);
        const double reach = clip_deviations * scale.deviation;
        sum(begin, end, middle - reach, middle + reach);
        return long_level(end - begin, scale);
    }

    std::span<const double> values_;
    std::span<const double> noise_;
    std::vector<double> shares_;  // of nights with a cause; empty: none is known
    std::size_t begin_ = 0;       // of the present level
    std::vector<double> residuals_;
    std::vector<double> scratch_;
    SegmentSums sums_;
};

}  // namespace

std::vector<ChangePoint> find_change_points(std::span<const double> values, std::span<const double> noise, const std::vector<bool>& changed,
                                            const ChangePointSettings& settings) {
    std::vector<ChangePoint> points;
    Pass pass(values, noise, saved_shares(changed));
    for (std::size_t end = 1; end <= values.size(); ++end) {
        const Pass::Alarm alarm = pass.test(end);
        if (alarm.p <= settings.false_alarms_a_night) {
            ChangePoint& point = points.emplace_back();
            point.found = end - 1;
            pass.locate(pass.begin(), end - alarm.after, end, point);
            point.p = alarm.p;
            pass.close(point.night);
        }
    }
    // What came later says more of where and how much.
    const auto begin_of = [&](std::size_t i) { return i == 0 ? 0 : points[i - 1].night; };
    const auto end_of = [&](std::size_t i) { return i + 1 < points.size() ? points[i + 1].night : values.size(); };
    for (std::size_t i = 0; i < points.size(); ++i) {
        pass.locate(begin_of(i), points[i].night, end_of(i), points[i]);
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
        points[i].change = pass.change(begin_of(i), points[i].night, end_of(i));
    }
    return points;
}

LevelChange change_at(std::span<const double> values, std::span<const double> noise, std::size_t begin, std::size_t split,
                      std::size_t end) {
    return Pass(values, noise, {}).change(begin, split, end);
}

std::vector<double> noise_of_nights(std::span<const std::vector<double>> series, std::size_t nights) {
    constexpr std::size_t least_series = 10;
    std::vector<double> squares(nights, 1);
    std::vector<std::vector<double>> changes(nights);
    std::vector<double> all;
    for (const std::vector<double>& values : series) {
        all.clear();
        for (std::size_t i = 1; i < nights; ++i) {
            const double d = values[i] - values[i - 1];
            if (std::isnan(d)) {
                continue;
            }
            // Only what was known on the night, as everywhere here.
            all.insert(std::upper_bound(all.begin(), all.end(), std::abs(d)), std::abs(d));
            const double usual = std::max(all[all.size() / 2], least_deviation);
            changes[i].push_back(d / usual);
        }
    }
    for (std::size_t i = 1; i < nights; ++i) {
        if (changes[i].size() >= least_series) {
            const double common = median(changes[i]);
            for (double& d : changes[i]) {
                d = std::abs(d - common);
            }
            squares[i] = std::pow(median(changes[i]), 2);
        }
    }
    std::vector<double> out(nights, 1);
    for (std::size_t i = 2; i < nights; ++i) {
        std::array<double, 3> last{squares[i - 2], squares[i - 1], squares[i]};
        std::sort(last.begin(), last.end());
        out[i] = std::sqrt(std::max(1.0, last[1]));
    }
    return out;
}

}  // namespace normtune
