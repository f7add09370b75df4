#include "devices/cpu/cpu_kernel.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "devices/cpu/cpu_launch.h"

namespace normtune::cpu {

namespace {

/// fp32 accumulators are folded after this many columns: rounding errors of a running sum grow with its length.
constexpr std::int64_t most_summed_columns = 32768;
constexpr std::int64_t page_floats = 4096 / sizeof(float);

}  // namespace

void CpuKernel::Free::operator()(float* p) const {
    std::free(p);
}

CpuKernel::CpuKernel(const Problem& problem, const Configuration& configuration, const PassSet& set, int threads)
    : problem_(problem),
      configuration_(configuration),
      passes_(select_passes(set, problem, configuration)),
      schedule_(configuration, problem.shape.rows, threads),
      threads_(threads) {
    const Operation& op = problem.operation;
    const std::int64_t cols = problem.shape.cols;
    const bool tiled = configuration.block_size != whole_row && configuration.block_size < cols;
    write_block_ = tiled ? configuration.block_size : cols;
    sum_block_ = std::min(write_block_, most_summed_columns);
    for (const TensorSpec& spec : op.descriptor().tensors) {
        const Tensor tensor = tensor_of(problem, spec.role);
        strides_[static_cast<std::size_t>(spec.role)] = {tensor.row_stride, tensor.row_stride * bytes_of(tensor.dtype)};
    }
    // The odd 80 floats keep the rows of a workspace from meeting in the same sets of the first cache.
    row_floats_ = (cols + row_padding + 15) / 16 * 16 + 80;
    gamma_rows_ = op.affine && configuration.gamma != GammaPlacement::after ? 1 : 0;
    scratch_rows_ = configuration.residency == Residency::shared ? passes_.rows * (op.has_backward() ? 2 : 1) : 0;
    dgamma_rows_ = op.has(TensorRole::dgamma) ? 2 : 0;
    info_.code_hash = passes_.code_hash;
    info_.programs = schedule_.programs;
    info_.shared_bytes =
        static_cast<int>(std::min<std::int64_t>(scratch_rows_ * row_floats_ * static_cast<std::int64_t>(sizeof(float)), INT32_MAX));
    info_.workspace_bytes = threads * space_rows() * row_floats_ * static_cast<std::int64_t>(sizeof(float));
}

void CpuKernel::prepare() {
    if (workspace_) {
        return;
    }
    const std::int64_t floats = info_.workspace_bytes / static_cast<std::int64_t>(sizeof(float)) + row_padding;
    const std::int64_t whole = (floats + page_floats - 1) / page_floats * page_floats;
    void* memory = std::aligned_alloc(4096, static_cast<std::size_t>(whole) * sizeof(float));
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    workspace_.reset(static_cast<float*>(memory));
    std::fill_n(workspace_.get(), row_padding, 1.0F);  // a weightless op's gamma
    std::fill(workspace_.get() + row_padding, workspace_.get() + whole, 0.0F);
}

CpuKernel::ThreadSpace CpuKernel::space(int thread) const {
    ThreadSpace space;
    space.ones = workspace_.get();
    float* row = workspace_.get() + row_padding + static_cast<std::int64_t>(thread) * space_rows() * row_floats_;
    const auto take = [&](int rows) {
        float* taken = rows > 0 ? row : nullptr;
        row += rows * row_floats_;
        return taken;
    };
    space.gamma = take(gamma_rows_);
    space.scratch_x = take(std::min(scratch_rows_, passes_.rows));
    space.scratch_m = take(std::max(0, scratch_rows_ - passes_.rows));
    space.dgamma = take(dgamma_rows_ / 2);
    space.dgamma_total = take(dgamma_rows_ / 2);
    return space;
}

void CpuKernel::launch(Team& team, const TensorPointers& tensors) {
    Launch launch{team, tensors, team.size(), team.size(), team.size()};
    auto body = [&](int thread) { work(launch, thread); };
    team.fork(body);
}

/// Programs are taken in turn: the first by each thread's own number, the others by whoever is free.
template <class Run>
void CpuKernel::take_programs(std::atomic<std::int64_t>& next, const Launch& launch, const ThreadSpace& space, int thread,
                              const Run& run) const {
    const bool hoisted = space.gamma != nullptr && configuration_.gamma == GammaPlacement::hoisted;
    for (std::int64_t program = thread; program < schedule_.programs; program = next.fetch_add(1, std::memory_order_relaxed)) {
        if (hoisted) {
            prepare_gamma(launch, space);
        }
        schedule_.for_each_run(program, launch.team.size(), run);
    }
}

void CpuKernel::prepare_gamma(const Launch& launch, const ThreadSpace& space) const {
    const Operation& op = problem_.operation;
    passes_.prepare_gamma(at(launch.tensors, TensorRole::gamma), is_narrow(op.weight_dtype), static_cast<float>(op.offset),
                          op.contract().forward.gain, space.gamma, problem_.shape.cols);
}

void CpuKernel::work(Launch& launch, int thread) const {
    ThreadSpace mine = space(thread);
    const Operation& op = problem_.operation;
    if (op.has_forward()) {
        take_programs(launch.next_forward, launch, mine, thread,
                      [&](std::int64_t begin, std::int64_t end, std::int64_t next) { forward_rows(launch, mine, begin, end, next); });
        passes_.fence();
    }
    if (op.has_forward() && op.has_backward()) {
        launch.team.barrier();
    }
    if (op.has_backward()) {
        backward(launch, mine, thread);
    }
}

void CpuKernel::backward(Launch& launch, ThreadSpace& mine, int thread) const {
    const bool split = passes_.column_gradient != nullptr;
    const std::int64_t cols = problem_.shape.cols;
    if (mine.dgamma != nullptr) {
        std::fill_n(mine.dgamma, row_floats_, 0.0F);
        std::fill_n(mine.dgamma_total, row_floats_, 0.0F);
    }
    if (split) {
        split_dgamma(launch, mine, thread);
        if (problem_.operation.in_place) {
            launch.team.barrier();  // dy is read by all before dx is written over it
        }
    }
    take_programs(launch.next_backward, launch, mine, thread,
                  [&](std::int64_t begin, std::int64_t end, std::int64_t next) { backward_rows(launch, mine, begin, end, next); });
    passes_.fence();
    if (mine.dgamma == nullptr || split) {
        return;
    }
    mine.fold(0, cols);
    launch.team.barrier();
    const std::int64_t share = (cols + launch.team.size() - 1) / launch.team.size();
    const std::int64_t lines =
        (share + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;  // no cache line is written by two threads
    const std::int64_t begin = std::min(cols, thread * lines);
    const std::int64_t end = std::min(cols, begin + lines);
    if (begin < end) {
        passes_.fold(space(0).dgamma_total, space_rows() * row_floats_, launch.team.size(), at(launch.tensors, TensorRole::dgamma),
                     is_narrow(problem_.operation.weight_dtype), begin, end);
    }
}

}  // namespace normtune::cpu
