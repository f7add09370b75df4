// Verification's code on a GPU, over a driver that computes nothing.
#include "devices/gpu/gpu_program.h"

#include <array>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "devices/gpu_device_fixture.h"
#include "verify/device_oracle_source.h"

namespace normtune::gpu {
namespace {

using GpuProgramTest = GpuDeviceTest;

TEST_F(GpuProgramTest, AProgramsCodeRunsOnItsOwnMemory) {
    const auto device = open();
    const auto program = device->load({"a source", {"KERNEL another(int)", "KERNEL nt_of_verification(int)"}});
    const auto memory = program->allocate(8);
    const std::array<std::byte, 8> written{std::byte{1}, std::byte{2}};
    std::array<std::byte, 8> back{};
    memory->write(written);
    memory->read(back);
    EXPECT_EQ(back, written);
    gpu_.launches.clear();
    program->launch("nt_of_verification", 3, std::array<std::uint64_t, 1>{memory->address()});
    EXPECT_EQ(gpu_.launches, (std::vector<FakeGpu::Launched>{
                                 {.kernel = "nt_of_verification", .first_argument = memory->address(), .threads = 256, .programs = 3}}));
    EXPECT_THROW(program->launch("nt_of_none", 3, std::array<std::uint64_t, 1>{memory->address()}), std::logic_error);
    EXPECT_THROW(program->allocate(std::int64_t{1} << 40), DeviceError);
}

TEST(GpuProgram, EachKernelOfTheOracleIsInOnePart) {
    for (const char* kernel : {"rows", "columns", "total", "forward", "backward", "dgamma", "digest", "copy"}) {
        int parts = 0;
        for (const std::string_view part : {device_oracle_sums, device_oracle_forward, device_oracle_backward}) {
            parts += part.find(fmt::format(" nt_oracle_{}(", kernel)) == std::string_view::npos ? 0 : 1;
        }
        EXPECT_EQ(parts, 1) << kernel;
    }
}

}  // namespace
}  // namespace normtune::gpu
