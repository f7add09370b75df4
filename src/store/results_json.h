// Results as the text of results.json, and what the journal shares with it.
#pragma once

#include <string>
#include <string_view>

#include "store/results.h"
#include "support/json_reader.h"

namespace normtune {

/// Refuses what a later version wrote: reading it as if it were ours would misread it.
/// Throws InputError: no schema_version, or one this version does not read.
void check_schema_version(const JsonReader& document);

/// The text of a results.json; `file` names it in messages. Throws InputError.
Results parse_results_json(std::string_view text, const std::string& file);

}  // namespace normtune
