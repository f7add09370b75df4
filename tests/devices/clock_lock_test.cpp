// The lock of a clock over a library in NVML's place: it is given back on every way out.
#include "devices/cuda/clock_lock.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "devices/cuda/nvml.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace normtune::cuda {
namespace {

constexpr const char* device_id = "0000:18:00.0";

class ClockLockTest : public ::testing::Test {
protected:
    ClockLockTest() {
        // The keeper finds it by its path, this process because one of its name is loaded already.
        const char* const before = std::getenv("LD_LIBRARY_PATH");
        setenv("LD_LIBRARY_PATH", (std::string(NORMTUNE_FAKE_NVML) + (before == nullptr ? "" : std::string(":") + before)).c_str(), 1);
        setenv("FAKE_NVML_NOTES", notes_.c_str(), 1);
        EXPECT_NE(dlopen(NORMTUNE_FAKE_NVML "/libnvidia-ml.so.1", RTLD_NOW), nullptr) << dlerror();
    }
    ~ClockLockTest() override {
        unsetenv("FAKE_NVML_NOTES");
        unsetenv("FAKE_NVML_REFUSES");
    }
    std::string notes() const { return std::filesystem::exists(notes_) ? read_file(notes_) : ""; }
    /// Once the keeper has had its time.
    std::string notes_at_last(const std::string& wanted) const {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (notes() != wanted && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return notes();
    }
    /// A process, and a group, of its own that holds the lock until `number` ends it; `whom`: it, or −1 for the group.
    void end_by(int number, bool group) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            setpgid(0, 0);
            try {
                const ClockLock lock(NORMTUNE_EXECUTABLE, device_id, 1410);
                while (true) {
                    pause();
                }
            } catch (...) {
                _exit(3);
            }
        }
        ASSERT_EQ(notes_at_last("lock 1410\n"), "lock 1410\n");
        kill(group ? -child : child, number);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status)) << status;
        EXPECT_EQ(notes_at_last("lock 1410\nunlock 0\n"), "lock 1410\nunlock 0\n");
    }

    testing::TemporaryFolder folder_;
    std::string notes_ = folder_ / "notes";
};

TEST_F(ClockLockTest, TheFakeIsOpenedAsTheRealOneIs) {
    const gpu::ClockState clocks = read_clocks(device_id);
    EXPECT_EQ(clocks.mhz, 1980);
    EXPECT_EQ(clocks.memory_mhz, 2619);
    EXPECT_EQ(clocks.throttle_reasons, std::vector<std::string>{"sw_power_cap"});
    EXPECT_FALSE(read_clocks("0000:19:00.0").mhz.has_value());
}

TEST_F(ClockLockTest, IsGivenBackAtTheEndAndOnAnError) {
    {
        const ClockLock lock(NORMTUNE_EXECUTABLE, device_id, 1410);
        EXPECT_EQ(notes(), "lock 1410\n");
    }
    EXPECT_EQ(notes(), "lock 1410\nunlock 0\n");
    try {
        const ClockLock lock(NORMTUNE_EXECUTABLE, device_id, 1200);
        throw std::runtime_error("what a sweep throws");
    } catch (const std::runtime_error&) {
        EXPECT_EQ(notes(), "lock 1410\nunlock 0\nlock 1200\nunlock 0\n");
    }
}

TEST_F(ClockLockTest, IsGivenBackWhereASignalEndsTheProcess) {
    end_by(SIGINT, true);  // as a terminal sends it, to the whole group
}

TEST_F(ClockLockTest, IsGivenBackWhereTheWholeGroupIsKilled) {
    end_by(SIGKILL, true);
}

TEST_F(ClockLockTest, IsGivenBackWhereNothingOfTheProcessRunsAnyMore) {
    end_by(SIGKILL, false);
}

TEST_F(ClockLockTest, IsGivenBackWhereItsKeeperWasKilled) {
    {
        const ClockLock lock(NORMTUNE_EXECUTABLE, device_id, 1410);
        kill(lock.keeper(), SIGKILL);
    }
    EXPECT_EQ(notes(), "lock 1410\nunlock 0\n");
}

TEST_F(ClockLockTest, WhatTheDriverDoesNotPermitIsOneLine) {
    const auto refusal = [](const char* of) -> std::string {
        try {
            const ClockLock lock(NORMTUNE_EXECUTABLE, of, 1410);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal("0000:19:00.0"),
              "--lock-clocks 1410: the driver does not lock the clock of 0000:19:00.0 (Not Found); root may, where "
              "the GPU can do it; leave it out");
    setenv("FAKE_NVML_REFUSES", "4", 1);
    EXPECT_EQ(refusal(device_id),
              "--lock-clocks 1410: the driver does not lock the clock of 0000:18:00.0 (Insufficient Permissions); root may, "
              "where the GPU can do it; leave it out");
    EXPECT_EQ(notes(), "");
}

}  // namespace
}  // namespace normtune::cuda
