#include "verify/fill.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "devices/device.h"
#include "problem/elements.h"
#include "support/parallel.h"
#include "verify/bounds.h"

namespace normtune {

namespace {

/// Finaliser of SplitMix64 (Steele, Lea and Flood 2014): a counter in, well mixed bits out.
std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

/// Mean 0, variance 1: the sum of four 16-bit uniforms.
float near_normal(std::uint64_t bits) {
    const auto sum = static_cast<std::int32_t>((bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48));
    return static_cast<float>(sum - 131070) * (1.0f / 37837.22f);
}

std::uint64_t row_seed(std::uint64_t seed, TensorRole role, std::int64_t row) {
    return mix(mix(seed + golden * (1 + static_cast<std::uint64_t>(role))) + golden * static_cast<std::uint64_t>(row));
}

constexpr double least_range = 1e6;  // of a type that the squares of large rows, and the gradients of rows of zeros, fit

bool has_small_range(const Operation& operation) {
    return row_of(operation.dtype).largest < least_range;
}

/// What a draw is for.
struct Drawing {
    const Operation& operation;
    const RoundingContract& contract;
};

bool has_small_squares(const Drawing& drawing) {
    return has_small_range(drawing.operation) && drawing.contract.forward.squares;
}

/// Where what a row of zeros has, dx = m/√eps and a rounded rstd of 1/√eps, stays finite in the tensor's type.
bool zeros_allowed(const Drawing& drawing) {
    const Operation& operation = drawing.operation;
    const double least = !has_small_range(operation)      ? 1e-30
                         : operation.has_backward()       ? 1e-6
                         : drawing.contract.forward.scale ? 1e-9
                                                          : 1e-30;
    return operation.eps >= least;
}

float row_scale(const Drawing& drawing, RowKind kind) {
    switch (kind) {
        case RowKind::zeros:
            return 0;
        case RowKind::tiny:
            return has_small_squares(drawing) ? 0.0625f : std::clamp(static_cast<float>(std::sqrt(drawing.operation.eps)), 1e-3f, 1.0f);
        case RowKind::large:
            return has_small_squares(drawing) ? 16 : 1000;
        case RowKind::plain:
        case RowKind::spike:
        case RowKind::aligned:
            break;
    }
    return 1;
}

/// √N/2 is what 16-bit bounds need to see one missing column; fp32 bounds are tighter, and their premise (a sum's
/// partial sums stay near its value) wants less.
float spike_height(const Operation& operation, std::int64_t cols) {
    const auto root = static_cast<float>(std::sqrt(static_cast<double>(cols)));
    return is_narrow(operation.dtype) ? std::clamp(root / 2, 4.0f, 180.0f) : std::max(4.0f, root / 16);
}

/// Zeros at the columns where an aligned row of so many has none of its few values.
void thin_out(const Problem& problem, std::int64_t row, std::uint64_t seed, std::span<float> values) {
    const auto cols = static_cast<std::uint64_t>(problem.shape.cols);
    const auto kept = static_cast<std::uint64_t>(telling_values(problem.shape.cols));
    const std::uint64_t stream = mix(row_seed(seed, TensorRole::x, row));
    for (std::size_t i = 0; kept < cols && i < values.size(); ++i) {
        values[i] = mix(stream + golden * i) % cols < kept ? values[i] : 0;
    }
}

void draw_x(const Problem& problem, const RoundingContract& contract, std::int64_t row, RowKind kind, std::uint64_t seed,
            std::span<float> out) {
    const std::uint64_t stream = row_seed(seed, TensorRole::x, row);
    const float scale = row_scale({problem.operation, contract}, kind);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = scale * near_normal(mix(stream + golden * i));
    }
    if (kind == RowKind::spike) {
        const bool last = row == problem.shape.rows - 1;
        const std::size_t place = last ? out.size() - 1 : static_cast<std::size_t>(mix(stream) % out.size());
        out[place] = spike_height(problem.operation, problem.shape.cols);
    }
    if (kind == RowKind::aligned) {
        thin_out(problem, row, seed, out);
    }
}

/// `row` of a problem with the rows of all draws, which is of `kind`.
void draw_row(const Problem& problem, const RoundingContract& contract, const Tensor& tensor, std::int64_t row, RowKind kind,
              std::uint64_t seed, std::span<float> out) {
    const std::uint64_t stream = row_seed(seed, tensor.role, row);
    if (tensor.role == TensorRole::x) {
        draw_x(problem, contract, row, kind, seed, out);
        return;
    }
    const bool only_last_aligned = problem.shape.rows < 5 && row == problem.shape.rows - 1;
    if (tensor.role == TensorRole::dy && (kind == RowKind::aligned || only_last_aligned)) {
        draw_x(problem, contract, row, kind, seed, out);
        for (float& value : out) {
            value = (mix(stream) & 1U) == 0 ? value : -value;
        }
        return;
    }
    const bool weight = tensor.kind == TensorKind::weight;
    const float scale = weight ? 0.25f : tensor.role == TensorRole::residual ? row_scale({problem.operation, contract}, kind) : 1;
    const float mean = weight ? static_cast<float>(1 - problem.operation.offset) : 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = mean + scale * near_normal(mix(stream + golden * i));
    }
    if (kind == RowKind::aligned && tensor.role == TensorRole::residual) {
        thin_out(problem, row, seed, out);
    }
}

Problem with_all_rows(Problem problem, Draw draw) {
    problem.shape.rows *= draw.of;
    return problem;
}

}  // namespace

int draws_of(const Problem& problem) {
    constexpr std::int64_t enough = 8;
    return static_cast<int>((enough + problem.shape.rows - 1) / problem.shape.rows);
}

RowKind row_kind(const Problem& problem, std::int64_t row, std::uint64_t seed, Draw draw) {
    return row_kind(problem, problem.operation.contract(), row, seed, draw);
}

RowKind row_kind(const Problem& of_draw, const RoundingContract& contract, std::int64_t row_of_draw, std::uint64_t seed, Draw draw) {
    const std::int64_t row = draw.index * of_draw.shape.rows + row_of_draw;
    const RowKind zeros = zeros_allowed({of_draw.operation, contract}) ? RowKind::zeros : RowKind::tiny;
    if (row == draw.of * of_draw.shape.rows - 1) {
        return RowKind::spike;
    }
    switch (row) {
        case 0:
            return RowKind::tiny;
        case 1:
            return RowKind::large;
        case 2:
            return zeros;
        case 3:
            return RowKind::aligned;
        default:
            break;
    }
    if (draw.of > 1) {
        return RowKind::plain;  // at a row's place in one draw or another
    }
    const std::uint64_t chance = mix(mix(seed) + golden * static_cast<std::uint64_t>(row)) % 64;
    switch (chance) {
        case 0:
            return zeros;
        case 1:
            return RowKind::tiny;
        case 2:
            return RowKind::large;
        case 3:
        case 4:
            return RowKind::spike;
        case 5:
            return RowKind::aligned;
        default:
            return RowKind::plain;
    }
}

std::vector<std::byte> draw_input(const Problem& problem, const Tensor& tensor, std::uint64_t seed, Draw draw) {
    return draw_input(problem, problem.operation.contract(), tensor, seed, draw);
}

std::vector<std::byte> draw_input(const Problem& of_draw, const RoundingContract& contract, const Tensor& tensor, std::uint64_t seed,
                                  Draw draw) {
    const Problem problem = with_all_rows(of_draw, draw);
    const std::int64_t before = tensor.kind == TensorKind::weight ? 0 : draw.index * of_draw.shape.rows;
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.span_bytes()));
    if (tensor.row_stride > tensor.cols) {
        poison(tensor.dtype, bytes);
    }
    for_row_blocks(tensor.rows, host_threads(tensor.rows, tensor.cols), [&](std::int64_t first, std::int64_t last, int) {
        std::vector<float> row(static_cast<std::size_t>(tensor.cols));
        for (std::int64_t i = first; i < last; ++i) {
            const RowKind kind = tensor.kind == TensorKind::weight ? RowKind::plain : row_kind(of_draw, contract, i, seed, draw);
            draw_row(problem, contract, tensor, before + i, kind, seed, row);
            encode(tensor.dtype, row, i * tensor.row_stride, bytes.data());
        }
    });
    return bytes;
}

std::uint32_t poison_word(Dtype dtype) {
    const std::uint32_t code = row_of(dtype).poison;
    return bytes_of(dtype) == 2 ? code << 16 | code : code;
}

void poison(Dtype dtype, std::span<std::byte> bytes) {
    repeat_word(poison_word(dtype), bytes);
}

}  // namespace normtune
