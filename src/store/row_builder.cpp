#include "store/row_builder.h"

#include <algorithm>
#include <charconv>

#include "support/utf8.h"

namespace normtune {
namespace {

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

RowBuilder::RowBuilder(std::string name, ResultFormat format) {
    rows_.name = std::move(name);
    rows_.format = format;
    rows_.texts.intern("");  // number 0: nothing
}

TextId RowBuilder::shown(std::string_view text) {
    if (!has_control(text) && is_utf8(text)) {
        return this->text(text);
    }
    std::string clean = to_utf8(text);
    std::replace_if(clean.begin(), clean.end(), is_control, '?');
    return this->text(clean);
}

std::uint32_t RowBuilder::problem(const Problem& problem) {
    const std::string key = problem.key();
    RowProblem row;
    row.key = text(key);
    row.key_any_casting = text(any_casting(key));
    row.op = text(op_names.name(problem.operation.op));
    row.mode = text(mode_names.name(problem.operation.mode));
    row.dtype = text(dtype_names.name(problem.operation.dtype));
    row.casting = text(casting_names.name(problem.operation.casting));
    row.model = shown(joined_models(problem.uses));
    row.site = shown(joined_sites(problem.uses));
    row.rows = problem.shape.rows;
    row.cols = problem.shape.cols;
    return this->problem(row);
}

std::uint32_t RowBuilder::problem(RowProblem problem) {
    const auto [place, added] = problems_.try_emplace(problem.key, static_cast<std::uint32_t>(rows_.problems.size()));
    if (added) {
        rows_.problems.push_back(problem);
    }
    return place->second;
}

std::uint32_t RowBuilder::origin(const RowOrigin& origin) {
    const auto [place, added] = origins_.try_emplace({origin.device, origin.driver, origin.timer, origin.cold, origin.arch},
                                                     static_cast<std::uint32_t>(rows_.origins.size()));
    if (added) {
        rows_.origins.push_back(origin);
    }
    return place->second;
}

std::string any_casting(std::string_view problem_key) {
    std::size_t begin = 0;
    for (int part = 0; part < 3; ++part) {
        const std::size_t slash = problem_key.find('/', begin);
        if (slash == std::string_view::npos) {
            return std::string(problem_key);
        }
        begin = slash + 1;
    }
    const std::size_t end = std::min(problem_key.find('/', begin), problem_key.size());
    return std::string(problem_key.substr(0, begin)) + '*' + std::string(problem_key.substr(end));
}

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_control);
}

std::int64_t timestamp_number(std::string_view text) {
    constexpr int most_digits = 14;  // to the second
    std::int64_t number = 0;
    int digits = 0;
    for (const char c : text) {
        if (c >= '0' && c <= '9' && digits < most_digits) {
            number = number * 10 + (c - '0');
            ++digits;
        }
    }
    return digits == most_digits ? number : 0;
}

std::optional<double> parse_real(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
        return std::nullopt;
    }
    // Out of range: too large for a double, or too small; either way no time and no size of ours.
    return error == std::errc::result_out_of_range ? std::numeric_limits<double>::infinity() : value;
}

}  // namespace normtune
