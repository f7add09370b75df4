#include "support/yaml_reader.h"

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "support/error.h"
#include "support/utf8.h"

namespace normtune {
namespace {

/// The whole of `text` as a number; the standard's conversions know neither locale nor white space.
template <typename T>
std::errc convert(std::string_view text, T& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end != text.data() + text.size() ? std::errc::invalid_argument : error;
}

}  // namespace

void YamlNode::fail(std::string_view message) const {
    throw InputError(*file_, line_, message);
}

void YamlNode::fail_wanted(std::string_view wanted) const {
    fail(fmt::format("{} must be {}, not {}", label_, wanted, shown()));
}

void YamlNode::fail_unknown(std::span<const std::string_view> known) const {
    fail(fmt::format("{}: unknown value {}{}", label_, shown(), suggestion(text_, known.data(), known.data() + known.size())));
}

void YamlNode::fail_twice() const {
    fail(fmt::format("{}: {} is listed twice", label_, shown()));
}

std::string YamlNode::shown() const {
    switch (kind_) {
        case Kind::null:
            return "empty";
        case Kind::list:
            return "a list";
        case Kind::map:
            return "a map";
        case Kind::scalar:
            break;
    }
    return quoted_ ? "the quoted text " + quoted_for_message(text_) : quoted_for_message(text_);
}

const std::vector<YamlEntry>& YamlNode::entries() const {
    if (kind_ != Kind::map) {
        fail_wanted("a map of 'key: value'");
    }
    return entries_;
}

void YamlNode::only_keys(std::span<const std::string_view> known) const {
    for (const YamlEntry& entry : entries()) {
        bool is_known = false;
        for (const std::string_view name : known) {
            is_known = is_known || name == entry.key;
        }
        if (!is_known) {
            throw InputError(*file_, entry.line,
                             fmt::format("unknown key {}{}", quoted_for_message(entry.key),
                                         suggestion(entry.key, known.data(), known.data() + known.size())));
        }
    }
}

const YamlNode* YamlNode::find(std::string_view key) const {
    for (const YamlEntry& entry : entries()) {
        if (entry.key == key) {
            if (entry.value.kind_ == Kind::null) {
                entry.value.fail(fmt::format("{} has no value", entry.value.label_));
            }
            return &entry.value;
        }
    }
    return nullptr;
}

const YamlNode& YamlNode::require(std::string_view key) const {
    const YamlNode* found = find(key);
    if (found == nullptr) {
        fail(fmt::format("{} needs the key '{}'", label_, key));
    }
    return *found;
}

const std::vector<YamlNode>& YamlNode::items() const {
    if (kind_ != Kind::list) {
        fail_wanted("a list");
    }
    if (items_.empty()) {
        fail(fmt::format("{} is an empty list; leave the key out, or give it a value", label_));
    }
    return items_;
}

const std::string& YamlNode::scalar(std::string_view wanted) const {
    if (kind_ != Kind::scalar) {
        fail_wanted(wanted);
    }
    return text_;
}

std::int64_t YamlNode::integer(std::int64_t least, std::int64_t most) const {
    const std::string wanted = fmt::format("a whole number from {} to {}", least, most);
    std::int64_t value = 0;
    if (convert(scalar(wanted), value) != std::errc{} || quoted_ || value < least || value > most) {
        fail_wanted(wanted);
    }
    return value;
}

double YamlNode::number(double least, double most) const {
    const std::string wanted = fmt::format("a number from {:g} to {:g}", least, most);
    double value = 0;
    if (convert(scalar(wanted), value) != std::errc{} || quoted_ || !std::isfinite(value) || value < least || value > most) {
        fail_wanted(wanted);
    }
    return value;
}

std::string YamlNode::string(std::size_t most_bytes) const {
    const std::string& text = scalar("text");
    bool printable = true;
    for (const char c : text) {
        printable = printable && !is_control(c);
    }
    if (text.empty() || text.size() > most_bytes || !printable) {
        fail_wanted(fmt::format("one line of 1 to {} bytes of text", most_bytes));
    }
    return text;
}

bool YamlNode::boolean() const {
    const std::string& text = scalar("true or false");
    if (quoted_ || (text != "true" && text != "false")) {
        fail_wanted("true or false");
    }
    return text == "true";
}

}  // namespace normtune
