#include "support/json_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/error.h"
#include "support/escape.h"
#include "support/utf8.h"

namespace normtune {

using nlohmann::json;

void JsonReader::fail(std::string_view message) const {
    const std::string where = path();
    const bool place = !where.empty() && !where.ends_with(": ");
    throw InputError(fmt::format("{}{}{}", where, place ? ": " : "", message));
}

std::string JsonReader::path() const {
    std::string name = index_ == no_index ? for_terminal(name_) : std::to_string(index_);
    if (parent_ == nullptr) {
        return name;
    }
    const std::string before = parent_->path();
    return before.empty() || before.ends_with(": ") ? before + name : before + '/' + name;
}

void JsonReader::fail_type(std::string_view wanted) const {
    std::string_view got = value_->type_name();
    fail(fmt::format("expected {}, got {}", wanted,
                     got == "null"     ? "null"
                     : got == "number" ? fmt::format("the number {}", quoted_for_message(value_->dump()))
                     : got == "string" ? fmt::format("the text {}", quoted_for_message(value_->get_ref<const json::string_t&>()))
                                       : fmt::format("{} {}", got == "array" || got == "object" ? "an" : "a", got)));
}

void JsonReader::only(const std::vector<std::string_view>& known) const {
    expect_object();
    for (const auto& [name, unused] : value_->items()) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            fail(fmt::format("unknown member {}{}", quoted_for_message(name), suggestion(name, known.data(), known.data() + known.size())));
        }
    }
}

std::size_t JsonReader::one_of(std::span<const std::string_view> names) const {
    const std::string word = text();
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) {
        fail(fmt::format("unknown value {}{}", quoted_for_message(word), suggestion(word, names.data(), names.data() + names.size())));
    }
    return static_cast<std::size_t>(found - names.begin());
}

void JsonReader::expect_object() const {
    if (!value_->is_object()) {
        fail_type("an object");
    }
}

JsonReader JsonReader::at(std::string_view name) const {
    expect_object();
    const auto it = value_->find(name);
    if (it == value_->end()) {
        fail(fmt::format("the member \"{}\" is missing", name));
    }
    return {*it, *this, name};
}

std::optional<JsonReader> JsonReader::find(std::string_view name) const {
    expect_object();
    const auto it = value_->find(name);
    if (it == value_->end()) {
        return std::nullopt;
    }
    return JsonReader{*it, *this, name};
}

std::size_t JsonReader::size() const {
    if (!value_->is_array()) {
        fail_type("an array");
    }
    return value_->size();
}

JsonReader JsonReader::element(std::size_t index) const {
    return {(*value_)[index], *this, index};
}

bool JsonReader::is_text() const {
    return value_->is_string();
}

std::string JsonReader::text() const {
    if (!value_->is_string()) {
        fail_type("text");
    }
    return value_->get<std::string>();
}

bool JsonReader::flag() const {
    if (!value_->is_boolean()) {
        fail_type("true or false");
    }
    return value_->get<bool>();
}

std::int64_t JsonReader::whole(std::int64_t least, std::int64_t most) const {
    if (!value_->is_number_integer()) {
        fail_type("a whole number");
    }
    const bool above_int64 =
        value_->is_number_unsigned() && value_->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (above_int64 || value_->get<std::int64_t>() < least || value_->get<std::int64_t>() > most) {
        fail(most == std::numeric_limits<std::int64_t>::max() ? fmt::format("{} is out of range; at least {}", value_->dump(), least)
                                                              : fmt::format("{} is out of range; {} to {}", value_->dump(), least, most));
    }
    return value_->get<std::int64_t>();
}

int JsonReader::integer(int least, int most) const {
    return static_cast<int>(whole(least, most));
}

std::uint64_t JsonReader::natural() const {
    if (!value_->is_number_unsigned()) {
        fail_type("a whole number from 0");
    }
    return value_->get<std::uint64_t>();
}

double JsonReader::number(double for_null) const {
    if (value_->is_null()) {
        return for_null;
    }
    if (!value_->is_number()) {
        fail_type("a number");
    }
    return value_->get<double>();
}

std::vector<double> JsonReader::numbers() const {
    std::vector<double> values;
    values.reserve(size());
    for (std::size_t i = 0; i < value_->size(); ++i) {
        values.push_back(element(i).number());
    }
    return values;
}

std::vector<std::string> JsonReader::texts() const {
    std::vector<std::string> values;
    values.reserve(size());
    for (std::size_t i = 0; i < value_->size(); ++i) {
        values.push_back(element(i).text());
    }
    return values;
}

}  // namespace normtune
