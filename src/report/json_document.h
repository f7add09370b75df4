// What the JSON documents of reports have in common.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

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
std::string json_document(int schema_version, nlohmann::json members);

}  // namespace normtune
