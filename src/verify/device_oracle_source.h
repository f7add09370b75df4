// The oracle as a GPU has it: the same contract, bounds and formulas as oracle.cpp and compare.cpp, written anew for a
// device, so that each checks the other. Free of vendor headers, so that every compiler of a toolchain takes it.
#pragma once

#include <string_view>

namespace normtune {

/// nt_oracle_rows, nt_oracle_columns, nt_oracle_total: the sums of a problem, once. nt_oracle_forward, nt_oracle_backward,
/// nt_oracle_dgamma: one summary a program and output. nt_oracle_digest: of a tensor's 16-bit words, one sum a program.
/// nt_oracle_copy: a tensor. Every launch has 256 threads a program. The members of nt_task are OracleTask's.
inline constexpr std::string_view device_oracle_common = R"gpu(
#if defined(NT_EMULATED)
#define NT_ORACLE NT_KERNEL(256, 1)
#define nt_program nt_program_x
#elif defined(__AMDGCN__)
#define NT_DEVICE __attribute__((device)) inline
#define NT_SHARED __attribute__((shared))
#define NT_ORACLE extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(256, 256))) void
NT_DEVICE int nt_thread() { return (int)__builtin_amdgcn_workitem_id_x(); }
NT_DEVICE int nt_program() { return (int)__builtin_amdgcn_workgroup_id_x(); }
NT_DEVICE void nt_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#else
#define NT_DEVICE __device__ inline
#define NT_SHARED __shared__
#define NT_ORACLE extern "C" __global__ void __launch_bounds__(256)
NT_DEVICE int nt_thread() { return threadIdx.x; }
NT_DEVICE int nt_program() { return blockIdx.x; }
NT_DEVICE void nt_barrier() { __syncthreads(); }
#endif
typedef long long nt_int;
typedef unsigned long long nt_word;
constexpr int nt_threads = 256;

struct nt_summary {
    nt_int unwritten, not_finite, first, beyond, place;
    double over, got, expected, allowed;
};
struct nt_sum_bound {
    double once, root, each;
};
struct nt_task {
    const void *x, *residual, *gamma, *dy, *ds;
    void *y, *s;
    float* rstd;
    void *dx, *dgamma;
    double *row_rstd, *row_rstd_bound, *row_projection, *row_projection_bound, *column_sum, *column_rms, *column_most, *partials;
    nt_summary* summaries;
    nt_int rows, cols, x_stride, type, weight_type, offset, residual_fp32, has_forward, given_rstd, forward, backward, programs, chunks;
    double eps;
    nt_sum_bound bound_rstd;
    double bound_y, bound_gradient, bound_projection, bound_incoming;
    nt_sum_bound bound_row_sum, bound_row_terms;
    double bound_column_terms, bound_column_walk, bound_column_sum, bound_column_rstd, bound_column_tips, bound_column_tip, bound_tiny;
};
enum { nt_fp32, nt_bf16, nt_fp16 };
enum { nt_squares = 1, nt_scale = 2, nt_normal = 4, nt_gain = 8, nt_gradient = 16, nt_terms = 32 };

union nt_pun32 {
    unsigned bits;
    float value;
};
union nt_pun64 {
    nt_word bits;
    double value;
};
NT_DEVICE float nt_float_of(unsigned bits) {
    nt_pun32 pun;
    pun.bits = bits;
    return pun.value;
}
NT_DEVICE double nt_double_of(nt_word bits) {
    nt_pun64 pun;
    pun.bits = bits;
    return pun.value;
}
NT_DEVICE nt_word nt_bits_of(double value) {
    nt_pun64 pun;
    pun.value = value;
    return pun.bits;
}
NT_DEVICE double nt_abs(double v) { return v < 0 ? -v : v; }
NT_DEVICE double nt_max(double a, double b) { return a < b ? b : a; }
/// Newton's iteration from a guess of the exponent: within an ulp or two.
NT_DEVICE double nt_root(double v) {
    if (!(v > 0)) {
        return 0;
    }
    double root = nt_double_of((nt_bits_of(v) >> 1) + ((nt_word)0x1ff7a3be << 32));
    for (int i = 0; i < 6; ++i) {
        root = 0.5 * (root + v / root);
    }
    return root;
}

/// A number of a type by its code, sign included.
NT_DEVICE double nt_number(nt_int type, unsigned code) {
    if (type == nt_fp32) {
        return nt_float_of(code);
    }
    if (type == nt_bf16) {
        return nt_float_of(code << 16);
    }
    const unsigned magnitude = code & 0x7fffu;
    const double value = magnitude < 0x400u   ? magnitude * 0x1p-24
                         : magnitude < 0x7c00u ? (double)nt_float_of((magnitude << 13) + (112u << 23))
                                               : (double)nt_float_of((magnitude << 13) | 0x7f800000u);
    return (code & 0x8000u) != 0 ? -value : value;
}
NT_DEVICE unsigned nt_code(nt_int type, const void* tensor, nt_int at) {
    return type == nt_fp32 ? ((const unsigned*)tensor)[at] : ((const unsigned short*)tensor)[at];
}
NT_DEVICE double nt_at(nt_int type, const void* tensor, nt_int at) { return nt_number(type, nt_code(type, tensor, at)); }

/// The nearest number of a type, ties to even. Beyond fp16's largest, as sums and squares may be, infinity.
NT_DEVICE double nt_round(nt_int type, double value) {
    if (type == nt_fp32) {
        return (float)value;
    }
    if (type == nt_fp16 && nt_abs(value) < 0x1p-14) {
        return (value + 0x1.8p28) - 0x1.8p28;  // the sum's last place is 2^-24
    }
    const int dropped = type == nt_bf16 ? 45 : 42;
    const nt_word bits = nt_bits_of(value);
    const nt_word mask = ((nt_word)1 << dropped) - 1;
    const double nearest = nt_double_of((bits + (mask >> 1) + ((bits >> dropped) & 1)) & ~mask);
    return type == nt_fp16 && nt_abs(nearest) > 65504 ? nearest * 0x1p1000 * 0x1p1000 : nearest;
}
NT_DEVICE double nt_in_fp32(double value) { return (float)value; }

/// Elements of a row as the contract has them.
struct nt_row {
    const nt_task& task;
    nt_int row;
    NT_DEVICE double sum(nt_int j) const {
        const double x = nt_at(task.type, task.x, row * task.x_stride + j);
        return task.residual == nullptr ? x : x + nt_at(task.type, task.residual, row * task.cols + j);
    }
    /// What the forward normalises.
    NT_DEVICE double v(nt_int j) const {
        const double x = sum(j);
        return task.residual == nullptr ? x : task.residual_fp32 != 0 ? nt_in_fp32(x) : nt_round(task.type, x);
    }
    /// What the backward reads as x.
    NT_DEVICE double x(nt_int j) const { return task.residual == nullptr ? sum(j) : nt_round(task.type, sum(j)); }
    NT_DEVICE double gain(nt_int points, nt_int j) const {
        if (task.gamma == nullptr) {
            return 1;
        }
        const double w = nt_at(task.weight_type, task.gamma, j);
        const double offset = (double)task.offset;
        return (points & nt_gain) != 0 ? nt_round(task.type, offset + nt_round(task.type, w)) : nt_in_fp32(offset + w);
    }
    NT_DEVICE double normalised(nt_int points, double value, double rstd) const {
        const double scaled = value * ((points & nt_scale) != 0 ? nt_round(task.type, rstd) : rstd);
        return (points & nt_normal) != 0 ? nt_round(task.type, nt_in_fp32(scaled)) : scaled;
    }
    NT_DEVICE double gradient(nt_int j) const {
        const double m = nt_at(task.type, task.dy, row * task.cols + j) * gain(task.backward, j);
        return (task.backward & nt_gradient) != 0 ? nt_round(task.type, nt_in_fp32(m)) : m;
    }
    NT_DEVICE double term(nt_int j, double rstd) const {
        const double t = nt_at(task.type, task.dy, row * task.cols + j) * normalised(task.backward, x(j), rstd);
        return (task.backward & nt_terms) != 0 ? nt_round(task.type, nt_in_fp32(t)) : t;
    }
};

NT_DEVICE void nt_clear(nt_summary& summary) {
    summary.unwritten = summary.not_finite = summary.beyond = summary.place = 0;
    summary.first = -1;
    summary.over = summary.got = summary.expected = summary.allowed = 0;
}
NT_DEVICE void nt_add(nt_summary& to, const nt_summary& from) {
    to.unwritten += from.unwritten;
    to.not_finite += from.not_finite;
    to.beyond += from.beyond;
    to.first = to.first < 0 || (from.first >= 0 && from.first < to.first) ? from.first : to.first;
    if (from.over > to.over || (from.over == to.over && from.place < to.place)) {
        to.place = from.place;
        to.over = from.over;
        to.got = from.got;
        to.expected = from.expected;
        to.allowed = from.allowed;
    }
}
NT_DEVICE void nt_judge(nt_summary& out, nt_int type, unsigned code, nt_int place, double expected, double allowed) {
    const unsigned exponent = type == nt_fp32 ? 0x7f800000u : type == nt_bf16 ? 0x7f80u : 0x7c00u;
    const unsigned poison = type == nt_fp32 ? 0xffa5a5a5u : type == nt_bf16 ? 0xffa5u : 0xfda5u;
    const unsigned sign = type == nt_fp32 ? 0x80000000u : 0x8000u;
    if ((code & exponent) == exponent) {
        out.unwritten += code == poison ? 1 : 0;
        ++out.not_finite;
        out.first = out.first < 0 || place < out.first ? place : out.first;
        return;
    }
    const unsigned magnitude = code & ~sign;
    const double value = nt_number(type, magnitude);
    const double unit = type == nt_fp32 ? 0x1p-24 : type == nt_bf16 ? 0x1p-8 : 0x1p-11;
    const bool last = ((magnitude + 1) & exponent) == exponent;
    const double high = last ? value * (1 + unit) : (value + nt_number(type, magnitude + 1)) / 2;
    const double low = magnitude == 0 ? -high : (value + nt_number(type, magnitude - 1)) / 2;
    const bool negative = (code & sign) != 0;
    const double wanted = negative ? -expected : expected;
    const double error = nt_max(nt_max(low - wanted, wanted - high), 0);
    if (error == 0) {
        return;
    }
    const double over = allowed > 0 ? error / allowed : nt_double_of((nt_word)0x7ff << 52);
    out.beyond += over > 1 ? 1 : 0;
    if (over > out.over || (over == out.over && place < out.place)) {
        out.place = place;
        out.over = over;
        out.got = negative ? -value : value;
        out.expected = expected;
        out.allowed = allowed;
    }
}

/// The program's summary of one output, of all its threads'.
NT_SHARED nt_summary nt_summaries[nt_threads];
NT_DEVICE void nt_store_summary(nt_summary* to, const nt_summary& mine) {
    const int thread = nt_thread();
    nt_summaries[thread] = mine;
    for (int half = nt_threads / 2; half > 0; half /= 2) {
        nt_barrier();
        if (thread < half) {
            nt_add(nt_summaries[thread], nt_summaries[thread + half]);
        }
    }
    if (thread == 0) {
        *to = nt_summaries[0];
    }
    nt_barrier();
}
NT_SHARED double nt_parts[nt_threads];
NT_DEVICE double nt_total(double mine) {
    const int thread = nt_thread();
    nt_parts[thread] = mine;
    for (int half = nt_threads / 2; half > 0; half /= 2) {
        nt_barrier();
        if (thread < half) {
            nt_parts[thread] += nt_parts[thread + half];
        }
    }
    nt_barrier();
    const double total = nt_parts[0];
    nt_barrier();
    return total;
}

NT_DEVICE double nt_bound(const nt_sum_bound& bound, double terms) { return bound.once + bound.root * nt_root(terms) + bound.each * terms; }

/// The kernel's own rstd where it is stored and within its bound.
NT_DEVICE double nt_own_rstd(const nt_task& task, nt_int i) {
    const double expected = task.row_rstd[i];
    if (task.has_forward == 0 || task.rstd == nullptr) {
        return expected;
    }
    const double own = task.rstd[i];
    return nt_abs(own / expected - 1) <= task.row_rstd_bound[i] ? own : nt_in_fp32(expected);
}
)gpu";

inline constexpr std::string_view device_oracle_sums = R"gpu(
NT_ORACLE nt_oracle_rows(const nt_task* at) {
    const nt_task& task = *at;
    for (nt_int i = nt_program(); i < task.rows; i += task.programs) {
        const nt_row row{task, i};
        double squares = 0, products = 0, product_squares = 0, values = 0, terms = 0;
        for (nt_int j = nt_thread(); j < task.cols; j += nt_threads) {
            const double v = row.v(j);
            squares += (task.forward & nt_squares) != 0 ? nt_round(task.type, nt_in_fp32(v * v)) : v * v;
            values += v != 0;
            if (task.dy != nullptr) {
                const double product = row.gradient(j) * row.x(j);
                products += product;
                product_squares += product * product;
                terms += product != 0;
            }
        }
        squares = nt_total(squares);
        products = nt_total(products);
        product_squares = nt_total(product_squares);
        values = nt_total(values);
        terms = nt_total(terms);
        if (nt_thread() == 0) {
            const double n = (double)task.cols;
            double rstd = 1 / nt_root(squares / n + task.eps);
            if (task.has_forward == 0) {
                if (task.given_rstd == 0) {
                    task.rstd[i] = (float)rstd;
                }
                rstd = task.rstd[i];
            }
            task.row_rstd[i] = rstd;
            task.row_rstd_bound[i] = nt_bound(task.bound_rstd, values);
            if (task.dy != nullptr) {
                task.row_projection[i] = products;
                task.row_projection_bound[i] = nt_bound(task.bound_row_sum, terms) * nt_abs(products) +
                                               nt_bound(task.bound_row_terms, terms) * nt_root(product_squares / nt_max(terms, 1));
            }
        }
    }
}

/// Columns of a chunk of rows: one partial sum a column and chunk.
NT_ORACLE nt_oracle_columns(const nt_task* at) {
    const nt_task& task = *at;
    const nt_int pieces = (task.cols + nt_threads - 1) / nt_threads;
    const nt_int chunk = nt_program() / pieces;
    const nt_int j = nt_program() % pieces * nt_threads + nt_thread();
    if (j < task.cols) {
        double sum = 0, squares = 0, most = 0;
        const nt_int end = task.rows * (chunk + 1) / task.chunks;
        for (nt_int i = task.rows * chunk / task.chunks; i < end; ++i) {
            const nt_row row{task, i};
            const double term = row.term(j, nt_in_fp32(task.row_rstd[i]));
            sum += term;
            squares += term * term;
            most = nt_max(most, nt_abs(term));
        }
        double* to = task.partials + (chunk * task.cols + j) * 3;
        to[0] = sum;
        to[1] = squares;
        to[2] = most;
    }
}
NT_ORACLE nt_oracle_total(const nt_task* at) {
    const nt_task& task = *at;
    const nt_int j = (nt_int)nt_program() * nt_threads + nt_thread();
    if (j < task.cols) {
        double sum = 0, squares = 0, most = 0;
        for (nt_int chunk = 0; chunk < task.chunks; ++chunk) {
            const double* from = task.partials + (chunk * task.cols + j) * 3;
            sum += from[0];
            squares += from[1];
            most = nt_max(most, from[2]);
        }
        task.column_sum[j] = sum;
        task.column_rms[j] = nt_root(squares / (double)task.rows);
        task.column_most[j] = most;
    }
}
)gpu";

inline constexpr std::string_view device_oracle_forward = R"gpu(
NT_ORACLE nt_oracle_forward(const nt_task* at) {
    const nt_task& task = *at;
    nt_summary of_y, of_s, of_rstd;
    nt_clear(of_y);
    nt_clear(of_s);
    nt_clear(of_rstd);
    for (nt_int i = nt_program(); i < task.rows; i += task.programs) {
        const nt_row row{task, i};
        if (nt_thread() == 0 && task.rstd != nullptr) {
            nt_judge(of_rstd, nt_fp32, nt_code(nt_fp32, task.rstd, i), i, task.row_rstd[i], task.row_rstd_bound[i] * task.row_rstd[i]);
        }
        const double rstd = nt_own_rstd(task, i);
        for (nt_int j = nt_thread(); j < task.cols; j += nt_threads) {
            const nt_int place = i * task.cols + j;
            const double v = row.v(j), gain = row.gain(task.forward, j);
            const double y = row.normalised(task.forward, v, rstd) * gain;
            double allowed = task.bound_y * nt_abs(y) + task.bound_tiny;
            if (task.rstd == nullptr) {  // any within its bound
                const double most = row.normalised(task.forward, v, rstd * (1 + task.row_rstd_bound[i])) * gain;
                const double least = row.normalised(task.forward, v, rstd * (1 - task.row_rstd_bound[i])) * gain;
                allowed += nt_max(nt_abs(most - y), nt_abs(least - y));
            }
            nt_judge(of_y, task.type, nt_code(task.type, task.y, place), place, y, allowed);
            if (task.s != nullptr) {
                nt_judge(of_s, task.type, nt_code(task.type, task.s, place), place, row.sum(j), 0);
            }
        }
    }
    nt_summary* to = task.summaries + nt_program() * 3;
    nt_store_summary(to, of_y);
    nt_store_summary(to + 1, of_s);
    nt_store_summary(to + 2, of_rstd);
}
)gpu";

inline constexpr std::string_view device_oracle_backward = R"gpu(
NT_ORACLE nt_oracle_backward(const nt_task* at) {
    const nt_task& task = *at;
    nt_summary of_dx;
    nt_clear(of_dx);
    for (nt_int i = nt_program(); i < task.rows; i += task.programs) {
        const nt_row row{task, i};
        const double rstd = nt_own_rstd(task, i);
        const double share = rstd * rstd * rstd / (double)task.cols;
        const double back = share * task.row_projection[i];
        const double back_error = share * task.row_projection_bound[i];
        for (nt_int j = nt_thread(); j < task.cols; j += nt_threads) {
            const nt_int place = i * task.cols + j;
            const double x = row.x(j);
            const double gradient = rstd * row.gradient(j);
            const double projection = back * x;
            const double incoming = task.ds == nullptr ? 0 : nt_at(task.type, task.ds, place);
            const double allowed = task.bound_gradient * nt_abs(gradient) + task.bound_projection * nt_abs(projection) +
                                   task.bound_incoming * nt_abs(incoming) + back_error * nt_abs(x) + task.bound_tiny;
            nt_judge(of_dx, task.type, nt_code(task.type, task.dx, place), place, gradient - projection + incoming, allowed);
        }
    }
    nt_store_summary(task.summaries + nt_program(), of_dx);
}

NT_ORACLE nt_oracle_dgamma(const nt_task* at) {
    const nt_task& task = *at;
    double mine = 0;
    for (nt_int i = nt_thread(); task.has_forward != 0 && i < task.rows; i += nt_threads) {
        const double deviation = nt_abs((double)task.rstd[i] / task.row_rstd[i] - 1);
        mine = deviation <= task.row_rstd_bound[i] && deviation > mine ? deviation : mine;
    }
    nt_parts[nt_thread()] = mine;
    nt_barrier();
    double deviation = 0;
    for (int i = 0; i < nt_threads; ++i) {
        deviation = nt_max(deviation, nt_parts[i]);
    }
    const double factor = task.bound_column_terms + task.bound_column_rstd * deviation + task.bound_column_tips * nt_root(deviation);
    nt_summary of_dgamma;
    nt_clear(of_dgamma);
    const nt_int j = (nt_int)nt_program() * nt_threads + nt_thread();
    if (j < task.cols) {
        const double one_sign = nt_max(0, nt_abs(task.column_sum[j]) - task.bound_column_walk * task.column_rms[j]);
        const double allowed = factor * task.column_rms[j] + task.bound_column_sum * one_sign + task.bound_column_tip * task.column_most[j] + task.bound_tiny;
        nt_judge(of_dgamma, task.weight_type, nt_code(task.weight_type, task.dgamma, j), j, task.column_sum[j], allowed);
    }
    nt_store_summary(task.summaries + nt_program(), of_dgamma);
}

NT_SHARED nt_word nt_digests[nt_threads];
NT_ORACLE nt_oracle_digest(const unsigned short* from, nt_int words, nt_int programs, nt_word* to) {
    nt_word sum = 0;
    for (nt_int i = (nt_int)nt_program() * nt_threads + nt_thread(); i < words; i += programs * nt_threads) {
        nt_word mixed = ((nt_word)i << 16 | from[i]) * 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ mixed >> 31) * 0xbf58476d1ce4e5b9u;
        sum += mixed ^ mixed >> 29;
    }
    nt_digests[nt_thread()] = sum;
    nt_barrier();
    if (nt_thread() == 0) {
        for (int i = 1; i < nt_threads; ++i) {
            sum += nt_digests[i];
        }
        to[nt_program()] = sum;
    }
}
NT_ORACLE nt_oracle_copy(const unsigned short* from, unsigned short* to, nt_int words, nt_int programs) {
    for (nt_int i = (nt_int)nt_program() * nt_threads + nt_thread(); i < words; i += programs * nt_threads) {
        to[i] = from[i];
    }
}
)gpu";

}  // namespace normtune
