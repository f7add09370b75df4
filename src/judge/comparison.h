// Two results files compared: which trials became faster or slower, and on what evidence. Pure: no device, no clock, no
// files. The method and its reasons: docs/comparing.md.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/control.h"
#include "store/result_rows.h"

namespace normtune {

enum class MatchBy { config, best };
enum class Metric { latency, memory };
/// What has to be alike on both sides unless it is allowed to differ.
enum class Facet { device, driver, casting, timer, cold };
/// same_code: its machine code and its launch are equal, so that no change made it slower or faster; such pairs are the control.
enum class Verdict : std::uint8_t { faster, same, same_code, slower, ambiguous, missing, new_ };
/// What a verdict rests on: the differences of rounds that both sides share, in several processes (judge/ab.h), processes that repeated the
/// run, the medians of rounds, the fresh rounds of both winners, quantiles over all samples alone, a number without any noise (memory), or
/// nothing (one side is not there).
enum class Evidence : std::uint8_t { paired, processes, rounds, fresh_rounds, quantiles, exact, none };

inline constexpr NameTable<MatchBy, 2> match_by_names{{"config", "best"}};
inline constexpr NameTable<Metric, 2> metric_names{{"latency", "memory"}};
inline constexpr NameTable<Facet, 5> facet_names{{"device", "driver", "casting", "timer", "cold"}};
inline constexpr NameTable<Verdict, 7> verdict_names{{"faster", "same", "same code", "slower", "ambiguous", "missing", "new"}};
inline constexpr NameTable<Evidence, 7> evidence_names{{"paired", "processes", "rounds", "fresh_rounds", "quantiles", "exact", "none"}};

struct Comparison;
struct Pair;

struct CompareSettings {
    MatchBy by = MatchBy::config;
    Metric metric = Metric::latency;
    double threshold = 0.01;          // the least change that is called faster or slower
    double margin = 0.02;             // how far beyond the threshold an interval may reach and still be "same"
    double false_discoveries = 0.05;  // expected share of those called that are none (Benjamini and Hochberg)
    double run_to_run = 0.003;        // least standard deviation of a ratio between two runs of the same code
    double run_to_run_us = 0.02;      // the same in microseconds: what the shortest kernels differ by
    bool judge_same_code = false;     // as if it were not known: how often compare is wrong is counted so
    std::vector<Facet> across;
    bool of_policy = false;                                               // a gate's, which says in its policy what may differ
    std::function<double(const Comparison&, const Pair&)> own_threshold;  // a pair's, in place of `threshold`; empty: none has one
};

inline constexpr std::uint32_t no_row = UINT32_MAX;

struct Pair {
    std::uint32_t baseline = no_row;  // in the baseline's rows; missing and new pairs lack one side
    std::uint32_t candidate = no_row;
    Verdict verdict = Verdict::ambiguous;
    Evidence evidence = Evidence::none;
    std::uint8_t differs = 0;  // a bit a Facet in which the two differ though they must not: not judged
    bool same_code : 1 = false;
    bool both_ways : 1 = false;        // it moved, and as many moved the other way: one run a side cannot tell whether by a change
    bool may_be_unstable : 1 = false;  // it moved, and hardly any other did: one run a side cannot tell its trial from an unstable one
    float degrees = 0;
    float half_width = 0;      // of log(ratio)'s interval for this pair alone: what "same" rests on
    float shift = 0;           // the part of it that stands for what moved the copies
    double before = no_value;  // us, or MiB
    double after = no_value;
    double ratio = no_value;  // after over before, without what the floor and the control moved by
    double low = no_value;    // interval of the ratio, corrected for the number of pairs
    double high = no_value;
    double error = no_value;  // standard error of log(ratio)
    double p = 1;

    bool both() const { return baseline != no_row && candidate != no_row; }
    bool is_of_both_ways() const { return both_ways; }
    bool is_maybe_unstable() const { return may_be_unstable; }
    /// It moved by more than its noise, and one run a side cannot tell whether by a change.
    bool unsettled() const { return both_ways || may_be_unstable; }
    bool judged() const { return both() && differs == 0; }
};

/// How much two runs of the same code differ here.
struct RunToRun {
    double deviation = 0;       // of log(ratio); what was used, where processes do not tell
    bool told = false;          // there are enough copies or pairs to tell it; else it is assumed
    std::size_t copies = 0;     // problems whose copy both files measured
    double copy_ratio = 1;      // their median: has the device itself become slower?
    double copy_deviation = 0;  // of log(ratio) of the copies about their median
    double shift_variance = 0;  // of log(copy_ratio)
    double spread = 0;          // of the densest half of the pairs' ratios, beyond what rounds explain

    /// Intervals are wider by this on either side: what the copies moved by beyond their noise and what runs are taken to differ by.
    double shift(double assumed) const { return std::max(0.0, std::abs(std::log(copy_ratio)) - assumed - 2 * std::sqrt(shift_variance)); }
};

/// What an empty launch took. Times are compared as if it had taken the same in every process.
struct Floors {
    double before_us = no_value;  // NaN: one side does not know it
    double after_us = no_value;
    std::array<std::vector<double>, 2> above_us;  // by side and process: what is taken off its times; empty: nothing is

    double above(std::size_t side, std::uint16_t process) const { return above_us[side].empty() ? 0 : above_us[side][process]; }
};

struct Comparison {
    const ResultRows* baseline = nullptr;
    const ResultRows* candidate = nullptr;
    CompareSettings settings;
    std::vector<Pair> pairs;  // the baseline's in its order, then the candidate's new ones
    RunToRun run_to_run;
    Floors floors;
    Control control;
    std::array<std::vector<std::uint32_t>, 2> repeats;  // by side: repeats_of its rows (judge/match.h)
    std::array<std::size_t, 2> processes{1, 1};         // the most that measured a trial of the side
    double of_a_run = 0;                                // usual standard deviation of log(time) from run to run, of all that is known
    double usual_degrees = 8;                           // of freedom of of_a_run, beside those of the runs that are to be
    double coverage = 0;                                // of each interval
    bool side_by_side = false;                          // both sides were measured in the same rounds
    std::uint64_t dropped = 0;                          // trials that a race dropped on either side: too few rounds to compare their times
    std::uint64_t dropped_after = 0;                    // of these, what was dropped on the candidate's side alone
    std::uint64_t failed_both = 0;                      // trials that neither side has a value of
    std::vector<Pair> failed_pairs;                     // these, where both sides were measured in the same rounds
    std::string not_comparable;                         // one line; empty: it could be compared

    std::uint64_t count(Verdict verdict) const;
    const ResultRow* baseline_row(const Pair& pair) const;
    const ResultRow* candidate_row(const Pair& pair) const;
    /// Several processes measured a side: what they differ by is known, and nothing is assumed of it.
    bool repeated() const { return processes[0] + processes[1] > 2; }
    /// The least change of the pair that is called faster or slower.
    double threshold_of(const Pair& pair) const;
    /// What the floor moved by between the two sides, in the mean over their processes, where that is taken off.
    double floor_change_us(const Pair& pair) const;
    /// All that were measured on both sides are of the same code.
    bool all_same_code() const;
    /// How many runs a side it takes for a change of so much to be significant in 95 of 100 cases of the usual pair; 0: more than 99.
    int runs_to_find(double change) const;
    /// Of the side that is there, the candidate's first.
    const RowProblem& problem(const Pair& pair) const;
    std::string_view text(const Pair& pair, TextId RowProblem::*member) const;
    /// "w4.t128…"; with two that differ (by best) "w4… → w8…".
    std::string configuration(const Pair& pair) const;
    /// Why a value is not there, or which facets differ; empty where there is nothing to say.
    std::string note(const Pair& pair) const;
};

/// Both have to outlive the comparison.
Comparison compare(const ResultRows& baseline, const ResultRows& candidate, const CompareSettings& settings);

/// Sets the verdicts on memory, which has no noise, of pairs whose values are set.
void judge_memory(Comparison& comparison);

/// Lines about the whole: that all is the same code; how many trials a race dropped; of times from the store of winners how many, since
/// when, and how to measure them.
std::vector<std::string> remarks_on(const Comparison& comparison);

/// The verdict on a pair that was measured on both sides, for a threshold of its own. Pairs of the same code are never slower.
Verdict judge(const Pair& pair, double threshold, double margin);
/// The same by the comparison's settings.
Verdict judge(const Comparison& comparison, const Pair& pair);

/// "faster", …; of memory "less" and "more".
std::string_view verdict_word(Verdict verdict, Metric metric);

}  // namespace normtune
