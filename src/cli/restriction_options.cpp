#include "cli/restriction_options.h"

#include <fmt/format.h>

#include "cli/output.h"

namespace normtune::cli {

void declare_restriction(OptionSet& options, Restriction& restriction) {
    options.group("Equal bits (docs/reproducibility.md)");
    options.flag("--batch-invariant",
                 "Only configurations that give a row equal bits whatever M: one\nclass for all M of an N; says what that costs",
                 restriction.batch_invariant);
    options.flag("--deterministic", "Only those whose dgamma has equal bits from run to run; says\nwhat that costs",
                 restriction.deterministic);
}

RestrictedResults::RestrictedResults(std::span<const Results> all, const Restriction& restriction, Whose whose)
    : rankings(problem_rankings(all, whose)), ladders(priced_ladders(rankings, restriction)) {
    for (const Results& run : all) {
        results.push_back(restricted(run, restriction, ladders));
    }
}

ExitCode RestrictedResults::report_missing() const {
    std::size_t missing = 0;
    const ProblemRanking* first = nullptr;
    for (const PricedLadder& ladder : ladders) {
        for (const PricedChoice& choice : ladder.choices) {
            missing += choice.standing == nullptr ? 1 : 0;
            first = first == nullptr && choice.standing == nullptr ? choice.ranking : first;
        }
    }
    if (first == nullptr) {
        return ExitCode::good;
    }
    complain(fmt::format("on {} of {} problems nothing that was measured may be taken, as {}", missing, rankings.size(),
                         first->problem().key()));
    return ExitCode::inconclusive;
}

}  // namespace normtune::cli
