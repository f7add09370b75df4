// The run's journal (journal.jsonl in its folder): one JSON object a line, appended and flushed as a trial ends.
// Line 1 is the header (environment, command, the selection's digest). A line that a kill cut short is dropped on
// reading.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/results.h"
#include "trial/record.h"

namespace normtune {

struct JournalHeader {
    Environment environment;
    std::vector<std::string> command;  // argv of the first run, enough to repeat the selection
    std::string sweep;                 // canonical JSON of what is swept (problems, space, strategy, seed, measuring)
    std::vector<PlanSummary> plans;
    std::string kernels = {};  // digest of the kernels that were run; empty where no store of winners asked for it
};

/// What the finalists' fresh rounds gave for a problem: replaces rank, tied and final_rounds_us of its records.
struct FinalEntry {
    std::string problem_key;
    struct Finalist {
        std::string candidate;  // identity
        std::vector<double> rounds_us;
        int rank = 0;
        bool tied = false;
        std::optional<double> floor_us{};  // p50 of an empty launch in the same rounds
    };
    std::vector<Finalist> finalists;
    bool stale = false;  // on reading: trials of the problem were recorded after it, so it needs finals again
};

/// What a further process gave for a trial that is recorded.
struct RepetitionEntry {
    std::string problem_key;
    std::string candidate;  // identity
    Repetition repetition;
};

/// What was recorded of a problem before this entry is void: it is measured anew, on another device.
struct VoidEntry {
    std::string problem_key;
};

struct JournalContents {
    JournalHeader header;
    std::vector<Record> records;  // each trial once: of two lines for one trial the later one holds
    std::vector<FinalEntry> finals;
    int dropped_lines = 0;  // cut short by a kill: 0 or 1; anything else unreadable is an InputError
};

class Journal {
public:
    /// Starts a journal in an existing, empty folder. Throws SystemError.
    static Journal create(const std::string& folder, const JournalHeader& header);
    /// Reads a journal and opens it for appending; a line cut short is truncated away. Throws InputError, SystemError.
    static Journal resume(const std::string& folder, JournalContents& contents);
    Journal(Journal&&) noexcept;
    ~Journal();

    /// Throws SystemError where the folder has another journal by now, or none: its other files are not this run's to write.
    void require_in_place() const;

    /// On disk (written, not buffered in this process) on return. Throws SystemError, e.g. for a full disk, and as above.
    void append(const Record& record);
    void append(const FinalEntry& entry);
    void append(const RepetitionEntry& entry);
    void append(const VoidEntry& entry);

private:
    struct State;
    explicit Journal(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Reads only. Throws InputError.
JournalContents read_journal(const std::string& folder);

}  // namespace normtune
