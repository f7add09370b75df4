// Fills ResultRows: what the readers of the several formats share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "problem/problem.h"
#include "store/result_rows.h"

namespace normtune {

/// Beyond it (11 days) a launch's time is a mistake, not a measurement.
inline constexpr double longest_us = 1e12;
inline constexpr double largest_memory_mib = 1e12;

class RowBuilder {
public:
    RowBuilder(std::string name, ResultFormat format);

    ResultRows& rows() { return rows_; }
    const std::string& name() const { return rows_.name; }
    TextId text(std::string_view text) { return rows_.texts.intern(text); }
    /// The same with what is not UTF-8, and control characters, replaced: reports print texts as they are.
    TextId shown(std::string_view text);
    /// Problems and origins with an equal key or equal members are one.
    std::uint32_t problem(const Problem& problem);
    std::uint32_t problem(RowProblem problem);
    std::uint32_t origin(const RowOrigin& origin);
    ResultRows take() { return std::move(rows_); }

private:
    ResultRows rows_;
    std::unordered_map<TextId, std::uint32_t> problems_;  // by the number of the key
    std::map<std::tuple<TextId, TextId, TextId, RowOrigin::Cold, TextId>, std::uint32_t> origins_;
};

/// "rms_norm/forward/bf16/llama/1x2" → "rms_norm/forward/bf16/*/1x2".
std::string any_casting(std::string_view problem_key);

bool has_control(std::string_view text);

/// The digits of a date and time as one number; 0 where there are none.
std::int64_t timestamp_number(std::string_view text);

/// A number as CSV files have it (blanks around it, a sign, nan, inf); empty where it is none.
std::optional<double> parse_real(std::string_view text);

}  // namespace normtune
