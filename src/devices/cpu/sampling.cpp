#include "devices/cpu/sampling.h"

#include <algorithm>
#include <chrono>

#include "measure/rotation.h"

namespace normtune::cpu {

namespace {

/// Below this a launch is too short for the clock (about 25 ns a reading) and for one odd interrupt: several are timed.
constexpr double least_sample_us = 20;
constexpr int most_launches = 256;

class Stopwatch {
public:
    double us() const { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// One timed batch of launches over the rotation.
template <class Launch>
double batch_us(int launches, const Launch& launch) {
    const Stopwatch watch;
    for (int i = 0; i < launches; ++i) {
        launch();
    }
    return watch.us();
}

}  // namespace

namespace {

/// How many launches last about as long as the clock needs.
int launches_of(const CpuBuffers& buffers, int threads, double measured_us) {
    // A core moves about 10 GB/s, and a launch takes about 3 µs: what is expected need not be more exact.
    const double expected_us = 3 + static_cast<double>(least_bytes(buffers.problem())) / (1e4 * threads);
    return launches_per_sample(least_sample_us, expected_us, measured_us, most_launches);
}

/// The least median of some samples each, in turns, as rounds will have it: neither an interruption chooses, nor a moment in which a copy
/// by all threads was alone on a busy machine.
CopyMethod fastest_copy(Team& team, CpuBuffers& buffers) {
    constexpr int most_turns = 24;
    constexpr double enough_us = 40'000;  // of all turns, where there are a few of them
    const std::vector<CopyMethod> methods = buffers.copies().methods(team.size());
    std::vector<std::vector<double>> samples_us(methods.size());
    const int launches = launches_of(buffers, team.size(), 0);
    double spent_us = 0;
    for (int turn = 0; turn < 3 || (turn < most_turns && spent_us < enough_us); ++turn) {
        for (std::size_t i = 0; i < methods.size(); ++i) {
            const double us = batch_us(launches, [&] { buffers.copies().launch(team, buffers.pointers(buffers.next_set()), methods[i]); });
            spent_us += us;
            if (turn > 0) {  // the first one warms up
                samples_us[i].push_back(us);
            }
        }
    }
    const auto lower_median = [](std::vector<double>& us) {
        const auto middle = us.begin() + static_cast<std::ptrdiff_t>((us.size() - 1) / 2);
        std::nth_element(us.begin(), middle, us.end());
        return *middle;
    };
    return methods[static_cast<std::size_t>(std::ranges::min_element(samples_us, {}, lower_median) - samples_us.begin())];
}

}  // namespace

SampleBatch take_samples(CpuBuffers& buffers, const SampleRequest& request, int threads, const Launching& launching) {
    buffers.start_rotation(request.seed);
    const bool wears = buffers.problem().operation.in_place;
    int worn_set = -1;
    const auto launch = [&] {
        const int set = request.cold ? buffers.next_set() : 0;
        launching.launch(set);
        worn_set = request.kind == SampleKind::kernel && buffers.wears_out(set) ? set : worn_set;
    };
    const auto mend = [&] {
        if (worn_set >= 0) {
            launching.restore(worn_set);
            worn_set = -1;
        }
    };
    const auto prepare = [&](int launches) {
        if (launching.prepare) {
            launching.prepare(request.cold ? buffers.upcoming_set() : 0, request.cold ? launches : 1);
        }
    };
    prepare(1);
    // The first launch wakes the threads and says how many make a sample. One that seems long may have been interrupted: it is asked again.
    const int usual_launches = launches_of(buffers, threads, 0);
    double launch_us = batch_us(1, launch);
    mend();
    for (int again = 0; again < 2 && !wears && launches_of(buffers, threads, launch_us) < usual_launches; ++again) {
        prepare(1);
        launch_us = std::min(launch_us, batch_us(1, launch));
    }
    SampleBatch batch;
    batch.timer = "steady_clock";
    batch.launches_per_sample = wears ? 1 : launches_of(buffers, threads, launch_us);
    // An interruption of some milliseconds is no launch's time: it does not use up that of the samples which outvote it, and where one may
    // be all that was seen there are three.
    const double expected_us = launch_us * batch.launches_per_sample;
    std::size_t least_samples = !wears && batch.launches_per_sample < usual_launches ? 3 : 1;
    double spent_us = 0;
    for (int i = 0; i < std::max(1, request.samples); ++i) {
        prepare(batch.launches_per_sample);
        const double us = batch_us(batch.launches_per_sample, launch);
        mend();
        batch.us.push_back(us / batch.launches_per_sample);
        const bool interrupted = us >= 4 * expected_us;
        least_samples = interrupted ? 3 : least_samples;
        spent_us += interrupted ? expected_us : us;
        if (request.time_cap_us > 0 && spent_us >= request.time_cap_us && batch.us.size() >= least_samples) {
            break;
        }
    }
    batch.rotation_bytes = request.cold ? buffers.touched_bytes() : buffers.rotation_bytes() / buffers.sets();
    return batch;
}

SampleBatch take_samples(Team& team, CpuKernel* kernel, CpuBuffers& buffers, const SampleRequest& request) {
    buffers.start_rotation(request.seed);
    if (request.kind == SampleKind::copy && !buffers.copy_method) {
        buffers.copy_method = fastest_copy(team, buffers);
    }
    auto nothing = [](int) {};
    const auto launch = [&](int set) {
        switch (request.kind) {
            case SampleKind::kernel:
                kernel->launch(team, buffers.pointers(set));
                break;
            case SampleKind::copy:
                buffers.copies().launch(team, buffers.pointers(set), *buffers.copy_method);
                break;
            case SampleKind::empty:
                team.fork(nothing);
                break;
        }
    };
    SampleBatch batch = take_samples(buffers, request, team.size(), {launch, [&](int set) { buffers.restore(team, set); }});
    batch.copy = request.kind == SampleKind::copy ? buffers.copy_method->text() : "";
    return batch;
}

}  // namespace normtune::cpu
