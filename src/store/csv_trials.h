// Reads results.csv by the field tables of a record.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "store/results.h"
#include "support/csv_stream.h"

namespace normtune {

/// results.csv row by row, as records. A record and its strings are one for all rows, and a cell that is as in the row
/// before is not read again: a million rows take about a second.
class CsvTrials {
public:
    enum class Which { all, compared };

    /// The header is the reader's present record. Throws InputError: a column is missing.
    CsvTrials(CsvReader& reader, const CsvColumns& header, Which which);
    ~CsvTrials();

    /// False at the end. Throws InputError "file:line: column is 'x'; what belongs there", and where the file was cut.
    bool next();
    /// Without its candidate; of its rounds it has the number alone.
    const Record& record() const { return record_; }
    const Environment& run() const { return run_; }
    /// The candidate's identity, not looked into.
    std::string_view candidate() const { return candidate_; }
    bool knows_cold() const { return !cell(cold_).empty(); }

private:
    class Cells;

    std::string_view cell(std::size_t at) const { return at == CsvColumns::absent ? std::string_view() : reader_.fields()[at]; }
    void follow_rows_left();
    void check_end() const;
    void read_candidate();
    void read_uses();

    CsvReader& reader_;
    const CsvColumns& header_;
    std::unique_ptr<Cells> cells_;
    Environment run_;
    Record record_;
    std::string candidate_;
    std::size_t config_, provider_, model_, site_, cold_, rows_left_;
    std::optional<std::uint64_t> left_;  // as the present row has it
    bool as_written_ = true;             // it went down by one from row to row
    bool first_ = true;                  // no row was read yet
    std::string models_, sites_;         // the cells that the record's uses are made of
};

}  // namespace normtune
