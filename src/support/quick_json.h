// JSON by simdjson, with the access of JsonReader: ten times as fast, and without a word on what is wrong. Who gets nothing from it asks
// JsonReader, which tells. For .cpp files that read millions of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "support/names.h"

namespace normtune {

class QuickJson {
public:
    /// Something is not as it should be.
    struct Declined {};

    explicit QuickJson(simdjson::dom::element value) : value_(value) {}

    QuickJson at(std::string_view name) const {
        const std::optional<QuickJson> found = find(name);
        return found ? *found : throw Declined();
    }
    std::optional<QuickJson> find(std::string_view name) const {
        simdjson::dom::element found;
        return got(value_.get_object()).at_key(name).get(found) == simdjson::SUCCESS ? std::optional(QuickJson(found)) : std::nullopt;
    }
    std::size_t size() const { return got(value_.get_array()).size(); }
    template <typename Take>
    friend void each_element(const QuickJson& in, const Take& take) {
        for (const simdjson::dom::element element : got(in.value_.get_array())) {
            take(QuickJson(element));
        }
    }

    std::string text() const { return std::string(view()); }
    bool flag() const { return got(value_.get_bool()); }
    std::int64_t whole(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()) const {
        const std::int64_t value = got(value_.get_int64());
        return value < least || value > most ? throw Declined() : value;
    }
    int integer(int least, int most) const { return static_cast<int>(whole(least, most)); }
    std::uint64_t natural() const { return got(value_.get_uint64()); }
    double number(double for_null) const { return is_null(*this) ? for_null : got(value_.get_double()); }
    template <typename E, std::size_t N>
    E name_of(const NameTable<E, N>& table) const {
        return static_cast<E>(one_of(table.names));
    }
    template <typename Names>
    std::size_t one_of(const Names& names) const {
        const std::string_view word = view();
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i] == word) {
                return i;
            }
        }
        throw Declined();
    }

    bool is_text() const { return value_.is_string(); }
    friend bool is_null(const QuickJson& in) { return in.value_.is_null(); }
    friend std::string text_of(const QuickJson&) { return {}; }
    [[noreturn]] void fail(std::string_view) const { throw Declined(); }

    /// Whether the members of each object ascend by name, as normtune writes them (then no two have the same), and no more than so many
    /// lists and objects are in each other.
    bool ascends(int levels) const;

private:
    template <typename T>
    static T got(simdjson::simdjson_result<T> result) {
        T value;
        return std::move(result).get(value) == simdjson::SUCCESS ? value : throw Declined();
    }
    std::string_view view() const { return got(value_.get_string()); }

    simdjson::dom::element value_;
};

inline bool QuickJson::ascends(int levels) const {
    if (levels < 0) {
        return false;
    }
    if (value_.is_object()) {
        std::optional<std::string_view> last;
        for (const simdjson::dom::key_value_pair member : got(value_.get_object())) {
            if ((last && !(*last < member.key)) || !QuickJson(member.value).ascends(levels - 1)) {
                return false;
            }
            last = member.key;
        }
    } else if (value_.is_array()) {
        for (const simdjson::dom::element element : got(value_.get_array())) {
            if (!QuickJson(element).ascends(levels - 1)) {
                return false;
            }
        }
    }
    return true;
}

/// Calls read(QuickJson) with what the text holds. False where that cannot be told so quickly: it is no JSON, `read` declined, it is long,
/// or an object's members are in an order that is not normtune's.
template <typename Read>
bool with_quick_json(std::string_view text, const Read& read) {
    constexpr std::size_t most_bytes = std::size_t{1} << 20;  // the parser keeps its memory
    constexpr int most_levels = 20;
    thread_local simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (text.size() > most_bytes || parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) {
        return false;
    }
    try {
        const QuickJson value(root);
        if (!value.ascends(most_levels)) {
            return false;
        }
        read(value);
        return true;
    } catch (const QuickJson::Declined&) {
        return false;
    }
}

}  // namespace normtune
