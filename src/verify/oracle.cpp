#include "verify/oracle.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "problem/elements.h"
#include "support/parallel.h"
#include "verify/bounds.h"

namespace normtune {

namespace {

template <Dtype dtype>
double rounded(double value) {
    return ElementFormat<dtype>::round(value);
}

double largest(const std::vector<double>& values) {
    double most = 0;
    for (double v : values) {
        most = std::max(most, std::fabs(v));
    }
    return most;
}

/// dgamma's sums over the rows of one thread.
struct ColumnSums {
    std::vector<double> exact;
    std::vector<double> squares;
    std::vector<double> rounded;
};

/// One thread's walk over its rows. T is x's type.
template <Dtype T>
class RowOracle {
public:
    RowOracle(const Problem& problem, const HostTensors& inputs, Reference& reference, ColumnSums& sums)
        : problem_(problem),
          operation_(problem.operation),
          inputs_(inputs),
          reference_(reference),
          sums_(sums),
          points_(rounding_points.at(static_cast<std::size_t>(operation_.casting))),
          cols_(static_cast<std::size_t>(problem.shape.cols)) {
        for (std::vector<double>* row : {&x_, &v_, &g_, &g_rounded_, &dy_, &ds_, &m_}) {
            row->assign(cols_, 0.0);
        }
        std::fill(g_.begin(), g_.end(), 1.0);
        if (operation_.affine) {
            decode(operation_.weight_dtype, inputs_.at(TensorRole::gamma).data(), 0, std::span(g_));
        }
        for (std::size_t j = 0; j < cols_; ++j) {
            const double weight = operation_.affine ? g_[j] : 1.0;
            const double offset = operation_.affine ? operation_.offset : 0;
            g_[j] = offset + weight;
            g_rounded_[j] = points_.gain ? rounded<T>(offset + rounded<T>(weight)) : g_[j];
        }
        if (operation_.has_backward()) {
            for (std::vector<double>* column : {&sums_.exact, &sums_.squares, &sums_.rounded}) {
                column->assign(cols_, 0.0);
            }
        }
    }

    /// `slot`: the row's place in Reference::rows, or -1 where its elements are not kept.
    void row(std::int64_t i, std::int64_t slot) {
        decode(T, inputs_.at(TensorRole::x).data(), i * problem_.shape.row_stride, std::span(x_));
        v_ = x_;
        if (operation_.has(TensorRole::residual)) {
            decode(T, inputs_.at(TensorRole::residual).data(), i * problem_.shape.cols, std::span(dy_));
            for (std::size_t j = 0; j < cols_; ++j) {
                v_[j] = x_[j] + dy_[j];
                x_[j] = rounded<T>(v_[j]);  // s as it is stored: what the backward reads
            }
            if (operation_.residual == ResidualPrecision::rounded) {
                v_ = x_;
            }
        }
        find_rstd(i);
        if (slot >= 0 && operation_.has_forward()) {
            forward(static_cast<std::size_t>(slot) * cols_);
        }
        if (operation_.has_backward()) {
            backward(i, slot);
        }
    }

private:
    void find_rstd(std::int64_t i) {
        double squares = 0;
        double rounded_squares = 0;
        for (double v : v_) {
            squares += v * v;
        }
        if (points_.squares) {
            for (double v : v_) {
                rounded_squares += rounded<T>(round_to_fp32(v * v));
            }
        }
        const auto n = static_cast<double>(cols_);
        rstd_ = 1 / std::sqrt(squares / n + operation_.eps);
        rstd_casting_ = points_.squares ? 1 / std::sqrt(rounded_squares / n + operation_.eps) : rstd_;
        const auto at = static_cast<std::size_t>(i);
        if (!operation_.has_forward()) {
            rstd_ = rstd_casting_ = round_to_fp32(rstd_casting_);  // an input, and as such exact
        } else if (points_.scale) {
            const double error = rstd_error(problem_.shape.cols);
            reference_.rstd_ambiguous[at] = rounded<T>(rstd_casting_ * (1 - error)) != rounded<T>(rstd_casting_ * (1 + error));
        }
        reference_.rstd[at] = rstd_casting_;
    }

    /// The normalised element as the casting rounds it. A product of two 16-bit values is exact in fp32, one with the
    /// wide sum of residual fp32 is not: there the fp32 rounding on the way to T is part of the contract, too.
    double normalised(double v, double rstd_of_type) const {
        if (!points_.normal) {
            return v * rstd_casting_;
        }
        return rounded<T>(points_.scale ? round_to_fp32(v * rstd_of_type) : v * rstd_casting_);
    }

    void forward(std::size_t at) {
        const double rstd_of_type = rounded<T>(rstd_casting_);
        for (std::size_t j = 0; j < cols_; ++j) {
            reference_.y[at + j] = v_[j] * rstd_ * g_[j];
        }
        if (!reference_.s.empty()) {
            std::transform(x_.begin(), x_.end(), reference_.s.begin() + static_cast<std::ptrdiff_t>(at),
                           [](double v) { return static_cast<float>(v); });
        }
        if (!reference_.y_rounded.empty()) {
            for (std::size_t j = 0; j < cols_; ++j) {
                const double y = normalised(v_[j], rstd_of_type) * g_rounded_[j];
                reference_.y_rounded[at + j] = static_cast<float>(rounded<T>(y));
            }
        }
    }

    void backward(std::int64_t i, std::int64_t slot) {
        decode(T, inputs_.at(TensorRole::dy).data(), i * problem_.shape.cols, std::span(dy_));
        if (operation_.has(TensorRole::ds)) {
            decode(T, inputs_.at(TensorRole::ds).data(), i * problem_.shape.cols, std::span(ds_));
        }
        if (slot >= 0) {
            input_gradient(static_cast<std::size_t>(slot));
        }
        if (!operation_.affine) {
            return;
        }
        for (std::size_t j = 0; j < cols_; ++j) {
            const double term = dy_[j] * x_[j] * rstd_;
            sums_.exact[j] += term;
            sums_.squares[j] += term * term;
        }
        if (!reference_.dgamma_rounded.empty()) {
            const double rstd_of_type = rounded<T>(rstd_casting_);
            for (std::size_t j = 0; j < cols_; ++j) {
                const double term = dy_[j] * normalised(x_[j], rstd_of_type);
                sums_.rounded[j] += points_.terms ? rounded<T>(term) : term;
            }
        }
    }

    /// dx = rstd·m − (rstd³/N)·Σ(m·x)·x, and + ds where the op has it.
    void input_gradient(std::size_t slot) {
        const std::size_t at = slot * cols_;
        for (std::size_t j = 0; j < cols_; ++j) {
            m_[j] = dy_[j] * g_[j];
        }
        double factor = projection(rstd_);
        double scale = rstd_ * largest(m_);
        for (std::size_t j = 0; j < cols_; ++j) {
            const double normal = rstd_ * m_[j] - factor * x_[j];
            scale = std::max(scale, std::fabs(normal));
            reference_.dx[at + j] = normal + ds_[j];
        }
        reference_.gradient_scale[slot] = scale;
        reference_.projection_scale[slot] = std::fabs(factor) * largest(x_);
        if (!reference_.dx_rounded.empty()) {
            if (points_.gradient) {
                for (std::size_t j = 0; j < cols_; ++j) {
                    m_[j] = rounded<T>(dy_[j] * g_rounded_[j]);
                }
                factor = projection(rstd_casting_);
            }
            for (std::size_t j = 0; j < cols_; ++j) {
                const double dx = rstd_casting_ * m_[j] - factor * x_[j] + ds_[j];
                reference_.dx_rounded[at + j] = static_cast<float>(rounded<T>(dx));
            }
        }
    }

    double projection(double rstd) const {
        double sum = 0;
        for (std::size_t j = 0; j < cols_; ++j) {
            sum += m_[j] * x_[j];
        }
        return rstd * rstd * rstd * sum / static_cast<double>(cols_);
    }

    const Problem& problem_;
    const Operation& operation_;
    const HostTensors& inputs_;
    Reference& reference_;
    ColumnSums& sums_;
    RoundingPoints points_;
    std::size_t cols_;
    std::vector<double> x_;  // x, or the sum s: what the backward sees
    std::vector<double> v_;  // what the forward normalises: x, s, or the unrounded sum
    std::vector<double> g_, g_rounded_, dy_, ds_, m_;
    double rstd_ = 0;          // exact
    double rstd_casting_ = 0;  // of the rounded squares where these are rounded
};

void allocate(const Problem& problem, Reference& reference) {
    const Operation& operation = problem.operation;
    const auto rows = static_cast<std::size_t>(problem.shape.rows);
    const auto cols = static_cast<std::size_t>(problem.shape.cols);
    const std::size_t kept = reference.rows.size();
    // Held to the rounded oracle: what is rounded once, to the type that the casting's roundings are to.
    const auto rounded_elements = [&](TensorRole role) {
        return is_narrow(operation.dtype) && tensor_of(problem, role).dtype == operation.dtype ? kept * cols : 0;
    };
    reference.rstd.resize(rows);
    reference.rstd_ambiguous.assign(rows, 0);
    if (operation.has_forward()) {
        reference.y.resize(kept * cols);
        reference.y_rounded.resize(rounded_elements(TensorRole::y));
        reference.s.resize(operation.has(TensorRole::s) ? kept * cols : 0);
    }
    if (operation.has_backward()) {
        reference.dx.resize(kept * cols);
        reference.dx_rounded.resize(rounded_elements(TensorRole::dx));
        reference.gradient_scale.resize(kept);
        reference.projection_scale.resize(kept);
        if (operation.affine) {
            reference.dgamma.assign(cols, 0.0);
            reference.dgamma_rms.assign(cols, 0.0);
            reference.dgamma_rounded.assign(is_narrow(operation.weight_dtype) && rows <= 2 ? cols : 0, 0.0f);
        }
    }
}

template <Dtype T>
void compute(const Problem& problem, const HostTensors& inputs, Reference& reference) {
    const int threads = host_threads(problem.shape.rows, problem.shape.cols);
    std::vector<ColumnSums> sums(static_cast<std::size_t>(threads));
    for_row_blocks(problem.shape.rows, threads, [&](std::int64_t first, std::int64_t last, int index) {
        RowOracle<T> oracle(problem, inputs, reference, sums[static_cast<std::size_t>(index)]);
        auto next = std::lower_bound(reference.rows.begin(), reference.rows.end(), first);
        for (std::int64_t i = first; i < last; ++i) {
            const bool kept = next != reference.rows.end() && *next == i;
            oracle.row(i, kept ? next++ - reference.rows.begin() : -1);
        }
    });
    for (const ColumnSums& part : sums) {
        for (std::size_t j = 0; j < reference.dgamma.size(); ++j) {
            reference.dgamma[j] += part.exact[j];
            reference.dgamma_rms[j] += part.squares[j];
        }
        for (std::size_t j = 0; j < reference.dgamma_rounded.size(); ++j) {
            reference.dgamma_rounded[j] += static_cast<float>(part.rounded[j]);
        }
    }
    for (double& squares : reference.dgamma_rms) {
        squares = std::sqrt(squares / static_cast<double>(problem.shape.rows));
    }
    for (float& value : reference.dgamma_rounded) {
        value = static_cast<float>(rounded<T>(static_cast<double>(value)));
    }
}

}  // namespace

std::vector<std::int64_t> oracle_rows(const Shape& shape, std::int64_t most_elements, std::uint64_t seed) {
    const std::int64_t most = std::max<std::int64_t>(most_elements / shape.cols, 1);
    std::vector<std::int64_t> rows;
    if (shape.rows <= most) {
        rows.resize(static_cast<std::size_t>(shape.rows));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = static_cast<std::int64_t>(i);
        }
        return rows;
    }
    std::set<std::int64_t> chosen;
    const auto choose = [&](std::int64_t row) {
        if (row >= 0 && row < shape.rows && std::ssize(chosen) < most) {
            chosen.insert(row);
        }
    };
    for (std::int64_t i = 0; i < 8; ++i) {
        choose(shape.rows - 1 - i);
        choose(i);
    }
    choose(shape.rows / 2 - 1);
    choose(shape.rows / 2);
    for (std::int64_t edge = 16; edge < shape.rows; edge *= 2) {
        choose(edge - 1);
        choose(edge);
        choose(shape.rows - edge - 1);
        choose(shape.rows - edge);
    }
    std::mt19937_64 engine(seed);
    std::uniform_int_distribution<std::int64_t> any(0, shape.rows - 1);
    while (std::ssize(chosen) < most) {
        choose(any(engine));
    }
    return {chosen.begin(), chosen.end()};
}

Reference compute_reference(const Problem& problem, HostTensors& inputs, std::vector<std::int64_t> rows) {
    Reference reference;
    reference.cols = problem.shape.cols;
    reference.rows = std::move(rows);
    allocate(problem, reference);
    with_dtype(problem.operation.dtype, [&]<Dtype T>() { compute<T>(problem, inputs, reference); });
    add_statistics(problem, reference, inputs);
    return reference;
}

void add_statistics(const Problem& problem, const Reference& reference, HostTensors& inputs) {
    for (const Tensor& tensor : tensors(problem)) {
        if (tensor.kind == TensorKind::statistic && tensor.access == Access::in) {
            const std::vector<float> rstd(reference.rstd.begin(), reference.rstd.end());
            std::vector<std::byte>& bytes = inputs[tensor.role];
            bytes.resize(static_cast<std::size_t>(tensor.span_bytes()));
            encode(tensor.dtype, rstd, 0, bytes.data());
        }
    }
}

}  // namespace normtune
