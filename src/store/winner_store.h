// A user's database of winners: what sweeps found, to be taken again where measuring would measure the same
// (docs/store.md). One SQLite file that any number of processes share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/error.h"
#include "support/sqlite.h"
#include "trial/record.h"

namespace normtune {

/// What was measured and how. Where every part is equal, as are the problem's key and eps, so is what is measured.
struct WinnerIdentity {
    Backend backend = Backend::cpu;
    std::string device;
    std::string arch;
    std::string driver;
    int compute_units = 0;  // of a part of a device, or of the cores that a process may use
    std::string kernels;    // digest of the kernels' source and compiler
    std::string space;      // digest of its axes and rules
    std::string measuring;  // digest of what decides what a time means: cold or hot, rounds, stop rule
    friend bool operator==(const WinnerIdentity&, const WinnerIdentity&) = default;
};

/// A problem that a sweep completed.
struct StoredProblem {
    WinnerIdentity identity;
    Environment environment;   // of the run
    std::string measured_at;   // UTC, of the last of its records
    std::uint64_t trials = 0;  // that the problem had
    std::uint64_t timed = 0;   // those of them that passed and were measured
    /// Of those the ones that are kept, the winner (rank 1) among them; at least one, all of one problem.
    std::vector<Record> records;

    const Problem& problem() const { return records.front().problem; }
};

/// $NORMTUNE_STORE, else $XDG_DATA_HOME/normtune/winners.sqlite3, else ~/.local/share/normtune/winners.sqlite3. Empty
/// where NORMTUNE_STORE is set to nothing, and where HOME is not known: no store.
std::string winner_store_path();

/// A row of the store that holds what no sweep puts there. A sweep that would take it measures its problem, which replaces it.
class BadRow : public InputError {
public:
    using InputError::InputError;
};

/// Everything throws InputError (damaged, another program's file, written by a newer normtune) or SystemError (cannot
/// be opened, written or locked). The file is never deleted or made anew. One connection: for one thread.
class WinnerStore {
public:
    /// None: there is no such file, or nothing was put into it yet.
    static std::optional<WinnerStore> open(const std::string& path);
    /// Makes the file and its folders where they are missing.
    static WinnerStore open_or_create(const std::string& path);

    std::optional<StoredProblem> find(const WinnerIdentity& identity, const Problem& problem);
    /// In one transaction: all or none. Of a problem that is there with the same identity the later measurement stays,
    /// unless it is said to be of the future.
    void put(std::span<const StoredProblem> problems);
    /// In the order in which problems were first put. What is wrong with a row that no sweep puts there goes to `damaged`, and the row is
    /// passed over.
    std::vector<StoredProblem> all(const std::function<void(const std::string&)>& damaged);

private:
    explicit WinnerStore(std::unique_ptr<sqlite::Database> database) : database_(std::move(database)) {}
    /// Throws InputError: what is wrong with it, not where.
    static StoredProblem read(const sqlite::Statement& row);

    std::unique_ptr<sqlite::Database> database_;
};

}  // namespace normtune
