// The samples of one thing that is measured (a trial, the copy limit, the empty launch), round by round. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"
#include "trial/measurement.h"
#include "trial/sample_batch.h"

namespace normtune {

class Series {
public:
    /// A round that counts.
    void add(const SampleBatch& batch);
    /// A throttled round that is repeated: its samples count for nothing but its time.
    void discard(const SampleBatch& batch);

    bool empty() const { return samples_us_.empty(); }
    const std::vector<double>& samples_us() const { return samples_us_; }
    const std::vector<double>& round_medians_us() const { return round_medians_us_; }
    const std::vector<Round>& rounds() const { return rounds_; }
    double spent_us() const { return spent_us_; }  // device time, discarded rounds included
    int discarded() const { return discarded_; }
    double p50_us() const;                             // 0 where there are no samples
    const std::string& copy() const { return copy_; }  // SampleBatch::copy of the last round

    /// Rounds, quantiles over all samples, rotation, timer, clock and throttling; what needs the problem is left to `summarise`.
    Measurement measurement() const;

private:
    void note(const SampleBatch& batch);

    std::vector<double> samples_us_;
    std::vector<double> round_medians_us_;
    std::vector<Round> rounds_;
    std::vector<std::string> throttle_reasons_;  // each once
    std::vector<double> clocks_mhz_;
    std::vector<double> memory_clocks_mhz_;
    std::string copy_;
    std::string timer_;
    int launches_per_sample_ = 1;
    std::int64_t rotation_bytes_ = 0;
    int discarded_ = 0;
    double spent_us_ = 0;
};

/// What a trial's measurement takes from around it.
struct MeasurementContext {
    const Problem* problem = nullptr;
    std::int64_t workspace_bytes = 0;
    bool cold = true;
    std::string_view rotation_mark;  // measure/rotation.h
    StopReason stop_reason = StopReason::none;
};

/// gbps from the least bytes, the limit from the copies of the same rounds (0 where the copy could not be measured, and
/// then limit_ratio is 0, too), memory from the tensors and the workspace.
Measurement summarise(const Series& kernel, const Series& copy, const Series& empty_launch, const MeasurementContext& context);

}  // namespace normtune
