#include "judge/side_by_side.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "measure/statistics.h"
#include "support/error.h"
#include "support/escape.h"

namespace normtune {
namespace {

auto contest_place(const Record& record) {
    const Measurement& measurement = *record.measurement;
    const int rank = measurement.rank > 0 ? measurement.rank : std::numeric_limits<int>::max();
    return std::tuple(rank, measurement.final_rounds_us.empty(), measurement.stop_reason == StopReason::dropped, time_of(record));
}

const Contestant own_contestant{std::string(own_provider), false};

}  // namespace

Contestant contestant_of(const Record& record) {
    return {std::string(record.candidate.provider()), record.measurement->dependent()};
}

double time_of(const Record& record) {
    const std::vector<double>& fresh = record.measurement->final_rounds_us;
    return fresh.empty() ? record.measurement->p50_us : median(fresh);
}

double floor_of(const Record& record) {
    const Measurement& measured = *record.measurement;
    return measured.final_floor_us.value_or(measured.floor_us);
}

const Record* SideBySide::own() const {
    const auto found = best.find(own_contestant);
    return found == best.end() ? nullptr : found->second;
}

std::optional<double> SideBySide::fastest_other() const {
    double fastest = std::numeric_limits<double>::infinity();
    for (const auto& [contestant, record] : best) {
        if (contestant != own_contestant && !contestant.second) {
            fastest = std::min(fastest, time_of(*record));
        }
    }
    return own() == nullptr || std::isinf(fastest) ? std::nullopt : std::optional(fastest / time_of(*own()));
}

std::vector<SideBySide> side_by_side(std::span<const Results> runs) {
    std::map<std::string, std::size_t> places;  // by the problem's key
    std::vector<SideBySide> out;
    std::vector<const Results*> of;  // each of out
    for (const Results& run : runs) {
        require_one_device(run);
        const DeviceInfo& device = run.environment.device;
        const DeviceInfo& first = runs.front().environment.device;
        if (device.name != first.name || device.arch != first.arch) {
            throw InputError(fmt::format("these results are of several devices ({} and {}); times of one stand side by side",
                                         quoted_for_message(first.name), quoted_for_message(device.name)));
        }
        for (const Record& record : run.records) {
            if (record.outcome != Outcome::passed || !record.measurement) {
                continue;
            }
            const auto [found, is_new] = places.try_emplace(record.problem.key(), out.size());
            if (is_new) {
                out.push_back({&record.problem, {}});
                of.push_back(&run);
            }
            const std::size_t at = found->second;
            if (of[at] != &run) {
                if (run.environment.started < of[at]->environment.started) {
                    continue;
                }
                out[at] = {&record.problem, {}};
                of[at] = &run;
            }
            const Record*& best = out[at].best[contestant_of(record)];
            if (best == nullptr || contest_place(record) < contest_place(*best)) {
                best = &record;
            }
        }
    }
    return out;
}

std::vector<SideBySideMean> means(std::span<const SideBySide> problems) {
    std::vector<SideBySideMean> out;
    for (const SideBySide& problem : problems) {
        const std::optional<double> ratio = problem.fastest_other();
        if (!ratio) {
            continue;
        }
        const std::string operation = problem.problem->operation_key();
        auto mean = std::ranges::find(out, operation, &SideBySideMean::operation);
        if (mean == out.end()) {
            mean = out.insert(mean, {operation, 0, 0, *ratio, 0});
        }
        ++mean->problems;
        mean->geometric_mean += std::log(*ratio);
        mean->least = std::min(mean->least, *ratio);
        mean->most_limit = std::max(mean->most_limit, problem.own()->measurement->limit_ratio);
    }
    for (SideBySideMean& mean : out) {
        mean.geometric_mean = std::exp(mean.geometric_mean / mean.problems);
    }
    return out;
}

}  // namespace normtune
