// The readers behind read_result_rows, one a format.
#pragma once

#include <string>
#include <string_view>

#include "store/result_rows.h"
#include "support/csv_stream.h"

namespace normtune {

/// Columns of a CSV header by name, in any order. Throws InputError: a name twice.
class CsvColumns {
public:
    static constexpr std::size_t absent = static_cast<std::size_t>(-1);

    explicit CsvColumns(const CsvReader& reader);
    std::size_t find(std::string_view name) const;
    std::size_t require(const CsvReader& reader, std::string_view name) const;
    bool has(std::string_view name) const { return find(name) != absent; }
    std::size_t count() const { return names_.size(); }
    /// Throws InputError where the record has another number of fields than the header.
    void check(const CsvReader& reader) const;

private:
    std::vector<std::string> names_;
};

/// Each is called with the header as the reader's present record.
ResultRows read_results_csv_rows(CsvReader& reader, const CsvColumns& columns);
ResultRows read_liger_csv_rows(CsvReader& reader, const CsvColumns& columns);
/// The arrays in what Liger's scripts print; lines around them are skipped.
ResultRows read_liger_json_rows(std::string_view text, const std::string& name);

}  // namespace normtune
