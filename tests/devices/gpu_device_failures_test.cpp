// What a driver lacks, what a failing call becomes, and that nothing stays allocated.
#include "devices/gpu_device_fixture.h"

#include <cstring>

#include "devices/gpu/planted_faults.h"
#include "support/sanitized.h"

namespace normtune::gpu {
namespace {

TEST_F(GpuDeviceTest, DoesWithoutWhatADriverMayLack) {
    gpu_.attributes[Attribute::can_wait_for_value] = 0;
    gpu_.failing_call = "stream_begin_capture";
    gpu_.failing_result = 801;
    driver_.graph_upload = nullptr;
    const auto device = open();
    const auto kernel = device->compile(problem_, Configuration::parse(key));
    const auto buffers = device->allocate(problem_, rotating());
    gpu_.launches.clear();
    const SampleBatch batch = device->sample(kernel.get(), *buffers, {.samples = 2});
    EXPECT_EQ(batch.timer, "cleared_settled_events");
    EXPECT_EQ(gpu_.launches.front().kernel, "nt_gate");
    EXPECT_EQ(std::count_if(gpu_.launches.begin(), gpu_.launches.end(), [](const auto& launch) { return launch.kernel == "nt_forward"; }),
              3 + 3 * (batch.launches_per_sample + own_launches_ahead(*buffers)));
}

TEST_F(GpuDeviceTest, WhatDoesNotFitIsUnsupported) {
    const auto device = open();
    gpu_.programs_of_a_unit = 0;
    try {
        device->compile(problem_, Configuration::parse(key));
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::unsupported);
        EXPECT_STREQ(error.what(), "not even one program of nt_forward fits on a compute unit");
    }
    gpu_.memory_bytes = 1000;
    try {
        device->allocate(problem_, {});
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::out_of_memory);
    }
}

TEST_F(GpuDeviceTest, AClusterThatFindsNoPlaceIsUnsupported) {
    const auto device = open();
    const auto compiled = [&]() -> std::string {
        try {
            device->compile(parse_problem_key("rms_norm/forward/bf16/llama/16x16384"), Configuration::parse(std::string(key) + ".c4"));
            return "compiled";
        } catch (const DeviceError& error) {
            return error.fault() == DeviceFault::unsupported ? error.what() : "another fault";
        }
    };
    const std::string no_place = "not even one cluster of 4x1x1 programs of nt_forward finds a place on the device";
    EXPECT_EQ(compiled(), "compiled");
    gpu_.clusters_of_the_device = 0;
    EXPECT_EQ(compiled(), no_place);
    gpu_.failing_call = "occupancy_clusters";
    gpu_.failing_result = 801;
    EXPECT_EQ(compiled().rfind(no_place + ": ", 0), 0U) << "the driver's own word: " << compiled();
    driver_.occupancy_clusters = nullptr;  // a driver that cannot tell: the first launch does
    EXPECT_EQ(compiled(), "compiled");
}

TEST_F(GpuDeviceTest, ACooperativeLaunchOfMoreClustersThanFindPlacesIsUnsupported) {
    const auto device = open();
    const auto compiled = [&]() -> std::string {
        try {
            device->compile(parse_problem_key("rms_norm/backward/bf16/llama/64x8192"),
                            Configuration::parse("w4.t64.r2.row.registers.even.persistent_strided.s2.cooperative.tile64x64x4.c8"));
            return "compiled";
        } catch (const DeviceError& error) {
            return error.fault() == DeviceFault::unsupported ? error.what() : "another fault";
        }
    };
    gpu_.clusters_of_the_device = 15;
    EXPECT_EQ(compiled(), "compiled");
    gpu_.clusters_of_the_device = 14;
    EXPECT_EQ(compiled(),
              "a cooperative launch needs all its 120 programs resident at once; registers and shared memory leave room for 112");
}

TEST_F(GpuDeviceTest, LeavesNothingAllocated) {
    whole_run();
    EXPECT_EQ(gpu_.alive(), 0U);
}

struct Failing {
    const char* call;
    DeviceFault fault;
};

class FailingCall : public GpuDeviceTest, public ::testing::WithParamInterface<Failing> {};

// On each occasion that a run has for it: the fault is the call's own, and nothing stays allocated. Under a sanitizer on few of them: they
// are hundreds of runs.
TEST_P(FailingCall, BecomesItsFaultAndLeavesNothing) {
    if (testing::thread_sanitized) {
        GTEST_SKIP() << "a driver's failing call is told in the thread that makes it";
    }
    const int early = testing::sanitized ? 3 : 40;
    const int step = testing::sanitized ? 97 : 17;
    for (const bool out_of_memory : {false, true}) {
        int occasion = 1;
        for (; occasion < 500; occasion += occasion < early ? 1 : step) {
            {
                FakeGpu fresh;
                driver_ = fresh.table();
                fresh.failing_call = GetParam().call;
                fresh.failing_result = out_of_memory ? error_out_of_memory : FakeGpu::error_illegal_address;
                fresh.failing_occasion = occasion;
                bool failed = false;
                try {
                    whole_run();
                } catch (const DeviceError& error) {
                    failed = true;
                    // What a driver may refuse (a wait, a capture, page-locked memory) is done without; what fails
                    // then is the call that follows on a device that is broken.
                    const bool own = std::string(error.what()).find(": error ") != std::string::npos;
                    EXPECT_TRUE(own) << error.what();
                    const DeviceFault expected = out_of_memory ? DeviceFault::out_of_memory : GetParam().fault;
                    EXPECT_EQ(error.fault(), expected) << GetParam().call << " no. " << occasion << ": " << error.what();
                }
                EXPECT_EQ(fresh.alive(), 0U) << GetParam().call << " no. " << occasion;
                if (!failed && fresh.calls[GetParam().call] < occasion) {
                    break;
                }
            }
        }
        EXPECT_GT(occasion, 1) << "the run never makes this call";
    }
}

INSTANTIATE_TEST_SUITE_P(
    Driver, FailingCall,
    ::testing::Values(Failing{"device_get", DeviceFault::launch_failed}, Failing{"device_use", DeviceFault::launch_failed},
                      Failing{"memory_get_info", DeviceFault::launch_failed}, Failing{"memory_alloc", DeviceFault::launch_failed},
                      Failing{"copy_to_device", DeviceFault::launch_failed}, Failing{"copy_to_host", DeviceFault::launch_failed},
                      Failing{"copy_on_device_async", DeviceFault::launch_failed}, Failing{"set_u32_async", DeviceFault::launch_failed},
                      Failing{"module_load_data", DeviceFault::compile_failed}, Failing{"module_get_function", DeviceFault::compile_failed},
                      Failing{"occupancy_blocks", DeviceFault::launch_failed}, Failing{"launch_kernel", DeviceFault::launch_failed},
                      Failing{"stream_create", DeviceFault::launch_failed}, Failing{"stream_synchronize", DeviceFault::launch_failed},
                      Failing{"event_create", DeviceFault::launch_failed}, Failing{"event_record", DeviceFault::launch_failed},
                      Failing{"event_synchronize", DeviceFault::launch_failed}, Failing{"event_elapsed_ms", DeviceFault::launch_failed},
                      Failing{"graph_instantiate", DeviceFault::launch_failed}, Failing{"graph_upload", DeviceFault::launch_failed},
                      Failing{"graph_launch", DeviceFault::launch_failed}),
    [](const auto& failing) { return std::string(failing.param.call); });

// The faults that scripts/check_gpu plants, over the same driver.
TEST_F(GpuDeviceTest, PlantedFaultsAreThoseOfTheirConfigurationsAlone) {
    const std::pair<const char*, DeviceFault> cases[] = {{"illegal_address", DeviceFault::launch_failed},
                                                         {"out_of_memory", DeviceFault::out_of_memory}};
    for (const auto& [name, fault] : cases) {
        FakeGpu fresh;
        driver_ = fresh.table();
        setenv("NORMTUNE_PLANT_FAULTS", (std::string(name) + "=" + key).c_str(), 1);
        EXPECT_NE(planted_faults_warning(), "");
        const PlantedFaults faults = PlantedFaults::from_environment();
        unsetenv("NORMTUNE_PLANT_FAULTS");
        EXPECT_EQ(planted_faults_warning(), "");
        {
            const auto device = plant(open(), driver_, nullptr, faults);
            const auto sound = device->compile(problem_, Configuration::parse("w2.t64.r1.row.registers.masked.per_row"));
            const auto planted = device->compile(problem_, Configuration::parse(key));
            const auto buffers = device->allocate(problem_, rotating());
            device->run(*sound, *buffers, 0, Workspace::cleared);
            EXPECT_EQ(device->sample(sound.get(), *buffers, {.samples = 2}).us.size(), 2U);
            EXPECT_EQ(device->sample(nullptr, *buffers, {.kind = SampleKind::empty, .samples = 1}).us.size(), 1U);
            try {
                device->run(*planted, *buffers, 0, Workspace::cleared);
                FAIL() << name;
            } catch (const DeviceError& error) {
                EXPECT_EQ(error.fault(), fault) << error.what();
            }
        }
        EXPECT_EQ(fresh.alive(), 0U);
    }
}

TEST(DeviceUuid, IsWrittenAsTheVendorsToolsWriteIt) {
    Driver driver{};
    EXPECT_EQ(device_uuid(driver, 0), "");
    driver.device_get_uuid = [](void* bytes, DeviceId) {
        for (unsigned char i = 0; i < 16; ++i) {
            static_cast<unsigned char*>(bytes)[i] = static_cast<unsigned char>(i * 16 + 15 - i);
        }
        return success;
    };
    EXPECT_EQ(device_uuid(driver, 0), "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
    driver.device_get_uuid = [](void* bytes, DeviceId) {
        std::memcpy(bytes, "0f1e2d3c4b5a6978", 16);  // HIP
        return success;
    };
    EXPECT_EQ(device_uuid(driver, 0), "GPU-0f1e2d3c4b5a6978");
    driver.device_get_uuid = [](void*, DeviceId) { return FakeGpu::error_illegal_address; };
    EXPECT_EQ(device_uuid(driver, 0), "");
}

}  // namespace
}  // namespace normtune::gpu
