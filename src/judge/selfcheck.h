// What repeated sweeps of the same code say about compare on this device: how often it calls equal trials changed, and
// the smallest change that it would find. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/comparison.h"

namespace normtune {

struct SelfCheck {
    std::size_t sweeps = 0;
    std::size_t comparisons = 0;  // each sweep with each later one
    std::size_t pairs = 0;
    std::size_t called = 0;  // faster or slower, at the default settings: false alarms, all of them
    std::size_t ambiguous = 0;
    double run_to_run = 0;         // standard deviation of log(ratio) between sweeps, beyond what rounds explain
    double usual_change = 0;       // the smallest change that is found 95 times in 100: median over pairs; 0.02 is 2%
    double percent_threshold = 0;  // of the policy: nine of ten pairs tell that much
    struct Problem {
        std::string key;
        double change = 0;  // that nine of ten of its pairs tell
    };
    std::vector<Problem> noisier;  // by key; problems that need a larger threshold
    std::string not_comparable;    // one line; empty: there was something to compare
};

/// Two sweeps of one selection at least. Throws nothing.
SelfCheck check_itself(std::span<const ResultRows> sweeps, CompareSettings settings);

/// A gate policy with the larger thresholds of sweeps one after another and of twins in the same rounds; parse_policy reads it.
std::string policy_from(const SelfCheck& sweeps, const SelfCheck& twins, std::string_view name, std::string_view remark);

}  // namespace normtune
