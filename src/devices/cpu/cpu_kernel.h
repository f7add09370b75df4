// A configuration on a problem, ready to run by a team of threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "devices/cpu/schedule.h"
#include "devices/cpu/selected_passes.h"
#include "devices/cpu/thread_pool.h"
#include "devices/device.h"

namespace normtune::cpu {

constexpr std::int64_t cache_line_bytes = 64;

/// Where a set's tensors lie, by TensorRole; null: the problem has none.
using TensorPointers = std::array<std::byte*, tensor_names.names.size()>;

class CpuKernel final : public Kernel {
public:
    /// Throws DeviceError (unsupported).
    CpuKernel(const Problem& problem, const Configuration& configuration, const PassSet& set, int threads);

    const CompileInfo& info() const override { return info_; }

    /// Takes the workspace, on the first call. Throws std::bad_alloc.
    void prepare();
    /// One launch: returns once every thread is done. prepare() came before.
    void launch(Team& team, const TensorPointers& tensors);

private:
    struct ThreadSpace;  // one thread's part of the workspace
    struct Launch;

    int space_rows() const { return gamma_rows_ + scratch_rows_ + dgamma_rows_; }
    ThreadSpace space(int thread) const;
    void work(Launch& launch, int thread) const;
    void backward(Launch& launch, ThreadSpace& space, int thread) const;
    template <class Run>
    void take_programs(std::atomic<std::int64_t>& next, const Launch& launch, const ThreadSpace& space, int thread, const Run& run) const;
    void prepare_gamma(const Launch& launch, const ThreadSpace& space) const;

    // Rows [begin, end); `next` is where the thread goes on, to prefetch. In cpu_kernel_rows.cpp.
    void forward_rows(const Launch& launch, const ThreadSpace& space, std::int64_t begin, std::int64_t end, std::int64_t next) const;
    void backward_rows(const Launch& launch, ThreadSpace& space, std::int64_t begin, std::int64_t end, std::int64_t next) const;
    void split_dgamma(Launch& launch, ThreadSpace& space, int thread) const;
    RowTile tile_at(const Launch& launch, const ThreadSpace& space, bool backward, std::int64_t row) const;
    void set_prefetch(RowTile& tile, int rows, std::int64_t row, std::int64_t end, std::int64_t next) const;
    float normal_scale(float rstd) const;

    Problem problem_;
    Configuration configuration_;
    SelectedPasses passes_;
    Schedule schedule_;
    CompileInfo info_;
    int threads_;
    struct Stride {
        std::int64_t elements = 0;
        std::int64_t bytes = 0;
    };
    std::array<Stride, tensor_names.names.size()> strides_;  // from row to row, by TensorRole
    std::int64_t sum_block_;                                 // columns that one call of a sum pass covers
    std::int64_t write_block_;
    std::int64_t row_floats_;  // a padded fp32 row
    int gamma_rows_ = 0;       // rows of a thread's workspace
    int scratch_rows_ = 0;
    int dgamma_rows_ = 0;
    struct Free {
        void operator()(float* p) const;
    };
    std::unique_ptr<float[], Free> workspace_;
};

}  // namespace normtune::cpu
