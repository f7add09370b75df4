#include "store/results_stream.h"

#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/results_fields.h"
#include "store/run_folder.h"
#include "support/error.h"
#include "support/json_stream.h"
#include "support/parallel.h"
#include "trial/record_text.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr std::size_t most_results_bytes = std::size_t{1} << 34;

/// The source, which has to begin as results.json does, and may not go on for ever.
class Bounded : public ByteSource {
public:
    Bounded(ByteSource& source, const std::string& file) : source_(source), file_(file) {}
    std::size_t read(char* into, std::size_t most) override {
        const std::size_t got = source_.read(into, most);
        if (got > left_) {
            throw InputError(fmt::format("{}: is larger than {} bytes, the most that is read", file_, most_results_bytes));
        }
        left_ -= got;
        if (!begun_) {
            check_begin({into, got});
        }
        return got;
    }

private:
    void check_begin(std::string_view text) {
        const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");  // or a byte order mark
        if (text.empty()) {
            throw InputError(fmt::format("{}: is no results.json: it is empty", file_));
        }
        if (text.starts_with("\x1f\x8b")) {
            throw InputError(fmt::format("{}: is compressed; gunzip it first", file_));
        }
        begun_ = first != std::string_view::npos;
        if (begun_ && text[first] != '{') {
            throw InputError(fmt::format("{}: is no results.json: it begins with {} and not with '{{'", file_,
                                         quoted_for_message(text.substr(first, 1))));
        }
    }

    ByteSource& source_;
    const std::string& file_;
    std::size_t left_ = most_results_bytes;
    bool begun_ = false;
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

/// An element of a list, or why it is none although it is JSON; neither where it was guessed and is no JSON.
template <typename T>
struct ReadElement {
    std::optional<T> value;
    std::optional<InputError> wrong;
};

template <typename T>
ReadElement<T> read_element(const ListElement& element, const std::string& file, std::string_view member) {
    ReadElement<T> out{read_quickly<T>(element.text), {}};
    if (out.value) {
        return out;
    }
    json document;
    try {
        document = parse_element(element, file, member);
    } catch (const InputError&) {
        if (element.guessed) {
            return out;
        }
        throw;
    }
    try {
        out.value = from_json<T>(JsonReader(document, fmt::format("{}: {}/{}", file, member, element.index)));
    } catch (const InputError& error) {
        out.wrong = error;
    }
    return out;
}

/// Gives away what is read of a list, up to the first element that is none: why is in `wrong`, for what is wrong with the file as a whole
/// is told before.
template <typename T, typename Give>
StreamedList streamed(std::string_view member, const std::string& file, std::optional<InputError>& wrong, const Give& give) {
    return {member, [member, &file, &wrong, &give](std::span<const ListElement> elements) {
                std::vector<ReadElement<T>> read(elements.size());
                on_all_cores(elements.size(), [&](std::size_t i) { read[i] = read_element<T>(elements[i], file, member); });
                for (std::size_t i = 0; i < read.size(); ++i) {
                    if (!read[i].value && !read[i].wrong) {
                        return i;
                    }
                    wrong = wrong ? wrong : read[i].wrong;
                    if (!wrong) {
                        give(*read[i].value, elements[i]);
                    }
                }
                return read.size();
            }};
}

void leave_out(Record& record, RecordParts parts) {
    if (parts == RecordParts::judged) {
        record.verification.reset();
        record.repeat = std::string();
    }
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
    ReadElement<Record> read = read_element<Record>(element, file, "records");
    if (read.wrong) {
        throw InputError(*read.wrong);
    }
    leave_out(*read.value, parts);
    return *std::move(read.value);
}

Results stream_results_json(ByteSource& source, const std::string& file, const TakeElement& take, RecordParts parts) {
    Bounded bounded(source, file);
    std::vector<PlanSummary> plans;
    std::optional<InputError> wrong_plan, wrong_record;
    const auto add_plan = [&](const PlanSummary& plan, const ListElement&) { plans.push_back(plan); };
    const auto give_record = [&](Record& record, const ListElement& element) {
        leave_out(record, parts);
        take(record, element);
    };
    const std::array lists{streamed<PlanSummary>("plans", file, wrong_plan, add_plan),
                           streamed<Record>("records", file, wrong_record, give_record)};
    const json document = parse_json(bounded, file, lists);
    const std::string root = file + ": ";
    Results results = from_json<Results>(JsonReader(document, root));
    for (const std::optional<InputError>& wrong : {wrong_plan, wrong_record}) {
        if (wrong) {
            throw InputError(*wrong);
        }
    }
    results.plans = std::move(plans);
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
