// Which copies the limit is the fastest of, and how they are told apart.
#include "devices/gpu_device_fixture.h"

#include <map>
#include <set>

namespace normtune::gpu {
namespace {

// The best geometry by far, and of that one the best hint.
TEST_F(GpuDeviceTest, TheLimitIsTheFastestOfManyCopies) {
    gpu_.launch_us = [](const std::string& name) {
        return name == "nt_copy_16_4_streaming" ? 14.0 : name.starts_with("nt_copy_16_4_") ? 15.0 : 19.0;
    };
    const auto device = open();
    const auto buffers = device->allocate(problem_, rotating());
    const auto& sets = dynamic_cast<const GpuBuffers&>(*buffers);
    const SampleBatch batch = device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 3});
    EXPECT_NEAR(batch.us[1], 14, 1e-4);
    EXPECT_TRUE(batch.copy.starts_with("v16.u4.t") && batch.copy.ends_with(".streaming")) << batch.copy;
    std::set<std::uint64_t> read;
    for (const FakeGpu::Launched& launch : gpu_.launches) {
        if (launch.kernel == "nt_copy_16_4_streaming") {
            read.insert(launch.first_argument);
        }
    }
    for (int set = 0; set < sets.sets(); ++set) {
        EXPECT_EQ(read.count(sets.pointer(TensorRole::x, set)), 1U) << "it rotates over the kernels' own inputs";
    }
    for (int round = 0; round < 3; ++round) {
        device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 1});
    }
    gpu_.launches.clear();
    device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 1});
    for (const FakeGpu::Launched& launch : gpu_.launches) {
        EXPECT_EQ(launch.kernel, "nt_copy_16_4_streaming") << "the race is over, and the slower have left";
    }
    EXPECT_EQ(device->sample(nullptr, *buffers, {.kind = SampleKind::empty, .samples = 1}).copy, "");
}

// One kernel is foremost in several geometries, and another, which is as good as they are, comes behind all of them.
TEST_F(GpuDeviceTest, CopiesOfSeveralKernelsAreSampledInEachRound) {
    double together_us = 14.1;
    gpu_.launch_us = [&](const std::string& name) {
        return name == "nt_copy_16_8_streaming" ? 14.0 : name == "nt_copy_16_4_together" ? together_us : 19.0;
    };
    const auto device = open();
    const auto buffers = device->allocate(problem_, rotating());
    const auto sample = [&] { return device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 1}).copy; };
    EXPECT_NE(sample().find("v16.u8."), std::string::npos);
    together_us = 13.7;
    const std::string copy = sample();
    EXPECT_TRUE(copy.starts_with("v16.u4.") && copy.ends_with(".together")) << copy;
    together_us = 14.05;
    EXPECT_NE(sample().find("v16.u8."), std::string::npos) << "it is kept as long as it may be the fastest";
}

// Copies by as many programs as a compute unit holds, which GPUs of fewer threads a unit would do in two turns.
TEST_F(GpuDeviceTest, ResidentCopiesAreOfAsManyThreadsAsAUnitHolds) {
    const auto most_of_a_unit = [&](int threads) {
        gpu_.launches.clear();
        info_.threads_per_compute_unit = threads;
        const auto device = open();
        const auto buffers = device->allocate(parse_problem_key("rms_norm/forward/bf16/llama/4096x1024"), rotating());
        device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 1});
        std::set<unsigned> of_a_unit;
        for (const FakeGpu::Launched& launch : gpu_.launches) {
            const unsigned units = static_cast<unsigned>(info_.compute_units);
            if (launch.kernel == "nt_copy_16_1_default" && launch.threads == 512 && launch.programs % units == 0) {
                of_a_unit.insert(launch.programs / units);
            }
        }
        return of_a_unit;
    };
    EXPECT_TRUE(most_of_a_unit(2048).contains(4));
    const std::set<unsigned> few = most_of_a_unit(1536);
    EXPECT_TRUE(few.contains(3) && !few.contains(4));
}

// A program of it asks for nothing but its pointers before it reads.
TEST_F(GpuDeviceTest, OnlyWhatWholePiecesMakeUpIsCopiedByKernelsThatDoNotAskWhatIsLeft) {
    for (const auto& [problem, vectors] :
         {std::pair{"rms_norm/forward/bf16/llama/256x1024", 256U * 128}, {"rms_norm/forward/bf16/llama/255x1024", 255U * 128}}) {
        gpu_.launches.clear();
        const auto device = open();
        const auto buffers = device->allocate(parse_problem_key(problem), rotating());
        device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 1});
        std::map<bool, int> launched;
        for (const FakeGpu::Launched& launch : gpu_.launches) {
            if (launch.kernel.starts_with("nt_copy_16_")) {
                const unsigned piece = launch.threads * static_cast<unsigned>(launch.kernel[sizeof "nt_copy_16_" - 1] - '0');
                const bool one_a_piece = launch.programs == (vectors + piece - 1) / piece;
                ++launched[launch.whole];
                EXPECT_TRUE(!launch.whole || (one_a_piece && vectors % piece == 0)) << problem << ' ' << launch.kernel << ' ' << piece;
                EXPECT_TRUE(launch.whole || !launch.kernel.ends_with("_together") || vectors % piece != 0)
                    << problem << ' ' << launch.kernel << ' ' << piece;
            }
        }
        EXPECT_TRUE(launched[true] > 0 && launched[false] > 0)
            << problem << ": pieces of 32 threads and more, and programs that take several";
    }
}

// Eight vectors of each of two streams take more than a hundred registers: 1024 threads of them cannot be launched.
TEST_F(GpuDeviceTest, NoCopyIsTriedWhoseThreadsRegistersDoNotHold) {
    gpu_.launch_us = [](const std::string& name) { return name.starts_with("nt_copy_16_8_") ? 14.0 : 19.0; };
    gpu_.most_threads = [](const std::string& name) { return name.starts_with("nt_copy_16_8_") ? 512U : 1024U; };
    const auto device = open();
    const auto buffers = device->allocate(parse_problem_key("rms_norm/backward/bf16/llama/16x1024"), rotating());
    const SampleBatch batch = device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 2});
    EXPECT_TRUE(batch.copy.starts_with("v16.u8.")) << batch.copy;
    EXPECT_NEAR(batch.us[1], 14, 1e-4);
}

// By way of shared memory, where the device copies into it while a thread goes on: a program of every launch has what its stages take.
TEST_F(GpuDeviceTest, CopiesThroughSharedMemoryAreTriedWhereTheDeviceHasThem) {
    gpu_.launch_us = [](const std::string& name) { return name.starts_with("nt_copy_staged_") ? 14.0 : 19.0; };
    info_.shared_bytes_per_program = 48 << 10;
    const struct {
        const char* problem;
        const char* unroll;
    } cases[] = {{"rms_norm/forward/bf16/llama/512x1024", "8"}, {"rms_norm/backward/bf16/llama/512x1024", "4"}};
    for (const auto& [problem, unroll] : cases) {
        for (const bool has_async_copy : {true, false}) {
            gpu_.launches.clear();
            info_.has_async_copy = has_async_copy;
            const auto device = open();
            const auto buffers = device->allocate(parse_problem_key(problem), rotating());
            const SampleBatch batch = device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 2});
            EXPECT_NEAR(batch.us[1], has_async_copy ? 14 : 19, 1e-4) << problem;
            EXPECT_EQ(batch.copy.find(".staged.") != std::string::npos, has_async_copy) << batch.copy;
            std::set<unsigned> shared;
            for (const FakeGpu::Launched& launch : gpu_.launches) {
                if (launch.kernel == "nt_copy_staged_" + std::string(unroll) + "_streaming") {
                    shared.insert(launch.shared_bytes);
                } else if (!launch.kernel.starts_with("nt_copy_staged_")) {
                    EXPECT_EQ(launch.shared_bytes, 0U) << launch.kernel;
                }
                EXPECT_LE(launch.shared_bytes, 48U << 10) << launch.kernel;
            }
            EXPECT_EQ(shared, has_async_copy ? std::set<unsigned>{48U << 10} : std::set<unsigned>{})
                << problem << ": of 128 threads in three stages";
        }
    }
}

// Two programs a unit have twice the bytes in flight that four have; the fake refuses what was not given leave for.
TEST_F(GpuDeviceTest, CopiesOfTwoProgramsAUnitHaveUpToHalfOfItsSharedMemoryEach) {
    info_.has_async_copy = true;
    for (const unsigned has : {48U << 10, 227U << 10}) {
        info_.shared_bytes_per_program = has;
        for (const char* problem : {"rms_norm/forward/bf16/llama/1024x1024", "rms_norm/backward/bf16/llama/1024x1024"}) {
            gpu_.launches.clear();
            const auto device = open();
            const auto buffers = device->allocate(parse_problem_key(problem), rotating());
            device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 1});
            const auto most = std::ranges::max(gpu_.launches, {}, &FakeGpu::Launched::shared_bytes);
            EXPECT_EQ(most.shared_bytes, has == 48U << 10 ? 48U << 10 : 96U << 10) << problem << ": of 256 threads in three stages";
        }
    }
}

// Never the driver's own copy, which cannot be launched so.
TEST_F(GpuDeviceTest, DependentReferencesAreLaunchedAsDependentKernelsAre) {
    gpu_.launch_us = [](const std::string& name) { return name == "copy" ? 1.0 : name.starts_with("nt_empty") ? 2.0 : 9.0; };
    const auto device = open();
    const auto buffers = device->allocate(problem_, rotating());
    const auto sample = [&](SampleKind kind, bool dependent) {
        gpu_.overlapping.clear();
        gpu_.launches.clear();
        return device->sample(nullptr, *buffers, {.kind = kind, .samples = 1, .dependent = dependent}).copy;
    };
    EXPECT_EQ(sample(SampleKind::copy, false), "driver");
    EXPECT_TRUE(gpu_.overlapping.empty());
    const std::string copy = sample(SampleKind::copy, true);
    EXPECT_TRUE(copy.starts_with("v") && copy.ends_with(".dependent")) << copy;
    for (const FakeGpu::Launched& launch : gpu_.launches) {
        EXPECT_TRUE(gpu_.overlapping.contains(launch.kernel)) << launch.kernel;
    }
    sample(SampleKind::empty, true);
    EXPECT_EQ(gpu_.overlapping, std::set<std::string>{"nt_empty_dependent"});
    EXPECT_EQ(gpu_.launches.back().kernel, "nt_empty_dependent");
    sample(SampleKind::empty, false);
    EXPECT_TRUE(gpu_.overlapping.empty());
    EXPECT_EQ(gpu_.launches.back().kernel, "nt_empty");
    EXPECT_EQ(sample(SampleKind::copy, false), "driver") << "each kind keeps its own";
}

TEST_F(GpuDeviceTest, TheRaceOfCopiesIsShortAndOnceForProblemsOfOneTraffic) {
    gpu_.launch_us = [](const std::string&) { return 3.0; };
    const auto device = open();
    const auto launches = [&](const char* problem) {
        const auto buffers = device->allocate(parse_problem_key(problem), rotating());
        gpu_.launches.clear();
        device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 1});
        return gpu_.launches.size();
    };
    const std::size_t with_race = launches("rms_norm/forward/bf16/llama/16x1024");
    const std::size_t without = launches("rms_norm/forward/fp16/gemma/16x1024");
    EXPECT_GT(with_race, without);
    EXPECT_LT(static_cast<double>(with_race - without) * 3, 20000) << "microseconds of the device";
    launches("rms_norm/backward/bf16/llama/16x1024");
    std::set<std::string> tried;
    for (const FakeGpu::Launched& launch : gpu_.launches) {
        tried.insert(launch.kernel);
    }
    EXPECT_GT(tried.size(), 4U) << "reads two signals and writes one: a race of its own";
}

// A glance is of launches one by one, the limit of graphs: what a glance leaves is sampled as the limit is before one is chosen.
TEST_F(GpuDeviceTest, TheFastestCopyInAGraphIsTheLimitThoughAGlanceHasManyAheadOfIt) {
    const std::set<std::string> flattered{"nt_copy_4_1_default", "nt_copy_4_4_default"};
    gpu_.launch_us = [&](const std::string& name) {
        return flattered.contains(name)           ? (gpu_.in_graph ? 4.0 : 2.0)
               : name == "nt_copy_16_8_streaming" ? (gpu_.in_graph ? 2.9 : 2.1)
                                                  : 3.0;
    };
    const auto device = open();
    const auto buffers = device->allocate(parse_problem_key("rms_norm/forward/bf16/llama/16x1024"), rotating());
    const SampleBatch batch = device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 2});
    EXPECT_NEAR(batch.us[1], 2.9, 1e-4) << batch.copy;
    EXPECT_EQ(threads_of("nt_copy_16_8_streaming"), (std::set<unsigned>{32, 64, 128, 256})) << "programs as small as those of a row each";
}

// What is short is chosen by what it takes where it is measured: a glance may have met another state of launches.
TEST_F(GpuDeviceTest, AShortCopyThatAGlanceFlattersIsNotTheLimit) {
    std::map<std::string, int> launched;
    gpu_.launch_us = [&](const std::string& name) { return name != "nt_copy_16_1_default" ? 3.0 : ++launched[name] <= 200 ? 2.0 : 4.0; };
    const auto device = open();
    const auto buffers = device->allocate(parse_problem_key("rms_norm/forward/bf16/llama/16x1024"), rotating());
    const SampleBatch batch = device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 2});
    EXPECT_GT(launched["nt_copy_16_1_default"], 200) << "it was among the foremost";
    EXPECT_EQ(batch.copy.find("v16.u1."), std::string::npos) << batch.copy;
    EXPECT_NEAR(batch.us[1], 3, 1e-4);
}

// A glance has few launches of a long copy: those that may be the limit get three.
TEST_F(GpuDeviceTest, ForemostLongCopiesAreGlancedAtThreeTimes) {
    std::map<std::string, int> glanced;
    gpu_.launch_us = [&](const std::string& name) {
        glanced[name] += gpu_.in_graph ? 0 : 1;
        return name == "nt_copy_staged_8_default" ? 40.0 : name == "nt_copy_staged_8_streaming" ? 60.0 : 41.0;
    };
    eighth_round_of_copies();
    const int once = glanced["nt_copy_staged_8_streaming"];
    EXPECT_GT(once, 1);
    EXPECT_GE(glanced["nt_copy_staged_8_default"], 3 * once);
}

// Long copies are near to each other: one that four kernels, in three geometries each, are ahead of at a glance is sampled, too.
TEST_F(GpuDeviceTest, ALongCopyBehindTwelveAtAGlanceMayBeTheLimit) {
    const std::set<std::string> flattered{"nt_copy_16_1_default", "nt_copy_16_2_default", "nt_copy_16_4_default", "nt_copy_16_8_default"};
    gpu_.launch_us = [&](const std::string& name) {
        return flattered.contains(name)          ? (gpu_.in_graph ? 44.0 : 40.0)
               : name == "nt_copy_16_2_together" ? (gpu_.in_graph ? 39.0 : 40.5)
                                                 : 43.0;
    };
    const auto device = open();
    const auto buffers = device->allocate(parse_problem_key("rms_norm/forward/bf16/llama/1024x1024"), rotating());
    const SampleBatch batch = device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 2});
    EXPECT_NEAR(batch.us[1], 39, 1e-4) << batch.copy;
    EXPECT_EQ(threads_of("nt_copy_16_2_together"), (std::set<unsigned>{64, 128, 256})) << "programs as small as those of a short row";
}

// Of few bytes all programs lie on the device at once, and there is nothing to write late among.
TEST_F(GpuDeviceTest, CopiesThatWriteLateAreTriedBeyondOneMebibyte) {
    gpu_.launch_us = [](const std::string& name) { return name.find("_late") != std::string::npos ? 6.0 : 8.0; };
    for (const auto& [problem, is_large] :
         {std::pair{"rms_norm/forward/bf16/llama/1024x1024", true}, {"rms_norm/forward/bf16/llama/512x1024", false}}) {
        const auto device = open();
        const auto buffers = device->allocate(parse_problem_key(problem), rotating());
        const SampleBatch batch = device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 2});
        EXPECT_EQ(batch.copy.find(".late") != std::string::npos, is_large) << batch.copy;
        EXPECT_NEAR(batch.us[1], is_large ? 6 : 8, 1e-4) << problem;
    }
}

// A glance of a few launches may meet a slow one.
TEST_F(GpuDeviceTest, ForemostCopiesBeyondOneMebibyteAreGlancedAtTwice) {
    for (const auto& [problem, glances] :
         {std::pair{"rms_norm/forward/bf16/llama/1024x1024", 2}, {"rms_norm/forward/bf16/llama/512x1024", 1}}) {
        std::map<std::string, int> glanced;
        gpu_.launch_us = [&](const std::string& name) {
            glanced[name] += gpu_.in_graph ? 0 : 1;
            return name == "nt_copy_16_3_together" ? 6.0 : name == "nt_copy_16_3_together_default" ? 9.0 : 8.0;
        };
        const auto device = open();
        const auto buffers = device->allocate(parse_problem_key(problem), rotating());
        device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 1});
        const int once = glanced["nt_copy_16_3_together_default"];
        EXPECT_GT(once, 1);
        EXPECT_EQ(glanced["nt_copy_16_3_together"] / once, glances) << problem;
    }
}

TEST_F(GpuDeviceTest, ALongCopyThatAGlanceFlattersIsNotTheLimitWhereAnotherWayIsNear) {
    std::map<std::string, int> launched;
    gpu_.launch_us = [&](const std::string& name) {
        return name != "nt_copy_staged_8_default" ? 41.0 : ++launched[name] <= 200 ? 40.0 : 44.0;
    };
    const SampleBatch batch = eighth_round_of_copies();
    EXPECT_GT(launched["nt_copy_staged_8_default"], 200) << "it was the foremost";
    EXPECT_EQ(batch.copy.find("staged"), std::string::npos) << batch.copy;
    EXPECT_NEAR(batch.us[1], 41, 1e-4);
}

TEST_F(GpuDeviceTest, ALongCopyThatAGlanceFlattersIsNotTheLimitWhereTheNextOfItsWayIsNear) {
    std::map<std::string, int> launched;
    gpu_.launch_us = [&](const std::string& name) {
        const bool staged = name.find("staged") != std::string::npos;
        return name != "nt_copy_16_4_default" ? (staged ? 43.0 : 41.0) : ++launched[name] <= 200 ? 40.0 : 44.0;
    };
    const SampleBatch batch = eighth_round_of_copies();
    EXPECT_GT(launched["nt_copy_16_4_default"], 200) << "it was the foremost";
    EXPECT_NEAR(batch.us[1], 41, 1e-4) << batch.copy;
}

// A launch's own time changes within a sweep: each round takes the fastest of the foremost as they are then.
TEST_F(GpuDeviceTest, TheLimitOfAShortProblemIsTheFastestCopyOfEachRound) {
    double driver_us = 2.2;
    double kernel_us = 2.1;
    gpu_.launch_us = [&](const std::string& name) { return name == "copy" ? driver_us : kernel_us; };
    const auto device = open();
    const auto buffers = device->allocate(parse_problem_key("rms_norm/forward/bf16/llama/16x1024"), rotating());
    const auto round = [&] { return device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .samples = 2}); };
    SampleBatch batch = round();
    EXPECT_TRUE(batch.copy.starts_with("v")) << batch.copy;
    EXPECT_NEAR(batch.us[1], 2.1, 1e-4);
    kernel_us = 2.4;
    batch = round();
    EXPECT_EQ(batch.copy, "driver");
    EXPECT_NEAR(batch.us[1], 2.2, 1e-4);
    kernel_us = 2.1;
    int clock_reads = 0;
    on_clock_read_ = [&] { ++clock_reads; };
    EXPECT_NEAR(round().us[1], 2.1, 1e-4);
    EXPECT_LE(clock_reads, 2) << "of the batch alone: reading them takes longer than choosing the copy";
}

// A full op's copy has its forward's and its backward's pass; in place the backward's is over its own input.
TEST_F(GpuDeviceTest, ACopyHasThePassesOfItsOp) {
    const auto device = open();
    const auto buffers = device->allocate(parse_problem_key("rms_norm/full/bf16/llama/16x1024/in_place"), rotating());
    const auto& sets = dynamic_cast<const GpuBuffers&>(*buffers);
    device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .cold = false, .samples = 1});
    gpu_.launches.clear();
    device->sample(nullptr, *buffers, {.kind = SampleKind::copy, .cold = false, .samples = 1});
    ASSERT_GE(gpu_.launches.size(), 2U);
    for (std::size_t i = 0; i < gpu_.launches.size(); ++i) {
        EXPECT_EQ(gpu_.launches[i].first_argument, sets.pointer(i % 2 == 0 ? TensorRole::x : TensorRole::dy, 0)) << i;
    }
}

}  // namespace
}  // namespace normtune::gpu
