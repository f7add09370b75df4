#include "store/results.h"

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/results_fields.h"
#include "store/results_stream.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/text_sink.h"

namespace normtune {
namespace {

using nlohmann::json;

/// Writes the text of a results.json. A list of objects has a line each: the file can be searched and compared line by line, and is
/// never in memory as a whole.
class LineWriter {
public:
    LineWriter(TextSink& out, const EachRecord& each) : out_(out), each_(each) {}

    void version() { begin("schema_version") += std::to_string(schema_version); }
    template <typename T>
    void operator()(std::string_view name, const T& value, std::string_view, const FieldTraits& = {}) {
        json object = json::object();
        JsonWriter writer(object);
        writer(name, value, "");
        if (!object.empty()) {
            begin(name) += object.begin()->dump();
        }
    }
    template <Described T>
    void operator()(std::string_view name, const std::vector<T>& values, std::string_view, const FieldTraits& traits = {}) {
        if (values.empty() && traits.omit_empty) {
            return;
        }
        begin(name) += "[";
        bool first = true;
        const auto write = [&](const T& value) {
            out_ += std::exchange(first, false) ? "\n" : ",\n";
            out_ += to_json(value).dump();
        };
        if constexpr (std::same_as<T, Record>) {
            each_(write);
        } else {
            std::for_each(values.begin(), values.end(), write);
        }
        out_ += "\n]";
    }

private:
    TextSink& begin(std::string_view name) {
        out_ += fmt::format("{}\"{}\": ", first_ ? "{\n" : ",\n", name);
        first_ = false;
        return out_;
    }

    TextSink& out_;
    const EachRecord& each_;
    bool first_ = true;
};

}  // namespace

void write_results_json(const Results& head, const EachRecord& each, const std::string& path) {
    write_file_atomically(path, [&](TextSink& out) {
        LineWriter writer(out, each);
        describe(writer, head);
        out += "\n}\n";
    });
}

void write_results_json(const Results& results, const std::string& path) {
    write_results_json(
        results, [&](const TakeRecord& take) { std::ranges::for_each(results.records, take); }, path);
}

void write_result_files(const Results& results, const std::string& folder) {
    const std::filesystem::path path(folder);
    write_results_csv(results, (path / "results.csv").string());
    write_results_json(results, (path / "results.json").string());
    write_liger_csv(results, (path / "liger.csv").string());
}

bool of_two_versions(const Results& results) {
    return results.command.size() > 1 && results.command[1] == "ab";
}

void require_one_device(const Results& results) {
    const auto differs = [&](const Record& record) { return record.device != results.records.front().device; };
    if (const auto other = std::ranges::find_if(results.records, differs); other != results.records.end()) {
        throw InputError(fmt::format("these results are merged of several devices ({} and {}); take the parts of one",
                                     quoted_for_message(results.records.front().device), quoted_for_message(other->device)));
    }
}

void require_each_trial_once(std::span<const Record> records, const std::string& file) {
    std::unordered_set<std::string> seen;
    for (const Record& record : records) {
        if (!seen.insert(record.trial_key()).second) {
            throw InputError(fmt::format("{}: has the trial {} twice: the file is damaged", file, record.trial_key()));
        }
    }
}

}  // namespace normtune
