#include "verify/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "verify/bounds.h"
#include "verify/fill.h"
#include "verify/parallel.h"

namespace normtune {

namespace {

std::string shape_text(const Shape& shape) {
    const std::string size = fmt::format("{}x{}", shape.rows, shape.cols);
    return shape.row_stride == shape.cols ? size : fmt::format("{} row stride {}", size, shape.row_stride);
}

/// "y[3][17]", "rstd[3]", "dgamma[17]".
std::string place_text(const Tensor& tensor, std::int64_t row, std::int64_t col) {
    const std::string_view name = tensor_names.name(tensor.role);
    if (tensor.role == TensorRole::rstd) {
        return fmt::format("{}[{}]", name, row);
    }
    if (tensor.role == TensorRole::dgamma) {
        return fmt::format("{}[{}]", name, col);
    }
    return fmt::format("{}[{}][{}]", name, row, col);
}

void report(Findings& findings, std::string reason) {
    if (findings.reason.empty()) {
        findings.reason = std::move(reason);
    }
}

struct Scan {
    std::int64_t unwritten = 0;
    std::int64_t not_finite = 0;  // poison included
    std::int64_t first = -1;      // element of the first such
};

template <typename Code>
Scan scan_codes(std::span<const std::byte> bytes, std::uint32_t poison, std::uint32_t exponent, int threads) {
    const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(Code));
    const auto code_at = [&](std::int64_t i) {
        Code code;
        std::memcpy(&code, bytes.data() + static_cast<std::size_t>(i) * sizeof(Code), sizeof(Code));
        return static_cast<std::uint32_t>(code);
    };
    Scan total;
    std::mutex mutex;
    for_row_blocks(count, threads, [&](std::int64_t first, std::int64_t last, int) {
        std::int64_t unwritten = 0;
        std::int64_t not_finite = 0;
        for (std::int64_t i = first; i < last; ++i) {
            unwritten += code_at(i) == poison ? 1 : 0;
            not_finite += (code_at(i) & exponent) == exponent ? 1 : 0;
        }
        const std::lock_guard lock(mutex);
        total.unwritten += unwritten;
        total.not_finite += not_finite;
    });
    if (total.not_finite > 0) {
        total.first = 0;
        while ((code_at(total.first) & exponent) != exponent) {
            ++total.first;
        }
    }
    return total;
}

Scan scan(const Tensor& tensor, std::span<const std::byte> bytes) {
    const int threads = host_threads(tensor.rows, tensor.cols);
    const std::uint32_t poison = poison_code(tensor.dtype);
    switch (tensor.dtype) {
        case Dtype::bf16:
            return scan_codes<std::uint16_t>(bytes, poison, 0x7f80, threads);
        case Dtype::fp16:
            return scan_codes<std::uint16_t>(bytes, poison, 0x7c00, threads);
        case Dtype::fp32:
            break;
    }
    return scan_codes<std::uint32_t>(bytes, poison, 0x7f800000, threads);
}

/// Where a comparison was worst. `slot` counts the compared rows.
struct Worst {
    double over = 0;
    double error = 0;
    double got = 0;
    double expected = 0;
    double allowed = 0;
    std::size_t slot = 0;
    std::int64_t col = 0;
};

/// Values to hold a tensor's rows against: `expected` is slots × cols, a slot's row in the tensor is rows[slot].
template <typename Expected>
struct Comparison {
    const Tensor& tensor;
    std::span<const std::byte> bytes;
    std::span<const Expected> expected;
    std::function<std::int64_t(std::size_t)> row_of;
    std::size_t slots;
};

/// `bound_of(slot, col)`; hoisted out of the row where `per_row`.
template <bool per_row, typename BoundOf>
Worst worst_of(const Comparison<double>& comparison, const BoundOf& bound_of) {
    const auto cols = static_cast<std::size_t>(comparison.tensor.cols);
    const auto slots = static_cast<std::int64_t>(comparison.slots);
    Worst worst;
    std::mutex mutex;
    for_row_blocks(slots, host_threads(slots, comparison.tensor.cols), [&](std::int64_t first, std::int64_t last, int) {
        std::vector<double> got(cols);
        Worst mine;
        for (auto slot = static_cast<std::size_t>(first); slot < static_cast<std::size_t>(last); ++slot) {
            decode(comparison.tensor.dtype, comparison.bytes.data(),
                   comparison.row_of(slot) * comparison.tensor.row_stride, std::span(got));
            const double* expected = comparison.expected.data() + slot * cols;
            Bound bound = bound_of(slot, std::size_t{0});
            for (std::size_t j = 0; j < cols; ++j) {
                if constexpr (!per_row) {
                    bound = bound_of(slot, j);
                }
                const double allowed = bound.relative * std::fabs(expected[j]) + bound.absolute;
                const double error = std::fabs(got[j] - expected[j]);
                if (error > mine.over * allowed) {
                    mine = {error / allowed, error, got[j], expected[j], allowed, slot, static_cast<std::int64_t>(j)};
                }
            }
        }
        const std::lock_guard lock(mutex);
        if (mine.over > worst.over || (mine.over == worst.over && mine.slot < worst.slot)) {
            worst = mine;
        }
    });
    return worst;
}

/// Elements that are not the expected value, by more than `tolerance(slot)`; infinity leaves a row out.
struct Differing {
    std::int64_t count = 0;
    std::int64_t compared = 0;
    std::size_t slot = 0;  // of the first
    std::int64_t col = 0;
    double got = 0;
    double expected = 0;
};

template <typename Tolerance>
Differing differing_of(const Comparison<float>& comparison, const Tolerance& tolerance) {
    const auto cols = static_cast<std::size_t>(comparison.tensor.cols);
    const auto slots = static_cast<std::int64_t>(comparison.slots);
    Differing total;
    std::mutex mutex;
    for_row_blocks(slots, host_threads(slots, comparison.tensor.cols), [&](std::int64_t first, std::int64_t last, int) {
        std::vector<float> got(cols);
        Differing mine;
        for (auto slot = static_cast<std::size_t>(first); slot < static_cast<std::size_t>(last); ++slot) {
            const auto allowed = static_cast<float>(tolerance(slot));
            if (std::isinf(allowed)) {
                continue;
            }
            decode(comparison.tensor.dtype, comparison.bytes.data(),
                   comparison.row_of(slot) * comparison.tensor.row_stride, std::span(got));
            const float* expected = comparison.expected.data() + slot * cols;
            const auto differs = [&](std::size_t j) { return std::fabs(got[j] - expected[j]) > allowed; };
            std::int64_t count = 0;
            for (std::size_t j = 0; j < cols; ++j) {
                count += differs(j) ? 1 : 0;
            }
            if (count > 0 && mine.count == 0) {
                std::size_t j = 0;
                while (!differs(j)) {
                    ++j;
                }
                mine.slot = slot;
                mine.col = static_cast<std::int64_t>(j);
                mine.got = got[j];
                mine.expected = expected[j];
            }
            mine.count += count;
            mine.compared += static_cast<std::int64_t>(cols);
        }
        const std::lock_guard lock(mutex);
        const Differing& place = total.count == 0 || (mine.count > 0 && mine.slot < total.slot) ? mine : total;
        total = {
            total.count + mine.count, total.compared + mine.compared, place.slot, place.col, place.got, place.expected};
    });
    return total;
}

class OutputCheck {
public:
    OutputCheck(const Problem& problem, const Tensor& tensor, std::span<const std::byte> bytes,
                const Reference& reference, Findings& findings)
        : problem_(problem), tensor_(tensor), bytes_(bytes), reference_(reference), findings_(findings) {}

    void run() {
        const Scan scanned = scan(tensor_, bytes_);
        if (scanned.not_finite > 0) {
            not_finite(scanned);
            return;
        }
        const double u = unit_roundoff(tensor_.dtype);
        switch (tensor_.role) {
            case TensorRole::y: {
                const Bound bound = y_bound(problem_);
                exact(reference_.y, bound, [u](const Worst& w) { return w.error / (u * std::fabs(w.expected)); });
                rounded(reference_.y_rounded, [](std::size_t) { return 0.0; });
                break;
            }
            case TensorRole::s:
                stored_sum();
                break;
            case TensorRole::rstd:
                inverse_deviation();
                break;
            case TensorRole::dx:
                input_gradient(u);
                rounded(reference_.dx_rounded, [this](std::size_t slot) {
                    return dx_noise(problem_, reference_.gradient_scale[slot], reference_.projection_scale[slot]);
                });
                break;
            case TensorRole::dgamma:
                weight_gradient(u);
                break;
            default:
                break;
        }
    }

private:
    template <typename Expected>
    Comparison<Expected> kept_rows(const std::vector<Expected>& expected) const {
        return {tensor_, bytes_, expected, [this](std::size_t slot) { return reference_.rows[slot]; },
                reference_.rows.size()};
    }

    void not_finite(const Scan& scanned) {
        TensorCheck check;
        check.role = tensor_.role;
        check.oracle = "exact";
        check.worst_over_bound = std::numeric_limits<double>::infinity();
        check.worst_error = std::numeric_limits<double>::infinity();
        check.worst_row = scanned.first / tensor_.row_stride;
        check.worst_col = scanned.first % tensor_.row_stride;
        check.unwritten = scanned.unwritten;
        findings_.checks.push_back(check);
        const std::string place = place_text(tensor_, check.worst_row, check.worst_col);
        double got = 0;
        decode(tensor_.dtype, bytes_.data(), scanned.first, std::span(&got, 1));
        const bool unwritten = scanned.unwritten == scanned.not_finite;
        const std::string what =
            unwritten ? fmt::format("{} was never written", place)
                      : fmt::format("{} = {}, expected a finite value", place, std::isnan(got) ? std::fabs(got) : got);
        report(findings_,
               fmt::format("{} ({}): {} of {} elements {}", what, shape_text(problem_.shape), scanned.not_finite,
                           tensor_.rows * tensor_.cols, unwritten ? "unwritten" : "unwritten, NaN or infinite"));
    }

    void conclude(const char* oracle, const Worst& worst, std::int64_t row, double error_in_units) {
        TensorCheck check;
        check.role = tensor_.role;
        check.oracle = oracle;
        check.worst_over_bound = worst.over;
        check.worst_error = worst.error > 0 ? error_in_units : 0;
        check.worst_row = row;
        check.worst_col = worst.col;
        findings_.checks.push_back(check);
        if (worst.over > 1) {
            report(findings_, fmt::format("{} = {:.7g}, expected {:.7g} ± {:.2g} ({} oracle, {}): {:.3g} × the bound",
                                          place_text(tensor_, row, worst.col), worst.got, worst.expected, worst.allowed,
                                          oracle, shape_text(problem_.shape), worst.over));
        }
    }

    template <typename Units>
    void exact(const std::vector<double>& expected, Bound bound, const Units& units) {
        const Worst worst = worst_of<true>(kept_rows(expected), [bound](std::size_t, std::size_t) { return bound; });
        conclude("exact", worst, reference_.rows[worst.slot], units(worst));
    }

    void inverse_deviation() {
        const bool none = problem_.operation.casting == Casting::none && problem_.operation.dtype != Dtype::fp32;
        const Comparison<double> comparison{tensor_, bytes_, reference_.rstd,
                                            [](std::size_t slot) { return static_cast<std::int64_t>(slot); },
                                            reference_.rstd.size()};
        const Bound bound{rstd_error(problem_.shape.cols), 0};
        const Worst worst = worst_of<true>(comparison, [bound](std::size_t, std::size_t) { return bound; });
        conclude(none ? "rounded" : "exact", worst, static_cast<std::int64_t>(worst.slot),
                 worst.error / std::fabs(worst.expected));
    }

    void input_gradient(double u) {
        const auto bound_of = [this](std::size_t slot, std::size_t) {
            return dx_bound(problem_, reference_.gradient_scale[slot], reference_.projection_scale[slot]);
        };
        const Worst worst = worst_of<true>(kept_rows(reference_.dx), bound_of);
        conclude("exact", worst, reference_.rows[worst.slot],
                 worst.error / (u * reference_.gradient_scale[worst.slot]));
    }

    void weight_gradient(double u) {
        const auto [least, most] = std::minmax_element(reference_.dgamma.begin(), reference_.dgamma.end());
        const double largest = std::max(std::fabs(*least), std::fabs(*most));
        const Comparison<double> comparison{tensor_, bytes_, reference_.dgamma, [](std::size_t) { return 0; }, 1};
        const Worst worst = worst_of<false>(comparison, [&](std::size_t, std::size_t col) {
            return dgamma_bound(problem_, largest, reference_.dgamma_rms[col]);
        });
        const double walk = std::sqrt(static_cast<double>(problem_.shape.rows)) *
                            reference_.dgamma_rms[static_cast<std::size_t>(worst.col)];
        conclude("exact", worst, 0, worst.error / (tensor_.dtype == Dtype::fp32 ? walk : u * largest));
        if (!reference_.dgamma_rounded.empty()) {
            const bool ambiguous = std::find(reference_.rstd_ambiguous.begin(), reference_.rstd_ambiguous.end(), 1) !=
                                   reference_.rstd_ambiguous.end();
            const Comparison<float> rounded{tensor_, bytes_, reference_.dgamma_rounded, [](std::size_t) { return 0; },
                                            1};
            share(rounded, [&](std::size_t) { return ambiguous ? std::numeric_limits<double>::infinity() : 0.0; });
        }
    }

    /// `noise(slot)`: what fp32 arithmetic alone may move an element by.
    template <typename Noise>
    void rounded(const std::vector<float>& expected, const Noise& noise) {
        if (!expected.empty()) {
            share(kept_rows(expected), [&](std::size_t slot) {
                const bool ambiguous = reference_.rstd_ambiguous[static_cast<std::size_t>(reference_.rows[slot])] != 0;
                return ambiguous ? std::numeric_limits<double>::infinity() : noise(slot);
            });
        }
    }

    template <typename Tolerance>
    void share(const Comparison<float>& comparison, const Tolerance& tolerance) {
        const Differing differing = differing_of(comparison, tolerance);
        const std::int64_t most = most_differing(differing_share(problem_), differing.compared);
        TensorCheck check;
        check.role = tensor_.role;
        check.oracle = "rounded";
        check.worst_over_bound = static_cast<double>(differing.count) / static_cast<double>(most);
        check.worst_error = differing.compared == 0
                                ? 0
                                : static_cast<double>(differing.count) / static_cast<double>(differing.compared);
        check.worst_row = comparison.row_of(differing.slot);
        check.worst_col = differing.col;
        findings_.checks.push_back(check);
        if (differing.count > most) {
            report(
                findings_,
                fmt::format("{}: {} of {} elements differ from the rounded oracle (casting {}, {}), at most {} may; "
                            "the first {} = {:.7g}, expected {:.7g}",
                            tensor_names.name(tensor_.role), differing.count, differing.compared,
                            casting_names.name(problem_.operation.casting), shape_text(problem_.shape), most,
                            place_text(tensor_, check.worst_row, check.worst_col), differing.got, differing.expected));
        }
    }

    /// s = T(x + r) has one right answer, whatever the kernel: the sum of two 16-bit values is exact in fp32.
    void stored_sum() {
        const Differing differing = differing_of(kept_rows(reference_.s), [](std::size_t) { return 0.0; });
        TensorCheck check;
        check.role = tensor_.role;
        check.oracle = "rounded";
        check.worst_row = reference_.rows[differing.slot];
        check.worst_col = differing.col;
        if (differing.count > 0) {
            const double error = std::fabs(differing.got - differing.expected);
            check.worst_error = error / (unit_roundoff(tensor_.dtype) * std::fabs(differing.expected));
            check.worst_over_bound = std::numeric_limits<double>::infinity();
            report(findings_,
                   fmt::format("{} = {:.9g}, expected exactly {:.9g} (rounded oracle, {}): {} of {} elements differ",
                               place_text(tensor_, check.worst_row, check.worst_col), differing.got, differing.expected,
                               shape_text(problem_.shape), differing.count, differing.compared));
        }
        findings_.checks.push_back(check);
    }

    const Problem& problem_;
    const Tensor& tensor_;
    std::span<const std::byte> bytes_;
    const Reference& reference_;
    Findings& findings_;
};

}  // namespace

void check_output(const Problem& problem, const Tensor& tensor, std::span<const std::byte> bytes,
                  const Reference& reference, Findings& findings) {
    OutputCheck(problem, tensor, bytes, reference, findings).run();
}

void check_input(const Problem& problem, const Tensor& tensor, std::span<const std::byte> before,
                 std::span<const std::byte> after, Findings& findings) {
    if (std::memcmp(before.data(), after.data(), before.size()) == 0) {
        return;
    }
    const auto size = static_cast<std::size_t>(bytes_of(tensor.dtype));
    TensorCheck check;
    check.role = tensor.role;
    check.oracle = "exact";
    check.worst_over_bound = std::numeric_limits<double>::infinity();
    check.worst_error = std::numeric_limits<double>::infinity();
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
                                 place_text(tensor, check.worst_row, check.worst_col),
                                 gap ? "(a gap of the row stride) " : "", shape_text(problem.shape), check.unwritten));
}

}  // namespace normtune
