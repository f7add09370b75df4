#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/results_stream.h"
#include "support/csv.h"
#include "support/text_sink.h"
#include "trial/record_fields.h"

namespace normtune {
namespace {

/// The visitor of the field tables that makes a row: its cells, and their columns' names and places.
class CellWriter {
public:
    std::vector<std::string> names, cells;
    std::vector<int> places;

    template <typename T>
    void operator()(std::string_view name, const T& value, std::string_view, const FieldTraits& traits = {}) {
        if constexpr (Described<T>) {
            describe(*this, value);
        } else if (traits.place != place::none) {
            add(traits.column.empty() ? name : traits.column, traits.place, cell_of(value, traits));
        }
    }
    /// Cells of what is not there are empty.
    template <Described T>
    void operator()(std::string_view, const std::optional<T>& value, std::string_view) {
        static const T none{};
        absent_ += value ? 0 : 1;
        describe(*this, value ? *value : none);
        absent_ -= value ? 0 : 1;
    }
    template <typename E, std::size_t N>
    void operator()(std::string_view name, const NameTable<E, N>& table, const E& value, std::string_view, const FieldTraits& traits = {}) {
        column(name, traits.place, [&] { return std::string(table.name(value)); });
    }
    template <typename Made>
    void column(std::string_view name, int place, const Made& made) {
        if (place != place::none) {
            add(name, place, made());
        }
    }
    template <typename Made>
    void repeated(std::string_view, std::string_view, const Made&, bool = false) {}
    template <typename T>
    void otherwise(const T&, const T&) {}
    template <typename Why>
    void flaw(const Why&) {}
    void axis(const AxisRow& axis, const Configuration& configuration) {
        add(axis.name, axis.leading_column ? place::leading_axes : place::axes, axis_text(axis.axis, axis_value(configuration, axis.axis)));
    }
    void candidate(const Candidate& candidate) {
        add("config", place::config, candidate.key());
        const Configuration* own = candidate.configuration();
        (*this)("", own != nullptr ? std::optional(*own) : std::nullopt, "");
        add("provider", place::provider, std::string(candidate.provider()));
    }

private:
    void add(std::string_view name, int place, std::string cell) {
        names.emplace_back(name);
        places.push_back(place);
        cells.push_back(absent_ > 0 ? std::string() : std::move(cell));
    }

    template <typename T>
    static std::string cell_of(const T& value, const FieldTraits& traits) {
        if constexpr (is_optional<T>) {
            return value ? cell_of(*value, traits) : "";
        } else if constexpr (std::same_as<T, std::string>) {
            return value;
        } else if constexpr (std::same_as<T, std::vector<std::string>>) {
            return fmt::format("{}", fmt::join(value, ";"));
        } else if constexpr (is_list<T>) {
            return std::to_string(value.size());
        } else if constexpr (std::same_as<T, bool>) {
            return value ? "true" : "false";
        } else if (traits.decimals >= 0) {
            return csv_number(static_cast<double>(value) / traits.per, traits.decimals);
        } else {
            return traits.omit_empty && value == 0 ? "" : fmt::format("{}", value);
        }
    }

    int absent_ = 0;
};

CellWriter row_of(const Record& record, const Environment& run) {
    CellWriter row;
    describe(row, record);
    describe(row, run);
    return row;
}

}  // namespace

void write_results_csv(const Results& head, std::size_t count, const EachRecord& each, const std::string& path) {
    const CellWriter header = row_of({}, {});
    std::vector<std::size_t> order(header.places.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return header.places[a] < header.places[b]; });
    std::vector<std::string> line;
    // Without rows there is no column of what is left: a header that has it is one that was cut off behind.
    const auto in_order = [&](const std::vector<std::string>& cells, std::string last) {
        line.clear();
        std::transform(order.begin(), order.end(), std::back_inserter(line), [&](std::size_t i) { return cells[i]; });
        if (count > 0) {
            line.push_back(std::move(last));
        }
        return csv_line(line);
    };
    write_file_atomically(path, [&](TextSink& out) {
        out += in_order(header.names, std::string(rows_left_column));
        std::size_t rows_left = count;
        each([&](const Record& record) { out += in_order(row_of(record, head.environment).cells, std::to_string(--rows_left)); });
    });
}

void write_results_csv(const Results& results, const std::string& path) {
    const auto each = [&](const TakeRecord& take) { std::ranges::for_each(results.records, take); };
    write_results_csv(results, results.records.size(), each, path);
}

}  // namespace normtune
