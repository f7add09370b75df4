// Values of Liger-Kernel's benchmarks, one a kernel, provider, mode, metric and x, gathered into rows: what the readers
// of its CSV and of its printed JSON share.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/result_rows.h"
#include "store/row_builder.h"
#include "support/csv_stream.h"

namespace normtune {

/// One value of Liger's: a kernel, a provider, a mode, a metric, an x.
struct LigerValue {
    std::string_view kernel;
    std::string_view provider;
    std::string_view mode;
    std::string_view metric;
    std::string_view unit;
    std::string_view x_name;
    std::string_view x_value;
    std::string_view extra;
    std::string_view device;
    std::string_view timestamp;
    double p20 = no_value;  // NaN: it could not be measured (out of memory)
    double p50 = no_value;
    double p80 = no_value;
    std::uint32_t line = 0;
};

class LigerRows {
public:
    LigerRows(const std::string& name, ResultFormat format) : builder_(name, format) {}

    /// A provider's speed and its memory are one row. Of two values for one key the newer holds; of equally old ones,
    /// the later. Throws InputError: another unit, a value that is negative or absurd.
    void add(const LigerValue& value);
    ResultRows all();

private:
    struct Taken {
        std::int64_t speed = -1;
        std::int64_t memory = -1;
    };

    [[noreturn]] void fail(const LigerValue& value, std::string_view message) const;
    void check(const LigerValue& value) const;
    void set_speed(ResultRow& row, const LigerValue& value);
    std::uint32_t problem_index(const LigerValue& value);
    void share_limits();

    RowBuilder builder_;
    std::unordered_map<std::string, std::size_t> places_;
    std::unordered_map<std::string, std::uint32_t> problems_;
    std::unordered_set<std::uint32_t> ours_;  // those that normtune measures, too
    std::vector<Taken> taken_;                // when the values of each row were taken
};

/// Called with the header as the reader's present record.
ResultRows read_liger_csv_rows(CsvReader& reader, const CsvColumns& columns);
/// The arrays in what Liger's scripts print; lines around them are skipped.
ResultRows read_liger_json_rows(std::string_view text, const std::string& name);

}  // namespace normtune
