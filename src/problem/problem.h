// A shape and an operation on it: what one set of trials is about, and the tensors that it has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problem/operation.h"

namespace normtune {

/// Bounds on what a user may ask for: no device is near them, and no product of sizes overflows below them.
inline constexpr std::int64_t largest_size = std::int64_t{1} << 40;
inline constexpr std::int64_t largest_elements = std::int64_t{1} << 46;

/// Where a shape comes from: a model's site at a number of tokens. One shape may have many.
struct Use {
    std::string model;  // "Qwen3-8B"
    std::string site;   // "hidden", "q_norm", "k_norm", "q_a", "kv_a", or a benchmark's own word
    std::int64_t tokens = 0;
    friend bool operator==(const Use&, const Use&) = default;
};

struct Shape {
    std::int64_t rows = 0;        // M ≥ 1
    std::int64_t cols = 0;        // N ≥ 1
    std::int64_t row_stride = 0;  // of x (and s in backward), in elements, ≥ cols; every other tensor is contiguous
    friend bool operator==(const Shape&, const Shape&) = default;
};

struct Problem {
    Shape shape;
    Operation operation;
    std::vector<Use> uses;  // not part of the identity

    /// Same numbers to compute: shape and operation without eps (a run-time argument that costs nothing).
    bool same_work(const Problem& other) const;
    /// Stable, readable, unique up to same_work: "rms_norm/forward/bf16/llama/8192x4096", then what differs from the
    /// default: "/stride576", "/w_fp32", "/weightless", "/offset1", "/in_place", "/residual_fp32".
    std::string key() const;
    /// The key without its M × N: "rms_norm/forward/bf16/llama", and what differs from the default.
    std::string operation_key() const;
};

/// The inverse of Problem::key() (eps is its default, uses are empty). Throws InputError: which part is wrong and what
/// would be right.
Problem parse_problem_key(std::string_view key);

/// Uses joined for a CSV cell with ';', each name once, in order of first appearance.
std::string joined_models(const std::vector<Use>& uses);
std::string joined_sites(const std::vector<Use>& uses);

enum class Access { in, out, in_out };

/// One tensor of a problem: rows × cols elements of `dtype`, rows `row_stride` elements apart.
struct Tensor {
    TensorRole role = TensorRole::x;
    Dtype dtype;
    std::int64_t rows;
    std::int64_t cols;
    std::int64_t row_stride;
    Access access;
    TensorKind kind = TensorKind::signal;
    TensorRole result = role;  // what it holds after a launch: in place, dy holds dx, or x holds y

    /// Elements from the first to one past the last, gaps of a stride included, but none after the last row.
    std::int64_t span() const { return (rows - 1) * row_stride + cols; }
    std::int64_t span_bytes() const { return span() * bytes_of(dtype); }
    /// One tensor for all buffer sets.
    bool shared() const { return kind == TensorKind::weight && access == Access::in; }
    /// Bytes that the op must touch: rows · cols elements.
    std::int64_t payload_bytes() const { return rows * cols * bytes_of(dtype); }
};

/// The tensors that the problem's op has in its mode, in the order of TensorRole. A tensor written over another (in place,
/// e.g. dx over dy) is absent, and that other is in_out. What a forward writes is an output, also where a backward reads it.
std::vector<Tensor> tensors(const Problem& problem);
/// The op's tensor of that role, in place or not. Throws std::logic_error: the op has none.
Tensor tensor_of(const Problem& problem, TensorRole role);

/// Least bytes that any kernel must move: each input read once, each output written once; `full` counts its forward
/// and its backward each by itself (y, s and rstd written, then x or s and rstd read again).
std::int64_t least_bytes(const Problem& problem);

/// Bytes that the op's tensors take (one written over another counts nothing); the workspace of a configuration comes on top.
std::int64_t tensor_bytes(const Problem& problem);

}  // namespace normtune
