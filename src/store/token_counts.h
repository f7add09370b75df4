// How many tokens the batches of a server had: a histogram, and logs from which it is counted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/byte_source.h"
#include "support/names.h"

namespace normtune {

struct TokenCounts {
    std::string file;
    std::map<std::int64_t, std::int64_t> batches;  // how many had so many tokens; none is 0
    std::int64_t empty = 0;                        // entries of a log without a token: nothing was launched
};

/// What a column of a log, or a member of its objects, says of one entry (docs/shapes.md).
enum class LogColumn { tokens, batch_size, seq_len, count };
inline constexpr NameTable<LogColumn, 4> log_column_names{{"tokens", "batch_size", "seq_len", "count"}};

/// What each is called in the log.
struct LogColumns {
    std::array<std::string, log_column_names.names.size()> names{"tokens", "batch_size", "seq_len", "count"};
    std::array<bool, log_column_names.names.size()> given{};  // by set(): a log has these
    const std::string& name(LogColumn column) const { return names[static_cast<std::size_t>(column)]; }
    /// "tokens=num_batched_tokens". Throws InputError, also where another role was given that name.
    void set(const std::string& text);
    /// The other role that was given this one's name; the column is that one's alone.
    std::optional<LogColumn> taken_by(LogColumn column) const;
    std::vector<LogColumn> read() const;  // those that none takes
};

/// A CSV with the columns tokens (≥ 1) and count (≥ 0); equal token counts add up. Throws InputError "file:line: …", also where nothing is
/// counted.
TokenCounts read_token_counts(const std::string& path);
TokenCounts read_token_counts(ByteSource& source, const std::string& file);

/// A CSV, or JSON lines where the first character is a brace. Throws InputError.
TokenCounts read_token_log(const std::string& path, const LogColumns& columns);
TokenCounts read_token_log(ByteSource& source, const std::string& file, const LogColumns& columns);

/// What read_token_counts reads.
std::string token_counts_csv(const TokenCounts& counts);

}  // namespace normtune
