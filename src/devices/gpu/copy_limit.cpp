#include "devices/gpu/copy_limit.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "devices/gpu/gpu_kernel.h"
#include "devices/gpu/utility_kernels.h"
#include "kernels/gpu/limits.h"

namespace normtune::gpu {

namespace {

constexpr std::size_t most_reads = 3;
constexpr std::size_t most_writes = 2;
constexpr int most_vectors_in_flight = 16;      // a thread: beyond, registers run out
constexpr int most_vectors_of_program = 8192;   // of 1024 threads eight, 64 registers (NVRTC 13.0): beyond it cannot be launched
constexpr int unasked_shared_bytes = 48 << 10;  // of a program: more takes the driver's leave
constexpr std::int64_t small_bytes = 1 << 20;   // a stream of them has few 16-byte vectors a compute unit
// Of those that glances leave: long ones of different kernels are nearer to each other than a glance can tell.
constexpr std::size_t most_sampled = 12;
constexpr std::size_t most_sampled_small = 10;  // of small_bytes and less
constexpr std::size_t most_sampled_long = 20;   // from short_us on
constexpr std::ptrdiff_t most_of_kernel = 3;    // in several geometries
constexpr int race_samples = 2;
constexpr double short_us = 12;  // below it a launch's own time, which moves by 0.2 us, decides
constexpr double near_ratio = 1.1;
// Kept of each way, by registers and by shared memory, as few samples may flatter one: long ones of different kernels, as geometries
// of one kernel differ by less than kernels do.
constexpr std::ptrdiff_t kept = 3;
constexpr std::ptrdiff_t kept_of_short = 3;  // and the driver's
// Of the long ones that are kept, the slower leave after so many samples each.
constexpr int samples_of_kept = 4;
constexpr double slower_ratio = 1.01;

/// The argument of the kernels of copy_source.
struct Streams {
    std::array<DevicePointer, most_reads> in{};
    std::array<DevicePointer, most_writes> out{};
    long long vectors = 0;
};

struct Tried {
    CopyMethod method;
    double us = std::numeric_limits<double>::infinity();
};

bool in_pieces(const Tried& tried) {
    return tried.method.programs_per_unit == 0;
}

/// Programs of `block` threads that a compute unit holds at once.
int resident(int block, const DeviceInfo& device) {
    return std::max(1, device.threads_per_compute_unit / block);
}

/// Of a program that reads `reads` streams.
int shared_bytes(const CopyMethod& method, std::size_t reads) {
    return method.staged ? method.vector_bytes * method.block * method.unroll * copy_stages * static_cast<int>(reads) : 0;
}

/// Vectors in flight, sizes of a program, one program a piece or as many as are resident.
std::vector<CopyMethod> geometries(std::size_t reads, const DeviceInfo& device) {
    std::vector<CopyMethod> out;
    for (const int unroll : {1, 2, 4, 8}) {
        for (const int block : {128, 512}) {
            for (const int programs_per_unit : {0, resident(block, device)}) {
                if (unroll * static_cast<int>(reads) <= most_vectors_in_flight) {
                    out.push_back({.unroll = unroll, .block = block, .programs_per_unit = programs_per_unit});
                }
            }
        }
    }
    return out;
}

/// Those that leave what they read in the L2 for longer than what they write.
constexpr std::array<const char*, 2> kept_reads{"evict_last", "evict_last_streaming_stores"};

/// Few programs a unit, each with many bytes in flight; small programs, as of a row each; the driver's.
std::vector<CopyMethod> further(std::size_t reads, std::int64_t bytes, const DeviceInfo& device, bool driver_too) {
    std::vector<CopyMethod> out;
    const auto in_flight = [&](int unroll) { return unroll * static_cast<int>(reads) <= most_vectors_in_flight; };
    for (const int block : {128, 256}) {
        for (const int unroll : {4, 8}) {
            for (const char* hint : {"default", "streaming"}) {
                if (in_flight(unroll)) {
                    out.push_back({.unroll = unroll, .block = block, .programs_per_unit = 4, .hint = hint});
                }
            }
        }
    }
    for (const int block : {32, 64, 128}) {
        for (const int unroll : {2, 4, 8}) {
            if (in_flight(unroll)) {
                out.push_back({.unroll = unroll, .block = block, .programs_per_unit = 0, .hint = "streaming"});
            }
        }
    }
    for (const auto& [unroll, block] : {std::pair(2, 512), std::pair(4, 128), std::pair(4, 256), std::pair(8, 128)}) {
        for (const int programs_per_unit : {0, resident(block, device)}) {
            for (const char* hint : kept_reads) {
                if (bytes > small_bytes && has_l2_policies(device) && in_flight(unroll)) {
                    out.push_back({.unroll = unroll, .block = block, .programs_per_unit = programs_per_unit, .hint = hint});
                }
            }
        }
    }
    constexpr std::array<std::pair<int, int>, 7> together{{{2, 64}, {4, 64}, {1, 128}, {2, 128}, {3, 128}, {4, 128}, {2, 256}}};
    for (const auto& [unroll, block] : together) {
        for (const std::string_view hint :
             {"together", "together_default", "together_evict_last", "late", "late_default", "late_evict_last"}) {
            const bool is_there = !hint.ends_with("evict_last") || (bytes > small_bytes && has_l2_policies(device));
            if (is_there && (bytes > small_bytes || hint.starts_with("together"))) {
                out.push_back({.unroll = unroll, .block = block, .programs_per_unit = 0, .hint = std::string(hint)});
            }
        }
    }
    // Four programs a unit of up to 48 KiB each, or two of up to half of its shared memory; the two largest of these, as the largest has
    // all of a few megabytes in flight at once, and nothing behind it.
    const auto staged = [&](int block, int programs_per_unit, std::int64_t most_bytes, int kinds) {
        CopyMethod method{.block = block, .programs_per_unit = programs_per_unit, .staged = true};
        for (const int unroll : {8, 4, 2}) {
            method.unroll = unroll;
            if (!device.has_async_copy || kinds == 0 || shared_bytes(method, reads) > most_bytes) {
                continue;
            }
            for (const char* hint : {"default", "streaming"}) {
                method.hint = hint;
                out.push_back(method);
            }
            if (bytes > small_bytes) {  // what copies asynchronously has policies for the L2
                method.hint = "evict_last_streaming_stores";
                out.push_back(method);
            }
            --kinds;
        }
    };
    for (const int block : {128, 256}) {
        staged(block, 4, unasked_shared_bytes, 1);
        staged(block, 2, device.shared_bytes_per_program / 2, bytes > small_bytes ? 2 : 0);
    }
    if (driver_too) {
        out.push_back({.by_driver = true});
    }
    return out;
}

/// What may still be better than the best geometry of its kind, and can be launched.
std::vector<CopyMethod> variations(const CopyMethod& best, std::size_t reads, std::int64_t bytes, const DeviceInfo& device) {
    std::vector<CopyMethod> out;
    const auto vary = [&](auto change) {
        CopyMethod method = best;
        change(method);
        if (method.block * method.unroll * static_cast<int>(reads) <= most_vectors_of_program) {
            out.push_back(method);
        }
    };
    for (const char* hint : {"streaming", "streaming_stores", "cache_global"}) {
        vary([&](CopyMethod& m) { m.hint = hint; });
    }
    for (const int block : {256, 1024}) {
        vary([&](CopyMethod& m) {
            m.block = block;
            m.programs_per_unit = best.programs_per_unit == 0 ? 0 : resident(block, device);
        });
    }
    for (const int programs : {1, resident(best.block, device) / 2}) {
        if (best.programs_per_unit > 0 && programs > 0) {
            vary([&](CopyMethod& m) { m.programs_per_unit = programs; });
        }
    }
    for (const int vector_bytes : {4, 8}) {
        for (const int unroll : {1, 4}) {
            if (bytes <= small_bytes) {
                vary([&](CopyMethod& m) {
                    m.vector_bytes = vector_bytes;
                    m.unroll = unroll;
                });
            }
        }
    }
    return out;
}

}  // namespace

std::string CopyMethod::kernel(bool whole) const {
    if (by_driver) {
        return "";
    }
    if (staged) {
        return fmt::format("nt_copy_staged_{}_{}", unroll, hint);
    }
    return fmt::format("nt_copy_{}_{}_{}{}", vector_bytes, unroll, hint, whole && programs_per_unit == 0 ? "_whole" : "");
}

CopyPart CopyMethod::part() const {
    if (staged) {
        return CopyPart::staged;
    }
    if (hint.starts_with("late")) {
        return CopyPart::late;
    }
    return hint.starts_with("together") || vector_bytes < 16 ? CopyPart::together_or_narrow : CopyPart::plain;
}

std::string CopyMethod::text() const {
    const std::string programs = programs_per_unit == 0 ? "pieces" : fmt::format("p{}", programs_per_unit);
    return by_driver ? "driver" : fmt::format("v{}.u{}.t{}.{}.{}{}", vector_bytes, unroll, block, programs, staged ? "staged." : "", hint);
}

SourceText CopyLimit::source(const PassTraffic& pass, CopyPart part) const {
    return SourceText(copy_source(pass.reads.size(), pass.writes.size(), dependent_, part));
}

void CopyLimit::compile_ahead(const Problem& problem) const {
    const bool is_small = signal_bytes(problem) <= small_bytes;
    for (const PassTraffic& pass : signal_traffic(problem)) {
        for (const CopyPart part : {CopyPart::plain, CopyPart::together_or_narrow, CopyPart::late, CopyPart::staged}) {
            const bool is_tried = part == CopyPart::staged ? device_.has_async_copy : part != CopyPart::late || !is_small;
            if (is_tried) {
                toolchain_.pool->ahead(toolchain_.options, source(pass, part));
            }
        }
    }
}

Function CopyLimit::function_of(const PassTraffic& pass, const CopyMethod& method, bool whole) {
    const std::tuple key(pass.reads.size(), pass.writes.size(), method.part());
    auto found = modules_.find(key);
    if (found == modules_.end()) {
        const auto compiled = toolchain_.pool->get(toolchain_.options, source(pass, method.part()));
        found = modules_.emplace(key, load_module(driver_, compiled->code.image.data())).first;
    }
    return gpu::function_of(driver_, found->second, method.kernel(whole).c_str());
}

Enqueue CopyLimit::copy_with(const CopyMethod& method, const Traffic& traffic, const GpuBuffers& buffers) {
    const std::int64_t bytes = signal_bytes(buffers.problem());
    if (method.by_driver) {
        return [this, bytes, &buffers, from = traffic.front().reads.front(), to = traffic.front().writes.front()](int set, Stream stream) {
            check(
                driver_,
                driver_.copy_on_device_async(buffers.pointer(to, set), buffers.pointer(from, set), static_cast<std::size_t>(bytes), stream),
                DeviceFault::launch_failed, "copying");
        };
    }
    const std::int64_t vectors = std::max<std::int64_t>(1, bytes / method.vector_bytes);
    const std::int64_t piece = std::int64_t{method.block} * method.unroll;
    const std::int64_t pieces = (vectors + piece - 1) / piece;
    const std::int64_t programs = method.programs_per_unit == 0
                                      ? pieces
                                      : std::min<std::int64_t>(pieces, std::int64_t{device_.compute_units} * method.programs_per_unit);
    std::vector<std::pair<PassTraffic, Function>> launches;
    for (const PassTraffic& pass : traffic) {
        launches.emplace_back(pass, function_of(pass, method, vectors % piece == 0));
        if (const int bytes_of_program = shared_bytes(method, pass.reads.size()); bytes_of_program > unasked_shared_bytes) {
            check(driver_, driver_.function_allow_shared(launches.back().second, bytes_of_program), DeviceFault::launch_failed,
                  "asking for a copy's shared memory");
        }
    }
    return [this, launches = std::move(launches), vectors, programs, method, &buffers](int set, Stream stream) {
        for (const auto& [pass, function] : launches) {
            Streams streams;
            streams.vectors = vectors;
            const auto pointer = [&](TensorRole role) { return buffers.pointer(role, set); };
            std::transform(pass.reads.begin(), pass.reads.end(), streams.in.begin(), pointer);
            std::transform(pass.writes.begin(), pass.writes.end(), streams.out.begin(), pointer);
            std::array<void*, 1> arguments{&streams};
            launch_plain(driver_, function, programs, method.block, arguments.data(), stream, dependent_,
                         shared_bytes(method, pass.reads.size()));
        }
    };
}

/// A glance at each: geometries first, then others, and hints and the like for the best geometry of each kind. Of the foremost
/// the least of some samples counts, taken as the limit's will be.
std::list<CopyLimit::Kept> CopyLimit::foremost(const Traffic& traffic, const GpuBuffers& buffers, const RotationSize& size,
                                               const Timing& timing) {
    std::vector<Tried> tried;
    const auto glance = [&](const CopyMethod& method) { return timing.glance_us(copy_with(method, traffic, buffers)); };
    const auto enter = [&](const std::vector<CopyMethod>& methods) {
        for (const CopyMethod& method : methods) {
            if (std::ranges::find(tried, method, &Tried::method) == tried.end()) {
                tried.push_back({method, glance(method)});
            }
        }
        std::ranges::sort(tried, {}, &Tried::us);
    };
    std::size_t reads = 0;
    for (const PassTraffic& pass : traffic) {
        reads = std::max(reads, pass.reads.size());
    }
    const PassTraffic& first = traffic.front();
    const bool plain = traffic.size() == 1 && first.reads.size() == 1 && first.writes.size() == 1 && !first.in_place && !dependent_;
    const std::int64_t bytes = signal_bytes(buffers.problem());
    const std::vector<CopyMethod> all = geometries(reads, device_);
    glance(all.front());  // the first launch of all is slow
    enter(all);
    const std::array best_of_each{std::ranges::find_if(tried, in_pieces)->method, std::ranges::find_if_not(tried, in_pieces)->method};
    for (const CopyMethod& best : best_of_each) {
        enter(variations(best, reads, bytes, device_));
    }
    enter(further(reads, bytes, device_, plain));
    const bool is_small = bytes <= small_bytes;
    const bool is_long = tried.front().us >= short_us;
    const std::size_t sampled = is_small ? most_sampled_small : is_long ? most_sampled_long : most_sampled;
    const int glances = is_long ? 3 : is_small ? 1 : 2;  // one has few launches of a long copy
    for (int again = 1; again < glances; ++again) {
        std::for_each_n(tried.begin(), std::min(2 * sampled, tried.size()),
                        [&](Tried& one) { one.us = std::min(one.us, glance(one.method)); });
        std::ranges::sort(tried, {}, &Tried::us);
    }
    std::vector<Tried> near;
    for (const Tried& one : tried) {
        const auto alike = std::ranges::count_if(near, [&](const Tried& other) { return other.method.kernel() == one.method.kernel(); });
        const bool is_near = one.us < near_ratio * tried.front().us && near.size() < sampled && alike < most_of_kernel;
        if (is_near || (one.method.by_driver && tried.front().us < short_us)) {
            near.push_back(one);
        }
    }
    for (Tried& one : near) {
        Rotation rotation(driver_, copy_with(one.method, traffic, buffers), size);
        one.us = std::numeric_limits<double>::infinity();
        for (int sample = 0; sample < race_samples; ++sample) {
            one.us = std::min(one.us, timing.sample_us(rotation));
        }
    }
    std::ranges::sort(near, {}, &Tried::us);
    const Tried& best = near.front();
    const bool is_short = best.us < short_us;
    std::list<Kept> out;
    for (const Tried& one : near) {
        const auto count = [&](auto is_alike) { return std::ranges::count_if(out, is_alike, &Kept::method); };
        const auto of_way =
            count([&](const CopyMethod& m) { return m.staged == one.method.staged && m.by_driver == one.method.by_driver; });
        const auto of_kernel = count([&](const CopyMethod& m) { return m.kernel() == one.method.kernel(); });
        const bool is_near = one.us < near_ratio * best.us;
        if (is_short ? is_near ? of_way < kept_of_short : one.method.by_driver : is_near && of_way < kept && of_kernel == 0) {
            out.push_back({one.method});
        }
    }
    return out;
}

Rotation& CopyLimit::rotation(const GpuBuffers& buffers, const RotationSize& size, const Timing& timing) {
    const DevicePointer place = buffers.pointer(TensorRole::x, 0);
    if (copies_.empty() || buffers_ != place || size_ != size) {
        const Traffic traffic = signal_traffic(buffers.problem());
        const std::tuple key(traffic, signal_bytes(buffers.problem()), size.cache_bytes > 0);
        auto known = known_.find(key);
        if (known == known_.end()) {
            known = known_.emplace(key, foremost(traffic, buffers, size, timing)).first;
        }
        copies_.clear();
        for (auto kept = known->second.begin(); kept != known->second.end(); ++kept) {
            copies_.push_back({&known->second, kept, Rotation(driver_, copy_with(kept->method, traffic, buffers), size)});
        }
        buffers_ = place;
        size_ = size;
    }
    Copy* fastest = &copies_.front();
    if (copies_.size() > 1) {
        double least_us = std::numeric_limits<double>::infinity();
        for (Copy& copy : copies_) {
            const double us = timing.sample_us(copy.rotation);
            copy.kept->least_us = std::min(copy.kept->least_us, us);
            ++copy.kept->samples;
            if (us < least_us) {
                least_us = us;
                fastest = &copy;
            }
        }
        drop_slower(*fastest);
    }
    method_ = fastest->kept->method.text() + (dependent_ ? ".dependent" : "");
    return fastest->rotation;
}

void CopyLimit::drop_slower(const Copy& fastest) {
    const auto least_us = [](const Copy& copy) { return copy.kept->least_us; };
    const double best_us = least_us(*std::ranges::min_element(copies_, {}, least_us));
    if (best_us < short_us) {
        return;
    }
    for (auto copy = copies_.begin(); copy != copies_.end();) {
        const auto here = copy++;
        if (&*here != &fastest && here->kept->samples >= samples_of_kept && here->kept->least_us > slower_ratio * best_us) {
            here->among->erase(here->kept);
            copies_.erase(here);
        }
    }
}

}  // namespace normtune::gpu
