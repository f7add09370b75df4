// The configurations that a launcher may take whose results have equal bits, and what that costs: of equal rows whatever the batch, of
// dgamma from run to run. Pure. docs/reproducibility.md
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/loss_summary.h"
#include "judge/problem_ranking.h"

namespace normtune {

struct Restriction {
    bool batch_invariant = false;
    bool deterministic = false;
    bool any() const { return batch_invariant || deterministic; }
};

/// How it is known that bits are equal: they were compared where the trial ran, or the kernels' source says so.
enum class Known { by_bits, by_source };

/// May this trial be taken by itself? (Whether others at other M go with it is a matter of their class.) Another provider's kernel only
/// where its bits were compared.
bool admits(const Restriction& restriction, const Record& record);

/// What is taken for a problem.
struct PricedChoice {
    std::string problem;            // its key
    std::string best;               // the identity of the best of all
    const Record* taken = nullptr;  // null: nothing is admitted
    TimeRatio time;                 // of what is taken: its loss is the price
    Known known = Known::by_source;
};

using PriceSummary = LossSummary<PricedChoice>;

/// Problems that differ in M alone, and the configurations of one class for all of them; with --deterministic alone each problem is one.
struct PricedLadder {
    std::string name;                   // the problems' key, M being '*' where there are several
    std::string row_class;              // empty: no class was asked for, or none is there
    std::vector<PricedChoice> choices;  // by M
    Known known = Known::by_source;     // by bits where all of its choices are
    PriceSummary price() const;
};

/// Of each set of problems the class that is measured at most of its M, at best at all of them, by bits rather than by source where both
/// do as well; of those the one that loses least (geometric mean), and at each M its fastest. They point into the ranked results.
std::vector<PricedLadder> priced_ladders(const std::vector<ProblemRanking>& rankings, const Restriction& restriction);

/// Of each class, by its bits where they were compared, the fastest trial of a problem: what choices at other M may need of it.
std::vector<const Standing*> fastest_of_classes(const ProblemRanking& ranking);

/// What comparing bits found on problems that differ in M alone.
struct BitsTally {
    std::string name;
    std::size_t compared = 0;
    std::vector<const Record*> rows_differ;
    std::vector<const Record*> runs_differ;
    std::size_t classes = 0;                // of configurations, by the source
    std::vector<std::string> contradicted;  // those of them whose rows have not the same bits everywhere
};
/// Of records whose bits were compared.
std::vector<BitsTally> bits_tallies(const Results& results);

/// Results whose winners are what a restriction admits.
struct RestrictedResults {
    std::vector<Results> results;       // one each of those that were given
    std::vector<PricedLadder> ladders;  // they point into these
};

/// With the choices of their ladders as winners, and of the other trials those that are admitted. Problems without a choice are left
/// out; of those that were not ranked the choice alone is there, unranked. Nothing is copied.
RestrictedResults restricted(std::vector<Results> all, const Restriction& restriction, Whose whose);

}  // namespace normtune
