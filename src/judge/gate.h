// pass, fail or inconclusive: a comparison judged by a policy. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/comparison.h"
#include "judge/policy.h"

namespace normtune {

struct GateCase {
    const Comparison* comparison = nullptr;
    const Pair* pair = nullptr;
    Verdict verdict = Verdict::same;  // at the pair's own threshold
    double threshold = 0;
    GateResult result = GateResult::pass;
    std::string reason;  // why it does not pass, or why it passes though it is slower; else empty
    bool known = false;
};

struct GateVerdict {
    std::string policy;
    std::vector<GateCase> cases;           // a pair of a metric each
    std::vector<std::string> remarks;      // what concerns no single pair: an expired entry, a metric not compared
    bool incomplete = false;               // a metric could not be compared: the result is no pass
    GateResult result = GateResult::pass;  // fail before inconclusive before pass

    std::size_t count(GateResult wanted) const;
};

/// `comparisons`: one a metric of the policy, made with its settings; they outlive the verdict. `today` is
/// "2026-11-20": a known regression holds up to its day. Where nothing could be compared the result is inconclusive.
GateVerdict judge_gate(const Policy& policy, std::span<const Comparison> comparisons, std::string_view today);

/// The trials of cases that fail because they are slower, by their keys.
struct Suspects {
    struct Trial {
        std::string problem;
        std::string configuration;
    };
    std::vector<Trial> trials;
    bool cold = true;
};

/// The first 64 suspects; where there are more, a remark says so. Throws InputError where the candidate is no file of normtune's.
Suspects suspects_of(GateVerdict& verdict);

/// Where a fresh measurement (compared with the same baseline) calls a suspect the same or faster, it passes; where it cannot tell, it is
/// treated as the policy treats ambiguous pairs. What the fresh measurement lacks stays as it is.
void confirm(GateVerdict& verdict, const Policy& policy, const Comparison& fresh);

}  // namespace normtune
