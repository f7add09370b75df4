// Results read and written without holding all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "store/results.h"
#include "support/byte_source.h"
#include "support/json_stream.h"

namespace normtune {

/// judged: without what no judge reads, half of a record: a verification's checks and the line that repeats a trial.
enum class RecordParts { all, judged };

/// A record, and where it stands in its file.
using TakeElement = std::function<void(const Record& record, const ListElement& element)>;

/// Each record is given away as it is read, and the results have none. `file` names it in messages. Throws InputError.
Results stream_results_json(ByteSource& source, const std::string& file, const TakeElement& take, RecordParts parts = RecordParts::all);
/// One of them. Throws InputError.
Record read_record(const ListElement& element, const std::string& file, RecordParts parts);

/// The results.json that a path means: itself, or that of a run's folder. Throws InputError.
std::string results_json_of(const std::string& path);

/// As read_results_json (store/results.h), with each record as `keep` leaves it.
Results read_results_json(const std::string& path, const std::function<void(Record&)>& keep);
/// The same of the judged parts.
Results read_judged_results(const std::string& path);

/// Gives each record of results that are not held, in their order.
using TakeRecord = std::function<void(const Record& record)>;
using EachRecord = std::function<void(const TakeRecord& take)>;

/// What write_results_json and write_results_csv write of results with `count` records, which `each` gives; `head` has none.
void write_results_json(const Results& head, const EachRecord& each, const std::string& path);
void write_results_csv(const Results& head, std::size_t count, const EachRecord& each, const std::string& path);

/// The passed trial of each problem and provider that ranks first, in the order of their first records: what liger.csv is made of.
/// Where nothing was ranked (a run that was cut off) the fastest stands for it.
std::vector<const Record*> liger_winners(const std::vector<Record>& records);

}  // namespace normtune
