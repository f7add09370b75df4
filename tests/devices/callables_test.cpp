// Kernels that others launch, on the CPU and on a GPU that computes nothing: bound first, captured, their outputs fetched, faults told.
#include "devices/callables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "devices/cpu/cpu_device.h"
#include "devices/fake_gpu.h"
#include "devices/gpu/gpu_device.h"
#include "devices/registry.h"
#include "support/temporary_folder.h"
#include "trial/launch_manifest.h"

namespace normtune {
namespace {

struct Call {
    std::string what;
    TensorAddresses tensors{};
    std::optional<int> graph;
};

class CallablesTest : public ::testing::Test, public CallableSource {
protected:
    CallablesTest() {
        setenv("NORMTUNE_CACHE_DIR", folder_.path().c_str(), 1);
        set_callable_source(this);
    }
    ~CallablesTest() override {
        set_callable_source(nullptr);
        unsetenv("NORMTUNE_CACHE_DIR");
    }

    class Recorded final : public Callable {
    public:
        explicit Recorded(CallablesTest& test) : test_(test) {}
        void bind(const TensorAddresses& tensors, void*) override { test_.calls_.push_back({"bind", tensors, {}}); }
        void launch(const TensorAddresses& tensors, std::optional<int> graph, void*) override {
            test_.calls_.push_back({"launch", tensors, graph});
            if (test_.on_launch_) {
                test_.on_launch_(tensors);
            }
        }
        void exchange(const TensorAddresses& tensors, std::optional<int> graph, bool fetch, void*) override {
            test_.calls_.push_back({fetch ? "fetch" : "give", tensors, graph});
        }

    private:
        CallablesTest& test_;
    };

    std::unique_ptr<Callable> prepare(const Problem&, const LaunchManifest& manifest, const DeviceInfo&) override {
        EXPECT_EQ(manifest.key, "norm");
        return std::make_unique<Recorded>(*this);
    }

    static Candidate candidate() {
        auto manifest = std::make_shared<LaunchManifest>();
        manifest->python_provider = "a_module:providers";
        manifest->provider = "acme";
        manifest->key = "norm";
        return Candidate(std::move(manifest));
    }

    std::unique_ptr<Device> open_gpu() {
        DeviceInfo info = describe_architecture("sm_90");
        info.cache_bytes = 1 << 20;
        const auto compile = [](const CompileJob&) {
            CompiledCode code;
            code.image.resize(8);
            return code;
        };
        const auto figures = [](const CompilePool::Result& compiled, const gpu::LaunchPlan& plan, const DeviceInfo&) {
            return gpu::common_info(compiled, plan);
        };
        return gpu::open_device(
            {driver_, info, {std::make_unique<CompilePool>("fake", "sm_90", 1, compile), {}, figures}, [](const std::string&) {
                 return gpu::ClockState{};
             }});
    }

    /// Every launch in a graph is on tensors that were bound before.
    void expect_bound() const {
        std::set<std::uint64_t> bound;
        for (const Call& call : calls_) {
            if (call.what == "bind") {
                bound.insert(call.tensors[0]);
            } else if (call.what == "launch") {
                EXPECT_TRUE(bound.contains(call.tensors[0]));
            }
        }
    }

    testing::TemporaryFolder folder_;
    gpu::FakeGpu gpu_;
    gpu::Driver driver_ = gpu_.table();
    Problem problem_ = parse_problem_key("rms_norm/forward/bf16/llama/16x1024");
    std::vector<Call> calls_;
    std::function<void(const TensorAddresses&)> on_launch_;
};

TEST_F(CallablesTest, AreCapturedIntoTheGraphsOfTheirWindows) {
    const auto device = open_gpu();
    const auto kernel = device->compile(problem_, candidate());
    EXPECT_EQ(kernel->info().code_hash, "") << "what Python code runs is not known";
    const auto buffers = device->allocate(problem_, {.rotation_bytes = 4 << 20, .seed = 1});
    ASSERT_GT(buffers->sets(), 3);
    on_launch_ = [&](const TensorAddresses& tensors) { driver_.copy_on_device_async(tensors[5], tensors[0], 16, nullptr); };
    const SampleBatch batch = device->sample(kernel.get(), *buffers, {.samples = 3});
    EXPECT_EQ(batch.timer, "cleared_settled_graph");
    expect_bound();
    std::set<int> graphs;
    for (const Call& call : calls_) {
        if (call.graph) {
            graphs.insert(*call.graph);
        }
    }
    EXPECT_TRUE(graphs.contains(0));
    const auto outside = std::count_if(calls_.begin(), calls_.end(), [](const Call& call) { return call.what == "launch" && !call.graph; });
    EXPECT_EQ(outside, 6);  // warmed up and calibrated on three sets each
    // What is looked at afterwards is given before the sample and fetched after it, of the graph that it ran.
    calls_.clear();
    const Window window = device->next_window(*kernel, *buffers, true);
    device->sample(kernel.get(), *buffers, {.samples = 1, .examined = window.first});
    ASSERT_GE(calls_.size(), 2U);
    EXPECT_EQ(calls_.front().what, "give");
    EXPECT_EQ(calls_.back().what, "fetch");
    EXPECT_EQ(calls_.front().graph, std::optional(window.first));
    EXPECT_EQ(calls_.back().tensors[0], buffers->address(TensorRole::x, window.first));
}

TEST_F(CallablesTest, WithoutGraphsOutputsAreThoseOfPlainLaunches) {
    gpu_.failing_call = "stream_begin_capture";
    gpu_.failing_result = 801;
    const auto device = open_gpu();
    const auto kernel = device->compile(problem_, candidate());
    const auto buffers = device->allocate(problem_, {.rotation_bytes = 4 << 20, .seed = 1});
    EXPECT_EQ(device->sample(kernel.get(), *buffers, {.samples = 1, .examined = 0}).timer, "cleared_settled_events");
    EXPECT_EQ(calls_.back().what, "fetch");
    EXPECT_EQ(calls_.back().graph, std::nullopt);
}

TEST_F(CallablesTest, WhatCannotBeCapturedIsUnsupported) {
    const auto device = open_gpu();
    const auto buffers = device->allocate(problem_, {});
    int launches = 0;
    on_launch_ = [&](const TensorAddresses&) {
        if (++launches == 2) {
            throw DeviceError(DeviceFault::launch_failed, "RuntimeError: operation not permitted when stream is capturing");
        }
    };
    const auto kernel = device->compile(problem_, candidate());
    try {
        device->run(*kernel, *buffers, 0, Workspace::cleared);
        FAIL() << "captured";
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::unsupported);
        EXPECT_STREQ(error.what(), "it cannot be captured into a graph: RuntimeError: operation not permitted when stream is capturing");
    }
    on_launch_ = nullptr;
    gpu_.failing_call = "stream_end_capture";  // the driver's word, where the callable says nothing
    gpu_.failing_result = 901;
    gpu_.calls.clear();
    EXPECT_THROW(device->run(*device->compile(problem_, candidate()), *buffers, 0, Workspace::cleared), DeviceError);
    device->run(*device->compile(problem_, candidate()), *buffers, 0, Workspace::cleared);
}

TEST_F(CallablesTest, RunOnTheCpu) {
    const auto device = open_device(Backend::cpu, 0, "");
    const auto kernel = device->compile(problem_, candidate());
    const auto buffers = device->allocate(problem_, {.rotation_bytes = 1 << 20, .seed = 1});
    std::vector<std::byte> bytes(std::size_t{16} * 1024 * 2);
    on_launch_ = [&](const TensorAddresses& tensors) {
        std::fill_n(reinterpret_cast<std::byte*>(tensors[static_cast<std::size_t>(TensorRole::y)]), bytes.size(), std::byte{7});
        EXPECT_EQ(tensors[static_cast<std::size_t>(TensorRole::dx)], 0U);
    };
    device->run(*kernel, *buffers, 0, Workspace::cleared);
    buffers->download(TensorRole::y, 0, bytes);
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{7}), static_cast<std::ptrdiff_t>(bytes.size()));
    calls_.clear();
    const SampleBatch batch = device->sample(kernel.get(), *buffers, {.samples = 2, .examined = 1});
    EXPECT_EQ(batch.us.size(), 2U);
    expect_bound();
    EXPECT_EQ(calls_.front().what, "give");
    EXPECT_EQ(calls_.back().what, "fetch");
}

TEST_F(CallablesTest, TakeASource) {
    set_callable_source(nullptr);
    const auto device = open_device(Backend::cpu, 0, "");
    try {
        device->compile(problem_, candidate());
        FAIL() << "compiled";
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::unsupported);
        EXPECT_STREQ(error.what(), "acme:norm runs in a worker of Python alone");
    }
}

}  // namespace
}  // namespace normtune
