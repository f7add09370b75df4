// What a sweep has so far: every record goes to the journal first, then here; progress is counted here, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "run/sweep.h"
#include "store/journal.h"

namespace normtune {

bool is_faulty(
    Outcome outcome);  // incorrect, crashed, timed_out, …: everything that ran or should have, and did not pass

class Recorder {
public:
    /// `earlier` is what a resumed journal held; `trials_total` counts those trials as well.
    Recorder(Journal& journal, const JournalContents& earlier, ProgressSink& sink, std::uint64_t trials_total);

    const Record* find(const std::string& problem_key, const std::string& configuration_key) const;
    bool has_finals(const std::string& problem_key) const { return finals_.contains(problem_key); }

    /// Throw SystemError where the journal cannot be written.
    void add(Record record);  // a trial that is there already is replaced; the problem needs finals again
    void add(const FinalEntry& entry);

    /// The problem that the next updates are about.
    void under_way(const std::string& problem_key) { problem_key_ = problem_key; }
    /// Work done on trials that are not complete, in trials; tells the sink.
    void update(double trials_in_part);
    void warn(const std::string& line) { sink_.warn(line); }

    std::uint64_t trials_done() const { return trials_done_; }
    std::uint64_t trials_total() const { return trials_total_; }

private:
    void keep(Record record);
    void apply(const FinalEntry& entry);

    Journal& journal_;
    ProgressSink& sink_;
    std::unordered_map<std::string, std::unordered_map<std::string, Record>> records_;  // by problem, configuration
    std::unordered_set<std::string> finals_;                                            // problem keys
    std::uint64_t trials_total_;
    std::uint64_t trials_done_ = 0;
    std::uint64_t done_before_ = 0;
    std::uint64_t faulty_ = 0;
    std::string problem_key_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace normtune
