// What results.json and the journal share.
#pragma once

#include "store/json_reader.h"

namespace normtune {

/// Refuses what a later version wrote: reading it as if it were ours would misread it.
/// Throws InputError: no schema_version, or one this version does not read.
void check_schema_version(const JsonReader& document);

}  // namespace normtune
