#include "judge/traffic_ladder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/random.h"

namespace normtune {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Made-up losses of a few prescriptions on a grid of shapes; some were not measured. A site of one row a token for each N.
struct Made {
    Losses losses;
    std::vector<TrafficSite> sites;
    TokenCounts counts;

    Made(std::uint64_t seed, std::size_t prescriptions) {
        Random random(seed);
        losses.prescriptions.resize(prescriptions);
        for (const std::int64_t cols : {128, 512, 4096}) {
            for (const std::int64_t rows : {1, 16, 300}) {
                ShapeLosses& shape = losses.shapes.emplace_back();
                shape.rows = rows;
                shape.cols = cols;
                for (std::size_t p = 0; p < prescriptions; ++p) {
                    shape.losses.push_back(random.next() % 5 == 0 ? not_measured : static_cast<double>(random.next() % 100) / 1000);
                }
                shape.losses[random.next() % prescriptions] = 0;
            }
        }
        for (std::size_t i = 0; i < losses.shapes.size(); i += 3) {
            TrafficSite& site = sites.emplace_back();
            site.cols = losses.shapes[i].cols;
            for (std::size_t k = i; k < i + 3; ++k) {
                site.points.push_back({losses.shapes[k].rows, &losses.shapes[k], static_cast<double>(1 + random.next() % 50)});
            }
        }
        for (const std::int64_t tokens : {1, 2, 9, 16, 40, 300, 301}) {
            counts.batches[tokens] = static_cast<std::int64_t>(1 + random.next() % 1000);
        }
    }

    double cost(const Ladder& ladder, double cap) const {
        double sum = 0;
        for (const TrafficSite& site : sites) {
            double us = 0;
            double tokens = 0;
            for (const auto& [size, count] : counts.batches) {
                if (!site.covers(size)) {
                    continue;
                }
                const TrafficPlace place = place_of(site, size);
                const std::size_t p = ladder.prescription(size, site.cols);
                const std::optional<double> taken = time_at(place, [&](const ShapeLosses& shape) { return shape.losses[p]; });
                us += static_cast<double>(count) * (taken.value_or(place.best_us() * (1 + cap)) - place.best_us());
                tokens += static_cast<double>(count) * static_cast<double>(size);
            }
            sum += us / tokens;
        }
        for (const ShapeLosses& shape : losses.shapes) {
            const double loss = shape.losses[ladder.prescription(shape.rows, shape.cols)];
            sum += loss == not_measured || loss > cap ? never : 0;
        }
        return sum;
    }
};

/// Every ladder over the grid: partitions of N, of each band's M, and a prescription for each step.
void for_each_ladder(std::size_t prescriptions, const std::function<void(const Ladder&)>& visit) {
    const std::vector<std::int64_t> rows{1, 16, 300};
    std::vector<std::vector<Ladder::Step>> bands;
    for (unsigned cuts = 0; cuts < 4; ++cuts) {
        std::vector<std::vector<Ladder::Step>> made{{}};
        for (std::size_t r = 0; r < 3; ++r) {
            if (r < 2 && ((cuts >> r) & 1U) == 0) {
                continue;
            }
            std::vector<std::vector<Ladder::Step>> longer;
            for (const std::vector<Ladder::Step>& steps : made) {
                for (std::size_t p = 0; p < prescriptions; ++p) {
                    longer.push_back(steps);
                    longer.back().push_back({rows[r], p});
                }
            }
            made = std::move(longer);
        }
        bands.insert(bands.end(), made.begin(), made.end());
    }
    for (const auto& first : bands) {
        visit({{{4096, first}}});
        for (const auto& second : bands) {
            visit({{{128, first}, {4096, second}}});
            visit({{{512, first}, {4096, second}}});
        }
    }
}

bool of_one_class(const Ladder& ladder, const std::vector<std::size_t>& classes) {
    return std::ranges::all_of(ladder.bands, [&](const Ladder::Band& band) {
        return std::ranges::all_of(band.steps, [&](const Ladder::Step& step) {
            return classes.empty() || classes[step.prescription] == classes[band.steps.front().prescription];
        });
    });
}

class TrafficLadders : public ::testing::TestWithParam<std::vector<std::size_t>> {};

TEST_P(TrafficLadders, NoLadderOfAsManyStepsTakesLessTime) {
    constexpr double cap = 0.08;
    constexpr std::size_t prescriptions = 3;
    int without = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Made made(seed, prescriptions);
        made.losses.classes = GetParam();
        std::map<std::size_t, double> least;  // by steps, of ladders of one or two bands
        for_each_ladder(prescriptions, [&](const Ladder& ladder) {
            if (!of_one_class(ladder, GetParam())) {
                return;
            }
            double& at = least.try_emplace(ladder.steps(), never).first->second;
            at = std::min(at, made.cost(ladder, cap));
        });
        for (std::size_t most = 1; most <= 5; ++most) {
            const std::vector<TrafficLadder> ladders = traffic_ladders(made.losses, made.sites, made.counts, cap, most);
            double found = never;
            for (const TrafficLadder& ladder : ladders) {
                EXPECT_LE(ladder.ladder.steps(), most);
                EXPECT_TRUE(of_one_class(ladder.ladder, GetParam())) << "seed " << seed;
                EXPECT_NEAR(made.cost(ladder.ladder, cap), ladder.us_per_token, 1e-9) << "seed " << seed;
                EXPECT_LT(ladder.us_per_token, found);
                found = ladder.us_per_token;
            }
            double tried = never;
            for (std::size_t steps = 1; steps <= most; ++steps) {
                tried = std::min(tried, least.contains(steps) ? least[steps] : never);
            }
            EXPECT_LE(found, tried + 1e-9) << "seed " << seed << ", " << most << " steps";
            without += ladders.empty() && tried == never ? 1 : 0;
        }
    }
    EXPECT_LT(without, 45) << "of 50, or nothing was compared";
}

INSTANTIATE_TEST_SUITE_P(Classes, TrafficLadders, ::testing::Values(std::vector<std::size_t>{}, std::vector<std::size_t>{0, 1, 0}));

TEST(TrafficLadder, AStepThatGainsNextToNothingIsNotWorthIt) {
    const std::vector<TrafficLadder> ladders{{{}, 5.0}, {{}, 0.55}, {{}, 0.5}};
    EXPECT_EQ(&worthwhile(ladders, 100), &ladders[1]);
    EXPECT_EQ(&worthwhile(ladders, 10), &ladders[2]);
}

}  // namespace
}  // namespace normtune
