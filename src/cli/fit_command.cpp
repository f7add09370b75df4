#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/device_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/restriction_options.h"
#include "cli/result_options.h"
#include "cli/table_options.h"
#include "devices/registry.h"
#include "judge/fit.h"
#include "report/export/fit_code.h"
#include "report/fit_report.h"
#include "run/remeasure.h"
#include "space/reproducibility.h"

namespace normtune::cli {
namespace {

constexpr double most_tolerance = 1000;

class FitCommand : public Command {
public:
    void declare(OptionSet& options) override {
        files_.declare(options);
        options.group("The ladder");
        options.one("--tolerance", percent(0, most_tolerance, tolerance_),
                    "The most that it may lose on a shape it is fitted to (default: 2%)");
        options.one("--most-steps", whole_number(1, 1'000'000, most_steps_),
                    "At most so many steps; where that is too few for the tolerance, the best that can be reached");
        options.list("--axes", axis(),
                     "What a step decides, by the names of docs/spaces.md; the others are at their measured best on "
                     "each shape (default: all)");
        options.list("--op", name_of(op_names, settings_.ops), "Only these ops");
        options.list("--mode", name_of(mode_names, settings_.modes), "Only these modes");
        options.group("Traffic");
        options.one("--traffic", file(traffic_),
                    "The ladder that loses the least expected time over these batches, within the tolerance: a CSV with the columns "
                    "tokens and count, as shapes --from-log writes it");
        options.list("--model", text("PATTERN", settings_.models),
                     "The traffic is that of these models; * and ? match as in a shell (default: of each model in the results)");
        declare_restriction(options, settings_.restriction);
        options.group("How it is judged");
        options.one("--hold-out", hold_out(),
                    "Shapes that it is not fitted to, and judged on: 4 (one in four), 4:1 (from the first on), "
                    "MODEL/SITE with * and ?, or none (default: 4; with --traffic none)");
        options.many("--heuristic", heuristic(settings_.rivals), "A rule of thumb of your own beside the named ones; may be repeated");
        options.group("Measuring");
        options.flag("--measure", "Measure again, on this device, what a race dropped after few rounds and a ladder rests on", measure_);
        device_.declare(options);
        options.flag("--quiet", "No progress", quiet_);
        table_.declare(options, {"cpp", "python"}, "json: schemas/fit.schema.json; cpp, python: code from rows and columns to the launch");
        options.example(fmt::format("normtune fit {} --mode forward", example_run));
        options.example("normtune fit qwen3.json llama3.json --hold-out 'Llama-3.1-70B/*' --tolerance 3%");
        options.example(fmt::format("normtune fit {} --measure --format cpp", example_run));
        options.example(fmt::format("normtune fit {} --batch-invariant --tolerance 5%", example_run));
        options.example("normtune fit results.json --axes rows_per_program --mode backward");
        options.example("normtune fit results.json --traffic tokens.csv --model Qwen3-8B --most-steps 4");
        options.example("normtune fit results.json --traffic tokens.csv --batch-invariant --tolerance 10%");
        options.example("normtune fit results.json --hold-out none --format cpp > launch.h");
    }

    ExitCode run(const std::vector<std::string>&) override {
        device_.require_only_with("--measure", measure_);
        const bool code = table_.is("json") || table_.is("cpp") || table_.is("python");
        if (code) {
            table_.require_no_order();
        }
        if (!settings_.models.empty() && traffic_.empty()) {
            throw InputError("--model says whose the traffic is; add --traffic tokens.csv");
        }
        if (!traffic_.empty()) {
            settings_.traffic = read_token_counts(traffic_);
        }
        settings_.hold_out = hold_out_.value_or(HoldOut::parse(traffic_.empty() ? "4" : "none"));
        settings_.tolerance = tolerance_ / 100;
        settings_.most_steps = static_cast<std::size_t>(most_steps_);
        if (!axes_.empty()) {
            settings_.decided = in_order(axes_);
            require_axes_of_even();
        }
        const std::vector<std::vector<Results>> devices = by_device(files_.read());
        if (devices.size() > 1) {
            const DeviceInfo& one = devices[0].front().environment.device;
            const DeviceInfo& other = devices[1].front().environment.device;
            throw InputError(one.name == other.name
                                 ? fmt::format("these results are of {} with {} compute units and with {}; fit one at a time",
                                               quoted_for_message(one.name), one.compute_units, other.compute_units)
                                 : fmt::format("these results are of several devices ({} and {}); fit one at a time",
                                               quoted_for_message(one.name), quoted_for_message(other.name)));
        }
        const std::vector<Results>& runs = devices.front();
        require_cluster_of_even(runs);
        require_axes_of_rows(runs.front().environment.device.backend);
        const BackendTraits traits = backend_traits(runs.front().environment.device.backend);
        Fits fits = fitted(runs, traits);
        if (measure_) {
            if (!code) {
                (void)table_.text(fit_sections(fits.fits));  // a wrong --sort is told ahead
            }
            judge_measuring(runs, device_.wish(), {"normtune", "fit", "--measure"}, progress_on_stderr(quiet_),
                            [&](std::span<const Results> fresh) {
                                fits = fit(runs, settings_, traits, fresh);
                                return wanted_again(fits);
                            });
        }
        if (code) {
            print_data(table_.is("json") ? fit_json(fits.fits) : table_.is("cpp") ? fit_cpp(fits.fits) : fit_python(fits.fits));
        } else {
            table_.show(fit_sections(fits.fits));
        }
        return report_unreached(fits.fits);
    }

private:
    Fits fitted(const std::vector<Results>& runs, const BackendTraits& traits) const {
        const Notice notice("fitting");
        return fit(runs, settings_, traits);
    }

    Value axis() {
        Value value = name_of(axis_names, axes_);
        value.placeholder = "AXIS";  // there are too many to list
        return value;
    }

    Value hold_out() {
        return {"WHICH", {}, Completion::none, [this](const std::string& word) { hold_out_ = HoldOut::parse(word); }};
    }

    bool decides(Axis axis) const { return std::ranges::find(settings_.decided, axis) != settings_.decided.end(); }

    /// A step of bare `even` would be illegal at the next N.
    void require_axes_of_even() const {
        for (const Axis axis : axes_of_even) {
            require_beside_reduction(axis);
        }
    }

    void require_beside_reduction(Axis axis) const {
        if (decides(Axis::reduction) && !decides(axis)) {
            throw InputError(fmt::format("--axes: reduction needs the axes that say where even holds beside it; {} is not among them",
                                         axis_names.name(axis)));
        }
    }

    /// Programs of a cluster share a row's columns: where some were measured, they say as well where `even` holds.
    void require_cluster_of_even(const std::vector<Results>& runs) const {
        const auto asked = [](const auto& wanted, auto one) { return wanted.empty() || std::ranges::find(wanted, one) != wanted.end(); };
        const auto in_cluster = [&](const Record& record) {
            const Configuration* const own = record.candidate.configuration();
            const Operation& of = record.problem.operation;
            return own != nullptr && own->cluster > 1 && record.measurement && asked(settings_.ops, of.op) &&
                   asked(settings_.modes, of.mode);
        };
        if (std::ranges::any_of(runs, [&](const Results& run) { return std::ranges::any_of(run.records, in_cluster); })) {
            require_beside_reduction(Axis::cluster);
        }
    }

    void require_axes_of_rows(Backend backend) const {
        if (!settings_.restriction.batch_invariant) {
            return;
        }
        for (const Axis axis : axes_of_rows(backend)) {
            if (!decides(axis)) {
                throw InputError(fmt::format("--batch-invariant needs steps that decide what a row's bits depend on; --axes lacks {}",
                                             axis_names.name(axis)));
            }
        }
    }

    /// In the order of Axis, whatever the order of the words.
    static std::vector<Axis> in_order(std::vector<Axis> axes) {
        std::sort(axes.begin(), axes.end());
        return axes;
    }

    static ExitCode report_unreached(const std::vector<Fit>& fits) {
        ExitCode code = ExitCode::good;
        for (const Fit& one : fits) {
            if (!one.within) {
                complain(fmt::format("{}: {}", one.operation, fit_title(one)));
                code = ExitCode::inconclusive;
            }
        }
        return code;
    }

    RecordFiles files_;
    bool measure_ = false;
    DeviceOptions device_;
    bool quiet_ = false;
    FitSettings settings_;
    std::optional<HoldOut> hold_out_;
    std::string traffic_;
    double tolerance_ = 2;
    std::int64_t most_steps_ = 0;
    std::vector<Axis> axes_;
    TableOptions table_;
};

}  // namespace

std::unique_ptr<Command> make_fit_command() {
    return std::make_unique<FitCommand>();
}

}  // namespace normtune::cli
