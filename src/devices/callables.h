// Kernels that others launch: code of this process that queues an op on a stream, a Python worker's providers (docs/providers.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "devices/device.h"

namespace normtune {

/// Where a launch finds its tensors, by TensorRole; 0: the problem has none such.
using TensorAddresses = std::array<std::uint64_t, tensor_names.names.size()>;

/// A candidate on a problem. `stream` is the vendor's handle, null on a CPU. All throw DeviceError.
class Callable {
public:
    virtual ~Callable() = default;
    /// Makes a launch on these tensors ready; it may allocate, compile, launch and wait.
    virtual void bind(const TensorAddresses& tensors, void* stream) = 0;
    /// Queues the op on tensors that are bound. `graph`: the launch becomes a part of that captured graph.
    virtual void launch(const TensorAddresses& tensors, std::optional<int> graph, void* stream) = 0;
    /// Of outputs that the callable has in memory of its own: the latest launch's take what lies in the tensors (`fetch` false), or are
    /// brought there.
    virtual void exchange(const TensorAddresses& tensors, std::optional<int> graph, bool fetch, void* stream) = 0;
};

class CallableSource {
public:
    virtual ~CallableSource() = default;
    /// Throws DeviceError.
    virtual std::unique_ptr<Callable> prepare(const Problem& problem, const LaunchManifest& manifest, const DeviceInfo& device) = 0;
};

/// This process's, set before a device is opened; none by default.
void set_callable_source(CallableSource* source);

/// Is the candidate a Python provider's?
bool is_callable(const Candidate& candidate);
/// Throws DeviceError: unsupported where this process has no source of them.
std::unique_ptr<Callable> prepare_callable(const Problem& problem, const Candidate& candidate, const DeviceInfo& device);

}  // namespace normtune
