// CSV read record by record from a stream: RFC 4180, and what other writers make of it (LF, CRLF and CR line ends
// mixed, a byte-order mark, blank lines, no line end at the end).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/byte_source.h"

namespace normtune {

inline constexpr std::size_t most_csv_record_bytes = std::size_t{1} << 20;

class CsvReader {
public:
    /// `file` names the input in messages. At most a record, at most most_csv_record_bytes long, is in memory at a time.
    CsvReader(ByteSource& source, std::string file);

    /// The next record, blank lines left out; false at the end. The fields hold until the next call. Throws InputError
    /// "file:line: …": a record that is too long, a quote that is never closed or that text follows.
    bool next();
    const std::vector<std::string_view>& fields() const { return fields_; }
    /// Line of the record's beginning, from 1.
    int line() const { return record_line_; }
    /// Did a line end follow it? Not behind the last line of a file that was cut inside it.
    bool line_ended() const { return line_ended_; }
    const std::string& file() const { return file_; }
    [[noreturn]] void fail(std::string_view message) const;

private:
    struct Extent {
        std::size_t length;    // of the record's text
        std::size_t consumed;  // with its line end
        bool quotes;
    };
    bool fill();
    bool next_plain();
    Extent find_end();
    void split(std::string_view record);
    void remove_guards();
    void split_quoted(std::string_view record);

    ByteSource& source_;
    std::string file_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  // of what is not consumed
    std::size_t end_ = 0;
    std::size_t read_bytes_;  // grows from read to read
    bool at_end_ = false;
    int next_line_ = 1;
    int record_line_ = 0;
    bool line_ended_ = true;
    std::vector<std::string_view> fields_;
    std::string unquoted_;  // text of the fields that had quotes
};

/// Columns of a CSV by name, in any order.
class CsvColumns {
public:
    static constexpr std::size_t absent = static_cast<std::size_t>(-1);

    /// Without blanks around the names. Of the reader's present record; of its first one where it has not begun. Throws InputError: nothing
    /// in the file, a name twice.
    explicit CsvColumns(CsvReader& reader);
    std::size_t find(std::string_view name) const;
    std::size_t require(const CsvReader& reader, std::string_view name) const;
    bool has(std::string_view name) const { return find(name) != absent; }
    /// Throws InputError where the record has another number of fields than the header.
    void check(const CsvReader& reader) const;

private:
    std::vector<std::string> names_;
};

}  // namespace normtune
