// The lines of a journal: one JSON object each. What journal.cpp writes and reads; no files here.
#pragma once

#include <string>
#include <string_view>

#include "store/journal.h"

namespace normtune {

/// Each ends in a line feed and holds no other.
std::string journal_line(const JournalHeader& header);
std::string journal_line(const Record& record);
std::string journal_line(const FinalEntry& entry);
std::string journal_line(const RepetitionEntry& entry);
std::string journal_line(const VoidEntry& entry);

struct ParsedJournal {
    JournalContents contents;
    std::size_t complete_bytes = 0;  // up to the last line feed: what a resumed run keeps
};

/// The text of a whole journal. Throws InputError "PATH:LINE: …".
ParsedJournal parse_journal(std::string_view text, const std::string& path);

}  // namespace normtune
