// How the words of an option become a value: what help calls them, which words there are, and their conversion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "support/names.h"
#include "support/shipped.h"

namespace normtune::cli {

/// Words that a shell completes by itself.
enum class Completion { none, files, folders };

struct Value {
    std::string placeholder;           // in help: "N", "FILE", "fp32|bf16|fp16"
    std::vector<std::string> choices;  // the words that a shell offers; empty: none
    Completion completion = Completion::none;
    std::function<void(const std::string&)> take;  // throws InputError, without the option's name
};

/// Where a value goes: a T, an optional<T> that tells whether the option was given, or a vector that keeps each once.
template <typename T>
void store(T& target, T value) {
    target = std::move(value);
}
template <typename T>
void store(std::optional<T>& target, T value) {
    target = std::move(value);
}
template <typename T>
void store(std::vector<T>& target, T value) {
    if (std::find(target.begin(), target.end(), value) == target.end()) {
        target.push_back(std::move(value));
    }
}

/// Each throws InputError: what is wrong with the word, and what would be right.
std::int64_t parse_whole_number(const std::string& word, std::int64_t least, std::int64_t most);
double parse_number(const std::string& word, double least, double most);
/// "2%" or "2"; the number.
double parse_percent(const std::string& word, double least, double most);
/// "90s", "5m", "1.5h", "500ms"; from `least_s` to `most_s` seconds.
double parse_duration(const std::string& word, double least_s, double most_s);
std::string parse_word(const std::string& word, const std::vector<std::string>& words);
template <typename E, std::size_t N>
E parse_name(const NameTable<E, N>& table, const std::string& word) {
    return *table.find(parse_word(word, {table.names.begin(), table.names.end()}));
}

/// Joins with '|': the placeholder of a value with few words.
std::string alternatives(const std::vector<std::string>& words);

template <typename Target>
Value text(std::string placeholder, Target& target) {
    return {std::move(placeholder), {}, Completion::none, [&target](const std::string& word) { store(target, word); }};
}

template <typename Target>
Value file(Target& target) {
    return {"FILE", {}, Completion::files, [&target](const std::string& word) { store(target, word); }};
}

/// Throws InputError: the word is "-", which elsewhere is standard output.
void require_no_stream(const std::string& word);

template <typename Target>
Value folder(Target& target) {
    return {"DIR", {}, Completion::folders, [&target](const std::string& word) {
                require_no_stream(word);
                store(target, word);
            }};
}

/// Files, or the names of those shipped in configs/`shipped_folder`.
template <typename Target>
Value shipped_file(std::string_view shipped_folder, Target& target) {
    return {"FILE", shipped_names(shipped_folder), Completion::files, [&target](const std::string& word) { store(target, word); }};
}

template <typename Target>
Value whole_number(std::int64_t least, std::int64_t most, Target& target) {
    return {"N", {}, Completion::none, [least, most, &target](const std::string& word) {
                store(target, parse_whole_number(word, least, most));
            }};
}

template <typename Target>
Value number(double least, double most, Target& target) {
    return {"X", {}, Completion::none, [least, most, &target](const std::string& word) { store(target, parse_number(word, least, most)); }};
}

template <typename Target>
Value percent(double least, double most, Target& target) {
    return {"PERCENT", {}, Completion::none, [least, most, &target](const std::string& word) {
                store(target, parse_percent(word, least, most));
            }};
}

template <typename Target>
Value duration(double least_s, double most_s, Target& target_s) {
    return {"DURATION", {}, Completion::none, [least_s, most_s, &target_s](const std::string& word) {
                store(target_s, parse_duration(word, least_s, most_s));
            }};
}

/// One of `words`.
template <typename Target>
Value word_of(const std::vector<std::string>& words, Target& target) {
    return {alternatives(words), words, Completion::none,
            [words, &target](const std::string& word) { store(target, parse_word(word, words)); }};
}

template <typename E, std::size_t N, typename Target>
Value name_of(const NameTable<E, N>& table, Target& target) {
    std::vector<std::string> words(table.names.begin(), table.names.end());
    std::string placeholder = alternatives(words);
    return {std::move(placeholder), std::move(words), Completion::none,
            [&table, &target](const std::string& word) { store(target, parse_name(table, word)); }};
}

}  // namespace normtune::cli
