#include "store/result_rows.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_set>

#include <fmt/format.h>

#include "store/result_readers.h"
#include "store/results_json.h"
#include "store/row_builder.h"
#include "store/run_folder.h"
#include "support/atomic_file.h"
#include "support/error.h"

namespace normtune {
namespace {

constexpr std::size_t most_json_bytes = std::size_t{1} << 30;
constexpr std::size_t least_unthrottled = 4;

void check_time(const ResultRows& rows, const Record& record, double us) {
    if (!(us > 0 && us <= longest_us)) {
        throw InputError(
            fmt::format("{}: {}: a time of {} us; above 0 and at most {} belongs there", rows.name, record.trial_key(), us, longest_us));
    }
}

void add_rounds(ResultRows& rows, ResultRow& row, const Record& record) {
    const std::vector<Round>& all = record.measurement->rounds;
    const auto good = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Round& round) { return !round.throttled; }));
    const bool drop_throttled = good >= least_unthrottled;
    row.first_round = static_cast<std::uint32_t>(rows.rounds_us.size());
    for (const Round& round : all) {
        if (!(drop_throttled && round.throttled)) {
            check_time(rows, record, round.median_us);
            rows.rounds_us.push_back(round.median_us);
        }
    }
    row.rounds = static_cast<std::uint16_t>(std::min<std::size_t>(rows.rounds_us.size() - row.first_round, UINT16_MAX));
    row.first_final = static_cast<std::uint32_t>(rows.rounds_us.size());
    for (const double us : record.measurement->final_rounds_us) {
        check_time(rows, record, us);
        rows.rounds_us.push_back(us);
    }
    row.finals = static_cast<std::uint16_t>(std::min<std::size_t>(rows.rounds_us.size() - row.first_final, UINT16_MAX));
}

double positive_or_none(double value) {
    return value > 0 && std::isfinite(value) ? value : no_value;
}

void add_measurement(ResultRows& rows, ResultRow& row, const Record& record) {
    const Measurement& measured = *record.measurement;
    check_time(rows, record, measured.p50_us);
    add_rounds(rows, row, record);
    row.rounds_taken = row.rounds;
    row.tied = measured.tied;
    row.rank = static_cast<std::uint16_t>(std::clamp(measured.rank, 0, static_cast<int>(UINT16_MAX)));
    row.dropped = measured.stop_reason == StopReason::dropped;
    row.p20_us = positive_or_none(measured.p20_us);
    row.p50_us = measured.p50_us;
    row.p80_us = positive_or_none(measured.p80_us);
    row.limit_us = positive_or_none(measured.limit_us);
    row.memory_mib = static_cast<double>(measured.memory_bytes) / (1024.0 * 1024.0);
}

bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// The first character that tells the format; 0 where there is none.
char first_character(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.remove_prefix(3);
    }
    const auto found = std::find_if_not(text.begin(), text.end(), blank);
    return found == text.end() ? '\0' : *found;
}

std::string_view without_mark(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.remove_prefix(3);
    }
    return text;
}

/// What Liger's scripts print begins with a banner of asterisks, unless the array alone was kept.
bool json_begins_with(char c) {
    return c == '{' || c == '[' || c == '*';
}

ResultRows parse_json_rows(std::string_view text, const std::string& name) {
    text = without_mark(text);
    return first_character(text) == '{' ? rows_of(parse_results_json(text, name), name) : read_liger_json_rows(text, name);
}

ResultRows read_csv_rows(ByteSource& source, const std::string& name) {
    CsvReader reader(source, name);
    if (!reader.next()) {
        throw InputError(fmt::format("{}: is empty; a results file is needed", name));
    }
    const CsvColumns columns(reader);
    if (columns.has("kernel_provider")) {
        return read_liger_csv_rows(reader, columns);
    }
    if (columns.has("config") && columns.has("p50_us")) {
        return read_results_csv_rows(reader, columns);
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

std::string file_of(const std::string& path) {
    require_results(path);
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
        return path;
    }
    const std::filesystem::path folder(path);
    for (const char* const name : {"results.json", "results.csv"}) {
        if (std::filesystem::exists(folder / name, ignored)) {
            return (folder / name).string();
        }
    }
    throw InputError(fmt::format("{}: the folder holds neither results.json nor results.csv", path));
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

}  // namespace

ResultRows rows_of(const Results& results, std::string name) {
    RowBuilder builder(std::move(name), ResultFormat::results_json);
    ResultRows& rows = builder.rows();
    rows.stored = stored_of(results);
    rows.rows.reserve(results.records.size());
    for (const Record& record : results.records) {
        ResultRow row;
        row.problem = builder.problem(record.problem);
        row.configuration = builder.text(record.candidate.identity());
        row.outcome = record.outcome;
        row.reason = builder.shown(record.reason);
        row.timestamp = timestamp_number(record.timestamp);
        RowOrigin origin{builder.shown(record.device), builder.shown(results.environment.device.driver), 0, RowOrigin::Cold::unknown,
                         builder.shown(record.arch)};
        if (record.measurement && record.outcome == Outcome::passed) {
            add_measurement(rows, row, record);
            origin.timer = builder.shown(record.measurement->timer);
            origin.cold = record.measurement->cold ? RowOrigin::Cold::cold : RowOrigin::Cold::hot;
        }
        row.origin = builder.origin(origin);
        rows.rows.push_back(row);
    }
    return builder.take();
}

ResultRows read_result_rows(const std::string& path) {
    const std::string file = file_of(path);
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
