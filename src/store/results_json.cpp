#include "store/results_json.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "space/shard.h"
#include "store/run_folder.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/utf8.h"
#include "trial/record_json.h"
#include "trial/record_reader.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr std::size_t most_results_bytes = std::size_t{1} << 32;

json words_json(const std::vector<std::string>& words) {
    json out = json::array();
    for (const std::string& word : words) {
        out.push_back(to_utf8(word));
    }
    return out;
}

json to_json(const SweepIdentity& sweep) {
    return {{"digest", sweep.digest},
            {"space", sweep.space},
            {"problems", sweep.problems},
            {"shards", sweep.shards},
            {"present", sweep.present}};
}

json to_json(const MergedRun& run) {
    return {{"environment", to_json(run.environment)}, {"command", words_json(run.command)}};
}

SweepIdentity read_sweep_identity(const JsonReader& in) {
    SweepIdentity sweep{
        in.at("digest").text(), in.at("space").text(), in.at("problems").natural(), in.at("shards").integer(1, most_shards), {}};
    const JsonReader present = in.at("present");
    for (std::size_t i = 0; i < present.size(); ++i) {
        sweep.present.push_back(present.element(i).integer(1, sweep.shards));
    }
    return sweep;
}

template <typename T>
std::string one_a_line(const std::vector<T>& values) {
    std::string out = "[";
    for (const T& value : values) {
        out += out.size() == 1 ? "\n" : ",\n";
        out += to_json(value).dump();
    }
    return out + "\n]";
}

}  // namespace

void check_schema_version(const JsonReader& document) {
    const JsonReader version = document.at("schema_version");
    if (const std::int64_t number = version.whole(1); number > schema_version) {
        version.fail(fmt::format("{} was written by a newer normtune; this one reads up to {}: update it", number, schema_version));
    }
}

/// A record a line: the file can be searched and compared line by line, and is never in memory twice as a document.
void write_results_json(const Results& results, const std::string& path) {
    std::string out = fmt::format("{{\n\"schema_version\": {},\n\"environment\": {},\n\"command\": {},\n", schema_version,
                                  to_json(results.environment).dump(), words_json(results.command).dump());
    if (results.sweep) {
        out += fmt::format("\"selection\": {},\n", to_json(*results.sweep).dump());
    }
    if (!results.merged.empty()) {
        out += fmt::format("\"merged\": {},\n", one_a_line(results.merged));
    }
    out += fmt::format("\"plans\": {},\n\"records\": {}\n}}\n", one_a_line(results.plans), one_a_line(results.records));
    write_file_atomically(path, out);
}

void write_result_files(const Results& results, const std::string& folder) {
    const std::filesystem::path path(folder);
    write_results_csv(results, (path / "results.csv").string());
    write_results_json(results, (path / "results.json").string());
    write_liger_csv(results, (path / "liger.csv").string());
}

Results read_results_json(const std::string& path) {
    require_results(path);
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(path, ignored);
    const std::string file = folder ? (std::filesystem::path(path) / "results.json").string() : path;
    if (std::filesystem::path(file).extension() == ".csv") {
        throw InputError(
            fmt::format("{}: is CSV, which does not say all of the run; give its results.json, or the folder of the run", file));
    }
    return parse_results_json(read_file(file, most_results_bytes), file);
}

Results parse_results_json(std::string_view text, const std::string& file) {
    const json document = parse_json(text, file);
    const std::string root = file + ": ";
    const JsonReader in(document, root);
    check_schema_version(in);
    Results results;
    results.environment = read_environment(in.at("environment"));
    results.command = in.at("command").texts();
    if (const std::optional<JsonReader> sweep = in.find("selection")) {
        results.sweep = read_sweep_identity(*sweep);
    }
    if (const std::optional<JsonReader> merged = in.find("merged")) {
        for (std::size_t i = 0; i < merged->size(); ++i) {
            const JsonReader run = merged->element(i);
            results.merged.push_back({read_environment(run.at("environment")), run.at("command").texts()});
        }
    }
    const JsonReader plans = in.at("plans");
    for (std::size_t i = 0; i < plans.size(); ++i) {
        results.plans.push_back(read_plan_summary(plans.element(i)));
    }
    const JsonReader records = in.at("records");
    results.records.reserve(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        results.records.push_back(read_record(records.element(i)));
    }
    return results;
}

}  // namespace normtune
