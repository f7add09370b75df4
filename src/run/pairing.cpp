#include "run/pairing.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace normtune {

void Pairing::add(const std::string& problem_key, const std::string& identity, const std::string& other) {
    partners_.insert_or_assign({problem_key, identity}, other);
    partners_.insert_or_assign({problem_key, other}, identity);
}

std::vector<std::size_t> Pairing::partners(const Problem& problem, const std::vector<Candidate>& candidates) const {
    if (empty()) {
        return {};
    }
    const std::string key = problem.key();
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        places.emplace(candidates[i].identity(), i);
    }
    std::vector<std::size_t> out(candidates.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    for (const auto& [identity, place] : places) {
        const auto partner = partners_.find({key, identity});
        const auto found = partner == partners_.end() ? places.end() : places.find(partner->second);
        out[place] = found == places.end() ? place : found->second;
    }
    return out;
}

void bring_together(std::vector<std::size_t>& trials, std::span<const std::size_t> partners) {
    if (partners.empty()) {
        return;
    }
    std::vector<std::size_t> out;
    std::vector<bool> waiting(partners.size(), false);
    for (const std::size_t trial : trials) {
        waiting[trial] = true;
    }
    for (const std::size_t trial : trials) {
        for (const std::size_t one : {trial, partners[trial]}) {
            if (waiting[one]) {
                waiting[one] = false;
                out.push_back(one);
            }
        }
    }
    trials = std::move(out);
}

}  // namespace normtune
