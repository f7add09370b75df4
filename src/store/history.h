// A user's database of results over time: what each run measured of each trial (docs/history.md). One SQLite file that any number of
// processes share, beside the store of winners, which forgets what has passed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/sqlite.h"
#include "trial/record.h"

namespace normtune {

/// A run on one device: a night, mostly. A text is empty where it is not known.
struct HistoryRun {
    std::string started;  // UTC
    std::string backend;
    std::string device;
    std::string arch;
    std::string device_id;  // the UUID, else what else tells devices of one name apart
    bool has_uuid = false;  // device_id is the UUID
    std::string driver;
    std::string compiler;
    std::string revision;
    std::string source;            // the file that it was read from
    bool driver_is_label = false;  // as the caller named it, not the file: takes the place of what a history has
    bool compiler_is_label = false;
    bool revision_is_label = false;
};

/// What is followed from run to run.
struct HistoryTrial {
    std::string problem;  // its key, or another benchmark's name
    std::string provider;
    std::string configuration;
    std::string sites;  // joined by ';'
    bool cold = true;

    /// As Candidate::identity().
    std::string candidate() const;
};

/// Microseconds; NaN: not known, but for p50.
struct HistoryTimes {
    double p20_us = 0;
    double p50_us = 0;
    double p80_us = 0;
    double low_us = 0;  // 95 % interval of the median of rounds
    double high_us = 0;
    double floor_us = 0;
    double copy_us = 0;  // p50 of the copy: results' limit_us
    int rank = 0;        // 1: the winner of its problem; 0: not ranked
};

struct HistoryPoint {
    HistoryTrial trial;
    std::string code;  // hash of its machine code
    HistoryTimes times;
};

/// A trial of a run that has no time there: it is incorrect, or failed.
struct HistoryFailure {
    HistoryTrial trial;
    bool either = false;  // cold and hot: its file does not say which
    Outcome outcome = Outcome::incorrect;
};

struct HistoryBatch {
    HistoryRun run;
    std::vector<HistoryPoint> points;  // each trial once
    std::vector<HistoryFailure> failed = {};
};

/// A run's number and what it measured.
struct HistoryNight {
    std::uint32_t run = 0;   // in History::runs
    std::uint32_t code = 0;  // in History::codes
    HistoryTimes times;
};

struct HistorySeries {
    HistoryTrial trial;
    std::string device;
    std::vector<HistoryNight> nights;  // in the order of their runs
};

/// The newest `nights` of a series; 0: all.
void keep_newest(HistorySeries& series, std::size_t nights);

struct History {
    std::vector<HistoryRun> runs;  // of the series' devices, the earliest first
    std::vector<HistorySeries> series;
    std::map<std::string, std::uint32_t> newest;  // of a device's name the newest run that measured anything, whatever was asked for
    std::vector<std::string> codes{""};
};

/// Patterns of support/pattern.h; empty ones take everything.
struct HistoryFilter {
    std::string problem;
    std::string candidate;
    std::string device;
    std::size_t nights = 0;  // of each series the newest so many; 0: all
};

struct HistoryAdded {
    std::int64_t fresh = 0;
    std::int64_t replaced = 0;  // were there with other values
    std::int64_t same = 0;
    std::vector<HistoryFailure> taken_out;  // had a time, and have none any more
};

struct HistoryRunSummary {
    HistoryRun run;
    std::int64_t trials = 0;
};

/// $NORMTUNE_HISTORY, else $XDG_DATA_HOME/normtune/history.sqlite3, else ~/.local/share/normtune/history.sqlite3. Empty where
/// NORMTUNE_HISTORY is set to nothing, and where HOME is not known.
std::string history_path();

/// Everything throws InputError (damaged, another program's file, written by a newer normtune) or SystemError (cannot be opened, written
/// or locked). The file is never deleted or made anew. One connection: for one thread.
class HistoryStore {
public:
    /// None: there is no such file, or nothing was put into it yet.
    static std::optional<HistoryStore> open(const std::string& path);
    /// Makes the file and its folders where they are missing.
    static HistoryStore open_or_create(const std::string& path);

    bool has(const HistoryRun& run);
    /// In one transaction: all or none. A run is known by its start and its device: a trial that is added again takes the place of what was
    /// there, and one that failed loses the time that it had there. A run of failures alone is not made.
    HistoryAdded add(std::span<const HistoryBatch> batches);
    std::vector<HistoryRunSummary> runs();
    History read(const HistoryFilter& filter);

private:
    explicit HistoryStore(std::unique_ptr<sqlite::Database> database) : database_(std::move(database)) {}

    std::unique_ptr<sqlite::Database> database_;
};

}  // namespace normtune
