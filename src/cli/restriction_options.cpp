#include "cli/restriction_options.h"

#include <fmt/format.h>

#include "cli/output.h"

namespace normtune::cli {

void declare_restriction(OptionSet& options, Restriction& restriction) {
    options.group("Equal bits (docs/reproducibility.md)");
    options.flag("--batch-invariant",
                 "Only configurations that give a row equal bits whatever M: one class for all M of an N; says what that costs",
                 restriction.batch_invariant);
    options.flag("--deterministic", "Only those whose dgamma has equal bits from run to run; says what that costs",
                 restriction.deterministic);
}

ExitCode report_missing(std::span<const PricedLadder> ladders) {
    std::size_t problems = 0;
    std::size_t missing = 0;
    const PricedChoice* first = nullptr;
    for (const PricedLadder& ladder : ladders) {
        for (const PricedChoice& choice : ladder.choices) {
            ++problems;
            missing += choice.taken == nullptr ? 1 : 0;
            first = first == nullptr && choice.taken == nullptr ? &choice : first;
        }
    }
    if (first == nullptr) {
        return ExitCode::good;
    }
    complain(fmt::format("on {} of {} problems nothing that was measured may be taken, as {}", missing, problems, first->problem));
    return ExitCode::inconclusive;
}

}  // namespace normtune::cli
