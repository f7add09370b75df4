// The oracle's walk over rows, for one thread. Internal to verify/.
#pragma once

#include <cmath>
#include <cstring>

#include "verify/oracle.h"

namespace normtune {

template <Dtype T>
double rounded(double value) {
    return ElementFormat<T>::round(value);
}

inline double fp32_at(const std::vector<std::byte>& bytes, std::int64_t i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * 4, sizeof value);
    return static_cast<double>(value);
}

/// T is x's type.
template <Dtype T>
class RowOracle {
public:
    RowOracle(const Problem& problem, const RoundingContract& contract, const HostTensors& inputs)
        : problem_(problem),
          operation_(problem.operation),
          contract_(contract),
          inputs_(inputs),
          cols_(static_cast<std::size_t>(problem.shape.cols)) {
        for (std::vector<double>* row : {&x, &v, &dy, &ds}) {
            row->assign(cols_, 0.0);
        }
        std::vector<double> weights(cols_, 1.0);
        if (operation_.affine) {
            decode(operation_.weight_dtype, inputs_.at(TensorRole::gamma).data(), 0, std::span(weights));
        }
        const double offset = operation_.affine ? operation_.offset : 0;
        const auto gain = [&](bool in_type, double weight) {
            return in_type ? rounded<T>(offset + rounded<T>(weight)) : round_to_fp32(offset + weight);
        };
        for (const double weight : weights) {
            forward_gain.push_back(gain(contract_.forward.gain, weight));
            backward_gain.push_back(gain(contract_.backward.gain, weight));
        }
    }

    /// What the forward normalises (v), and what the backward reads (x): x, or the sum as it is stored.
    void load(std::int64_t i) {
        read(TensorRole::x, i, problem_.shape.row_stride, x);
        v = x;
        if (operation_.has(TensorRole::residual)) {
            read(TensorRole::residual, i, problem_.shape.cols, ds);
            for (std::size_t j = 0; j < cols_; ++j) {
                sum_[j] = x[j] + ds[j];
                x[j] = rounded<T>(sum_[j]);
                v[j] = operation_.residual == ResidualPrecision::rounded ? x[j] : round_to_fp32(sum_[j]);
            }
        }
        if (operation_.has_backward()) {
            read(TensorRole::dy, i, problem_.shape.cols, dy);
            if (operation_.has(TensorRole::ds)) {
                read(TensorRole::ds, i, problem_.shape.cols, ds);
            }
        }
    }

    double rstd() const {
        double squares = 0;
        for (const double value : v) {
            squares += contract_.forward.squares ? rounded<T>(round_to_fp32(value * value)) : value * value;
        }
        return 1 / std::sqrt(squares / static_cast<double>(cols_) + operation_.eps);
    }

    static double normalised(const RoundingPoints& points, double value, double rstd) {
        const double scaled = value * (points.scale ? rounded<T>(rstd) : rstd);
        return points.normal ? rounded<T>(round_to_fp32(scaled)) : scaled;
    }
    double gradient(std::size_t j) const {
        const double m = dy[j] * backward_gain[j];
        return contract_.backward.gradient ? rounded<T>(round_to_fp32(m)) : m;
    }
    double term(std::size_t j, double rstd) const {
        const double t = dy[j] * normalised(contract_.backward, x[j], rstd);
        return contract_.backward.terms ? rounded<T>(round_to_fp32(t)) : t;
    }
    double stored_sum(std::size_t j) const { return sum_[j]; }

    std::vector<double> x, v, dy, ds, forward_gain, backward_gain;

private:
    void read(TensorRole role, std::int64_t row, std::int64_t stride, std::vector<double>& out) const {
        decode(T, inputs_.at(role).data(), row * stride, std::span(out));
    }

    const Problem& problem_;
    const Operation& operation_;
    const RoundingContract& contract_;
    const HostTensors& inputs_;
    std::size_t cols_;
    std::vector<double> sum_ = std::vector<double>(cols_);
};

}  // namespace normtune
