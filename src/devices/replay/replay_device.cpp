#include "devices/replay/replay_device.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numbers>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>

#include "devices/replay/recorded_times.h"
#include "devices/replay/replay_script.h"
#include "devices/replay/scripted_faults.h"
#include "space/reproducibility.h"
#include "store/results.h"
#include "support/atomic_file.h"
#include "support/content_hash.h"
#include "support/error.h"
#include "support/random.h"

namespace normtune {

namespace {

void wait_ms(double ms) {
    if (ms > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
    }
}

struct ReplayKernel : Kernel {
    std::string problem_key;
    std::string config_key;
    CompileInfo compile;
    const Timing* timing = nullptr;                 // null: recorded, or the default
    std::string untimed;                            // why it has no time beside the recorded ones; empty: it has one
    mutable std::optional<RecordedTimes> recorded;  // goes on from round to round
    const CompileInfo& info() const override { return compile; }
};

/// Sets without contents: their number and size are what real ones would have.
struct ReplayBuffers : Buffers {
    Problem problem;
    std::string problem_key;
    int count = 1;
    int sets() const override { return count; }
    std::int64_t rotation_bytes() const override { return count * tensor_bytes(problem); }
    void upload(TensorRole, int, std::span<const std::byte>) override {}
    void download(TensorRole, int, std::span<std::byte> bytes) const override { std::fill(bytes.begin(), bytes.end(), std::byte{0}); }
};

double draw(const Noise& noise, Random& random) {
    switch (noise.kind) {
        case NoiseKind::normal:
            return std::max(0.01, 1 + noise.sigma * normal_draw(random));
        case NoiseKind::lognormal:
            return std::exp(noise.sigma * normal_draw(random));
        case NoiseKind::uniform:
            return 1 + noise.sigma * (2 * random.unit() - 1);
    }
    return 1;
}

DeviceInfo device_of(const ReplayScript& script, int ordinal) {
    if (ordinal >= script.devices) {
        throw InputError(fmt::format("{}: there is no replay device {}: the script plays {} (devices: N plays more)", script.file, ordinal,
                                     script.devices));
    }
    DeviceInfo device = script.device;
    device.ordinal = ordinal;
    device.id = fmt::format("replay-{}", ordinal);
    return device;
}

class ReplayDevice : public Device {
public:
    ReplayDevice(ReplayScript script, int ordinal) : script_(std::move(script)), faults_(script_) {
        script_.device = device_of(script_, ordinal);
        faults_.refuse_if_lost();
        if (!script_.recorded.empty()) {
            recorded_ = read_results_json(script_.recorded);
            for (const Record& record : recorded_.records) {
                by_trial_.emplace(record.trial_key(), &record);
                if (record.measurement) {
                    beside_.emplace(record.problem.key(), &*record.measurement);
                }
            }
        }
        faults_.play(Moment::start, "", "");
    }

    const DeviceInfo& info() const override { return script_.device; }

    std::unique_ptr<Kernel> compile(const Problem& problem, const Candidate& candidate) override {
        auto kernel = std::make_unique<ReplayKernel>();
        kernel->problem_key = problem.key();
        kernel->config_key = candidate.identity();
        wait_ms(script_.compile_ms);
        faults_.play(Moment::compile, kernel->problem_key, kernel->config_key);
        kernel->compile.compile_ms = script_.compile_ms;
        kernel->compile.code_hash = kernel->config_key;
        if (const Configuration* own = candidate.configuration()) {
            kernel->compile.programs = problem.shape.rows / own->rows_per_program;
        }
        if (const Record* record = recorded(kernel->problem_key, kernel->config_key)) {
            fail_as(*record);
            kernel->compile = record->compile.value_or(kernel->compile);
            if (record->measurement && !record->measurement->rounds.empty()) {
                kernel->recorded.emplace(*record->measurement);
            }
        }
        for (const Timing& timing : script_.timings) {
            if (timing.trials.matches(kernel->problem_key, kernel->config_key)) {
                kernel->timing = &timing;
                kernel->compile.code_hash = content_hash(fmt::format("{} {} {}", kernel->config_key, timing.us, timing.copies));
                break;
            }
        }
        if (kernel->timing == nullptr && !kernel->recorded) {
            refuse_made_up_time(*kernel);
        }
        return kernel;
    }

    std::unique_ptr<Buffers> allocate(const Problem& problem, const BufferRequest& request) override {
        auto buffers = std::make_unique<ReplayBuffers>();
        buffers->problem = problem;
        buffers->problem_key = problem.key();
        wait_ms(script_.open_ms);
        faults_.play(Moment::open, buffers->problem_key, "");
        const std::int64_t one = tensor_bytes(problem);
        buffers->count = static_cast<int>(std::clamp<std::int64_t>((request.rotation_bytes + one - 1) / one, 1, 1 << 20));
        return buffers;
    }

    void run(const Kernel&, Buffers&, int, Workspace) override {}

    Verification verify(const Problem& problem, const Candidate& candidate, bool timed) {
        wait_ms(timed ? 0 : script_.verify_ms);
        const std::string problem_key = problem.key();
        const std::string config_key = candidate.identity();
        Verification verification;
        verification.passed = true;
        if (const ScriptedFault* fault = faults_.play(timed ? Moment::check : Moment::verify, problem_key, config_key)) {
            verification.passed = fault->kind != FaultKind::incorrect;
            verification.reason = verification.passed ? "" : fault->text;
        } else if (const Record* record = recorded(problem_key, config_key); record && record->verification) {
            verification = *record->verification;
        }
        return verification;
    }

    /// As recorded, else what the table of axes says of a GPU's kernels; of another provider's nothing is known.
    BitsCheck bits(const Problem& problem, const Candidate& candidate) const {
        if (const Record* record = recorded(problem.key(), candidate.identity()); record && record->bits) {
            return *record->bits;
        }
        const Configuration* own = candidate.configuration();
        return own == nullptr ? BitsCheck{"", "a script does not say it", "a script does not say it"}
                              : BitsCheck{content_hash(row_class(*own, Backend::replay)).substr(0, 16), "",
                                          varies_from_run_to_run(*own, problem, Backend::replay)};
    }

    SampleBatch sample(const Kernel* kernel, Buffers& buffers, const SampleRequest& request) override {
        const auto& replay_buffers = dynamic_cast<const ReplayBuffers&>(buffers);
        const auto* replay_kernel = dynamic_cast<const ReplayKernel*>(kernel);
        const Moment moment = request.kind == SampleKind::kernel ? Moment::measure
                              : request.kind == SampleKind::copy ? Moment::copy
                                                                 : Moment::empty;
        const std::string config_key = replay_kernel ? replay_kernel->config_key : std::string();
        wait_ms(script_.sample_ms);
        const ScriptedFault* fault = faults_.play(moment, replay_buffers.problem_key, config_key);
        if (replay_kernel && !replay_kernel->untimed.empty()) {
            throw DeviceError(DeviceFault::unsupported, replay_kernel->untimed);
        }
        SampleBatch batch;
        batch.timer = "replay";
        batch.rotation_bytes = buffers.rotation_bytes();
        Random random(mix_seed(script_.seed ^ request.seed, config_key));
        const Measurement* beside = moment == Moment::measure ? nullptr : recorded_beside(replay_buffers.problem_key);
        if (plays_record(replay_kernel)) {
            replay_kernel->recorded->begin_round(random);
            batch.launches_per_sample = replay_kernel->recorded->launches_per_sample();
        } else if (beside != nullptr) {
            batch.launches_per_sample = beside->launches_per_sample;
        }
        double spent_us = 0;
        while (batch.us.size() < static_cast<std::size_t>(request.samples) &&
               (batch.us.empty() || request.time_cap_us <= 0 || spent_us < request.time_cap_us)) {
            batch.us.push_back(next_us(replay_kernel, replay_buffers.problem, moment, beside, random));
            spent_us += batch.us.back() * batch.launches_per_sample;
        }
        if (fault != nullptr && fault->kind == FaultKind::throttle) {
            batch.throttle_reasons.push_back(fault->text);
        }
        if (fault != nullptr && fault->kind == FaultKind::bad_sample) {
            batch.us.back() = std::numeric_limits<double>::quiet_NaN();
        }
        return batch;
    }

private:
    const Record* recorded(const std::string& problem_key, const std::string& config_key) const {
        const auto found = by_trial_.find(problem_key + ' ' + config_key);
        return found == by_trial_.end() ? nullptr : found->second;
    }

    /// A made-up time would race against recorded ones. A trial that is recorded without one may still be pruned, or incorrect, as it was
    /// there: it fails where it would be measured.
    void refuse_made_up_time(ReplayKernel& kernel) const {
        const Record* record = recorded(kernel.problem_key, kernel.config_key);
        const bool beside = beside_.contains(kernel.problem_key);
        if (record == nullptr && beside) {
            throw DeviceError(DeviceFault::unsupported, "the recorded run has no such trial of this problem");
        }
        if (record != nullptr && (beside || record->outcome == Outcome::pruned)) {
            kernel.untimed = record->reason.empty() ? "the recorded run has no times of this trial" : record->reason;
        }
    }

    /// A recorded trial that failed fails again, the same way.
    static void fail_as(const Record& record) {
        switch (record.outcome) {
            case Outcome::unsupported:
                throw DeviceError(DeviceFault::unsupported, record.reason);
            case Outcome::compile_failed:
                throw DeviceError(DeviceFault::compile_failed, record.reason);
            case Outcome::launch_failed:
                throw DeviceError(DeviceFault::launch_failed, record.reason);
            case Outcome::out_of_memory:
                throw DeviceError(DeviceFault::out_of_memory, record.reason);
            case Outcome::crashed:
                std::abort();
            case Outcome::timed_out:
                ScriptedFaults::hang();
            case Outcome::passed:
            case Outcome::incorrect:
            case Outcome::pruned:
                break;
        }
    }

    double copy_us(const Problem& problem) const {
        return script_.copy_us > 0 ? script_.copy_us : static_cast<double>(least_bytes(problem)) / script_.copy_gbps / 1e3;
    }

    /// A measured record of the problem, for the copy's and the empty launch's times; null: none.
    const Measurement* recorded_beside(const std::string& problem_key) const {
        const auto found = beside_.find(problem_key);
        return found == beside_.end() ? nullptr : found->second;
    }

    static bool plays_record(const ReplayKernel* kernel) { return kernel != nullptr && kernel->timing == nullptr && kernel->recorded; }

    double next_us(const ReplayKernel* kernel, const Problem& problem, Moment moment, const Measurement* beside, Random& random) {
        const auto taken = static_cast<double>(samples_taken_++);
        const double drift = 1 + script_.drift_amplitude * std::sin(2 * std::numbers::pi * taken / script_.drift_period_samples);
        if (moment != Moment::measure) {
            const bool copy = moment == Moment::copy;
            const double as_recorded = beside == nullptr ? 0 : copy ? beside->limit_us : beside->floor_us;
            const double us = as_recorded > 0 ? as_recorded : copy ? copy_us(problem) : script_.empty_us;
            return us * drift * draw(script_.noise, random);
        }
        if (plays_record(kernel)) {
            return kernel->recorded->sample_us(random);
        }
        const Timing timing = kernel->timing != nullptr ? *kernel->timing : Timing{};
        if (!timing.samples_us.empty()) {
            const std::size_t turn = turns_[kernel->problem_key + ' ' + kernel->config_key]++;
            return timing.samples_us[turn % timing.samples_us.size()];
        }
        const double base = timing.us > 0 ? timing.us : timing.copies * copy_us(problem);
        Random own(mix_seed(script_.seed, kernel->config_key));
        return base * (1 + timing.spread * own.unit()) * drift * draw(timing.noise.value_or(script_.noise), random);
    }

    ReplayScript script_;
    ScriptedFaults faults_;
    Results recorded_;
    std::unordered_map<std::string, const Record*> by_trial_;
    std::unordered_map<std::string, const Measurement*> beside_;  // by problem
    std::unordered_map<std::string, std::size_t> turns_;
    std::uint64_t samples_taken_ = 0;
};

std::vector<DeviceReport> find(const std::string& script) {
    const ReplayScript played = load_replay_script(script);
    std::vector<DeviceReport> reports;
    for (int ordinal = 0; ordinal < played.devices; ++ordinal) {
        reports.push_back({Backend::replay, device_of(played, ordinal), ""});
    }
    return reports;
}

std::string kernels_text(const std::string& script) {
    const std::string yaml = read_file(script);
    const std::string recorded = parse_replay_script(yaml, script).recorded;
    return yaml + "\n" + (recorded.empty() ? "" : read_file(recorded));
}

}  // namespace

BackendRow replay_backend() {
    return {.backend = Backend::replay,
            .traits =
                [] {
                    return BackendTraits{Backend::replay, {}, {}};
                },
            .find = find,
            .describe = [](int ordinal, const std::string& script) { return device_of(load_replay_script(script), ordinal); },
            .open = [](int ordinal, const std::string& script) { return open_replay(script, ordinal); },
            .kernels = [](const DeviceInfo&, const std::string& script) { return kernels_text(script); },
            .is_listed = false,
            .verify = [](Device& device, const Problem& problem, const Candidate& candidate,
                         bool timed) { return dynamic_cast<ReplayDevice&>(device).verify(problem, candidate, timed); },
            .bits = [](const Device& device, const Problem& problem,
                       const Candidate& candidate) { return dynamic_cast<const ReplayDevice&>(device).bits(problem, candidate); }};
}

std::unique_ptr<Device> open_replay(const std::string& script, int ordinal) {
    return std::make_unique<ReplayDevice>(load_replay_script(script), ordinal);
}

}  // namespace normtune
