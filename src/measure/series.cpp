#include "measure/series.h"

#include <algorithm>
#include <numeric>

#include "measure/statistics.h"

namespace normtune {

namespace {

std::vector<double> before_and_after(const std::optional<double>& before, const std::optional<double>& after) {
    return before && after ? std::vector{*before, *after} : std::vector<double>();
}

}  // namespace

void Series::note(const SampleBatch& batch) {
    spent_us_ += std::accumulate(batch.us.begin(), batch.us.end(), 0.0) * batch.launches_per_sample;
    for (const std::string& reason : batch.throttle_reasons) {
        if (std::find(throttle_reasons_.begin(), throttle_reasons_.end(), reason) == throttle_reasons_.end()) {
            throttle_reasons_.push_back(reason);
        }
    }
}

void Series::add(const SampleBatch& batch) {
    note(batch);
    samples_us_.insert(samples_us_.end(), batch.us.begin(), batch.us.end());
    const double middle = median(batch.us);
    round_medians_us_.push_back(middle);
    rounds_.push_back({middle, static_cast<int>(batch.us.size()), !batch.throttle_reasons.empty(), batch.clocks_moved});
    if (batch.clocks_moved) {
        rounds_.back().clock_mhz = before_and_after(batch.clock_before_mhz, batch.clock_mhz);
        rounds_.back().memory_clock_mhz = before_and_after(batch.memory_clock_before_mhz, batch.memory_clock_mhz);
    }
    if (batch.clock_mhz) {
        clocks_mhz_.push_back(*batch.clock_mhz);
    }
    if (batch.memory_clock_mhz) {
        memory_clocks_mhz_.push_back(*batch.memory_clock_mhz);
    }
    copy_ = batch.copy;
    timer_ = batch.timer;
    launches_per_sample_ = batch.launches_per_sample;
    rotation_bytes_ = std::max(rotation_bytes_, batch.rotation_bytes);  // a new worker begins anew
}

void Series::discard(const SampleBatch& batch) {
    note(batch);
    ++discarded_;
}

double Series::p50_us() const {
    return samples_us_.empty() ? 0 : median(samples_us_);
}

Measurement Series::measurement() const {
    Measurement out;
    out.rounds = rounds_;
    out.samples = static_cast<int>(samples_us_.size());
    out.launches_per_sample = launches_per_sample_;
    out.rotation_bytes = rotation_bytes_;
    if (!samples_us_.empty()) {
        out.p20_us = quantile(samples_us_, 0.2);
        out.p50_us = quantile(samples_us_, 0.5);
        out.p80_us = quantile(samples_us_, 0.8);
    }
    out.timer = timer_;
    out.throttled_repeats = discarded_;
    out.throttle_reasons = throttle_reasons_;
    if (!clocks_mhz_.empty()) {
        out.clock_mhz = median(clocks_mhz_);
    }
    if (!memory_clocks_mhz_.empty()) {
        out.memory_clock_mhz = median(memory_clocks_mhz_);
    }
    return out;
}

Measurement summarise(const Series& kernel, const Series& copy, const Series& empty_launch, const MeasurementContext& context) {
    Measurement out = kernel.measurement();
    if (out.p50_us > 0) {
        out.gbps = static_cast<double>(least_bytes(*context.problem)) / out.p50_us / 1e3;
    }
    out.limit_us = copy.p50_us();
    out.limit_copy = copy.copy();
    out.limit_ratio = out.limit_us > 0 ? out.p50_us / out.limit_us : 0;
    out.floor_us = empty_launch.p50_us();
    out.memory_bytes = tensor_bytes(*context.problem) + context.workspace_bytes;
    out.cold = context.cold;
    out.timer += context.rotation_mark;
    out.stop_reason = context.stop_reason;
    return out;
}

}  // namespace normtune
