#include "verify/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "verify/bounds.h"
#include "verify/compare.h"

namespace normtune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string shape_text(const Shape& shape) {
    const std::string size = fmt::format("{}x{}", shape.rows, shape.cols);
    return shape.row_stride == shape.cols ? size : fmt::format("{} row stride {}", size, shape.row_stride);
}

/// "y[3][17]", "rstd[3]", "dgamma[17]".
std::string place_text(TensorRole role, std::int64_t row, std::int64_t col) {
    const std::string_view name = tensor_names.name(role);
    if (role == TensorRole::rstd) {
        return fmt::format("{}[{}]", name, row);
    }
    if (role == TensorRole::dgamma) {
        return fmt::format("{}[{}]", name, col);
    }
    return fmt::format("{}[{}][{}]", name, row, col);
}

void report(Findings& findings, std::string reason) {
    if (findings.reason.empty()) {
        findings.reason = std::move(reason);
    }
}

class OutputCheck {
public:
    OutputCheck(const Problem& problem, const Tensor& tensor, std::span<const std::byte> bytes, const Reference& reference,
                std::span<const double> rstd_deviation, Findings& findings)
        : problem_(problem),
          tensor_(tensor),
          bytes_(bytes),
          reference_(reference),
          rstd_deviation_(rstd_deviation),
          findings_(findings),
          u_(unit_roundoff(tensor.dtype)) {}

    void run() {
        const Scan scanned = scan_codes(tensor_.dtype, bytes_);
        if (scanned.not_finite > 0) {
            not_finite(scanned);
            return;
        }
        switch (tensor_.result) {
            case TensorRole::y:
                output();
                break;
            case TensorRole::s:
                stored_sum();
                break;
            case TensorRole::rstd:
                inverse_deviation();
                break;
            case TensorRole::dx:
                input_gradient();
                break;
            case TensorRole::dgamma:
                weight_gradient();
                break;
            case TensorRole::x:
            case TensorRole::residual:
            case TensorRole::gamma:
            case TensorRole::dy:
            case TensorRole::ds:
                break;  // inputs
        }
    }

private:
    template <typename Expected>
    Comparison<Expected> kept_rows(const std::vector<Expected>& expected) const {
        return {tensor_.dtype, bytes_, tensor_.row_stride, tensor_.cols, reference_.rows, expected};
    }

    /// rstd, and dgamma seen as rows of one element.
    template <typename Expected>
    Comparison<Expected> single_elements(const std::vector<Expected>& expected) const {
        return {tensor_.dtype, bytes_, 1, 1, {}, expected};
    }

    TensorCheck check_of(const char* oracle, std::int64_t row, std::int64_t col) const {
        TensorCheck check;
        check.role = tensor_.result;
        check.oracle = oracle;
        check.worst_row = row;
        check.worst_col = col;
        return check;
    }

    void not_finite(const Scan& scanned) {
        TensorCheck check = check_of("exact", scanned.first / tensor_.row_stride, scanned.first % tensor_.row_stride);
        check.worst_over_bound = infinity;
        check.worst_error = infinity;
        check.unwritten = scanned.unwritten;
        findings_.checks.push_back(check);
        const std::string place = place_text(tensor_.result, check.worst_row, check.worst_col);
        double got = 0;
        decode(tensor_.dtype, bytes_.data(), scanned.first, std::span(&got, 1));
        const bool unwritten = scanned.unwritten == scanned.not_finite;
        const std::string what = unwritten ? fmt::format("{} was never written", place)
                                           : fmt::format("{} = {}, expected a finite value", place, std::isnan(got) ? std::fabs(got) : got);
        report(findings_, fmt::format("{} ({}): {} of {} elements {}", what, shape_text(problem_.shape), scanned.not_finite,
                                      tensor_.rows * tensor_.cols, unwritten ? "unwritten" : "unwritten, NaN or infinite"));
    }

    /// `unit`: what the record's worst_error is counted in.
    void conclude(const char* oracle, const Worst& worst, std::int64_t row, std::int64_t col, double unit) {
        TensorCheck check = check_of(oracle, row, col);
        check.worst_over_bound = worst.over;
        check.worst_error = worst.error > 0 ? worst.error / unit : 0;
        findings_.checks.push_back(check);
        if (worst.over > 1) {
            report(findings_, fmt::format("{} = {:.7g}, expected {:.7g} ± {:.2g} ({} oracle, {}): {:.3g} × the bound",
                                          place_text(tensor_.result, row, col), worst.got, worst.expected, worst.allowed, oracle,
                                          shape_text(problem_.shape), worst.over));
        }
    }

    void output() {
        const std::vector<Bound> bounds(reference_.rows.size(), y_bound(problem_));
        std::vector<double> scale;
        if (!is_narrow(tensor_.dtype)) {
            for (std::int64_t row : reference_.rows) {
                scale.push_back(1 + rstd_deviation_[static_cast<std::size_t>(row)]);
            }
        }
        const Worst worst = worst_of(kept_rows(reference_.y), bounds, scale);
        conclude("exact", worst, reference_.rows[worst.slot], worst.col, u_ * std::fabs(worst.expected));
        rounded(reference_.y_rounded, std::vector<double>(reference_.rows.size(), 0.0));
    }

    /// s = T(x + r) has one right answer, whatever the kernel: the sum of two 16-bit values is exact in fp32.
    void stored_sum() {
        const std::vector<double> none(reference_.rows.size(), 0.0);
        const Differing differing = differing_of(kept_rows(reference_.s), none);
        TensorCheck check = check_of("rounded", reference_.rows[differing.slot], differing.col);
        if (differing.count > 0) {
            check.worst_error = std::fabs(differing.got - differing.expected) / (u_ * std::fabs(differing.expected));
            check.worst_over_bound = infinity;
            report(findings_, fmt::format("{} = {:.9g}, expected exactly {:.9g} (rounded oracle, {}): {} of {} elements differ",
                                          place_text(tensor_.result, check.worst_row, check.worst_col), differing.got, differing.expected,
                                          shape_text(problem_.shape), differing.count, differing.compared));
        }
        findings_.checks.push_back(check);
    }

    void inverse_deviation() {
        const std::vector<Bound> bounds(reference_.rstd.size(), Bound{rstd_error(problem_.shape.cols), 0});
        const Worst worst = worst_of(single_elements(reference_.rstd), bounds);
        conclude(problem_.operation.roundings().squares ? "rounded" : "exact", worst, static_cast<std::int64_t>(worst.slot), 0,
                 std::fabs(worst.expected));
    }

    void input_gradient() {
        std::vector<Bound> bounds;
        std::vector<double> noise;
        for (std::size_t slot = 0; slot < reference_.rows.size(); ++slot) {
            const auto row = static_cast<std::size_t>(reference_.rows[slot]);
            const RowScale scale{reference_.gradient_scale[slot], reference_.projection_scale[slot], std::fabs(rstd_deviation_[row])};
            bounds.push_back(dx_bound(problem_, scale));
            noise.push_back(dx_noise(scale));
        }
        const Worst worst = worst_of(kept_rows(reference_.dx), bounds);
        const double scale = std::max(reference_.gradient_scale[worst.slot], std::fabs(worst.expected));
        conclude("exact", worst, reference_.rows[worst.slot], worst.col, u_ * scale);
        rounded(reference_.dx_rounded, std::move(noise));
    }

    void weight_gradient() {
        double largest = 0;
        for (double value : reference_.dgamma) {
            largest = std::max(largest, std::fabs(value));
        }
        double deviation = 0;
        for (double value : rstd_deviation_) {
            deviation = std::max(deviation, std::fabs(value));
        }
        std::vector<Bound> bounds;
        for (double terms_rms : reference_.dgamma_rms) {
            bounds.push_back(dgamma_bound(problem_, largest, terms_rms, deviation));
        }
        const Worst worst = worst_of(single_elements(reference_.dgamma), bounds);
        const double walk = std::sqrt(static_cast<double>(problem_.shape.rows)) * reference_.dgamma_rms[worst.slot];
        conclude("exact", worst, 0, static_cast<std::int64_t>(worst.slot), is_narrow(tensor_.dtype) ? u_ * largest : walk);
        if (!reference_.dgamma_rounded.empty()) {
            const auto& ambiguous = reference_.rstd_ambiguous;
            const bool any = std::find(ambiguous.begin(), ambiguous.end(), 1) != ambiguous.end();
            const double most = any ? infinity : 0.0;
            const std::vector<double> tolerance(reference_.dgamma_rounded.size(), most);
            const Differing differing = differing_of(single_elements(reference_.dgamma_rounded), tolerance);
            conclude_share(differing, 0, static_cast<std::int64_t>(differing.slot));
        }
    }

    /// `noise`: what fp32 arithmetic alone may move an element of each slot by.
    void rounded(const std::vector<float>& expected, std::vector<double> noise) {
        if (expected.empty()) {
            return;
        }
        for (std::size_t slot = 0; slot < noise.size(); ++slot) {
            if (reference_.rstd_ambiguous[static_cast<std::size_t>(reference_.rows[slot])] != 0) {
                noise[slot] = infinity;
            }
        }
        const Differing differing = differing_of(kept_rows(expected), noise);
        conclude_share(differing, reference_.rows[differing.slot], differing.col);
    }

    void conclude_share(const Differing& differing, std::int64_t row, std::int64_t col) {
        const std::int64_t most = most_differing(differing_share(problem_), differing.compared);
        TensorCheck check = check_of("rounded", row, col);
        check.worst_over_bound = static_cast<double>(differing.count) / static_cast<double>(most);
        check.worst_error = differing.count == 0 ? 0 : static_cast<double>(differing.count) / static_cast<double>(differing.compared);
        findings_.checks.push_back(check);
        if (differing.count > most) {
            report(findings_, fmt::format("{}: {} of {} elements differ from the rounded oracle (casting {}, {}), at most {} may; "
                                          "the first {} = {:.7g}, expected {:.7g}",
                                          tensor_names.name(tensor_.result), differing.count, differing.compared,
                                          casting_names.name(problem_.operation.casting), shape_text(problem_.shape), most,
                                          place_text(tensor_.result, row, col), differing.got, differing.expected));
        }
    }

    const Problem& problem_;
    const Tensor& tensor_;
    std::span<const std::byte> bytes_;
    const Reference& reference_;
    std::span<const double> rstd_deviation_;
    Findings& findings_;
    double u_;
};

}  // namespace

std::vector<double> rstd_deviations(const Problem& problem, std::span<const std::byte> rstd, const Reference& reference) {
    std::vector<double> deviations(reference.rstd.size(), 0.0);
    if (!problem.operation.has_forward()) {
        return deviations;
    }
    decode(Dtype::fp32, rstd.data(), 0, std::span(deviations));
    const double most = rstd_error(problem.shape.cols);
    for (std::size_t i = 0; i < deviations.size(); ++i) {
        const double deviation = deviations[i] / reference.rstd[i] - 1;
        deviations[i] = std::fabs(deviation) <= most ? deviation : 0.0;
    }
    return deviations;
}

void check_output(const Problem& problem, const Tensor& tensor, std::span<const std::byte> bytes, const Reference& reference,
                  std::span<const double> rstd_deviation, Findings& findings) {
    OutputCheck(problem, tensor, bytes, reference, rstd_deviation, findings).run();
}

const Judge& judge_of(Formula formula) {
    static constexpr std::array<Judge, 1> judges{{{compute_reference, check_output}}};  // in the order of Formula
    return judges.at(static_cast<std::size_t>(formula));
}

void check_input(const Problem& problem, const Tensor& tensor, std::span<const std::byte> before, std::span<const std::byte> after,
                 Findings& findings) {
    if (std::memcmp(before.data(), after.data(), before.size()) == 0) {
        return;
    }
    const auto size = static_cast<std::size_t>(bytes_of(tensor.dtype));
    TensorCheck check;
    check.role = tensor.role;
    check.oracle = "exact";
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
                                 place_text(tensor.role, check.worst_row, check.worst_col), gap ? "(a gap of the row stride) " : "",
                                 shape_text(problem.shape), check.unwritten));
}

}  // namespace normtune
