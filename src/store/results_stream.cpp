#include "store/results_stream.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/results_fields.h"
#include "store/run_folder.h"
#include "support/error.h"
#include "support/json_stream.h"

namespace normtune {
namespace {

using nlohmann::json;

constexpr std::size_t most_results_bytes = std::size_t{1} << 32;

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

/// With each record as `keep` leaves it.
template <typename Keep>
Results collected(ByteSource& source, const std::string& file, const Keep& keep) {
    std::vector<Record> records;
    Results results = stream_results_json(source, file, [&](Record record) {
        keep(record);
        records.push_back(std::move(record));
    });
    results.records = std::move(records);
    return results;
}

}  // namespace

Results read_results_json(const std::string& path, const std::function<void(Record&)>& keep) {
    require_results(path);
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(path, ignored);
    const std::string file = folder ? (std::filesystem::path(path) / "results.json").string() : path;
    if (std::filesystem::path(file).extension() == ".csv") {
        throw InputError(
            fmt::format("{}: is CSV, which does not say all of the run; give its results.json, or the folder of the run", file));
    }
    return collected(*open_source(file), file, keep);
}

Results stream_results_json(ByteSource& source, const std::string& file, const std::function<void(Record)>& take) {
    std::optional<InputError> wrong;  // told behind what is wrong with the file as a whole
    Bounded bounded(source, file);
    const json document = parse_json(bounded, file, {"records", [&](const json& element, std::size_t index) {
                                                         try {
                                                             const std::string place = fmt::format("{}: records/{}", file, index);
                                                             if (!wrong) {
                                                                 take(from_json<Record>(JsonReader(element, place)));
                                                             }
                                                         } catch (const InputError& error) {
                                                             wrong = error;
                                                         }
                                                     }});
    const std::string root = file + ": ";
    Results results = from_json<Results>(JsonReader(document, root));
    if (wrong) {
        throw InputError(*wrong);
    }
    return results;
}

Results read_results_json(const std::string& path) {
    return read_results_json(path, [](Record&) {});
}

void without_what_no_judge_reads(Record& record) {
    record.repeat = std::string();
    record.verification.reset();
}

Results read_judged_results(const std::string& path) {
    return read_results_json(path, without_what_no_judge_reads);
}

Results parse_results_json(std::string_view text, const std::string& file) {
    MemorySource source(text);
    return collected(source, file, [](Record&) {});
}

}  // namespace normtune
