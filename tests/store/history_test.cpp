#include "store/history.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "store/history_rows.h"
#include "store/sample_results.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace normtune {
namespace {

using testing::sample_trial;
using testing::TemporaryFolder;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

HistoryBatch night(int day, double p50_us = 10) {
    HistoryBatch out;
    out.run = {fmt::format("2026-11-{:02}T02:00:00Z", day), "cuda", "GPU", "sm_90", "GPU-1", true, "580.1", "", "abc", "night.json"};
    for (int i = 0; i < 3; ++i) {
        out.points.push_back({{fmt::format("rms_norm/forward/bf16/llama/{}x4096", i + 1), "normtune",
                               "w4.t128.r1.row.registers.even.per_row", "hidden", true},
                              "hash",
                              {9, p50_us + i, 12, unknown, unknown, 1, 8, i == 0 ? 1 : 0}});
    }
    return out;
}

HistoryAdded add(const std::string& path, std::vector<HistoryBatch> batches) {
    return HistoryStore::open_or_create(path).add(batches);
}

void run_sql(const std::string& path, const char* sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
}

template <typename Work>
std::string refusal(const Work& work) {
    try {
        work();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(History, GivesBackWhatWasPutInOrderOfNights) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/below/h.sqlite3";
    EXPECT_FALSE(HistoryStore::open(path));
    EXPECT_EQ(add(path, {night(9, 11), night(7)}).fresh, 6);
    EXPECT_EQ(add(path, {night(8)}).fresh, 3);
    std::optional<HistoryStore> store = HistoryStore::open(path);
    ASSERT_TRUE(store);
    const History history = store->read({});
    ASSERT_EQ(history.series.size(), 3U);
    const HistorySeries& series = history.series[0];
    ASSERT_EQ(series.nights.size(), 3U);
    EXPECT_EQ(history.runs[series.nights[0].run].started, "2026-11-07T02:00:00Z");
    EXPECT_EQ(series.nights[2].times.p50_us, 11);
    EXPECT_TRUE(std::isnan(series.nights[2].times.low_us));
    EXPECT_EQ(series.nights[2].times.copy_us, 8);
    EXPECT_EQ(series.nights[2].times.rank, 1);
    EXPECT_EQ(history.codes[series.nights[0].code], "hash");
    EXPECT_EQ(history.runs[0].device_id, "GPU-1");
    EXPECT_TRUE(history.runs[0].has_uuid);
    EXPECT_EQ(series.trial.candidate(), "w4.t128.r1.row.registers.even.per_row");
    EXPECT_EQ(store->runs().size(), 3U);
    EXPECT_EQ(store->read({"*/2x*", "", "", 2}).series.size(), 1U);
    EXPECT_EQ(store->read({"*/2x*", "", "", 2}).series[0].nights.size(), 2U);
    EXPECT_TRUE(store->read({"", "", "other*", 0}).series.empty());
}

TEST(History, TheNewestRunOfADeviceIsThatOfAllItsTrials) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/h.sqlite3";
    HistoryBatch newest = night(9);
    newest.points.erase(newest.points.begin());  // without the trial that is asked for
    HistoryBatch other = night(10);
    other.run.device = "Other GPU";
    HistoryBatch first = night(6);
    first.run.device = "Other GPU";
    add(path, {first, night(7), night(8), newest, other});
    HistoryFilter filter;
    filter.problem = "*/1x4096";
    filter.device = "GPU";
    const History history = HistoryStore::open(path)->read(filter);
    ASSERT_EQ(history.series.size(), 1U);
    ASSERT_EQ(history.runs.size(), 3U) << "those of the other device are not there";
    EXPECT_EQ(history.newest, (std::map<std::string, std::uint32_t>{{"GPU", 2}}));
    EXPECT_EQ(history.runs[history.series[0].nights.back().run].started, "2026-11-08T02:00:00Z");
}

TEST(History, TheSameTwiceIsThereOnce) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/h.sqlite3";
    add(path, {night(7)});
    const HistoryAdded again = add(path, {night(7)});
    EXPECT_EQ(again.fresh, 0);
    EXPECT_EQ(again.same, 3);
    EXPECT_EQ(again.replaced, 0);
    HistoryBatch other = night(7);
    other.points[1].times.p50_us = 20;
    other.points.push_back(other.points[0]);
    other.points.back().trial.cold = false;
    const HistoryAdded changed = add(path, {other});
    EXPECT_EQ(changed.fresh, 1);
    EXPECT_EQ(changed.same, 2);
    EXPECT_EQ(changed.replaced, 1);
    EXPECT_EQ(HistoryStore::open(path)->read({}).series[1].nights[0].times.p50_us, 20);
}

// results.json of a night, a label that the caller gives it later, and then its results.csv, which knows less.
TEST(History, ARunThatIsThereLosesNothing) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/h.sqlite3";
    HistoryBatch whole = night(7);
    whole.run.compiler = "GCC 12";
    whole.run.revision = "of the file";
    whole.points[0].times.low_us = whole.points[0].times.p50_us - 0.1;
    whole.points[0].times.high_us = whole.points[0].times.p50_us + 0.1;
    add(path, {whole});
    HistoryBatch labelled = whole;
    labelled.run.revision = "of the caller";
    labelled.run.revision_is_label = true;
    add(path, {labelled});
    HistoryBatch less = night(7);
    less.run.compiler = "";
    less.run.revision = "";
    less.points[0].times.p50_us *= 1.0001;
    less.points[0].times.low_us = less.points[0].times.high_us = std::numeric_limits<double>::quiet_NaN();
    const HistoryAdded again = add(path, {less});
    EXPECT_EQ(again.replaced, 0);
    EXPECT_EQ(again.same, 3);
    add(path, {whole});
    const History history = HistoryStore::open(path)->read({});
    ASSERT_EQ(history.runs.size(), 1U);
    EXPECT_EQ(history.runs[0].compiler, "GCC 12");
    EXPECT_EQ(history.runs[0].revision, "of the caller");
    EXPECT_EQ(history.series[0].nights[0].times.low_us, whole.points[0].times.low_us);
}

TEST(History, ATrialThatFailsLaterLosesItsTimeInThatRun) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/h.sqlite3";
    HistoryBatch first = night(7);
    HistoryPoint hot = first.points[0];
    hot.trial.cold = false;
    first.points.push_back(hot);
    add(path, {first, night(8)});
    HistoryBatch resumed = night(7);
    resumed.failed = {{resumed.points[0].trial, false, Outcome::incorrect}};
    resumed.points.erase(resumed.points.begin());
    const HistoryAdded added = add(path, {resumed});
    EXPECT_EQ(added.same, 2);
    EXPECT_EQ(added.fresh + added.replaced, 0);
    ASSERT_EQ(added.taken_out.size(), 1U);
    EXPECT_EQ(added.taken_out[0].trial.problem, "rms_norm/forward/bf16/llama/1x4096");
    EXPECT_EQ(added.taken_out[0].outcome, Outcome::incorrect);
    const History history = HistoryStore::open(path)->read({"*/1x4096", "", "", 0});
    ASSERT_EQ(history.series.size(), 2U);
    ASSERT_EQ(history.series[0].nights.size(), 1U) << "the other night keeps it";
    EXPECT_EQ(history.runs[history.series[0].nights[0].run].started, "2026-11-08T02:00:00Z");
    EXPECT_FALSE(history.series[1].trial.cold);
    EXPECT_EQ(history.series[1].nights.size(), 1U);
    EXPECT_TRUE(add(path, {resumed}).taken_out.empty()) << "once";
}

TEST(History, ARunOfFailuresAloneIsNotMade) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/h.sqlite3";
    HistoryBatch failed = night(7);
    for (const HistoryPoint& point : failed.points) {
        failed.failed.push_back({point.trial, true, Outcome::crashed});
    }
    failed.points.clear();
    add(path, {failed});
    EXPECT_TRUE(HistoryStore::open(path)->runs().empty());
    EXPECT_FALSE(HistoryStore::open(path)->has(failed.run));
    add(path, {night(7)});
    EXPECT_TRUE(HistoryStore::open(path)->has(failed.run));
    EXPECT_EQ(add(path, {failed}).taken_out.size(), 3U);
    EXPECT_TRUE(HistoryStore::open(path)->read({}).series.empty());
}

TEST(History, RefusesWhatIsNoHistory) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/h.sqlite3";
    std::ofstream(path) << "this is text, and long enough to be looked at";
    EXPECT_NE(refusal([&] { HistoryStore::open(path); }).find("is damaged or no database"), std::string::npos);
    const std::string other = folder.path() + "/other.sqlite3";
    run_sql(other, "CREATE TABLE t (x)");
    EXPECT_NE(refusal([&] { add(other, {night(1)}); }).find("another program"), std::string::npos);
    const std::string newer = folder.path() + "/newer.sqlite3";
    add(newer, {night(1)});
    run_sql(newer, "PRAGMA user_version = 2");
    EXPECT_NE(refusal([&] { HistoryStore::open(newer); }).find("newer normtune (version 2 of the history, this one reads 1)"),
              std::string::npos);
    const std::string edited = folder.path() + "/edited.sqlite3";
    add(edited, {night(1)});
    run_sql(edited, "UPDATE points SET p50_us = -1");
    EXPECT_NE(refusal([&] { HistoryStore::open(edited)->read({}); }).find("not put there by normtune"), std::string::npos);
    run_sql(edited, "UPDATE points SET p50_us = 1; UPDATE runs SET started = 'yesterday'");
    EXPECT_NE(refusal([&] { HistoryStore::open(edited)->read({}); }).find("'yesterday'"), std::string::npos);
}

Results measured() {
    Results out;
    out.environment.started = "2026-11-20T02:00:00Z";
    out.environment.source_revision = "abc";
    out.environment.device.id = "0000:41:00.0";
    Problem problem;
    problem.shape = {4, 1024, 1024};
    Configuration other;
    other.num_warps = 8;
    out.records = {sample_trial(problem, Configuration{}, 10, 1), sample_trial(problem, other, 11, 2)};
    for (Record& record : out.records) {
        record.device_id = out.environment.device.id;
        record.backend = Backend::cuda;
    }
    return out;
}

TEST(HistoryRows, ResultsBecomeABatchADevice) {
    Results results = measured();
    results.environment.device.uuid = "GPU-1";
    const HistoryInput one = history_of(results, "r.json", {});
    ASSERT_EQ(one.batches.size(), 1U);
    EXPECT_TRUE(one.batches[0].run.has_uuid);
    EXPECT_EQ(one.batches[0].run.device_id, "GPU-1");
    EXPECT_EQ(one.batches[0].run.revision, "abc");
    EXPECT_EQ(one.batches[0].points.size(), 2U);
    EXPECT_EQ(one.batches[0].points[0].times.p50_us, 10);
    EXPECT_TRUE(one.remarks.empty());
    HistoryLabels labels;
    EXPECT_EQ(one.batches[0].run.compiler, "") << "an older file's";
    results.environment.compiler = "NVRTC 13.0";
    EXPECT_EQ(history_of(results, "r.json", {}).batches[0].run.compiler, "NVRTC 13.0");
    labels.revision = "def";
    labels.compiler = "nvcc 13";
    EXPECT_EQ(history_of(results, "r.json", labels).batches[0].run.compiler, "nvcc 13");
    results.records[1].device_id = "0000:c1:00.0";
    const HistoryInput two = history_of(results, "r.json", {});
    ASSERT_EQ(two.batches.size(), 2U);
    EXPECT_EQ(two.batches[1].run.device_id, "0000:c1:00.0");
    EXPECT_FALSE(two.batches[1].run.has_uuid) << "the UUID is the first one's";
    EXPECT_EQ(two.remarks.size(), 1U);
}

TEST(HistoryRows, MergedResultsHaveAUuidWhereAllRunsOfThatDeviceHaveIt) {
    Results results = measured();
    results.environment.device.name = "GPU;Other GPU";
    const auto run_on = [&](const char* name, const char* uuid) {
        MergedRun run;
        run.environment.device.name = name;
        run.environment.device.id = results.records[0].device_id;
        run.environment.device.uuid = uuid;
        results.merged.push_back(run);
    };
    results.environment.device.uuid = "GPU-1";
    results.records[1].device = "Other GPU";
    run_on(results.records[0].device.c_str(), "GPU-1");
    run_on("Other GPU", "GPU-2");
    HistoryInput in = history_of(results, "r.json", {});
    ASSERT_EQ(in.batches.size(), 2U);
    EXPECT_EQ(in.batches[0].run.device_id, "GPU-1");
    EXPECT_EQ(in.batches[1].run.device_id, "GPU-2") << "of the same place in another machine";
    EXPECT_TRUE(in.remarks.empty());
    run_on("Other GPU", "GPU-3");
    in = history_of(results, "r.json", {});
    EXPECT_TRUE(in.batches[0].run.has_uuid);
    EXPECT_FALSE(in.batches[1].run.has_uuid);
    EXPECT_EQ(in.remarks.size(), 1U);
}

TEST(HistoryRows, LeavesOutWhatWasNotMeasuredToTheEnd) {
    Results results = measured();
    results.records[0].measurement->stop_reason = StopReason::dropped;
    EXPECT_EQ(history_of(results, "r.json", {}).batches[0].points.size(), 1U);
    results.records[1].outcome = Outcome::incorrect;
    const HistoryInput failed = history_of(results, "r.json", {});
    EXPECT_NE(failed.no_times.find("no trial in it passed"), std::string::npos);
    ASSERT_EQ(failed.batches.size(), 1U);
    EXPECT_TRUE(failed.batches[0].points.empty());
    ASSERT_EQ(failed.batches[0].failed.size(), 1U);
    EXPECT_TRUE(failed.batches[0].failed[0].trial.cold);
    EXPECT_FALSE(failed.batches[0].failed[0].either);
    results.environment.started.clear();
    EXPECT_NE(refusal([&] { history_of(results, "r.csv", {}); }).find("no trial in it passed"), std::string::npos);
    results = measured();
    results.records[0].outcome = Outcome::crashed;
    results.records[0].measurement.reset();
    results.records[1].measurement->cold = false;
    EXPECT_FALSE(history_of(results, "r.json", {}).batches[0].failed[0].trial.cold) << "as the others of the file";
    EXPECT_EQ(history_of(results, "r.json", {}).no_times, "");
    results.records.pop_back();
    EXPECT_TRUE(history_of(results, "r.json", {}).batches[0].failed[0].either);
    results = measured();
    results.environment.started.clear();
    EXPECT_EQ(history_of(results, "r.csv", {}).batches[0].run.started, results.records[0].timestamp);
    for (Record& record : results.records) {
        record.timestamp.clear();
    }
    EXPECT_NE(refusal([&] { history_of(results, "r.csv", {}); }).find("--started"), std::string::npos);
}

TEST(HistoryRows, LeavesOutWhatTheStoreOfWinnersGave) {
    Results results = measured();
    PlanSummary plan;
    plan.problem_key = results.records[0].problem.key();
    plan.pruned = {{std::string(stored_rule), "", 1}};
    results.plans = {plan};
    const std::size_t of_it = static_cast<std::size_t>(
        std::ranges::count_if(results.records, [&](const Record& record) { return record.problem.key() == plan.problem_key; }));
    ASSERT_EQ(of_it, results.records.size());
    EXPECT_NE(refusal([&] { history_of(results, "r.json", {}); }).find("from the store of winners"), std::string::npos);
    results.records.push_back(results.records[0]);
    results.records.back().problem.shape = {7, 4096, 4096};
    const HistoryInput in = history_of(results, "r.json", {});
    ASSERT_EQ(in.batches.size(), 1U);
    EXPECT_EQ(in.batches[0].points.size(), 1U);
    ASSERT_FALSE(in.remarks.empty());
    EXPECT_EQ(in.remarks[0].find("r.json: 1 problem is from the store of winners"), 0U) << in.remarks[0];
}

TEST(HistoryRows, GoogleBenchmarksFileHoldsAllOfARun) {
    HistoryBatch batch = night(7);
    batch.points[2].trial.cold = false;
    const HistoryInput back = parse_benchmarks(google_benchmark_json(batch), "g.json", {});
    const HistoryBatch& read = back.batches.at(0);
    EXPECT_EQ(read.run.started, batch.run.started);
    EXPECT_EQ(read.run.device_id, "GPU-1");
    EXPECT_TRUE(read.run.has_uuid);
    EXPECT_EQ(read.run.driver, "580.1");
    ASSERT_EQ(read.points.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(read.points[i].trial.problem, batch.points[i].trial.problem);
        EXPECT_EQ(read.points[i].trial.candidate(), batch.points[i].trial.candidate());
        EXPECT_EQ(read.points[i].trial.cold, i < 2);
        EXPECT_EQ(read.points[i].code, "hash");
        EXPECT_EQ(read.points[i].times.p50_us, batch.points[i].times.p50_us);
        EXPECT_EQ(read.points[i].times.p80_us, 12);
        EXPECT_EQ(read.points[i].times.floor_us, 1);
    }
}

TEST(HistoryRows, KeysOfOtherProvidersComeBackWhateverTheyHold) {
    HistoryBatch batch = night(7);
    batch.points.clear();
    for (const bool cold : {true, false}) {
        for (const char* key : {"good", "good hot", "good  hot ", "50% of a row", "a%20b", "100%25"}) {
            batch.points.push_back(night(7).points.front());
            HistoryTrial& named = batch.points.back().trial;
            named.provider = "mine";
            named.configuration = key;
            named.cold = cold;
        }
    }
    const auto told = [](const HistoryBatch& of) {
        std::set<std::string> out;
        for (const HistoryPoint& point : of.points) {
            out.insert(fmt::format("{} | {} | {}", point.trial.problem, point.trial.candidate(), point.trial.cold));
        }
        return out;
    };
    ASSERT_EQ(told(batch).size(), 12U);
    const HistoryLabels labels{.started = batch.run.started, .device = "GPU", .driver = "", .compiler = "", .revision = ""};
    for (const std::string& json : {google_benchmark_json(batch), bencher_json(batch)}) {
        EXPECT_EQ(told(parse_benchmarks(json, "night.json", labels).batches.at(0)), told(batch));
    }
}

TEST(HistoryRows, ANightIsAllRunsThatBeganThen) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/h.sqlite3";
    HistoryBatch first = night(9);
    HistoryBatch second = night(9, 20);
    second.run.device_id = "GPU-2";
    second.run.driver = "580.2";
    first.points.pop_back();
    second.points.erase(second.points.begin(), second.points.begin() + 2);
    add(path, {night(8), first, second});
    std::vector<std::string> remarks;
    const std::optional<HistoryBatch> both = night_of(HistoryStore::open(path)->read({}), "", remarks);
    ASSERT_TRUE(both);
    ASSERT_EQ(both->points.size(), 3U);
    EXPECT_EQ(both->points[0].times.p50_us, 10);
    EXPECT_EQ(both->points[2].times.p50_us, 22);
    EXPECT_EQ(both->run.started, "2026-11-09T02:00:00Z");
    EXPECT_EQ(both->run.device_id + both->run.driver, "") << "in which they differ";
    EXPECT_FALSE(both->run.has_uuid);
    EXPECT_EQ(both->run.revision, "abc");
    const History history = HistoryStore::open(path)->read({});
    EXPECT_EQ(night_of(history, "2026-11-08T02:00:00Z", remarks)->run.device_id, "GPU-1");
    EXPECT_FALSE(night_of(history, "2026-11-07T02:00:00Z", remarks));
    EXPECT_TRUE(remarks.empty());
    second.points = night(9, 20).points;
    add(path, {second});
    const std::optional<HistoryBatch> twice = night_of(HistoryStore::open(path)->read({}), "", remarks);
    ASSERT_EQ(twice->points.size(), 3U) << "names are names of one benchmark";
    EXPECT_EQ(twice->points[0].times.p50_us, 20);
    EXPECT_EQ(remarks.size(), 1U);
    second.run.device = "Other GPU";
    add(path, {second});
    EXPECT_NE(refusal([&] { night_of(HistoryStore::open(path)->read({}), "", remarks); }).find("--device-name"), std::string::npos);
}

TEST(HistoryRows, AggregatesAndErrorsOfGoogleBenchmark) {
    const HistoryInput in = parse_benchmarks(R"({"context": {"date": "2026-11-20T23:30:00-01:00", "host_name": "h"}, "benchmarks": [
        {"name": "a_mean", "run_name": "a", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 5, "time_unit": "us"},
        {"name": "a_median", "run_name": "a", "run_type": "aggregate", "aggregate_name": "median", "real_time": 4, "time_unit": "us"},
        {"name": "a_stddev", "run_name": "a", "run_type": "aggregate", "aggregate_name": "stddev", "real_time": 0, "time_unit": "us"},
        {"name": "b", "run_type": "iteration", "error_occurred": true, "error_message": "no"},
        {"name": "c", "run_type": "iteration", "skipped": true, "skip_message": "no GPU", "real_time": 0},
        {"name": "d", "run_type": "iteration", "real_time": 7, "label": "items=1040"}]})",
                                             "g.json", {});
    ASSERT_EQ(in.batches.at(0).points.size(), 2U);
    EXPECT_EQ(in.batches[0].points[1].code, "") << "another tool's label is no hash of code";
    EXPECT_EQ(in.batches[0].points[0].times.p50_us, 4);
    EXPECT_EQ(in.batches[0].run.started, "2026-11-21T00:30:00Z");
}

TEST(HistoryRows, TimesOutOfOrderAreRefused) {
    const auto google = [](const std::string& counters) {
        return refusal([&] {
            parse_benchmarks(R"({"context": {"date": "2026-11-20T23:30:00Z", "host_name": "h"}, "benchmarks": [
                {"name": "a", "run_type": "iteration", "real_time": 5, "time_unit": "us", )" +
                                 counters + "}]}",
                             "g.json", {});
        });
    };
    EXPECT_EQ(google(R"("p20_us": 4, "p80_us": 6, "low_us": 5, "high_us": 5)"), "");
    EXPECT_EQ(google(R"("p20_us": 5)"), "");
    EXPECT_NE(google(R"("p20_us": 9, "p80_us": 1)").find("p20_us 9, p50_us 5 and p80_us 1 are out of order"), std::string::npos);
    EXPECT_NE(google(R"("p80_us": 4)").find("are out of order"), std::string::npos);
    EXPECT_NE(google(R"("low_us": 6, "high_us": 4)").find("the interval from 6 to 4 us is out of order"), std::string::npos);
    EXPECT_NE(refusal([] {
                  parse_benchmarks(R"({"a": {"latency": {"value": 5000, "lower_value": 6000, "upper_value": 4000}}})", "b.json", {});
              }).find("b.json: a: the interval from 6 to 4 us is out of order"),
              std::string::npos);
}

TEST(HistoryRows, BencherSaysNeitherWhenNorOnWhat) {
    const std::string json = bencher_json(night(7));
    EXPECT_NE(refusal([&] { parse_benchmarks(json, "b.json", {}); }).find("--started"), std::string::npos);
    HistoryLabels labels;
    labels.started = "2026-11-07T02:00:00Z";
    EXPECT_NE(refusal([&] { parse_benchmarks(json, "b.json", labels); }).find("--device-name"), std::string::npos);
    labels.device = "GPU";
    const HistoryInput in = parse_benchmarks(json, "b.json", labels);
    ASSERT_EQ(in.batches.at(0).points.size(), 3U);
    EXPECT_DOUBLE_EQ(in.batches[0].points[0].times.p50_us, 10);
    EXPECT_DOUBLE_EQ(in.batches[0].points[0].times.copy_us, 8);
}

}  // namespace
}  // namespace normtune
