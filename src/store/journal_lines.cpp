#include "store/journal_lines.h"

#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/results_fields.h"
#include "support/error.h"

namespace normtune {
namespace {

using nlohmann::json;

std::string line(const json& value) {
    return value.dump() + '\n';
}

/// Keeps the later of two entries for one key, in the place of the first.
template <typename T>
class LatestByKey {
public:
    explicit LatestByKey(std::vector<T>& entries) : entries_(entries) {}

    void put(std::string key, T entry) {
        const auto [it, added] = places_.try_emplace(std::move(key), entries_.size());
        if (added) {
            entries_.push_back(std::move(entry));
        } else {
            entries_[it->second] = std::move(entry);
        }
    }

    template <typename Predicate>
    void erase_if(const Predicate& predicate) {
        std::vector<std::string> keys(entries_.size());
        for (const auto& [key, place] : places_) {
            keys[place] = key;
        }
        std::vector<T> kept;
        places_.clear();
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (!predicate(entries_[i])) {
                places_.emplace(std::move(keys[i]), kept.size());
                kept.push_back(std::move(entries_[i]));
            }
        }
        entries_ = std::move(kept);
    }

    T* find(const std::string& key) {
        const auto found = places_.find(key);
        return found == places_.end() ? nullptr : &entries_[found->second];
    }

private:
    std::vector<T>& entries_;
    std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

std::string journal_line(const JournalHeader& header) {
    return line(to_json(header));
}
std::string journal_line(const Record& record) {
    return line({{"record", to_json(record)}});
}
std::string journal_line(const FinalEntry& entry) {
    return line({{"final", to_json(entry)}});
}
std::string journal_line(const RepetitionEntry& entry) {
    return line({{"repetition", to_json(entry)}});
}
std::string journal_line(const VoidEntry& entry) {
    return line({{"void", to_json(entry)}});
}

ParsedJournal parse_journal(std::string_view text, const std::string& path) {
    ParsedJournal parsed;
    JournalContents& contents = parsed.contents;
    LatestByKey<Record> records(contents.records);
    LatestByKey<FinalEntry> finals(contents.finals);
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) {
            ++contents.dropped_lines;  // cut short by a kill: the trial is run again
            break;
        }
        ++number;
        const std::string where = fmt::format("{}:{}", path, number);
        const json value = parse_json(text.substr(0, end), where);
        const std::string root = where + ": ";
        const JsonReader reader(value, root);
        if (number == 1) {
            contents.header = from_json<JournalHeader>(reader);
        } else if (const auto record = reader.find("record")) {
            auto read = from_json<Record>(*record);
            if (FinalEntry* earlier = finals.find(read.problem.key())) {
                earlier->stale = true;
            }
            std::string key = read.trial_key();
            records.put(std::move(key), std::move(read));
        } else if (const auto final_entry = reader.find("final")) {
            auto read = from_json<FinalEntry>(*final_entry);
            std::string key = read.problem_key;
            finals.put(std::move(key), std::move(read));
        } else if (const auto repetition = reader.find("repetition")) {
            auto read = from_json<RepetitionEntry>(*repetition);
            Record* const repeated = records.find(read.problem_key + ' ' + read.candidate);
            if (repeated != nullptr && repeated->measurement) {
                repeated->measurement->add(std::move(read.repetition));
            }
        } else if (const auto void_entry = reader.find("void")) {
            const std::string problem = from_json<VoidEntry>(*void_entry).problem_key;
            records.erase_if([&](const Record& read) { return read.problem.key() == problem; });
            finals.erase_if([&](const FinalEntry& read) { return read.problem_key == problem; });
        } else {
            reader.fail("is no line of a journal: it has none of \"record\", \"final\", \"repetition\" and \"void\"");
        }
        text.remove_prefix(end + 1);
        parsed.complete_bytes += end + 1;
    }
    if (number == 0) {
        throw InputError(fmt::format("{}: has no complete first line: it is no journal of a run", path));
    }
    return parsed;
}

}  // namespace normtune
