// The JSON array that Liger-Kernel's benchmark scripts print (members as in BenchmarkData of its
// benchmark/scripts/utils.py): one object a line of a plot, with a list of x and a list of each quantile.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/liger_rows.h"
#include "support/error.h"
#include "support/json_reader.h"

namespace normtune {
namespace {

using nlohmann::json;

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
        const auto* const word =
            std::find_if(std::begin(words), std::end(words), [&](std::string_view w) { return text.substr(i).starts_with(w); });
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

void add_object(LigerRows& rows, const JsonReader& in) {
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
        const LigerValue value{kernel, provider, mode, metric, unit, x_name, x, extra, device, timestamp, y(p20s), y(p50s), y(p80s), 0};
        rows.add(value);
    }
}

}  // namespace

ResultRows read_liger_json_rows(std::string_view text, const std::string& name) {
    LigerRows rows(name, ResultFormat::liger_json);
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
            add_object(rows, in.element(i));
        }
        any = true;
        begin = end;
    }
    if (!any) {
        throw InputError(fmt::format("{}: holds no JSON array of Liger-Kernel's, and is no other results file", name));
    }
    return rows.all();
}

}  // namespace normtune
