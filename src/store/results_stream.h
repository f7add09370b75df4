// results.json read without holding all of it.
#pragma once

#include <functional>
#include <string>

#include "store/results.h"
#include "support/byte_source.h"

namespace normtune {

/// Each record is given away as it is read, and the results have none. `file` names it in messages. Throws InputError.
Results stream_results_json(ByteSource& source, const std::string& file, const std::function<void(Record)>& take);

/// As read_results_json (store/results.h), with each record as `keep` leaves it.
Results read_results_json(const std::string& path, const std::function<void(Record&)>& keep);

/// Half of a record: a verification's checks and the line that repeats a trial.
void without_what_no_judge_reads(Record& record);
/// Records without it.
Results read_judged_results(const std::string& path);

}  // namespace normtune
