#include "store/results_stream.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/results_fields.h"
#include "store/run_folder.h"
#include "support/error.h"
#include "support/json_stream.h"
#include "support/parallel.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr std::string_view records_member = "records";
constexpr std::size_t most_results_bytes = std::size_t{1} << 34;

/// The source, which may not go on for ever.
class Bounded : public ByteSource {
public:
    Bounded(ByteSource& source, const std::string& file) : source_(source), file_(file) {}
    std::size_t read(char* into, std::size_t most) override {
        const std::size_t got = source_.read(into, most);
        if (got > left_) {
            throw InputError(fmt::format("{}: is larger than {} bytes, the most that is read", file_, most_results_bytes));
        }
        left_ -= got;
        return got;
    }

private:
    ByteSource& source_;
    const std::string& file_;
    std::size_t left_ = most_results_bytes;
};

using Keep = std::function<void(Record&)>;

/// With each record as `keep` leaves it.
Results collected(ByteSource& source, const std::string& file, RecordParts parts, const Keep& keep = {}) {
    std::vector<Record> records;
    const auto take = [&](const Record& record, const ListElement&) {
        // A copy: what a record was made of beside the parser's own is scattered, and freed with it.
        records.push_back(record);
        if (keep) {
            keep(records.back());
        }
    };
    Results results = stream_results_json(source, file, take, parts);
    results.records = std::move(records);
    return results;
}

Results read(const std::string& path, RecordParts parts, const Keep& keep = {}) {
    const std::string file = results_json_of(path);
    return collected(*open_source(file), file, parts, keep);
}

/// A record of the list, or why it is none although it is JSON.
struct ReadRecord {
    std::optional<Record> record;
    std::optional<InputError> wrong;
};

ReadRecord parsed_record(const ListElement& element, const std::string& file, RecordParts parts) {
    ReadRecord out;
    const bool judged = parts == RecordParts::judged;
    const json document = parse_element(element, file, records_member, judged ? "verification" : "");
    try {
        out.record = from_json<Record>(JsonReader(document, fmt::format("{}: records/{}", file, element.index)));
        if (judged) {
            out.record->repeat = std::string();
        }
    } catch (const InputError& error) {
        out.wrong = error;
    }
    return out;
}

}  // namespace

std::string results_json_of(const std::string& path) {
    require_results(path);
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(path, ignored);
    const std::string file = folder ? (std::filesystem::path(path) / "results.json").string() : path;
    if (std::filesystem::path(file).extension() == ".csv") {
        throw InputError(
            fmt::format("{}: is CSV, which does not say all of the run; give its results.json, or the folder of the run", file));
    }
    return file;
}

Record read_record(const ListElement& element, const std::string& file, RecordParts parts) {
    ReadRecord read = parsed_record(element, file, parts);
    if (read.wrong) {
        throw InputError(*read.wrong);
    }
    return *std::move(read.record);
}

Results stream_results_json(ByteSource& source, const std::string& file, const TakeElement& take, RecordParts parts) {
    std::optional<InputError> wrong;  // told behind what is wrong with the file as a whole
    Bounded bounded(source, file);
    const StreamedList list{records_member, [&](std::span<const ListElement> elements) {
                                std::vector<ReadRecord> read(elements.size());
                                on_all_cores(elements.size(), [&](std::size_t i) { read[i] = parsed_record(elements[i], file, parts); });
                                for (std::size_t i = 0; i < read.size(); ++i) {
                                    wrong = wrong ? wrong : read[i].wrong;
                                    if (!wrong) {
                                        take(*read[i].record, elements[i]);
                                    }
                                }
                            }};
    const json document = parse_json(bounded, file, list);
    const std::string root = file + ": ";
    Results results = from_json<Results>(JsonReader(document, root));
    if (wrong) {
        throw InputError(*wrong);
    }
    return results;
}

Results read_results_json(const std::string& path) {
    return read(path, RecordParts::all);
}

Results read_results_json(const std::string& path, const std::function<void(Record&)>& keep) {
    return read(path, RecordParts::all, keep);
}

Results read_judged_results(const std::string& path) {
    return read(path, RecordParts::judged);
}

Results parse_results_json(std::string_view text, const std::string& file) {
    MemorySource source(text);
    return collected(source, file, RecordParts::all);
}

}  // namespace normtune
