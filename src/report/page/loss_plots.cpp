#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "measure/statistics.h"
#include "report/page/run_plots.h"
#include "report/sections.h"

namespace normtune {
namespace {

/// What one row of a panel lost, by problem.
struct NamedLosses {
    std::string name;
    std::vector<std::pair<std::string, double>> by_problem;  // keys
    std::vector<double> values() const {
        std::vector<double> out;
        for (const auto& [problem, loss] : by_problem) {
            out.push_back(loss);
        }
        return out;
    }
};

/// A column a row of the panel; quantiles first, then each problem's.
Numbers loss_numbers(const std::vector<NamedLosses>& rows) {
    constexpr std::size_t most_problems = 300;
    Numbers out;
    out.headings = {"problem"};
    std::vector<std::string> problems;
    std::map<std::string, std::map<std::string, double>> loss_of;
    for (const NamedLosses& row : rows) {
        out.headings.push_back(">" + row.name);
        for (const auto& [problem, loss] : row.by_problem) {
            if (loss_of.try_emplace(problem).second) {
                problems.push_back(problem);
            }
            loss_of[problem][row.name] = loss;
        }
    }
    const auto line = [&](const std::string& heading, const std::function<std::string(const NamedLosses&)>& cell) {
        std::vector<std::string> cells{heading};
        for (const NamedLosses& row : rows) {
            cells.push_back(cell(row));
        }
        out.lines.push_back(std::move(cells));
    };
    line("problems", [](const NamedLosses& row) { return fmt::format("{}", row.by_problem.size()); });
    line("without loss", [](const NamedLosses& row) {
        return fmt::format("{}",
                           std::count_if(row.by_problem.begin(), row.by_problem.end(), [](const auto& one) { return one.second <= 0; }));
    });
    for (const auto& [name, q] :
         {std::pair{"quarter", 0.25}, std::pair{"median", 0.5}, std::pair{"three quarters", 0.75}, std::pair{"worst", 1.0}}) {
        line(name, [share = q](const NamedLosses& row) { return loss_text(quantile(row.values(), share)); });
    }
    if (problems.size() > most_problems) {
        out.lines.push_back({fmt::format("({} problems are too many to be listed here)", problems.size())});
        out.lines.back().resize(out.headings.size());
    } else {
        for (const std::string& problem : problems) {
            line(problem, [&](const NamedLosses& row) {
                const auto found = loss_of[problem].find(row.name);
                return found == loss_of[problem].end() ? "-" : loss_text(found->second);
            });
        }
    }
    return out;
}

Panel loss_panel(std::string group, std::string title, const std::vector<NamedLosses>& rows) {
    Panel panel;
    panel.group = std::move(group);
    panel.title = std::move(title);
    PlotSeries quartiles{"quartiles and median", 0, PlotSeries::Draw::boxes, {}};
    PlotSeries problems{"a problem", 1, PlotSeries::Draw::cloud, {}};
    double worst = 0;
    for (const NamedLosses& row : rows) {
        const auto place = static_cast<double>(panel.rows.size());
        panel.rows.push_back(row.name);
        const std::vector<double> values = row.values();
        quartiles.marks.push_back({quantile(values, 0.5), place, quantile(values, 0.25), quantile(values, 0.75)});
        for (const double loss : values) {
            problems.marks.push_back({loss, place});
            worst = std::max(worst, loss);
        }
    }
    panel.x = {"loss (linear to 1%, logarithmic beyond)", Scale::loss(worst)};
    panel.series = {std::move(quartiles), std::move(problems)};
    panel.numbers = loss_numbers(rows);
    return panel;
}

std::string group_of(std::string_view op, std::string_view mode) {
    return fmt::format("{} {}", op, mode);
}

/// A tunable of more values is no choice that a plot of its values shows.
constexpr std::size_t most_values = 60;

/// How much an axis matters: the greatest median loss of its values.
double weight(const Panel& panel) {
    double out = 0;
    for (const Mark& mark : panel.series.front().marks) {
        out = std::max(out, mark.x);
    }
    return out;
}

/// Rows of `name(i)` with the loss of `loss(problem, i)`, a panel an op and mode.
template <typename Name, typename Loss>
void add_audit_panels(Plot& plot, const Audit& audit, std::size_t count, const Name& name, const Loss& loss) {
    std::map<std::pair<Op, Mode>, std::vector<NamedLosses>> groups;
    for (const ProblemAudit& problem : audit.problems) {
        const Operation& operation = problem.ranking->problem().operation;
        std::vector<NamedLosses>& rows = groups[{operation.op, operation.mode}];
        rows.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            rows[i].name = name(i);
            if (const Standing* standing = loss(problem, i); standing != nullptr) {
                rows[i].by_problem.emplace_back(problem.ranking->problem().key(), standing->loss());
            }
        }
    }
    for (auto& [key, rows] : groups) {
        std::erase_if(rows, [](const NamedLosses& row) { return row.by_problem.empty(); });
        if (!rows.empty()) {
            plot.panels.push_back(loss_panel("", group_of(op_names.name(key.first), mode_names.name(key.second)), rows));
        }
    }
}

}  // namespace

Plot axes_plot(const RunView& run) {
    Plot plot{
        "axes",
        "What each value of an axis costs",
        "The fastest measured candidate with the value against the provider's fastest on the same problem; all other axes are at their "
        "best for it. A dot is a problem, a box spans the quartiles, its line is the median. The axes that matter most come first; those "
        "of which one value was measured, or more than 60, are left out.",
        {}};
    std::map<std::pair<std::string, std::string>, std::vector<Panel>> groups;  // by provider, and op and mode
    for (const AxisEffect& effect : run.axes) {
        std::map<std::pair<std::string, std::string>, std::vector<NamedLosses>> rows;
        for (const AxisValueEffect& value : effect.values) {
            NamedLosses& losses = rows[{value.provider, group_of(value.op, value.mode)}].emplace_back();
            losses.name = value.value;
            for (const AxisValueEffect::Loss& one : value.losses) {
                losses.by_problem.emplace_back(effect.problems[one.problem], one.loss);
            }
        }
        for (const auto& [key, values] : rows) {
            if (values.size() > 1 && values.size() <= most_values) {
                const std::string group = key.first == own_provider ? key.second : key.first + ": " + key.second;
                groups[key].push_back(loss_panel(group, effect.axis, values));
            }
        }
    }
    for (auto& [key, panels] : groups) {
        std::stable_sort(panels.begin(), panels.end(), [](const Panel& a, const Panel& b) { return weight(a) > weight(b); });
        std::move(panels.begin(), panels.end(), std::back_inserter(plot.panels));
    }
    return plot;
}

Plot heuristics_plot(const RunView& run) {
    Plot plot{
        "heuristics",
        "What named heuristics lose",
        "The fastest measured configuration of normtune's that obeys the heuristic against normtune's fastest of the problem. What the "
        "heuristic leaves open is at its best on every problem, so a launcher loses this much or more. A dot is a problem, a box spans the "
        "quartiles, its line is the median.",
        {}};
    if (run.audit) {
        add_audit_panels(
            plot, *run.audit, run.audit->heuristics.size(), [&](std::size_t i) { return run.audit->heuristics[i].name(); },
            [](const ProblemAudit& problem, std::size_t i) { return problem.heuristics[i].best; });
    }
    return plot;
}

Plot rules_plot(const RunView& run) {
    Plot plot{"rules",
              "What prune rules lose",
              "Of rules that would have taken configurations that were measured: the fastest configuration that the rule leaves against "
              "normtune's fastest of the problem; less, if what it leaves was not all measured. A dot is a problem where that can be "
              "judged, a box spans "
              "the quartiles, its line is the median.",
              {}};
    if (run.audit) {
        add_audit_panels(
            plot, *run.audit, run.audit->rules.size(), [&](std::size_t i) { return run.audit->rules[i].name; },
            [](const ProblemAudit& problem, std::size_t i) {
                return problem.rules[i].finding == RuleFinding::judged ? problem.rules[i].best_kept : nullptr;
            });
    }
    return plot;
}

}  // namespace normtune
