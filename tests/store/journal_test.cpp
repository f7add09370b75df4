#include "store/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <nlohmann/json.hpp>

#include "store/journal_lines.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/temporary_folder.h"
#include "trial/random_record.h"
#include "trial/record_json.h"

namespace normtune {
namespace {

using testing::RandomRecords;
using testing::TemporaryFolder;

JournalHeader sample_header() {
    RandomRecords random(7);
    return {random.environment(), {"normtune", "sweep", "--shapes", "qwen3 \"x\"\n"}, R"({"seed":1})", random.results(0).plans};
}

/// A small record; `rows` makes trials differ, `reason` the records of one trial.
Record sample_record(int rows, const std::string& reason = "") {
    Record record;
    record.timestamp = "2026-11-20T23:59:59Z";
    record.problem.shape = {rows, 64, 64};
    record.reason = reason;
    return record;
}

void append_bytes(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::app | std::ios::binary) << bytes;
}

std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const InputError& error) {
        return error.what();
    } catch (const SystemError& error) {
        return std::string("system: ") + error.what();
    }
    return "no error";
}

TEST(Journal, KeepsHeaderRecordsAndFinals) {
    const TemporaryFolder folder;
    RandomRecords random(8);
    std::vector<Record> records;
    const FinalEntry final_entry{"problem", {{"w4", {1.5, 2.25}, 1, true, 0.875}, {"w8", {3.0}, 2, false}}};
    {
        Journal journal = Journal::create(folder.path(), sample_header());
        for (int i = 0; i < 50; ++i) {
            records.push_back(random.record());
            journal.append(records.back());
        }
        journal.append(final_entry);
    }
    const JournalContents read = read_journal(folder.path());
    EXPECT_EQ(to_json(read.header.environment), to_json(sample_header().environment));
    EXPECT_EQ(read.header.command, sample_header().command);
    EXPECT_EQ(read.header.sweep, sample_header().sweep);
    ASSERT_EQ(read.header.plans.size(), 1u);
    EXPECT_EQ(read.header.plans[0].pruned[0].count, sample_header().plans[0].pruned[0].count);
    ASSERT_EQ(read.records.size(), records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        EXPECT_EQ(to_json(read.records[i]), to_json(records[i]));
    }
    ASSERT_EQ(read.finals.size(), 1u);
    EXPECT_EQ(read.finals[0].problem_key, "problem");
    ASSERT_EQ(read.finals[0].finalists.size(), 2u);
    EXPECT_EQ(read.finals[0].finalists[0].rounds_us, (std::vector<double>{1.5, 2.25}));
    EXPECT_TRUE(read.finals[0].finalists[0].tied);
    EXPECT_EQ(read.dropped_lines, 0);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"journal.jsonl"});
}

TEST(Journal, TheLaterLineOfATrialHolds) {
    const TemporaryFolder folder;
    {
        Journal journal = Journal::create(folder.path(), sample_header());
        journal.append(sample_record(1, "first"));
        journal.append(sample_record(2));
        journal.append(sample_record(1, "second"));
        journal.append(FinalEntry{"p", {}});
        journal.append(FinalEntry{"p", {{"w4", {}, 1, false}}});
    }
    const JournalContents read = read_journal(folder.path());
    ASSERT_EQ(read.records.size(), 2u);
    EXPECT_EQ(read.records[0].reason, "second");
    ASSERT_EQ(read.finals.size(), 1u);
    EXPECT_EQ(read.finals[0].finalists.size(), 1u);
}

TEST(Journal, WhatIsVoidIsGoneAndWhatFollowsCounts) {
    const TemporaryFolder folder;
    const std::string key = sample_record(1).problem.key();
    {
        Journal journal = Journal::create(folder.path(), sample_header());
        journal.append(sample_record(1, "first"));
        journal.append(sample_record(2));
        journal.append(FinalEntry{key, {{"w4", {}, 1, false}}});
        journal.append(VoidEntry{key});
        journal.append(sample_record(3));
    }
    JournalContents contents;
    Journal::resume(folder.path(), contents).append(sample_record(1, "second"));
    EXPECT_EQ(contents.records.size(), 2u);
    EXPECT_TRUE(contents.finals.empty());
    const JournalContents read = read_journal(folder.path());
    ASSERT_EQ(read.records.size(), 3u);
    EXPECT_EQ(read.records[0].problem.shape.rows, 2);
    EXPECT_EQ(read.records[2].reason, "second");
}

TEST(Journal, CutAtEveryByteItLosesAtMostTheLastLine) {
    const std::string whole = journal_line(sample_header()) + journal_line(sample_record(1)) + journal_line(sample_record(2));
    const std::size_t header = whole.find('\n') + 1;
    std::size_t complete = 0;  // lines after the header
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::string_view text = std::string_view(whole).substr(0, size);
        if (size < header) {
            EXPECT_EQ(error_of([&] { parse_journal(text, "j"); }), "j: has no complete first line: it is no journal of a run");
            continue;
        }
        complete += size > header && text.back() == '\n' ? 1 : 0;
        const ParsedJournal parsed = parse_journal(text, "j");
        ASSERT_EQ(parsed.contents.records.size(), complete) << size;
        ASSERT_EQ(parsed.contents.dropped_lines, text.back() == '\n' ? 0 : 1) << size;
        ASSERT_EQ(parsed.complete_bytes, text.rfind('\n') + 1) << size;
    }
    EXPECT_EQ(complete, 1u);
}

TEST(Journal, ResumingGoesOnAfterTheLastCompleteLine) {
    const TemporaryFolder folder;
    const std::string path = folder / "journal.jsonl";
    const std::string complete = journal_line(sample_header()) + journal_line(sample_record(1));
    for (const std::size_t torn : {std::size_t{0}, std::size_t{1}, std::size_t{100}}) {
        std::filesystem::remove(path);
        append_bytes(path, complete + journal_line(sample_record(2)).substr(0, torn));
        JournalContents contents;
        Journal::resume(folder.path(), contents).append(sample_record(3));
        EXPECT_EQ(contents.records.size(), 1u);
        EXPECT_EQ(contents.dropped_lines, torn == 0 ? 0 : 1);
        EXPECT_EQ(read_file(path), complete + journal_line(sample_record(3)));
    }
}

TEST(Journal, OtherGarbageIsAnErrorWithItsLine) {
    const TemporaryFolder folder;
    { Journal::create(folder.path(), sample_header()).append(sample_record(1)); }
    const std::string path = folder / "journal.jsonl";
    const std::string good = read_file(path);
    const auto error_after = [&](std::string_view bytes) {
        write_file_atomically(path, good + std::string(bytes));
        return error_of([&] { read_journal(folder.path()); });
    };
    EXPECT_EQ(error_after("garbage\n").find(path + ":3: is not JSON: "), 0u) << error_after("garbage\n");
    EXPECT_EQ(error_after("\n").find(path + ":3: is not JSON: "), 0u);
    EXPECT_EQ(error_after(std::string(512, '\0') + "\n").find(path + ":3: is not JSON: "), 0u);
    EXPECT_EQ(error_after("[1]\n"), path + ":3: expected an object, got an array");
    EXPECT_EQ(error_after("{}\n"), path + ":3: is no line of a journal: it has none of \"record\", \"final\", \"repetition\" and \"void\"");
    EXPECT_EQ(error_after("{\"record\":{\"timestamp\":5}}\n"), path + ":3: record/timestamp: expected text, got the number '5'");
}

TEST(Journal, RefusesANewerVersion) {
    const TemporaryFolder folder;
    { Journal::create(folder.path(), sample_header()); }
    const std::string path = folder / "journal.jsonl";
    auto header = nlohmann::json::parse(read_file(path));
    header["schema_version"] = 2;
    write_file_atomically(path, header.dump() + "\n");
    EXPECT_EQ(error_of([&] { read_journal(folder.path()); }),
              path + ":1: schema_version: 2 was written by a newer normtune; this one reads up to 1: update it");
}

TEST(Journal, SaysWhatIsNoFolderOfARun) {
    const TemporaryFolder folder;
    JournalContents contents;
    EXPECT_EQ(error_of([&] { Journal::resume(folder / "none", contents); }), (folder / "none") + ": there is no such folder");
    EXPECT_EQ(error_of([&] { Journal::resume(folder.path(), contents); }),
              folder.path() + ": holds no journal.jsonl: it is not the folder of a run");
    write_file_atomically(folder / "file", "");
    EXPECT_EQ(error_of([&] { Journal::resume(folder / "file", contents); }),
              (folder / "file") + ": is a file where the folder of a run is needed");
    std::filesystem::create_directory(folder / "journal.jsonl");
    EXPECT_EQ(error_of([&] { Journal::resume(folder.path(), contents); }),
              (folder / "journal.jsonl") + ": is a folder where a file is needed");
}

TEST(Journal, OneWriterAtATime) {
    const TemporaryFolder folder;
    JournalContents contents;
    {
        Journal journal = Journal::create(folder.path(), sample_header());
        EXPECT_EQ(error_of([&] { Journal::resume(folder.path(), contents); }),
                  (folder / "journal.jsonl") + ": another normtune is writing to it; wait until that has ended");
        EXPECT_EQ(error_of([&] { Journal::create(folder.path(), sample_header()); }),
                  "system: " + (folder / "journal.jsonl") + ": cannot be created: File exists");
        journal.append(sample_record(1));
        EXPECT_EQ(read_journal(folder.path()).records.size(), 1u);  // reading is free
    }
    EXPECT_EQ(error_of([&] { Journal::resume(folder.path(), contents); }), "no error");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"journal.jsonl"});
}

TEST(Journal, AFullDiskLeavesItReadableAndUsable) {
    const TemporaryFolder folder;
    Journal journal = Journal::create(folder.path(), sample_header());
    journal.append(sample_record(1));
    const std::string before = read_file(folder / "journal.jsonl");
    rlimit old_limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = old_limit;
    limit.rlim_cur = before.size() + 100;  // within the next line
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    const std::string error = error_of([&] { journal.append(sample_record(2)); });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
    std::signal(SIGXFSZ, old_handler);
    EXPECT_EQ(error, "system: " + (folder / "journal.jsonl") + ": cannot be written: File too large");
    EXPECT_EQ(read_file(folder / "journal.jsonl"), before);
    journal.append(sample_record(2));  // room again
    EXPECT_EQ(read_journal(folder.path()).records.size(), 2u);
}

TEST(Journal, ResumingClearsWhatAKilledProcessLeft) {
    const TemporaryFolder folder;
    { Journal::create(folder.path(), sample_header()); }
    write_file_atomically(folder / ".normtune-1-0.tmp", "half a result");
    JournalContents contents;
    Journal::resume(folder.path(), contents);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"journal.jsonl"});
}

/// A writer killed at any moment: every record whose append returned is there, and the journal goes on.
TEST(Journal, SurvivesKills) {
    const TemporaryFolder folder;
    int done[2];
    ASSERT_EQ(::pipe(done), 0);
    { Journal::create(folder.path(), sample_header()); }
    constexpr int kills = 30;
    std::chrono::steady_clock::duration first_record{};  // how long a writer takes to it on this machine
    int next = 1;
    for (int killed = 0; killed < kills; ++killed) {
        const auto started = std::chrono::steady_clock::now();
        const pid_t writer = ::fork();
        ASSERT_GE(writer, 0);
        if (writer == 0) {
            try {
                JournalContents contents;
                Journal journal = Journal::resume(folder.path(), contents);
                for (int rows = next;; ++rows) {
                    journal.append(sample_record(rows));
                    if (::write(done[1], &rows, sizeof rows) != sizeof rows) {
                        break;
                    }
                }
            } catch (...) {
            }
            const int failed = 0;
            [[maybe_unused]] const auto told = ::write(done[1], &failed, sizeof failed);
            ::_exit(1);
        }
        int acknowledged = next - 1;
        if (killed == 0) {
            ASSERT_EQ(::read(done[0], &acknowledged, sizeof acknowledged), static_cast<ssize_t>(sizeof acknowledged));
            first_record = std::chrono::steady_clock::now() - started;
        } else {
            std::this_thread::sleep_for(first_record * 3 * (killed - 1) / kills);
        }
        ::kill(writer, SIGKILL);
        int status = 0;
        ASSERT_EQ(::waitpid(writer, &status, 0), writer);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";

        const int end = 0;
        ASSERT_EQ(::write(done[1], &end, sizeof end), static_cast<ssize_t>(sizeof end));
        for (int rows = 0; ::read(done[0], &rows, sizeof rows) == sizeof rows && rows != 0;) {
            acknowledged = rows;
        }
        const JournalContents read = read_journal(folder.path());
        ASSERT_LE(read.dropped_lines, 1);
        ASSERT_GE(static_cast<int>(read.records.size()), acknowledged);
        for (std::size_t i = 0; i < read.records.size(); ++i) {
            ASSERT_EQ(read.records[i].problem.shape.rows, static_cast<std::int64_t>(i) + 1);
        }
        next = static_cast<int>(read.records.size()) + 1;
    }
    ::close(done[0]);
    ::close(done[1]);
}

}  // namespace
}  // namespace normtune
