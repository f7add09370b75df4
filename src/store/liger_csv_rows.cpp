// The CSV that Liger-Kernel's suite keeps (benchmark/data/all_benchmark_data.csv; its columns and units as in its
// benchmark/scripts/utils.py).
#include <fmt/format.h>

#include "store/liger_rows.h"
#include "support/csv.h"
#include "support/error.h"
#include "support/utf8.h"

namespace normtune {
namespace {

double csv_value(const CsvReader& reader, std::string_view text, std::string_view column) {
    if (text.empty()) {
        return no_value;
    }
    const std::optional<double> number = csv_real(text);
    if (!number) {
        reader.fail(fmt::format("{} is {}; a number belongs there", column, quoted_for_message(text)));
    }
    return *number;
}

}  // namespace

ResultRows read_liger_csv_rows(CsvReader& reader, const CsvColumns& columns) {
    const auto at = [&](std::string_view name) { return columns.require(reader, name); };
    const std::size_t kernel = at("kernel_name"), provider = at("kernel_provider"), metric = at("metric_name"), unit = at("metric_unit"),
                      x_name = at("x_name"), x_value = at("x_value"), p50 = at("y_value_50"), p20 = columns.find("y_value_20"),
                      p80 = columns.find("y_value_80"), mode = columns.find("kernel_operation_mode"),
                      extra = columns.find("extra_benchmark_config_str"), gpu = columns.find("gpu_name"),
                      timestamp = columns.find("timestamp");
    LigerRows rows(reader.file(), ResultFormat::liger_csv);
    while (reader.next()) {
        columns.check(reader);
        const auto cell = [&](std::size_t column) { return column == CsvColumns::absent ? std::string_view() : reader.fields()[column]; };
        for (const std::size_t column : {kernel, provider, mode, x_name, x_value, extra, gpu}) {
            if (!is_utf8(cell(column))) {
                reader.fail("is not UTF-8; save the file as UTF-8");
            }
        }
        const LigerValue value{cell(kernel),
                               cell(provider),
                               cell(mode),
                               cell(metric),
                               cell(unit),
                               cell(x_name),
                               cell(x_value),
                               cell(extra),
                               cell(gpu),
                               cell(timestamp),
                               csv_value(reader, cell(p20), "y_value_20"),
                               csv_value(reader, cell(p50), "y_value_50"),
                               csv_value(reader, cell(p80), "y_value_80"),
                               static_cast<std::uint32_t>(reader.line())};
        rows.add(value);
    }
    return rows.all();
}

}  // namespace normtune
