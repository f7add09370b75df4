// results.json read without holding all of it.
#pragma once

#include <functional>
#include <string>

#include "store/results.h"
#include "support/byte_source.h"

namespace normtune {

/// Each record is given away as it is read, and the results have none. `file` names it in messages. Throws InputError.
Results stream_results_json(ByteSource& source, const std::string& file, const std::function<void(Record)>& take);

/// As read_results_json, without what no judge reads, half of a record: a verification's checks and the line that repeats a trial.
Results read_judged_results(const std::string& path);

}  // namespace normtune
