#include "store/results.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/results_fields.h"
#include "store/run_folder.h"
#include "support/atomic_file.h"
#include "support/error.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr std::size_t most_results_bytes = std::size_t{1} << 32;

/// The text of a results.json. A list of objects has a line each: the file can be searched and compared line by line, and is
/// never in memory twice as a document.
class LineWriter {
public:
    std::string text = "{\n";

    void version() { member("schema_version", std::to_string(schema_version)); }
    template <typename T>
    void operator()(std::string_view name, const T& value, std::string_view, const FieldTraits& = {}) {
        json object = json::object();
        JsonWriter writer(object);
        writer(name, value, "");
        if (!object.empty()) {
            member(name, object.begin()->dump());
        }
    }
    template <Described T>
    void operator()(std::string_view name, const std::vector<T>& values, std::string_view, const FieldTraits& traits = {}) {
        std::string lines;
        for (const T& value : values) {
            lines += lines.empty() ? "\n" : ",\n";
            lines += to_json(value).dump();
        }
        if (!values.empty() || !traits.omit_empty) {
            member(name, '[' + lines + "\n]");
        }
    }

private:
    void member(std::string_view name, const std::string& value) {
        text += fmt::format("{}\"{}\": {}", text.size() > 2 ? ",\n" : "", name, value);
    }
};

}  // namespace

void write_results_json(const Results& results, const std::string& path) {
    LineWriter writer;
    describe(writer, results);
    write_file_atomically(path, writer.text + "\n}\n");
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
    return from_json<Results>(JsonReader(document, root));
}

}  // namespace normtune
