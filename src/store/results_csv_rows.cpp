// results.csv, streamed into rows.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "store/result_readers.h"
#include "store/row_builder.h"
#include "support/error.h"
#include "support/utf8.h"

namespace normtune {
namespace {

class Reading {
public:
    Reading(CsvReader& reader, const CsvColumns& columns)
        : reader_(reader), columns_(columns), builder_(reader.file(), ResultFormat::results_csv) {
        for (std::size_t i = 0; i < problem_columns.size(); ++i) {
            problem_at_[i] = i < required_problem_columns ? columns.require(reader, problem_columns[i]) : columns.find(problem_columns[i]);
        }
        for (std::size_t i = 0; i < origin_columns.size(); ++i) {
            origin_at_[i] = columns.find(origin_columns[i]);
        }
        config_ = columns.require(reader, "config");
        outcome_ = columns.require(reader, "outcome");
        p50_ = columns.require(reader, "p50_us");
        p20_ = columns.find("p20_us");
        p80_ = columns.find("p80_us");
        limit_ = columns.find("limit_us");
        memory_ = columns.find("memory_mib");
        rank_ = columns.find("rank");
        tied_ = columns.find("tied");
        stop_reason_ = columns.find("stop_reason");
        rounds_ = columns.find("rounds");
        reason_ = columns.find("reason");
        timestamp_ = columns.find("timestamp");
        model_ = columns.find("model");
        site_ = columns.find("site");
        provider_ = columns.find("provider");
    }

    ResultRows all() {
        while (reader_.next()) {
            columns_.check(reader_);
            add_row();
        }
        return builder_.take();
    }

private:
    // The problem's cells: what makes up its key.
    static constexpr std::array<std::string_view, 12> problem_columns{
        "op", "mode", "dtype", "casting", "rows", "cols", "row_stride", "weight_dtype", "affine", "offset", "in_place", "residual"};
    static constexpr std::size_t required_problem_columns = 6;
    enum ProblemCell { op, mode, dtype, casting, rows, cols, row_stride, weight_dtype, affine, offset, in_place, residual };
    static constexpr std::array<std::string_view, 5> origin_columns{"device", "driver", "timer", "cold", "arch"};

    std::string_view cell(std::size_t column) const { return column == CsvColumns::absent ? std::string_view() : reader_.fields()[column]; }

    TextId name(std::size_t column) {
        const std::string_view text = cell(column);
        const std::size_t known = builder_.rows().texts.size();
        const TextId id = builder_.text(text);
        if (id == known && !is_utf8(text)) {
            reader_.fail("is not UTF-8; save the file as UTF-8");
        }
        if (id == known && has_control(text)) {
            reader_.fail(fmt::format("{} holds a control character", quoted_for_message(text)));
        }
        return id;
    }

    template <typename E, std::size_t N>
    E one_of(ProblemCell which, const NameTable<E, N>& table) const {
        const std::string_view text = cell(problem_at_[which]);
        const std::optional<E> value = table.find(text);
        if (!value) {
            reader_.fail(fmt::format("{} is {}; known: {}", problem_columns[which], quoted_for_message(text), table.list()));
        }
        return *value;
    }

    std::int64_t size(ProblemCell which) const {
        const std::string_view text = cell(problem_at_[which]);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > largest_size) {
            reader_.fail(fmt::format("{} is {}; a whole number from 1 to {} belongs there", problem_columns[which],
                                     quoted_for_message(text), largest_size));
        }
        return value;
    }

    bool flag(ProblemCell which, bool otherwise) const {
        const std::string_view text = cell(problem_at_[which]);
        if (!text.empty() && text != "true" && text != "false") {
            reader_.fail(fmt::format("{} is {}; true or false belongs there", problem_columns[which], quoted_for_message(text)));
        }
        return text.empty() ? otherwise : text == "true";
    }

    Problem parse_problem() const {
        Problem problem;
        Operation& operation = problem.operation;
        operation.op = one_of(op, op_names);
        operation.mode = one_of(mode, mode_names);
        operation.dtype = one_of(dtype, dtype_names);
        operation.casting = one_of(casting, casting_names);
        problem.shape.rows = size(rows);
        problem.shape.cols = size(cols);
        const auto given = [&](ProblemCell which) { return !cell(problem_at_[which]).empty(); };
        problem.shape.row_stride = given(row_stride) ? size(row_stride) : problem.shape.cols;
        operation.weight_dtype = given(weight_dtype) ? one_of(weight_dtype, dtype_names) : operation.dtype;
        operation.affine = flag(affine, true);
        operation.offset = cell(problem_at_[offset]) == "1" ? 1 : 0;
        operation.in_place = flag(in_place, false);
        operation.residual = given(residual) ? one_of(residual, residual_names) : operation.residual;
        return problem;
    }

    /// Rows of one problem mostly follow one another: only where a cell changes is it looked up again.
    std::uint32_t problem() {
        joined_.clear();
        for (const std::size_t at : problem_at_) {
            joined_ += cell(at);
            joined_ += '\x1f';
        }
        if (joined_ != last_problem_cells_) {
            const TextId id = problem_cells_.intern(joined_);
            if (id == problem_of_cells_.size()) {
                const std::uint32_t index = builder_.problem(parse_problem());
                RowProblem& found = builder_.rows().problems[index];
                found.model = found.model == 0 ? name(model_) : found.model;
                found.site = found.site == 0 ? name(site_) : found.site;
                problem_of_cells_.push_back(index);
            }
            last_problem_ = problem_of_cells_[id];
            last_problem_cells_ = joined_;
        }
        return last_problem_;
    }

    std::uint32_t origin() {
        joined_.clear();
        for (const std::size_t at : origin_at_) {
            joined_ += cell(at);
            joined_ += '\x1f';
        }
        if (joined_ != last_origin_cells_) {
            const std::string_view cold = cell(origin_at_[3]);
            last_origin_ = builder_.origin({name(origin_at_[0]), name(origin_at_[1]), name(origin_at_[2]),
                                            cold == "true"    ? RowOrigin::Cold::cold
                                            : cold == "false" ? RowOrigin::Cold::hot
                                                              : RowOrigin::Cold::unknown,
                                            name(origin_at_[4])});
            last_origin_cells_ = joined_;
        }
        return last_origin_;
    }

    /// Its identity; files from before there were other providers have the own ones alone.
    TextId candidate() {
        const std::string_view provider = cell(provider_);
        if (cell(config_).empty()) {
            reader_.fail("config is empty; a candidate's key belongs there");
        }
        if (provider.empty() || provider == own_provider) {
            return name(config_);
        }
        if (!is_provider(provider)) {
            reader_.fail(fmt::format("provider is {}; letters, digits and . _ + - make one", quoted_for_message(provider)));
        }
        name(config_);
        return builder_.text(fmt::format("{}:{}", provider, cell(config_)));
    }

    /// Empty is NaN: not measured. Anything but a value from `least` to `most` is refused.
    double value(std::size_t column, std::string_view what, double least, double most) const {
        const std::string_view text = cell(column);
        if (text.empty()) {
            return no_value;
        }
        const std::optional<double> number = parse_real(text);
        if (!number || !(*number >= least && *number <= most)) {
            reader_.fail(fmt::format("{} is {}; a number from {} to {} belongs there", what, quoted_for_message(text), least, most));
        }
        return *number;
    }

    std::uint16_t count(std::size_t column) const {
        const std::string_view text = cell(column);
        std::uint16_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc{} && end == text.data() + text.size() ? number : std::uint16_t{0};
    }

    void add_row() {
        ResultRow row;
        const std::string_view outcome = cell(outcome_);
        if (const std::optional<Outcome> known = outcome_names.find(outcome)) {
            row.outcome = *known;
        } else {
            reader_.fail(fmt::format("outcome is {}; known: {}", quoted_for_message(outcome), outcome_names.list()));
        }
        row.problem = problem();
        row.origin = origin();
        row.configuration = candidate();
        row.reason = cell(reason_).empty() ? 0 : builder_.shown(cell(reason_));
        row.line = static_cast<std::uint32_t>(reader_.line());
        row.timestamp = timestamp_number(cell(timestamp_));
        row.rank = count(rank_);
        row.tied = cell(tied_) == "true";
        row.dropped = cell(stop_reason_) == stop_reason_names.name(StopReason::dropped);
        row.rounds_taken = count(rounds_);
        constexpr double least_us = 1e-6;
        row.p50_us = value(p50_, "p50_us", least_us, longest_us);
        row.p20_us = value(p20_, "p20_us", least_us, longest_us);
        row.p80_us = value(p80_, "p80_us", least_us, longest_us);
        row.limit_us = value(limit_, "limit_us", 0, longest_us);
        row.memory_mib = value(memory_, "memory_mib", 0, largest_memory_mib);
        builder_.rows().rows.push_back(row);
    }

    CsvReader& reader_;
    const CsvColumns& columns_;
    RowBuilder builder_;
    std::array<std::size_t, problem_columns.size()> problem_at_{};
    std::array<std::size_t, origin_columns.size()> origin_at_{};
    std::size_t config_, outcome_, p50_, p20_, p80_, limit_, memory_, rank_, tied_, stop_reason_, rounds_, reason_, timestamp_, model_,
        site_, provider_;
    StringInterner problem_cells_;
    std::vector<std::uint32_t> problem_of_cells_;
    std::string joined_;
    std::string last_problem_cells_;
    std::string last_origin_cells_;
    std::uint32_t last_problem_ = 0;
    std::uint32_t last_origin_ = 0;
};

}  // namespace

CsvColumns::CsvColumns(const CsvReader& reader) {
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
    if (reader.fields().size() != count()) {
        reader.fail(fmt::format("{} field{} where the header has {}{}", reader.fields().size(), reader.fields().size() == 1 ? "" : "s",
                                count(), reader.fields().size() < count() ? "; is the file cut short?" : ""));
    }
}

ResultRows read_results_csv_rows(CsvReader& reader, const CsvColumns& columns) {
    return Reading(reader, columns).all();
}

}  // namespace normtune
