#include "verify/oracle.h"

#include <algorithm>
#include <mutex>

#include "support/parallel.h"
#include "verify/row_oracle.h"

namespace normtune {

namespace {

template <Dtype T>
void sum_columns(const Problem& problem, const RoundingContract& contract, const HostTensors& inputs, OracleSums& sums) {
    const auto cols = static_cast<std::size_t>(problem.shape.cols);
    for (std::vector<double>* column : {&sums.dgamma, &sums.dgamma_rms, &sums.dgamma_most}) {
        column->assign(cols, 0.0);
    }
    std::mutex mutex;
    for_row_blocks(problem.shape.rows, host_threads(problem.shape.rows, problem.shape.cols),
                   [&](std::int64_t first, std::int64_t last, int) {
                       RowOracle<T> row(problem, contract, inputs);
                       std::vector<double> sum(cols), squares(cols), most(cols);
                       for (std::int64_t i = first; i < last; ++i) {
                           row.load(i);
                           const double rstd = round_to_fp32(sums.rstd[static_cast<std::size_t>(i)]);
                           for (std::size_t j = 0; j < cols; ++j) {
                               const double term = row.term(j, rstd);
                               sum[j] += term;
                               squares[j] += term * term;
                               most[j] = std::max(most[j], std::fabs(term));
                           }
                       }
                       const std::lock_guard lock(mutex);
                       for (std::size_t j = 0; j < cols; ++j) {
                           sums.dgamma[j] += sum[j];
                           sums.dgamma_rms[j] += squares[j];
                           sums.dgamma_most[j] = std::max(sums.dgamma_most[j], most[j]);
                       }
                   });
    for (double& squares : sums.dgamma_rms) {
        squares = std::sqrt(squares / static_cast<double>(problem.shape.rows));
    }
}

std::int64_t not_zero(const std::vector<double>& values) {
    return static_cast<std::int64_t>(values.size()) - std::ranges::count(values, 0.0);
}

template <Dtype T>
void sum_rows(const Problem& problem, const RoundingContract& contract, const HostTensors& inputs, OracleSums& sums) {
    const Operation& operation = problem.operation;
    const auto rows = static_cast<std::size_t>(problem.shape.rows);
    const Bounds bounds = bounds_of(problem, contract);
    sums.rstd.assign(rows, 0.0);
    sums.rstd_bound.assign(rows, 0.0);
    if (operation.has_backward()) {
        sums.projection.assign(rows, 0.0);
        sums.projection_bound.assign(rows, 0.0);
    }
    const auto given = inputs.find(TensorRole::rstd);
    for_row_blocks(problem.shape.rows, host_threads(problem.shape.rows, problem.shape.cols),
                   [&](std::int64_t first, std::int64_t last, int) {
                       RowOracle<T> row(problem, contract, inputs);
                       for (std::int64_t i = first; i < last; ++i) {
                           row.load(i);
                           const auto at = static_cast<std::size_t>(i);
                           sums.rstd[at] = given == inputs.end() ? row.rstd() : fp32_at(given->second, i);
                           sums.rstd_bound[at] = bounds.rstd.of(not_zero(row.v));
                           if (operation.has_backward()) {
                               double squares = 0;
                               std::int64_t terms = 0;
                               for (std::size_t j = 0; j < row.x.size(); ++j) {
                                   const double product = row.gradient(j) * row.x[j];
                                   sums.projection[at] += product;
                                   squares += product * product;
                                   terms += product != 0 ? 1 : 0;
                               }
                               const double rms = std::sqrt(squares / static_cast<double>(std::max<std::int64_t>(terms, 1)));
                               sums.projection_bound[at] =
                                   bounds.row_sum.of(terms) * std::fabs(sums.projection[at]) + bounds.row_terms.of(terms) * rms;
                           }
                       }
                   });
}

}  // namespace

OracleSums oracle_sums(const Problem& problem, const RoundingContract& contract, HostTensors& inputs) {
    OracleSums sums;
    with_dtype(problem.operation.dtype, [&]<Dtype T>() { sum_rows<T>(problem, contract, inputs, sums); });
    if (!problem.operation.has_forward() && !inputs.contains(TensorRole::rstd)) {
        const std::vector<float> rstd(sums.rstd.begin(), sums.rstd.end());
        std::vector<std::byte>& bytes = inputs[TensorRole::rstd];
        bytes.resize(rstd.size() * sizeof(float));
        encode(Dtype::fp32, rstd, 0, bytes.data());
        std::copy(rstd.begin(), rstd.end(), sums.rstd.begin());
    }
    if (problem.operation.has(TensorRole::dgamma)) {
        with_dtype(problem.operation.dtype, [&]<Dtype T>() { sum_columns<T>(problem, contract, inputs, sums); });
    }
    return sums;
}

HostTensors right_outputs(const Problem& problem, const RoundingContract& contract, const HostTensors& inputs, const OracleSums& sums) {
    const Operation& operation = problem.operation;
    HostTensors outputs;
    for (const Tensor& tensor : tensors(problem)) {
        if (tensor.access != Access::in) {
            outputs[tensor.role].resize(static_cast<std::size_t>(tensor.span_bytes()));
        }
    }
    const auto put = [&](TensorRole role, Dtype dtype, std::int64_t at, const std::vector<double>& values) {
        encode(dtype, std::vector<float>(values.begin(), values.end()), at, outputs.at(operation.holder_of(role)).data());
    };
    with_dtype(operation.dtype, [&]<Dtype T>() {
        RowOracle<T> row(problem, contract, inputs);
        std::vector<double> values(static_cast<std::size_t>(problem.shape.cols));
        const auto each = [&](TensorRole role, std::int64_t i, const auto& value) {
            for (std::size_t j = 0; j < values.size(); ++j) {
                values[j] = rounded<T>(value(j));
            }
            put(role, T, i * problem.shape.cols, values);
        };
        for (std::int64_t i = 0; i < problem.shape.rows; ++i) {
            row.load(i);
            const auto slot = static_cast<std::size_t>(i);
            const double rstd = round_to_fp32(sums.rstd[slot]);
            if (operation.has_forward()) {
                if (operation.has(TensorRole::rstd)) {
                    put(TensorRole::rstd, Dtype::fp32, i, {rstd});
                }
                each(TensorRole::y, i,
                     [&](std::size_t j) { return row.normalised(contract.forward, row.v[j], rstd) * row.forward_gain[j]; });
                if (operation.has(TensorRole::s)) {
                    each(TensorRole::s, i, [&](std::size_t j) { return row.stored_sum(j); });
                }
            }
            if (operation.has_backward()) {
                const double back = rstd * rstd * rstd * sums.projection[slot] / static_cast<double>(problem.shape.cols);
                each(TensorRole::dx, i, [&](std::size_t j) {
                    return rstd * row.gradient(j) - back * row.x[j] + (operation.has(TensorRole::ds) ? row.ds[j] : 0);
                });
            }
        }
    });
    if (operation.has(TensorRole::dgamma)) {
        put(TensorRole::dgamma, operation.weight_dtype, 0, sums.dgamma);
    }
    return outputs;
}

}  // namespace normtune
