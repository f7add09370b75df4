#include "report/export/torch_package.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../../python/torch_package/normtune_kernels/csrc/dispatch.h"
#include "devices/registry.h"
#include "kernels/gpu/launch_plan.h"
#include "kernels/gpu/limits.h"
#include "report/runs.h"
#include "support/error.h"

// The package's own C++ that knows no PyTorch.
#include "../../python/torch_package/normtune_kernels/csrc/dispatch.cpp"

namespace normtune {
namespace {

namespace torch = normtune_torch;

struct Case {
    const char* problem;
    const char* configuration;
};
// Every grid and every method of dgamma, and what the offsets, types and strides of an entry may be.
constexpr Case cases[]{
    {"rms_norm/forward/bf16/llama/1x1024", "w4.t128.r1.row.registers.even.per_row"},
    {"rms_norm/forward/bf16/llama/8192x1024", "w4.t16.r8.row.registers.even.packed.gamma_before"},
    {"rms_norm/forward/fp16/gemma/512x576/stride640/offset1", "w4.t32.r8.row.registers.masked.persistent_contiguous.p2"},
    {"rms_norm/forward/fp32/none/4096x2048/weightless", "w8.t256.r1.row.registers.even.persistent_strided.p2.um4"},
    {"fused_add_rms_norm/forward/bf16/llama/8192x4096", "w16.t512.r1.b4096.shared.masked.per_row"},
    {"rms_norm/backward/bf16/llama/64x1024", "w4.t128.r1.row.registers.even.per_row.atomic"},
    {"rms_norm/backward/bf16/llama/8192x1024", "w8.t128.r2.row.registers.even.persistent_strided.tile256x32x8"},
    {"rms_norm/backward/bf16/llama/8192x1536", "w8.t128.r2.row.registers.masked.persistent_balanced.p2.gamma_hoisted.s2.cooperative"},
    {"rms_norm/backward/bf16/llama/65536x1024/w_fp32", "w4.t128.r4.row.registers.even.persistent_contiguous.p2"},
    {"rms_norm/backward/bf16/gemma/100x4096", "w8.t256.r1.row.registers.even.persistent_strided.cooperative"},
    {"rms_norm/backward/bf16/llama/8192x4096", "w8.t256.r1.row.registers.even.persistent_strided.split.tile128x64x8"},
    {"rms_norm/backward/fp32/llama/300x512/weightless", "w4.t32.r4.row.registers.even.packed"},
    {"fused_add_rms_norm/backward/bf16/llama/2048x4096", "w16.t512.r1.row.registers.even.persistent_strided.published.tile256x32x8"},
    {"fused_add_rms_norm/backward/fp16/llama/777x8192", "w8.t256.r1.b4096.reload.masked.persistent_strided.atomic"},
    {"rms_norm/backward/bf16/llama/16x8192", "w8.t256.r1.row.registers.even.per_row.beside.tile256x32x8"},
    {"rms_norm/backward/bf16/llama/2048x512", "w8.t64.r4.row.registers.even.packed.beside.tile64x32x4.parts32"},
    {"fused_add_rms_norm/backward/bf16/llama/2047x4096", "w8.t256.r1.row.registers.even.per_row.beside.tile64x16x4.parts16.pc8"},
    {"rms_norm/backward/fp16/gemma/333x512", "w8.t64.r4.row.registers.even.packed.beside.tile64x32x4.parts16.pc16"},
    {"rms_norm/backward/bf16/llama/16x16384", "w4.t128.r1.row.registers.even.per_row.gamma_before.beside.tile64x128x4.c8"},
    {"rms_norm/forward/bf16/llama/1024x65536", "w16.t512.r1.row.registers.even.per_row.c4"},
    {"rms_norm/forward/bf16/llama/512x131072", "w32.t1024.r1.row.registers.even.persistent_strided.c16"},
    {"rms_norm/backward/bf16/llama/1024x65536", "w16.t512.r1.row.registers.even.persistent_strided.c8"},
    {"rms_norm/backward/bf16/llama/1536x8192",
     "w8.t64.r8.row.registers.even.persistent_strided.p2.gamma_hoisted.s2.cooperative.tile32x128x16.h2.c8"},
    {"fused_add_rms_norm/backward/fp16/llama/777x16384",
     "w8.t128.r2.row.registers.even.persistent_strided.p2.gamma_hoisted.s2.published.tile64x64x8.c8"},
    {"rms_norm/forward/bf16/llama/8192x4096", "w8.t256.r1.row.registers.even.per_row.pdl_on"},
    {"rms_norm/backward/bf16/gemma/8192x4096", "w8.t256.r1.row.registers.even.persistent_strided.split.tile128x64x8.pdl_on"},
    {"rms_norm/backward/fp16/llama/777x8192", "w8.t256.r1.b4096.reload.masked.persistent_strided.cooperative"},
};

Results results_of(const std::vector<Case>& wanted) {
    Results results;
    results.environment.device = describe_architecture("sm_90");
    for (const Case& one : wanted) {
        Record record = testing::measured_record(parse_problem_key(one.problem), 1, 10, 1);
        *record.candidate.configuration() = Configuration::parse(one.configuration);
        results.records.push_back(record);
    }
    return results;
}

torch::Table table_of(const TorchPackage& package) {
    return torch::Table::read(package.table);
}

torch::Work work_of(const Problem& problem) {
    const Operation& o = problem.operation;
    return {static_cast<torch::Op>(o.op),
            o.mode == Mode::forward ? torch::Mode::forward : torch::Mode::backward,
            static_cast<torch::Dtype>(o.dtype),
            static_cast<torch::Dtype>(o.affine ? o.weight_dtype : o.dtype),
            static_cast<torch::Casting>(o.casting),
            o.affine,
            o.offset,
            problem.shape.cols,
            problem.shape.row_stride};
}

/// An address of its own for each role.
char* place_of(TensorRole role) {
    return reinterpret_cast<char*>(static_cast<std::uintptr_t>(4096 * (static_cast<int>(role) + 1)));
}
char* const memory = reinterpret_cast<char*>(std::uintptr_t{1} << 20);

torch::Tensors tensors_of(const Problem& problem) {
    const auto at = [&](TensorRole role) { return problem.operation.has(role) ? place_of(role) : nullptr; };
    torch::Tensors t;
    t.x = at(TensorRole::x);
    t.residual = at(TensorRole::residual);
    t.gamma = at(TensorRole::gamma);
    t.dy = at(TensorRole::dy);
    t.ds = at(TensorRole::ds);
    t.y = at(TensorRole::y);
    t.s = at(TensorRole::s);
    t.rstd = reinterpret_cast<float*>(at(TensorRole::rstd));
    t.dx = at(TensorRole::dx);
    t.dgamma = at(TensorRole::dgamma);
    t.workspace = memory;
    t.rows = problem.shape.rows;
    t.eps = static_cast<float>(problem.operation.eps);
    return t;
}

std::string text_of(const gpu::Launch& launch) {
    std::ostringstream out;
    out << launch.kernel << ' ' << launch.grid[0] << 'x' << launch.grid[1] << ' ' << launch.cluster[0] << ' ' << launch.block[0] << ' '
        << launch.shared_bytes << ' ' << launch.cooperative << launch.overlaps;
    for (const gpu::Argument& a : launch.arguments) {
        out << ' ';
        if (a.type == gpu::ArgumentType::fp32) {
            out << a.real;
        } else if (a.source == gpu::Argument::Source::value) {
            out << a.integer;
        } else {
            out << static_cast<const void*>(a.source == gpu::Argument::Source::tensor      ? place_of(a.tensor)
                                            : a.source == gpu::Argument::Source::workspace ? memory + a.integer
                                                                                           : nullptr);
        }
    }
    return out.str();
}

std::string text_of(const torch::Launch& launch, const gpu::Launch& like) {
    std::ostringstream out;
    out << torch::kernel_names[static_cast<std::size_t>(launch.kernel)] << ' ' << launch.grid_x << 'x' << launch.grid_y << ' '
        << launch.cluster << ' ' << launch.threads << ' ' << launch.shared_bytes << ' ' << launch.cooperative << launch.overlaps;
    for (int i = 0; i < launch.count; ++i) {
        const torch::Argument& a = launch.arguments[static_cast<std::size_t>(i)];
        const auto type = static_cast<std::size_t>(i) < like.arguments.size() ? like.arguments[static_cast<std::size_t>(i)].type
                                                                              : gpu::ArgumentType::pointer;
        out << ' ';
        type == gpu::ArgumentType::fp32    ? out << a.fp32
        : type == gpu::ArgumentType::int32 ? out << a.int32
        : type == gpu::ArgumentType::int64 ? out << a.int64
                                           : out << a.pointer;
    }
    return out.str();
}

void expect_same(const torch::Step& step, const Configuration& configuration, const Problem& problem, const DeviceInfo& device) {
    const gpu::LaunchPlan wanted = gpu::launch_plan(configuration, problem, device);
    const torch::Plan plan = torch::plan(step, work_of(problem), tensors_of(problem), device.compute_units);
    ASSERT_EQ(static_cast<std::size_t>(plan.count), wanted.launches.size());
    for (std::size_t i = 0; i < wanted.launches.size(); ++i) {
        EXPECT_EQ(text_of(plan.launches[i], wanted.launches[i]), text_of(wanted.launches[i]))
            << configuration.key() << " " << problem.key();
    }
    EXPECT_EQ(torch::workspace(step, work_of(problem), problem.shape.rows, device.compute_units).bytes, wanted.workspace_bytes);
}

TEST(TorchPackage, LaunchesAreThoseOfTheLaunchPlanForAnyRows) {
    for (const Case& one : cases) {
        const Results results = results_of({one});
        const DeviceInfo& device = results.environment.device;
        const torch::Table table = table_of(torch_package({&results, 1}));
        Problem problem = parse_problem_key(one.problem);
        const Configuration configuration = Configuration::parse(one.configuration);
        ASSERT_EQ(gpu::objection(configuration, problem, device), "") << one.problem << " " << one.configuration;
        const bool compiled = configuration.grid == Grid::persistent_contiguous && configuration.rows_binding == RowsBinding::constexpr_;
        for (const std::int64_t rows : {problem.shape.rows, std::int64_t{1}, std::int64_t{2}, std::int64_t{131}, std::int64_t{8191}}) {
            if (compiled && rows != problem.shape.rows) {
                continue;  // as many rows a program as were compiled in, whatever the launch plan would say
            }
            problem.shape.rows = rows;
            const torch::Step* step = table.devices.at(0).choose(work_of(problem), rows, device.compute_units);
            ASSERT_NE(step, nullptr) << one.problem << " " << rows;
            EXPECT_EQ(step->key, one.configuration);
            expect_same(*step, configuration, problem, device);
        }
    }
}

TEST(TorchPackage, RowsThatAreCompiledInCoverAnyNumberOfRows) {
    const Results results =
        results_of({{"rms_norm/backward/bf16/llama/65536x1024", "w4.t128.r4.row.registers.even.persistent_contiguous.p2"}});
    const torch::Table table = table_of(torch_package({&results, 1}));
    Problem problem = results.records[0].problem;
    for (const std::int64_t rows : {1, 4097, 65536, 200000}) {
        const torch::Step* step = table.devices[0].choose(work_of(problem), rows, 132);
        ASSERT_NE(step, nullptr);
        problem.shape.rows = rows;
        const torch::Plan plan = torch::plan(*step, work_of(problem), tensors_of(problem), 132);
        const std::int64_t each = plan.launches[0].arguments[11].int32;
        EXPECT_EQ(each, step->compiled_rows);
        EXPECT_GE(each * plan.launches[0].grid_x, rows);
        EXPECT_LT(each * (plan.launches[0].grid_x - 1), rows);
    }
}

TEST(TorchPackage, TheNearestWinnerByRatioServesRowsBetween) {
    const Results results = results_of({{"rms_norm/forward/bf16/llama/1x1024", "w4.t128.r1.row.registers.even.per_row"},
                                        {"rms_norm/forward/bf16/llama/64x1024", "w8.t128.r2.row.registers.even.packed"},
                                        {"rms_norm/forward/bf16/llama/4096x1024", "w4.t32.r4.row.registers.even.packed"}});
    const TorchPackage package = torch_package({&results, 1});
    const torch::Table table = table_of(package);
    const auto rows_of = [&](std::int64_t rows) { return table.devices[0].choose(work_of(results.records[0].problem), rows, 132)->rows; };
    EXPECT_EQ(rows_of(8), 1);  // 8 is as near to 1 as to 64
    EXPECT_EQ(rows_of(9), 64);
    EXPECT_EQ(rows_of(512), 64);
    EXPECT_EQ(rows_of(513), 4096);
    EXPECT_EQ(rows_of(1 << 20), 4096);
    // Offsets of 32 bits end: further code of the last winner takes more rows.
    EXPECT_EQ(package.codes.size(), 4u);
    const torch::Step* far = table.devices[0].choose(work_of(results.records[0].problem), std::int64_t{1} << 23, 132);
    ASSERT_NE(far, nullptr);
    EXPECT_EQ(far->code, 3);
    Problem other = results.records[0].problem;
    other.shape.row_stride = other.shape.cols = 1023;
    EXPECT_EQ(table.devices[0].choose(work_of(other), 64, 132), nullptr);
}

TEST(TorchPackage, ADeviceOfAnotherMinorVersionHasNoMoreSharedMemoryThanItHas) {
    const Results results = results_of({{"rms_norm/forward/bf16/llama/64x16384", "w8.t256.r1.row.shared.even.per_row"}});
    const torch::Table table = table_of(torch_package({&results, 1}));
    const torch::Work work = work_of(results.records[0].problem);
    const torch::Step* const step = table.devices[0].choose(work, 64, 132);
    ASSERT_NE(step, nullptr);
    ASSERT_GT(step->shared_bytes, 0);
    EXPECT_EQ(table.devices[0].choose(work, 64, 132, {step->shared_bytes, true}), step);
    EXPECT_EQ(table.devices[0].choose(work, 64, 132, {step->shared_bytes - 1, true}), nullptr);
    EXPECT_EQ(table.devices[0].choose(work, 64, 132, {step->shared_bytes - 1, false}), step);
}

TEST(TorchPackage, ACooperativeLaunchIsNeverLargerThanOneThatWasMeasured) {
    const Results results = results_of({{"rms_norm/backward/bf16/llama/100x1024", "w4.t128.r1.row.registers.even.per_row.cooperative"}});
    const torch::Table table = table_of(torch_package({&results, 1}));
    const torch::Work work = work_of(results.records[0].problem);
    EXPECT_NE(table.devices[0].choose(work, 100, 132), nullptr);
    EXPECT_EQ(table.devices[0].choose(work, 101, 132), nullptr);
    EXPECT_EQ(table.devices[0].choose(work, 100, 66), nullptr);
    EXPECT_EQ(table.devices[0].choose(work, 100, 132, {0, true}), nullptr) << "a device of another minor version may hold fewer threads";
    EXPECT_NE(table.devices[0].choose(work, 50, 66), nullptr);
}

TEST(TorchPackage, TheTableSaysWhatItsWinnersWereChosenBy) {
    const Results results = results_of({cases[0]});
    const std::vector<std::string> remarks{"Batch-invariant: …", "of two\nlines"};
    const TorchPackage package = torch_package({&results, 1}, remarks);
    EXPECT_NE(package.table.find("\n# Batch-invariant: …\n# of two?lines\n"), std::string::npos) << package.table;
    EXPECT_EQ(table_of(package).devices.size(), 1u);
}

TEST(TorchPackage, ADeviceIsFoundByItsNameThenByItsArchitecture) {
    std::vector<Results> runs{results_of({cases[0]}), results_of({cases[1]})};
    runs[1].environment.device.name = "Another";
    const torch::Table table = table_of(torch_package(runs));
    ASSERT_EQ(table.devices.size(), 2u);
    EXPECT_EQ(table.find("Another", 9, 0)->name, "Another");
    EXPECT_EQ(table.find(runs[0].environment.device.name, 9, 0)->name, runs[0].environment.device.name);
    EXPECT_NE(table.find("NVIDIA H200", 9, 0), nullptr);
    EXPECT_EQ(table.find("Another", 10, 0), nullptr);
    EXPECT_EQ(table.find("Another", 8, 9), nullptr);
}

TEST(TorchPackage, WhatNoCallNamesIsLeftOutByName) {
    Results results = results_of({cases[0],
                                  {"rms_norm/backward/bf16/llama/8x1024/in_place", "w4.t128.r1.row.registers.even.per_row"},
                                  {"rms_norm/full/bf16/llama/8x1024", "w4.t128.r1.row.registers.even.per_row"},
                                  {"rms_norm/inference/bf16/llama/8x1024", "w4.t128.r1.row.registers.even.per_row"},
                                  {"fused_add_rms_norm/forward/bf16/llama/8x1024/residual_fp32", "w4.t128.r1.row.registers.even.per_row"},
                                  {"fused_add_rms_norm/forward/bf16/llama/8x1024/stride1088", "w4.t128.r1.row.registers.even.per_row"},
                                  {"fused_add_rms_norm/backward/bf16/llama/8x1024/stride1088", "w4.t128.r1.row.registers.even.per_row"},
                                  {"rms_norm/backward/bf16/llama/8x1024/stride1088", "w4.t128.r1.row.registers.even.per_row"}});
    const TorchPackage package = torch_package({&results, 1});
    EXPECT_EQ(package.left_out.unnamed.size(), 5u);
    EXPECT_EQ(package.winners, 3u);
    // The s that a fused backward reads is what the package's forward wrote, side by side.
    EXPECT_EQ(std::ranges::count(package.left_out.unnamed, "fused_add_rms_norm/backward/bf16/llama/8x1024/stride1088"), 1);
    results.environment.device.backend = Backend::hip;
    EXPECT_THROW(torch_package({&results, 1}), InputError);
}

TEST(TorchPackage, ASpoiltTableIsRefusedWithItsLine) {
    const Results results = results_of({cases[0], cases[5]});
    const std::string table = torch_package({&results, 1}).table;
    for (const auto& [from, to] : {std::pair{"normtune_kernels 2", "normtune_kernels 1"},
                                   {"per_row", "per_column"},
                                   {"entry", "entries"},
                                   {"device sm_90 132", "device sm_90 none"},
                                   {" 128 ", " 1.5 "}}) {
        std::string spoilt = table;
        ASSERT_NE(spoilt.find(from), std::string::npos) << from;
        spoilt.replace(spoilt.find(from), std::strlen(from), to);
        try {
            torch::Table::read(spoilt);
            ADD_FAILURE() << from;
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(std::string(error.what()).rfind("kernels.txt:", 0), 0u) << error.what();
        }
    }
}

}  // namespace
}  // namespace normtune
