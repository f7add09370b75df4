// Launchers' rules fitted to results: a ladder for each operation, judged on shapes that it was not fitted to, beside
// the rules of thumb. Pure. The method: docs/fit.md.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/hold_out.h"
#include "judge/ladder.h"
#include "judge/loss_summary.h"
#include "judge/reproducible.h"
#include "judge/thumb_rule.h"
#include "judge/traffic.h"

namespace normtune {

struct FitSettings {
    double tolerance = 0.02;
    std::vector<Axis> decided = all_axes();
    std::size_t most_steps = 0;  // 0: any number
    HoldOut hold_out = HoldOut::parse("4");
    std::vector<ThumbRule> rivals = named_thumb_rules();
    std::vector<Op> ops;                 // empty: all
    std::vector<Mode> modes;             // empty: all
    std::optional<TokenCounts> traffic;  // the ladder of the least expected time over it, rather than of the fewest steps
    std::vector<std::string> models;     // the traffic is theirs (patterns); empty: of all
    Restriction restriction;             // losses stay those against the best of all
};

using ShapeSummary = LossSummary<ShapeLosses>;

/// A rule of thumb, beside a ladder that decides the same axes (fitted to the same shapes, within the same tolerance;
/// what they leave open is at its best on each shape for both) and the ladder of the fit. All three are judged on the
/// shapes where each of them has a measured configuration.
struct Rival {
    std::string name;
    std::vector<Axis> decides;
    std::optional<std::size_t> ladder_steps;  // empty: no ladder of these axes
    std::size_t obeyed = 0;                   // held-out shapes with a measured configuration that obeys the rule
    ShapeSummary rule;
    ShapeSummary same_axes;
    ShapeSummary ladder;
};

/// How many steps a ladder takes for a tolerance.
struct StepsAt {
    double tolerance;
    std::optional<std::size_t> steps;
};

struct Fit {
    std::string operation;  // "rms_norm/forward/bf16/llama", and what else is not the default
    Operation problem;
    DeviceInfo device;
    BackendTraits traits;
    double tolerance = 0;
    Losses fitted;
    Losses held_out;
    std::optional<Ladder> ladder;                // within the tolerance and the number of steps, or the best that there is
    bool within = false;                         // is it?
    bool none_admitted = false;                  // the restriction admits nothing on some of `fitted`: `in_the_way` has these alone
    std::optional<std::size_t> steps_needed;     // the fewest that make a ladder, where --most-steps asked for fewer
    std::vector<const ShapeLosses*> in_the_way;  // of `fitted`: where the ladder is not within the tolerance, or where nothing is admitted
    ShapeSummary on_fitted;
    ShapeSummary on_held_out;
    std::vector<Rival> rivals;  // judged on the held-out shapes; on the fitted ones where none is held out
    std::vector<StepsAt> steps_at;
    std::optional<TrafficFit> traffic;
    Restriction restriction;
    std::size_t compared = 0;             // problems of fitted shapes where the bits of the ladder's trial were compared
    std::vector<std::int64_t> differ_at;  // of a batch-invariant ladder: N on which they are not the same at all M after all
    std::size_t dropped = 0;              // fitted shapes on which the ladder rests on a trial that a race dropped

    Fit() = default;
    Fit(Fit&&) noexcept = default;  // its parts point at one another: it is moved, never copied
    Fit& operator=(Fit&&) noexcept = default;
};

struct Fits {
    std::vector<ProblemRanking> rankings;  // what the fits' shapes point to
    std::vector<Fit> fits;
};

/// One an operation, in the order of the records. `runs` are of one device and have to outlive the fits. Throws
/// InputError: nothing measured, cold and hot of one operation, or no shape left to fit to.
/// `fresh`: problem_ranking.h.
Fits fit(std::span<const Results> runs, const FitSettings& settings, const BackendTraits& traits, std::span<const Results> fresh = {});

/// The trials that its ladders rest on, on the shapes that they are fitted to and on those of a traffic's batches, and that a race dropped.
std::vector<TrialsAgain> wanted_again(const Fits& fits);

/// The trial of a problem that the ladder stands for; null: it was not measured, or there is no ladder.
const Standing* chosen_on(const Fit& fit, const ProblemRanking& ranking);

/// What the ladder loses on a shape; not_measured where its configuration was not, or there is no ladder.
double ladder_loss(const std::optional<Ladder>& ladder, const ShapeLosses& shape);

}  // namespace normtune
