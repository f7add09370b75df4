#include "report/fit_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/traffic_report.h"

namespace normtune {
namespace {

std::string shape_text(const ShapeLosses& shape) {
    return fmt::format("{}x{}", shape.rows, shape.cols);
}

std::string percent(double share) {
    return fmt::format("{:.4g}%", share * 100);
}

std::string joined(const std::vector<Axis>& axes) {
    std::string out;
    for (const Axis axis : axes) {
        out += fmt::format("{}{}", out.empty() ? "" : ", ", axis_names.name(axis));
    }
    return out;
}

/// Losses on the shapes that a step serves.
ShapeSummary served_by(const Fit& fit, std::size_t band, std::size_t step) {
    const auto above = [](const auto& list, std::size_t i, auto member) { return i == 0 ? std::int64_t{0} : list[i - 1].*member; };
    const std::vector<Ladder::Band>& bands = fit.ladder->bands;
    const std::vector<Ladder::Step>& steps = bands[band].steps;
    ShapeSummary out;
    for (const ShapeLosses& shape : fit.fitted.shapes) {
        const bool in_band = shape.cols > above(bands, band, &Ladder::Band::cols_to) && shape.cols <= bands[band].cols_to;
        const bool in_step =
            shape.rows > above(steps, step, &Ladder::Step::rows_to) && (shape.rows <= steps[step].rows_to || step + 1 == steps.size());
        if (in_band && in_step) {
            out.add(shape, shape.estimate(steps[step].prescription));
        }
    }
    return out;
}

Section steps(const Fit& fit) {
    Section section{fmt::format("{} on {}: {}", fit.operation, fit.device.name, fit_title(fit)),
                    Table(fmt::format(">N to|>M to|{}|>shapes|>mean loss|>worst",
                                      fit.fitted.decided.size() == axis_count ? "configuration" : "decides")),
                    ""};
    if (!fit.ladder) {
        return section;
    }
    const std::vector<Ladder::Band>& bands = fit.ladder->bands;
    for (std::size_t b = 0; b < bands.size(); ++b) {
        for (std::size_t s = 0; s < bands[b].steps.size(); ++s) {
            const Ladder::Step& step = bands[b].steps[s];
            const ShapeSummary served = served_by(fit, b, s);
            const auto to = [](std::int64_t bound, std::size_t index, std::size_t of) {
                return of == 1 ? "any" : index + 1 == of ? "more" : fmt::format("{}", bound);
            };
            section.table.add({to(bands[b].cols_to, b, bands.size()), to(step.rows_to, s, bands[b].steps.size()),
                               fit.fitted.prescriptions[step.prescription].text(fit.fitted.decided), fmt::format("{}", served.places),
                               loss_text(served.mean), loss_text(served.worst)});
        }
    }
    section.note = fmt::format("Fitted to N up to {}; beyond that, and between the shapes, nothing was measured.\n", bands.back().cols_to);
    if (fit.dropped > 0) {
        section.note += fmt::format(
            "On {} of the shapes its configuration was dropped by a race after few rounds: --measure measures it again.\n", fit.dropped);
    }
    return section;
}

std::string in_the_way(const Fit& fit) {
    std::string out;
    for (const ShapeLosses* shape : fit.in_the_way) {
        const double loss = ladder_loss(fit.ladder, *shape);
        out += fmt::format("{}{}{}", out.empty() ? "" : ", ", shape_text(*shape),
                           loss == not_measured ? "" : fmt::format(" ({})", loss_text(loss)));
    }
    return out.empty() ? "" : fmt::format("In the way: {}.\n", out);
}

/// Of a ladder that is restricted: what each problem pays.
Section prices(const Fit& fit) {
    Section section{"The price by shape", Table("problem|configuration|>price|bits"), ""};
    for (const ShapeLosses& shape : fit.fitted.shapes) {
        for (const ProblemRanking* ranking : shape.rankings) {
            const Standing* taken = chosen_on(fit, *ranking);
            section.table.add({ranking->problem().key(), taken != nullptr ? taken->record->candidate.identity() : "none",
                               taken != nullptr ? loss_text(*taken) : "-",
                               taken == nullptr      ? ""
                               : taken->record->bits ? "compared"
                                                     : "by source"});
        }
    }
    section.note = "price: the loss against the best of all that were measured, an estimate with half of its 95% interval.\n";
    for (const std::int64_t cols : fit.differ_at) {
        section.note += fmt::format("N {}: the bits that were compared differ between M, although the class is one.\n", cols);
    }
    return section;
}

Section losses(const Fit& fit) {
    Section section{"Loss against the measured best", Table("shapes|>judged|>mean loss|>worst|on"), in_the_way(fit)};
    const auto add = [&](std::string name, const ShapeSummary& summary) {
        section.table.add({std::move(name), judged_text(summary), mean_text(summary), worst_text(summary),
                           summary.worst > 0 ? shape_text(*summary.worst_on) : ""});
    };
    add("fitted", fit.on_fitted);
    if (!fit.held_out.shapes.empty()) {
        add("held out", fit.on_held_out);
        if (fit.ladder && fit.on_held_out.judged < fit.on_held_out.places) {
            section.note += "Not judged: the configuration that the ladder takes was not measured there.\n";
        }
    }
    return section;
}

/// Without its interval: the table is wide.
std::string most_text(const ShapeSummary& summary) {
    return summary.judged == 0 ? "-" : loss_text(summary.worst);
}

Section rivals(const Fit& fit) {
    const bool held_out = !fit.held_out.shapes.empty();
    Section section{fmt::format("Beside rules of thumb, on the {} shapes", held_out ? "held-out" : "fitted"),
                    Table("rule|decides|>obeyed on|>judged|>its mean|>worst|>same axes: steps|>mean|>worst|>this ladder: mean|>worst"),
                    "same axes: a ladder fitted within the same tolerance that decides the axes that the rule decides. "
                    "What the rule and that ladder leave open is at its measured best on every shape; this ladder "
                    "leaves open what it does not decide. judged: shapes where all three have a measured "
                    "configuration.\n"};
    const std::size_t shapes = held_out ? fit.held_out.shapes.size() : fit.fitted.shapes.size();
    for (const Rival& rival : fit.rivals) {
        section.table.add({rival.name, joined(rival.decides), fmt::format("{}/{}", rival.obeyed, shapes),
                           fmt::format("{}/{}", rival.rule.judged, shapes), mean_text(rival.rule), most_text(rival.rule),
                           rival.ladder_steps ? fmt::format("{}", *rival.ladder_steps) : "none", mean_text(rival.same_axes),
                           most_text(rival.same_axes), mean_text(rival.ladder), most_text(rival.ladder)});
    }
    return section;
}

std::string other_tolerances(const Fit& fit) {
    std::string out;
    for (const StepsAt& at : fit.steps_at) {
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", percent(at.tolerance), at.steps ? fmt::format("{}", *at.steps) : "none");
    }
    return fmt::format("Steps by tolerance: {}; shapes fitted: {}.\n", out, fit.fitted.shapes.size());
}

}  // namespace

std::string fit_title(const Fit& fit) {
    if (!fit.ladder && fit.steps_needed) {
        return fmt::format("no ladder of so few steps: what was measured on all shapes of a step makes one of {} steps and more",
                           *fit.steps_needed);
    }
    if (!fit.ladder && fit.none_admitted) {
        return fmt::format("no ladder: on {} shape{} nothing that was measured is admitted", fit.in_the_way.size(),
                           fit.in_the_way.size() == 1 ? "" : "s");
    }
    if (!fit.ladder) {
        return fmt::format("no ladder: on some shapes nothing that a step could say was measured on all their problems");
    }
    if (!fit.differ_at.empty()) {
        return fmt::format("no ladder to rely on: of the {} steps rows differ in bits on N {}", fit.ladder->steps(),
                           fmt::join(fit.differ_at, ", "));
    }
    const std::string steps = fmt::format("{} step{}", fit.ladder->steps(), fit.ladder->steps() == 1 ? "" : "s");
    return fit.within ? fmt::format("{} within {}", steps, percent(fit.tolerance))
                      : fmt::format("nothing within {}; the best that can be reached, {}, loses up to {}", percent(fit.tolerance), steps,
                                    loss_text(fit.on_fitted.worst));
}

std::string summary_text(const ShapeSummary& summary) {
    return summary.judged == 0 ? fmt::format("none of {} shapes judged", summary.places)
                               : fmt::format("mean {}, worst {} ({} of {} shapes judged)", mean_text(summary), worst_text(summary),
                                             summary.judged, summary.places);
}

std::vector<Section> fit_sections(std::span<const Fit> fits) {
    Section summary{"Ladders", Table("op and mode|ladder|>mean loss|>worst loss|>held-out mean|>held-out worst"), ""};
    const bool traffic = !fits.empty() && fits.front().traffic;
    if (traffic) {
        summary.table.add_column("expected loss", Align::right);
    }
    for (const Fit& fit : fits) {
        std::vector<std::string> cells{fit.operation,
                                       fit_title(fit),
                                       mean_text(fit.on_fitted),
                                       worst_text(fit.on_fitted),
                                       mean_text(fit.on_held_out),
                                       worst_text(fit.on_held_out)};
        if (traffic) {
            cells.push_back(fit.traffic->ladder.judged > 0 ? expected_loss_text(*fit.traffic) : "-");
        }
        summary.table.add(std::move(cells), fit.within ? Tone::good : Tone::unsure);
    }
    std::vector<Section> out{std::move(summary)};
    for (const Fit& fit : fits) {
        out.push_back(steps(fit));
        if (fit.traffic) {
            std::vector<Section> over = traffic_sections(fit);
            std::move(over.begin(), over.end(), std::back_inserter(out));
        }
        out.push_back(losses(fit));
        if (fit.restriction.any()) {
            out.push_back(prices(fit));
        }
        if (!fit.rivals.empty()) {
            out.push_back(rivals(fit));
        }
        out.back().note += other_tolerances(fit);
    }
    return out;
}

}  // namespace normtune
