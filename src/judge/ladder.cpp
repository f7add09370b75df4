#include "judge/ladder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "space/common_limits.h"

namespace normtune {
namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();

bool decides(const std::vector<Axis>& decided, Axis axis) {
    return std::find(decided.begin(), decided.end(), axis) != decided.end();
}

/// The decided axes of a configuration; the others at their defaults.
Configuration projected(const Configuration& configuration, const std::vector<Axis>& decided) {
    Configuration out;
    for (const Axis axis : decided) {
        set_axis(out, axis, axis_value(configuration, axis));
    }
    return out;
}

/// Whether `even` holds depends on N: a step that serves several N has it where it holds and masks elsewhere.
bool may_mix_reductions(const std::vector<Axis>& decided) {
    return decides(decided, Axis::reduction) && std::ranges::all_of(axes_of_even, [&](Axis axis) { return decides(decided, axis); });
}

std::vector<Prescription> followed_by(const Configuration& configuration, const Problem& problem, const std::vector<Axis>& decided,
                                      const BackendTraits& traits) {
    Prescription prescription{projected(configuration, decided)};
    if (!may_mix_reductions(decided)) {
        return {prescription};
    }
    std::vector<Prescription> out;
    if (configuration.reduction == Reduction::even) {  // by itself it would be illegal on other N of its step
        prescription.even_where_it_divides = true;
        for (const Reduction elsewhere : {Reduction::where, Reduction::masked, Reduction::guard}) {
            prescription.configuration.reduction = elsewhere;
            out.push_back(prescription);
        }
        return out;
    }
    out.push_back(prescription);
    Problem contiguous = problem;  // a launcher's rule knows M and N alone
    contiguous.shape.row_stride = contiguous.shape.cols;
    if (!divides_evenly(configuration, contiguous, traits)) {
        prescription.even_where_it_divides = true;
        out.push_back(prescription);
    }
    return out;
}

/// The prescriptions that rankings follow, numbered as they are found.
class FoundPrescriptions {
public:
    FoundPrescriptions(const std::vector<Axis>& decided, const BackendTraits& traits) : decided_(decided), traits_(traits) {}

    struct Loss {
        std::size_t number = 0;
        LossEstimate loss;
    };
    /// What the trials of a problem lose, by the prescriptions that each follows.
    std::vector<Loss> losses_on(const ProblemRanking& ranking) {
        std::vector<Loss> out;
        for (const Standing& standing : ranking.standings) {
            for (const Prescription& it : followed_by(*standing.record->candidate.configuration(), ranking.problem(), decided_, traits_)) {
                out.push_back({number_of(it), standing.estimate()});
            }
        }
        return out;
    }

    /// With a plain mask first, then by their text; `order` gets the number of each.
    std::vector<Prescription> in_order(std::vector<std::size_t>& order) const {
        std::vector<Prescription> out;
        for (const auto& [key, number] : numbers_) {
            order.push_back(number);
            out.push_back(found_[number]);
        }
        return out;
    }

private:
    std::size_t number_of(const Prescription& prescription) {
        const bool plain = prescription.configuration.reduction == Reduction::masked;
        const auto [place, added] = numbers_.try_emplace({!plain, prescription.text(decided_)}, found_.size());
        if (added) {
            found_.push_back(prescription);
        }
        return place->second;
    }

    const std::vector<Axis>& decided_;
    const BackendTraits& traits_;
    std::map<std::pair<bool, std::string>, std::size_t> numbers_;
    std::vector<Prescription> found_;
};

/// One band: shapes of neighbouring N, given as what each prescription costs at each M.
struct Costs {
    std::vector<std::int64_t> rows;         // ascending
    std::vector<std::vector<double>> cost;  // of these rows, by prescription: the sum of log(1 + loss), or impossible
};

struct Fitted {
    std::size_t steps = 0;
    double cost = impossible;
    std::vector<Ladder::Step> ladder;

    bool better_than(const Fitted& other) const {
        if (cost == impossible || other.cost == impossible) {
            return cost < other.cost;
        }
        return steps != other.steps ? steps < other.steps : cost < other.cost;
    }
};

/// The fewest steps over M: the best way to serve the first j rows ends with a step over rows i … j − 1.
Fitted fit_rows_freely(const Costs& costs) {
    std::vector<Fitted> best(costs.rows.size() + 1);
    best[0].cost = 0;
    for (std::size_t j = 1; j <= costs.rows.size(); ++j) {
        std::vector<double> sum(costs.cost.front().size(), 0);
        for (std::size_t i = j; i-- > 0;) {
            std::transform(sum.begin(), sum.end(), costs.cost[i].begin(), sum.begin(), std::plus<>());
            const auto least = std::min_element(sum.begin(), sum.end());
            if (*least == impossible) {
                break;
            }
            Fitted candidate{best[i].steps + 1, best[i].cost + *least, {}};
            if (best[i].cost != impossible && candidate.better_than(best[j])) {
                candidate.ladder = best[i].ladder;
                candidate.ladder.push_back({costs.rows[j - 1], static_cast<std::size_t>(least - sum.begin())});
                best[j] = std::move(candidate);
            }
        }
    }
    return best.back();
}

/// The same, of prescriptions that may stand together.
Fitted fit_rows(const Costs& costs, const std::vector<std::vector<std::size_t>>& together) {
    if (together.size() == 1) {
        return fit_rows_freely(costs);
    }
    Fitted best;
    for (const std::vector<std::size_t>& of_class : together) {
        Costs own{costs.rows, {}};
        for (const std::vector<double>& cost : costs.cost) {
            std::ranges::transform(of_class, std::back_inserter(own.cost.emplace_back()), [&](std::size_t p) { return cost[p]; });
        }
        Fitted fitted = fit_rows_freely(own);
        if (fitted.better_than(best)) {
            for (Ladder::Step& step : fitted.ladder) {
                step.prescription = of_class[step.prescription];
            }
            best = std::move(fitted);
        }
    }
    return best;
}

void add(Costs& costs, const ShapeLosses& shape, double tolerance) {
    const auto place = std::lower_bound(costs.rows.begin(), costs.rows.end(), shape.rows);
    const auto index = static_cast<std::size_t>(place - costs.rows.begin());
    if (place == costs.rows.end() || *place != shape.rows) {
        costs.rows.insert(place, shape.rows);
        costs.cost.insert(costs.cost.begin() + static_cast<std::ptrdiff_t>(index), std::vector<double>(shape.losses.size(), 0));
    }
    for (std::size_t p = 0; p < shape.losses.size(); ++p) {
        const double loss = shape.losses[p];
        const bool allowed = loss != not_measured && loss <= tolerance;
        costs.cost[index][p] += allowed ? std::log1p(loss) : impossible;
    }
}

}  // namespace

std::string Prescription::text(const std::vector<Axis>& decided) const {
    if (decided.size() == axis_count) {
        std::string key = configuration.key();
        if (even_where_it_divides) {
            const std::string reduction = fmt::format(".{}.", reduction_names.name(configuration.reduction));
            key.replace(key.find(reduction), 1, ".even_or_");
        }
        return key;
    }
    std::string out;
    for (const Axis axis : decided) {
        out += fmt::format("{}{} {}{}", out.empty() ? "" : ", ", axis_names.name(axis),
                           axis == Axis::reduction && even_where_it_divides ? "even_or_" : "",
                           axis_text(axis, axis_value(configuration, axis)));
    }
    return out;
}

const Standing* fastest_follower(const ProblemRanking& ranking, const Prescription& prescription, const std::vector<Axis>& decided,
                                 const BackendTraits& traits) {
    const std::string wanted = prescription.text(decided);
    const Standing* out = nullptr;
    for (const Standing& standing : ranking.standings) {
        if (out != nullptr && standing.ratio >= out->ratio) {
            continue;
        }
        const std::vector<Prescription> followed =
            followed_by(*standing.record->candidate.configuration(), ranking.problem(), decided, traits);
        if (std::any_of(followed.begin(), followed.end(), [&](const Prescription& it) { return it.text(decided) == wanted; })) {
            out = &standing;
        }
    }
    return out;
}

std::vector<Axis> all_axes() {
    std::vector<Axis> axes;
    axes.reserve(axis_count);
    for (const AxisRow& row : axis_table) {
        axes.push_back(row.axis);
    }
    return axes;
}

std::vector<std::vector<std::size_t>> Losses::together() const {
    std::vector<std::vector<std::size_t>> out(1);
    for (std::size_t p = 0; p < prescriptions.size(); ++p) {
        const std::size_t of = classes.empty() ? 0 : classes[p];
        out.resize(std::max(out.size(), of + 1));
        out[of].push_back(p);
    }
    return out;
}

Losses Losses::only(const std::function<bool(const ShapeLosses&)>& keep) const {
    Losses out{decided, prescriptions, {}, classes};
    std::copy_if(shapes.begin(), shapes.end(), std::back_inserter(out.shapes), keep);
    return out;
}

Losses losses_of(const std::vector<const ProblemRanking*>& rankings, const std::vector<Axis>& decided, const BackendTraits& traits) {
    FoundPrescriptions found(decided, traits);
    std::vector<std::vector<FoundPrescriptions::Loss>> losses;
    losses.reserve(rankings.size());
    for (const ProblemRanking* ranking : rankings) {
        losses.push_back(found.losses_on(*ranking));
    }
    std::vector<std::size_t> order;
    Losses out{decided, found.in_order(order), {}};
    std::map<std::pair<std::int64_t, std::int64_t>, ShapeLosses> shapes;
    for (std::size_t i = 0; i < rankings.size(); ++i) {
        std::vector<LossEstimate> least(order.size(), {not_measured, 0});  // by number
        for (const auto& [number, loss] : losses[i]) {
            if (least[number].loss == not_measured || loss.loss < least[number].loss) {
                least[number] = loss;
            }
        }
        const Shape& shape = rankings[i]->problem().shape;
        ShapeLosses& at = shapes[{shape.cols, shape.rows}];
        at.rows = shape.rows;
        at.cols = shape.cols;
        at.losses.resize(order.size(), std::numeric_limits<double>::lowest());
        at.half_widths.resize(order.size(), 0);
        at.rankings.push_back(rankings[i]);
        for (std::size_t p = 0; p < order.size(); ++p) {
            const LossEstimate& here = least[order[p]];
            if (here.loss == not_measured) {
                at.losses[p] = not_measured;
            } else if (at.losses[p] != not_measured && here.loss > at.losses[p]) {
                at.losses[p] = here.loss;
                at.half_widths[p] = here.half_width;
            }
        }
    }
    for (auto& [place, shape] : shapes) {
        out.shapes.push_back(std::move(shape));
    }
    return out;
}

std::size_t Ladder::steps() const {
    std::size_t count = 0;
    for (const Band& band : bands) {
        count += band.steps.size();
    }
    return count;
}

std::size_t Ladder::prescription(std::int64_t rows, std::int64_t cols) const {
    const auto band = std::find_if(bands.begin(), bands.end() - 1, [&](const Band& b) { return cols <= b.cols_to; });
    return std::find_if(band->steps.begin(), band->steps.end() - 1, [&](const Step& s) { return rows <= s.rows_to; })->prescription;
}

std::optional<Ladder> fit_ladder(const Losses& losses, double tolerance) {
    if (losses.prescriptions.empty()) {
        return std::nullopt;
    }
    // best[j]: the first j distinct N. Shapes lie by N, so those of N's i … j − 1 are neighbours.
    std::vector<std::size_t> first_of_cols;
    for (std::size_t s = 0; s < losses.shapes.size(); ++s) {
        if (s == 0 || losses.shapes[s].cols != losses.shapes[s - 1].cols) {
            first_of_cols.push_back(s);
        }
    }
    first_of_cols.push_back(losses.shapes.size());
    struct Best {
        Fitted total;
        std::vector<Ladder::Band> bands;
    };
    const std::vector<std::vector<std::size_t>> together = losses.together();
    std::vector<Best> best(first_of_cols.size());
    best[0].total.cost = 0;
    for (std::size_t j = 1; j < first_of_cols.size(); ++j) {
        Costs costs;
        for (std::size_t i = j; i-- > 0;) {
            for (std::size_t s = first_of_cols[i]; s < first_of_cols[i + 1]; ++s) {
                add(costs, losses.shapes[s], tolerance);
            }
            Fitted band = fit_rows(costs, together);
            const Fitted candidate{best[i].total.steps + band.steps, best[i].total.cost + band.cost, {}};
            if (candidate.better_than(best[j].total)) {
                best[j] = {candidate, best[i].bands};
                best[j].bands.push_back({losses.shapes[first_of_cols[j] - 1].cols, std::move(band.ladder)});
            }
        }
    }
    if (losses.shapes.empty() || best.back().total.cost == impossible) {
        return std::nullopt;
    }
    return Ladder{std::move(best.back().bands)};
}

std::optional<double> least_tolerance(const Losses& losses, std::size_t most_steps) {
    std::vector<double> steps_up;
    for (const ShapeLosses& shape : losses.shapes) {
        std::copy_if(shape.losses.begin(), shape.losses.end(), std::back_inserter(steps_up),
                     [](double loss) { return loss != not_measured; });
    }
    std::sort(steps_up.begin(), steps_up.end());
    steps_up.erase(std::unique(steps_up.begin(), steps_up.end()), steps_up.end());
    // A ladder within one tolerance is within every larger one.
    const auto least = std::partition_point(steps_up.begin(), steps_up.end(), [&](double tolerance) {
        const std::optional<Ladder> ladder = fit_ladder(losses, tolerance);
        return !ladder || (most_steps > 0 && ladder->steps() > most_steps);
    });
    return least == steps_up.end() ? std::nullopt : std::optional(*least);
}

}  // namespace normtune
