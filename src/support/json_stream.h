// A JSON document of which one list is too long to be held.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "support/byte_source.h"

namespace normtune {

/// An element of the list, as it stands in the document.
struct ListElement {
    std::string_view text;
    std::size_t index = 0;
    std::size_t offset = 0;  // where it begins in the document, in bytes
    std::size_t line = 1;    // the same in lines and columns, from 1
    std::size_t column = 1;
};

/// A list at the top of a document. Its elements are given away as they are read, those that follow one another together; the document
/// then has an empty one. They may be parsed on several threads; the texts last as long as the call.
struct StreamedList {
    std::string_view member;
    std::function<void(std::span<const ListElement> elements)> take;
    std::size_t most_bytes = std::size_t{1} << 26;  // of an element, and of all before or behind them
};

/// Throws what the other parse_json throws (support/json_reader.h), and where the list's elements do not come, so that an endless input
/// does not fill the memory.
nlohmann::json parse_json(ByteSource& source, std::string_view where, const StreamedList& list);

/// An element of the list `member`, without its own member `leave_out`: of that the quotes and brackets alone have to be whole. Throws
/// InputError.
nlohmann::json parse_element(const ListElement& element, std::string_view where, std::string_view member, std::string_view leave_out = {});

}  // namespace normtune
