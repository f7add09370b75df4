#include "store/history.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "support/error.h"
#include "support/pattern.h"
#include "support/user_folder.h"
#include "trial/candidate.h"
#include "trial/field.h"

namespace normtune {
namespace {

constexpr std::array<std::string_view, 3> tables{
    "CREATE TABLE runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, device TEXT NOT NULL, device_id TEXT NOT NULL, "
    "has_uuid INTEGER NOT NULL, backend TEXT NOT NULL, arch TEXT NOT NULL, driver TEXT NOT NULL, compiler TEXT NOT NULL, "
    "revision TEXT NOT NULL, source TEXT NOT NULL, UNIQUE (started, device, device_id))",
    "CREATE TABLE trials (id INTEGER PRIMARY KEY, device TEXT NOT NULL, problem TEXT NOT NULL, provider TEXT NOT NULL, "
    "configuration TEXT NOT NULL, cold INTEGER NOT NULL, sites TEXT NOT NULL, UNIQUE (device, problem, provider, configuration, cold))",
    "CREATE TABLE points (trial INTEGER NOT NULL REFERENCES trials, run INTEGER NOT NULL REFERENCES runs, code TEXT NOT NULL, p20_us REAL, "
    "p50_us REAL NOT NULL, p80_us REAL, low_us REAL, high_us REAL, floor_us REAL, copy_us REAL, rank INTEGER NOT NULL, "
    "PRIMARY KEY (trial, run)) WITHOUT ROWID"};
constexpr sqlite::FileFormat format{0x6e746869, 1, "history", tables};  // "nthi"

// A run that is there keeps what is known of it: only what a label says anew, and what was empty, is put in its place.
constexpr std::string_view put_run =
    "INSERT INTO runs (started, device, device_id, has_uuid, backend, arch, driver, compiler, revision, source) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (started, device, device_id) DO UPDATE SET has_uuid = excluded.has_uuid, "
    "backend = coalesce(nullif(excluded.backend, ''), backend), arch = coalesce(nullif(excluded.arch, ''), arch), "
    "driver = CASE WHEN ?11 OR driver = '' THEN excluded.driver ELSE driver END, "
    "compiler = CASE WHEN ?12 OR compiler = '' THEN excluded.compiler ELSE compiler END, "
    "revision = CASE WHEN ?13 OR revision = '' THEN excluded.revision ELSE revision END, source = excluded.source RETURNING id";
constexpr std::string_view put_trial =
    "INSERT INTO trials (device, problem, provider, configuration, cold, sites) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (device, problem, provider, configuration, cold) DO UPDATE SET sites = excluded.sites RETURNING id";
// results.csv of a run whose results.json is there has less, and rounded: it changes nothing.
constexpr std::string_view put_point =
    "INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (trial, run) DO UPDATE SET code = excluded.code, "
    "p20_us = excluded.p20_us, p50_us = excluded.p50_us, p80_us = excluded.p80_us, low_us = excluded.low_us, "
    "high_us = excluded.high_us, floor_us = excluded.floor_us, copy_us = excluded.copy_us, rank = excluded.rank "
    "WHERE (code, p20_us, p50_us, p80_us, low_us, high_us, floor_us, copy_us, rank) IS NOT (excluded.code, excluded.p20_us, "
    "excluded.p50_us, excluded.p80_us, excluded.low_us, excluded.high_us, excluded.floor_us, excluded.copy_us, excluded.rank) "
    "AND NOT (low_us IS NOT NULL AND excluded.low_us IS NULL AND abs(p50_us - excluded.p50_us) <= 0.001 * p50_us)";
constexpr std::string_view run_columns = "started, device, device_id, has_uuid, backend, arch, driver, compiler, revision, source";

/// The columns from `first` on.
HistoryRun read_run(const sqlite::Statement& row, int first, const std::string& path) {
    HistoryRun run;
    run.started = row.text(first);
    run.device = row.text(first + 1);
    run.device_id = row.text(first + 2);
    run.has_uuid = row.whole(first + 3) != 0;
    run.backend = row.text(first + 4);
    run.arch = row.text(first + 5);
    run.driver = row.text(first + 6);
    run.compiler = row.text(first + 7);
    run.revision = row.text(first + 8);
    run.source = row.text(first + 9);
    if (run.started.empty() || !is_timestamp(run.started)) {
        throw InputError(fmt::format("{}: a run started at {}, which is no time; it was not put there by normtune", path,
                                     quoted_for_message(run.started)));
    }
    return run;
}

/// Of the one row that the statement gives.
std::int64_t number_of(sqlite::Statement& statement) {
    const std::int64_t number = statement.step() ? statement.whole(0) : 0;
    statement.step();  // to its end, so that it can be bound again
    return number;
}

/// The number of a run that is there.
std::optional<std::int64_t> find_run(sqlite::Database& database, const HistoryRun& run) {
    sqlite::Statement row = database.prepare("SELECT id FROM runs WHERE started = ? AND device = ? AND device_id = ?");
    row.bind(0, run.started);
    row.bind(1, run.device);
    row.bind(2, run.device_id);
    return row.step() ? std::optional(row.whole(0)) : std::nullopt;
}

/// Takes the times away that trials which failed had in this run.
void take_out(sqlite::Database& database, const HistoryBatch& batch, std::int64_t run_id, std::vector<HistoryFailure>& taken_out) {
    sqlite::Statement row = database.prepare(
        "DELETE FROM points WHERE run = ?1 AND trial IN (SELECT id FROM trials WHERE device = ?2 AND problem = ?3 AND provider = ?4 AND "
        "configuration = ?5 AND (?6 OR cold = ?7))");
    for (const HistoryFailure& failure : batch.failed) {
        int next = 0;
        row.bind(next++, run_id);
        for (const std::string& text : {batch.run.device, failure.trial.problem, failure.trial.provider, failure.trial.configuration}) {
            row.bind(next++, text);
        }
        row.bind(next++, std::int64_t{failure.either});
        row.bind(next++, std::int64_t{failure.trial.cold});
        row.step();
        if (database.number("SELECT changes()") > 0) {
            taken_out.push_back(failure);
        }
    }
}

/// Without the runs on devices that no series is of.
void keep_devices_of_series(History& history) {
    std::set<std::string_view> devices;
    for (const HistorySeries& series : history.series) {
        devices.insert(series.device);
    }
    std::vector<std::uint32_t> places(history.runs.size());
    std::vector<HistoryRun> kept;
    for (std::size_t i = 0; i < history.runs.size(); ++i) {
        places[i] = static_cast<std::uint32_t>(kept.size());
        if (devices.contains(history.runs[i].device)) {
            kept.push_back(history.runs[i]);
        }
    }
    history.runs = std::move(kept);
    std::erase_if(history.newest, [&](const auto& of) { return !devices.contains(of.first); });
    for (auto& [device, run] : history.newest) {
        run = places[run];
    }
    for (HistorySeries& series : history.series) {
        for (HistoryNight& night : series.nights) {
            night.run = places[night.run];
        }
    }
}

}  // namespace

void keep_newest(HistorySeries& series, std::size_t nights) {
    if (nights > 0 && series.nights.size() > nights) {
        series.nights.erase(series.nights.begin(), series.nights.end() - static_cast<std::ptrdiff_t>(nights));
    }
}

std::string HistoryTrial::candidate() const {
    return provider == own_provider || provider.empty() ? configuration : fmt::format("{}:{}", provider, configuration);
}

std::string history_path() {
    if (const char* file = std::getenv("NORMTUNE_HISTORY"); file != nullptr) {
        return file;
    }
    const std::string folder = user_folder("XDG_DATA_HOME", ".local/share");
    return folder.empty() ? "" : folder + "/history.sqlite3";
}

std::optional<HistoryStore> HistoryStore::open(const std::string& path) {
    std::unique_ptr<sqlite::Database> database = sqlite::open_file(path, format);
    return database ? std::optional(HistoryStore(std::move(database))) : std::nullopt;
}

HistoryStore HistoryStore::open_or_create(const std::string& path) {
    return HistoryStore(sqlite::open_or_create_file(path, format));
}

bool HistoryStore::has(const HistoryRun& run) {
    return find_run(*database_, run).has_value();
}

HistoryAdded HistoryStore::add(std::span<const HistoryBatch> batches) {
    sqlite::Transaction transaction(*database_);
    sqlite::Statement run_row = database_->prepare(put_run);
    sqlite::Statement trial_row = database_->prepare(put_trial);
    sqlite::Statement point_there = database_->prepare("SELECT EXISTS (SELECT 1 FROM points WHERE trial = ? AND run = ?)");
    sqlite::Statement point_row = database_->prepare(put_point);
    HistoryAdded added;
    for (const HistoryBatch& batch : batches) {
        const HistoryRun& run = batch.run;
        if (batch.points.empty() && !find_run(*database_, run)) {
            continue;
        }
        int next = 0;
        for (const std::string& text : {run.started, run.device, run.device_id}) {
            run_row.bind(next++, text);
        }
        run_row.bind(next++, std::int64_t{run.has_uuid});
        for (const std::string& text : {run.backend, run.arch, run.driver, run.compiler, run.revision, run.source}) {
            run_row.bind(next++, text);
        }
        run_row.bind(next++, std::int64_t{run.driver_is_label});
        run_row.bind(next++, std::int64_t{run.compiler_is_label});
        run_row.bind(next++, std::int64_t{run.revision_is_label});
        const std::int64_t run_id = number_of(run_row);
        const std::int64_t from = database_->number("SELECT total_changes()");
        std::int64_t trial_rows = 0;
        std::int64_t there = 0;
        for (const HistoryPoint& point : batch.points) {
            next = 0;
            trial_row.bind(next++, run.device);
            for (const std::string& text : {point.trial.problem, point.trial.provider, point.trial.configuration}) {
                trial_row.bind(next++, text);
            }
            trial_row.bind(next++, std::int64_t{point.trial.cold});
            trial_row.bind(next++, point.trial.sites);
            const std::int64_t trial_id = number_of(trial_row);
            ++trial_rows;
            point_there.bind(0, trial_id);
            point_there.bind(1, run_id);
            there += number_of(point_there);
            const HistoryTimes& t = point.times;
            next = 0;
            point_row.bind(next++, trial_id);
            point_row.bind(next++, run_id);
            point_row.bind(next++, point.code);
            for (const double us : {t.p20_us, t.p50_us, t.p80_us, t.low_us, t.high_us, t.floor_us, t.copy_us}) {
                point_row.bind(next++, us);
            }
            point_row.bind(next++, std::int64_t{t.rank});
            point_row.step();
        }
        const std::int64_t changed = database_->number("SELECT total_changes()") - from - trial_rows;
        const std::int64_t fresh = static_cast<std::int64_t>(batch.points.size()) - there;
        added.fresh += fresh;
        added.replaced += changed - fresh;
        added.same += static_cast<std::int64_t>(batch.points.size()) - changed;
        take_out(*database_, batch, run_id, added.taken_out);
    }
    transaction.commit();
    return added;
}

std::vector<HistoryRunSummary> HistoryStore::runs() {
    std::vector<HistoryRunSummary> out;
    sqlite::Statement rows = database_->prepare(
        fmt::format("SELECT {}, coalesce(counted.number, 0) FROM runs LEFT JOIN (SELECT run, count(*) AS number FROM points GROUP BY run) "
                    "AS counted ON counted.run = runs.id ORDER BY started, id",
                    run_columns));
    while (rows.step()) {
        out.push_back({read_run(rows, 0, database_->path()), rows.whole(10)});
    }
    return out;
}

History HistoryStore::read(const HistoryFilter& filter) {
    const sqlite::Transaction reading(*database_, sqlite::Access::read);  // another process may add a run meanwhile
    const auto takes = [](const std::string& pattern, const std::string& text) {
        return pattern.empty() || matches_pattern(pattern, text);
    };
    History out;
    std::unordered_map<std::int64_t, std::uint32_t> runs;
    sqlite::Statement run_rows = database_->prepare(fmt::format("SELECT {}, id FROM runs ORDER BY started, id", run_columns));
    while (run_rows.step()) {
        runs.emplace(run_rows.whole(10), static_cast<std::uint32_t>(out.runs.size()));
        out.runs.push_back(read_run(run_rows, 0, database_->path()));
    }
    std::unordered_map<std::int64_t, std::size_t> trials;
    sqlite::Statement trial_rows =
        database_->prepare("SELECT id, device, problem, provider, configuration, cold, sites FROM trials ORDER BY id");
    while (trial_rows.step()) {
        HistorySeries series;
        series.device = trial_rows.text(1);
        series.trial = {trial_rows.text(2), trial_rows.text(3), trial_rows.text(4), trial_rows.text(6), trial_rows.whole(5) != 0};
        if (takes(filter.problem, series.trial.problem) && takes(filter.candidate, series.trial.candidate()) &&
            takes(filter.device, series.device)) {
            trials.emplace(trial_rows.whole(0), out.series.size());
            out.series.push_back(std::move(series));
        }
    }
    std::unordered_map<std::string, std::uint32_t> codes{{"", 0}};
    sqlite::Statement points = database_->prepare(
        "SELECT trial, run, code, p20_us, p50_us, p80_us, low_us, high_us, floor_us, copy_us, rank FROM points ORDER BY trial, run");
    while (points.step()) {
        const auto trial = trials.find(points.whole(0));
        const auto run = runs.find(points.whole(1));
        if (run != runs.end()) {
            std::uint32_t& newest = out.newest[out.runs[run->second].device];
            newest = std::max(newest, run->second);
        }
        if (trial == trials.end()) {
            continue;
        }
        HistoryNight night;
        night.times = {points.number(3), points.number(4), points.number(5), points.number(6),
                       points.number(7), points.number(8), points.number(9), static_cast<int>(points.whole(10))};
        if (run == runs.end() || !(night.times.p50_us > 0) || !std::isfinite(night.times.p50_us)) {
            throw InputError(fmt::format("{}: the history of {} has a time that is none, or is of no run; it was not put there by normtune",
                                         database_->path(), quoted_for_message(out.series[trial->second].trial.problem)));
        }
        night.run = run->second;
        const auto [code, added] = codes.try_emplace(points.text(2), static_cast<std::uint32_t>(out.codes.size()));
        if (added) {
            out.codes.push_back(code->first);
        }
        night.code = code->second;
        out.series[trial->second].nights.push_back(night);
    }
    for (HistorySeries& series : out.series) {
        std::sort(series.nights.begin(), series.nights.end(), [](const HistoryNight& a, const HistoryNight& b) { return a.run < b.run; });
        keep_newest(series, filter.nights);
    }
    std::erase_if(out.series, [](const HistorySeries& series) { return series.nights.empty(); });
    keep_devices_of_series(out);
    return out;
}

}  // namespace normtune
