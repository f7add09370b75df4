#include "store/result_rows.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include <fmt/format.h>

#include "store/csv_trials.h"
#include "store/liger_rows.h"
#include "store/row_builder.h"
#include "store/run_folder.h"
#include "support/atomic_file.h"
#include "support/error.h"

namespace normtune {
namespace {

constexpr std::size_t most_json_bytes = std::size_t{1} << 30;

std::string_view without_mark(std::string_view text) {
    return text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
}

/// The first character that tells the format; 0 where there is none.
char first_character(std::string_view text) {
    text = without_mark(text);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos ? '\0' : text[first];
}

/// What Liger's scripts print begins with a banner of asterisks, unless the array alone was kept.
bool json_begins_with(char c) {
    return c == '{' || c == '[' || c == '*';
}

void add_results(RowBuilder& builder, const Results& results, std::uint16_t process = 0);

/// False: it is none of normtune's.
bool add_results_csv(RowBuilder& builder, CsvReader& reader, const CsvColumns& columns, std::uint16_t process = 0) {
    if (!columns.has("config") || !columns.has("p50_us")) {
        return false;
    }
    CsvTrials trials(reader, columns, CsvTrials::Which::compared);
    while (trials.next()) {
        builder.add(trials.record(), trials.candidate(), trials.run().device.driver, trials.knows_cold(), reader.line());
        builder.rows().rows.back().process = process;
    }
    return true;
}

ResultRows parse_json_rows(std::string_view text, const std::string& name) {
    text = without_mark(text);
    return first_character(text) == '{' ? rows_of(parse_results_json(text, name), name) : read_liger_json_rows(text, name);
}

ResultRows read_csv_rows(ByteSource& source, const std::string& name) {
    CsvReader reader(source, name);
    const CsvColumns columns(reader);
    if (columns.has("kernel_provider")) {
        return read_liger_csv_rows(reader, columns);
    }
    if (RowBuilder builder(name, ResultFormat::results_csv); add_results_csv(builder, reader, columns)) {
        return builder.take();
    }
    reader.fail("is neither results.json nor results.csv, nor Liger-Kernel's CSV or JSON: no header with a known column");
}

/// What was read ahead to tell the format, then the rest.
class Resumed : public ByteSource {
public:
    Resumed(std::string_view ahead, ByteSource& rest) : ahead_(ahead), rest_(rest) {}
    std::size_t read(char* into, std::size_t most) override {
        if (const std::size_t got = ahead_.read(into, most); got > 0) {
            return got;
        }
        return rest_.read(into, most);
    }

private:
    MemorySource ahead_;
    ByteSource& rest_;
};

/// The results of a run's folder; empty where there are none.
std::string results_in(const std::filesystem::path& folder) {
    std::error_code ignored;
    for (const char* const name : {"results.json", "results.csv"}) {
        if (std::filesystem::exists(folder / name, ignored)) {
            return (folder / name).string();
        }
    }
    return {};
}

/// What a path stands for: one file, or those of several runs, by name.
std::vector<std::string> files_of(const std::string& path) {
    require_results(path);
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
        return {path};
    }
    std::vector<std::string> files{results_in(path)};
    if (!files.front().empty()) {
        return files;
    }
    files.clear();
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(path, ignored)) {
        const std::string name = entry.path().filename().string();
        const std::string file = entry.is_directory(ignored)                         ? results_in(entry.path())
                                 : name.ends_with(".json") || name.ends_with(".csv") ? entry.path().string()
                                                                                     : std::string();
        if (!file.empty()) {
            files.push_back(file);
        }
    }
    if (files.empty()) {
        throw InputError(fmt::format("{}: the folder holds neither results.json nor results.csv, nor runs that do", path));
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string read_all(ByteSource& source, const std::string& name) {
    std::string text;
    std::string block(std::size_t{1} << 18, '\0');
    while (const std::size_t got = source.read(block.data(), block.size())) {
        if (text.size() + got > most_json_bytes) {
            throw InputError(
                fmt::format("{}: is larger than {} bytes, the most that is read of JSON; compare its "
                            "results.csv",
                            name, most_json_bytes));
        }
        text.append(block, 0, got);
    }
    return text;
}

StoredRows stored_of(const Results& results) {
    std::unordered_set<std::string> keys;
    for (const PlanSummary& plan : results.plans) {
        if (plan.stored()) {
            keys.insert(plan.problem_key);
        }
    }
    StoredRows stored{keys.size(), {}};
    for (const Record& record : results.records) {
        constexpr std::size_t day_length = 10;
        const std::string day = record.timestamp.substr(0, day_length);
        if (!keys.empty() && keys.contains(record.problem.key()) && (stored.oldest_day.empty() || day < stored.oldest_day)) {
            stored.oldest_day = day;
        }
    }
    return stored;
}

void add_results(RowBuilder& builder, const Results& results, std::uint16_t process) {
    const StoredRows stored = stored_of(results);
    StoredRows& all = builder.rows().stored;
    all.problems += stored.problems;
    if (all.oldest_day.empty() || (!stored.oldest_day.empty() && stored.oldest_day < all.oldest_day)) {
        all.oldest_day = stored.oldest_day;
    }
    builder.rows().rows.reserve(builder.rows().rows.size() + results.records.size());
    for (const Record& record : results.records) {
        builder.add(record, record.candidate.identity(), results.environment.device.driver);
        builder.rows().rows.back().process = process;
    }
}

/// Several runs, each a process.
ResultRows read_runs(const std::string& path, const std::vector<std::string>& files) {
    RowBuilder builder(path, ResultFormat::results_json);
    std::uint16_t process = 0;
    for (const std::string& file : files) {
        const std::unique_ptr<ByteSource> source = open_source(file);
        if (file.ends_with(".json")) {
            add_results(builder, parse_results_json(read_all(*source, file), file), process);
        } else {
            CsvReader reader(*source, file);
            const CsvColumns columns(reader);
            if (!add_results_csv(builder, reader, columns, process)) {
                reader.fail("is no results.csv of normtune; the runs of a folder are");
            }
            builder.rows().format = ResultFormat::results_csv;
        }
        ++process;
    }
    return builder.take();
}

}  // namespace

ResultRows rows_of(const Results& results, std::string name) {
    return rows_of_runs({&results, 1}, std::move(name));
}

ResultRows rows_of_runs(std::span<const Results> runs, std::string name) {
    RowBuilder builder(std::move(name), ResultFormat::results_json);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        add_results(builder, runs[i], static_cast<std::uint16_t>(i));
    }
    return builder.take();
}

ResultRows read_result_rows(const std::string& path) {
    const std::vector<std::string> files = files_of(path);
    if (files.size() > 1) {
        return read_runs(path, files);
    }
    const std::string& file = files.front();
    const std::unique_ptr<ByteSource> source = open_source(file);
    std::string ahead(4096, '\0');
    ahead.resize(source->read(ahead.data(), ahead.size()));
    Resumed resumed(ahead, *source);
    if (json_begins_with(first_character(ahead))) {
        return parse_json_rows(read_all(resumed, file), file);
    }
    return read_csv_rows(resumed, file);
}

ResultRows parse_result_rows(std::string_view text, const std::string& name) {
    if (json_begins_with(first_character(text))) {
        return parse_json_rows(text, name);
    }
    MemorySource source(text);
    return read_csv_rows(source, name);
}

}  // namespace normtune
