// A strict reader of RFC 4180, written from the grammar there: the tests' own, so that it shares no mistake with the
// writer.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace normtune::testing {

inline std::vector<std::vector<std::string>> read_csv(std::string_view text) {
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> row;
    std::size_t i = 0;
    const auto peek = [&] { return i < text.size() ? text[i] : '\0'; };
    while (i < text.size()) {
        std::string field;
        if (peek() == '"') {
            for (++i;; ++i) {
                if (i >= text.size()) {
                    throw std::runtime_error("quote not closed");
                }
                if (text[i] == '"') {
                    if (i + 1 < text.size() && text[i + 1] == '"') {
                        ++i;
                    } else {
                        break;
                    }
                }
                field += text[i];
            }
            ++i;
        } else {
            while (i < text.size() && text[i] != ',' && text[i] != '\r') {
                if (text[i] == '"' || text[i] == '\n') {
                    throw std::runtime_error("quote or line feed in a plain field");
                }
                field += text[i++];
            }
        }
        row.push_back(std::move(field));
        if (peek() == ',') {
            ++i;
        } else if (text.substr(i, 2) == "\r\n") {
            i += 2;
            rows.push_back(std::move(row));
            row.clear();
        } else {
            throw std::runtime_error("neither comma nor CRLF after a field");
        }
    }
    if (!row.empty()) {
        throw std::runtime_error("last line has no CRLF");
    }
    return rows;
}

}  // namespace normtune::testing
