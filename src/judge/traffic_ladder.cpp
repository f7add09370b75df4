#include "judge/traffic_ladder.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace normtune {
namespace {

constexpr double unreachable = std::numeric_limits<double>::infinity();

/// What each prescription takes beyond the best at some rows of one N; the rows are bounds: batches up to there and above the row before.
using CostsByRows = std::map<std::int64_t, std::vector<double>>;

/// Shapes of one N.
struct Column {
    std::int64_t cols = 0;
    std::vector<const ShapeLosses*> shapes;
    CostsByRows costs;
};

std::vector<Column> columns_of(const Losses& losses) {
    std::vector<Column> out;
    for (const ShapeLosses& shape : losses.shapes) {
        if (out.empty() || out.back().cols != shape.cols) {
            out.push_back({shape.cols, {}, {}});
        }
        out.back().shapes.push_back(&shape);
    }
    return out;
}

double covered_tokens(const TrafficSite& site, const TokenCounts& counts) {
    double tokens = 0;
    for (const auto& [size, count] : counts.batches) {
        tokens += site.covers(size) ? static_cast<double>(size) * static_cast<double>(count) : 0;
    }
    return tokens;
}

/// Batches that take the same step whatever the ladder, and lie between the same two points: how much of their time is each point's.
struct Cell {
    const TrafficSite::Point* below = nullptr;
    const TrafficSite::Point* above = nullptr;
    double batches_below = 0;
    double batches_above = 0;
};

double beyond_best(const Cell& cell, std::size_t prescription, double cap) {
    const double below = cell.below->shape->losses[prescription];
    const double above = cell.above->shape->losses[prescription];
    const double either = below != not_measured ? below : above != not_measured ? above : cap;
    return cell.batches_below * cell.below->best_us * (below != not_measured ? below : either) +
           cell.batches_above * cell.above->best_us * (above != not_measured ? above : either);
}

/// Adds the site's batches to the costs of its N. A step can only end at rows that were measured, whatever the site.
void add_costs(Column& column, const TrafficSite& site, const TokenCounts& counts, const std::vector<std::int64_t>& measured_rows,
               std::size_t prescriptions, double cap) {
    const double tokens = covered_tokens(site, counts);
    std::map<std::int64_t, Cell> cells;
    for (const auto& [size, count] : counts.batches) {
        if (!site.covers(size)) {
            continue;
        }
        const TrafficPlace place = place_of(site, size);
        Cell& cell = cells[*std::lower_bound(measured_rows.begin(), measured_rows.end(), size * site.rows_per_token)];
        const auto batches = static_cast<double>(count) / tokens;
        // At a point both are that point; such a cell's others lie below it.
        cell.below = cell.below == nullptr || place.below->tokens < cell.below->tokens ? place.below : cell.below;
        cell.above = place.above;
        if (place.below == place.above) {
            cell.batches_above += batches;
        } else {
            cell.batches_below += batches * (1 - place.weight_above);
            cell.batches_above += batches * place.weight_above;
        }
    }
    for (const auto& [rows, cell] : cells) {
        std::vector<double>& costs = column.costs.try_emplace(rows, prescriptions, 0.0).first->second;
        for (std::size_t p = 0; p < prescriptions; ++p) {
            costs[p] += beyond_best(cell, p, cap);
        }
    }
}

/// The cheapest way to serve something with exactly so many steps: [steps - 1].
template <typename Part>
struct Cheapest {
    double cost = unreachable;
    std::vector<Part> parts;
};
using Steps = std::vector<Cheapest<Ladder::Step>>;

struct BandCosts {
    std::vector<std::int64_t> rows;
    std::vector<std::vector<double>> cost;  // of these rows, by prescription
};

BandCosts band_costs(const std::vector<Column>& columns, std::size_t first, std::size_t last, std::size_t prescriptions, double cap) {
    BandCosts band;
    for (std::size_t c = first; c < last; ++c) {
        for (const ShapeLosses* shape : columns[c].shapes) {
            band.rows.push_back(shape->rows);
        }
    }
    std::sort(band.rows.begin(), band.rows.end());
    band.rows.erase(std::unique(band.rows.begin(), band.rows.end()), band.rows.end());
    band.cost.assign(band.rows.size(), std::vector<double>(prescriptions, 0));
    const auto at = [&](std::int64_t rows) -> std::vector<double>& {
        return band.cost[static_cast<std::size_t>(std::lower_bound(band.rows.begin(), band.rows.end(), rows) - band.rows.begin())];
    };
    for (std::size_t c = first; c < last; ++c) {
        for (const auto& [rows, costs] : columns[c].costs) {
            std::vector<double>& sum = at(rows);
            std::transform(sum.begin(), sum.end(), costs.begin(), sum.begin(), std::plus<>());
        }
        for (const ShapeLosses* shape : columns[c].shapes) {
            std::vector<double>& sum = at(shape->rows);
            for (std::size_t p = 0; p < prescriptions; ++p) {
                sum[p] = shape->losses[p] == not_measured || shape->losses[p] > cap ? unreachable : sum[p];
            }
        }
    }
    return band;
}

/// The last of the steps that serve the first so many rows.
struct LastStep {
    double cost = unreachable;  // of all of them
    std::size_t first_row = 0;
    std::size_t prescription = 0;
};

/// Of each number of steps, the steps over M with these prescriptions: the best way to serve the first j rows ends with a step over rows i
/// … j − 1.
Steps cheapest_steps(const BandCosts& band, std::size_t most, const std::vector<std::size_t>& prescriptions) {
    const std::size_t rows = band.rows.size();
    std::vector<std::vector<LastStep>> best(rows + 1, std::vector<LastStep>(std::min(rows, most) + 1));  // [j][steps]
    best[0][0].cost = 0;
    for (std::size_t j = 1; j <= rows; ++j) {
        std::vector<double> sum(prescriptions.size(), 0);
        for (std::size_t i = j; i-- > 0;) {
            std::transform(sum.begin(), sum.end(), prescriptions.begin(), sum.begin(),
                           [&](double so_far, std::size_t p) { return so_far + band.cost[i][p]; });
            const auto least = std::min_element(sum.begin(), sum.end());
            if (*least == unreachable) {
                break;
            }
            for (std::size_t k = 1; k < best[j].size(); ++k) {
                if (best[i][k - 1].cost + *least < best[j][k].cost) {
                    best[j][k] = {best[i][k - 1].cost + *least, i, prescriptions[static_cast<std::size_t>(least - sum.begin())]};
                }
            }
        }
    }
    Steps out(best.back().size());
    for (std::size_t steps = 0; steps < out.size(); ++steps) {
        out[steps].cost = best.back()[steps].cost;
        std::size_t j = rows;
        for (std::size_t k = steps; k > 0 && out[steps].cost < unreachable; --k) {
            out[steps].parts.push_back({band.rows[j - 1], best[j][k].prescription});
            j = best[j][k].first_row;
        }
        std::reverse(out[steps].parts.begin(), out[steps].parts.end());
    }
    return out;
}

}  // namespace

std::vector<TrafficLadder> traffic_ladders(const Losses& losses, const std::vector<TrafficSite>& sites, const TokenCounts& counts,
                                           double cap, std::size_t most_steps) {
    if (losses.prescriptions.empty()) {
        return {};
    }
    std::vector<Column> columns = columns_of(losses);
    std::vector<std::int64_t> measured_rows;
    for (const ShapeLosses& shape : losses.shapes) {
        measured_rows.push_back(shape.rows);
    }
    std::sort(measured_rows.begin(), measured_rows.end());
    const std::size_t prescriptions = losses.prescriptions.size();
    for (const TrafficSite& site : sites) {
        const auto column = std::find_if(columns.begin(), columns.end(), [&](const Column& it) { return it.cols == site.cols; });
        if (column != columns.end()) {
            add_costs(*column, site, counts, measured_rows, prescriptions, cap);
        }
    }
    const std::vector<std::vector<std::size_t>> together = losses.together();
    const std::size_t most = most_steps == 0 ? losses.shapes.size() : std::min(most_steps, losses.shapes.size());
    using Bands = Cheapest<Ladder::Band>;
    std::vector<std::vector<Bands>> best(columns.size() + 1, std::vector<Bands>(most + 1));  // [the first j distinct N][steps]
    best[0][0].cost = 0;
    for (std::size_t j = 1; j <= columns.size(); ++j) {
        for (std::size_t i = j; i-- > 0;) {
            const BandCosts costs = band_costs(columns, i, j, prescriptions, cap);
            for (const std::vector<std::size_t>& of_class : together) {
                const Steps band = cheapest_steps(costs, most, of_class);
                for (std::size_t in_band = 1; in_band < band.size(); ++in_band) {
                    for (std::size_t k = in_band; k <= most; ++k) {
                        const double cost = best[i][k - in_band].cost + band[in_band].cost;
                        if (cost < best[j][k].cost) {
                            best[j][k] = {cost, best[i][k - in_band].parts};
                            best[j][k].parts.push_back({columns[j - 1].cols, band[in_band].parts});
                        }
                    }
                }
            }
        }
    }
    std::vector<TrafficLadder> out;
    for (Bands& ladder : best.back()) {
        if (ladder.cost < unreachable && (out.empty() || ladder.cost < out.back().us_per_token)) {
            out.push_back({{std::move(ladder.parts)}, ladder.cost});
        }
    }
    return out;
}

const TrafficLadder& worthwhile(const std::vector<TrafficLadder>& ladders, double best_us_per_token) {
    constexpr double worth_a_step = 0.001;
    return *std::find_if(ladders.begin(), ladders.end(), [&](const TrafficLadder& ladder) {
        return ladder.us_per_token - ladders.back().us_per_token <= worth_a_step * best_us_per_token;
    });
}

}  // namespace normtune
