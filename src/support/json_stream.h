// A JSON document of which one list is too long to be held.
#pragma once

#include <functional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "support/byte_source.h"

namespace normtune {

/// A list at the top of a document whose elements are given away as they are read; the document then has an empty one.
struct StreamedList {
    std::string_view member = {};
    std::function<void(const nlohmann::json& element, std::size_t index)> take = {};  // none: nothing is given away
    std::size_t most_bytes = std::size_t{1} << 26;                                    // of an element, and of all before or behind them
};

/// Throws what the other parse_json throws (support/json_reader.h), and where the list's elements do not come, so that an endless input
/// does not fill the memory.
nlohmann::json parse_json(ByteSource& source, std::string_view where, const StreamedList& list);

}  // namespace normtune
