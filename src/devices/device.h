// The one interface between normtune and a device. A Device lives in a worker process and is used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "measure/rotation.h"
#include "problem/problem.h"
#include "space/device_info.h"
#include "trial/candidate.h"
#include "trial/compile_info.h"
#include "trial/sample_batch.h"
#include "trial/verification.h"

namespace normtune {

/// Why a device could not do what was asked; the worker turns each into its outcome, never by reading the text.
enum class DeviceFault { unsupported, compile_failed, launch_failed, out_of_memory };

class DeviceError : public std::runtime_error {
public:
    DeviceError(DeviceFault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
    DeviceFault fault() const { return fault_; }

private:
    DeviceFault fault_;
};

/// A candidate made ready for one problem; it runs on buffers of that problem only.
class Kernel {
public:
    virtual ~Kernel() = default;
    virtual const CompileInfo& info() const = 0;
};

/// Buffer sets of one problem on the device. Sets are numbered from 0; each has all of the problem's tensors, apart
/// from those marked shared: gamma is one tensor for all sets (weights stay in cache in use, too).
class Buffers {
public:
    virtual ~Buffers() = default;
    virtual int sets() const = 0;
    virtual std::int64_t rotation_bytes() const = 0;  // all sets together
    /// `bytes` is exactly Tensor::span_bytes() of that tensor (rows at row_stride, gaps included).
    virtual void upload(TensorRole role, int set, std::span<const std::byte> bytes) = 0;
    virtual void download(TensorRole role, int set, std::span<std::byte> bytes) const = 0;
    /// Fills the whole span of a tensor with `word`, little-endian, again and again; `bytes` is its span_bytes().
    virtual void fill(TensorRole role, int set, std::uint32_t word, std::int64_t bytes);
    /// In front of each tensor and behind it lie so many bytes which belong to no tensor (BufferRequest::guard_bytes).
    virtual std::int64_t guard_bytes() const { return 0; }
    /// They are the tensor's guard: as fill and download, first the guard_bytes() in front of it, then as many behind it.
    virtual void fill_guard(TensorRole /*role*/, int /*set*/, std::uint32_t /*word*/) {}
    virtual void download_guard(TensorRole /*role*/, int /*set*/, std::span<std::byte> /*bytes*/) const {}
    /// Where the tensor lies for a DeviceProgram; 0: the problem has none such, or the device no programs.
    virtual std::uint64_t address(TensorRole /*role*/, int /*set*/) const { return 0; }
};

/// Memory of a DeviceProgram.
class DeviceMemory {
public:
    virtual ~DeviceMemory() = default;
    virtual std::uint64_t address() const = 0;
    /// From its start. Throw DeviceError: launch_failed.
    virtual void write(std::span<const std::byte> bytes) = 0;
    virtual void read(std::span<std::byte> bytes) const = 0;
};

/// Code that needs no vendor's header, in parts that are compiled side by side, each behind `common`.
struct ProgramSource {
    std::string_view common;
    std::vector<std::string_view> parts;
};

/// Code that is none of the op's, on the device: verification compares there what lies there.
class DeviceProgram {
public:
    virtual ~DeviceProgram() = default;
    /// Throws DeviceError: out_of_memory.
    virtual std::unique_ptr<DeviceMemory> allocate(std::int64_t bytes) = 0;
    /// Queues a launch of `programs` with 256 threads each; reads of memory wait for it. Each argument takes eight bytes.
    /// Throws DeviceError: launch_failed.
    virtual void launch(const char* kernel, std::int64_t programs, std::span<const std::uint64_t> arguments) = 0;
};

/// The workspace that a launch finds: zeros, as before the first launch ever, or what the launch before it left.
enum class Workspace { cleared, as_left };

struct BufferRequest {
    std::int64_t rotation_bytes = 0;  // sets are added until inputs and outputs together take this much; 0: one set
    std::uint64_t seed = 0;           // inputs are drawn from it: N(0,1), gamma 1 + 0.1·N(0,1) (less the offset)
    std::int64_t guard_bytes = 0;     // in front of each tensor and behind it, a multiple of 512; 0 where times are taken
};

enum class SampleKind { kernel, copy, empty };

/// How the device is to take samples. One sample is the device time of one launch (or the mean over a batch of
/// launches that rotate over the sets where one is too short for the timer).
struct SampleRequest {
    SampleKind kind = SampleKind::kernel;
    bool cold = true;  // rotate over all sets; false (hot): set 0 only
    int samples = 10;
    double time_cap_us = 0;  // stop early once this much device time is spent, after at least one sample; 0: no cap
    std::uint64_t seed = 0;  // start of the rotation
    int examined = -1;       // a set whose outputs are looked at afterwards: a kernel that has them elsewhere brings them into the buffers
    bool dependent = false;  // copy and empty: launched as a kernel with dependent_launch is
};

/// The candidate's configuration, for a device that runs normtune's own kernels alone. Throws DeviceError: unsupported.
const Configuration& own_configuration(const Candidate& candidate);

/// Fills `bytes` with `word`, little-endian, again and again.
void repeat_word(std::uint32_t word, std::span<std::byte> bytes);

class Device {
public:
    virtual ~Device() = default;
    virtual const DeviceInfo& info() const = 0;
    /// Throws DeviceError: unsupported, compile_failed.
    virtual std::unique_ptr<Kernel> compile(const Problem& problem, const Candidate& candidate) = 0;
    /// A hint that compile will be asked for this soon: a device with a run-time compiler starts it in the background.
    /// Never fails; what does not compile is told by compile.
    virtual void compile_ahead(const Problem& /*problem*/, const Candidate& /*candidate*/) {}
    /// Throws DeviceError: out_of_memory (nothing is left allocated).
    virtual std::unique_ptr<Buffers> allocate(const Problem& problem, const BufferRequest& request) = 0;
    /// Host memory that downloads are fast into; it lasts until the next call.
    virtual std::span<std::byte> staging(std::size_t bytes);
    /// One launch on one set, finished on return. Throws DeviceError: launch_failed, out_of_memory.
    virtual void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) = 0;
    /// kind copy: the fastest copy of the problem's signals (measure/traffic.h), over the same rotation, which leaves inputs
    /// as they are and outputs not; kind empty: a launch of nothing. `kernel` is null for both.
    virtual SampleBatch sample(const Kernel* kernel, Buffers& buffers, const SampleRequest& request) = 0;
    /// Sets that the next sample of a kernel launches on.
    virtual Window next_window(const Kernel& /*kernel*/, const Buffers& /*buffers*/, bool /*cold*/) const { return {}; }
    /// Compiles and loads. Null: the device has no memory of its own, and outputs are compared on the host. Throws DeviceError:
    /// compile_failed.
    virtual std::unique_ptr<DeviceProgram> load(const ProgramSource& /*source*/) { return nullptr; }
    /// To load as compile_ahead is to compile.
    virtual void load_ahead(const ProgramSource& /*source*/) {}

private:
    std::vector<std::byte> staging_;  // grows and stays: a vector that is resized to and fro clears its bytes each time
};

}  // namespace normtune
