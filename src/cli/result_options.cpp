#include "cli/result_options.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>

#include <fmt/format.h>

#include "cli/output.h"
#include "devices/registry.h"
#include "store/results_stream.h"
#include "support/escape.h"

namespace normtune::cli {
namespace {

constexpr std::int64_t most_compute_units = 1 << 16;

/// Rules and heuristics read the device: a CSV has its architecture alone, the rest is that of a well-known one.
void describe_device(Results& run, const std::string& file, const std::optional<std::int64_t>& compute_units) {
    DeviceInfo& device = run.environment.device;
    const std::vector<std::string> known = known_architectures();
    if (std::find(known.begin(), known.end(), device.arch) == known.end()) {
        throw InputError(
            fmt::format("{}: a CSV does not describe its device, and {} is no architecture that is known "
                        "by itself; give the results.json of the run",
                        file, quoted_for_message(device.arch)));
    }
    DeviceInfo described = describe_architecture(device.arch);
    described.name = device.name;
    described.driver = device.driver;
    if (compute_units) {
        described.compute_units = static_cast<int>(*compute_units);
    } else {
        complain(
            fmt::format("{}: a CSV does not describe its device; {} compute units are taken, as {} usually has "
                        "(--compute-units says otherwise)",
                        file, described.compute_units, device.arch));
    }
    device = described;
}

constexpr std::array<std::string_view, 4> run_files{"results.json", "results.csv", "liger.csv", "journal.jsonl"};

bool is_csv(const std::string& file) {
    return file.ends_with(".csv");
}

}  // namespace

Notice::Notice(const std::string& text) {
    if (is_terminal(stderr)) {
        const std::string line = "\r\033[K" + for_terminal(text) + " …";
        std::fwrite(line.data(), 1, line.size(), stderr);
        std::fflush(stderr);
    }
}

Notice::~Notice() {
    if (is_terminal(stderr)) {
        std::fputs("\r\033[K", stderr);
        std::fflush(stderr);
    }
}

void RecordFiles::declare(OptionSet& options) {
    options.many("RESULTS", file(files_), "results.json or results.csv files, or run folders (of which results.json is read)");
    options.one("--compute-units", whole_number(1, most_compute_units, compute_units_),
                "Of the device of results.csv files, which do not say it");
}

bool RecordFiles::any_csv() const {
    return std::any_of(files_.begin(), files_.end(), is_csv);
}

std::vector<Results> RecordFiles::read() const {
    return read_by(read_judged_results);
}

std::vector<Results> RecordFiles::read(const std::function<void(Record&)>& keep) const {
    return read_by([&](const std::string& file) { return read_results_json(file, keep); });
}

std::vector<Results> RecordFiles::read_by(const std::function<Results(const std::string&)>& read_json) const {
    if (files_.empty()) {
        throw InputError("no results are named; give results.json or results.csv files, or run folders");
    }
    if (compute_units_ && !any_csv()) {
        throw InputError("--compute-units is for results.csv files, which do not say it; these do");
    }
    std::vector<Results> runs;
    for (const std::string& file : files_) {
        const bool csv = is_csv(file);
        {
            const Notice notice("reading " + file);
            runs.push_back(csv ? read_results_csv(file) : read_json(file));
        }
        require_each_trial_once(runs.back().records, file);
        if (csv) {
            describe_device(runs.back(), file, compute_units_);
        }
    }
    return runs;
}

void require_not_a_result(const std::string& out, std::span<const std::string> inputs, std::string_view what) {
    const auto same = [&](const std::filesystem::path& file) {
        std::error_code ignored;
        return std::filesystem::equivalent(file, out, ignored);
    };
    for (const std::string& input : inputs) {
        const std::filesystem::path path(input);
        if (same(path) || std::ranges::any_of(run_files, [&](std::string_view name) { return same(path / name); })) {
            throw InputError(fmt::format("{}: is a result, which the {} would take the place of; give another file", out, what));
        }
    }
}

std::vector<std::vector<Results>> by_device(std::vector<Results> runs) {
    std::vector<std::vector<Results>> out;
    for (Results& run : runs) {
        require_one_device(run);
        const DeviceInfo& device = run.environment.device;
        const auto found = std::find_if(out.begin(), out.end(), [&](const std::vector<Results>& group) {
            const DeviceInfo& other = group.front().environment.device;  // a part of a device, fewer cores, is another one
            return other.name == device.name && other.compute_units == device.compute_units;
        });
        (found == out.end() ? out.emplace_back() : *found).push_back(std::move(run));
    }
    return out;
}

Value heuristic(std::vector<ThumbRule>& target) {
    return {"NAME=EXPRESSION", {}, Completion::none, [&target](const std::string& word) {
                ThumbRule own = ThumbRule::parse(word);
                if (std::any_of(target.begin(), target.end(), [&](const ThumbRule& other) { return other.name() == own.name(); })) {
                    throw InputError(fmt::format("'{}' is there already; take another name", own.name()));
                }
                target.push_back(std::move(own));
            }};
}

void declare_matching(OptionSet& options, CompareSettings& settings) {
    options.group("Matching");
    options.one("--by", name_of(match_by_names, settings.by),
                "config: each configuration with itself\nbest: each side's winner of a problem (default: config)");
    options.list("--across", name_of(facet_names, settings.across), "What may differ; without it such results are refused");
}

std::pair<ResultRows, ResultRows> read_both_sides(const std::string& baseline, const std::string& candidate) {
    std::future<ResultRows> after = std::async(std::launch::async | std::launch::deferred, [&] { return read_result_rows(candidate); });
    ResultRows before = read_result_rows(baseline);
    std::pair sides{std::move(before), after.get()};
    if (const std::string parts = other_part_of_device(sides.first, sides.second); !parts.empty()) {
        complain(parts);
    }
    return sides;
}

}  // namespace normtune::cli
