// Which of a problem's candidates are measured side by side: built in one batch, and in each round right after one another, in turn.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "problem/problem.h"
#include "trial/candidate.h"

namespace normtune {

class Pairing {
public:
    void add(const std::string& problem_key, const std::string& identity, const std::string& other);
    bool empty() const { return partners_.empty(); }
    /// Of each candidate its partner's place, its own where it has none. Empty where there are no pairs at all.
    std::vector<std::size_t> partners(const Problem& problem, const std::vector<Candidate>& candidates) const;

private:
    std::map<std::pair<std::string, std::string>, std::string> partners_;  // by problem and identity; both ways
};

/// Each trial with its partner behind it, where that is among them, too; `partners` as Pairing has them.
void bring_together(std::vector<std::size_t>& trials, std::span<const std::size_t> partners);

}  // namespace normtune
