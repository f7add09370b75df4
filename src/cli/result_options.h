// Options of the commands that read results, and the reading.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/option_set.h"
#include "judge/comparison.h"
#include "judge/thumb_rule.h"
#include "store/results.h"

namespace normtune::cli {

/// Says on a terminal's stderr what takes a while, until it is over.
class Notice {
public:
    explicit Notice(const std::string& text);
    ~Notice();
    Notice(const Notice&) = delete;
    Notice& operator=(const Notice&) = delete;
};

/// Result files for the commands that judge configurations, with what a CSV does not say of its device made up for.
class RecordFiles {
public:
    /// RESULTS, and what a CSV needs besides.
    void declare(OptionSet& options);
    /// Throws InputError: none named, or what reading them throws.
    std::vector<Results> read() const;
    /// The same with each record of a results.json as `keep` leaves it, rather than without what no judge reads.
    std::vector<Results> read(const std::function<void(Record&)>& keep) const;
    const std::vector<std::string>& names() const { return files_; }
    bool any_csv() const;

private:
    std::vector<Results> read_by(const std::function<Results(const std::string&)>& read_json) const;

    std::vector<std::string> files_;
    std::optional<std::int64_t> compute_units_;
};

/// Nothing is to be written over what is read: of a run's folder any of its files. Throws InputError. `what`: what would be written.
void require_not_a_result(const std::string& out, std::span<const std::string> inputs, std::string_view what);

/// Runs of one device each, by its name, in order of first appearance. Throws InputError: one was merged of several devices.
std::vector<std::vector<Results>> by_device(std::vector<Results> runs);

/// A user's own rule of thumb, NAME=EXPRESSION, added to `target`; a name that is there already is refused.
Value heuristic(std::vector<ThumbRule>& target);

/// How compare and gate match rows; fills in `settings`.
void declare_matching(OptionSet& options, CompareSettings& settings);

/// Both files, read at once; says on stderr where they are of different parts of one device. Throws InputError.
std::pair<ResultRows, ResultRows> read_both_sides(const std::string& baseline, const std::string& candidate);

}  // namespace normtune::cli
