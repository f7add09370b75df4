// The oracle that runs on a GPU, emulated: it agrees with the host's, tells what is wrong, and where it is wrong itself that is told.
#include "verify/device_oracle.h"

#include <gtest/gtest.h>

#include "kernels/gpu/emulated_device.h"
#include "support/sanitized.h"
#include "verify/verifier.h"

namespace normtune {
namespace {

testing::EmulationOptions with_programs(const Shape& shape) {
    testing::EmulationOptions options;
    options.has_programs = true;
    options.supports = [shape](const Shape& wanted) { return wanted == shape; };
    return options;
}

std::unique_ptr<DeviceProgram> load_and_check(Device& device, const Operation& operation, const RoundingContract& contract) {
    auto program = load_device_oracle(device, operation);
    check_device_oracle(device, *program, operation, contract);
    return program;
}

class DeviceOracleOf : public ::testing::TestWithParam<const char*> {};

TEST_P(DeviceOracleOf, ComputesAndJudgesAsTheHosts) {
    const Operation operation = parse_problem_key(GetParam()).operation;
    RoundingContract as_autograd = operation.contract();
    as_autograd.backward = {.normal = true, .gradient = true, .terms = true};
    RoundingContract of_squares = operation.contract();  // those of fp16 do not fit where x is large
    of_squares.forward.squares = of_squares.forward.scale = is_narrow(operation.dtype);
    testing::EmulatedDevice device(32, with_programs({}));
    for (const RoundingContract& contract : {operation.contract(), as_autograd, of_squares}) {
        try {
            EXPECT_NE(load_and_check(device, operation, contract), nullptr);
        } catch (const DeviceError& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Problems, DeviceOracleOf,
    ::testing::Values("rms_norm/forward/bf16/llama/8x8", "rms_norm/forward/fp16/none/8x8/offset1/w_fp32",
                      "rms_norm/forward/fp32/gemma/8x8/weightless", "rms_norm/backward/bf16/llama/8x8",
                      "rms_norm/backward/fp16/none/8x8/w_fp32", "rms_norm/backward/bf16/gemma/8x8/in_place",
                      "fused_add_rms_norm/forward/bf16/llama/8x8", "fused_add_rms_norm/forward/fp16/gemma/8x8/residual_fp32",
                      "fused_add_rms_norm/full/bf16/none/8x8", "fused_add_rms_norm/full/fp32/llama/8x8/offset1",
                      "fused_add_rms_norm/backward/fp16/llama/8x8/in_place", "rms_norm/inference/bf16/llama/8x8",
                      "rms_norm/inference/fp16/none/8x8/offset1/in_place", "rms_norm/inference/fp32/gemma/8x8/in_place",
                      "fused_add_rms_norm/inference/bf16/llama/8x8/in_place", "fused_add_rms_norm/inference/fp16/gemma/8x8/residual_fp32"),
    [](const auto& given) { return "case_" + std::to_string(given.index); });

TEST(DeviceOracle, AWrongOneIsTold) {
    struct Slip {
        const char* from;
        const char* to;
    };
    for (const Slip slip : {Slip{"squares / n + task.eps", "squares / n"}, Slip{"mask >> 1", "mask >> 2"}, Slip{"over > 1 ? 1 : 0", "0"},
                            Slip{"task.residual_fp32 != 0", "task.residual_fp32 == 0"},
                            Slip{"out.unwritten += code == poison", "out.unwritten += code != poison"}}) {
        testing::EmulationOptions options = with_programs({});
        options.edit_program = [slip](std::string source) {
            const std::size_t at = source.find(slip.from);
            EXPECT_NE(at, std::string::npos) << slip.from;
            return at == std::string::npos ? source : source.replace(at, std::string_view(slip.from).size(), slip.to);
        };
        testing::EmulatedDevice device(32, options);
        const Operation operation = parse_problem_key("fused_add_rms_norm/forward/fp16/llama/8x8/residual_fp32").operation;
        EXPECT_THROW(load_and_check(device, operation, operation.contract()), DeviceError) << slip.from;
    }
}

TEST(DeviceOracle, AWrongBoundOfAnRstdThatNobodySeesIsTold) {
    for (const char* sign : {"+", "-"}) {
        testing::EmulationOptions options = with_programs({});
        options.edit_program = [sign](std::string source) {
            const std::string from = std::string("(1 ") + sign + " task.row_rstd_bound[i])";
            const std::size_t at = source.find(from);
            EXPECT_NE(at, std::string::npos) << from;
            return source.replace(at, from.size(), std::string("(1 ") + sign + " 2 * task.row_rstd_bound[i])");
        };
        testing::EmulatedDevice device(32, options);
        const Operation operation = parse_problem_key("rms_norm/inference/fp32/llama/8x8").operation;
        EXPECT_THROW(load_and_check(device, operation, operation.contract()), DeviceError) << sign;
    }
}

// A row of zeros has no terms, and the bound of none.
TEST(DeviceOracle, BoundsByAnotherNumberOfTermsAreTold) {
    for (const std::string& from : {std::string("values += v != 0;"), std::string("terms += product != 0;")}) {
        testing::EmulationOptions options = with_programs({});
        options.edit_program = [&](std::string source) {
            const std::size_t at = source.find(from);
            EXPECT_NE(at, std::string::npos) << from;
            return source.replace(at, from.size(), from.substr(0, from.find('=')) + "= 1;");
        };
        testing::EmulatedDevice device(32, options);
        const Operation operation = parse_problem_key("rms_norm/full/fp32/llama/8x8").operation;
        EXPECT_THROW(load_and_check(device, operation, operation.contract()), DeviceError) << from;
    }
}

TEST(DeviceOracle, VerifiesKernelsAsTheHostsDoes) {
    NORMTUNE_NOT_SANITIZED("emulated kernels and oracles");
    struct Case {
        const char* problem;
        const char* key;
        std::string from;
        std::string to;
    };
    constexpr const char* backward = "w2.t16.r4.row.registers.masked.persistent_strided.runtime.gamma_hoisted.s2.tile32x8x2";
    constexpr const char* forward = "w2.t16.r4.row.registers.masked.persistent_strided.runtime.gamma_hoisted.s2";
    const std::string cols = "(1.0f / static_cast<float>(nt_cols)) + eps";
    const std::string more_cols = "(1.0f / static_cast<float>(nt_cols + 1)) + eps";
    for (const auto& [wanted, key, from, to] :
         {Case{"rms_norm/backward/bf16/llama/13x96", backward, "back * v[i]", "back * 1.01f * v[i]"},
          {"rms_norm/backward/bf16/llama/13x96/in_place", backward, "back * v[i]", "back * 1.01f * v[i]"},
          {"rms_norm/inference/bf16/llama/13x96", forward, cols, more_cols},
          {"rms_norm/inference/bf16/gemma/13x96/in_place", forward, cols, more_cols},
          {"fused_add_rms_norm/inference/fp16/llama/13x96/in_place", forward, cols, more_cols}}) {
        const Problem problem = parse_problem_key(wanted);
        for (const bool mutate : {false, true}) {
            std::string reasons[2];
            for (const bool on_device : {false, true}) {
                testing::EmulationOptions options = with_programs(problem.shape);
                options.has_programs = on_device;
                options.edit = [&](std::string source) {
                    const std::size_t at = source.find(from);
                    EXPECT_NE(at, std::string::npos);
                    return mutate ? source.replace(at, from.size(), to) : source;
                };
                testing::EmulatedDevice device(32, options);
                const Verification verification = Verifier(device, problem, 7).verify(Configuration::parse(key));
                EXPECT_EQ(verification.passed, !mutate) << verification.reason;
                reasons[on_device ? 1 : 0] = verification.reason;
            }
            EXPECT_EQ(reasons[0], reasons[1]);
        }
    }
}

// Each contract takes another way through the program.
TEST(DeviceOracle, IsCheckedForEachContract) {
    testing::EmulationOptions options = with_programs({});
    options.edit_program = [](std::string source) {
        const std::string from = "(points & nt_scale) != 0 ? nt_round(task.type, rstd) : rstd";
        const std::size_t at = source.find(from);
        EXPECT_NE(at, std::string::npos);
        return source.replace(at, from.size(), "rstd");
    };
    testing::EmulatedDevice device(32, options);
    const Operation operation = parse_problem_key("rms_norm/forward/bf16/llama/8x8").operation;
    const auto program = load_device_oracle(device, operation);
    RoundingContract contract = operation.contract();
    check_device_oracle(device, *program, operation, contract);
    contract.forward.scale = true;
    EXPECT_THROW(check_device_oracle(device, *program, operation, contract), DeviceError);
}

TEST(DeviceOracle, TellsAnInputThatIsWrittenOver) {
    const Problem problem = parse_problem_key("rms_norm/forward/bf16/llama/5x96/stride104");
    testing::EmulationOptions options = with_programs(problem.shape);
    testing::EmulatedDevice device(32, options);
    const auto program = load_device_oracle(device, problem.operation);
    const auto buffers = device.allocate(problem, {});
    DeviceOracle oracle(device, *program, problem, problem.operation.contract(), *buffers, 0, true, false);
    EXPECT_TRUE(oracle.changed().empty());
    std::vector<std::byte> x(static_cast<std::size_t>(tensor_of(problem, TensorRole::x).span_bytes()));
    buffers->download(TensorRole::x, 0, x);
    x[2 * 100] = std::byte{1};  // in a gap
    buffers->upload(TensorRole::x, 0, x);
    EXPECT_EQ(oracle.changed(), std::vector<TensorRole>{TensorRole::x});
}

}  // namespace
}  // namespace normtune
