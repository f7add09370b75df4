// What the JSON documents of reports have in common.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "support/text_sink.h"

namespace normtune {

/// `make` of each.
template <typename Range, typename Make>
nlohmann::json json_list(const Range& range, const Make& make) {
    nlohmann::json out = nlohmann::json::array();
    for (const auto& one : range) {
        out.push_back(make(one));
    }
    return out;
}

/// null where there is no value.
template <typename T>
nlohmann::json json_if(bool there, const T& value) {
    return there ? nlohmann::json(value) : nlohmann::json();
}

/// The whole document: `members`, the schema's version and normtune's.
std::string json_document(int schema, nlohmann::json members);

/// Writes the value, each of its further lines behind the margin.
void write_json(TextSink& out, const nlohmann::json& value, std::string_view margin);
/// Writes an element of a list, by its number, each of its further lines behind the margin.
using WriteElement = std::function<void(std::size_t i, std::string_view margin)>;
/// Writes `members` with the list that they have empty and that is too long to be held: its elements are written one by one.
void write_json_with(TextSink& out, const nlohmann::json& members, std::string_view list, std::size_t length, const WriteElement& write,
                     std::string_view margin);
/// The same of a whole document.
void write_json_document(TextSink& out, int schema, nlohmann::json members, std::string_view list, std::size_t length,
                         const WriteElement& write);

}  // namespace normtune
