// The fake device's arithmetic: every operation in fp32, roundings where the casting has them.
#pragma once

#include "verify/fake_device.h"

namespace normtune::fake {

class Launch {
public:
    Launch(const Problem& problem, HostTensors& bytes, Order order, Defect defect)
        : p_(problem),
          op_(problem.operation),
          bytes_(bytes),
          order_(order),
          defect_(defect),
          rows_(problem.shape.rows),
          cols_(static_cast<std::size_t>(problem.shape.cols)) {
        if (is(Defect::other_casting)) {
            op_.casting = op_.casting == Casting::gemma ? Casting::llama : Casting::gemma;
        }
        gamma_.assign(cols_, 1.0f);
        if (op_.affine) {
            decode(op_.weight_dtype, bytes_.at(TensorRole::gamma).data(), 0, std::span(gamma_));
            const auto offset = static_cast<float>(is(Defect::offset_forgotten) ? 0 : op_.offset);
            for (float& g : gamma_) {
                g = op_.casting == Casting::none ? t(offset + t(g)) : offset + g;
            }
            if (is(Defect::gamma_off_by_one)) {
                std::rotate(gamma_.begin(), gamma_.begin() + 1, gamma_.end());
            }
        }
    }

    void run() {
        if (op_.has_forward()) {
            for (std::int64_t i = 0; i < rows_; ++i) {
                forward(i);
            }
        }
        if (op_.has_backward()) {
            std::vector<std::vector<float>> terms(cols_);
            for (std::int64_t i = 0; i < rows_; ++i) {
                backward(i, terms);
            }
            if (op_.affine) {
                std::vector<float> dgamma(cols_);
                for (std::size_t j = 0; j < cols_; ++j) {
                    dgamma[j] = sum(terms[j], order_);
                }
                encode(op_.weight_dtype, dgamma, 0, bytes_.at(TensorRole::dgamma).data());
            }
        }
        if (is(Defect::gap_written) && p_.shape.row_stride > p_.shape.cols) {
            encode(op_.dtype, std::vector<float>{0}, p_.shape.cols, bytes_.at(TensorRole::x).data());
        }
        if (is(Defect::x_overwritten)) {
            encode(op_.dtype, std::vector<float>(cols_, 3), 0, bytes_.at(TensorRole::x).data());
        }
    }

private:
    bool is(Defect defect) const { return defect_ == defect; }
    float t(float value) const { return round_to(op_.dtype, value, is(Defect::truncated)); }

    std::vector<float> row(TensorRole role, std::int64_t i, std::int64_t stride) const {
        std::vector<float> out(cols_);
        decode(op_.dtype, bytes_.at(role).data(), i * stride, std::span(out));
        return out;
    }

    bool skipped(std::int64_t i) const {
        return (is(Defect::last_row_unwritten) && i == rows_ - 1) || (is(Defect::single_row_unwritten) && rows_ == 1) ||
               (is(Defect::tail_rows_unwritten) && i >= rows_ / 4 * 4);
    }

    void store(TensorRole role, std::int64_t i, std::vector<float> values) {
        if (skipped(i)) {
            return;
        }
        for (float& v : values) {
            v = t(v);
        }
        std::size_t count = cols_;
        if (is(Defect::last_column_dropped)) {
            --count;
        } else if (is(Defect::tail_columns_unwritten)) {
            count = cols_ / 8 * 8;
        }
        values.resize(count);
        if (is(Defect::nan_element) && i == rows_ / 2 && !values.empty()) {
            values[count / 2] = std::nanf("");
        }
        if (is(Defect::one_value) && role != TensorRole::s && i == rows_ / 2 && !values.empty()) {
            values[count / 2] = t(1.05f * values[count / 2] + 0.01f);
        }
        encode(op_.dtype, values, i * p_.shape.cols, bytes_.at(op_.holder_of(role)).data());
    }

    void forward(std::int64_t i) {
        std::vector<float> v = row(TensorRole::x, i, is(Defect::stride_ignored) ? p_.shape.cols : p_.shape.row_stride);
        if (op_.adds_residual()) {
            const std::vector<float> r = row(TensorRole::residual, i, p_.shape.cols);
            for (std::size_t j = 0; j < cols_; ++j) {
                v[j] += r[j];
            }
            store(TensorRole::s, i, v);
            if (op_.residual == ResidualPrecision::rounded && !is(Defect::residual_kept_wide)) {
                for (float& element : v) {
                    element = t(element);
                }
            }
        }
        std::vector<float> squares(cols_);
        for (std::size_t j = 0; j < cols_; ++j) {
            squares[j] = op_.casting == Casting::none ? t(v[j] * v[j]) : v[j] * v[j];
        }
        if (is(Defect::sum_skips_last_column)) {
            squares.pop_back();
        }
        if (is(Defect::gap_read) && p_.shape.row_stride > p_.shape.cols && i + 1 < rows_) {
            float beyond = 0;
            decode(op_.dtype, bytes_.at(TensorRole::x).data(), i * p_.shape.row_stride + p_.shape.cols, std::span(&beyond, 1));
            squares.push_back(beyond * beyond);
        }
        const float eps = is(Defect::eps_forgotten) ? 0.0f : static_cast<float>(op_.eps);
        const float n = is(Defect::rstd_of_sum) ? 1.0f : static_cast<float>(cols_) + (is(Defect::rstd_of_n_plus_1) ? 1.0f : 0.0f);
        const float mean = sum(squares, order_) / n;
        const float rstd = 1.0f / std::sqrt(mean + eps);
        if (!skipped(i) && op_.has(TensorRole::rstd)) {
            std::memcpy(bytes_.at(TensorRole::rstd).data() + i * 4, &rstd, sizeof(rstd));
        }
        std::vector<float> y(cols_);
        for (std::size_t j = 0; j < cols_; ++j) {
            y[j] = normalised(v[j], rstd) * gamma_[j];
        }
        store(TensorRole::y, i, y);
    }

    float normalised(float v, float rstd) const {
        switch (op_.casting) {
            case Casting::llama:
                return t(v * rstd);
            case Casting::none:
                return t(v * t(rstd));
            case Casting::gemma:
                break;
        }
        return v * rstd;
    }

    void backward(std::int64_t i, std::vector<std::vector<float>>& terms) {
        const bool saved_sum = op_.adds_residual() && op_.has_forward();
        const std::int64_t stride = saved_sum || is(Defect::stride_ignored) ? p_.shape.cols : p_.shape.row_stride;
        const std::vector<float> x = row(saved_sum ? TensorRole::s : TensorRole::x, i, stride);
        std::vector<float> dy = row(TensorRole::dy, i, p_.shape.cols);
        float rstd = 0;
        std::memcpy(&rstd, bytes_.at(TensorRole::rstd).data() + i * 4, sizeof(rstd));
        std::vector<float> m(cols_);
        std::vector<float> products(cols_);
        for (std::size_t j = 0; j < cols_; ++j) {
            m[j] = dy[j] * gamma_[j];
            m[j] = op_.casting == Casting::none || is(Defect::m_rounded) ? t(m[j]) : m[j];
            products[j] = m[j] * x[j];
        }
        if (is(Defect::projection_skips_last_column)) {
            products.pop_back();
        }
        const float n = is(Defect::mean_forgets_n) ? 1.0f : static_cast<float>(cols_);
        const float factor = rstd * rstd * rstd * (sum(products, order_) / n);
        std::vector<float> dx(cols_);
        for (std::size_t j = 0; j < cols_; ++j) {
            dx[j] = rstd * m[j] - factor * x[j];
        }
        if (op_.adds_residual() && !is(Defect::ds_forgotten)) {
            const std::vector<float> ds = row(TensorRole::ds, i, p_.shape.cols);
            for (std::size_t j = 0; j < cols_; ++j) {
                dx[j] += ds[j];
            }
        }
        store(TensorRole::dx, i, dx);
        if (is(Defect::dgamma_after_overwrite) && op_.in_place) {
            dy = row(TensorRole::dy, i, p_.shape.cols);
        }
        if (is(Defect::dgamma_row_missing) && i == rows_ / 2) {
            return;
        }
        for (std::size_t j = 0; j < cols_; ++j) {
            const float term = dy[j] * normalised(x[j], rstd);
            terms[j].push_back(op_.casting == Casting::none ? t(term) : term);
        }
    }

    const Problem& p_;
    Operation op_;
    HostTensors& bytes_;
    Order order_;
    Defect defect_;
    std::int64_t rows_;
    std::size_t cols_;
    std::vector<float> gamma_;
};

inline void FakeDevice::run(const Kernel& kernel, Buffers& buffers, int, Workspace) {
    ++runs;
    Launch(static_cast<const FakeKernel&>(kernel).problem, static_cast<FakeBuffers&>(buffers).bytes, order_, defect_).run();
    const bool before = defect_ == Defect::before_the_start;
    if (before || defect_ == Defect::behind_the_end || defect_ == Defect::behind_an_input) {
        for (const Tensor& tensor : tensors(static_cast<const FakeKernel&>(kernel).problem)) {
            std::vector<std::byte>& guard = static_cast<FakeBuffers&>(buffers).guards.at(tensor.role);
            const bool spoilt = defect_ == Defect::behind_an_input ? tensor.role == TensorRole::x
                                                                   : tensor.result == TensorRole::y || tensor.result == TensorRole::dx;
            if (spoilt && !guard.empty()) {
                guard[guard.size() / 2 + (before ? -4 : 10)] = std::byte{1};
            }
        }
    }
}

}  // namespace normtune::fake
