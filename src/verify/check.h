// One output tensor, as it came from the device, against the oracles.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "trial/verification.h"
#include "verify/oracle.h"

namespace normtune {

struct Findings {
    std::vector<TensorCheck> checks;
    std::string reason;  // one line, of the first check that failed; empty where all hold
};

/// kernel's rstd / oracle's − 1 of each row, where that is within its bound; else, and where rstd is an input, 0. What
/// a kernel makes of its own rstd is then judged apart from how well it summed.
std::vector<double> rstd_deviations(const Problem& problem, std::span<const std::byte> rstd, const Reference& reference);

/// `tensor` is checked as what it holds after the launch: in place, dy as dx. Elements
/// that still hold the poison, NaN and infinity are looked for in all rows, values compared in the reference's rows.
void check_output(const Problem& problem, const Tensor& tensor, std::span<const std::byte> bytes, const Reference& reference,
                  std::span<const double> rstd_deviation, Findings& findings);

/// How the outputs of a formula are judged: its oracle, and its checks with their bounds.
struct Judge {
    Reference (*reference)(const Problem&, HostTensors& inputs, std::vector<std::int64_t> rows);
    void (*check)(const Problem&, const Tensor&, std::span<const std::byte> bytes, const Reference&, std::span<const double> rstd_deviation,
                  Findings&);
};
const Judge& judge_of(Formula formula);

/// An input must come back as it went in, gaps of the row stride included.
void check_input(const Problem& problem, const Tensor& tensor, std::span<const std::byte> before, std::span<const std::byte> after,
                 Findings& findings);

}  // namespace normtune
