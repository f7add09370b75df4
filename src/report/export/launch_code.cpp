#include "report/export/launch_code.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "support/escape.h"

namespace normtune {
namespace {

constexpr std::string_view whole_row_note = "0: the whole row";

bool named(Axis axis) {
    return !domain(axis).names.empty();
}

/// "load_hint" → "LoadHint".
std::string type_name(Axis axis) {
    std::string out;
    bool capital = true;
    for (const char c : axis_names.name(axis)) {
        if (c != '_') {
            out += capital ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        }
        capital = c == '_';
    }
    return out;
}

/// An axis's value as an identifier of C++: keywords and numbers are none.
std::string identifier(std::string_view value) {
    constexpr std::array<std::string_view, 3> keywords{"auto", "constexpr", "default"};
    if (std::isdigit(static_cast<unsigned char>(value.front())) != 0) {
        return fmt::format("bits{}", value);
    }
    const bool keyword = std::find(keywords.begin(), keywords.end(), value) != keywords.end();
    return fmt::format("{}{}", value, keyword ? "_" : "");
}

bool in_clusters(const BackendTraits& traits, const std::vector<Axis>& axes) {
    return std::find(axes.begin(), axes.end(), Axis::cluster) != axes.end() && traits.backend == Backend::cuda;
}

bool has_vectors(const BackendTraits& traits) {
    return std::none_of(traits.inert.begin(), traits.inert.end(), [](const InertAxis& inert) { return inert.axis == Axis::vector_bytes; });
}

}  // namespace

std::string cpp_launch_type(const std::vector<Axis>& axes) {
    std::string out;
    for (const Axis axis : axes) {
        if (named(axis)) {
            std::string values;
            for (const std::string_view name : domain(axis).names) {
                values += fmt::format("{}{}", values.empty() ? "" : ", ", identifier(name));
            }
            out += fmt::format("enum class {} {{ {} }};\n", type_name(axis), values);
        }
    }
    out += out.empty() ? "struct Launch {\n" : "\nstruct Launch {\n";
    for (const Axis axis : axes) {
        out += fmt::format("    {} {};{}\n", named(axis) ? type_name(axis) : "int", axis_names.name(axis),
                           axis == Axis::block_size ? fmt::format("  // {}", whole_row_note) : "");
    }
    return out + "};\n";
}

std::string cpp_launch(const Configuration& configuration, const std::vector<Axis>& axes) {
    std::string out;
    for (const Axis axis : axes) {
        const int value = axis_value(configuration, axis);
        out += out.empty() ? "" : ", ";
        out += named(axis) ? fmt::format("{}::{}", type_name(axis), identifier(axis_text(axis, value))) : fmt::format("{}", value);
    }
    return fmt::format("{{{}}}", out);
}

std::string python_launch_type(const std::vector<Axis>& axes) {
    std::string out = "@dataclass(frozen=True)\nclass Launch:\n";
    for (const Axis axis : axes) {
        out += fmt::format("    {}: {}{}\n", axis_names.name(axis), named(axis) ? "str" : "int",
                           axis == Axis::block_size ? fmt::format("  # {}", whole_row_note) : "");
    }
    return out;
}

std::string python_launch(const Configuration& configuration, const std::vector<Axis>& axes) {
    std::string out;
    for (const Axis axis : axes) {
        const int value = axis_value(configuration, axis);
        out += out.empty() ? "" : ", ";
        out += named(axis) ? fmt::format("\"{}\"", axis_text(axis, value)) : fmt::format("{}", value);
    }
    return fmt::format("Launch({})", out);
}

std::string cpp_even_where_it_divides(const BackendTraits& traits, const std::vector<Axis>& axes) {
    const bool vectors = has_vectors(traits);
    const bool by_element = vectors || traits.lane_bytes > 0;
    std::string out = fmt::format(
        "// No mask is needed where a row's threads, and its blocks, divide the columns (rows one after another in "
        "memory).\n"
        "inline Launch even_where_it_divides(Launch launch, std::int64_t cols, int {}) {{\n",
        by_element ? "element_bytes" : "/*element_bytes*/");
    if (vectors) {
        out +=
            "    int bytes = launch.vector_bytes > element_bytes ? launch.vector_bytes : element_bytes;\n"
            "    while (bytes > element_bytes && cols % (bytes / element_bytes) != 0) {\n"
            "        bytes /= 2;\n"
            "    }\n"
            "    const std::int64_t at_once = std::int64_t{launch.threads_per_row} * (bytes / element_bytes)";
        out += in_clusters(traits, axes) ? " * launch.cluster;\n" : ";\n";
    } else {
        out += fmt::format(
            "    const std::int64_t at_once = {};\n",
            by_element
                ? fmt::format("std::int64_t{{launch.threads_per_row}} * ({0} > element_bytes ? {0} / element_bytes : 1)", traits.lane_bytes)
                : "launch.threads_per_row");
    }
    out += fmt::format("    const bool in_blocks = launch.block_size != 0{};\n",
                       traits.row_is_one_block ? " && launch.block_size < cols" : "");
    return out +
           "    if (cols % at_once == 0 && (!in_blocks || cols % launch.block_size == 0)) {\n"
           "        launch.reduction = Reduction::even;\n"
           "    }\n"
           "    return launch;\n"
           "}\n";
}

std::string python_even_where_it_divides(const BackendTraits& traits, const std::vector<Axis>& axes) {
    std::string out =
        "def even_where_it_divides(launch: Launch, cols: int, element_bytes: int) -> Launch:\n"
        "    \"\"\"No mask is needed where a row's threads, and its blocks, divide the columns.\"\"\"\n";
    out += has_vectors(traits)     ? "    size = max(launch.vector_bytes, element_bytes)\n"
                                     "    while size > element_bytes and cols % (size // element_bytes) != 0:\n"
                                     "        size //= 2\n"
                                     "    at_once = launch.threads_per_row * (size // element_bytes)"
           : traits.lane_bytes > 0 ? fmt::format("    at_once = launch.threads_per_row * max(1, {} // element_bytes)", traits.lane_bytes)
                                   : "    at_once = launch.threads_per_row";
    out += in_clusters(traits, axes) ? " * launch.cluster\n" : "\n";
    out += fmt::format("    in_blocks = launch.block_size != 0{}\n", traits.row_is_one_block ? " and launch.block_size < cols" : "");
    return out +
           "    if cols % at_once == 0 and (not in_blocks or cols % launch.block_size == 0):\n"
           "        return replace(launch, reduction=\"even\")\n"
           "    return launch\n";
}

std::string code_name(std::string_view operation) {
    std::string out(operation);
    std::replace_if(
        out.begin(), out.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return out;
}

std::string harmless(std::string_view text) {
    std::string out = for_terminal(text);
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c == '"' || c == '\\'; }, '?');
    constexpr std::string_view command = "##[";  // to GitHub's runner, which may print the code
    for (std::size_t at = out.find(command); at != std::string::npos; at = out.find(command, at)) {
        out[at] = '?';
    }
    return out;
}

std::string commented(std::string_view text, std::string_view prefix) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        out += fmt::format("{}{}\n", prefix, text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

}  // namespace normtune
