#include "store/winner_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "store/sample_results.h"
#include "support/error.h"
#include "support/temporary_folder.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using testing::sample_results;
using testing::sample_trial;
using testing::TemporaryFolder;

void no_damage(const std::string& line) {
    ADD_FAILURE() << line;
}

StoredProblem stored(std::int64_t rows, const std::string& measured_at = "2026-11-20T12:00:00Z") {
    Problem problem;
    problem.shape = {rows, 1024, 1024};
    StoredProblem out;
    out.identity = {Backend::cuda, "GPU", "sm_90", "580.1", 132, "kernels", "space", "cold"};
    out.environment = sample_results().environment;
    out.measured_at = measured_at;
    out.trials = 40;
    out.timed = 38;
    Configuration slower;
    slower.num_warps = 8;
    out.records = {sample_trial(problem, Configuration{}, 10, 1), sample_trial(problem, slower, 11, 2)};
    return out;
}

void put(const std::string& path, const std::vector<StoredProblem>& problems) {
    WinnerStore::open_or_create(path).put(problems);
}

void change_store(const std::string& path, const char* sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
}

/// What opening, reading and filling say; empty: they worked.
template <typename Error>
std::string refusal(const std::string& path) {
    try {
        if (std::optional<WinnerStore> store = WinnerStore::open(path)) {
            store->all(no_damage);
        }
        put(path, {stored(1)});
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(WinnerStore, GivesBackWhatWasPut) {
    const TemporaryFolder folder;
    const std::string path = folder / "some/new/folder/store";
    EXPECT_FALSE(WinnerStore::open(path));
    const StoredProblem before = stored(8);
    put(path, {before, stored(16)});
    std::optional<WinnerStore> store = WinnerStore::open(path);
    ASSERT_TRUE(store);
    const std::optional<StoredProblem> after = store->find(before.identity, before.problem());
    ASSERT_TRUE(after);
    EXPECT_EQ(after->identity, before.identity);
    EXPECT_EQ(to_json(after->environment), to_json(before.environment));
    EXPECT_EQ(after->measured_at, before.measured_at);
    EXPECT_EQ(after->trials, before.trials);
    EXPECT_EQ(after->timed, before.timed);
    ASSERT_EQ(after->records.size(), 2U);
    EXPECT_EQ(to_json(after->records[0]), to_json(before.records[0]));
    EXPECT_EQ(to_json(after->records[1]), to_json(before.records[1]));
    const std::vector<StoredProblem> all = store->all(no_damage);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].problem().shape.rows, 16);
}

TEST(WinnerStore, EveryPartOfTheIdentityCounts) {
    const TemporaryFolder folder;
    const StoredProblem one = stored(8);
    put(folder / "store", {one});
    WinnerStore store = *WinnerStore::open(folder / "store");
    const std::vector<std::function<void(WinnerIdentity&, Problem&)>> changes{
        [](WinnerIdentity& i, Problem&) { i.backend = Backend::hip; }, [](WinnerIdentity& i, Problem&) { i.device = "another GPU"; },
        [](WinnerIdentity& i, Problem&) { i.arch = "sm_100"; },        [](WinnerIdentity& i, Problem&) { i.driver = "580.2"; },
        [](WinnerIdentity& i, Problem&) { i.compute_units = 66; },     [](WinnerIdentity& i, Problem&) { i.kernels = "changed"; },
        [](WinnerIdentity& i, Problem&) { i.space = "another"; },      [](WinnerIdentity& i, Problem&) { i.measuring = "hot"; },
        [](WinnerIdentity&, Problem& p) { p.shape.rows = 9; },         [](WinnerIdentity&, Problem& p) { p.operation.dtype = Dtype::fp16; },
        [](WinnerIdentity&, Problem& p) { p.operation.eps = 1e-5; },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        WinnerIdentity identity = one.identity;
        Problem problem = one.problem();
        EXPECT_TRUE(store.find(identity, problem));
        changes[i](identity, problem);
        EXPECT_FALSE(store.find(identity, problem)) << "change " << i;
    }
}

TEST(WinnerStore, TheLaterMeasurementStays) {
    const TemporaryFolder folder;
    const std::string path = folder / "store";
    StoredProblem early = stored(8, "2026-11-20T12:00:00Z");
    StoredProblem late = stored(8, "2026-11-21T12:00:00Z");
    late.trials = 41;
    put(path, {early});
    put(path, {late});
    EXPECT_EQ(WinnerStore::open(path)->all(no_damage).at(0).trials, 41U);
    put(path, {early});  // of a sweep that was resumed long after it began
    EXPECT_EQ(WinnerStore::open(path)->all(no_damage).at(0).trials, 41U);
    EXPECT_EQ(WinnerStore::open(path)->all(no_damage).size(), 1U);
}

TEST(WinnerStore, AnEmptyFileIsANewStore) {
    const TemporaryFolder folder;
    std::ofstream(folder / "store").close();
    EXPECT_FALSE(WinnerStore::open(folder / "store"));
    put(folder / "store", {stored(8)});
    EXPECT_EQ(WinnerStore::open(folder / "store")->all(no_damage).size(), 1U);
}

TEST(WinnerStore, RefusesWhatItCannotReadAndLeavesItAlone) {
    const TemporaryFolder folder;
    const std::string path = folder / "store";
    put(path, {stored(8)});
    change_store(path, "PRAGMA user_version = 2");
    EXPECT_NE(refusal<InputError>(path).find("newer normtune"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(path));

    const std::string others = folder / "others";
    change_store(others, "CREATE TABLE places (name TEXT)");
    EXPECT_NE(refusal<InputError>(others).find("another program"), std::string::npos);

    const std::string text = folder / "text";
    std::ofstream(text) << std::string(5000, 'x');
    EXPECT_NE(refusal<InputError>(text).find("is damaged or no database"), std::string::npos);
    EXPECT_EQ(std::filesystem::file_size(text), 5000U);
}

TEST(WinnerStore, ARowThatNoSweepPutsThereIsToldAndReplaced) {
    const auto rank_of = [](int record, const char* rank) {
        return fmt::format("UPDATE winners SET records = json_set(records, '$[{}].measurement.rank', {})", record, rank);
    };
    const std::vector<std::pair<std::string, std::string>> changes{
        {rank_of(0, "7"), "is not ranked from 1 on"},
        {rank_of(0, "0"), "is not ranked from 1 on"},
        {rank_of(1, "1"), "has rank 1, which another trial has"},
        {rank_of(1, "3"), "is not ranked from 1 on"},
        {"UPDATE winners SET records = json_set(records, '$[0].outcome', 'crashed')", "has rank 1, which it cannot have"},
        {"UPDATE winners SET measured_at = '9999-12-31T23:59:59Z'", "is no time in the past"},
        {"UPDATE winners SET measured_at = 'zzz'", "is no time in the past"},
        {"UPDATE winners SET measured_at = ''", "is no time in the past"},
        {"UPDATE winners SET records = replace(replace(records, '/8x', '/9x'), '\"rows\":8,', '\"rows\":9,')", "of another problem"},
        {"UPDATE winners SET records = '[{\"timestamp\": 3}]'", "records: 0/timestamp: expected text"},
        {"UPDATE winners SET records = '[]'", "holds no trial"},
        {"UPDATE winners SET timed = 1", "counts fewer trials than it has"},
    };
    for (const auto& [sql, told] : changes) {
        const TemporaryFolder folder;
        const std::string path = folder / "store";
        put(path, {stored(8, "2026-01-01T00:00:00Z")});
        change_store(path, sql.c_str());
        std::string said;
        try {
            WinnerStore::open(path)->find(stored(8).identity, stored(8).problem());
        } catch (const BadRow& row) {
            said = row.what();
        }
        EXPECT_NE(said.find(told), std::string::npos) << sql << ": " << said;
        EXPECT_EQ(said.rfind(path + ": the row of 'rms_norm/forward/bf16/llama/8x1024': ", 0), 0U) << said;
        put(path, {stored(8, "2026-01-02T00:00:00Z")});
        EXPECT_EQ(WinnerStore::open(path)->all(no_damage).at(0).measured_at, "2026-01-02T00:00:00Z") << sql;
    }
}

TEST(WinnerStore, ADamagedRowIsNamedAndTheRestRead) {
    const TemporaryFolder folder;
    const std::string path = folder / "store";
    put(path, {stored(8), stored(16), stored(32)});
    change_store(path, "UPDATE winners SET records = 'no JSON' WHERE problem LIKE '%/16x%'");
    std::vector<std::string> said;
    const std::vector<StoredProblem> all = WinnerStore::open(path)->all([&](const std::string& line) { said.push_back(line); });
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].problem().shape.rows, 32);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0].rfind(path + ": the row of 'rms_norm/forward/bf16/llama/16x1024' on 'GPU' with driver '580.1' is passed over: ", 0),
              0U)
        << said[0];
    EXPECT_EQ(said[0].find("measuring"), std::string::npos) << said[0];
}

TEST(WinnerStore, AFileCutShortIsOneClearLine) {
    const TemporaryFolder folder;
    const std::string path = folder / "store";
    put(path, {stored(8), stored(16), stored(32)});
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    const std::string said = refusal<InputError>(path);
    EXPECT_NE(said.find("damaged"), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
}

TEST(WinnerStore, APlaceThatCannotBeWrittenIsASystemError) {
    const TemporaryFolder folder;
    std::ofstream(folder / "file") << "x";
    EXPECT_NE(refusal<SystemError>(folder / "file/below/store"), "");
    EXPECT_NE(refusal<SystemError>(folder.path()), "");
}

TEST(WinnerStore, ItsPlaceIsTheEnvironments) {
    // Restores what the caller of the test has.
    const char* names[] = {"NORMTUNE_STORE", "XDG_DATA_HOME", "HOME"};
    std::vector<std::optional<std::string>> before;
    for (const char* name : names) {
        const char* value = getenv(name);
        before.push_back(value == nullptr ? std::nullopt : std::optional<std::string>(value));
    }
    unsetenv("NORMTUNE_STORE");
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", "/home/me", 1);
    EXPECT_EQ(winner_store_path(), "/home/me/.local/share/normtune/winners.sqlite3");
    setenv("XDG_DATA_HOME", "/data", 1);
    EXPECT_EQ(winner_store_path(), "/data/normtune/winners.sqlite3");
    setenv("NORMTUNE_STORE", "/a/file", 1);
    EXPECT_EQ(winner_store_path(), "/a/file");
    setenv("NORMTUNE_STORE", "", 1);
    EXPECT_EQ(winner_store_path(), "");
    for (std::size_t i = 0; i < before.size(); ++i) {
        before[i] ? setenv(names[i], before[i]->c_str(), 1) : unsetenv(names[i]);
    }
}

/// Runs in a process of its own, which ends like a command would.
pid_t in_child(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
        try {
            work();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            _exit(1);
        }
        _exit(0);
    }
    return child;
}

TEST(WinnerStore, ManyProcessesFillANewFileAndNothingIsLost) {
    constexpr int processes = 8;
    constexpr int transactions = 4;
    const TemporaryFolder folder;
    const std::string path = folder / "new/store";
    std::vector<pid_t> children;
    for (int p = 0; p < processes; ++p) {
        children.push_back(in_child([&path, p] {
            for (int t = 0; t < transactions; ++t) {
                put(path, {stored(1000 * p + 10 * t + 1), stored(1000 * p + 10 * t + 2)});
                put(path, {stored(7)});  // that all of them put
            }
        }));
    }
    for (const pid_t child : children) {
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    std::set<std::int64_t> rows;
    for (const StoredProblem& one : WinnerStore::open(path)->all(no_damage)) {
        EXPECT_TRUE(rows.insert(one.problem().shape.rows).second);
    }
    EXPECT_EQ(rows.size(), std::size_t{processes * transactions * 2 + 1});
}

TEST(WinnerStore, AKillInTheMiddleLeavesWhatWasCommitted) {
    const TemporaryFolder folder;
    const std::string path = folder / "store";
    for (int kills = 0; kills < 5; ++kills) {
        int pipe_ends[2];
        ASSERT_EQ(pipe(pipe_ends), 0);
        const pid_t child = in_child([&] {
            for (std::int64_t rows = 1; rows < 100'000; ++rows) {
                put(path, {stored(2 * rows), stored(2 * rows + 1)});
                [[maybe_unused]] const auto written = write(pipe_ends[1], &rows, sizeof rows);
            }
        });
        close(pipe_ends[1]);
        std::int64_t committed = 0;
        for (int seen = 0; seen <= 3 + kills; ++seen) {
            ASSERT_EQ(read(pipe_ends[0], &committed, sizeof committed), static_cast<ssize_t>(sizeof committed));
        }
        usleep(static_cast<useconds_t>(700 * kills));  // somewhere in a transaction
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        while (read(pipe_ends[0], &committed, sizeof committed) > 0) {
        }
        close(pipe_ends[0]);
        std::set<std::int64_t> rows;
        for (const StoredProblem& one : WinnerStore::open(path)->all(no_damage)) {
            rows.insert(one.problem().shape.rows);
        }
        for (std::int64_t row = 2; row <= 2 * committed + 1; ++row) {
            EXPECT_TRUE(rows.contains(row)) << row;
        }
        EXPECT_EQ(rows.size() % 2, 0U) << "half a transaction";
    }
}

}  // namespace
}  // namespace normtune
