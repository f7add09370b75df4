// A ladder of thresholds: the smallest launcher's rule whose loss against the measured best stays within a tolerance.
// Pure. What a step is and what is minimal: docs/fit.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/problem_ranking.h"
#include "space/backend_traits.h"

namespace normtune {

/// What a step prescribes: the axes that the ladder decides; the others have their defaults here and mean nothing.
struct Prescription {
    Configuration configuration;
    /// `reduction` is `even` where a row's threads and blocks divide the columns, and the configuration's elsewhere.
    bool even_where_it_divides = false;

    /// "w4.t128.r1.row.registers.even_or_masked.per_row"; of some axes alone "num_warps 4, threads_per_row 128".
    std::string text(const std::vector<Axis>& decided) const;
};

inline constexpr double not_measured = -1;

/// A distinct M × N and what each prescription loses on it. Problems that share it (row strides, several runs) are one:
/// a prescription loses the most that it loses on any of them, and is measured where it was on all.
struct ShapeLosses {
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::vector<const ProblemRanking*> rankings;
    std::vector<double> losses;       // by prescription; not_measured where no configuration that follows it was
    std::vector<double> half_widths;  // of these losses' 95% intervals

    /// Empty: not measured.
    std::optional<LossEstimate> estimate(std::size_t prescription) const {
        return losses[prescription] == not_measured ? std::nullopt
                                                    : std::optional(LossEstimate{losses[prescription], half_widths[prescription]});
    }
};

struct Losses {
    std::vector<Axis> decided;
    std::vector<Prescription> prescriptions;  // those with a plain mask first, then by their text
    std::vector<ShapeLosses> shapes;          // by cols, then rows
    std::vector<std::size_t> classes = {};    // of each prescription; the steps of a band have one. Empty: they may have any

    /// The prescriptions that the steps of one band may have together: all, or those of a class.
    std::vector<std::vector<std::size_t>> together() const;
    /// The same prescriptions on the shapes that `keep` chooses.
    Losses only(const std::function<bool(const ShapeLosses&)>& keep) const;
};

/// What says, with N, where `reduction` `even` holds: a ladder that decides `reduction` decides these as well, and `cluster` where rows
/// lie over several programs.
inline constexpr std::array<Axis, 3> axes_of_even{Axis::threads_per_row, Axis::vector_bytes, Axis::block_size};

/// Every axis: steps are whole configurations.
std::vector<Axis> all_axes();

/// The prescriptions that the measured configurations follow. Of axes that are not decided each shape has the best
/// value that was measured. `rankings` are problems of one operation on one device.
Losses losses_of(const std::vector<const ProblemRanking*>& rankings, const std::vector<Axis>& decided, const BackendTraits& traits);

/// The fastest trial of a problem that follows the prescription; null: none was measured.
const Standing* fastest_follower(const ProblemRanking& ranking, const Prescription& prescription, const std::vector<Axis>& decided,
                                 const BackendTraits& traits);

struct Ladder {
    struct Step {
        std::int64_t rows_to = 0;  // the largest M it was fitted to
        std::size_t prescription = 0;
    };
    struct Band {
        std::int64_t cols_to = 0;  // the largest N it was fitted to
        std::vector<Step> steps;   // by M
    };
    std::vector<Band> bands;  // by N

    std::size_t steps() const;
    /// The first band whose cols_to reaches `cols` (the last one beyond), in it the first step whose rows_to does.
    std::size_t prescription(std::int64_t rows, std::int64_t cols) const;
};

/// The ladder with the fewest steps among those that lose at most `tolerance` (0.02) on every shape; of these the one
/// with the least mean of log(1 + loss); where that ties too, the one whose later bands, then steps, serve
/// fewer shapes, and of prescriptions the first in the order of `losses`. Empty: on some shape no prescription is within the tolerance.
std::optional<Ladder> fit_ladder(const Losses& losses, double tolerance);

/// The least tolerance that a ladder of at most `most_steps` steps (0: any number) reaches; empty: none does.
std::optional<double> least_tolerance(const Losses& losses, std::size_t most_steps);

}  // namespace normtune
