#include "problem/problem.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "support/error.h"

namespace normtune {
namespace {

std::string joined(const std::vector<Use>& uses, std::string Use::*member) {
    std::string out;
    std::set<std::string_view> seen;
    for (const Use& use : uses) {
        const std::string& name = use.*member;
        if (!name.empty() && seen.insert(name).second) {
            out += out.empty() ? "" : ";";
            out += name;
        }
    }
    return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = text.find(separator, begin);
        parts.push_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
        if (end == std::string_view::npos) {
            return parts;
        }
        begin = end + 1;
    }
}

[[noreturn]] void bad_key(std::string_view key, std::string_view part, std::string_view wanted) {
    throw InputError(fmt::format("problem key '{}': '{}' is not {}", key, part, wanted));
}

template <typename E, std::size_t N>
E named(std::string_view key, std::string_view part, const NameTable<E, N>& table) {
    const std::optional<E> value = table.find(part);
    if (!value) {
        bad_key(key, part, fmt::format("one of {}", table.list()));
    }
    return *value;
}

std::int64_t size_of(std::string_view key, std::string_view part, std::string_view digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 1 || value > largest_size) {
        bad_key(key, part, fmt::format("a size from 1 to {}", largest_size));
    }
    return value;
}

void apply_modifier(Problem& problem, std::string_view key, std::string_view part) {
    Operation& operation = problem.operation;
    if (part.starts_with("stride")) {
        problem.shape.row_stride = size_of(key, part, part.substr(6));
        if (problem.shape.row_stride < problem.shape.cols) {
            bad_key(key, part, fmt::format("a row stride of at least the {} columns", problem.shape.cols));
        }
    } else if (part == "w_fp32") {
        operation.weight_dtype = Dtype::fp32;
    } else if (part == "weightless") {
        operation.affine = false;
    } else if (part == "offset1") {
        operation.offset = 1;
    } else if (part == "in_place" && operation.has_backward()) {
        operation.in_place = true;
    } else if (part == "residual_fp32" && operation.fused()) {
        operation.residual = ResidualPrecision::fp32;
    } else {
        bad_key(key, part, "one of stride<N>, w_fp32, weightless, offset1, in_place (backward, full), residual_fp32 (fused)");
    }
}

}  // namespace

bool Problem::same_work(const Problem& other) const {
    Operation mine = operation;
    mine.eps = other.operation.eps;
    return shape == other.shape && mine == other.operation;
}

std::string Problem::key() const {
    std::string out = fmt::format("{}/{}/{}/{}/{}x{}", op_names.name(operation.op), mode_names.name(operation.mode),
                                  dtype_names.name(operation.dtype), casting_names.name(operation.casting), shape.rows, shape.cols);
    if (shape.row_stride != shape.cols) {
        out += fmt::format("/stride{}", shape.row_stride);
    }
    if (operation.weight_dtype != operation.dtype) {
        out += "/w_fp32";
    }
    if (!operation.affine) {
        out += "/weightless";
    }
    if (operation.offset == 1) {
        out += "/offset1";
    }
    if (operation.in_place) {
        out += "/in_place";
    }
    if (operation.residual == ResidualPrecision::fp32) {
        out += "/residual_fp32";
    }
    return out;
}

Problem parse_problem_key(std::string_view key) {
    const std::vector<std::string_view> parts = split(key, '/');
    if (parts.size() < 5) {
        throw InputError(
            fmt::format("problem key '{}' has {} parts; a key reads op/mode/dtype/casting/ROWSxCOLS, e.g. "
                        "rms_norm/forward/bf16/llama/8192x4096",
                        key, parts.size()));
    }
    Problem problem;
    Operation& operation = problem.operation;
    operation.op = named(key, parts[0], op_names);
    operation.mode = named(key, parts[1], mode_names);
    operation.dtype = named(key, parts[2], dtype_names);
    operation.weight_dtype = operation.dtype;
    operation.casting = named(key, parts[3], casting_names);
    const std::size_t x = parts[4].find('x');
    if (x == std::string_view::npos) {
        bad_key(key, parts[4], "ROWSxCOLS, e.g. 8192x4096");
    }
    problem.shape.rows = size_of(key, parts[4], parts[4].substr(0, x));
    problem.shape.cols = size_of(key, parts[4], parts[4].substr(x + 1));
    problem.shape.row_stride = problem.shape.cols;
    for (std::size_t i = 5; i < parts.size(); ++i) {
        apply_modifier(problem, key, parts[i]);
    }
    if (problem.shape.rows > largest_elements / problem.shape.row_stride) {
        throw InputError(fmt::format("problem key '{}': more than {} elements in a tensor", key, largest_elements));
    }
    return problem;
}

std::string joined_models(const std::vector<Use>& uses) {
    return joined(uses, &Use::model);
}
std::string joined_sites(const std::vector<Use>& uses) {
    return joined(uses, &Use::site);
}

std::vector<Tensor> tensors(const Problem& problem) {
    const auto& [rows, cols, row_stride] = problem.shape;
    const Operation& operation = problem.operation;
    const bool forward = operation.has_forward();
    const bool backward = operation.has_backward();
    const bool fused = operation.fused();
    const Dtype type = operation.dtype;

    std::vector<Tensor> out;
    out.push_back({TensorRole::x, type, rows, cols, row_stride, Access::in});
    if (fused && forward) {
        out.push_back({TensorRole::residual, type, rows, cols, cols, Access::in});
    }
    if (operation.affine) {
        out.push_back({TensorRole::gamma, operation.weight_dtype, 1, cols, cols, Access::in});
    }
    if (backward) {
        out.push_back({TensorRole::dy, type, rows, cols, cols, operation.in_place ? Access::in_out : Access::in});
        if (fused) {
            out.push_back({TensorRole::ds, type, rows, cols, cols, Access::in});
        }
    }
    if (forward) {
        out.push_back({TensorRole::y, type, rows, cols, cols, Access::out});
        if (fused) {
            out.push_back({TensorRole::s, type, rows, cols, cols, Access::out});
        }
    }
    out.push_back({TensorRole::rstd, Dtype::fp32, rows, 1, 1, forward ? Access::out : Access::in});
    if (backward) {
        if (!operation.in_place) {
            out.push_back({TensorRole::dx, type, rows, cols, cols, Access::out});
        }
        if (operation.affine) {
            out.push_back({TensorRole::dgamma, operation.weight_dtype, 1, cols, cols, Access::out});
        }
    }
    return out;
}

std::int64_t least_bytes(const Problem& problem) {
    if (problem.operation.mode == Mode::full) {
        Problem part = problem;
        part.operation.mode = Mode::forward;
        part.operation.in_place = false;
        const std::int64_t forward = least_bytes(part);
        part = problem;
        part.operation.mode = Mode::backward;
        return forward + least_bytes(part);
    }
    std::int64_t bytes = 0;
    for (const Tensor& tensor : tensors(problem)) {
        bytes += tensor.payload_bytes() * (tensor.access == Access::in_out ? 2 : 1);
    }
    return bytes;
}

std::int64_t tensor_bytes(const Problem& problem) {
    std::int64_t bytes = 0;
    for (const Tensor& tensor : tensors(problem)) {
        bytes += tensor.span_bytes();
    }
    return bytes;
}

}  // namespace normtune
