// SIGKILL of the sweeping process at random moments, and what --resume makes of it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "run/sweep_fixture.h"
#include "store/journal.h"
#include "store/winner_store.h"
#include "support/sanitized.h"

namespace normtune {
namespace {

using namespace std::chrono_literals;
using testing::RecordingSink;
using testing::small_problem;
using testing::small_sweep;
using testing::TemporaryFolder;

constexpr std::size_t trials = 18;

struct Way {
    const Strategy* strategy = find_strategy("exhaustive");
    std::vector<int> devices{0};
};

SweepOptions three_problems(const TemporaryFolder& folder, const std::string& out, const Way& way = {}) {
    SweepOptions options = small_sweep(folder, "devices: 2\ndelays: {compile_ms: 1, sample_ms: 0.2}\n", out);
    options.strategy = way.strategy;
    options.ordinals = way.devices;
    options.problems = {small_problem(256), small_problem(512), small_problem(1024)};
    options.stop_rule.most_rounds = 6;
    return options;
}

/// Runs or resumes the sweep in a child process. The child ends like a command would, without this process's cleanup.
pid_t start_sweep(SweepOptions options) {
    options.resume = std::filesystem::exists(options.out_folder + "/journal.jsonl");
    const pid_t child = fork();
    if (child == 0) {
        RecordingSink sink;
        try {
            run_sweep(options, sink);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            _exit(1);
        }
        _exit(0);
    }
    return child;
}

std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    std::error_code gone;
    for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", parent), gone)) {
        std::ifstream file(thread.path() / "children");
        for (pid_t child = 0; file >> child;) {
            children.push_back(child);
        }
    }
    return children;
}

bool is_gone(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t after_name = text.rfind(") ");
    return after_name == std::string::npos || text[after_name + 2] == 'Z' || text[after_name + 2] == 'X';
}

bool gone_within(pid_t process, std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!is_gone(process) && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(2ms);
    }
    return is_gone(process);
}

/// Lines of results.csv as "rows cols config", from the columns with these names.
std::vector<std::string> csv_trials(const std::string& folder) {
    std::ifstream file(folder + "/results.csv");
    std::vector<std::string> trial_names;
    std::string line;
    std::vector<std::size_t> wanted;
    while (std::getline(file, line)) {
        std::vector<std::string> cells(1);
        bool quoted = false;
        for (const char c : line) {
            if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                cells.emplace_back();
            } else if (c != '\r') {
                cells.back() += c;
            }
        }
        if (wanted.empty()) {
            for (const char* name : {"rows", "cols", "config"}) {
                wanted.push_back(static_cast<std::size_t>(std::distance(cells.begin(), std::find(cells.begin(), cells.end(), name))));
            }
            continue;
        }
        trial_names.push_back(cells.at(wanted[0]) + " " + cells.at(wanted[1]) + " " + cells.at(wanted[2]));
    }
    return trial_names;
}

class KillAndResumeOf : public ::testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(Strategies, KillAndResumeOf,
                         ::testing::Values(Way{find_strategy("exhaustive"), {0}}, Way{find_strategy("racing"), {0}},
                                           Way{find_strategy("racing"), {0, 1}}),
                         [](const auto& tested) {
                             return fmt::format("{}_{}_devices", tested.param.strategy->name(), tested.param.devices.size());
                         });

TEST_P(KillAndResumeOf, KillsLoseNoTrialAndDoubleNone) {
    constexpr int kills_wanted = testing::sanitized ? 5 : 50;
    constexpr int kills_a_sweep = 5;
    std::mt19937 random(20261121);
    const TemporaryFolder folder;
    const auto begin = std::chrono::steady_clock::now();
    {
        const pid_t child = start_sweep(three_problems(folder, "whole", GetParam()));
        int status = -1;
        waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
    }
    auto whole = std::chrono::steady_clock::now() - begin;
    int kills = 0;
    for (int sweep = 0; kills < kills_wanted; ++sweep) {
        ASSERT_LT(sweep, kills_wanted);
        const SweepOptions options = three_problems(folder, "sweep" + std::to_string(sweep), GetParam());
        for (int attempt = 0; attempt < kills_a_sweep; ++attempt) {
            const auto started = std::chrono::steady_clock::now();
            const pid_t child = start_sweep(options);
            std::uniform_real_distribution<double> moment(0, 1);
            std::this_thread::sleep_for(whole * moment(random));
            const std::vector<pid_t> workers = children_of(child);
            kill(child, SIGKILL);
            int status = 0;
            waitpid(child, &status, 0);
            const auto took = std::chrono::steady_clock::now() - started;
            const bool killed = WIFSIGNALED(status);
            ASSERT_TRUE(killed || WEXITSTATUS(status) == 0);
            for (const pid_t worker : workers) {
                EXPECT_TRUE(gone_within(worker, 60s)) << "an orphan: " << worker;
            }
            if (std::filesystem::exists(options.out_folder + "/journal.jsonl")) {
                EXPECT_NO_THROW(read_journal(options.out_folder));
            }
            if (!killed) {
                whole = attempt == 0 ? std::min(whole, took) : whole;  // the machine was busy when it was measured
                break;
            }
            ++kills;
        }
        int status = -1;
        waitpid(start_sweep(options), &status, 0);
        ASSERT_EQ(status, 0);
        const std::vector<std::string> rows = csv_trials(options.out_folder);
        EXPECT_EQ(rows.size(), trials);
        EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), trials);
        EXPECT_EQ(read_journal(options.out_folder).finals.size(), 3U);
    }
}

TEST(KillAndResume, AnInterruptWritesWhatIsThereAndTheRestFollows) {
    const TemporaryFolder folder;
    SweepOptions options = three_problems(folder, "out");
    // The signal comes with the first problem's last record.
    struct InterruptingSink : RecordingSink {
        void update(const Progress& progress) override {
            RecordingSink::update(progress);
            if (progress.trials_done >= 6 && !sent) {
                sent = true;
                raise(SIGINT);
            }
        }
        bool sent = false;
    } interrupting;
    const SweepResult first = run_sweep(options, interrupting);
    EXPECT_TRUE(first.interrupted);
    EXPECT_EQ(first.results.records.size(), 6U);
    EXPECT_EQ(csv_trials(options.out_folder).size(), 6U);
    ASSERT_EQ(interrupting.warnings.size(), 1U);
    EXPECT_NE(interrupting.warnings[0].find("6 of 18 trials"), std::string::npos) << interrupting.warnings[0];
    EXPECT_NE(interrupting.warnings[0].find("--resume " + options.out_folder), std::string::npos);

    SweepOptions rest = options_from_journal(options.out_folder);
    RecordingSink sink;
    const SweepResult second = run_sweep(rest, sink);
    EXPECT_FALSE(second.interrupted);
    EXPECT_EQ(second.results.records.size(), trials);
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(second.results.records[i].measurement->p50_us, first.results.records[i].measurement->p50_us);
    }
    EXPECT_EQ(csv_trials(options.out_folder).size(), trials);
}

/// Runs it, with a signal at the first news behind its last trial's record that `is_due`.
template <typename IsDue>
SweepResult interrupted_behind_its_last_trial(const SweepOptions& options, const IsDue& is_due, std::string& warning) {
    struct InterruptingSink : RecordingSink {
        explicit InterruptingSink(const IsDue& due) : is_due(due) {}
        void update(const Progress& progress) override {
            if (progress.trials_done == progress.trials_total && !sent && is_due()) {
                sent = true;
                raise(SIGTERM);
            }
        }
        const IsDue& is_due;
        bool sent = false;
    } interrupting(is_due);
    SweepResult result = run_sweep(options, interrupting);
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(interrupting.warnings.size(), 1U);
    warning = interrupting.warnings.empty() ? "" : interrupting.warnings[0];
    return result;
}

TEST(KillAndResume, AnInterruptInTheLastFinalsIsInTheResults) {
    const TemporaryFolder folder;
    const SweepOptions options = three_problems(folder, "out");
    std::string warning;
    const SweepResult result = interrupted_behind_its_last_trial(
        options, [] { return true; }, warning);
    ASSERT_EQ(result.results.records.size(), trials);
    const auto unfinished_of = [](const Results& results) {
        std::vector<std::string> out;
        for (const PlanSummary& plan : results.plans) {
            if (plan.unfinished() != nullptr) {
                out.push_back(plan.problem_key + ": " + plan.unfinished()->reason);
            }
        }
        return out;
    };
    const std::vector<std::string> left = unfinished_of(read_results_json(options.out_folder));
    ASSERT_EQ(left.size(), 1U);
    EXPECT_TRUE(left[0].ends_with(": the finals were not held")) << left[0];
    EXPECT_EQ(warning.rfind("interrupted after all 18 trials, with 1 problem to finish (" + left[0] + "); go on with: ", 0), 0U) << warning;
    RecordingSink sink;
    EXPECT_TRUE(unfinished_of(run_sweep(options_from_journal(options.out_folder), sink).results).empty());
}

TEST(KillAndResume, AnInterruptBetweenProcessesIsInTheResults) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "delays: {sample_ms: 0.2}\n");
    options.processes = 3;
    options.store = folder.path("store");
    const auto in_a_later_process = [&] { return !read_journal(options.out_folder).finals.empty(); };
    std::string warning;
    const SweepResult result = interrupted_behind_its_last_trial(options, in_a_later_process, warning);
    EXPECT_NE(warning.find("fewer than 3 processes measured it"), std::string::npos) << warning;
    ASSERT_NE(result.results.plans.at(0).unfinished(), nullptr);
    EXPECT_EQ(result.results.plans[0].unfinished()->reason, "fewer than 3 processes measured it");
    {
        std::optional<WinnerStore> store = WinnerStore::open(options.store);
        EXPECT_EQ(store ? store->all([](const std::string&) {}).size() : 0, 1U) << "its finals were run";
    }
    RecordingSink sink;
    EXPECT_EQ(run_sweep(options_from_journal(options.out_folder), sink).results.plans.at(0).unfinished(), nullptr);
}

TEST(KillAndResume, AnInterruptBeforeATrialIsCompleteKeepsWhatItsRoundsSaid) {
    const TemporaryFolder folder;
    const SweepOptions options = three_problems(folder, "out");
    // The signal comes in the second round: the first has six trials, the copy and the empty launch.
    struct InterruptingSink : RecordingSink {
        void update(const Progress& progress) override {
            RecordingSink::update(progress);
            measuring = measuring || progress.doing == "measuring the copy";
            if (measuring && ++measured == 12) {
                raise(SIGINT);
            }
        }
        bool measuring = false;
        int measured = 0;
    } interrupting;
    const SweepResult result = run_sweep(options, interrupting);
    EXPECT_TRUE(result.interrupted);
    EXPECT_TRUE(result.results.records.empty());
    ASSERT_EQ(result.under_way.size(), 6U);
    for (const Record& record : result.under_way) {
        ASSERT_TRUE(record.measurement);
        EXPECT_GT(record.measurement->p50_us, 0);
        EXPECT_GE(record.measurement->rounds.size(), 1U);
        EXPECT_LE(record.measurement->rounds.size(), 2U);
    }
    EXPECT_TRUE(read_journal(options.out_folder).records.empty());
}

TEST(KillAndResume, AHangingTrialDoesNotHoldUpAnInterrupt) {
    const TemporaryFolder folder;
    SweepOptions options = small_sweep(folder, "faults: [{at: measure, do: hang}]\n");
    options.trial_timeout_s = 60;
    const pid_t child = fork();
    if (child == 0) {
        RecordingSink sink;
        _exit(run_sweep(options, sink).interrupted ? 130 : 0);
    }
    while (!std::filesystem::exists(options.out_folder + "/worker.log")) {  // of the worker: signals are handled by then
        std::this_thread::sleep_for(5ms);
    }
    std::this_thread::sleep_for(300ms);  // the trial hangs by then, mostly
    const auto sent = std::chrono::steady_clock::now();
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
    EXPECT_LT(std::chrono::steady_clock::now() - sent, 30s);
}

}  // namespace
}  // namespace normtune
