#include "judge/reproducible.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "judge/fit.h"
#include "judge/synthetic_records.h"

#include "devices/registry.h"

namespace normtune {
namespace {

using testing::add;
using testing::problem_of;

// One class (128 threads, 16 bytes) in two forms, and another class.
constexpr const char* wide_row = "w4.t128.r1.row.registers.masked.per_row";
constexpr const char* wide_packed = "w8.t128.r8.row.registers.masked.packed";
constexpr const char* packed_rows = "w4.t32.r4.row.registers.masked.packed";

/// Wide rows win at few rows and narrow ones at many: a launcher that takes the best flips its bits between.
Results flipping() {
    Results results;
    add(results, problem_of(1, 1024), {{wide_row, 2.0}, {wide_packed, 2.5}, {packed_rows, 3.0}});
    add(results, problem_of(8192, 1024), {{wide_row, 11.5}, {wide_packed, 11}, {packed_rows, 10}});
    for (Record& record : results.records) {
        record.backend = Backend::cuda;
    }
    return results;
}

/// As the sweep would have compared them: the digest is that of the threads.
void compare_bits(Results& results) {
    for (Record& record : results.records) {
        record.bits = BitsCheck{record.candidate.key().find("t128") != std::string::npos ? "128" : "32", "", ""};
    }
}

std::vector<std::string> taken(const PricedLadder& ladder) {
    std::vector<std::string> out;
    for (const PricedChoice& choice : ladder.choices) {
        out.push_back(choice.taken == nullptr ? "none" : choice.taken->candidate.key());
    }
    return out;
}

using Keys = std::vector<std::string>;
constexpr Restriction invariant{true, false};

TEST(BatchInvariance, TakesTheClassThatLosesLeastAtAllM) {
    const Results results = flipping();
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    const std::vector<PricedLadder> ladders = priced_ladders(rankings, invariant);
    ASSERT_EQ(ladders.size(), 1U);
    EXPECT_EQ(ladders[0].name, "rms_norm/forward/bf16/llama/*x1024");
    EXPECT_EQ(ladders[0].row_class, "t128.v16.h1.c1");
    EXPECT_EQ(taken(ladders[0]), (Keys{wide_row, wide_packed}));
    EXPECT_NEAR(ladders[0].price().worst, 0.1, 1e-9);
    EXPECT_EQ(ladders[0].known, Known::by_source);
}

TEST(BatchInvariance, IsByBitsWhereTheyWereCompared) {
    Results results = flipping();
    compare_bits(results);
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    EXPECT_EQ(priced_ladders(rankings, invariant)[0].known, Known::by_bits);
    EXPECT_TRUE(bits_tallies(results)[0].contradicted.empty());
    EXPECT_EQ(bits_tallies(results)[0].classes, 2U);
}

TEST(BatchInvariance, BitsOutweighTheSource) {
    Results results = flipping();
    compare_bits(results);
    results.records[4].bits->row_bits = "other";  // wide_packed at 8192 rows
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    const PricedLadder ladder = priced_ladders(rankings, invariant)[0];
    EXPECT_EQ(taken(ladder), (Keys{wide_row, wide_row}));
    EXPECT_EQ(bits_tallies(results)[0].contradicted, Keys{"t128.v16.h1.c1"});
    results.records[3].bits->row_bits = "another";  // nothing of the class has the bits that it has at one row
    const std::vector<ProblemRanking> again = problem_rankings(results);
    EXPECT_EQ(taken(priced_ladders(again, invariant)[0]), (Keys{packed_rows, packed_rows}));
}

TEST(BatchInvariance, RowsThatDifferInBatchesAreNotAdmitted) {
    Results results = flipping();
    compare_bits(results);
    for (Record& record : results.records) {
        if (record.candidate.key() == wide_row) {
            record.bits = BitsCheck{"", "y[1][2] in a batch of 37", ""};
        }
    }
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    const std::vector<PricedLadder> ladders = priced_ladders(rankings, invariant);
    EXPECT_EQ(taken(ladders[0]), (Keys{wide_packed, wide_packed}));
    EXPECT_EQ(bits_tallies(results)[0].rows_differ.size(), 2U);
}

TEST(BatchInvariance, SaysWhereNoClassIsAtAllM) {
    Results results;
    add(results, problem_of(1, 1024), {{wide_row, 2.0}});
    add(results, problem_of(64, 1024), {{wide_row, 3.0}});
    add(results, problem_of(8192, 1024), {{packed_rows, 10}});
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    const PricedLadder ladder = priced_ladders(rankings, invariant)[0];
    EXPECT_EQ(taken(ladder), (Keys{wide_row, wide_row, "none"}));
    EXPECT_EQ(ladder.price().judged, 2U);
}

TEST(BatchInvariance, RowsOfAnotherStrideAreALadderOfTheirOwn) {
    Results results = flipping();
    Problem strided = problem_of(64, 1024);
    strided.shape.row_stride = 1040;
    add(results, strided, {{packed_rows, 1.0}, {wide_row, 2.0}});
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    const std::vector<PricedLadder> ladders = priced_ladders(rankings, invariant);
    ASSERT_EQ(ladders.size(), 2U);
    EXPECT_EQ(taken(ladders[1]), Keys{packed_rows});
}

TEST(BatchInvariance, AnotherProvidersKernelIsJudgedByItsBitsAlone) {
    Results results;
    add(results, problem_of(1, 1024), {{"mine:BLOCK=64", 1.0}, {wide_row, 2.0}});
    add(results, problem_of(64, 1024), {{"mine:BLOCK=128", 1.0}, {wide_row, 2.0}});
    const std::vector<ProblemRanking> unknown = problem_rankings(results);
    EXPECT_EQ(taken(priced_ladders(unknown, invariant)[0]), (Keys{wide_row, wide_row}));
    for (Record& record : results.records) {
        record.bits = BitsCheck{"same", "", ""};
    }
    const std::vector<ProblemRanking> known = problem_rankings(results);
    EXPECT_EQ(taken(priced_ladders(known, invariant)[0]), (Keys{"BLOCK=64", "BLOCK=128"}));
    results.records[0].bits->row_bits = "its own";
    const std::vector<ProblemRanking> differing = problem_rankings(results);
    EXPECT_EQ(taken(priced_ladders(differing, invariant)[0]), (Keys{wide_row, wide_row}));
}

TEST(Determinism, TakesTheFastestThatDoesNotVary) {
    Results results;
    const std::string atomic = std::string(wide_row) + ".atomic";
    const std::string split = std::string(wide_row) + ".split";
    add(results, problem_of(64, 1024, Mode::backward), {{atomic, 10}, {wide_row, 12}, {split, 11}});
    for (Record& record : results.records) {
        record.backend = Backend::cuda;
    }
    const std::vector<ProblemRanking> rankings = problem_rankings(results);
    const std::vector<PricedLadder> ladders = priced_ladders(rankings, {false, true});
    EXPECT_EQ(taken(ladders[0]), Keys{split});
    EXPECT_NEAR(ladders[0].price().worst, 0.1, 1e-9);
    results.records[2].bits = BitsCheck{"a", "", "dgamma[3] of 64 rows"};  // what varies on the device is out, whatever the source says
    const std::vector<ProblemRanking> seen = problem_rankings(results);
    EXPECT_EQ(taken(priced_ladders(seen, {false, true})[0]), Keys{wide_row});
}

TEST(RestrictedResults, HaveTheChoicesAsTheirWinners) {
    const RestrictedResults taken = restricted({flipping()}, invariant, Whose::all);
    Keys winners;
    for (const Record& record : taken.results[0].records) {
        if (record.measurement->rank == 1) {
            winners.push_back(record.candidate.key());
        }
    }
    EXPECT_EQ(winners, (Keys{wide_row, wide_packed}));
}

TEST(RestrictedResults, AWinnerThatIsAdmittedStaysIt) {
    Results results;
    const std::string other = std::string(wide_row) + ".split";
    add(results, problem_of(64, 1024, Mode::backward), {{wide_row, 10}, {other, 10.1}});
    for (Record& record : results.records) {
        record.backend = Backend::cuda;
        record.measurement->tied = true;
    }
    results.records[1].measurement->p50_us = 9.9;  // by fewer rounds than those that ranked it
    results.records[1].measurement->final_rounds_us = {9.9, 9.9};
    results.records[0].measurement->final_rounds_us = {10, 10};
    const RestrictedResults taken = restricted({results}, {false, true}, Whose::all);
    EXPECT_EQ(taken.ladders.at(0).choices.at(0).taken->candidate.key(), wide_row);
    const std::vector<Record>& records = taken.results[0].records;
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].measurement->rank, 1);
    EXPECT_TRUE(records[0].measurement->tied && records[1].measurement->tied);
}

TEST(RestrictedResults, ChoicesFollowTheirRecordsWhereOthersGo) {
    const std::string atomic = std::string(wide_row) + ".atomic";
    const std::string split = std::string(wide_row) + ".split";
    Results results;
    add(results, problem_of(64, 1024, Mode::backward), {{atomic, 10}, {wide_row, 12}, {split, 11}});
    add(results, problem_of(128, 1024, Mode::backward), {{atomic, 10}});
    add(results, problem_of(256, 1024, Mode::backward), {{atomic, 20}, {split, 22}});
    for (Record& record : results.records) {
        record.backend = Backend::cuda;
    }
    std::vector<Results> all{results, results};
    const Record* const held = all[1].records.data();
    const RestrictedResults taken = restricted(std::move(all), {false, true}, Whose::all);
    ASSERT_EQ(taken.results.size(), 2U);
    EXPECT_EQ(taken.results[1].records.data(), held) << "a million records were held twice";
    Keys kept;
    for (const Record& record : taken.results[1].records) {
        kept.push_back(fmt::format("{} {} {}", record.problem.shape.rows, record.candidate.key(), record.measurement->rank));
    }
    EXPECT_EQ(kept, (Keys{"64 " + std::string(wide_row) + " 0", "64 " + split + " 1", "256 " + split + " 1"}));
    ASSERT_EQ(taken.ladders.size(), 6U);
    const PricedChoice& none = taken.ladders[2].choices[0];  // those of one problem lie side by side
    EXPECT_EQ(none.taken, nullptr);
    EXPECT_EQ(none.best, atomic);
    EXPECT_EQ(taken.ladders[0].choices[0].taken, &taken.results[0].records[1]);
    EXPECT_EQ(taken.ladders[5].choices[0].taken, &taken.results[1].records[2]);
    EXPECT_EQ(taken.ladders[5].choices[0].problem, "rms_norm/backward/bf16/llama/256x1024");
    EXPECT_NEAR(taken.ladders[5].price().worst, 0.1, 1e-9);
}

TEST(InvariantFit, HasOneClassInABand) {
    Results results = flipping();
    FitSettings settings;
    settings.hold_out = HoldOut::parse("none");
    settings.rivals.clear();
    settings.tolerance = 0.15;
    const BackendTraits traits = backend_traits(Backend::cuda);
    settings.tolerance = 0.05;
    const Fits free = fit({&results, 1}, settings, traits);
    EXPECT_TRUE(free.fits[0].within);
    settings.restriction = invariant;
    EXPECT_FALSE(fit({&results, 1}, settings, traits).fits[0].within);
    settings.tolerance = 0.12;
    const Fits bound = fit({&results, 1}, settings, traits);
    ASSERT_TRUE(bound.fits[0].within);
    ASSERT_EQ(bound.fits[0].ladder->steps(), 2U);
    for (const ShapeLosses& shape : bound.fits[0].fitted.shapes) {
        EXPECT_EQ(chosen_on(bound.fits[0], *shape.rankings[0])->record->candidate.configuration()->threads_per_row, 128);
    }
    compare_bits(results);
    EXPECT_EQ(fit({&results, 1}, settings, traits).fits[0].compared, 2U);
    results.records[4].bits->row_bits = "other";
    const Fits contradicted = fit({&results, 1}, settings, traits);
    EXPECT_EQ(contradicted.fits[0].differ_at, std::vector<std::int64_t>{1024});
    EXPECT_FALSE(contradicted.fits[0].within);
}

TEST(InvariantFit, WhereNothingIsAdmittedNoLadderServes) {
    Results results = flipping();
    compare_bits(results);
    for (Record& record : results.records) {
        if (record.problem.shape.rows > 1) {
            record.bits = BitsCheck{"", "row 0 of 8192", ""};
        }
    }
    FitSettings settings;
    settings.hold_out = HoldOut::parse("2");
    settings.restriction = invariant;
    settings.tolerance = 0.12;
    const BackendTraits traits = backend_traits(Backend::cuda);
    const Fits fits = fit({&results, 1}, settings, traits);
    ASSERT_EQ(fits.fits.size(), 1U);
    EXPECT_FALSE(fits.fits[0].within);
    EXPECT_FALSE(fits.fits[0].ladder);
    EXPECT_EQ(fits.fits[0].fitted.shapes.size(), 2U) << "it is not held out: nothing can be judged there";
    ASSERT_EQ(fits.fits[0].in_the_way.size(), 1U);
    EXPECT_EQ(fits.fits[0].in_the_way[0]->rows, 8192);
    const std::vector<Results> with_another{results, flipping()};
    EXPECT_TRUE(fit(with_another, settings, traits).fits[0].within) << "another run has something of it";
    for (Record& record : results.records) {
        record.bits = BitsCheck{"", "row 0", ""};
    }
    const Fits none = fit({&results, 1}, settings, traits);
    ASSERT_EQ(none.fits.size(), 1U) << "nothing of the operation is admitted, and it is told";
    EXPECT_FALSE(none.fits[0].within);
    EXPECT_EQ(none.fits[0].in_the_way.size(), 2U);
}

}  // namespace
}  // namespace normtune
