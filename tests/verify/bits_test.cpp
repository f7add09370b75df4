#include "verify/bits.h"

#include <gtest/gtest.h>

#include "trial/launch_manifest.h"
#include "verify/fake_kernels.h"

namespace normtune {
namespace {

using fake::Defect;
using fake::Order;

/// What a kernel may do that equal bits do not survive. Each sums rightly, in one order or another.
enum class Planted { nothing, order_by_rows, order_by_place, dgamma_by_launch };

class PlantedDevice : public fake::FakeDevice {
public:
    explicit PlantedDevice(Planted planted, Order order = Order::lanes16) : FakeDevice(order), planted_(planted), order_(order) {}

    void run(const Kernel& kernel, Buffers& buffers, int, Workspace) override {
        ++runs;
        const Problem& problem = static_cast<const fake::FakeKernel&>(kernel).problem;
        HostTensors& bytes = static_cast<fake::FakeBuffers&>(buffers).bytes;
        HostTensors other = bytes;
        const std::int64_t rows = problem.shape.rows;
        const bool few = planted_ == Planted::order_by_rows && rows < 7;
        fake::Launch(problem, bytes, few ? Order::sequential : order_, Defect::none).run();
        fake::Launch(problem, other, Order::sequential, Defect::none).run();
        for (const Tensor& tensor : tensors(problem)) {
            if (tensor.access == Access::in) {
                continue;
            }
            const bool last_row = planted_ == Planted::order_by_place && tensor.kind != TensorKind::weight && rows > 1;
            const bool sums = planted_ == Planted::dgamma_by_launch && tensor.kind == TensorKind::weight && runs % 3 == 0;
            if (last_row || sums) {
                const auto begin = static_cast<std::ptrdiff_t>(sums ? 0 : (rows - 1) * tensor.row_stride * bytes_of(tensor.dtype));
                std::copy(other[tensor.role].begin() + begin, other[tensor.role].end(), bytes[tensor.role].begin() + begin);
            }
        }
    }

private:
    Planted planted_;
    Order order_;
};

BitsCheck compare(const char* key, Planted planted, Order order = Order::lanes16) {
    PlantedDevice device(planted, order);
    return BitsComparer(device, parse_problem_key(key)).compare(Configuration{});
}

class Bits : public ::testing::TestWithParam<const char*> {};

TEST_P(Bits, OfRowsAreEqualAloneAndInBatches) {
    const BitsCheck check = compare(GetParam(), Planted::nothing);
    EXPECT_EQ(check.rows_differ, "");
    EXPECT_EQ(check.runs_differ, "");
    EXPECT_EQ(check.row_bits.size(), 16U);
}

TEST_P(Bits, AnOrderThatDependsOnMIsTold) {
    const BitsCheck check = compare(GetParam(), Planted::order_by_rows);
    EXPECT_NE(check.rows_differ.find("in a batch of"), std::string::npos) << check.rows_differ;
    EXPECT_EQ(check.rows_differ.find('\n'), std::string::npos);
    EXPECT_EQ(check.row_bits, "");
}

TEST_P(Bits, AnOrderThatDependsOnTheRowsPlaceIsTold) {
    EXPECT_NE(compare(GetParam(), Planted::order_by_place).rows_differ, "");
}

INSTANTIATE_TEST_SUITE_P(Problems, Bits,
                         ::testing::Values("rms_norm/forward/bf16/llama/40x192", "rms_norm/forward/fp32/gemma/1x96",
                                           "rms_norm/full/fp16/none/35x96/stride128", "rms_norm/backward/fp32/llama/33x96/in_place",
                                           "rms_norm/backward/bf16/gemma/40x384", "fused_add_rms_norm/full/bf16/llama/33x128",
                                           "fused_add_rms_norm/backward/fp32/llama/33x96/in_place"));

TEST(Bits, OfDgammaThatVaryFromLaunchToLaunchAreTold) {
    const BitsCheck check = compare("rms_norm/backward/bf16/llama/100x16/w_fp32", Planted::dgamma_by_launch);
    EXPECT_EQ(check.runs_differ.rfind("dgamma[", 0), 0U) << check.runs_differ;
    EXPECT_EQ(check.rows_differ, "");  // its rows are as they should be
    EXPECT_EQ(compare("rms_norm/forward/bf16/llama/100x16", Planted::dgamma_by_launch).runs_differ, "");
}

TEST(Bits, OfTheFixedRowsNameTheOrderOfTheSumsWhateverM) {
    const std::string of_100 = compare("rms_norm/full/bf16/llama/70x96", Planted::nothing).row_bits;
    EXPECT_EQ(compare("rms_norm/full/bf16/llama/1x96", Planted::nothing).row_bits, of_100);
    EXPECT_EQ(compare("rms_norm/full/bf16/llama/300x96", Planted::nothing).row_bits, of_100);
    EXPECT_NE(compare("rms_norm/full/bf16/llama/70x96", Planted::nothing, Order::sequential).row_bits, of_100);
    EXPECT_NE(compare("rms_norm/full/bf16/llama/70x98", Planted::nothing).row_bits, of_100);
}

TEST(Bits, ShowTheOrderInThe16BitGradientOfABackwardAlone) {
    EXPECT_NE(compare("rms_norm/backward/bf16/llama/40x384", Planted::nothing, Order::sequential).row_bits,
              compare("rms_norm/backward/bf16/llama/40x384", Planted::nothing, Order::lanes16).row_bits);
}

/// dy near what the backward reads makes Σ(m·x) as large as it can be, so that its order shows in a 16-bit dx.
TEST(Bits, AreOfRowsWhoseGradientIsAlignedInEveryMode) {
    for (const char* key :
         {"rms_norm/backward/bf16/llama/64x96", "rms_norm/full/bf16/llama/64x96", "fused_add_rms_norm/backward/bf16/llama/64x96",
          "fused_add_rms_norm/full/bf16/llama/64x96", "fused_add_rms_norm/full/bf16/llama/64x96/stride128"}) {
        class Watching : public PlantedDevice {
        public:
            Watching() : PlantedDevice(Planted::nothing) {}
            void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) override {
                const Problem& problem = static_cast<const fake::FakeKernel&>(kernel).problem;
                const HostTensors& bytes = static_cast<fake::FakeBuffers&>(buffers).bytes;
                const auto row_of = [&](TensorRole role, std::int64_t row) {
                    std::vector<float> values(static_cast<std::size_t>(problem.shape.cols));
                    decode(Dtype::bf16, bytes.at(role).data(), row * tensor_of(problem, role).row_stride, std::span(values));
                    return values;
                };
                std::size_t aligned = 0;
                for (std::int64_t row = 0; row < problem.shape.rows; ++row) {
                    std::vector<float> read =
                        row_of(problem.operation.mode == Mode::full ? TensorRole::x : problem.operation.backward_input(), row);
                    if (problem.operation.mode == Mode::full && problem.operation.op == Op::fused_add_rms_norm) {
                        const std::vector<float> residual = row_of(TensorRole::residual, row);
                        std::transform(read.begin(), read.end(), residual.begin(), read.begin(),
                                       [](float a, float b) { return fake::round_to(Dtype::bf16, a + b); });
                    }
                    aligned += read == row_of(TensorRole::dy, row) ? 1U : 0U;
                }
                most = std::max(most, aligned);
                PlantedDevice::run(kernel, buffers, set, workspace);
            }
            std::size_t most = 0;
        } device;
        BitsComparer(device, parse_problem_key(key)).compare(Configuration{});
        EXPECT_GE(device.most, 14U) << key;
    }
}

TEST(Bits, OfModelsWithAnotherEpsAreComparable) {
    Problem problem = parse_problem_key("rms_norm/forward/bf16/llama/9x96");
    problem.operation.eps = 1e-5;
    PlantedDevice device(Planted::nothing);
    EXPECT_EQ(BitsComparer(device, problem).compare(Configuration{}).row_bits,
              compare("rms_norm/forward/bf16/llama/9x96", Planted::nothing).row_bits);
}

/// One of another provider is for its own M alone: its rows are compared at all places there, and with those of other M by the digest.
TEST(Bits, OfAnotherProvidersKernelAreThoseOfItsOwnM) {
    const auto bits = [](std::int64_t rows, Planted planted) {
        PlantedDevice device(planted);
        Problem problem = parse_problem_key("rms_norm/forward/bf16/llama/1x96");
        problem.shape.rows = rows;
        auto manifest = std::make_shared<LaunchManifest>();
        manifest->problem = problem;
        BitsComparer comparer(device, problem);
        const BitsCheck check = comparer.compare(Candidate(manifest));
        EXPECT_EQ(device.compiles, 1);
        return check;
    };
    EXPECT_EQ(bits(1, Planted::nothing).row_bits, bits(200, Planted::nothing).row_bits);
    EXPECT_NE(bits(200, Planted::order_by_place).rows_differ, "");
    const BitsCheck few = bits(1, Planted::order_by_rows);
    EXPECT_EQ(few.rows_differ, "");
    EXPECT_NE(few.row_bits, bits(200, Planted::order_by_rows).row_bits);
}

}  // namespace
}  // namespace normtune
