// The limit: the fastest copy of the signals that a problem's kernels read and write.
#pragma once

#include <functional>
#include <limits>
#include <list>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "devices/compile/compile_pool.h"
#include "devices/gpu/gpu_buffers.h"
#include "devices/gpu/gpu_timer.h"
#include "devices/gpu/toolchain.h"
#include "devices/gpu/utility_kernels.h"
#include "measure/traffic.h"
#include "space/device_info.h"

namespace normtune::gpu {

/// How a copy is done; the geometry is the same in all passes.
struct CopyMethod {
    int vector_bytes = 16;
    int unroll = 4;             // vectors of each stream in flight a thread
    int block = 512;            // threads of a program
    int programs_per_unit = 0;  // persistent ones; 0: one for each piece of block · unroll vectors
    std::string hint = "default";
    bool staged = false;     // by way of shared memory, the next pieces' copies in flight
    bool by_driver = false;  // its own copy: none of the rest

    /// Of copy_source; the driver's has none. `whole`: the vectors of a stream are a multiple of block · unroll.
    std::string kernel(bool whole = false) const;
    CopyPart part() const;     // that has the kernel
    std::string text() const;  // "v16.u4.t512.p2.streaming", "v16.u8.t128.p4.staged.default", "driver"
    friend bool operator==(const CopyMethod&, const CopyMethod&) = default;
};

class CopyLimit {
public:
    /// How copies are compared with each other.
    struct Timing {
        std::function<double(const Enqueue&)> glance_us;  // of a launch, by a short look
        std::function<double(Rotation&)> sample_us;       // of a launch, as the limit will be measured
    };

    /// `dependent`: each copy is launched while the one ahead still runs, and waits for its end.
    CopyLimit(const Driver& driver, const Toolchain& toolchain, const DeviceInfo& device, bool dependent)
        : driver_(driver), toolchain_(toolchain), device_(device), dependent_(dependent) {}

    /// Begins to compile what the problem's copies need.
    void compile_ahead(const Problem& problem) const;
    /// The rotation of the fastest copy over these buffers. `size` as the kernels' of the same request. Which copy is the
    /// fastest is found by a short race, once for all problems of the same traffic; where a few are left, each call samples them
    /// once: a launch's own time changes within a sweep, and not by the same for all of them. Where that matters little, as copies
    /// are long, the slower leave after some calls.
    Rotation& rotation(const GpuBuffers& buffers, const RotationSize& size, const Timing& timing);
    /// Of the latest rotation: CopyMethod::text(), with ".dependent" where copies are launched so.
    const std::string& method() const { return method_; }
    /// Before other buffers are made, which may lie where the old ones did.
    void forget() { copies_.clear(); }

private:
    using Traffic = std::vector<PassTraffic>;
    SourceText source(const PassTraffic& pass, CopyPart part) const;
    Function function_of(const PassTraffic& pass, const CopyMethod& method, bool whole);
    Enqueue copy_with(const CopyMethod& method, const Traffic& traffic, const GpuBuffers& buffers);
    /// A method that each round samples.
    struct Kept {
        CopyMethod method;
        double least_us = std::numeric_limits<double>::infinity();  // of its samples
        int samples = 0;
    };
    struct Copy {
        std::list<Kept>* among;
        std::list<Kept>::iterator kept;
        Rotation rotation;
    };
    /// Of each way (by registers, staged, the driver's) a few that are near the best.
    std::list<Kept> foremost(const Traffic& traffic, const GpuBuffers& buffers, const RotationSize& size, const Timing& timing);
    /// For good, but never `fastest`, the latest round's.
    void drop_slower(const Copy& fastest);

    const Driver& driver_;
    const Toolchain& toolchain_;
    const DeviceInfo& device_;
    bool dependent_;
    std::map<std::tuple<std::size_t, std::size_t, CopyPart>, OwnedModule> modules_;  // by streams that are read and written
    std::map<std::tuple<Traffic, std::int64_t, bool>, std::list<Kept>> known_;       // by traffic, bytes of a signal, cold
    std::list<Copy> copies_;
    std::string method_;
    DevicePointer buffers_ = 0;
    RotationSize size_;
};

}  // namespace normtune::gpu
