// A device for tests of the verifier: plain fp32 kernels with a choice of the order of summation, and of one defect.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "devices/device.h"
#include "verify/oracle.h"

namespace normtune::fake {

enum class Order { sequential, pairwise, lanes16 };

enum class Defect {
    none,
    last_column_dropped,  // y and dx: not written
    last_row_unwritten,
    tail_rows_unwritten,     // rows beyond the last whole tile of four
    tail_columns_unwritten,  // columns beyond the last whole vector of eight
    single_row_unwritten,    // M = 1 only
    gamma_off_by_one,
    offset_forgotten,
    eps_forgotten,
    mean_forgets_n,         // the projection lacks 1/N
    sum_skips_last_column,  // of the squares
    projection_skips_last_column,
    other_casting,       // gemma for llama and none, llama for gemma
    residual_kept_wide,  // s is not rounded before it is squared
    ds_forgotten,
    dgamma_row_missing,
    stride_ignored,
    gap_written,
    gap_read,  // the sum runs over the gap, too
    nan_element,
    dgamma_after_overwrite,  // in place: dgamma reads dy where dx already is
    truncated,               // rounds towards zero
    m_rounded,               // m = dy·g kept in T where the casting keeps it in fp32
    rstd_of_sum,             // rstd stored without the mean
    rstd_of_n_plus_1,        // the mean is over one column more
    x_overwritten,
    one_value,         // of y, dx: off by a twentieth
    behind_the_end,    // of y, dx: a value of the row after the last
    before_the_start,  // of y, dx: a value of the row ahead of the first
    behind_an_input,   // of x
};

inline float round_to(Dtype dtype, float value, bool truncate = false) {
    if (dtype == Dtype::fp32) {
        return value;
    }
    std::byte code[2];
    float nearest = 0;
    encode(dtype, std::span(&value, 1), 0, code);
    decode(dtype, code, 0, std::span(&nearest, 1));
    if (truncate && std::fabs(nearest) > std::fabs(value)) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, code, sizeof(bits));
        --bits;
        std::memcpy(code, &bits, sizeof(bits));
        decode(dtype, code, 0, std::span(&nearest, 1));
    }
    return nearest;
}

inline float sum(std::span<const float> values, Order order) {
    if (order == Order::pairwise && values.size() > 8) {
        const std::size_t half = values.size() / 2;
        return sum(values.first(half), order) + sum(values.subspan(half), order);
    }
    float lanes[16] = {};
    const std::size_t width = order == Order::lanes16 ? 16 : 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
        lanes[i % width] += values[i];
    }
    float total = 0;
    for (std::size_t lane = 0; lane < width; ++lane) {
        total += lanes[lane];
    }
    return total;
}

struct FakeKernel : Kernel {
    explicit FakeKernel(Problem p) : problem(std::move(p)) {}
    const CompileInfo& info() const override { return compile_info; }
    Problem problem;
    CompileInfo compile_info;
};

struct FakeBuffers : Buffers {
    FakeBuffers(const Problem& problem, std::int64_t guard_bytes) : guard_size(guard_bytes) {
        for (const Tensor& tensor : tensors(problem)) {
            bytes[tensor.role].resize(static_cast<std::size_t>(tensor.span_bytes()));
            guards[tensor.role].resize(2 * static_cast<std::size_t>(guard_bytes));
        }
    }
    std::int64_t guard_bytes() const override { return guard_size; }
    void fill_guard(TensorRole role, int, std::uint32_t word) override { repeat_word(word, guards.at(role)); }
    void download_guard(TensorRole role, int, std::span<std::byte> to) const override { std::ranges::copy(guards.at(role), to.begin()); }
    int sets() const override { return 1; }
    std::int64_t rotation_bytes() const override { return 0; }
    void upload(TensorRole role, int, std::span<const std::byte> from) override {
        std::vector<std::byte>& to = bytes.at(role);
        if (from.size() != to.size()) {
            throw std::logic_error("upload of another size");
        }
        std::copy(from.begin(), from.end(), to.begin());
    }
    void download(TensorRole role, int, std::span<std::byte> to) const override {
        const std::vector<std::byte>& from = bytes.at(role);
        if (from.size() != to.size()) {
            throw std::logic_error("download of another size");
        }
        std::copy(from.begin(), from.end(), to.begin());
    }
    HostTensors bytes;
    HostTensors guards;
    std::int64_t guard_size;
};

class FakeDevice : public Device {
public:
    explicit FakeDevice(Order order = Order::lanes16, Defect defect = Defect::none) : order_(order), defect_(defect) {}

    const DeviceInfo& info() const override { return info_; }
    std::unique_ptr<Kernel> compile(const Problem& problem, const Candidate&) override {
        ++compiles;
        if (unsupported && unsupported(problem)) {
            throw DeviceError(DeviceFault::unsupported, "this shape cannot be expressed");
        }
        return std::make_unique<FakeKernel>(problem);
    }
    std::unique_ptr<Buffers> allocate(const Problem& problem, const BufferRequest& request) override {
        return std::make_unique<FakeBuffers>(problem, request.guard_bytes);
    }
    SampleBatch sample(const Kernel*, Buffers&, const SampleRequest&) override { return {}; }
    void run(const Kernel& kernel, Buffers& buffers, int set, Workspace workspace) override;

    std::function<bool(const Problem&)> unsupported;
    int compiles = 0;
    int runs = 0;

private:
    Order order_;
    Defect defect_;
    DeviceInfo info_;
};

}  // namespace normtune::fake
