// Histories with noise and changes that are known: what the rates of false alarms and of found changes are counted on.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "judge/trend.h"
#include "support/clock.h"
#include "support/random.h"

namespace normtune::testing {

struct SyntheticNights {
    int nights = 300;
    int problems = 1;
    double time_us = 10;        // of a kernel and of its copy, above the floor
    double deviation = 0.0016;  // of a night about its level, relative, in the long run
    double correlation = 0.5;   // of a night with the next
    int noisy_weeks = 3;        // seven nights
    double noisy = 3;           // times the deviation
    double accidents = 0.005;   // nights that are 2 to 8 % slower, alone
    int floor_steps = 2;        // an empty launch takes 0.15 to 0.4 µs more, or less again
    int driver_changes = 2;     // of which every other one makes all kernels 1 to 3 % slower, or faster
    int rebuilds = 3;           // the code changes and its time does not
    double planted = 0;         // the code changes, and its time by this, on one night
    std::uint64_t seed = 0;
};

struct SyntheticHistory {
    History history;
    int planted_at = -1;
    std::vector<int> floor_at;
    std::vector<int> driver_at;  // those with an effect
};

class HistoryMaker {
public:
    explicit HistoryMaker(const SyntheticNights& what) : what_(what), random_(mix_seed(what.seed, "history")) {}

    SyntheticHistory make() {
        SyntheticHistory out;
        const auto nights = static_cast<std::size_t>(what_.nights);
        std::vector<double> floor_us(nights, 1);
        std::vector<double> driver_effect(nights, 0);
        std::vector<double> noisy(nights, 1);
        std::vector<int> driver(nights, 0);
        std::vector<int> code(nights, 0);
        if (what_.planted != 0) {
            out.planted_at = taken_night();
        }
        for (int i = 0; i < what_.floor_steps; ++i) {
            out.floor_at.push_back(taken_night());
            const double step = (i % 2 == 0 ? 1 : -1) * (0.15 + 0.25 * random_.unit());
            add_from(floor_us, out.floor_at.back(), step);
        }
        for (int i = 0; i < what_.driver_changes; ++i) {
            const int at = taken_night();
            add_from(driver, at, 1);
            if (i % 2 == 0) {
                out.driver_at.push_back(at);
                add_from(driver_effect, at, (random_.unit() < 0.5 ? -1 : 1) * (0.01 + 0.02 * random_.unit()));
            }
        }
        for (int i = 0; i < what_.rebuilds; ++i) {
            add_from(code, taken_night(), 1);
        }
        for (int i = 0; i < what_.noisy_weeks; ++i) {
            const std::size_t from = random_.below(nights);
            std::fill(noisy.begin() + static_cast<std::ptrdiff_t>(from),
                      noisy.begin() + static_cast<std::ptrdiff_t>(std::min(nights, from + 7)), what_.noisy);
        }
        for (std::size_t i = 0; i < nights; ++i) {
            HistoryRun run;
            run.started = utc_timestamp(static_cast<std::time_t>(1'760'000'000 + 86'400 * i));
            run.device = "synthetic device";
            run.device_id = "GPU-1";
            run.has_uuid = true;
            run.driver = fmt::format("580.{}", driver[i]);
            run.compiler = "compiler 1";
            run.revision = fmt::format("revision {}", i);
            out.history.runs.push_back(run);
        }
        for (int p = 0; p < what_.problems; ++p) {
            HistorySeries series;
            series.device = "synthetic device";
            series.trial = {fmt::format("rms_norm/forward/bf16/llama/{}x4096", p + 1), "normtune", "w4.t128.r1.row.registers.even.per_row",
                            "hidden", true};
            const std::vector<double> kernel = noise(noisy);
            const std::vector<double> copy = noise(noisy);
            for (std::size_t i = 0; i < nights; ++i) {
                const bool slower = out.planted_at >= 0 && static_cast<int>(i) >= out.planted_at;
                HistoryNight night;
                night.run = static_cast<std::uint32_t>(i);
                night.code = code_of(out.history, code[i], slower);
                const double above = what_.time_us * std::exp(kernel[i] + driver_effect[i] + (slower ? std::log1p(what_.planted) : 0));
                night.times.floor_us = floor_us[i] * (1 + 0.0003 * normal());
                night.times.p50_us = above + night.times.floor_us;
                night.times.copy_us = what_.time_us * std::exp(copy[i]) + night.times.floor_us;
                series.nights.push_back(night);
            }
            out.history.series.push_back(std::move(series));
        }
        return out;
    }

private:
    double normal() { return std::sqrt(-2 * std::log(1 - random_.unit())) * std::cos(2 * std::numbers::pi * random_.unit()); }
    /// After the first 30 nights, 12 before the end, and none within 12 of another.
    int taken_night() {
        constexpr int apart = 12;
        while (true) {
            const int night = 30 + static_cast<int>(random_.below(static_cast<std::uint64_t>(what_.nights - 30 - apart)));
            if (std::none_of(taken_.begin(), taken_.end(), [&](int other) { return std::abs(other - night) < apart; })) {
                taken_.push_back(night);
                return night;
            }
        }
    }
    template <typename T>
    static void add_from(std::vector<T>& values, int night, T more) {
        for (auto i = static_cast<std::size_t>(night); i < values.size(); ++i) {
            values[i] += more;
        }
    }
    static std::uint32_t code_of(History& history, int build, bool slower) {
        const std::string hash = fmt::format("build {}{}", build, slower ? " planted" : "");
        const auto found = std::find(history.codes.begin(), history.codes.end(), hash);
        if (found == history.codes.end()) {
            history.codes.push_back(hash);
            return static_cast<std::uint32_t>(history.codes.size() - 1);
        }
        return static_cast<std::uint32_t>(found - history.codes.begin());
    }
    /// Autoregressive, of order 1, with its noisy weeks and its accidents.
    std::vector<double> noise(const std::vector<double>& noisy) {
        std::vector<double> out;
        double last = normal() * what_.deviation;
        for (const double times : noisy) {
            last = what_.correlation * last + std::sqrt(1 - what_.correlation * what_.correlation) * what_.deviation * times * normal();
            out.push_back(last + (random_.unit() < what_.accidents ? 0.02 + 0.06 * random_.unit() : 0));
        }
        return out;
    }

    SyntheticNights what_;
    Random random_;
    std::vector<int> taken_;
};

inline SyntheticHistory synthetic_history(const SyntheticNights& what) {
    return HistoryMaker(what).make();
}

/// What a trend said of a synthetic history, counted.
struct TrendCounts {
    double series = 0;
    double false_alarms = 0;  // where nothing happened, or floor or driver called code
    double false_large = 0;   // those of 2 % and more, which a gate's policy would fail
    double found_5 = 0;       // planted, told within five nights as the code's
    double found_10 = 0;
    double floor_steps = 0;
    double floor_told = 0;  // of those steps that were told as a change: as the floor's
    double floor_wrong = 0;
    double drivers = 0;
    double driver_told = 0;

    void add(const SyntheticHistory& synthetic) {
        const Trend trend = find_trend(synthetic.history, Policy{}, "2026-11-22");
        for (const SeriesTrend& it : trend.series) {
            ++series;
            floor_steps += static_cast<double>(synthetic.floor_at.size());
            drivers += static_cast<double>(synthetic.driver_at.size());
            bool counted = false;
            for (const TrendChange& change : it.changes) {
                count(synthetic, change, counted);
            }
        }
    }

private:
    static bool holds(const TrendChange& change, Cause cause) {
        return std::find(change.causes.begin(), change.causes.end(), cause) != change.causes.end();
    }
    void count(const SyntheticHistory& synthetic, const TrendChange& change, bool& counted) {
        constexpr int near = 3;
        const auto is_near = [&](int night) { return night >= 0 && std::abs(static_cast<int>(change.point.night) - night) <= near; };
        const auto near_one = [&](const std::vector<int>& nights) { return std::any_of(nights.begin(), nights.end(), is_near); };
        if (is_near(synthetic.planted_at)) {
            const int after = static_cast<int>(change.point.found) - synthetic.planted_at;
            if (!counted && after >= 0 && holds(change, Cause::code)) {
                found_5 += after < 5 ? 1 : 0;
                found_10 += after < 10 ? 1 : 0;
                counted = true;
            }
        } else if (near_one(synthetic.floor_at)) {
            holds(change, Cause::floor) ? ++floor_told : ++floor_wrong;
        } else if (near_one(synthetic.driver_at)) {
            driver_told += holds(change, Cause::driver) ? 1 : 0;
        } else {
            ++false_alarms;
            false_large += std::abs(change.point.change.size) >= std::log(1.02) ? 1 : 0;
        }
    }
};

}  // namespace normtune::testing
