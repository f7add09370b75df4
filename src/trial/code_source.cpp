#include "trial/code_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "support/atomic_file.h"
#include "support/error.h"

namespace normtune {
namespace {

constexpr std::size_t most_code_bytes = std::size_t{1} << 28;
constexpr std::size_t most_source_bytes = std::size_t{1} << 24;
constexpr int most_nested = 32;

constexpr std::array<std::string_view, 13> whole_options{"--use_fast_math",
                                                         "-use_fast_math",
                                                         "-ffast-math",
                                                         "-munsafe-fp-atomics",
                                                         "--extra-device-vectorization",
                                                         "-extra-device-vectorization",
                                                         "-O0",
                                                         "-O1",
                                                         "-O2",
                                                         "-O3",
                                                         "-ffp-contract=off",
                                                         "-ffp-contract=on",
                                                         "-ffp-contract=fast"};
constexpr std::array<std::string_view, 4> switched_options{"fmad", "ftz", "prec-div", "prec-sqrt"};

bool is_word(std::string_view text, std::string_view further) {
    return std::all_of(text.begin(), text.end(), [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || further.find(c) != std::string_view::npos;
    });
}

bool is_definition(std::string_view option) {
    const std::string_view name = option.substr(0, option.find('='));
    const std::string_view value = name.size() < option.size() ? option.substr(name.size() + 1) : "";
    return !name.empty() && is_word(name, "_") && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
           is_word(value, "_+-.*/%<>()&|! ,:");
}

bool is_switch(std::string_view option) {
    const std::string_view name = option.substr(0, option.find('='));
    const std::string_view value = name.size() < option.size() ? option.substr(name.size() + 1) : "";
    return (std::find(switched_options.begin(), switched_options.end(), name) != switched_options.end() &&
            (value == "true" || value == "false")) ||
           (name == "maxrregcount" && !value.empty() && value.size() < 4 && is_word(value, "") &&
            std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

/// Relative, and without "..": whatever it is below stays above it. Links are looked at where it is read.
bool stays_inside(std::string_view path) {
    const std::filesystem::path name(path);
    return !path.empty() && name.is_relative() && std::find(name.begin(), name.end(), "..") == name.end();
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
    return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Puts together what includes name.
class Inliner {
public:
    Inliner(std::string folder, std::vector<std::string> places) : folder_(std::move(folder)), places_(std::move(places)) {}

    std::string text_of(const std::string& file, int depth = 0) {
        if (depth > most_nested) {
            throw InputError(fmt::format("{}/{}: includes are nested more than {} deep", folder_, file, most_nested));
        }
        const std::string whole = read_in_folder(folder_, file);
        const bool once = whole.find("#pragma once") != std::string::npos;
        const std::size_t number = numbers_.try_emplace(file, numbers_.size()).first->second;
        std::string out;
        if (depth > 0) {
            out += once ? fmt::format("#ifndef NORMTUNE_INCLUDED_{0}\n#define NORMTUNE_INCLUDED_{0}\n", number) : "";
            out += fmt::format("#line 1 \"{}\"\n", file);
        }
        std::size_t line = 0;
        for (std::size_t at = 0; at < whole.size();) {
            const std::size_t end = std::min(whole.find('\n', at), whole.size());
            const std::string_view text = std::string_view(whole).substr(at, end - at);
            at = end + 1;
            ++line;
            add_line(out, text, file, line, depth);
            if (end == whole.size() && depth == 0 && !out.empty()) {
                out.pop_back();  // the last line ended without one
            }
            if (out.size() > most_source_bytes) {
                throw InputError(fmt::format("{}/{}: is of more than {} bytes with what it includes", folder_, file, most_source_bytes));
            }
        }
        return out + (depth > 0 && once ? "#endif\n" : "");
    }

private:
    void add_line(std::string& out, std::string_view text, const std::string& file, std::size_t line, int depth) {
        const std::string_view word = trimmed(text);
        const std::string_view directive = word.starts_with('#') ? trimmed(word.substr(1)) : "";
        if (depth > 0 && directive == "pragma once") {
            out += '\n';
            return;
        }
        if (directive.starts_with("include_next") || directive.starts_with("embed")) {
            refuse(file, line, "takes only #include");
        }
        if (!directive.starts_with("include")) {
            out += text;
            out += '\n';
            return;
        }
        const std::string_view name = trimmed(directive.substr(7));
        if (name.starts_with('<')) {
            if (!stays_inside(name.substr(1, name.find('>') - 1))) {
                refuse(file, line, "a header of the compiler has no path outside its folders");
            }
            out += text;
            out += '\n';
            return;
        }
        const std::size_t end = name.find('"', 1);
        if (!name.starts_with('"') || end == std::string_view::npos) {
            refuse(file, line, "an include is \"FILE\" of the folder, or <HEADER> of the compiler");
        }
        out += text_of(found(std::string(name.substr(1, end - 1)), file, line), depth + 1);
        out += fmt::format("#line {} \"{}\"\n", line + 1, file);
    }

    std::string found(const std::string& name, const std::string& file, std::size_t line) const {
        std::vector<std::string> places{std::filesystem::path(file).parent_path().string()};
        places.insert(places.end(), places_.begin(), places_.end());
        if (!stays_inside(name)) {
            refuse(file, line, fmt::format("{} is no file in its folder", quoted_for_message(name)));
        }
        for (const std::string& place : places) {
            const std::string path = (std::filesystem::path(place) / name).lexically_normal().string();
            std::error_code none;
            if (std::filesystem::is_regular_file(std::filesystem::path(folder_) / path, none)) {
                return path;
            }
        }
        refuse(file, line,
               fmt::format("{} is not in its folder; code/options may name others in it with -IFOLDER", quoted_for_message(name)));
    }

    [[noreturn]] void refuse(const std::string& file, std::size_t line, const std::string& why) const {
        throw InputError(fmt::format("{}/{}", folder_, file), static_cast<int>(line), why);
    }

    std::string folder_;
    std::vector<std::string> places_;
    std::map<std::string, std::size_t> numbers_;
};

}  // namespace

bool is_source_name(std::string_view file) {
    return file.ends_with(".cu") || file.ends_with(".hip");
}

bool is_code_name(std::string_view file) {
    return is_source_name(file) || file.ends_with(".cubin") || file.ends_with(".hsaco");
}

std::string option_objection(std::string_view option) {
    const std::string_view bare = option.substr(std::min(option.find_first_not_of('-'), option.size()));
    const bool standard = option == "-std=c++11" || option == "-std=c++14" || option == "-std=c++17" || option == "-std=c++20";
    if (standard || std::find(whole_options.begin(), whole_options.end(), option) != whole_options.end() ||
        (option.starts_with("-D") && is_definition(option.substr(2))) || (option.starts_with("-I") && stays_inside(option.substr(2))) ||
        (option.starts_with("-") && is_switch(bare))) {
        return {};
    }
    return fmt::format(
        "{} is not taken; what is: -DNAME=VALUE, -IFOLDER inside its folder, -std=c++17, --use_fast_math, -ffast-math, --maxrregcount=N "
        "and "
        "others that docs/candidates.md lists",
        quoted_for_message(option));
}

std::vector<std::string> compiler_options(const std::vector<std::string>& options) {
    std::vector<std::string> out;
    std::copy_if(options.begin(), options.end(), std::back_inserter(out),
                 [](const std::string& option) { return !option.starts_with("-I"); });
    return out;
}

std::string folder_objection(const std::string& folder, const std::string& file) {
    std::error_code failed;
    const std::filesystem::path there = std::filesystem::canonical(std::filesystem::path(folder) / file, failed);
    const std::filesystem::path below = there.lexically_relative(folder);
    const bool leaves = !failed && (below.empty() || *below.begin() == "..");
    return stays_inside(file) && !leaves ? "" : fmt::format("{} is no name of a file in its folder", quoted_for_message(file));
}

std::string read_in_folder(const std::string& folder, const std::string& file) {
    if (const std::string why = folder_objection(folder, file); !why.empty()) {
        throw InputError(fmt::format("{}: {}", folder, why));
    }
    return read_file((std::filesystem::path(folder) / file).string(), most_code_bytes);
}

std::string read_source(const std::string& folder, const std::string& file, const std::vector<std::string>& options) {
    std::vector<std::string> places;
    for (const std::string& option : options) {
        if (option.starts_with("-I")) {
            places.push_back(option.substr(2));
        }
    }
    return Inliner(folder, places).text_of(file);
}

}  // namespace normtune
