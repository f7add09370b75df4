// A JSON document with lists that are too long to be held.
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
    bool guessed = false;  // a line that ends in "},"
};

/// A list at the top of a document. Its elements are given away as they are read, those that follow one another together; the document
/// then has an empty one. They may be parsed on several threads; the texts last as long as the call.
struct StreamedList {
    std::string_view member;
    /// How many it took: all, or those before one that is guessed and is no JSON. From there on elements are told by their brackets.
    std::function<std::size_t(std::span<const ListElement> elements)> take;
};

/// Throws what the other parse_json throws (support/json_reader.h), and where an element, or all that is in no list, is longer than
/// `most_bytes`, so that an endless input does not fill the memory.
nlohmann::json parse_json(ByteSource& source, std::string_view where, std::span<const StreamedList> lists,
                          std::size_t most_bytes = std::size_t{1} << 26);

/// An element of the list `member`. Throws InputError.
nlohmann::json parse_element(const ListElement& element, std::string_view where, std::string_view member);

}  // namespace normtune
