#include "store/result_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "store/csv_trials.h"
#include "store/liger_rows.h"
#include "store/results_stream.h"
#include "store/row_builder.h"
#include "store/run_folder.h"
#include "support/atomic_file.h"
#include "support/error.h"

namespace normtune {
namespace {

constexpr std::size_t most_json_bytes = std::size_t{1} << 27;  // a document takes about eight times its text

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

ResultRows read_csv_rows(ByteSource& source, const std::string& name) {
    CsvReader reader(source, name);
    const CsvColumns columns(reader);
    if (columns.has("kernel_provider")) {
        return read_liger_csv_rows(reader, columns);
    }
    if (columns.has("config") && columns.has("p50_us")) {
        CsvTrials trials(reader, columns, CsvTrials::Which::compared);
        RowBuilder builder(name, ResultFormat::results_csv);
        while (trials.next()) {
            builder.add(trials.record(), trials.candidate(), trials.run().device.driver, trials.knows_cold(), reader.line());
        }
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
        if (is_temporary_name(name)) {
            continue;  // of a command that was killed, or is under way
        }
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
            throw InputError(fmt::format("{}: is larger than {} bytes, the most that is read of JSON that Liger-Kernel's scripts print",
                                         name, most_json_bytes));
        }
        text.append(block, 0, got);
    }
    return text;
}

void add_device(std::vector<RowDevice>& devices, RowDevice device) {
    if (std::ranges::find(devices, device) == devices.end()) {
        devices.push_back(std::move(device));
    }
}

/// Ascending.
std::vector<int> units_of(const ResultRows& rows, const std::string& device) {
    std::vector<int> units;
    for (const RowDevice& one : rows.devices) {
        if (one.name == device) {
            units.push_back(one.compute_units);
        }
    }
    std::ranges::sort(units);
    return units;
}

/// What the run says of all rows: the driver, the device, and which problems' times it took from the store.
ResultRows finished(RowBuilder& builder, const Results& results) {
    builder.set_driver(results.environment.device.driver);
    ResultRows rows = builder.take();
    const auto measured_on = [&](const DeviceInfo& device) { add_device(rows.devices, {device.name, device.compute_units}); };
    for (const MergedRun& run : results.merged) {
        measured_on(run.environment.device);
    }
    if (results.merged.empty()) {
        measured_on(results.environment.device);
    }
    std::unordered_set<std::string_view> keys;
    for (const PlanSummary& plan : results.plans) {
        if (plan.stored()) {
            keys.insert(plan.problem_key);
        }
    }
    rows.stored.problems = keys.size();
    std::int64_t oldest = 0;
    for (const ResultRow& row : rows.rows) {
        if (!keys.empty() && row.timestamp > 0 && (oldest == 0 || row.timestamp < oldest) &&
            keys.contains(rows.text(rows.problem_of(row).key))) {
            oldest = row.timestamp;
        }
    }
    if (oldest > 0) {
        constexpr std::int64_t a_day = 1'000'000;  // hhmmss
        const std::int64_t day = oldest / a_day;
        rows.stored.oldest_day = fmt::format("{:04}-{:02}-{:02}", day / 10000, day / 100 % 100, day % 100);
    }
    return rows;
}

void add(RowBuilder& builder, const Record& record) {
    builder.add(record, record.candidate.identity(), "");
}

ResultRows read_json_rows(char first, ByteSource& source, const std::string& name) {
    if (first != '{') {
        const std::string text = read_all(source, name);
        return read_liger_json_rows(without_mark(text), name);
    }
    RowBuilder builder(name, ResultFormat::results_json);
    const Results results = stream_results_json(
        source, name, [&](const Record& record, const ListElement&) { add(builder, record); }, RecordParts::judged);
    return finished(builder, results);
}

/// The rows of a run of the same selection behind those that are there, as of processes of its own.
void append(ResultRows& into, const ResultRows& more) {
    const auto last = std::ranges::max_element(into.rows, {}, &ResultRow::process);
    const int first = last == into.rows.end() ? 0 : last->process + 1;
    std::vector<TextId> texts(more.texts.size());
    for (std::size_t id = 0; id < texts.size(); ++id) {
        texts[id] = into.texts.intern(more.texts[static_cast<TextId>(id)]);
    }
    std::unordered_map<TextId, std::uint32_t> known;  // problems by their key
    for (std::size_t i = 0; i < into.problems.size(); ++i) {
        known.emplace(into.problems[i].key, static_cast<std::uint32_t>(i));
    }
    std::vector<std::uint32_t> problems;
    for (RowProblem problem : more.problems) {
        for (TextId RowProblem::*const member : {&RowProblem::key, &RowProblem::key_any_casting, &RowProblem::op, &RowProblem::mode,
                                                 &RowProblem::dtype, &RowProblem::casting, &RowProblem::model, &RowProblem::site}) {
            problem.*member = texts[problem.*member];
        }
        const auto [place, added] = known.try_emplace(problem.key, static_cast<std::uint32_t>(into.problems.size()));
        if (added) {
            into.problems.push_back(problem);
        }
        problems.push_back(place->second);
    }
    const auto origins = static_cast<std::uint32_t>(into.origins.size());
    for (RowOrigin origin : more.origins) {
        for (TextId RowOrigin::*const member : {&RowOrigin::device, &RowOrigin::driver, &RowOrigin::timer, &RowOrigin::arch}) {
            origin.*member = texts[origin.*member];
        }
        into.origins.push_back(origin);
    }
    const auto rounds = static_cast<std::uint32_t>(into.rounds_us.size());
    for (ResultRow row : more.rows) {
        row.problem = problems[row.problem];
        row.origin += origins;
        row.configuration = texts[row.configuration];
        row.reason = texts[row.reason];
        row.first_round += rounds;
        row.process = static_cast<std::uint16_t>(first + row.process);
        into.rows.push_back(row);
    }
    into.rounds_us.insert(into.rounds_us.end(), more.rounds_us.begin(), more.rounds_us.end());
    for (const RowDevice& device : more.devices) {
        add_device(into.devices, device);
    }
    into.stored.problems += more.stored.problems;
    if (into.stored.oldest_day.empty() || (!more.stored.oldest_day.empty() && more.stored.oldest_day < into.stored.oldest_day)) {
        into.stored.oldest_day = more.stored.oldest_day;
    }
}

/// When the trials of a file were measured, and what they took, as any other file of the same run has it.
class TimesOfRun {
public:
    TimesOfRun(std::string file, const ResultRows& rows) : file_(std::move(file)), stored_(rows.stored.problems > 0) {
        for (const ResultRow& row : rows.rows) {
            if (row.process == 0 && !std::isnan(row.p50_us)) {  // a CSV has no times of further processes
                const std::hash<std::string_view> hash;
                const std::array<std::size_t, 3> names{hash(rows.text(rows.problem_of(row).key)),
                                                       hash(rows.text(rows.origin_of(row).device)), hash(rows.text(row.configuration))};
                trials_[(names[0] * 31 + names[1]) * 31 + names[2]] = {row.timestamp, {double{row.p20_us}, row.p50_us, double{row.p80_us}}};
            }
        }
    }

    const std::string& file() const { return file_; }
    bool stored() const { return stored_; }

    /// No two runs take each trial in the same second and in the same time.
    bool same_run(const TimesOfRun& other) const {
        bool any = false;
        for (const auto& [trial, taken] : trials_) {
            if (const auto found = other.trials_.find(trial); found != other.trials_.end()) {
                if (!taken.same(found->second)) {
                    return false;
                }
                any = true;
            }
        }
        return any;
    }

private:
    struct Taken {
        std::int64_t timestamp = 0;
        std::array<double, 3> us{};

        bool same(const Taken& other) const { return timestamp == other.timestamp && std::ranges::equal(us, other.us, same_us); }
    };
    std::string file_;
    bool stored_;                                    // some of them, from the store of winners
    std::unordered_map<std::size_t, Taken> trials_;  // by a hash of problem, device and configuration
};

ResultRows read_rows_file(const std::string& file) {
    const std::unique_ptr<ByteSource> source = open_source(file);
    std::string ahead(4096, '\0');
    ahead.resize(source->read(ahead.data(), ahead.size()));
    Resumed resumed(ahead, *source);
    const char first = first_character(ahead);
    return json_begins_with(first) ? read_json_rows(first, resumed, file) : read_csv_rows(resumed, file);
}

}  // namespace

ResultRows rows_of_runs(std::span<const Results> runs, std::string name) {
    ResultRows rows = rows_of(runs.front(), std::move(name));
    for (std::size_t i = 1; i < runs.size(); ++i) {
        append(rows, rows_of(runs[i], {}));
    }
    return rows;
}

ResultRows rows_of(const Results& results, std::string name) {
    RowBuilder builder(std::move(name), ResultFormat::results_json);
    builder.rows().rows.reserve(results.records.size());
    for (const Record& record : results.records) {
        add(builder, record);
    }
    return finished(builder, results);
}

bool same_us(double a, double b) {
    constexpr double least_us = 1e-4;
    constexpr double digits = 1e-6;
    return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= least_us + digits * a;
}

std::string other_part_of_device(const ResultRows& a, const ResultRows& b) {
    for (const RowDevice& device : a.devices) {
        const std::vector<int> there = units_of(a, device.name);
        const std::vector<int> here = units_of(b, device.name);
        if (!here.empty() && there != here) {
            return fmt::format(
                "{} was measured on {} compute unit{} of {}, {} on {}: a part of a device is another device, and times differ for that "
                "alone",
                a.name, fmt::join(there, ", "), there == std::vector{1} ? "" : "s", quoted_for_message(device.name), b.name,
                fmt::join(here, ", "));
        }
    }
    return {};
}

ResultRows read_result_rows(const std::string& path) {
    const std::vector<std::string> files = files_of(path);
    ResultRows rows = read_rows_file(files.front());
    if (files.size() == 1) {
        return rows;
    }
    std::vector<TimesOfRun> runs{{files.front(), rows}};
    for (std::size_t i = 1; i < files.size(); ++i) {
        const ResultRows more = read_rows_file(files[i]);
        runs.emplace_back(files[i], more);
        const auto twice =
            std::ranges::find_if(runs.begin(), runs.end() - 1, [&](const TimesOfRun& it) { return it.same_run(runs.back()); });
        if (twice != runs.end() - 1) {
            const bool stored = twice->stored() || runs.back().stored();
            throw InputError(fmt::format(
                "{}: {} and {} have the times of one run, which is one process and no two; {}", path, twice->file(), files[i],
                stored ? "what came from the store of winners, normtune sweep --fresh measures" : "leave one of the files out"));
        }
        append(rows, more);
        rows.name = path;
    }
    return rows;
}

ResultRows parse_result_rows(std::string_view text, const std::string& name) {
    MemorySource source(text);
    const char first = first_character(text);
    return json_begins_with(first) ? read_json_rows(first, source, name) : read_csv_rows(source, name);
}

}  // namespace normtune
