// A results file as comparing needs it: a compact row a trial, and every name once. Read from results.json,
// results.csv, liger.csv, Liger-Kernel's own benchmark CSV, and the JSON array that its scripts print.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/results.h"
#include "support/string_interner.h"
#include "trial/record.h"

namespace normtune {

inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
inline constexpr float no_time = std::numeric_limits<float>::quiet_NaN();

/// What was computed, in words: a problem of normtune's, or another benchmark's kernel.
struct RowProblem {
    TextId key = 0;              // Problem::key(), or whatever identifies it
    TextId key_any_casting = 0;  // the same without the casting; equal to `key` where there is none
    TextId op = 0;
    TextId mode = 0;
    TextId dtype = 0;
    TextId casting = 0;
    TextId model = 0;  // joined by ';'
    TextId site = 0;
    std::int64_t rows = 0;  // 0: not known
    std::int64_t cols = 0;
};

/// What has to be alike for two times to be compared. A text is empty, and `cold` unknown, where the file lacks it.
struct RowOrigin {
    enum class Cold : std::uint8_t { unknown, hot, cold };
    TextId device = 0;
    TextId driver = 0;
    TextId timer = 0;
    Cold cold = Cold::unknown;
    TextId arch = 0;
    friend bool operator==(const RowOrigin&, const RowOrigin&) = default;
};

struct ResultRow {
    std::uint32_t problem = 0;  // in ResultRows::problems
    std::uint32_t origin = 0;   // in ResultRows::origins
    TextId configuration = 0;   // candidate's identity; the provider of Liger's rows
    TextId reason = 0;          // of an outcome other than passed
    std::uint32_t first_round = 0;
    std::uint16_t rounds = 0;        // whose medians are known, in ResultRows::rounds_us from first_round
    std::uint16_t finals = 0;        // the finalists' fresh rounds, behind them
    std::uint16_t rounds_taken = 0;  // known by number alone where `rounds` is 0; 0: not known
    std::uint16_t rank = 0;
    std::uint32_t line = 0;  // in the file; 0: none
    Outcome outcome = Outcome::passed;
    bool tied : 1 = false;       // not significantly slower than the winner
    bool dropped : 1 = false;    // by a race, after few rounds: its time tells that it is no winner, and no more
    std::uint8_t copy = 0;       // digest of which copy limit_us is of; 0: not told
    std::uint16_t process = 0;   // which of the processes that measured the same, from 0
    std::uint64_t code = 0;      // digest of its machine code's hash, grid and shared memory; 0: not told
    std::int64_t timestamp = 0;  // its digits, yyyymmddhhmmss; 0: none
    double p50_us = no_value;    // NaN: not measured
    double memory_mib = no_value;
    float p20_us = no_time;
    float p80_us = no_time;
    float limit_us = no_time;  // p50 of the copy in the same rounds
    float floor_us = no_time;  // of an empty launch
};
static_assert(sizeof(ResultRow) == 88, "of two million trials it is most of what a comparison holds");

enum class ResultFormat { results_json, results_csv, liger_csv, liger_json };
inline constexpr NameTable<ResultFormat, 4> result_format_names{{"results.json", "results.csv", "Liger-Kernel CSV", "Liger-Kernel JSON"}};

/// Problems of a run whose times it took from the store of winners. results.json alone tells.
struct StoredRows {
    std::uint64_t problems = 0;
    std::string oldest_day;  // of their measurements: "2026-11-20"
};

/// What measured, and of how many compute units it was. results.json alone tells.
struct RowDevice {
    std::string name;
    int compute_units = 0;
    friend bool operator==(const RowDevice&, const RowDevice&) = default;
};

struct ResultRows {
    std::string name;  // of the file, for messages and reports
    ResultFormat format = ResultFormat::results_json;
    std::vector<ResultRow> rows;
    std::vector<RowProblem> problems;
    std::vector<RowOrigin> origins;
    std::vector<double> rounds_us;
    StoredRows stored;
    std::vector<RowDevice> devices;  // each once
    StringInterner texts;

    std::span<const double> rounds_of(const ResultRow& row) const { return {rounds_us.data() + row.first_round, row.rounds}; }
    std::span<const double> finals_of(const ResultRow& row) const { return {rounds_us.data() + row.first_round + row.rounds, row.finals}; }
    std::string_view text(TextId id) const { return texts[id]; }
    const RowProblem& problem_of(const ResultRow& row) const { return problems[row.problem]; }
    const RowOrigin& origin_of(const ResultRow& row) const { return origins[row.origin]; }
};

/// Rows of a run that is in memory.
ResultRows rows_of(const Results& results, std::string name);
/// Of runs of one selection, one at least, each a process of its own.
ResultRows rows_of_runs(std::span<const Results> runs, std::string name);

/// Where a device measured both, but other parts of it each (cores, an instance of a GPU): one line that says so. Empty: no such device.
std::string other_part_of_device(const ResultRows& a, const ResultRows& b);

/// The same time, but for the digits that a CSV has; both may be NaN.
bool same_us(double a, double b);

/// Reads a file of any of the formats, told by its contents; a folder stands for its results.json, or results.csv, and one that has
/// neither for the results (files, and folders of runs) in it, each a process of its own; two files of one run are refused.
/// All but what Liger prints is streamed. Throws InputError "file:line: …".
ResultRows read_result_rows(const std::string& path);
/// The same of text in memory.
ResultRows parse_result_rows(std::string_view text, const std::string& name);

}  // namespace normtune
