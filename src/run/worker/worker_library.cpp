// The worker as a shared library: a Python process is the worker, and brings kernels of its own. Plain C, for ctypes
// (python/normtune_provider/worker.py); the functions that Python hands over answer 0, or a fault and in `why` one line about it.
#include <cstdint>
#include <cstdio>
#include <string>

#include <nlohmann/json.hpp>

#include "devices/callables.h"
#include "devices/hip/hiprtc.h"
#include "run/worker/worker.h"
#include "support/error.h"
#include "trial/launch_manifest.h"
#include "trial/record_json.h"

extern "C" {

struct normtune_worker_providers {
    /// `request`: JSON. Gives the kernel a number.
    int (*prepare)(const char* request, std::int64_t* kernel, char* why, std::int64_t why_bytes);
    /// `tensors`: addresses, in the order of the request's. `graph` −1: none.
    int (*bind)(std::int64_t kernel, const std::uint64_t* tensors, void* stream, char* why, std::int64_t why_bytes);
    int (*launch)(std::int64_t kernel, const std::uint64_t* tensors, int graph, void* stream, char* why, std::int64_t why_bytes);
    int (*exchange)(std::int64_t kernel, const std::uint64_t* tensors, int graph, int fetch, void* stream, char* why,
                    std::int64_t why_bytes);
    void (*drop)(std::int64_t kernel);
};
}

namespace normtune {
namespace {

using nlohmann::json;

/// What a provider's function answers.
enum Answer { answer_good = 0, answer_unsupported = 1, answer_compile_failed = 2, answer_launch_failed = 3, answer_out_of_memory = 4 };

DeviceFault fault_of(int answer) {
    switch (answer) {
        case answer_unsupported:
            return DeviceFault::unsupported;
        case answer_compile_failed:
            return DeviceFault::compile_failed;
        case answer_out_of_memory:
            return DeviceFault::out_of_memory;
        default:
            return DeviceFault::launch_failed;
    }
}

/// `call` gets the place of the reason.
template <typename Call>
void require(const Call& call) {
    std::string why(4096, '\0');
    if (const int answer = call(why.data(), static_cast<std::int64_t>(why.size())); answer != answer_good) {
        why.resize(why.find('\0'));
        throw DeviceError(fault_of(answer), why);
    }
}

class PythonKernel final : public Callable {
public:
    PythonKernel(const normtune_worker_providers& providers, const std::string& request) : providers_(providers) {
        require([&](char* why, std::int64_t bytes) { return providers_.prepare(request.c_str(), &kernel_, why, bytes); });
    }
    ~PythonKernel() override { providers_.drop(kernel_); }
    PythonKernel(const PythonKernel&) = delete;
    PythonKernel& operator=(const PythonKernel&) = delete;

    void bind(const TensorAddresses& tensors, void* stream) override {
        require([&](char* why, std::int64_t bytes) { return providers_.bind(kernel_, tensors.data(), stream, why, bytes); });
    }
    void launch(const TensorAddresses& tensors, std::optional<int> graph, void* stream) override {
        require([&](char* why, std::int64_t bytes) {
            return providers_.launch(kernel_, tensors.data(), graph.value_or(no_graph), stream, why, bytes);
        });
    }
    void exchange(const TensorAddresses& tensors, std::optional<int> graph, bool fetch, void* stream) override {
        require([&](char* why, std::int64_t bytes) {
            return providers_.exchange(kernel_, tensors.data(), graph.value_or(no_graph), fetch ? 1 : 0, stream, why, bytes);
        });
    }

private:
    static constexpr int no_graph = -1;
    const normtune_worker_providers& providers_;
    std::int64_t kernel_ = 0;
};

class PythonSource final : public CallableSource {
public:
    explicit PythonSource(const normtune_worker_providers& providers) : providers_(providers) {}

    std::unique_ptr<Callable> prepare(const Problem& problem, const LaunchManifest& manifest, const DeviceInfo& device) override {
        constexpr NameTable<Access, 3> access_names{{"in", "out", "in_out"}};
        json list = json::array();
        for (const Tensor& tensor : tensors(problem)) {
            list.push_back({{"name", tensor_names.name(tensor.role)},
                            {"index", static_cast<int>(tensor.role)},
                            {"dtype", dtype_names.name(tensor.dtype)},
                            {"rows", tensor.rows},
                            {"cols", tensor.cols},
                            {"row_stride", tensor.row_stride},
                            {"access", access_names.name(tensor.access)},
                            {"result", tensor_names.name(tensor.result)},
                            {"is_vector", tensor.kind == TensorKind::weight}});
        }

        return std::make_unique<PythonKernel>(providers_, json{{"provider", manifest.python_provider},
                                                               {"name", manifest.python_name},
                                                               {"key", manifest.key},
                                                               {"problem", to_json(problem)},
                                                               {"tensors", std::move(list)},
                                                               {"names", tensor_names.names},
                                                               {"backend", backend_names.name(device.backend)},
                                                               {"ordinal", device.ordinal}}
                                                              .dump());
    }

private:
    const normtune_worker_providers& providers_;
};

}  // namespace
}  // namespace normtune

#define NORMTUNE_EXPORT extern "C" __attribute__((visibility("default")))

/// Serves as the worker that `arguments` describe, as `executable` does with the same words after its name, until the parent closes the
/// channel. Its exit status.
NORMTUNE_EXPORT int normtune_worker_serve(const char* executable, int count, const char* const* arguments,
                                          const normtune_worker_providers* providers) {
    using namespace normtune;
    try {
        PythonSource source(*providers);
        set_callable_source(&source);
        hip::hip_compiler_executable() = executable;
        const std::optional<int> status = run_as_worker(count, arguments);
        set_callable_source(nullptr);
        if (!status) {
            std::fputs("normtune_worker_serve: these are no arguments of a worker\n", stderr);
        }
        return status.value_or(static_cast<int>(ExitCode::usage));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "normtune_worker_serve: %s\n", error.what());
        return static_cast<int>(ExitCode::defect);
    }
}

/// Raised with every change of this interface; Python asks before it calls.
NORMTUNE_EXPORT int normtune_worker_interface() {
    return 2;
}
