// A launcher's rule of thumb to be judged: one of space/heuristics.h, or a user's own as a rule expression.
#pragma once

#include <string>
#include <vector>

#include "judge/problem_ranking.h"
#include "space/heuristics.h"
#include "space/space.h"

namespace normtune {

class ThumbRule {
public:
    explicit ThumbRule(const Heuristic& heuristic);
    /// "NAME=EXPRESSION": a configuration obeys it where the expression is not 0 (its words: Rule in space/space.h).
    /// Throws InputError: no name, or what is wrong in the expression.
    static ThumbRule parse(const std::string& text);

    const std::string& name() const { return name_; }
    const std::string& expression() const { return rule_.keep; }  // empty: built in
    /// The axes that it fixes; a launcher is free in all others.
    const std::vector<Axis>& decides() const { return decides_; }

    /// The measured configurations that obey it. Throws InputError where the expression is not a finite number.
    Obeying obeying(const ProblemRanking& ranking) const;

private:
    ThumbRule() = default;
    std::string name_;
    const Heuristic* heuristic_ = nullptr;
    Rule rule_;
    std::vector<Axis> decides_;
};

/// All of space/heuristics.h, in its order.
std::vector<ThumbRule> named_thumb_rules();

}  // namespace normtune
