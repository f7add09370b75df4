#include <fmt/format.h>
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "support/sanitized.h"
#include "trial/launch_manifest.h"
#include "verify/fake_kernels.h"
#include "verify/fill.h"
#include "verify/verifier.h"

namespace normtune {
namespace {

using fake::Defect;
using fake::FakeDevice;
using fake::Order;

Problem problem_of(const char* key) {
    return parse_problem_key(key);
}

std::vector<std::byte> ones(const Tensor& tensor) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.span_bytes()));
    encode(tensor.dtype, std::vector<float>(static_cast<std::size_t>(tensor.span()), 1), 0, bytes.data());
    return bytes;
}

Verification verify(const Problem& problem, Order order, Defect defect, std::uint64_t seed) {
    FakeDevice device(order, defect);
    return Verifier(device, problem, seed).verify(Configuration{});
}

class CorrectKernels : public ::testing::TestWithParam<const char*> {};

TEST_P(CorrectKernels, PassInAnyOrderOfSummation) {
    if (testing::thread_sanitized && std::string_view(GetParam()).find("x17389") != std::string_view::npos) {
        GTEST_SKIP() << "the same threads as for narrower shapes, and takes most of a minute under a sanitizer";
    }
    for (const Order order : {Order::sequential, Order::pairwise, Order::lanes16}) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const Verification verification = verify(problem_of(GetParam()), order, Defect::none, seed);
            EXPECT_TRUE(verification.passed) << "seed " << seed << ": " << verification.reason;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Problems, CorrectKernels,
                         ::testing::Values("rms_norm/full/fp32/llama/64x256", "rms_norm/full/bf16/llama/64x256",
                                           "rms_norm/full/bf16/gemma/64x256", "rms_norm/full/bf16/none/64x256",
                                           "rms_norm/full/fp16/llama/64x256", "rms_norm/full/fp16/gemma/64x256/offset1",
                                           "rms_norm/full/fp16/none/64x256", "rms_norm/full/bf16/none/64x256/offset1",
                                           "fused_add_rms_norm/full/fp16/none/33x128/w_fp32/offset1",
                                           "rms_norm/backward/fp16/none/64x256/w_fp32", "rms_norm/backward/bf16/llama/200x96/in_place",
                                           "rms_norm/backward/bf16/gemma/200x96/w_fp32", "rms_norm/backward/fp32/gemma/513x64/in_place",
                                           "rms_norm/forward/bf16/llama/40x512/stride576", "rms_norm/forward/fp16/none/16x128/weightless",
                                           "rms_norm/full/bf16/llama/16x128/weightless", "fused_add_rms_norm/full/bf16/llama/40x200",
                                           "fused_add_rms_norm/full/fp32/gemma/40x200",
                                           "fused_add_rms_norm/backward/fp16/gemma/40x200/in_place",
                                           "fused_add_rms_norm/forward/bf16/llama/40x200/residual_fp32",
                                           "fused_add_rms_norm/full/bf16/gemma/40x200/residual_fp32", "rms_norm/full/bf16/llama/5x1",
                                           "rms_norm/full/fp32/llama/1x1", "rms_norm/full/fp16/none/3x2", "rms_norm/full/fp16/llama/9x7"));

// Nothing says what rstd they had.
INSTANTIATE_TEST_SUITE_P(Inference, CorrectKernels,
                         ::testing::Values("rms_norm/inference/bf16/llama/64x256", "rms_norm/inference/fp16/none/64x256/offset1",
                                           "rms_norm/inference/fp32/gemma/64x256/stride320",
                                           "rms_norm/inference/bf16/gemma/64x256/in_place", "rms_norm/inference/fp32/llama/2x17389",
                                           "rms_norm/inference/bf16/none/3x17389/in_place",
                                           "fused_add_rms_norm/inference/bf16/llama/40x200",
                                           "fused_add_rms_norm/inference/fp16/llama/40x200/in_place",
                                           "fused_add_rms_norm/inference/bf16/gemma/40x200/in_place/residual_fp32",
                                           "rms_norm/inference/fp16/llama/1x1/in_place"));

TEST(CorrectKernels, PassOnWideRowsAndLongColumns) {
    NORMTUNE_NOT_SANITIZED("wide rows and long columns");
    for (const char* key :
         {"rms_norm/full/fp32/llama/3x17389", "rms_norm/full/fp16/llama/3x17389", "rms_norm/full/fp32/llama/2x131072",
          "rms_norm/full/fp16/none/2x131072", "rms_norm/backward/fp32/llama/20000x8", "rms_norm/backward/bf16/llama/20000x8/w_fp32"}) {
        for (const Order order : {Order::sequential, Order::lanes16}) {
            const Verification verification = verify(problem_of(key), order, Defect::none, 9);
            EXPECT_TRUE(verification.passed) << key << ": " << verification.reason;
        }
    }
}

struct Mutation {
    Defect defect;
    const char* key;
    const char* named;  // tensor that the reason must name
    bool on_companion;  // the problem's own shape is right
};

void PrintTo(const Mutation& mutation, std::ostream* out) {
    *out << static_cast<int>(mutation.defect) << " on " << mutation.key;
}

class WrongKernels : public ::testing::TestWithParam<Mutation> {};

TEST_P(WrongKernels, AreIncorrectWithTheTensorAndThePlace) {
    const Mutation& mutation = GetParam();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const Verification verification = verify(problem_of(mutation.key), Order::lanes16, mutation.defect, seed);
        ASSERT_FALSE(verification.passed) << "seed " << seed;
        EXPECT_EQ(verification.reason.rfind(mutation.named, 0), 0U) << verification.reason;
        EXPECT_EQ(verification.reason.find('\n'), std::string::npos);
        EXPECT_LT(verification.reason.size(), 250U);
        const Shape& failed = verification.shapes.back().shape;
        EXPECT_NE(verification.reason.find(std::to_string(failed.rows) + "x" + std::to_string(failed.cols)), std::string::npos)
            << verification.reason;
        EXPECT_EQ(verification.shapes.size() > 1, mutation.on_companion) << verification.reason;
        double worst = 0;
        for (const TensorCheck& check : verification.shapes.back().tensors) {
            worst = std::max(worst, check.worst_over_bound);
        }
        EXPECT_GT(worst, 1);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Defects, WrongKernels,
    ::testing::Values(Mutation{Defect::last_column_dropped, "rms_norm/forward/bf16/llama/64x256", "y[0][255]", false},
                      Mutation{Defect::last_column_dropped, "rms_norm/backward/fp32/gemma/64x256", "dx[0][255]", false},
                      Mutation{Defect::last_column_dropped, "rms_norm/backward/bf16/gemma/64x256/in_place", "dx[", false},
                      Mutation{Defect::last_row_unwritten, "rms_norm/forward/fp16/gemma/64x256", "y[63][0]", false},
                      Mutation{Defect::last_row_unwritten, "rms_norm/backward/bf16/llama/64x256/in_place", "dx[63]", false},
                      Mutation{Defect::tail_rows_unwritten, "rms_norm/forward/bf16/llama/64x256", "y[", true},
                      Mutation{Defect::tail_columns_unwritten, "rms_norm/forward/bf16/llama/64x256", "y[0][248]", true},
                      Mutation{Defect::single_row_unwritten, "rms_norm/forward/bf16/llama/64x256", "y[0][0]", true},
                      Mutation{Defect::gamma_off_by_one, "rms_norm/forward/bf16/llama/64x256", "y[", false},
                      Mutation{Defect::gamma_off_by_one, "rms_norm/backward/bf16/llama/64x256", "dx[", false},
                      Mutation{Defect::offset_forgotten, "rms_norm/forward/bf16/gemma/64x256/offset1", "y[", false},
                      Mutation{Defect::offset_forgotten, "rms_norm/backward/bf16/none/64x256/offset1", "dx[", false}));

INSTANTIATE_TEST_SUITE_P(
    Sums, WrongKernels,
    ::testing::Values(Mutation{Defect::eps_forgotten, "rms_norm/forward/bf16/llama/64x256", "y[", false},
                      Mutation{Defect::eps_forgotten, "rms_norm/forward/fp32/gemma/2x256", "y[0]", false},
                      Mutation{Defect::mean_forgets_n, "rms_norm/backward/bf16/llama/64x256", "dx[", false},
                      Mutation{Defect::rstd_of_sum, "rms_norm/forward/bf16/llama/64x256", "y[", false},
                      Mutation{Defect::sum_skips_last_column, "rms_norm/forward/fp32/llama/8x17389", "y[", false},
                      Mutation{Defect::sum_skips_last_column, "rms_norm/forward/bf16/gemma/8x17389", "y[", false},
                      Mutation{Defect::sum_skips_last_column, "rms_norm/forward/fp16/none/4x17389", "y[", false},
                      Mutation{Defect::sum_skips_last_column, "rms_norm/forward/fp32/llama/1x131072", "y[", false},
                      Mutation{Defect::projection_skips_last_column, "rms_norm/backward/bf16/llama/8x17389", "dx[", false},
                      Mutation{Defect::projection_skips_last_column, "rms_norm/backward/fp16/none/8x17389", "dx[", false},
                      Mutation{Defect::projection_skips_last_column, "rms_norm/backward/fp32/none/8x131072", "dx[", false},
                      Mutation{Defect::dgamma_row_missing, "rms_norm/backward/bf16/llama/1024x256", "dgamma[", false},
                      Mutation{Defect::dgamma_row_missing, "rms_norm/backward/fp32/llama/1024x256", "dgamma[", false},
                      Mutation{Defect::dgamma_row_missing, "rms_norm/full/fp16/none/128x256", "dgamma[", false}));

INSTANTIATE_TEST_SUITE_P(Roundings, WrongKernels,
                         ::testing::Values(Mutation{Defect::other_casting, "rms_norm/forward/bf16/llama/64x256", "y[", false},
                                           Mutation{Defect::other_casting, "rms_norm/forward/bf16/gemma/64x256", "y", false},
                                           Mutation{Defect::other_casting, "rms_norm/forward/fp16/llama/64x256", "y[", false},
                                           Mutation{Defect::other_casting, "rms_norm/forward/bf16/none/64x256", "y[", false},
                                           Mutation{Defect::other_casting, "rms_norm/backward/bf16/none/64x256", "dx[", false},
                                           Mutation{Defect::other_casting, "rms_norm/backward/bf16/llama/64x256", "dgamma[", false},
                                           Mutation{Defect::other_casting, "rms_norm/backward/bf16/gemma/64x256/w_fp32", "dgamma[", false},
                                           Mutation{Defect::m_rounded, "rms_norm/backward/bf16/llama/64x256", "dx", false},
                                           Mutation{Defect::truncated, "rms_norm/forward/bf16/gemma/64x256", "y", false},
                                           Mutation{Defect::truncated, "rms_norm/backward/fp16/gemma/64x256", "dx", false},
                                           Mutation{Defect::residual_kept_wide, "fused_add_rms_norm/forward/bf16/llama/64x256", "y",
                                                    false}));

INSTANTIATE_TEST_SUITE_P(
    Places, WrongKernels,
    ::testing::Values(
        Mutation{Defect::ds_forgotten, "fused_add_rms_norm/backward/bf16/llama/64x256", "dx[", false},
        Mutation{Defect::stride_ignored, "rms_norm/forward/bf16/llama/64x512/stride576", "y[", false},
        Mutation{Defect::stride_ignored, "rms_norm/forward/bf16/llama/64x512", "y[", true},
        Mutation{Defect::gap_written, "rms_norm/forward/bf16/llama/64x512/stride576", "x[0][512] (a gap", false},
        Mutation{Defect::gap_written, "rms_norm/backward/fp32/gemma/64x128", "x[0][128] (a gap", true},
        Mutation{Defect::behind_the_end, "rms_norm/forward/bf16/llama/64x256", "y: memory behind its end was written to, 10 bytes", false},
        Mutation{Defect::behind_the_end, "rms_norm/backward/fp32/gemma/64x256/in_place", "dx: memory behind its end", false},
        Mutation{Defect::before_the_start, "rms_norm/forward/bf16/llama/64x256",
                 "y: memory in front of its start was written to, 3 bytes ahead", false},
        Mutation{Defect::behind_an_input, "rms_norm/forward/bf16/llama/64x256", "x: memory behind its end was written to, 10 bytes", false},
        Mutation{Defect::gap_read, "rms_norm/forward/bf16/llama/64x512/stride576", "y[0][0] is not finite", false},
        Mutation{Defect::gap_read, "rms_norm/forward/fp16/llama/64x512/stride576", "y[0][0] is not finite", false},
        Mutation{Defect::nan_element, "rms_norm/forward/fp32/llama/64x256", "y[32][128] is not finite", false},
        Mutation{Defect::nan_element, "rms_norm/full/fp16/llama/64x256", "y[32][128] is not finite", false},
        Mutation{Defect::dgamma_after_overwrite, "rms_norm/backward/bf16/llama/64x256/in_place", "dgamma[", false},
        Mutation{Defect::x_overwritten, "rms_norm/forward/bf16/llama/64x256", "x[0][0] was overwritten", false}));

INSTANTIATE_TEST_SUITE_P(
    Inference, WrongKernels,
    ::testing::Values(Mutation{Defect::eps_forgotten, "rms_norm/inference/bf16/llama/64x256", "y[", false},
                      Mutation{Defect::eps_forgotten, "fused_add_rms_norm/inference/fp32/gemma/2x256/in_place", "y[0]", false},
                      Mutation{Defect::rstd_of_sum, "rms_norm/inference/bf16/llama/64x256", "y[", false},
                      Mutation{Defect::rstd_of_n_plus_1, "rms_norm/inference/fp32/llama/8x256", "y[", false},
                      Mutation{Defect::rstd_of_n_plus_1, "rms_norm/inference/bf16/llama/8x4096/in_place", "y[", false},
                      Mutation{Defect::rstd_of_n_plus_1, "rms_norm/inference/bf16/gemma/8x17389", "y[", false},
                      Mutation{Defect::rstd_of_n_plus_1, "rms_norm/inference/fp16/none/8x256", "y[", false},
                      Mutation{Defect::sum_skips_last_column, "rms_norm/inference/fp32/llama/8x17389", "y[", false},
                      Mutation{Defect::sum_skips_last_column, "rms_norm/inference/bf16/gemma/8x17389/in_place", "y[", false},
                      Mutation{Defect::sum_skips_last_column, "rms_norm/inference/fp16/none/4x17389", "y[", false},
                      Mutation{Defect::last_column_dropped, "rms_norm/inference/bf16/llama/64x256", "y[0][255]", false},
                      Mutation{Defect::tail_rows_unwritten, "rms_norm/inference/bf16/llama/64x256", "y[", true},
                      Mutation{Defect::other_casting, "rms_norm/inference/bf16/llama/64x256", "y[", false},
                      Mutation{Defect::other_casting, "rms_norm/inference/fp16/gemma/64x256/in_place", "y", false},
                      Mutation{Defect::residual_kept_wide, "fused_add_rms_norm/inference/bf16/llama/64x256/in_place", "y", false},
                      Mutation{Defect::one_value, "fused_add_rms_norm/inference/bf16/llama/64x256/in_place", "y[32][", false},
                      Mutation{Defect::gap_read, "rms_norm/inference/bf16/llama/64x512/stride576", "y[0][0] is not finite", false},
                      Mutation{Defect::x_overwritten, "rms_norm/inference/bf16/llama/64x256", "x[0][0] was overwritten", false}));

// A row of 65536 values has a wider bound of rstd than 1/(2N), whether rstd is stored or not: a row of few values tells it.
TEST(Verifier, TellsADivisorOfNPlus1OnTheProblemsOwnColumns) {
    for (const char* key :
         {"rms_norm/inference/fp32/llama/5x16384", "rms_norm/inference/fp32/llama/5x65536", "rms_norm/forward/fp32/llama/5x65536"}) {
        const Verification verification = verify(problem_of(key), Order::lanes16, Defect::rstd_of_n_plus_1, 3);
        EXPECT_FALSE(verification.passed) << key;
        EXPECT_EQ(verification.shapes.size(), 1U) << key << ": " << verification.reason;
    }
}

TEST(Verifier, ReferencesServeAllConfigurationsAndCompanionsAreFew) {
    FakeDevice device;
    Verifier verifier(device, problem_of("rms_norm/forward/bf16/llama/64x256"), 5);
    Configuration one;
    Configuration two;
    two.rows_per_program = 4;
    const Verification first = verifier.verify(one);
    const Verification second = verifier.verify(two);
    EXPECT_TRUE(first.passed && second.passed);
    EXPECT_LE(first.shapes.size(), 6U);
    bool single_row = false;
    bool odd = false;
    bool strided = false;
    bool partial = false;
    for (const ShapeCheck& check : second.shapes) {
        single_row |= check.shape.rows == 1;
        odd |= check.shape.cols == 409;
        strided |= check.shape.row_stride > check.shape.cols;
        partial |= check.shape.rows > two.rows_per_program && check.shape.rows % two.rows_per_program != 0;
        EXPECT_EQ(check.rows_checked, check.shape.rows);
    }
    EXPECT_TRUE(single_row && odd && strided && partial);
    EXPECT_EQ(first.seed, 5U);
}

TEST(Verifier, AShapeThatCannotBeExpressedIsLeftOutUnlessItIsTheProblemsOwn) {
    FakeDevice device;
    device.unsupported = [](const Problem& problem) { return problem.shape.cols % 2 != 0; };
    const Verification verification = Verifier(device, problem_of("rms_norm/forward/bf16/llama/64x256"), 5).verify({});
    EXPECT_TRUE(verification.passed);
    for (const ShapeCheck& check : verification.shapes) {
        EXPECT_EQ(check.shape.cols, 256);
    }
    Verifier odd(device, problem_of("rms_norm/forward/bf16/llama/64x255"), 5);
    EXPECT_THROW(odd.verify({}), DeviceError);
}

TEST(Verifier, EveryValueOfALargeShapeIsCompared) {
    const int rows = testing::thread_sanitized ? 6001 : 20001;  // a sanitizer of threads takes a minute for those
    const std::string key = fmt::format("rms_norm/forward/bf16/gemma/{}x256", rows);
    const Problem large = problem_of(key.c_str());
    const Verification good = verify(large, Order::lanes16, Defect::none, 3);
    EXPECT_TRUE(good.passed) << good.reason;
    EXPECT_EQ(good.shapes.front().rows_checked, rows);
    const Verification bad = verify(large, Order::lanes16, Defect::one_value, 3);
    EXPECT_EQ(bad.reason.rfind(fmt::format("y[{}][128] = ", rows / 2), 0), 0U) << bad.reason;
    EXPECT_NE(bad.reason.find(fmt::format("1 of {} values", rows * 256)), std::string::npos) << bad.reason;
}

TEST(Verifier, InputsThatOneConfigurationSpoiltAreNotBlamedOnTheNext) {
    class Spoiler : public FakeDevice {
    public:
        void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) override {
            FakeDevice(Order::lanes16, spoils ? Defect::x_overwritten : Defect::none).run(kernel, buffers, set, workspace);
        }
        bool spoils = true;
    } device;
    Verifier verifier(device, problem_of("rms_norm/forward/bf16/gemma/1000x256"), 8);
    const Verification spoiler = verifier.verify({});
    EXPECT_EQ(spoiler.reason.rfind("x[0][0] was overwritten", 0), 0U) << spoiler.reason;
    device.spoils = false;
    const Verification next = verifier.verify({});
    EXPECT_TRUE(next.passed) << next.reason;
}

TEST(Verifier, ALaunchThatThrewMayHaveSpoiltInputsToo) {
    class Thrower : public FakeDevice {
    public:
        void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) override {
            FakeDevice(Order::lanes16, throws ? Defect::x_overwritten : Defect::none).run(kernel, buffers, set, workspace);
            if (throws) {
                throw DeviceError(DeviceFault::launch_failed, "made up");
            }
        }
        bool throws = true;
    } device;
    Verifier verifier(device, problem_of("rms_norm/forward/bf16/gemma/1000x256"), 8);
    EXPECT_THROW(verifier.verify({}), DeviceError);
    device.throws = false;
    const Verification next = verifier.verify({});
    EXPECT_TRUE(next.passed) << next.reason;
}

TEST(Verifier, AKernelThatIsWrongNowAndThenIsIncorrectAtItsFirstWrongLaunch) {
    for (const char* key : {"rms_norm/forward/bf16/gemma/64x256", "rms_norm/backward/bf16/llama/64x256"}) {
        class NowAndThen : public FakeDevice {
        public:
            void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) override {
                FakeDevice(Order::lanes16, ++launches == wrong_launch ? Defect::one_value : Defect::none)
                    .run(kernel, buffers, set, workspace);
            }
            int launches = 0;
            int wrong_launch = 0;
        } device;
        const Problem problem = problem_of(key);
        Verifier verifier(device, problem, 8);
        ASSERT_TRUE(verifier.verify({}).passed);  // so that the inputs are not fresh
        for (int wrong = 1; wrong <= 2; ++wrong) {
            device.launches = 0;
            device.wrong_launch = wrong;
            EXPECT_FALSE(verifier.verify({}).passed) << key << ", launch " << wrong;
            EXPECT_EQ(device.launches, wrong) << key << ": launched again";
        }
        device.wrong_launch = 0;
        EXPECT_TRUE(verifier.verify({}).passed) << key;
    }
}

/// Right while the workspace is cleared, or until it is timed.
class LaterWrong : public FakeDevice {
public:
    void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) override {
        const bool wrong = (wrong_on_what_is_left && workspace == Workspace::as_left) || wrong_now;
        FakeDevice(Order::lanes16, wrong ? Defect::one_value : Defect::none).run(kernel, buffers, set, workspace);
    }
    SampleBatch sample(const Kernel* kernel, Buffers& buffers, const SampleRequest&) override {
        ++samples;
        run(*kernel, buffers, 0, Workspace::as_left);
        return {};
    }
    bool wrong_on_what_is_left = false;
    bool wrong_now = false;
    int samples = 0;
};

TEST(Verifier, ASecondLaunchFindsTheWorkspaceThatTheFirstLeft) {
    LaterWrong device;
    device.wrong_on_what_is_left = true;
    const Verification verification = Verifier(device, problem_of("rms_norm/forward/bf16/gemma/64x256"), 8).verify({});
    EXPECT_FALSE(verification.passed);
    EXPECT_EQ(verification.reason.rfind("right at the first launch, wrong at a second one", 0), 0U) << verification.reason;
}

TEST(Verifier, WhatWasTimedIsLookedAt) {
    for (const char* key : {"rms_norm/forward/bf16/gemma/64x256", "rms_norm/backward/bf16/llama/64x256",
                            "fused_add_rms_norm/full/fp16/none/9x64", "rms_norm/backward/bf16/llama/64x256/in_place"}) {
        const Problem problem = problem_of(key);
        LaterWrong device;
        Verifier verifier(device, problem, 8);
        ASSERT_TRUE(verifier.verify({}).passed);
        const auto buffers = device.allocate(problem, {});
        for (const Tensor& tensor : tensors(problem)) {
            buffers->upload(tensor.role, 0, tensor.kind == TensorKind::statistic ? ones(tensor) : draw_input(problem, tensor, 5));
        }
        const auto kernel = device.compile(problem, {});
        EXPECT_EQ(verifier.verify_timed({}, *kernel, *buffers, true, 3), "") << key;
        EXPECT_EQ(device.samples, 1) << key << ": in place, too, or it finds what another kernel left in the workspace";
        device.wrong_now = true;
        const std::string reason = verifier.verify_timed({}, *kernel, *buffers, true, 3);
        EXPECT_EQ(reason.rfind("right before it was timed, wrong after: ", 0), 0U) << key << ": " << reason;
    }
}

// Of one row each eps, or a column of a small value, may be too little to see; a candidate has no companions.
TEST(Verifier, ACandidateOnFewRowsIsVerifiedOnSeveralDraws) {
    for (const auto& [key, defect] : {std::pair("rms_norm/inference/bf16/llama/1x4096", Defect::none),
                                      {"rms_norm/inference/bf16/llama/1x4096", Defect::eps_forgotten},
                                      {"rms_norm/forward/bf16/llama/1x5120", Defect::eps_forgotten},
                                      {"rms_norm/backward/bf16/llama/1x4096", Defect::projection_skips_last_column},
                                      {"fused_add_rms_norm/inference/bf16/llama/4x128", Defect::one_value},
                                      {"fused_add_rms_norm/full/bf16/llama/3x512", Defect::none}}) {
        const Problem problem = problem_of(key);
        auto manifest = std::make_shared<LaunchManifest>();
        manifest->problem = problem;
        FakeDevice device(Order::lanes16, defect);
        const Verification verification = Verifier(device, problem, 8).verify(Candidate(manifest));
        EXPECT_EQ(verification.passed, defect == Defect::none) << key << ": " << verification.reason;
        ASSERT_EQ(verification.shapes.size(), 1U) << key;
        const ShapeCheck& check = verification.shapes.front();
        if (defect == Defect::none) {
            EXPECT_EQ(check.rows_checked, draws_of(problem) * problem.shape.rows) << key;
        }
        std::set<TensorRole> roles;
        for (const TensorCheck& tensor : check.tensors) {
            EXPECT_TRUE(roles.insert(tensor.role).second) << key << ": a tensor twice";
        }
        EXPECT_EQ(std::ranges::any_of(check.tensors, [](const TensorCheck& tensor) { return tensor.worst_over_bound > 1; }),
                  defect != Defect::none)
            << key;
    }
}

TEST(Verifier, ACandidateIsJudgedByTheContractThatItStates) {
    // A kernel that rounds m, as autograd does: wrong by llama's contract, right by its own.
    const Problem problem = problem_of("rms_norm/backward/bf16/llama/64x256");
    for (const bool states : {false, true}) {
        auto manifest = std::make_shared<LaunchManifest>();
        manifest->problem = problem;
        if (states) {
            manifest->rounding = RoundingContract{{.normal = true}, {.normal = true, .gradient = true}};
        }
        FakeDevice device(Order::lanes16, Defect::m_rounded);
        const Verification verification = Verifier(device, problem, 8).verify(Candidate(manifest));
        EXPECT_EQ(verification.passed, states) << verification.reason;
    }
}

}  // namespace
}  // namespace normtune
