#include "support/csv_stream.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
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

constexpr std::size_t block_bytes = 16;  // that are looked at together; so many may be read behind the end

/// A bit for each byte of a block that means something in CSV: , " \r \n, or ', which guards formulas.
unsigned marks_of(const char* block) {
#ifdef __SSE2__
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
    const auto are = [&](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
    const __m128i ends = _mm_or_si128(are('\r'), are('\n'));
    const __m128i quotes = _mm_or_si128(are('"'), are('\''));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(ends, quotes), are(','))));
#else
    unsigned marks = 0;
    for (std::size_t i = 0; i < block_bytes; ++i) {
        const char c = block[i];
        marks |= static_cast<unsigned>(c == ',' || c == '"' || c == '\'' || c == '\r' || c == '\n') << i;
    }
    return marks;
#endif
}

}  // namespace

CsvReader::CsvReader(ByteSource& source, std::string file) : source_(source), file_(std::move(file)), read_bytes_(first_read_bytes) {
    buffer_.resize(2 * first_read_bytes + block_bytes);
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
    const auto room = [&] { return buffer_.size() - block_bytes - end_; };
    if (room() < read_bytes_) {
        if (begin_ > 0) {
            std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
            end_ -= begin_;
            begin_ = 0;
        }
        if (room() < read_bytes_) {
            buffer_.resize(std::max(buffer_.size() * 2, end_ + read_bytes_ + block_bytes));
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

/// The next record where it is held whole, has no quotes and ends in LF or CRLF, as most do; false: nothing was read.
bool CsvReader::next_plain() {
    fields_.clear();
    const char* const text = buffer_.data();
    std::size_t field = begin_;
    bool guards = false;
    for (std::size_t block = begin_; block < end_; block += block_bytes) {
        for (unsigned marks = marks_of(text + block); marks != 0; marks &= marks - 1) {
            const std::size_t at = block + static_cast<std::size_t>(std::countr_zero(marks));
            const char mark = text[at];
            if (mark == ',') {
                fields_.emplace_back(text + field, at - field);
                field = at + 1;
            } else if (mark == '\'') {
                guards = true;
            } else if (at >= end_ || mark == '"' || (mark == '\r' && (at + 1 >= end_ || text[at + 1] != '\n'))) {
                return false;
            } else {  // the record's end
                if (at == begin_ || at - begin_ > most_csv_record_bytes) {
                    return false;
                }
                fields_.emplace_back(text + field, at - field);
                record_line_ = next_line_++;
                begin_ = at + (mark == '\r' ? 2 : 1);
                if (guards) {
                    remove_guards();
                }
                return true;
            }
        }
    }
    return false;
}

/// Where the record that begins at begin_ ends, reading on as needed.
CsvReader::Extent CsvReader::find_end() {
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
        if (next_plain()) {
            return true;
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
            remove_guards();
        }
        return true;
    }
}

void CsvReader::remove_guards() {
    for (std::string_view& field : fields_) {
        field.remove_prefix(has_formula_guard(field) ? 1 : 0);
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
        throw InputError(fmt::format("{}: is empty; a CSV begins with a line of column names", reader.file()));
    }
    if (!reader.fields().empty() && reader.fields().front().starts_with("\x1f\x8b")) {
        throw InputError(fmt::format("{}: is compressed; gunzip it first", reader.file()));
    }
    for (const std::string_view field : reader.fields()) {
        const std::size_t first = std::min(field.find_first_not_of(' '), field.size());
        const std::string_view name = field.substr(first, field.find_last_not_of(' ') + 1 - first);
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
