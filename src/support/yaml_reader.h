// Strict reading of the project's YAML files: every value typed and ranged, every error one line with file and line.
// The subset: one document, a map at its root, no anchors, aliases or tags, no duplicate keys, nesting up to 16, text
// in UTF-8 up to 4 MiB. A list is always written as a list; a single value does not stand for a list of one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/names.h"

#include "support/error.h"

namespace normtune {

struct YamlEntry;

/// A value of a YAML file. All getters throw InputError at this value's file and line where it is not what they ask for.
class YamlNode {
public:
    enum class Kind { null, scalar, list, map };
    static constexpr std::size_t most_text_bytes = 200;

    Kind kind() const { return kind_; }
    int line() const { return line_; }
    const std::string& file() const { return *file_; }
    /// How messages call it: "'cols'", "an item of 'tokens'", "the file".
    const std::string& label() const { return label_; }
    [[noreturn]] void fail(std::string_view message) const;  // "file:line: message"

    /// Map: its entries, in the file's order.
    const std::vector<YamlEntry>& entries() const;
    /// Map: every key must be one of `known`; a message names the nearest.
    void only_keys(std::span<const std::string_view> known) const;
    void only_keys(std::initializer_list<std::string_view> known) const { only_keys({known.begin(), known.size()}); }
    /// Map: the value of a key; null where there is none. A key without a value ("cols:") is an error.
    const YamlNode* find(std::string_view key) const;
    const YamlNode& require(std::string_view key) const;

    /// List: its items. An empty list is an error: leave the key out instead.
    const std::vector<YamlNode>& items() const;

    /// A whole number in decimal, unquoted, least ≤ value ≤ most.
    std::int64_t integer(std::int64_t least, std::int64_t most) const;
    /// A finite number, unquoted, least ≤ value ≤ most.
    double number(double least, double most) const;
    /// Not empty, one line (a folded block is one), printable, at most `most_bytes`; quotes are optional.
    std::string string(std::size_t most_bytes = most_text_bytes) const;
    bool boolean() const;  // true or false
    template <typename E, std::size_t N>
    E one_of(const NameTable<E, N>& table) const {
        const std::optional<E> found = table.find(scalar("a name"));
        if (!found) {
            fail_unknown(table.names);
        }
        return *found;
    }

    /// Optional keys of a map: empty where the key is absent.
    std::optional<std::int64_t> find_integer(std::string_view key, std::int64_t least, std::int64_t most) const {
        return find_as(key, &YamlNode::integer, least, most);
    }
    std::optional<double> find_number(std::string_view key, double least, double most) const {
        return find_as(key, &YamlNode::number, least, most);
    }
    std::optional<std::string> find_string(std::string_view key) const { return find_as(key, &YamlNode::string, most_text_bytes); }
    std::optional<bool> find_boolean(std::string_view key) const { return find_as(key, &YamlNode::boolean); }

    /// A list of distinct values; `get` turns an item into its value.
    template <typename Get>
    auto distinct(Get get) const -> std::vector<decltype(get(*this))> {
        std::vector<decltype(get(*this))> values;
        for (const YamlNode& item : items()) {
            auto value = get(item);
            for (const auto& earlier : values) {
                if (earlier == value) {
                    item.fail_twice();
                }
            }
            values.push_back(std::move(value));
        }
        return values;
    }

private:
    friend class YamlBuilder;
    template <typename Value, typename... Bounds>
    std::optional<Value> find_as(std::string_view key, Value (YamlNode::*get)(Bounds...) const, Bounds... bounds) const {
        const YamlNode* found = find(key);
        return found == nullptr ? std::nullopt : std::optional((found->*get)(bounds...));
    }
    const std::string& scalar(std::string_view wanted) const;
    [[noreturn]] void fail_wanted(std::string_view wanted) const;
    [[noreturn]] void fail_unknown(std::span<const std::string_view> known) const;
    [[noreturn]] void fail_twice() const;
    std::string shown() const;

    Kind kind_ = Kind::null;
    bool quoted_ = false;
    int line_ = 0;
    std::shared_ptr<const std::string> file_;
    std::string label_;
    std::string text_;  // scalar
    std::vector<YamlNode> items_;
    std::vector<YamlEntry> entries_;
};

struct YamlEntry {
    std::string key;
    int line = 0;
    YamlNode value;
};

/// Parses text; `file` names it in messages. Throws InputError.
YamlNode parse_yaml(std::string_view text, const std::string& file);

}  // namespace normtune
