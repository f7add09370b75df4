// A gate's policy: what counts as a regression, and what to do with what cannot be told. docs/gate.md describes the file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/comparison.h"

namespace normtune {

enum class GateResult { pass, fail, inconclusive };
inline constexpr NameTable<GateResult, 3> gate_result_names{{"pass", "fail", "inconclusive"}};

/// What a policy's patterns look at: a pair of a comparison, or a trial of a history.
struct PolicySubject {
    std::string_view op;
    std::string_view mode;
    std::string_view sites;  // joined by ';'
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::string_view problem;
    std::string_view config;
    Metric metric = Metric::latency;
};

/// Which pairs a part of the policy is about; what is not given matches all. `problem` and `config` are shell patterns
/// on the keys (by best: of the candidate's configuration).
struct PairPattern {
    std::string op;  // a text: Liger-Kernel's files have ops and modes of their own; require_known_words has a look
    std::string mode;
    std::string site;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::string problem = "*";
    std::string config = "*";
    std::optional<Metric> metric;

    int line = 0;  // in the policy's file

    bool matches(const PolicySubject& subject) const;
    bool matches(const Comparison& comparison, const Pair& pair) const;
};

struct Policy {
    std::string name;
    MatchBy by = MatchBy::config;
    std::vector<Metric> metrics{Metric::latency, Metric::memory};
    double threshold = 0.02;        // of latency
    double memory_threshold = 0.0;  // above this, however little
    double margin = 0.02;
    double false_discoveries = CompareSettings{}.false_discoveries;
    double run_to_run = CompareSettings{}.run_to_run;
    std::vector<Facet> across;
    GateResult missing = GateResult::fail;
    GateResult failed = GateResult::fail;  // a trial that the baseline measured, and that now fails
    GateResult ambiguous = GateResult::inconclusive;
    GateResult new_ = GateResult::pass;

    struct Threshold {
        PairPattern pairs;
        double threshold = 0;
    };
    std::vector<Threshold> thresholds;  // the first that matches holds; one that names no metric is of latency

    struct Known {
        PairPattern pairs;
        std::string until;  // "2026-12-31": the last day on which it holds
        std::string reason;
        /// Of one that has run out, and whose regression is there.
        std::string run_out_text() const;
    };
    std::vector<Known> known;

    CompareSettings settings(Metric metric) const;
    /// Of a subject's latency.
    double threshold_of(const PolicySubject& subject) const;
};

/// Throws InputError where an op or a mode of the policy is neither one of normtune's nor in any of these results: an entry with a slip
/// in it would match nothing, and a stricter threshold would not hold.
void require_known_words(const Policy& policy, const std::string& file, std::span<const ResultRows* const> results);

/// Throws InputError at the file and line of what is wrong.
Policy parse_policy(std::string_view yaml, const std::string& file);

}  // namespace normtune
