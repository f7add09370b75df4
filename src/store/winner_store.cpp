#include "store/winner_store.h"

#include <array>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/clock.h"
#include "support/error.h"
#include "support/json_reader.h"
#include "support/user_folder.h"
#include "support/utf8.h"
#include "trial/field.h"
#include "trial/record_json.h"

namespace normtune {

namespace {

// What identifies a row comes first, in the order of bind_identity.
constexpr std::string_view create_table =
    "CREATE TABLE winners (backend TEXT NOT NULL, device TEXT NOT NULL, arch TEXT NOT NULL, driver TEXT NOT NULL, "
    "compute_units INTEGER NOT NULL, kernels TEXT NOT NULL, space TEXT NOT NULL, measuring TEXT NOT NULL, "
    "problem TEXT NOT NULL, eps REAL NOT NULL, measured_at TEXT NOT NULL, environment TEXT NOT NULL, "
    "trials INTEGER NOT NULL, timed INTEGER NOT NULL, records TEXT NOT NULL, "
    "PRIMARY KEY (backend, device, arch, driver, compute_units, kernels, space, measuring, problem, eps))";
constexpr std::array<std::string_view, 1> store_tables{create_table};
constexpr sqlite::FileFormat store_format{0x6e74756e, 1, "store", store_tables};  // "ntun"
constexpr std::string_view select_rows =
    "SELECT backend, device, arch, driver, compute_units, kernels, space, measuring, measured_at, environment, trials, "
    "timed, records, problem FROM winners ";
constexpr std::string_view of_identity =
    "WHERE backend = ? AND device = ? AND arch = ? AND driver = ? AND compute_units = ? AND kernels = ? AND space = ? "
    "AND measuring = ? AND problem = ? AND eps = ?";
constexpr std::string_view put_row =
    "INSERT INTO winners VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (backend, device, arch, driver, compute_units, kernels, space, measuring, problem, eps) DO UPDATE SET "
    "measured_at = excluded.measured_at, environment = excluded.environment, trials = excluded.trials, "
    "timed = excluded.timed, records = excluded.records WHERE excluded.measured_at >= measured_at OR measured_at > ?";

/// The parameter after the last one of them.
int bind_identity(sqlite::Statement& statement, const WinnerIdentity& identity, const Problem& problem) {
    int next = 0;
    statement.bind(next++, backend_names.name(identity.backend));
    statement.bind(next++, identity.device);
    statement.bind(next++, identity.arch);
    statement.bind(next++, identity.driver);
    statement.bind(next++, std::int64_t{identity.compute_units});
    statement.bind(next++, identity.kernels);
    statement.bind(next++, identity.space);
    statement.bind(next++, identity.measuring);
    statement.bind(next++, problem.key());
    statement.bind(next++, problem.operation.eps);
    return next;
}

std::string text_of(const std::vector<Record>& records) {
    nlohmann::json out = nlohmann::json::array();
    for (const Record& record : records) {
        out.push_back(to_json(record));
    }
    return out.dump();
}

/// 1, 2, … each once, of trials that passed and were measured to the end: without its winner a problem has nothing to give.
void require_ranks(const std::vector<Record>& records, const JsonReader& in) {
    std::set<int> ranks;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const int rank = records[i].measurement->rank;
        if (rank > 0 && (!records[i].may_win() || !ranks.insert(rank).second)) {
            in.element(i).fail(fmt::format("has rank {}, which {}", rank, records[i].may_win() ? "another trial has" : "it cannot have"));
        }
    }
    if (ranks.empty() || *ranks.rbegin() != static_cast<int>(ranks.size())) {
        in.fail("is not ranked from 1 on: there is no winner");
    }
}

std::vector<Record> records_from(const JsonReader& in) {
    std::vector<Record> records;
    for (std::size_t i = 0; i < in.size(); ++i) {
        records.push_back(from_json<Record>(in.element(i)));
        const Record& record = records.back();
        if (!record.measurement || !record.problem.same_work(records.front().problem)) {
            in.element(i).fail("is no measured trial of the row's problem");
        }
    }
    if (records.empty()) {
        in.fail("holds no trial");
    }
    require_ranks(records, in);
    return records;
}

}  // namespace

std::string winner_store_path() {
    if (const char* file = std::getenv("NORMTUNE_STORE"); file != nullptr) {
        return file;
    }
    const std::string folder = user_folder("XDG_DATA_HOME", ".local/share");
    return folder.empty() ? "" : folder + "/winners.sqlite3";
}

std::optional<WinnerStore> WinnerStore::open(const std::string& path) {
    std::unique_ptr<sqlite::Database> database = sqlite::open_file(path, store_format);
    return database ? std::optional(WinnerStore(std::move(database))) : std::nullopt;
}

WinnerStore WinnerStore::open_or_create(const std::string& path) {
    return WinnerStore(sqlite::open_or_create_file(path, store_format));
}

StoredProblem WinnerStore::read(const sqlite::Statement& row) {
    StoredProblem out;
    const nlohmann::json backend = row.text(0);
    const nlohmann::json environment = parse_json(row.text(9), "environment");
    const nlohmann::json records = parse_json(row.text(12), "records");
    out.identity = {JsonReader(backend, "backend: ").name_of(backend_names),
                    row.text(1),
                    row.text(2),
                    row.text(3),
                    static_cast<int>(row.whole(4)),
                    row.text(5),
                    row.text(6),
                    row.text(7)};
    out.measured_at = row.text(8);
    out.environment = from_json<Environment>(JsonReader(environment, "environment: "));
    out.trials = static_cast<std::uint64_t>(row.whole(10));
    out.timed = static_cast<std::uint64_t>(row.whole(11));
    out.records = records_from(JsonReader(records, "records: "));
    if (out.measured_at.empty() || !is_timestamp(out.measured_at) || out.measured_at > latest_timestamp()) {
        throw InputError(fmt::format("measured_at is {}, which is no time in the past", quoted_for_message(out.measured_at)));
    }
    if (out.problem().key() != row.text(13)) {
        throw InputError("its trials are of another problem");
    }
    if (out.timed < out.records.size() || out.trials < out.timed) {
        throw InputError("it counts fewer trials than it has");
    }
    return out;
}

std::optional<StoredProblem> WinnerStore::find(const WinnerIdentity& identity, const Problem& problem) {
    sqlite::Statement rows = database_->prepare(std::string(select_rows) + std::string(of_identity));
    bind_identity(rows, identity, problem);
    if (!rows.step()) {
        return std::nullopt;
    }
    try {
        return read(rows);
    } catch (const InputError& error) {
        throw BadRow(fmt::format("{}: the row of {}: {}; measuring that problem again replaces it", database_->path(),
                                 quoted_for_message(rows.text(13)), error.what()));
    }
}

void WinnerStore::put(std::span<const StoredProblem> problems) {
    sqlite::Transaction transaction(*database_);
    sqlite::Statement row = database_->prepare(put_row);
    for (const StoredProblem& problem : problems) {
        int next = bind_identity(row, problem.identity, problem.problem());
        row.bind(next++, problem.measured_at);
        row.bind(next++, to_json(problem.environment).dump());
        row.bind(next++, static_cast<std::int64_t>(problem.trials));
        row.bind(next++, static_cast<std::int64_t>(problem.timed));
        row.bind(next++, text_of(problem.records));
        row.bind(next, latest_timestamp());
        row.step();
    }
    transaction.commit();
}

std::vector<StoredProblem> WinnerStore::all(const std::function<void(const std::string&)>& damaged) {
    std::vector<StoredProblem> out;
    sqlite::Statement rows = database_->prepare(std::string(select_rows) + "ORDER BY rowid");
    while (rows.step()) {
        try {
            out.push_back(read(rows));
        } catch (const InputError& error) {
            damaged(fmt::format("{}: the row of {} on {} with driver {} is passed over: {}", database_->path(),
                                quoted_for_message(rows.text(13)), quoted_for_message(rows.text(1)), quoted_for_message(rows.text(3)),
                                error.what()));
        }
    }
    return out;
}

}  // namespace normtune
