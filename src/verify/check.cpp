#include "verify/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "verify/fill.h"

namespace normtune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string shape_text(const Shape& shape) {
    const std::string size = fmt::format("{}x{}", shape.rows, shape.cols);
    return shape.row_stride == shape.cols ? size : fmt::format("{} row stride {}", size, shape.row_stride);
}

/// "y[3][17]", "rstd[3]", "dgamma[17]".
std::string place_text(const Tensor& tensor, std::int64_t row, std::int64_t col) {
    const std::string_view name = tensor_names.name(tensor.role);
    if (tensor.kind == TensorKind::statistic) {
        return fmt::format("{}[{}]", name, row);
    }
    if (tensor.kind == TensorKind::weight) {
        return fmt::format("{}[{}]", name, col);
    }
    return fmt::format("{}[{}][{}]", name, row, col);
}

void report(Findings& findings, std::string reason) {
    if (findings.reason.empty()) {
        findings.reason = std::move(reason);
    }
}

/// What a pass rounds: "normal+gain".
std::string points_text(const RoundingPoints& points) {
    std::string text;
    for (const RoundingPoint& point : rounding_points) {
        text += points.*point.member ? fmt::format("{}{}", text.empty() ? "" : "+", point.name) : "";
    }
    return text.empty() ? "nothing" : text;
}

bool is_of_backward(const Operation& operation, TensorRole role) {
    return std::ranges::any_of(operation.descriptor().tensors,
                               [role](const TensorSpec& spec) { return spec.role == role && spec.backward == Touch::written; });
}

}  // namespace

void check_output(const Problem& problem, const RoundingContract& contract, const OutputSummary& summary, Findings& findings) {
    const Tensor tensor = tensor_of(problem, summary.role);
    const bool finite = summary.not_finite == 0;
    const std::int64_t at = finite ? summary.place : summary.first;
    TensorCheck check;
    check.role = summary.role;
    check.oracle = "rounded";
    check.worst_row = at / tensor.cols;
    check.worst_col = at % tensor.cols;
    check.unwritten = summary.unwritten;
    check.worst_over_bound = finite ? summary.over : infinity;
    const double error = std::fabs(summary.got - summary.expected);
    const double step = unit_roundoff(tensor.dtype) * std::fabs(summary.expected);
    check.worst_error = !finite ? infinity : error > 0 ? error / std::max(step, 0x1p-149) : 0;
    findings.checks.push_back(check);
    const std::string place = place_text(tensor, check.worst_row, check.worst_col);
    const std::int64_t values = tensor.rows * tensor.cols;
    const bool of_backward = is_of_backward(problem.operation, summary.role);
    if (!finite) {
        const bool unwritten = summary.unwritten == summary.not_finite;
        report(findings,
               fmt::format("{} {} ({}): {} of {} values {}", place, unwritten ? "was never written" : "is not finite",
                           shape_text(problem.shape), summary.not_finite, values, unwritten ? "unwritten" : "unwritten, NaN or infinite"));
    } else if (summary.over > 1) {
        report(findings,
               fmt::format("{} = {:.9g}, expected {:.9g} ± {:.2g} before its last rounding (rounds {}; {}): {:.3g} × the bound, {} of {} "
                           "values beyond theirs",
                           place, summary.got, summary.expected, summary.allowed,
                           points_text(of_backward ? contract.backward : contract.forward), shape_text(problem.shape), summary.over,
                           summary.beyond, values));
    }
}

void check_input(const Problem& problem, const Tensor& tensor, std::span<const std::byte> before, std::span<const std::byte> after,
                 Findings& findings) {
    if (std::memcmp(before.data(), after.data(), before.size()) == 0) {
        return;
    }
    const auto size = static_cast<std::size_t>(bytes_of(tensor.dtype));
    TensorCheck check;
    check.role = tensor.role;
    check.oracle = "rounded";
    check.worst_over_bound = infinity;
    check.worst_error = infinity;
    std::int64_t first = -1;
    for (std::size_t at = 0; at < before.size(); at += size) {
        if (std::memcmp(before.data() + at, after.data() + at, size) != 0) {
            first = first < 0 ? static_cast<std::int64_t>(at / size) : first;
            ++check.unwritten;
        }
    }
    check.worst_row = first / tensor.row_stride;
    check.worst_col = first % tensor.row_stride;
    findings.checks.push_back(check);
    const bool gap = check.worst_col >= tensor.cols;
    report(findings, fmt::format("{} {}was overwritten, though it is an input ({}): {} elements changed",
                                 place_text(tensor, check.worst_row, check.worst_col), gap ? "(a gap of the row stride) " : "",
                                 shape_text(problem.shape), check.unwritten));
}

void check_guard(const Problem& problem, const Tensor& tensor, std::span<const std::byte> guard, Findings& findings) {
    std::vector<std::byte> untouched(guard.size() / 2);
    poison(tensor.dtype, untouched);
    const std::span<const std::byte> front = guard.first(untouched.size());
    const std::span<const std::byte> behind = guard.subspan(untouched.size());
    const std::ptrdiff_t to_start = std::mismatch(front.rbegin(), front.rend(), untouched.rbegin()).first - front.rbegin();
    const std::ptrdiff_t from_end = std::ranges::mismatch(behind, untouched).in1 - behind.begin();
    const bool before = to_start < std::ssize(front);
    if (!before && from_end == std::ssize(behind)) {
        return;
    }
    TensorCheck check;
    check.role = tensor.result;
    check.oracle = "rounded";
    check.worst_over_bound = infinity;
    check.worst_error = infinity;
    check.worst_row = before ? 0 : tensor.rows;
    findings.checks.push_back(check);
    const std::string_view name = tensor_names.name(tensor.result);
    report(findings, before ? fmt::format("{}: memory in front of its start was written to, {} bytes ahead of it ({})", name, to_start,
                                          shape_text(problem.shape))
                            : fmt::format("{}: memory behind its end was written to, {} bytes behind it ({})", name, from_end,
                                          shape_text(problem.shape)));
}

}  // namespace normtune
