#include "store/token_counts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "problem/problem.h"
#include "support/csv.h"
#include "support/csv_stream.h"
#include "support/error.h"
#include "support/json_reader.h"

namespace normtune {
namespace {

constexpr std::int64_t most_batches = 1'000'000'000'000'000;  // sums of products stay exact enough in double, and whole in 64 bits
constexpr std::size_t most_token_counts = 1'000'000;
constexpr std::size_t most_line_bytes = std::size_t{1} << 20;

/// A whole number as spreadsheets and data frames write it ("12", "12.0"); empty where it is none of that range.
std::optional<std::int64_t> whole(double value, std::int64_t least, std::int64_t most) {
    const bool fits =
        std::isfinite(value) && value == std::floor(value) && value >= static_cast<double>(least) && value <= static_cast<double>(most);
    return fits ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

class Counting {
public:
    explicit Counting(std::string file) { counts_.file = std::move(file); }

    void add(int line, std::int64_t tokens, std::int64_t count) {
        if (count > most_batches - total_) {
            throw InputError(counts_.file, line, fmt::format("with this entry there are more than {} batches", most_batches));
        }
        total_ += count;
        if (tokens == 0) {
            counts_.empty += count;
        } else if (count > 0) {
            counts_.batches[tokens] += count;
            if (counts_.batches.size() > most_token_counts) {
                throw InputError(counts_.file, line, fmt::format("there are more than {} different token counts", most_token_counts));
            }
        }
    }

    TokenCounts take() {
        if (counts_.batches.empty()) {
            throw InputError(counts_.file, 0, "no batch with a token is counted in it");
        }
        return std::move(counts_);
    }

private:
    TokenCounts counts_;
    std::int64_t total_ = 0;
};

/// One entry of a log: what it says of each column; empty: nothing.
class Entry {
public:
    Entry(const LogColumns& columns, const std::string& file, int line) : columns_(columns), file_(file), line_(line) {}

    void set(LogColumn column, double value, std::string_view written) {
        const std::int64_t most = column == LogColumn::count ? most_batches : largest_size;
        const std::optional<std::int64_t> number = whole(value, 0, most);
        if (!number) {
            fail(fmt::format("{} is {}, where a whole number from 0 to {} belongs", columns_.name(column), quoted_for_message(written),
                             most));
        }
        at(column) = number;
    }

    void add_to(Counting& counting) {
        std::optional<std::int64_t> tokens = at(LogColumn::tokens);
        if (!tokens) {
            const std::optional<std::int64_t> sequences = at(LogColumn::batch_size);
            const std::optional<std::int64_t> each = at(LogColumn::seq_len);
            if (!sequences && !each) {
                fail(fmt::format("it has neither {}, nor {} or {} (--column ROLE=NAME says what they are called)",
                                 columns_.name(LogColumn::tokens), columns_.name(LogColumn::batch_size),
                                 columns_.name(LogColumn::seq_len)));
            }
            if (each.value_or(1) > 0 && sequences.value_or(1) > largest_size / each.value_or(1)) {
                fail(fmt::format("{} times {} is more than {} tokens", *sequences, *each, largest_size));
            }
            tokens = sequences.value_or(1) * each.value_or(1);
        }
        counting.add(line_, *tokens, at(LogColumn::count).value_or(1));
    }

private:
    std::optional<std::int64_t>& at(LogColumn column) { return values_[static_cast<std::size_t>(column)]; }
    [[noreturn]] void fail(std::string_view message) const { throw InputError(file_, line_, message); }

    const LogColumns& columns_;
    const std::string& file_;
    int line_;
    std::array<std::optional<std::int64_t>, log_column_names.names.size()> values_;
};

void read_csv_log(ByteSource& source, const std::string& file, const LogColumns& columns, Counting& counting) {
    CsvReader reader(source, file);
    const CsvColumns header(reader);
    const std::vector<LogColumn> read = columns.read();
    const bool usable =
        std::ranges::any_of(read, [&](LogColumn column) { return column != LogColumn::count && header.has(columns.name(column)); });
    if (!usable) {
        reader.fail(fmt::format("there is no column {}, {} or {}; --column ROLE=NAME says what they are called",
                                columns.name(LogColumn::tokens), columns.name(LogColumn::batch_size), columns.name(LogColumn::seq_len)));
    }
    for (const LogColumn column : read) {
        if (columns.given[static_cast<std::size_t>(column)] && !header.has(columns.name(column))) {
            reader.fail(fmt::format("there is no column {}, which --column says is {}", quoted_for_message(columns.name(column)),
                                    log_column_names.name(column)));
        }
    }
    while (reader.next()) {
        header.check(reader);
        Entry entry(columns, file, reader.line());
        for (const LogColumn column : read) {
            const std::size_t place = header.find(columns.name(column));
            if (place == CsvColumns::absent || reader.fields()[place].empty()) {
                continue;
            }
            const std::string_view text = reader.fields()[place];
            entry.set(column, csv_real(text).value_or(-1), text);
        }
        entry.add_to(counting);
    }
}

/// Lines of a stream, without their ends.
class Lines {
public:
    Lines(ByteSource& source, const std::string& file) : source_(source), file_(file) {}

    /// Holds until the next call; false at the end.
    bool next(std::string_view& line) {
        for (std::size_t searched = begin_;;) {
            const std::size_t end = buffer_.find('\n', searched);
            if (end != std::string::npos || (at_end_ && begin_ < buffer_.size())) {
                const std::size_t stop = end == std::string::npos ? buffer_.size() : end;
                line = std::string_view(buffer_).substr(begin_, stop - begin_);
                begin_ = std::min(stop + 1, buffer_.size());
                ++number_;
                return true;
            }
            if (at_end_) {
                return false;
            }
            buffer_.erase(0, begin_);
            begin_ = 0;
            searched = buffer_.size();
            if (searched > most_line_bytes) {
                throw InputError(file_, number_ + 1, fmt::format("a line of more than {} bytes is no entry of a log", most_line_bytes));
            }
            constexpr std::size_t block = std::size_t{1} << 16;
            buffer_.resize(searched + block);
            const std::size_t got = source_.read(buffer_.data() + searched, block);
            buffer_.resize(searched + got);
            at_end_ = got == 0;
        }
    }
    int number() const { return number_; }

private:
    ByteSource& source_;
    const std::string& file_;
    std::string buffer_;
    std::size_t begin_ = 0;
    int number_ = 0;
    bool at_end_ = false;
};

void read_json_log(ByteSource& source, const std::string& file, const LogColumns& columns, Counting& counting) {
    Lines lines(source, file);
    const std::vector<LogColumn> read = columns.read();
    std::array<bool, log_column_names.names.size()> missed = columns.given;
    for (std::string_view line; lines.next(line);) {
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
            continue;
        }
        const nlohmann::json object = parse_json(line, fmt::format("{}:{}", file, lines.number()));
        if (!object.is_object()) {
            throw InputError(file, lines.number(), "an entry is an object, as {\"tokens\": 128}");
        }
        Entry entry(columns, file, lines.number());
        for (const LogColumn column : read) {
            const auto member = object.find(columns.name(column));
            missed[static_cast<std::size_t>(column)] &= member == object.end();
            if (member != object.end() && !member->is_null()) {
                entry.set(column, member->is_number() ? member->get<double>() : -1, member->dump());
            }
        }
        entry.add_to(counting);
    }
    for (const LogColumn column : read) {
        if (missed[static_cast<std::size_t>(column)]) {
            throw InputError(file, 0,
                             fmt::format("no entry has {}, which --column says is {}", quoted_for_message(columns.name(column)),
                                         log_column_names.name(column)));
        }
    }
}

/// A source whose first bytes were looked at.
class LookedAt : public ByteSource {
public:
    explicit LookedAt(ByteSource& source) : source_(source) {
        first_.resize(std::size_t{1} << 12);
        first_.resize(source.read(first_.data(), first_.size()));
    }
    bool begins_with_brace() const { return at(begin()) == '{'; }
    /// Of objects or numbers; "[n]" may be a column's name.
    bool begins_with_array() const {
        const char next = at(begin()) == '[' ? at(first_.find_first_not_of(" \t\r\n", begin() + 1)) : '\0';
        return next != '\0' && std::string_view("{[]-0123456789").find(next) != std::string_view::npos;
    }
    std::size_t read(char* into, std::size_t most) override {
        if (given_ == first_.size()) {
            return source_.read(into, most);
        }
        const std::size_t got = first_.copy(into, most, given_);
        given_ += got;
        return got;
    }

private:
    std::size_t begin() const { return first_.find_first_not_of(" \t\r\n\xEF\xBB\xBF"); }
    char at(std::size_t place) const { return place < first_.size() ? first_[place] : '\0'; }

    ByteSource& source_;
    std::string first_;
    std::size_t given_ = 0;
};

}  // namespace

void LogColumns::set(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) {
        throw InputError(fmt::format("{} is not ROLE=NAME, as in tokens=num_batched_tokens", quoted_for_message(text)));
    }
    const auto role = log_column_names.find(std::string_view(text).substr(0, equals));
    if (!role) {
        throw InputError(fmt::format("unknown role {}; there are {}", quoted_for_message(text.substr(0, equals)),
                                     fmt::join(log_column_names.names, ", ")));
    }
    const auto place = static_cast<std::size_t>(*role);
    names[place] = text.substr(equals + 1);
    given[place] = true;
    if (const std::optional<LogColumn> other = taken_by(*role)) {
        throw InputError(fmt::format("--column says that {} is both {} and {}", quoted_for_message(names[place]),
                                     log_column_names.name(*other), log_column_names.name(*role)));
    }
}

std::optional<LogColumn> LogColumns::taken_by(LogColumn column) const {
    const auto place = static_cast<std::size_t>(column);
    for (std::size_t other = 0; other < names.size(); ++other) {
        if (other != place && given[other] && names[other] == names[place]) {
            return static_cast<LogColumn>(other);
        }
    }
    return std::nullopt;
}

std::vector<LogColumn> LogColumns::read() const {
    std::vector<LogColumn> out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (const auto column = static_cast<LogColumn>(i); !taken_by(column)) {
            out.push_back(column);
        }
    }
    return out;
}

TokenCounts read_token_counts(const std::string& path) {
    return read_token_counts(*open_source(path), path);
}

TokenCounts read_token_counts(ByteSource& source, const std::string& file) {
    CsvReader reader(source, file);
    const CsvColumns header(reader);
    const std::size_t tokens = header.find("tokens");
    const std::size_t count = header.find("count");
    if (tokens == CsvColumns::absent || count == CsvColumns::absent) {
        reader.fail("there are no columns tokens and count; normtune shapes --from-log makes such a file of a log");
    }
    Counting counting(file);
    const auto number = [&](std::size_t place, std::string_view what, std::int64_t least, std::int64_t most) {
        const std::string_view text = reader.fields()[place];
        const std::optional<double> value = csv_real(text);
        const std::optional<std::int64_t> out = value ? whole(*value, least, most) : std::nullopt;
        if (!out) {
            reader.fail(fmt::format("{} is {}; it is a whole number from {} to {}", what, quoted_for_message(text), least, most));
        }
        return *out;
    };
    while (reader.next()) {
        header.check(reader);
        const std::int64_t of = number(tokens, "tokens", 1, largest_size);
        counting.add(reader.line(), of, number(count, "count", 0, most_batches));
    }
    return counting.take();
}

TokenCounts read_token_log(const std::string& path, const LogColumns& columns) {
    return read_token_log(*open_source(path), path, columns);
}

TokenCounts read_token_log(ByteSource& source, const std::string& file, const LogColumns& columns) {
    LookedAt looked_at(source);
    Counting counting(file);
    if (looked_at.begins_with_array()) {
        throw InputError(file, 1, "is a JSON array; JSON lines, an object each, or CSV are read");
    }
    if (looked_at.begins_with_brace()) {
        read_json_log(looked_at, file, columns, counting);
    } else {
        read_csv_log(looked_at, file, columns, counting);
    }
    return counting.take();
}

std::string token_counts_csv(const TokenCounts& counts) {
    std::string out = csv_line({"tokens", "count"});
    for (const auto& [tokens, count] : counts.batches) {
        out += csv_line({fmt::format("{}", tokens), fmt::format("{}", count)});
    }
    return out;
}

}  // namespace normtune
