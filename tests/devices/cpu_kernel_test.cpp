#include <gtest/gtest.h>

#include "devices/cpu/traits.h"
#include "devices/cpu_trial.h"
#include "kernels/cpu/instruction_sets.h"
#include "support/sanitized.h"

namespace normtune::test {
namespace {

/// Every instruction set that this machine runs.
class CpuKernels : public ::testing::TestWithParam<const cpu::PassSet*> {
protected:
    CpuKernels() : host_(cpu::read_host_info()) {
        host_.cpus.resize(2, host_.cpus[0]);  // two threads at least, so that they share work
        device_ = std::make_unique<cpu::CpuDevice>(host_, *GetParam());
    }

    bool admitted(const Problem& problem, const Configuration& configuration) const {
        const BackendTraits traits = cpu::cpu_traits();
        return std::all_of(traits.limits.begin(), traits.limits.end(),
                           [&](const BackendLimit& limit) { return limit.admits(configuration, problem, device_->info()); });
    }
    /// Runs it where it is admitted; says whether it was.
    bool check(const Problem& problem, const Configuration& configuration) {
        if (!admitted(problem, configuration)) {
            return false;
        }
        expect_right(*device_, problem, configuration);
        return true;
    }
    Configuration tile(int vectors, int rows) const {
        Configuration c;
        c.threads_per_row = vectors * device_->info().warp_size;
        c.num_warps = vectors * rows;
        c.rows_per_program = rows;
        c.grid = rows > 1 ? Grid::packed : Grid::per_row;
        c.residency = Residency::reload;
        return c;
    }
    static Problem problem(std::int64_t rows, std::int64_t cols, Mode mode, Dtype dtype = Dtype::bf16, Casting casting = Casting::llama) {
        Problem p;
        p.shape = {rows, cols, cols};
        p.operation.mode = mode;
        p.operation.dtype = dtype;
        p.operation.weight_dtype = dtype;
        p.operation.casting = casting;
        return p;
    }

    cpu::HostInfo host_;
    std::unique_ptr<cpu::CpuDevice> device_;
};

constexpr Mode modes[] = {Mode::forward, Mode::backward, Mode::full, Mode::inference};
constexpr Dtype dtypes[] = {Dtype::fp32, Dtype::bf16, Dtype::fp16};
constexpr Casting castings[] = {Casting::llama, Casting::gemma, Casting::none};
constexpr Residency residencies[] = {Residency::registers, Residency::shared, Residency::reload};

TEST_P(CpuKernels, EveryTypeCastingModeAndOption) {
    int checked = 0;
    for (const Mode mode : modes) {
        for (const Dtype dtype : dtypes) {
            for (const Casting casting : castings) {
                for (int option = 0; option < 8; ++option) {
                    Problem p = problem(5, 56, mode, dtype, casting);
                    p.operation.op = option == 1 || option == 2 ? Op::fused_add_rms_norm : Op::rms_norm;
                    p.operation.residual = option == 2 ? ResidualPrecision::fp32 : ResidualPrecision::rounded;
                    p.operation.offset = option == 3 || option == 4 ? 1 : 0;
                    p.operation.weight_dtype = option == 4 || option == 5 ? Dtype::fp32 : dtype;
                    p.operation.affine = option != 6;
                    p.operation.in_place = (option == 7 || option == 2) && p.operation.can_be_in_place();
                    for (const Residency residency : residencies) {
                        for (const GammaPlacement gamma : {GammaPlacement::hoisted, GammaPlacement::before, GammaPlacement::after}) {
                            Configuration c = tile(4, 1);
                            c.residency = residency;
                            c.gamma = gamma;
                            checked += check(p, c) ? 1 : 0;
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(checked, 300);
}

TEST_P(CpuKernels, EveryTileReductionAndOddWidth) {
    int checked = 0;
    for (const Mode mode : {Mode::forward, Mode::backward}) {
        for (const std::int64_t cols : {1, 7, 64, 128, 256, 409}) {
            for (const int vectors : {1, 2, 4, 8, 16}) {
                for (const int rows : {1, 2, 4}) {
                    for (const Reduction reduction : {Reduction::where, Reduction::masked, Reduction::guard, Reduction::even}) {
                        for (const Residency residency : residencies) {
                            Configuration c = tile(vectors, rows);
                            c.reduction = reduction;
                            c.residency = residency;
                            const Dtype dtype = cols % 2 == 0 ? Dtype::fp32 : Dtype::bf16;
                            checked += check(problem(7, cols, mode, dtype), c) ? 1 : 0;
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(checked, 400);
}

TEST_P(CpuKernels, WideOddRowsAndBlocks) {
    for (const Mode mode : {Mode::forward, Mode::backward}) {
        for (const std::int64_t cols : {3571, 17389}) {
            for (const int block : {whole_row, 512, 2048}) {
                for (const int rows : {1, 2}) {
                    Configuration c = tile(2, rows);
                    c.block_size = block;
                    EXPECT_TRUE(check(problem(3, cols, mode, Dtype::fp16, Casting::gemma), c));
                }
            }
        }
    }
    // Wider than one call of a sum pass covers.
    EXPECT_TRUE(check(problem(2, 70001, Mode::forward, Dtype::fp32), tile(1, 1)));
}

TEST_P(CpuKernels, EveryGridTakesEveryRowOnce) {
    int checked = 0;
    for (const Mode mode : {Mode::forward, Mode::backward}) {
        for (const std::int64_t rows : {1, 2, 13, 61}) {
            for (const Grid grid : {Grid::per_row, Grid::packed, Grid::persistent_strided, Grid::persistent_contiguous}) {
                for (const int stages : {1, 2, 3}) {
                    for (const int programs : {1, 3}) {
                        Configuration c = tile(2, grid == Grid::per_row ? 1 : 2);
                        c.rows_per_program = grid == Grid::per_row ? 1 : 4;
                        c.grid = grid;
                        c.stages = stages;
                        c.programs_per_sm = programs;
                        c.gamma = stages == 1 ? GammaPlacement::hoisted : GammaPlacement::before;
                        c.load_hint = programs == 1 ? CacheHint::streaming : CacheHint::default_;
                        checked += check(problem(rows, 96, mode), c) ? 1 : 0;
                        c.residency = Residency::registers;
                        c.threads_per_row = 128;
                        c.num_warps = 128 / device_->info().warp_size;
                        checked += check(problem(rows, 96, mode), c) ? 1 : 0;
                    }
                }
            }
        }
    }
    EXPECT_GT(checked, 100) << "few were admitted";
}

TEST_P(CpuKernels, StreamingStores) {
    int streamed = 0;
    for (const Mode mode : modes) {
        for (const Dtype dtype : dtypes) {
            for (const Residency residency : residencies) {
                for (const Op op : {Op::rms_norm, Op::fused_add_rms_norm}) {
                    Problem p = problem(9, 64, mode, dtype, Casting::gemma);
                    p.operation.op = op;
                    const int vectors = 64 * bytes_of(dtype) / 4 / device_->info().warp_size;
                    Configuration c = tile(residency == Residency::registers ? vectors : std::min(4, vectors), 1);
                    c.residency = residency;
                    c.reduction = Reduction::even;
                    c.store_hint = CacheHint::streaming;
                    streamed += check(p, c) ? 1 : 0;
                }
            }
        }
    }
    EXPECT_TRUE(streamed > 0 || GetParam()->name == std::string("baseline")) << "nothing was admitted";
}

TEST_P(CpuKernels, RowStridesLeaveTheirGapsAlone) {
    int checked = 0;
    for (const Mode mode : modes) {
        for (const Op op : {Op::rms_norm, Op::fused_add_rms_norm}) {
            for (const Residency residency : residencies) {
                Problem p = problem(5, 50, mode);
                p.shape.row_stride = 77;
                p.operation.op = op;
                Configuration c = tile(4, 1);
                c.residency = residency;
                checked += check(p, c) ? 1 : 0;
            }
        }
    }
    EXPECT_GT(checked, 8) << "few were admitted";
}

TEST_P(CpuKernels, DgammaOfManyRowsByEitherMethod) {
    for (const DgammaMethod method : {DgammaMethod::partials, DgammaMethod::split}) {
        for (const bool in_place : {false, true}) {
            for (const std::int64_t cols : {40, 1100}) {
                Problem p = problem(1031, cols, Mode::backward, Dtype::fp32);
                p.operation.in_place = in_place;
                Configuration c = tile(1, 4);
                c.rows_per_program = 8;
                c.dgamma = method;
                EXPECT_TRUE(check(p, c));
            }
        }
    }
}

TEST_P(CpuKernels, EqualHashMeansEqualCode) {
    const Problem p = problem(64, 4096, Mode::forward, Dtype::bf16);
    const auto hash = [&](const Problem& on, const Configuration& c) { return device_->compile(on, c)->info().code_hash; };
    Configuration where = tile(2, 1);
    where.reduction = Reduction::where;
    EXPECT_NE(hash(p, where), hash(p, tile(2, 1)));
    EXPECT_NE(hash(p, tile(1, 1)), hash(p, tile(2, 1)));
    Configuration strided = tile(2, 1);
    strided.grid = Grid::persistent_strided;
    EXPECT_EQ(hash(p, strided), hash(p, tile(2, 1)));  // the grid is an argument
    const Problem fp32 = problem(64, 4096, Mode::forward, Dtype::fp32, Casting::llama);
    const Problem fp32_gemma = problem(64, 4096, Mode::forward, Dtype::fp32, Casting::gemma);
    EXPECT_EQ(hash(fp32, tile(2, 1)), hash(fp32_gemma, tile(2, 1)));  // nothing is rounded in fp32
}

TEST_P(CpuKernels, RefusesWhatItsLimitsPrune) {
    Configuration c = tile(2, 1);
    c.dgamma = DgammaMethod::atomic;
    try {
        device_->compile(problem(8, 64, Mode::backward), c);
        FAIL() << "atomic was compiled";
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.fault(), DeviceFault::unsupported);
    }
}

/// Threads share the work of each in the same way: for a thread sanitizer one is enough.
std::vector<const cpu::PassSet*> tested_sets() {
    std::vector<const cpu::PassSet*> sets = cpu::usable_pass_sets();
    if (normtune::testing::thread_sanitized) {
        sets.resize(1);
    }
    return sets;
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, CpuKernels, ::testing::ValuesIn(tested_sets()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace normtune::test
