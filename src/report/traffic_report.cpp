#include "report/traffic_report.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "report/json_document.h"
#include "support/plural.h"

namespace normtune {
namespace {

using nlohmann::json;

double batches(const TokenCounts& counts) {
    return std::accumulate(counts.batches.begin(), counts.batches.end(), 0.0,
                           [](double sum, const auto& one) { return sum + static_cast<double>(one.second); });
}

double tokens(const TokenCounts& counts) {
    return std::accumulate(counts.batches.begin(), counts.batches.end(), 0.0, [](double sum, const auto& one) {
        return sum + static_cast<double>(one.first) * static_cast<double>(one.second);
    });
}

/// "97%"; "<1%" and ">99%" where that is not all or nothing.
std::string share_text(double share) {
    constexpr double least = 0.005;
    return share > 0 && share < least                             ? "<1%"
           : share < 1 && share >= 1 - least && share < 1 - 1e-12 ? ">99%"
                                                                  : fmt::format("{:.0f}%", share * 100);
}

std::string time_text(double us, double judged) {
    return judged > 0 ? fmt::format("{:.4g}", us) : "-";
}

Section launchers(const Fit& fit) {
    const TrafficFit& traffic = *fit.traffic;
    const auto all_batches = static_cast<std::uint64_t>(batches(traffic.counts));
    const auto all_tokens = static_cast<std::uint64_t>(tokens(traffic.counts));
    Section section{fmt::format("Expected time over {}: {} {}, {} {}", traffic.counts.file, grouped(all_batches),
                                plural(all_batches, "batch", "batches"), grouped(all_tokens), plural(all_tokens, "token")),
                    Table("launcher|>judged|>us/token|>best|>loss|>ladder's"), ""};
    const ExpectedTime& own = traffic.ladder;
    section.table.add({"this ladder", share_text(own.judged), time_text(own.us_per_token, own.judged),
                       time_text(own.best_us_per_token, own.judged), own.judged > 0 ? expected_loss_text(traffic) : "-", ""});
    for (const TrafficRule& rule : traffic.rules) {
        const ExpectedTime& time = rule.time;
        const bool judged = time.judged > 0;
        section.table.add({rule.name, share_text(time.judged), time_text(time.us_per_token, time.judged),
                           time_text(time.best_us_per_token, time.judged), judged ? loss_text(time.loss()) : "-",
                           judged ? loss_text(time.ladder_loss()) : "-"});
    }
    section.note =
        "us/token: one launch of each site for each batch, over all tokens of the batches that are within what was measured. best: each "
        "shape's measured winner. judged: the "
        "share of the best's time where the launcher, and this ladder, have a measured configuration; the line's other figures are over "
        "that, ladder's (this ladder's loss) as well. What a rule of thumb leaves open is at its best. ±: half of the 95% interval, of "
        "measuring alone.\n";
    return section;
}

Section sites(const TrafficFit& traffic) {
    Section section{"By site", Table("site|>N|>rows a token|>us/token|>loss|>worst|>at tokens"), ""};
    for (const SiteTraffic& of : traffic.sites) {
        const bool judged = of.ladder.judged > 0;
        section.table.add({of.site.name(), fmt::format("{}", of.site.cols), fmt::format("{}", of.site.rows_per_token),
                           time_text(of.ladder.us_per_token, of.ladder.judged), judged ? loss_text(of.ladder.loss()) : "-",
                           judged ? loss_text(of.worst) : "-", judged ? fmt::format("{}", of.worst_tokens) : "-"});
    }
    const double measured = traffic.share(&SiteTraffic::measured);
    const double between = traffic.share(&SiteTraffic::between);
    const double outside = traffic.share(&SiteTraffic::below) + traffic.share(&SiteTraffic::above);
    section.note =
        fmt::format("{} of the batches have a token count that was measured. ", share_text(measured)) +
        (between > 0 ? fmt::format("{} lie between two: their times are interpolated, linear in tokens. ", share_text(between)) : "") +
        (outside > 0 ? fmt::format("{} lie below or above all that was measured and are left out, with {} of the tokens. ",
                                   share_text(outside), share_text(traffic.tokens_left_out()))
                     : "");
    section.note.back() = '\n';
    if (traffic.check.points > 0) {
        section.note += fmt::format(
            "Left out and interpolated from its neighbours, a measured token count is off by {} in the mean, {} at "
            "worst ({}).\n",
            loss_text(traffic.check.mean), loss_text(traffic.check.worst), traffic.check.worst_on);
    } else if (between > 0) {
        section.note += "How far off that is cannot be said: no token count was measured between two others.\n";
    }
    if (!traffic.uncovered.empty()) {
        section.note += fmt::format("No batch lies within what was measured of: {}.\n", fmt::join(traffic.uncovered, ", "));
    }
    if (!traffic.measure_next.empty()) {
        section.note +=
            fmt::format("Measured as well, these would replace the most of it: --tokens {}.\n", fmt::join(traffic.measure_next, ","));
    }
    return section;
}

std::string by_steps(const TrafficFit& traffic) {
    std::string out;
    for (const LossBySteps& at : traffic.by_steps) {
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", at.steps, loss_text(at.loss));
    }
    return fmt::format("Least expected loss by steps: {}.\n", out);
}

json time_json(const ExpectedTime& time) {
    const bool judged = time.judged > 0;
    return {{"judged", time.judged},
            {"us_per_token", json_if(judged, time.us_per_token)},
            {"best_us_per_token", json_if(judged, time.best_us_per_token)},
            {"loss", json_if(judged, judged ? time.loss() : 0)},
            {"ladder_loss", json_if(judged, judged ? time.ladder_loss() : 0)}};
}

}  // namespace

std::string expected_loss_text(const TrafficFit& traffic) {
    return loss_text(LossEstimate{traffic.ladder.loss(), traffic.half_width});
}

std::vector<Section> traffic_sections(const Fit& fit) {
    std::vector<Section> out{launchers(fit), sites(*fit.traffic)};
    if (!fit.traffic->by_steps.empty()) {
        out.back().note += by_steps(*fit.traffic);
    }
    return out;
}

json traffic_json(const TrafficFit& traffic) {
    json ladder = time_json(traffic.ladder);
    ladder.erase("ladder_loss");
    ladder["half_width"] = json_if(std::isfinite(traffic.half_width), traffic.half_width);
    return {{"file", traffic.counts.file},
            {"batches", batches(traffic.counts)},
            {"tokens", tokens(traffic.counts)},
            {"measured", traffic.share(&SiteTraffic::measured)},
            {"between", traffic.share(&SiteTraffic::between)},
            {"outside", traffic.share(&SiteTraffic::below) + traffic.share(&SiteTraffic::above)},
            {"ladder", std::move(ladder)},
            {"rules", json_list(traffic.rules,
                                [](const TrafficRule& rule) {
                                    json out = time_json(rule.time);
                                    out["name"] = rule.name;
                                    return out;
                                })},
            {"sites", json_list(traffic.sites,
                                [](const SiteTraffic& of) {
                                    const bool judged = of.ladder.judged > 0;
                                    return json{
                                        {"model", of.site.model},
                                        {"site", of.site.site},
                                        {"cols", of.site.cols},
                                        {"rows_per_token", of.site.rows_per_token},
                                        {"batches",
                                         {{"measured", of.measured}, {"between", of.between}, {"below", of.below}, {"above", of.above}}},
                                        {"us_per_token", json_if(judged, of.ladder.us_per_token)},
                                        {"loss", json_if(judged, judged ? of.ladder.loss() : 0)},
                                        {"worst_loss", json_if(judged, of.worst)},
                                        {"worst_tokens", json_if(judged, of.worst_tokens)}};
                                })},
            {"by_steps", json_list(traffic.by_steps,
                                   [](const LossBySteps& at) {
                                       return json{{"steps", at.steps}, {"loss", at.loss}};
                                   })},
            {"interpolation",
             {{"points", traffic.check.points},
              {"mean_error", json_if(traffic.check.points > 0, traffic.check.mean)},
              {"worst_error", json_if(traffic.check.points > 0, traffic.check.worst)}}},
            {"uncovered", traffic.uncovered},
            {"measure_next", traffic.measure_next}};
}

}  // namespace normtune
