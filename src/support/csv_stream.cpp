#include "support/csv_stream.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "support/csv.h"
#include "support/error.h"
#include "support/utf8.h"

namespace normtune {
namespace {

constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";
constexpr std::size_t first_read_bytes = std::size_t{1} << 12;  // small files stay cheap
constexpr std::size_t most_read_bytes = std::size_t{1} << 18;

}  // namespace

CsvReader::CsvReader(ByteSource& source, std::string file) : source_(source), file_(std::move(file)), read_bytes_(first_read_bytes) {
    buffer_.resize(2 * first_read_bytes);
    while (end_ < utf8_mark.size() && fill()) {
    }
    const std::string_view start(buffer_.data(), end_);
    if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
        throw InputError(file_, 1, "is UTF-16; save it as UTF-8");
    }
    begin_ = start.starts_with(utf8_mark) ? utf8_mark.size() : 0;
}

void CsvReader::fail(std::string_view message) const {
    throw InputError(file_, record_line_, message);
}

bool CsvReader::fill() {
    if (at_end_) {
        return false;
    }
    if (buffer_.size() - end_ < read_bytes_) {
        if (begin_ > 0) {
            std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
            end_ -= begin_;
            begin_ = 0;
        }
        if (buffer_.size() - end_ < read_bytes_) {
            buffer_.resize(std::max(buffer_.size() * 2, end_ + read_bytes_));
        }
    }
    const std::size_t got = source_.read(buffer_.data() + end_, read_bytes_);
    at_end_ = got == 0;
    if (got == read_bytes_) {
        read_bytes_ = std::min(2 * read_bytes_, most_read_bytes);
    }
    end_ += got;
    return got > 0;
}

/// Where the record that begins at begin_ ends, reading on as needed.
CsvReader::Extent CsvReader::find_end() {
    // Most records have no quotes and end in LF or CRLF: three searches find that out faster than a look at each byte.
    const std::string_view held(buffer_.data() + begin_, end_ - begin_);
    if (const std::size_t feed = held.find('\n'); feed != std::string_view::npos) {
        const std::string_view line = held.substr(0, feed);
        const std::size_t carriage = line.find('\r');
        const bool plain = carriage == std::string_view::npos || carriage + 1 == feed;
        if (plain && line.find('"') == std::string_view::npos) {
            return {std::min(carriage, feed), feed + 1, false};
        }
    }
    std::size_t at = 0;  // from begin_
    bool inside = false;
    bool quotes = false;
    for (;;) {
        const char* const text = buffer_.data() + begin_;
        const std::size_t size = end_ - begin_;
        while (at < size) {
            if (inside) {
                const void* const quote = std::memchr(text + at, '"', size - at);
                at = quote == nullptr ? size : static_cast<std::size_t>(static_cast<const char*>(quote) - text) + 1;
                inside = quote == nullptr;
                continue;
            }
            const char c = text[at];
            if (c == '"') {
                // Only at a field's beginning, or doubled inside one, does a quote open; elsewhere it is text.
                quotes = true;
                inside = at == 0 || text[at - 1] == ',' || text[at - 1] == '"';
            } else if (c == '\n' || c == '\r') {
                if (c == '\r' && at + 1 == size && !at_end_) {
                    break;  // a line feed may follow
                }
                const bool both = c == '\r' && at + 1 < size && text[at + 1] == '\n';
                return {at, at + (both ? 2U : 1U), quotes};
            }
            ++at;
        }
        if (at > most_csv_record_bytes) {
            fail(fmt::format("the line is longer than {} bytes, the most that is read{}", most_csv_record_bytes,
                             inside ? "; is a quote never closed?" : ""));
        }
        if (!fill()) {
            if (at < end_ - begin_) {
                continue;  // a CR that ends the file
            }
            if (inside) {
                fail("a quote is opened and never closed");
            }
            return {at, at, quotes};
        }
    }
}

bool CsvReader::next() {
    for (;;) {
        if (begin_ == end_ && !fill()) {
            return false;
        }
        record_line_ = next_line_;
        const Extent extent = find_end();
        const std::string_view record(buffer_.data() + begin_, extent.length);
        begin_ += extent.consumed;
        line_ended_ = extent.consumed > extent.length;
        ++next_line_;
        if (record.size() > most_csv_record_bytes) {
            fail(fmt::format("the line is longer than {} bytes, the most that is read", most_csv_record_bytes));
        }
        if (record.empty()) {
            continue;
        }
        if (extent.quotes) {
            next_line_ += static_cast<int>(std::count(record.begin(), record.end(), '\n'));
            split_quoted(record);
        } else {
            split(record);
        }
        if (record.find('\'') != std::string_view::npos) {
            for (std::string_view& field : fields_) {
                field.remove_prefix(has_formula_guard(field) ? 1 : 0);
            }
        }
        return true;
    }
}

void CsvReader::split(std::string_view record) {
    fields_.clear();
    const char* at = record.data();
    const char* const end = at + record.size();
    for (;;) {
        const void* const comma = std::memchr(at, ',', static_cast<std::size_t>(end - at));
        const char* const stop = comma == nullptr ? end : static_cast<const char*>(comma);
        fields_.emplace_back(at, static_cast<std::size_t>(stop - at));
        if (comma == nullptr) {
            return;
        }
        at = stop + 1;
    }
}

void CsvReader::split_quoted(std::string_view record) {
    fields_.clear();
    unquoted_.clear();
    unquoted_.reserve(record.size());  // views into it stay good
    std::size_t at = 0;
    for (;;) {
        if (at < record.size() && record[at] == '"') {
            const std::size_t from = unquoted_.size();
            ++at;
            for (;;) {
                const std::size_t quote = record.find('"', at);
                if (quote == std::string_view::npos) {
                    fail("a quote is opened and never closed");
                }
                unquoted_.append(record, at, quote - at);
                at = quote + 1;
                if (at >= record.size() || record[at] != '"') {
                    break;
                }
                unquoted_ += '"';
                ++at;
            }
            if (at < record.size() && record[at] != ',') {
                fail("text follows a closing quote; a comma or the line's end belongs there");
            }
            fields_.emplace_back(unquoted_.data() + from, unquoted_.size() - from);
        } else {
            const std::size_t comma = std::min(record.find(',', at), record.size());
            fields_.push_back(record.substr(at, comma - at));
            at = comma;
        }
        if (at >= record.size()) {
            return;
        }
        ++at;
        if (at == record.size()) {
            fields_.emplace_back();
            return;
        }
    }
}

CsvColumns::CsvColumns(CsvReader& reader) {
    if (reader.line() == 0 && !reader.next()) {
        throw InputError(fmt::format("{}: is empty; a results file is needed", reader.file()));
    }
    for (const std::string_view name : reader.fields()) {
        if (name.find('\0') != std::string_view::npos || !is_utf8(name)) {
            reader.fail("is not text in UTF-8; a results file is needed");
        }
        if (!name.empty() && has(name)) {
            reader.fail(fmt::format("the column {} is there twice", quoted_for_message(name)));
        }
        names_.emplace_back(name);
    }
}

std::size_t CsvColumns::find(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? absent : static_cast<std::size_t>(found - names_.begin());
}

std::size_t CsvColumns::require(const CsvReader& reader, std::string_view name) const {
    const std::size_t found = find(name);
    if (found == absent) {
        reader.fail(fmt::format("the column {} is missing", name));
    }
    return found;
}

void CsvColumns::check(const CsvReader& reader) const {
    const std::size_t fields = reader.fields().size();
    if (fields != names_.size()) {
        reader.fail(fmt::format("{} field{} where the header has {}{}", fields, fields == 1 ? "" : "s", names_.size(),
                                fields < names_.size() ? "; is the file cut short?" : ""));
    }
}

}  // namespace normtune
