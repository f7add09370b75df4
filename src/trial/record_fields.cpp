#include "trial/record_fields.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace normtune::fields {

std::string joined_tokens(const std::vector<Use>& uses) {
    std::vector<std::int64_t> tokens;
    for (const Use& use : uses) {
        if (std::find(tokens.begin(), tokens.end(), use.tokens) == tokens.end()) {
            tokens.push_back(use.tokens);
        }
    }
    return fmt::format("{}", fmt::join(tokens, ";"));
}

/// The largest error over its bound, over all shapes and tensors that were verified: above 1 is incorrect.
std::string worst_over_bound(const Verification& verification) {
    double worst = 0;
    for (const ShapeCheck& shape : verification.shapes) {
        for (const TensorCheck& tensor : shape.tensors) {
            worst = std::max(worst, std::isnan(tensor.worst_over_bound) ? HUGE_VAL : tensor.worst_over_bound);
        }
    }
    return std::isinf(worst) ? "inf" : fmt::format("{:.4f}", worst);
}

std::string throttled_rounds(const Measurement& measurement) {
    return std::to_string(std::ranges::count(measurement.rounds, true, &Round::throttled));
}

std::string moved_rounds(const Measurement& measurement) {
    return std::to_string(std::ranges::count(measurement.rounds, true, &Round::clocks_moved));
}

std::string flaw_of(const Shape& shape) {
    if (shape.row_stride < shape.cols) {
        return fmt::format("a row_stride of {} is less than the {} columns", shape.row_stride, shape.cols);
    }
    // The widest type is 4 bytes; a tensor larger than an address space would overflow every sum made of it.
    std::int64_t elements = 0;
    if (__builtin_mul_overflow(shape.rows, shape.row_stride, &elements) || elements > (std::int64_t{1} << 56)) {
        return fmt::format("{} rows of stride {} are more elements than any tensor has", shape.rows, shape.row_stride);
    }
    return {};
}

namespace {

// A quantile of 0 is one that a CSV does not have.
std::string disorder(double p20_us, double p50_us, double p80_us) {
    return p20_us > p50_us || (p80_us < p50_us && p80_us > 0)
               ? fmt::format("p20_us {}, p50_us {} and p80_us {} are out of order", p20_us, p50_us, p80_us)
               : "";
}

}  // namespace

std::string flaw_of(const Measurement& m) {
    return m.p50_us == 0 ? "was measured, but p50_us is not there" : disorder(m.p20_us, m.p50_us, m.p80_us);
}

std::string flaw_of(const Repetition& r) {
    return disorder(r.p20_us, r.p50_us, r.p80_us);
}

}  // namespace normtune::fields
