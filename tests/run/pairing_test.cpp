// Which candidates are measured side by side, and that they stay together.
#include "run/pairing.h"

#include <gtest/gtest.h>

namespace normtune {
namespace {

using Places = std::vector<std::size_t>;

const Problem& problem() {
    static const Problem it = parse_problem_key("rms_norm/forward/bf16/llama/256x1024");
    return it;
}

std::vector<Candidate> candidates() {
    std::vector<Candidate> out;
    for (const char* const identity : {"before:a", "before:b", "before:c", "after:a", "after:b", "after:d"}) {
        out.push_back(Candidate::parse(identity));
    }
    return out;
}

TEST(Pairing, PartnersAreOfTheProblemAndBothWays) {
    Pairing pairs;
    EXPECT_TRUE(pairs.empty());
    EXPECT_TRUE(pairs.partners(problem(), candidates()).empty());
    pairs.add(problem().key(), "before:a", "after:a");
    pairs.add(problem().key(), "before:b", "after:b");
    pairs.add(problem().key(), "before:c", "after:c");  // which is not among the candidates
    pairs.add("rms_norm/forward/bf16/llama/512x1024", "before:c", "after:d");
    EXPECT_EQ(pairs.partners(problem(), candidates()), (Places{3, 4, 2, 0, 1, 5}));
    EXPECT_EQ(pairs.partners(parse_problem_key("rms_norm/forward/bf16/llama/512x1024"), candidates()), (Places{0, 1, 5, 3, 4, 2}));
}

TEST(Pairing, EachTrialHasItsPartnerBehindItWhereThatIsThere) {
    const Places partners{3, 4, 2, 0, 1, 5};
    Places trials{5, 4, 0, 2, 3, 1};
    bring_together(trials, partners);
    EXPECT_EQ(trials, (Places{5, 4, 1, 0, 3, 2}));
    Places some{4, 0, 2};  // the others have their records
    bring_together(some, partners);
    EXPECT_EQ(some, (Places{4, 0, 2}));
    Places without_pairs{2, 1, 0};
    bring_together(without_pairs, {});
    EXPECT_EQ(without_pairs, (Places{2, 1, 0}));
}

}  // namespace
}  // namespace normtune
