// The GPU device over a driver that computes nothing: what is launched on which buffers, and how a sample comes about.
#include "devices/gpu_device_fixture.h"

#include <map>
#include <random>
#include <set>
#include <thread>

namespace normtune::gpu {
namespace {

TEST_F(GpuDeviceTest, LaunchesOnTheSetThatItIsAskedFor) {
    const auto device = open();
    const auto kernel = device->compile(problem_, Configuration::parse(key));
    const auto buffers = device->allocate(problem_, rotating());
    ASSERT_GT(buffers->sets(), 3);
    gpu_.launches.clear();
    device->run(*kernel, *buffers, 2, Workspace::cleared);
    const auto& sets = dynamic_cast<const GpuBuffers&>(*buffers);
    ASSERT_EQ(gpu_.launches.size(), 1U);
    EXPECT_EQ(gpu_.launches[0].kernel, "nt_forward");
    EXPECT_EQ(gpu_.launches[0].first_argument, sets.pointer(TensorRole::x, 2));
    EXPECT_EQ(*kernel->info().occupancy, 8 * 128 / 2048.0);
    std::vector<std::byte> bytes(16 * 1024 * 2);
    std::vector<std::byte> back(bytes.size());
    std::generate(bytes.begin(), bytes.end(), [n = 0]() mutable { return static_cast<std::byte>(++n); });
    buffers->upload(TensorRole::x, 1, bytes);
    buffers->download(TensorRole::x, 1, back);
    EXPECT_EQ(back, bytes);
    EXPECT_THROW(buffers->upload(TensorRole::x, buffers->sets(), bytes), std::logic_error);
    EXPECT_THROW(buffers->download(TensorRole::dy, 0, back), std::logic_error);
}

TEST_F(GpuDeviceTest, EachSetHasInputsOfItsOwn) {  // what takes another one's is told
    const auto device = open();
    for (const char* problem : {"rms_norm/forward/bf16/llama/16x1024", "rms_norm/forward/bf16/llama/1024x1024"}) {
        SCOPED_TRACE(problem);
        problem_ = parse_problem_key(problem);
        const auto buffers = device->allocate(problem_, rotating());
        const auto bytes = static_cast<std::size_t>(problem_.shape.rows * problem_.shape.cols * 2);
        std::set<std::vector<std::byte>> inputs;
        for (int set = 0; set < buffers->sets(); ++set) {
            std::vector<std::byte> x(bytes);
            buffers->download(TensorRole::x, set, x);
            inputs.insert(std::move(x));
        }
        EXPECT_EQ(static_cast<int>(inputs.size()), buffers->sets());
    }
}

TEST_F(GpuDeviceTest, GuardsLieInFrontOfEachTensorAndBehindIt) {
    const auto device = open();
    for (const char* problem : {"fused_add_rms_norm/backward/bf16/llama/7x1001", "rms_norm/inference/bf16/llama/3x1000/in_place"}) {
        SCOPED_TRACE(problem);
        problem_ = parse_problem_key(problem);
        constexpr std::int64_t guard = 4096;
        const auto buffers = device->allocate(problem_, {.guard_bytes = guard});
        const std::vector<Tensor> all = tensors(problem_);
        std::vector<std::vector<std::byte>> contents;
        for (const Tensor& tensor : all) {
            contents.emplace_back(static_cast<std::size_t>(tensor.span_bytes()), static_cast<std::byte>(contents.size() + 1));
            buffers->upload(tensor.role, 0, contents.back());
            buffers->fill_guard(tensor.role, 0, 0xA5A5A5A5U);
        }
        const std::vector<std::byte> whole(2 * guard, std::byte{0xA5});
        for (std::size_t i = 0; i < all.size(); ++i) {  // no guard lies in a tensor, nor in another's guard
            std::vector<std::byte> found(contents[i].size());
            buffers->download(all[i].role, 0, found);
            EXPECT_EQ(found, contents[i]);
            buffers->fill_guard(all[i].role, 0, 0);
            for (std::size_t other = 0; other < all.size(); ++other) {
                std::vector<std::byte> of_other(2 * guard);
                buffers->download_guard(all[other].role, 0, of_other);
                EXPECT_EQ(of_other == whole, other != i);
            }
            buffers->fill_guard(all[i].role, 0, 0xA5A5A5A5U);
        }
    }
}

TEST_F(GpuDeviceTest, TheNextSamplesSetsAreKnown) {
    const auto device = open();
    const auto kernel = device->compile(problem_, Configuration::parse(key));
    const auto buffers = device->allocate(problem_, rotating());
    EXPECT_EQ(device->next_window(*kernel, *buffers, true).first, 0) << "the first sample begins there";
    for (int i = 0; i < 5; ++i) {
        device->sample(kernel.get(), *buffers, {.samples = 1});
        const Window next = device->next_window(*kernel, *buffers, true);
        const auto& sets = dynamic_cast<const GpuBuffers&>(*buffers);
        gpu_.launches.clear();
        device->sample(kernel.get(), *buffers, {.samples = 1});
        std::set<std::uint64_t> touched;
        for (const FakeGpu::Launched& launch : gpu_.launches) {
            touched.insert(launch.first_argument);
        }
        for (int launch = 0; launch < next.launches; ++launch) {
            EXPECT_TRUE(touched.contains(sets.pointer(TensorRole::x, (next.first + launch) % sets.sets())));
        }
    }
}

// Another kernel's larger workspace moves it: graphs are made anew then, and a set of the old ones' next window would not be launched on.
TEST_F(GpuDeviceTest, BehindAnotherWorkspaceTheFirstSetsAreNext) {
    const auto device = open();
    const Problem backward = parse_problem_key("rms_norm/backward/bf16/llama/16x1024");
    const auto small = device->compile(backward, Configuration::parse("w4.t128.r1.row.registers.masked.per_row"));
    const auto buffers = device->allocate(backward, {.rotation_bytes = 32 << 20, .seed = 3});  // more sets than a sample has launches
    for (int i = 0; i < 5 || device->next_window(*small, *buffers, true).first == 0; ++i) {
        ASSERT_LT(i, 50);
        device->sample(small.get(), *buffers, {.samples = 1});
    }
    const Problem larger = parse_problem_key("rms_norm/backward/bf16/llama/512x4096");
    const auto other_buffers = device->allocate(larger, {});
    device->run(*device->compile(larger, Configuration::parse("w4.t128.r1.row.registers.masked.per_row")), *other_buffers, 0,
                Workspace::cleared);
    EXPECT_EQ(device->next_window(*small, *buffers, true).first, 0);
}

TEST_F(GpuDeviceTest, ARotationGoesThroughAllItsSets) {
    info_.cache_bytes = 8 << 20;
    const auto device = open();
    const auto kernel = device->compile(problem_, Configuration::parse(key));
    const auto buffers = device->allocate(problem_, rotating());
    const auto& sets = dynamic_cast<const GpuBuffers&>(*buffers);
    ASSERT_GT(sets.sets(), 400);
    gpu_.launch_us = [](const std::string&) { return 2.5; };
    SampleBatch batch;
    std::map<std::uint64_t, int> uses;
    std::int64_t touched = 0;
    for (int round = 0; round < 18; ++round) {
        batch = device->sample(kernel.get(), *buffers, {.samples = 1});
        EXPECT_GE(batch.rotation_bytes, touched);
        touched = batch.rotation_bytes;
    }
    EXPECT_LT(batch.launches_per_sample, sets.sets()) << "or a sample were a whole turn";
    EXPECT_EQ(touched, sets.rotation_bytes());
    for (const FakeGpu::Launched& launch : gpu_.launches) {
        uses[launch.first_argument] += launch.kernel == "nt_forward" ? 1 : 0;
    }
    int least = 1 << 20;
    int most = 0;
    for (int set = 0; set < sets.sets(); ++set) {
        least = std::min(least, uses[sets.pointer(TensorRole::x, set)]);
        most = std::max(most, uses[sets.pointer(TensorRole::x, set)]);
    }
    EXPECT_GE(least, 2);
    EXPECT_LE(most - least, 2) << "a turn that has begun, and the three launches before the first sample";
}

TEST_F(GpuDeviceTest, HotIsOneSet) {
    const auto device = open();
    const auto kernel = device->compile(problem_, Configuration::parse(key));
    const auto buffers = device->allocate(problem_, rotating());
    const auto& sets = dynamic_cast<const GpuBuffers&>(*buffers);
    gpu_.launches.clear();
    const SampleBatch batch = device->sample(kernel.get(), *buffers, {.cold = false, .samples = 4});
    for (const FakeGpu::Launched& launch : gpu_.launches) {
        EXPECT_EQ(std::pair(launch.kernel, launch.first_argument),
                  std::pair(std::string("nt_forward"), std::uint64_t{sets.pointer(TensorRole::x, 0)}));
    }
    EXPECT_EQ(batch.rotation_bytes, sets.set_bytes());
}

// One set of two times the L2, and no memory for more: the L2 is read away before each sample.
TEST_F(GpuDeviceTest, EvictsWhereTheSetsDoNotKeepASampleCold) {
    info_.cache_bytes = 32 << 10;
    const auto device = open();
    gpu_.memory_bytes = 96 << 10;
    const auto kernel = device->compile(problem_, Configuration::parse(key));
    const auto buffers = device->allocate(problem_, rotating());
    ASSERT_EQ(buffers->sets(), 1);
    gpu_.queue.clear();
    device->sample(kernel.get(), *buffers, {.samples = 3});
    EXPECT_EQ(std::ranges::count(gpu_.queue, "nt_evict"), 4);
    gpu_.queue.clear();
    device->sample(kernel.get(), *buffers, {.cold = false, .samples = 3});
    EXPECT_EQ(std::ranges::count(gpu_.queue, "nt_evict"), 0);
}

// What another kernel left in the L2 would be in the sample: its dirty lines have to be written back there.
TEST_F(GpuDeviceTest, AColdSampleIsBehindLaunchesOfItsOwn) {
    const auto device = open();
    const auto kernel = device->compile(problem_, Configuration::parse(key));
    const auto buffers = device->allocate(problem_, rotating());
    const auto& sets = dynamic_cast<const GpuBuffers&>(*buffers);
    device->sample(kernel.get(), *buffers, {.samples = 1});
    gpu_.launches.clear();
    gpu_.queue.clear();
    const SampleBatch batch = device->sample(kernel.get(), *buffers, {.samples = 1});
    EXPECT_EQ(gpu_.queue, (std::vector<std::string>{"gate", "nt_evict", "nt_demote", "graph", "nt_settle", "nt_settle early", "event",
                                                    "graph", "event"}));
    const int ahead = own_launches_ahead(*buffers);
    ASSERT_EQ(gpu_.launches.size(), static_cast<std::size_t>(ahead + batch.launches_per_sample));
    for (int i = 0; i < ahead; ++i) {
        EXPECT_EQ(gpu_.launches[i].kernel, "nt_forward");
        EXPECT_EQ(gpu_.launches[i].first_argument, (std::uint64_t{sets.pointer(TensorRole::x, sets.sets() - ahead + i)}));
    }
    EXPECT_EQ(gpu_.launches[ahead].first_argument, (std::uint64_t{sets.pointer(TensorRole::x, 0)}));
}

// More sets than a sample has launches, and more bytes than four times the L2, but what a sample touches stays in it: the next kernel's
// sample, over the same sets, would find there what this one has read.
TEST_F(GpuDeviceTest, EvictsWhereTheNextKernelsSampleWouldFindThisOnes) {
    info_.cache_bytes = 3 << 19;
    const auto device = open();
    const auto kernel = device->compile(problem_, Configuration::parse(key));
    const auto buffers = device->allocate(problem_, {.rotation_bytes = 8 << 20});
    const auto& sets = dynamic_cast<const GpuBuffers&>(*buffers);
    ASSERT_GE(sets.rotation_bytes(), 4 * info_.cache_bytes);
    gpu_.queue.clear();
    const SampleBatch batch = device->sample(kernel.get(), *buffers, {.samples = 3});
    ASSERT_LT(batch.launches_per_sample * sets.set_bytes(), 4 * info_.cache_bytes);
    EXPECT_EQ(std::ranges::count(gpu_.queue, "nt_evict"), 4);
}

// Lines that a kernel has left to be evicted last would stay through any other read: those of the eviction are so, too, and then as all
// others again.
TEST_F(GpuDeviceTest, EvictsLinesThatAreToBeEvictedLastWhereThereAreSome) {
    for (const bool has_policies : {true, false}) {
        info_.has_async_copy = has_policies;
        const auto device = open();
        const auto kernel = device->compile(problem_, Configuration::parse(key));
        const auto buffers = device->allocate(problem_, rotating());
        gpu_.queue.clear();
        device->sample(kernel.get(), *buffers, {.samples = 3});
        const auto evictions = std::ranges::count(gpu_.queue, "nt_evict");
        EXPECT_EQ(evictions, 4) << "ahead of the samples and of the one that warms up";
        EXPECT_EQ(std::ranges::count(gpu_.queue, "nt_demote"), has_policies ? evictions : 0);
        gpu_.queue.clear();
        device->sample(nullptr, *buffers, {.kind = SampleKind::empty, .samples = 3});
        EXPECT_EQ(std::ranges::count(gpu_.queue, "nt_evict"), 0);
    }
}

// What a launch takes depends on what the process has launched before, unless two launches come ahead, the second begun early.
TEST_F(GpuDeviceTest, SettlesTheDeviceAheadOfEachSample) {
    for (const char* arch : {"sm_90", "sm_80"}) {
        info_ = describe_architecture(arch);
        info_.compute_units = 4;
        info_.cache_bytes = 32 << 10;
        gpu_.memory_bytes = 96 << 10;
        const auto device = open();
        const auto kernel = device->compile(problem_, Configuration::parse(key));
        const auto buffers = device->allocate(problem_, rotating());
        device->sample(kernel.get(), *buffers, {.samples = 1});
        gpu_.queue.clear();
        const SampleBatch batch = device->sample(kernel.get(), *buffers, {.samples = 1});
        const bool can_begin_early = info_.arch == "sm_90";
        EXPECT_EQ(batch.timer, can_begin_early ? "cleared_settled_graph" : "cleared_graph");
        EXPECT_EQ(gpu_.queue, can_begin_early ? (std::vector<std::string>{"gate", "nt_evict", "nt_demote", "nt_settle", "nt_settle early",
                                                                          "event", "graph", "event"})
                                              : (std::vector<std::string>{"gate", "nt_evict", "nt_demote", "event", "graph", "event"}));
    }
}

// With CUDA_LAUNCH_BLOCKING, or under a sanitizer, a launch behind a closed gate would never come back.
TEST_F(GpuDeviceTest, HasNoGateWhereLaunchesBlock) {
    gpu_.launches_block = true;
    for (const int can_wait : {1, 0}) {
        gpu_.attributes[Attribute::can_wait_for_value] = can_wait;
        const auto device = open();
        const auto kernel = device->compile(problem_, Configuration::parse(key));
        const auto buffers = device->allocate(problem_, rotating());
        gpu_.queue.clear();
        EXPECT_EQ(device->sample(kernel.get(), *buffers, {.samples = 2}).timer, "cleared_settled_graph/ungated");
        EXPECT_EQ(std::ranges::count(gpu_.queue, "gate") + std::ranges::count(gpu_.queue, "nt_gate"), 0);
        EXPECT_GE(std::ranges::count(gpu_.queue, "graph"), 2);
    }
}

TEST_F(GpuDeviceTest, ASampleIsTheTimeOfALaunch) {
    const auto device = open();
    const auto kernel = device->compile(problem_, Configuration::parse(key));
    const auto buffers = device->allocate(problem_, rotating());
    gpu_.launch_us = [](const std::string& name) { return name == "nt_forward" ? 7.0 : name == "nt_empty" ? 1.25 : 50; };
    const SampleBatch batch = device->sample(kernel.get(), *buffers, {.samples = 3});
    ASSERT_EQ(batch.us.size(), 3U);
    EXPECT_NEAR(batch.us[1], 7, 1e-4);
    EXPECT_EQ(batch.timer, "cleared_settled_graph");
    EXPECT_EQ(batch.clock_mhz, 1500);
    EXPECT_EQ(batch.throttle_reasons, std::vector<std::string>{"sw_power_cap"});
    EXPECT_NEAR(device->sample(nullptr, *buffers, {.kind = SampleKind::empty, .samples = 1}).us[0], 1.25, 1e-4);
    EXPECT_EQ(device->sample(kernel.get(), *buffers, {.samples = 100, .time_cap_us = 1200}).us.size(), 2U);
}

// As often as it is launched for a problem of that size, so that what a graph's start takes weighs alike.
TEST_F(GpuDeviceTest, TheFloorIsMeasuredInGraphsLikeTheKernels) {
    gpu_.launch_us = [](const std::string& name) { return name == "nt_empty" ? 0.9 : 3; };
    const auto device = open();
    for (const char* problem : {"rms_norm/forward/bf16/llama/16x1024", "rms_norm/forward/bf16/llama/512x1024"}) {
        problem_ = parse_problem_key(problem);
        const auto kernel = device->compile(problem_, Configuration::parse(key));
        const auto buffers = device->allocate(problem_, rotating());
        const SampleBatch batch = device->sample(kernel.get(), *buffers, {.samples = 1});
        const SampleBatch empty = device->sample(nullptr, *buffers, {.kind = SampleKind::empty, .samples = 2});
        EXPECT_EQ(empty.launches_per_sample, batch.launches_per_sample) << problem;
        EXPECT_NEAR(empty.us[1], 0.9, 1e-4) << problem;
        EXPECT_EQ(gpu_.launches.back().kernel, "nt_empty");
    }
}

TEST_F(GpuDeviceTest, ClocksAreReadAfterEachBatchAndMovesAreMarked) {
    const auto device = open();
    const auto kernel = device->compile(problem_, Configuration::parse(key));
    const auto buffers = device->allocate(problem_, rotating());
    const auto measured = [&](double mhz, double memory_mhz) {
        clocks_.mhz = mhz;
        clocks_.memory_mhz = memory_mhz;
        return device->sample(kernel.get(), *buffers, {.samples = 1});
    };
    measured(1980, 2619);
    const int reads = clock_reads_;
    const SampleBatch step = measured(1965, 2619);
    EXPECT_LE(clock_reads_, reads + 2) << "not once a launch";
    EXPECT_EQ(step.clock_mhz, 1965);
    EXPECT_EQ(step.memory_clock_mhz, 2619);
    EXPECT_FALSE(step.clocks_moved) << "one step of a clock";
    // Within the batch, at the one reading that follows it.
    on_clock_read_ = [&] { clocks_.mhz = clocks_.mhz.value_or(0) == 1965 ? 1410 : clocks_.mhz; };
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // what was read before is too old
    const SampleBatch slower = measured(1965, 2619);
    EXPECT_TRUE(slower.clocks_moved);
    EXPECT_EQ(slower.clock_before_mhz, 1965);
    EXPECT_EQ(slower.clock_mhz, 1410);
    EXPECT_EQ(slower.memory_clock_before_mhz, 2619);
    on_clock_read_ = [&] { clocks_.memory_mhz = clocks_.memory_mhz.value_or(0) == 2619 ? 1593 : clocks_.memory_mhz; };
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(measured(1410, 2619).clocks_moved);
    clocks_ = {};
    on_clock_read_ = nullptr;
    EXPECT_FALSE(device->sample(kernel.get(), *buffers, {.samples = 1}).clocks_moved) << "the driver does not tell";
}

TEST_F(GpuDeviceTest, ARepeatedRunHasAsManyLaunchesASample) {
    std::mt19937 random(8);
    std::uniform_real_distribution<double> noise(0.8, 1.6);
    std::set<int> seen;
    for (int run = 0; run < 20; ++run) {
        gpu_.launch_us = [&](const std::string&) { return 2.4 * noise(random); };
        const auto device = open();
        const auto kernel = device->compile(problem_, Configuration::parse(key));
        const auto buffers = device->allocate(problem_, rotating());
        seen.insert(device->sample(kernel.get(), *buffers, {.samples = 1}).launches_per_sample);
    }
    EXPECT_EQ(seen.size(), 1U);
}

}  // namespace
}  // namespace normtune::gpu
