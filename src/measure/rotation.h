// Which buffer sets a sample's launches work on, and how many launches make a sample. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "space/device_info.h"

namespace normtune {

/// Bytes that the buffer sets of a cold run take: `over_cache` times the last-level cache; where that is 0, 32 times a GPU's L2, but no
/// more than an eighth of its memory where that is over four times the L2, and four times a CPU's cache. An L2 likely keeps, of a rotation
/// that is loaded and stored with streaming hints, lines that least recent use would have evicted (results/notes_gpu_kernels.md).
std::int64_t cold_rotation_bytes(const DeviceInfo& device, int over_cache);

/// What a timer's name has behind it where a cold run's buffer sets take another number than the device's own, whose times are not to be
/// compared: "/rotation4"; else nothing.
std::string rotation_mark(const DeviceInfo& device, int over_cache);

/// The launches of one sample: on set `first`, the next one, and so on, after the last set the first again.
struct Window {
    int first = 0;
    int launches = 1;
    friend bool operator==(const Window&, const Window&) = default;
};

/// Cuts the rotation over `sets` into windows of about `launches`, at most that many: sample i uses window i % count().
/// Over any number of samples, each set is used as often as any other, or once more. Where a sample has a launch for
/// every set it makes whole turns, so that none begins on the set that ended the last one.
class Windows {
public:
    Windows(int sets, int launches);
    int count() const { return count_; }
    Window operator[](std::int64_t sample) const;
    /// Of the longest window: they differ by one at most.
    int most_launches() const;
    /// Sets that are touched, at the least, from one use of a set to its next where kernels in turn take a sample each: one whose window is
    /// in the cache yet finds there what the last kernel has read.
    int least_between() const;
    /// How many sets so many samples have touched.
    int touched(std::int64_t samples) const;

private:
    int sets_;
    int launches_;
    int count_;
};

/// Launches that last about `sample_us` together, `most` at most. `expected_us` is what the problem and the device let
/// expect of one, `measured_us` what a first one took. That one is noisy, and a number of launches that differs from
/// run to run is another measurement: only where it took four times as long, or sixteen, … does it count.
int launches_per_sample(double sample_us, double expected_us, double measured_us, int most);

}  // namespace normtune
