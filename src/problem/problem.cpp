#include "problem/problem.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "problem/selection.h"
#include "support/error.h"
#include "support/escape.h"

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
    throw InputError(fmt::format("problem key '{}': '{}' is not {}", for_terminal(key), for_terminal(part), wanted));
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
        bad_key(key, digits.empty() ? part : digits, fmt::format("a size from 1 to {}", largest_size));
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
    } else if (part == "in_place" && operation.can_be_in_place()) {
        operation.in_place = true;
    } else if (part == "residual_fp32" && operation.adds_residual()) {
        operation.residual = ResidualPrecision::fp32;
    } else {
        bad_key(key, part, "one of stride<N>, w_fp32, weightless, offset1, in_place (backward, full, inference), residual_fp32 (fused)");
    }
}

Dtype type_of(ElementType type, const Operation& operation) {
    switch (type) {
        case ElementType::of_x:
            return operation.dtype;
        case ElementType::of_weights:
            return operation.weight_dtype;
        case ElementType::fp32:
            return Dtype::fp32;
    }
    throw std::logic_error("no such type of elements");
}

Tensor made(const TensorSpec& spec, const Problem& problem) {
    const Operation& operation = problem.operation;
    const auto& [rows, cols, row_stride] = problem.shape;
    const bool written =
        (operation.has_forward() && spec.forward == Touch::written) || (operation.has_backward() && spec.backward == Touch::written);
    const bool one_row = spec.extent == Extent::one_row;
    const std::int64_t width = spec.extent == Extent::row_values ? 1 : cols;
    return {spec.role,
            type_of(spec.type, operation),
            one_row ? 1 : rows,
            width,
            spec.extent == Extent::strided_rows ? row_stride : width,
            written ? Access::out : Access::in,
            spec.kind};
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

std::string Problem::operation_key() const {
    Problem smallest = *this;
    smallest.shape = {1, 1, 1};
    std::string out = smallest.key();
    constexpr std::string_view one_by_one = "/1x1";
    return out.erase(out.find(one_by_one), one_by_one.size());
}

Problem parse_problem_key(std::string_view key) {
    const std::vector<std::string_view> parts = split(key, '/');
    if (parts.size() < 5) {
        throw InputError(
            fmt::format("problem key '{}' has {} parts; a key reads op/mode/dtype/casting/ROWSxCOLS, e.g. "
                        "rms_norm/forward/bf16/llama/8192x4096",
                        for_terminal(key), parts.size()));
    }
    Problem problem;
    Operation& operation = problem.operation;
    operation.op = named(key, parts[0], op_names);
    operation.mode = named(key, parts[1], mode_names);
    if (!has_mode(operation.descriptor(), operation.mode)) {
        bad_key(key, parts[1], fmt::format("a mode of {}", parts[0]));
    }
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
    if (!operation.can_have_stride() && problem.shape.row_stride != problem.shape.cols) {
        throw InputError(
            fmt::format("problem key '{}': in place y is written over x, and has contiguous rows: leave out in_place or stride{}",
                        for_terminal(key), problem.shape.row_stride));
    }
    if (problem.shape.rows > largest_elements / problem.shape.row_stride) {
        throw InputError(fmt::format("problem key '{}': more than {} elements in a tensor", for_terminal(key), largest_elements));
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
    const Operation& operation = problem.operation;
    std::vector<Tensor> out;
    for (const TensorSpec& spec : operation.descriptor().tensors) {
        if (!operation.has(spec.role)) {
            continue;
        }
        const auto lies_in = std::find_if(out.begin(), out.end(), [&](const Tensor& earlier) { return earlier.role == spec.in_place; });
        if (operation.is_over_another(spec) && lies_in != out.end()) {
            lies_in->access = Access::in_out;
            lies_in->result = spec.role;
        } else {
            out.push_back(made(spec, problem));
        }
    }
    return out;
}

Tensor tensor_of(const Problem& problem, TensorRole role) {
    for (const TensorSpec& spec : problem.operation.descriptor().tensors) {
        if (spec.role == role) {
            return made(spec, problem);
        }
    }
    throw std::logic_error(fmt::format("{} has no tensor {}", op_names.name(problem.operation.op), tensor_names.name(role)));
}

std::int64_t least_bytes(const Problem& problem) {
    const Operation& operation = problem.operation;
    std::int64_t bytes = 0;
    for (const TensorSpec& spec : operation.descriptor().tensors) {
        if (operation.has(spec.role)) {
            const int passes = (operation.has_forward() && spec.forward != Touch::none ? 1 : 0) +
                               (operation.has_backward() && spec.backward != Touch::none ? 1 : 0);
            bytes += passes * made(spec, problem).payload_bytes();
        }
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
