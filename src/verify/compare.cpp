#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>

#include "support/parallel.h"
#include "verify/oracle.h"
#include "verify/row_oracle.h"

namespace normtune {

void OutputSummary::add(const OutputSummary& other) {
    unwritten += other.unwritten;
    not_finite += other.not_finite;
    first = first < 0 || (other.first >= 0 && other.first < first) ? other.first : first;
    beyond += other.beyond;
    if (other.over > over || (other.over == over && other.place < place)) {
        place = other.place;
        over = other.over;
        got = other.got;
        expected = other.expected;
        allowed = other.allowed;
    }
}

namespace {

/// Judges what memory holds for `expected`, whose error before it was rounded to T is at most `allowed`.
template <Dtype T>
void judge_value(OutputSummary& out, const std::byte* at, std::int64_t place, double expected, double allowed) {
    using Code = typename ElementFormat<T>::Code;
    using Bits = std::conditional_t<sizeof(Code) == 2, std::uint16_t, std::uint32_t>;
    constexpr auto exponent = static_cast<Bits>(row_of(T).exponent);
    constexpr auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    const auto number = [](int bits) {
        return static_cast<double>(ElementFormat<T>::decode(std::bit_cast<Code>(static_cast<Bits>(bits))));
    };
    Bits bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    if ((bits & exponent) == exponent) {
        out.unwritten += bits == static_cast<Bits>(row_of(T).poison) ? 1 : 0;
        ++out.not_finite;
        out.first = out.first < 0 ? place : std::min(out.first, place);
        return;
    }
    // All numbers between the midpoints to its neighbours are stored as this one.
    const int magnitude = static_cast<int>(bits & static_cast<Bits>(~sign));
    const double value = number(magnitude);
    const double above = number(magnitude + 1);
    const double high = std::isfinite(above) ? (value + above) / 2 : value * (1 + unit_roundoff(T));
    const double low = magnitude == 0 ? -high : (value + number(magnitude - 1)) / 2;
    const double wanted = (bits & sign) != 0 ? -expected : expected;
    const double error = std::max({low - wanted, wanted - high, 0.0});
    if (error == 0) {
        return;
    }
    const double over = allowed > 0 ? error / allowed : std::numeric_limits<double>::infinity();
    out.beyond += over > 1 ? 1 : 0;
    if (over > out.over || (over == out.over && place < out.place)) {
        out.place = place;
        out.over = over;
        out.got = (bits & sign) != 0 ? -value : value;
        out.expected = expected;
        out.allowed = allowed;
    }
}

/// The outputs of one thread's rows.
template <Dtype T>
class RowComparison {
public:
    RowComparison(const Problem& problem, const RoundingContract& contract, const HostTensors& inputs, const OracleSums& sums,
                  const HostTensors& outputs)
        : problem_(problem),
          contract_(contract),
          sums_(sums),
          outputs_(outputs),
          bounds_(bounds_of(problem, contract)),
          row_(problem, contract, inputs) {}

    void row(std::int64_t i) {
        const Operation& operation = problem_.operation;
        row_.load(i);
        double rstd = sums_.rstd[static_cast<std::size_t>(i)];
        const double bound = sums_.rstd_bound[static_cast<std::size_t>(i)];
        if (operation.has_forward()) {
            double deviation = bound;  // of a kernel's rstd that nobody sees
            if (operation.has(TensorRole::rstd)) {
                const std::vector<std::byte>& stored = outputs_.at(TensorRole::rstd);
                judge_value<Dtype::fp32>(of_rstd, stored.data() + i * 4, i, rstd, bound * rstd);
                const double own = fp32_at(stored, i);
                rstd = std::fabs(own / rstd - 1) <= bound ? own : round_to_fp32(rstd);
                deviation = 0;
            }
            forward(i, rstd, deviation);
        }
        if (operation.has_backward()) {
            backward(i, rstd);
        }
    }

    OutputSummary of_y{TensorRole::y}, of_s{TensorRole::s}, of_rstd{TensorRole::rstd}, of_dx{TensorRole::dx};

private:
    const std::byte* stored(TensorRole role, std::int64_t row) const {
        return outputs_.at(problem_.operation.holder_of(role)).data() + row * problem_.shape.cols * bytes_of(T);
    }

    /// y as `rstd` gives it, or any other that is at most `deviation` away, relative: y is monotone in rstd.
    void forward(std::int64_t i, double rstd, double deviation) {
        const std::byte* y = stored(TensorRole::y, i);
        const std::int64_t first = i * problem_.shape.cols;
        for (std::size_t j = 0; j < row_.v.size(); ++j) {
            const auto of = [&](double r) { return RowOracle<T>::normalised(contract_.forward, row_.v[j], r) * row_.forward_gain[j]; };
            const double expected = of(rstd);
            double allowed = bounds_.y * std::fabs(expected) + bounds_.tiny;
            if (deviation > 0) {
                allowed += std::max(std::fabs(of(rstd * (1 + deviation)) - expected), std::fabs(of(rstd * (1 - deviation)) - expected));
            }
            const auto at = static_cast<std::int64_t>(j);
            judge_value<T>(of_y, y + at * bytes_of(T), first + at, expected, allowed);
        }
        if (problem_.operation.has(TensorRole::s)) {
            const std::byte* s = stored(TensorRole::s, i);
            for (std::size_t j = 0; j < row_.v.size(); ++j) {
                const auto at = static_cast<std::int64_t>(j);
                judge_value<T>(of_s, s + at * bytes_of(T), first + at, row_.stored_sum(j), 0);
            }
        }
    }

    void backward(std::int64_t i, double rstd) {
        const std::byte* dx = stored(TensorRole::dx, i);
        const auto slot = static_cast<std::size_t>(i);
        const double share = rstd * rstd * rstd / static_cast<double>(problem_.shape.cols);
        const double back = share * sums_.projection[slot];
        const double back_error = share * sums_.projection_bound[slot];
        const bool adds = problem_.operation.has(TensorRole::ds);
        for (std::size_t j = 0; j < row_.x.size(); ++j) {
            const double gradient = rstd * row_.gradient(j);
            const double projection = back * row_.x[j];
            const double incoming = adds ? row_.ds[j] : 0;
            const double allowed = bounds_.gradient * std::fabs(gradient) + bounds_.projection * std::fabs(projection) +
                                   bounds_.incoming * std::fabs(incoming) + back_error * std::fabs(row_.x[j]) + bounds_.tiny;
            const auto at = static_cast<std::int64_t>(j);
            judge_value<T>(of_dx, dx + at * bytes_of(T), i * problem_.shape.cols + at, gradient - projection + incoming, allowed);
        }
    }

    const Problem& problem_;
    const RoundingContract& contract_;
    const OracleSums& sums_;
    const HostTensors& outputs_;
    Bounds bounds_;
    RowOracle<T> row_;
};

/// The largest deviation of the kernel's own rstd, of those within their bound.
double rstd_deviation(const OracleSums& sums, const std::vector<std::byte>& stored) {
    double most = 0;
    for (std::size_t i = 0; i < sums.rstd.size(); ++i) {
        const double deviation = std::fabs(fp32_at(stored, static_cast<std::int64_t>(i)) / sums.rstd[i] - 1);
        most = deviation <= sums.rstd_bound[i] ? std::max(most, deviation) : most;
    }
    return most;
}

OutputSummary compare_columns(const Problem& problem, const RoundingContract& contract, const OracleSums& sums,
                              const HostTensors& outputs) {
    const Bounds bounds = bounds_of(problem, contract);
    const double deviation = problem.operation.has_forward() ? rstd_deviation(sums, outputs.at(TensorRole::rstd)) : 0;
    const double factor = bounds.column_terms + bounds.column_rstd * deviation + bounds.column_tips * std::sqrt(deviation);
    OutputSummary summary{TensorRole::dgamma};
    with_dtype(problem.operation.weight_dtype, [&]<Dtype W>() {
        for (std::size_t j = 0; j < sums.dgamma.size(); ++j) {
            const double one_sign = std::max(0.0, std::fabs(sums.dgamma[j]) - bounds.column_walk * sums.dgamma_rms[j]);
            const double allowed =
                factor * sums.dgamma_rms[j] + bounds.column_sum * one_sign + bounds.column_tip * sums.dgamma_most[j] + bounds.tiny;
            const auto at = static_cast<std::int64_t>(j);
            judge_value<W>(summary, outputs.at(TensorRole::dgamma).data() + at * bytes_of(W), at, sums.dgamma[j], allowed);
        }
    });
    return summary;
}

}  // namespace

std::vector<OutputSummary> compare_outputs(const Problem& problem, const RoundingContract& contract, const HostTensors& inputs,
                                           const OracleSums& sums, const HostTensors& outputs) {
    std::vector<OutputSummary> all;
    for (const Tensor& tensor : tensors(problem)) {
        if (tensor.access != Access::in) {
            all.push_back({tensor.result});
        }
    }
    const auto add = [&](const OutputSummary& part) {
        for (OutputSummary& summary : all) {
            if (summary.role == part.role) {
                summary.add(part);
            }
        }
    };
    std::mutex mutex;
    with_dtype(problem.operation.dtype, [&]<Dtype T>() {
        for_row_blocks(problem.shape.rows, host_threads(problem.shape.rows, problem.shape.cols),
                       [&](std::int64_t first, std::int64_t last, int) {
                           RowComparison<T> comparison(problem, contract, inputs, sums, outputs);
                           for (std::int64_t i = first; i < last; ++i) {
                               comparison.row(i);
                           }
                           const std::lock_guard lock(mutex);
                           for (const OutputSummary& part : {comparison.of_y, comparison.of_s, comparison.of_rstd, comparison.of_dx}) {
                               add(part);
                           }
                       });
    });
    if (problem.operation.has(TensorRole::dgamma)) {
        add(compare_columns(problem, contract, sums, outputs));
    }
    return all;
}

}  // namespace normtune
