// The two sides of `normtune ab`: what they are, which of their candidates make pairs, and their sweep.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/ab.h"
#include "run/device_choice.h"
#include "run/sweep.h"

namespace normtune {

/// A candidate folder, a tree of some, a Python provider, or a configuration of normtune's own.
struct AbSide {
    struct Entry {
        std::string name;                                // of a tree: where its folder lies in it; of a provider: its own; otherwise empty
        std::shared_ptr<const KernelFolder> folder;      // null: the provider, or the configuration
        std::shared_ptr<const PythonProvider> provider;  // null: the folder, or the configuration
    };
    std::string text;  // as the command names it
    std::vector<Entry> entries;
    std::optional<Configuration> configuration;
    PythonWish python;  // names nothing: no provider

    bool is_python() const { return !python.names.empty(); }
    /// What tables call it: of a provider its version and interpreter, too.
    std::string label() const;
};

/// `role`, "before" or "after", is what the side's providers begin with; `python` as of PythonWish. Throws InputError: none of what a side
/// may be, no candidate in the tree, what is wrong with one, an interpreter of what is not Python's.
AbSide read_ab_side(const std::string& text, const std::string& role, const std::string& python = "");
/// What a Python provider has for the problems; does nothing for another side. See PythonProvider::ask.
void ask_provider(AbSide& side, Backend backend, const std::vector<Problem>& problems);
/// Throws InputError: both are the same.
void require_two_sides(const AbSide& before, const AbSide& after);
/// The problems that the sides' folders name. Throws InputError: one names none, so that problems have to be selected.
std::vector<Problem> problems_of(const AbSide& before, const AbSide& after);

/// A candidate of each side; none: the side has nothing that belongs to the other's.
struct AbTrials {
    std::string problem;  // key
    std::string name;     // provider under which both are reported
    std::optional<Candidate> before;
    std::optional<Candidate> after;
};

/// Folders of two trees belong together by their names, and one folder to one; within them the candidates of a problem whose tunables have
/// the same values, or one to one where each side has one alone. Of Python providers belong together those of one key. Throws
/// InputError: there is no pair.
std::vector<AbTrials> plan_ab(const AbSide& before, const AbSide& after, const std::vector<Problem>& problems, const DeviceInfo& device);

struct AbBudget {
    static constexpr double device_time_us = 2e6;  // of each side of a pair, in all processes together
    static constexpr int least_processes = 2;
    static constexpr int most_processes = 16;
    static constexpr int usual_processes = 8;
};

/// What is measured, and how: every trial in so many processes, as many rounds in each as the budget has room for.
void set_ab_sweep(SweepOptions& options, const AbSide& before, const AbSide& after, std::vector<Problem> problems,
                  const std::vector<AbTrials>& trials, int processes);

/// The sweep's records, each under its reported name, and which of them are pairs.
struct AbRecords {
    std::vector<Record> records;
    std::vector<AbPair> pairs;  // into `records`: do not copy
    AbRecords() = default;
    AbRecords(const AbRecords&) = delete;
    AbRecords(AbRecords&&) = default;
};
AbRecords ab_records(const Results& results, const std::vector<AbTrials>& trials);

}  // namespace normtune
