// Fills ResultRows: what the readers of the several formats share.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "problem/problem.h"
#include "store/result_rows.h"

namespace normtune {

inline constexpr double largest_memory_mib = 1e12;

class RowBuilder {
public:
    RowBuilder(std::string name, ResultFormat format);

    ResultRows& rows() { return rows_; }
    const std::string& name() const { return rows_.name; }
    TextId text(std::string_view text) { return rows_.texts.intern(text); }
    /// The same with what is not UTF-8, and control characters, replaced: reports print texts as they are.
    TextId shown(std::string_view text);
    /// A trial's row, and one for what each further process gave it; `candidate` is its candidate's identity. Rounds that the
    /// device throttled are left out where four others remain.
    void add(const Record& record, std::string_view candidate, std::string_view driver, bool cold_is_known = true, int line = 0);
    /// Problems and origins with an equal key or equal members are one.
    std::uint32_t problem(const Problem& problem);
    std::uint32_t problem(RowProblem problem);
    std::uint32_t origin(const RowOrigin& origin);
    /// Of all rows: for results that tell it of the run.
    void set_driver(std::string_view driver);
    ResultRows take() { return std::move(rows_); }

private:
    void add_measurement(ResultRow& row, const Measurement& measured);
    void add_repetition(const Measurement& measured, const Repetition& repetition);
    std::uint32_t add_problem(const Problem& problem);
    std::uint32_t origin(const Record& record, std::string_view driver, std::string_view timer, RowOrigin::Cold cold);

    ResultRows rows_;
    std::unordered_map<TextId, std::uint32_t> problems_;  // by the number of the key
    std::map<std::tuple<TextId, TextId, TextId, RowOrigin::Cold, TextId>, std::uint32_t> origins_;
    Problem last_problem_;
    std::uint32_t last_problem_index_ = 0;
    std::array<std::string, 4> last_origin_texts_;
    std::uint32_t last_origin_ = 0;
};

/// The digits of a date and time as one number; 0 where there are none.
std::int64_t timestamp_number(std::string_view text);

}  // namespace normtune
