// What a sweep has so far: every record goes to the journal first, then here; progress is counted here, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "run/sweep.h"
#include "store/journal.h"

namespace normtune {

bool is_faulty(Outcome outcome);  // incorrect, crashed, timed_out, …: everything that ran or should have, and did not pass

/// Thread-safe, as long as each problem is one thread's.
class Recorder {
public:
    /// `earlier` is what a resumed journal held; `trials_total` counts those trials as well.
    Recorder(Journal& journal, const JournalContents& earlier, ProgressSink& sink, std::uint64_t trials_total);

    /// Null: not recorded. It stays where it is until the problem is forgotten.
    const Record* find(const std::string& problem_key, const std::string& identity) const;
    bool has_finals(const std::string& problem_key) const;
    /// DeviceInfo::id of the device that measured the problem, by any of its records; empty: not known.
    std::string device_of(const std::string& problem_key) const;

    /// Throw SystemError where the journal cannot be written.
    void add(Record record);  // a trial that is there already is replaced; the problem needs finals again
    void add(const FinalEntry& entry);
    void add(const RepetitionEntry& entry);
    /// The second series of a trial that was added; kept here alone.
    void add_twin(Record record);
    std::vector<Record> take_twins();
    /// A trial that an interrupt left after some of its rounds; kept here alone.
    void add_under_way(Record record);
    std::vector<Record> take_under_way();
    /// All that is recorded of the problem is void.
    void forget(const std::string& problem_key);

    /// Work done on the problem's trials that are not complete, in trials; tells the sink.
    void update(const std::string& problem_key, double trials_in_part);
    /// What is done before the problem's trials; `lasting`: for seconds, maybe.
    void prepare(const std::string& problem_key, const std::string& doing, bool lasting);
    void warn(const std::string& line);

    std::uint64_t trials_done() const;

private:
    void keep(Record record);
    void apply(const FinalEntry& entry);
    Progress progress_of(const std::string& problem_key) const;

    mutable std::mutex mutex_;
    Journal& journal_;
    ProgressSink& sink_;
    std::unordered_map<std::string, std::unordered_map<std::string, Record>> records_;  // by problem, candidate
    std::vector<Record> twins_;
    std::vector<Record> under_way_;
    std::unordered_set<std::string> finals_;  // problem keys
    std::uint64_t trials_total_;
    std::uint64_t trials_done_ = 0;
    std::uint64_t done_before_ = 0;
    std::uint64_t faulty_ = 0;
    std::map<std::string, double> in_part_;  // by problem
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace normtune
