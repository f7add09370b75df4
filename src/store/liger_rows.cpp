// Liger-Kernel's benchmark results into rows: the CSV that its suite keeps (benchmark/data/all_benchmark_data.csv) and
// the JSON array that its scripts print; columns, members and units as in its benchmark/scripts/utils.py.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/json_reader.h"
#include "store/result_readers.h"
#include "store/row_builder.h"
#include "support/error.h"
#include "support/utf8.h"

namespace normtune {
namespace {

using nlohmann::json;

/// One value of Liger's: a kernel, a provider, a mode, a metric, an x.
struct LigerValue {
    std::string_view kernel;
    std::string_view provider;
    std::string_view mode;
    std::string_view metric;
    std::string_view unit;
    std::string_view x_name;
    std::string_view x_value;
    std::string_view extra;
    std::string_view device;
    std::string_view timestamp;
    double p20 = no_value;  // NaN: it could not be measured (out of memory)
    double p50 = no_value;
    double p80 = no_value;
    std::uint32_t line = 0;
};

template <typename E, std::size_t N>
std::optional<E> member_of(const json& config, const char* name, const NameTable<E, N>& table) {
    const auto found = config.find(name);
    if (found == config.end() || !found->is_string()) {
        return std::nullopt;
    }
    return table.find(found->get_ref<const std::string&>());
}

std::optional<Dtype> dtype_of(const json& config, const char* name) {
    const auto found = config.find(name);
    if (found == config.end() || !found->is_string()) {
        return std::nullopt;
    }
    const std::string& text = found->get_ref<const std::string&>();
    return text == "torch.bfloat16"  ? std::optional(Dtype::bf16)
           : text == "torch.float16" ? std::optional(Dtype::fp16)
           : text == "torch.float32" ? std::optional(Dtype::fp32)
                                     : std::nullopt;
}

std::optional<std::int64_t> size_of(const json& config, const char* name) {
    const auto found = config.find(name);
    if (found == config.end() || !found->is_number_integer()) {
        return std::nullopt;
    }
    const auto value = found->get<std::int64_t>();
    return value >= 1 && value <= largest_size ? std::optional(value) : std::nullopt;
}

/// The problem of normtune's that a row of Liger's RMSNorm benchmarks, or of our liger.csv, is about. Its default
/// casting is llama, which the benchmark leaves unsaid.
std::optional<Problem> problem_of(const LigerValue& value) {
    const std::optional<Op> op = op_names.find(value.kernel);
    const std::optional<Mode> mode = mode_names.find(value.mode);
    const std::optional<double> cols = parse_real(value.x_value);
    if (!op || !mode || value.x_name != "H" || !cols || !(*cols >= 1 && *cols <= 1e12) || *cols != std::floor(*cols)) {
        return std::nullopt;
    }
    const json config = json::parse(value.extra, nullptr, false);
    if (!config.is_object()) {
        return std::nullopt;
    }
    const std::optional<std::int64_t> rows = size_of(config, "M");
    const std::optional<Dtype> dtype = dtype_of(config, "dtype");
    if (!rows || !dtype) {
        return std::nullopt;
    }
    Problem problem;
    problem.operation.op = *op;
    problem.operation.mode = *mode;
    problem.operation.dtype = *dtype;
    problem.operation.casting = member_of(config, "casting", casting_names).value_or(Casting::llama);
    problem.operation.weight_dtype = dtype_of(config, "weight_dtype").value_or(*dtype);
    problem.operation.affine = config.value("affine", json(true)) != json(false);
    problem.operation.offset = config.value("offset", json(0)) == json(1) ? 1 : 0;
    problem.operation.in_place = config.value("in_place", json(false)) == json(true);
    problem.operation.residual = member_of(config, "residual", residual_names).value_or(ResidualPrecision::rounded);
    problem.shape.rows = *rows;
    problem.shape.cols = static_cast<std::int64_t>(*cols);
    problem.shape.row_stride = size_of(config, "row_stride").value_or(problem.shape.cols);
    return problem;
}

class Collecting {
public:
    Collecting(const std::string& name, ResultFormat format) : builder_(name, format) {}

    /// A provider's speed and its memory are one row. Of two values for one key the newer holds; of equally old ones,
    /// the later.
    void add(const LigerValue& value) {
        const bool speed = value.metric == "speed";
        if (!speed && value.metric != "memory") {
            return;  // Liger has other metrics, such as tflops
        }
        // "copy" of our own liger.csv is the limit of the problem, not a trial.
        const std::uint32_t problem = problem_index(value);
        const std::uint32_t origin = builder_.origin({builder_.shown(value.device), 0, 0, RowOrigin::Cold::unknown});
        const TextId provider = builder_.shown(value.provider);
        const std::string key = fmt::format("{}/{}/{}", problem, origin, provider);
        const auto [place, added] = places_.try_emplace(key, builder_.rows().rows.size());
        if (added) {
            ResultRow row;
            row.problem = problem;
            row.origin = origin;
            row.configuration = provider;
            row.line = value.line;
            builder_.rows().rows.push_back(row);
            taken_.push_back({});
        }
        std::int64_t& newest = speed ? taken_[place->second].speed : taken_[place->second].memory;
        const std::int64_t now = timestamp_number(value.timestamp);
        if (now < newest) {
            return;
        }
        newest = now;
        ResultRow& row = builder_.rows().rows[place->second];
        row.timestamp = std::max(row.timestamp, now);
        if (speed) {
            set_speed(row, value);
        } else {
            row.memory_mib = value.p50;
        }
    }

    ResultRows all() {
        share_limits();
        return builder_.take();
    }

    void check(const LigerValue& value) const {
        const bool speed = value.metric == "speed";
        const std::string_view wanted = speed ? "ms" : "MB";
        if ((speed || value.metric == "memory") && value.unit != wanted) {
            fail(value, fmt::format("{} in {}; {} is expected", value.metric, quoted_for_message(value.unit), wanted));
        }
        const double most = speed ? longest_us / 1e3 : largest_memory_mib;
        for (const double y : {value.p20, value.p50, value.p80}) {
            if (!std::isnan(y) && !(y >= 0 && y <= most && (y > 0 || !speed))) {
                fail(value, fmt::format("a {} of {} {}; a number {} and at most {} belongs there", value.metric, y,
                                        value.unit, speed ? "above 0" : "from 0", most));
            }
        }
    }

private:
    struct Taken {
        std::int64_t speed = -1;
        std::int64_t memory = -1;
    };

    [[noreturn]] void fail(const LigerValue& value, std::string_view message) const {
        throw InputError(builder_.name(), static_cast<int>(value.line), message);
    }

    void set_speed(ResultRow& row, const LigerValue& value) {
        row.p20_us = value.p20 * 1e3;
        row.p50_us = value.p50 * 1e3;
        row.p80_us = value.p80 * 1e3;
        const bool measured = !std::isnan(value.p50);
        row.outcome = measured ? Outcome::passed : Outcome::launch_failed;
        row.reason = builder_.text(measured ? "" : "the file has no time for it");
    }

    std::uint32_t problem_index(const LigerValue& value) {
        const std::string identity = fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}", value.kernel, value.mode, value.x_name,
                                                 value.x_value, value.extra);
        const auto found = problems_.find(identity);
        if (found != problems_.end()) {
            return found->second;
        }
        std::uint32_t index = 0;
        if (const std::optional<Problem> problem = problem_of(value)) {
            index = builder_.problem(*problem);
        } else {
            RowProblem row;
            row.key =
                builder_.text(fmt::format("{}/{}/{}={}{}{}", value.kernel, value.mode.empty() ? "-" : value.mode,
                                          value.x_name, value.x_value, value.extra.empty() ? "" : "/", value.extra));
            row.key_any_casting = row.key;
            row.op = builder_.shown(value.kernel);
            row.mode = builder_.shown(value.mode);
            index = builder_.problem(row);
        }
        problems_.emplace(identity, index);
        return index;
    }

    /// The copies of our liger.csv become the limit of their problem's rows.
    void share_limits() {
        ResultRows& rows = builder_.rows();
        const std::optional<TextId> copy = rows.texts.find("copy");
        const std::optional<TextId> ours = rows.texts.find("normtune");
        if (!copy || !ours) {
            return;
        }
        std::unordered_map<std::uint64_t, double> limits;
        const auto place = [](const ResultRow& row) { return (std::uint64_t{row.problem} << 32) | row.origin; };
        for (const ResultRow& row : rows.rows) {
            if (row.configuration == *copy) {
                limits[place(row)] = row.p50_us;
            }
        }
        std::erase_if(rows.rows, [&](const ResultRow& row) { return row.configuration == *copy; });
        for (ResultRow& row : rows.rows) {
            if (const auto limit = limits.find(place(row)); limit != limits.end()) {
                row.limit_us = limit->second;
            }
        }
    }

    RowBuilder builder_;
    std::unordered_map<std::string, std::size_t> places_;
    std::unordered_map<std::string, std::uint32_t> problems_;
    std::vector<Taken> taken_;
};

// --- CSV ---

double csv_value(const CsvReader& reader, std::string_view text, std::string_view column) {
    if (text.empty()) {
        return no_value;
    }
    const std::optional<double> number = parse_real(text);
    if (!number) {
        reader.fail(fmt::format("{} is {}; a number belongs there", column, quoted_for_message(text)));
    }
    return *number;
}

// --- JSON ---

/// Python prints NaN and Infinity, which JSON has not: null, in texts left alone.
std::string without_nan(std::string_view text) {
    constexpr std::string_view words[] = {"NaN", "-Infinity", "Infinity"};
    std::string out;
    out.reserve(text.size());
    bool inside = false;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (inside) {
            inside = c != '"';
            if (c == '\\' && i + 1 < text.size()) {
                out += c;
                ++i;
            }
            out += text[i++];
            continue;
        }
        const auto* const word = std::find_if(std::begin(words), std::end(words),
                                              [&](std::string_view w) { return text.substr(i).starts_with(w); });
        if (word != std::end(words)) {
            out += "null";
            i += word->size();
            continue;
        }
        inside = c == '"';
        out += c;
        ++i;
    }
    return out;
}

/// The end of the array that begins at `from`: one past its bracket, or the text's end where it is never closed.
std::size_t array_end(std::string_view text, std::size_t from) {
    int depth = 0;
    bool inside = false;
    for (std::size_t i = from; i < text.size(); ++i) {
        const char c = text[i];
        if (inside) {
            i += c == '\\' ? 1 : 0;
            inside = c != '"';
        } else if (c == '"') {
            inside = true;
        } else if (c == '[' || c == '{') {
            ++depth;
        } else if ((c == ']' || c == '}') && --depth == 0) {
            return i + 1;
        }
    }
    return text.size();
}

std::string optional_text(const JsonReader& in, const char* name) {
    const std::optional<JsonReader> member = in.find(name);
    return !member || member->json().is_null() ? std::string() : member->text();
}

/// x is a number, or a word; as Python's str() has it, so that it reads as in the CSV.
std::string x_text(const JsonReader& x) {
    return x.is_text() ? x.text() : x.json().is_number() ? x.json().dump() : (x.text(), std::string());
}

void add_object(Collecting& collecting, const JsonReader& in) {
    const std::string kernel = in.at("kernel_name").text();
    const std::string provider = in.at("kernel_provider").text();
    const std::string mode = optional_text(in, "kernel_operation_mode");
    const std::string metric = in.at("metric_name").text();
    const std::string unit = in.at("metric_unit").text();
    const std::string x_name = in.at("x_name").text();
    const std::string extra = optional_text(in, "extra_benchmark_config_str");
    const std::string device = optional_text(in, "gpu_name");
    const std::string timestamp = optional_text(in, "timestamp");
    const JsonReader xs = in.at("x_values");
    const JsonReader p50s = in.at("y_values_50");
    const JsonReader p20s = in.at("y_values_20");
    const JsonReader p80s = in.at("y_values_80");
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const std::string x = x_text(xs.element(i));
        // Liger's writer fills shorter lists with NaN.
        const auto y = [&](const JsonReader& list) { return i < list.size() ? list.element(i).number() : no_value; };
        const LigerValue value{kernel, provider, mode,      metric,  unit,    x_name,  x,
                               extra,  device,   timestamp, y(p20s), y(p50s), y(p80s), 0};
        collecting.check(value);
        collecting.add(value);
    }
}

}  // namespace

ResultRows read_liger_csv_rows(CsvReader& reader, const CsvColumns& columns) {
    const auto at = [&](std::string_view name) { return columns.require(reader, name); };
    const std::size_t kernel = at("kernel_name"), provider = at("kernel_provider"), metric = at("metric_name"),
                      unit = at("metric_unit"), x_name = at("x_name"), x_value = at("x_value"), p50 = at("y_value_50"),
                      p20 = columns.find("y_value_20"), p80 = columns.find("y_value_80"),
                      mode = columns.find("kernel_operation_mode"), extra = columns.find("extra_benchmark_config_str"),
                      gpu = columns.find("gpu_name"), timestamp = columns.find("timestamp");
    Collecting collecting(reader.file(), ResultFormat::liger_csv);
    while (reader.next()) {
        columns.check(reader);
        const auto cell = [&](std::size_t column) {
            return column == CsvColumns::absent ? std::string_view() : reader.fields()[column];
        };
        for (const std::size_t column : {kernel, provider, mode, x_name, x_value, extra, gpu}) {
            if (!is_utf8(cell(column))) {
                reader.fail("is not UTF-8; save the file as UTF-8");
            }
        }
        const LigerValue value{cell(kernel),
                               cell(provider),
                               cell(mode),
                               cell(metric),
                               cell(unit),
                               cell(x_name),
                               cell(x_value),
                               cell(extra),
                               cell(gpu),
                               cell(timestamp),
                               csv_value(reader, cell(p20), "y_value_20"),
                               csv_value(reader, cell(p50), "y_value_50"),
                               csv_value(reader, cell(p80), "y_value_80"),
                               static_cast<std::uint32_t>(reader.line())};
        collecting.check(value);
        collecting.add(value);
    }
    return collecting.all();
}

ResultRows read_liger_json_rows(std::string_view text, const std::string& name) {
    Collecting collecting(name, ResultFormat::liger_json);
    bool any = false;
    for (std::size_t begin = 0; begin < text.size();) {
        // An array begins a line; whatever else the scripts print (banners, warnings) is skipped by lines.
        const std::size_t line_end = std::min(text.find('\n', begin), text.size());
        if (text[begin] != '[') {
            begin = line_end + 1;
            continue;
        }
        const std::size_t end = array_end(text, begin);
        const json document = parse_json(without_nan(text.substr(begin, end - begin)), name);
        const std::string root = name + ": ";
        const JsonReader in(document, root);
        for (std::size_t i = 0; i < in.size(); ++i) {
            add_object(collecting, in.element(i));
        }
        any = true;
        begin = end;
    }
    if (!any) {
        throw InputError(fmt::format("{}: holds no JSON array of Liger-Kernel's, and is no other results file", name));
    }
    return collecting.all();
}

}  // namespace normtune
