#include "verify/bits.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "problem/elements.h"
#include "support/content_hash.h"
#include "verify/companions.h"
#include "verify/fill.h"
#include "verify/oracle.h"

namespace normtune {
namespace {

constexpr std::uint64_t fixed_seed = 17;

/// Which of the fixed rows is row number `row`, counted over a batch's launches: each 32 rows are a permutation, and the next 32
/// another, so that no fixed row keeps its place within tiles of a power of two.
std::size_t fixed_row_of(std::int64_t row) {
    return static_cast<std::size_t>((row * 7 + row / fixed_rows) % fixed_rows);
}

bool is_of_rows(const Tensor& tensor) {
    return tensor.kind != TensorKind::weight;
}

std::size_t row_bytes(const Tensor& tensor) {
    return static_cast<std::size_t>(tensor.cols * bytes_of(tensor.dtype));
}
std::size_t row_begin(const Tensor& tensor, std::int64_t row) {
    return static_cast<std::size_t>(row * tensor.row_stride * bytes_of(tensor.dtype));
}

Problem with_rows(Problem problem, std::int64_t rows) {
    problem.shape.rows = rows;
    problem.operation.eps = Operation{}.eps;  // models differ in it, and digests shall not
    problem.uses.clear();
    return problem;
}

/// Every other row has x for its dy: sums over random signs would be so small beside dx that a 16-bit dx hid their order.
void align_gradients(const Problem& problem, HostTensors& inputs) {
    const auto dy = inputs.find(TensorRole::dy);
    if (dy == inputs.end()) {
        return;
    }
    const Tensor to = tensor_of(problem, TensorRole::dy);
    const auto add_row = [&](TensorRole role, std::int64_t row, std::vector<float>& to_values) {
        const Tensor from = tensor_of(problem, role);
        std::vector<float> values(to_values.size());
        decode(from.dtype, inputs.at(role).data(), row * from.row_stride, std::span(values));
        std::transform(values.begin(), values.end(), to_values.begin(), to_values.begin(), std::plus<>());
    };
    for (std::int64_t row = 4; row < fixed_rows; row += 2) {
        std::vector<float> values(static_cast<std::size_t>(to.cols));
        if (inputs.contains(problem.operation.backward_input())) {
            add_row(problem.operation.backward_input(), row, values);
        } else {  // full and fused: the sum that the forward saves
            add_row(TensorRole::x, row, values);
            add_row(TensorRole::residual, row, values);
        }
        encode(to.dtype, values, row * to.row_stride, dy->second.data());
    }
}

HostTensors draw_fixed_rows(const Problem& problem) {
    HostTensors inputs;
    for (const Tensor& tensor : tensors(problem)) {
        if (tensor.access != Access::out && tensor.kind != TensorKind::statistic) {
            inputs[tensor.role] = draw_input(problem, tensor, fixed_seed);
        }
    }
    align_gradients(problem, inputs);
    if (!problem.operation.has_forward()) {
        oracle_sums(problem, problem.operation.contract(), inputs);
    }
    return inputs;
}

/// What fixed rows gave, by the output and the row's number.
using RowBits = std::map<std::pair<TensorRole, std::size_t>, std::vector<std::byte>>;

std::string hexadecimal(const std::byte* element, int bytes) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, element, static_cast<std::size_t>(bytes));  // little-endian
    return fmt::format("{:#0{}x}", bits, 2 + 2 * bytes);
}

/// Buffers of one M, filled with fixed rows.
class Batch {
public:
    Batch(Device& device, Problem problem, const Problem& fixed, const HostTensors& inputs)
        : device_(device), problem_(std::move(problem)), fixed_(fixed), inputs_(inputs) {
        buffers_ = device_.allocate(problem_, BufferRequest{0, fixed_seed});
    }

    const Problem& problem() const { return problem_; }

    /// So many launches that each fixed row was in one. What is not in `known` yet goes there; the first difference from it, or nothing.
    std::string compare_rows(const Kernel& kernel, RowBits& known) {
        std::string found;
        for (std::int64_t first = 0; first < fixed_rows && found.empty(); first += problem_.shape.rows) {
            launch(kernel, first, Workspace::cleared);
            for (const Tensor& tensor : tensors(problem_)) {
                if (tensor.access != Access::in && is_of_rows(tensor) && found.empty()) {
                    found = compare_tensor(tensor, first, known);
                }
            }
        }
        return found;
    }

    std::string compare_runs(const Kernel& kernel) {
        std::map<TensorRole, std::vector<std::byte>> first;
        for (int repeat = 0; repeat < repeated_launches; ++repeat) {
            for (const Tensor& tensor : tensors(problem_)) {
                if (tensor.access == Access::in || is_of_rows(tensor)) {
                    continue;
                }
                launch(kernel, 0, repeat == 0 ? Workspace::cleared : Workspace::as_left);
                const std::span<const std::byte> now = download(tensor);
                const auto [known, added] = first.try_emplace(tensor.role, now.begin(), now.end());
                const auto [was, is] = std::ranges::mismatch(known->second, now);
                if (was != known->second.end()) {
                    const int bytes = bytes_of(tensor.dtype);
                    const auto column = (was - known->second.begin()) / bytes;
                    return fmt::format("{}[{}] of {} rows is {} at launch {} and {} at the first", tensor_names.name(tensor.role), column,
                                       problem_.shape.rows, hexadecimal(now.data() + column * bytes, bytes), repeat + 1,
                                       hexadecimal(known->second.data() + column * bytes, bytes));
                }
            }
        }
        return {};
    }

private:
    void launch(const Kernel& kernel, std::int64_t first, Workspace workspace) {
        for (const Tensor& tensor : tensors(problem_)) {
            if (tensor.access == Access::out) {
                buffers_->fill(tensor.role, 0, poison_word(tensor.dtype), tensor.span_bytes());
            } else if (first != uploaded_ || tensor.access == Access::in_out) {
                upload(tensor, first);
            }
        }
        uploaded_ = first;
        device_.run(kernel, *buffers_, 0, workspace);
    }

    void upload(const Tensor& tensor, std::int64_t first) {
        const std::vector<std::byte>& rows = inputs_.at(tensor.role);
        if (!is_of_rows(tensor)) {
            buffers_->upload(tensor.role, 0, rows);
            return;
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.span_bytes()));
        poison(tensor.dtype, bytes);
        const Tensor from = tensor_of(fixed_, tensor.role);
        for (std::int64_t row = 0; row < tensor.rows; ++row) {
            const auto source = static_cast<std::int64_t>(fixed_row_of(first + row));
            std::memcpy(bytes.data() + row_begin(tensor, row), rows.data() + row_begin(from, source), row_bytes(tensor));
        }
        buffers_->upload(tensor.role, 0, bytes);
    }

    std::span<const std::byte> download(const Tensor& tensor) {
        const std::span<std::byte> staging = device_.staging(static_cast<std::size_t>(tensor.span_bytes()));
        buffers_->download(tensor.role, 0, staging);
        return staging;
    }

    std::string compare_tensor(const Tensor& tensor, std::int64_t first, RowBits& known) {
        const std::span<const std::byte> bytes = download(tensor);
        for (std::int64_t row = 0; row < tensor.rows; ++row) {
            const std::span<const std::byte> now = bytes.subspan(row_begin(tensor, row), row_bytes(tensor));
            std::vector<std::byte>& was = known[{tensor.result, fixed_row_of(first + row)}];
            if (was.empty()) {
                was.assign(now.begin(), now.end());
            } else if (std::memcmp(was.data(), now.data(), now.size()) != 0) {
                const int size = bytes_of(tensor.dtype);
                const auto column = (std::ranges::mismatch(was, now).in1 - was.begin()) / size;
                return fmt::format("{}[{}][{}] in a batch of {} is {}, and {} where the same row lies elsewhere",
                                   tensor_names.name(tensor.result), row, column, problem_.shape.rows,
                                   hexadecimal(now.data() + column * size, size), hexadecimal(was.data() + column * size, size));
            }
        }
        return {};
    }

    Device& device_;
    Problem problem_;
    const Problem& fixed_;
    const HostTensors& inputs_;
    std::unique_ptr<Buffers> buffers_;
    std::int64_t uploaded_ = -1;  // the first row of what the inputs hold
};

std::string digest(const RowBits& bits) {
    std::string all;
    for (const auto& [place, row] : bits) {
        all.append(reinterpret_cast<const char*>(row.data()), row.size());
    }
    constexpr std::size_t digits = 16;
    return content_hash(all).substr(0, digits);
}

}  // namespace

struct BitsComparer::State {
    Device& device;
    Problem problem;
    Problem fixed = with_rows(problem, fixed_rows);
    HostTensors inputs = draw_fixed_rows(fixed);
    std::list<Batch> batches{};

    Batch& batch(std::int64_t rows) {
        const auto found = std::ranges::find_if(batches, [&](const Batch& batch) { return batch.problem().shape.rows == rows; });
        return found != batches.end() ? *found : batches.emplace_back(device, with_rows(problem, rows), fixed, inputs);
    }

    /// The least first: a row alone is what the others are compared with.
    std::vector<std::int64_t> sizes(const Candidate& candidate) const {
        std::vector<std::int64_t> out{problem.shape.rows};
        if (const Configuration* own = candidate.configuration()) {
            for (const Shape& shape : companion_shapes(problem, *own, device.info())) {
                if (shape.cols == problem.shape.cols && shape.row_stride == problem.shape.row_stride) {
                    out.push_back(shape.rows);
                }
            }
        }
        std::ranges::sort(out);
        return out;
    }
};

BitsComparer::BitsComparer(Device& device, const Problem& problem) : state_(std::make_unique<State>(State{device, problem})) {}

BitsComparer::~BitsComparer() = default;

BitsCheck BitsComparer::compare(const Candidate& candidate) {
    BitsCheck out;
    RowBits bits;
    for (const std::int64_t rows : state_->sizes(candidate)) {
        Batch& batch = state_->batch(rows);
        std::unique_ptr<Kernel> kernel;
        try {
            kernel = state_->device.compile(batch.problem(), candidate);
        } catch (const DeviceError& error) {
            if (error.fault() == DeviceFault::unsupported && rows != state_->problem.shape.rows) {
                continue;
            }
            throw;
        }
        if (out.rows_differ.empty()) {
            out.rows_differ = batch.compare_rows(*kernel, bits);
        }
        if (rows == state_->problem.shape.rows) {
            out.runs_differ = batch.compare_runs(*kernel);
        }
    }
    out.row_bits = out.rows_differ.empty() ? digest(bits) : "";
    return out;
}

}  // namespace normtune
