#include "store/row_builder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "support/random.h"
#include "support/utf8.h"

namespace normtune {
namespace {

constexpr std::size_t least_unthrottled = 4;

/// "rms_norm/forward/bf16/llama/1x2" → "rms_norm/forward/bf16/*/1x2".
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

double positive_or_none(double value) {
    return value > 0 && std::isfinite(value) ? value : no_value;
}

float time_or_none(double us) {
    return static_cast<float>(positive_or_none(us));
}

/// Hashes of 16 digits are of older runs on a CPU, which hashed the names of functions: another build has other code under them.
std::uint64_t code_digest(const CompileInfo& compile) {
    constexpr std::size_t digits_of_names = 16;
    if (compile.code_hash.size() <= digits_of_names) {
        return 0;
    }
    const std::uint64_t hash = std::hash<std::string_view>{}(compile.code_hash);
    const auto launch = static_cast<std::uint64_t>(compile.programs) << 20U ^ static_cast<std::uint64_t>(compile.shared_bytes.value_or(0));
    return std::max<std::uint64_t>(Random(hash ^ Random(launch).next()).next(), 1);
}

std::uint8_t copy_digest(std::string_view copy) {
    return copy.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(fnv1a(copy) % UINT8_MAX + 1);
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

void RowBuilder::add(const Record& record, std::string_view candidate, std::string_view driver, bool cold_is_known, int line) {
    ResultRow row;
    row.problem = problem(record.problem);
    row.configuration = text(candidate);
    row.outcome = record.outcome;
    row.reason = shown(record.reason);
    row.timestamp = timestamp_number(record.timestamp);
    row.line = static_cast<std::uint32_t>(line);
    const bool measured = record.measurement && record.outcome == Outcome::passed;
    if (measured) {
        add_measurement(row, *record.measurement);
    }
    row.code = record.compile ? code_digest(*record.compile) : 0;
    using Cold = RowOrigin::Cold;
    const Cold cold = !measured || !cold_is_known ? Cold::unknown : record.measurement->cold ? Cold::cold : Cold::hot;
    const std::string_view timer = measured ? std::string_view(record.measurement->timer) : std::string_view();
    row.origin = origin(record, driver, timer, cold);
    rows_.rows.push_back(row);
    for (std::size_t i = 0; measured && i < record.measurement->repetitions.size(); ++i) {
        if (record.measurement->repetitions[i].p50_us > 0) {  // a CSV has their number alone
            add_repetition(*record.measurement, record.measurement->repetitions[i]);
        }
    }
}

void RowBuilder::add_repetition(const Measurement& measured, const Repetition& repetition) {
    Measurement again = measured;
    again.rounds = repetition.rounds;
    again.final_rounds_us.clear();
    again.final_floor_us.reset();
    again.p20_us = repetition.p20_us;
    again.p50_us = repetition.p50_us;
    again.p80_us = repetition.p80_us;
    again.limit_us = repetition.limit_us;
    again.limit_copy.clear();  // which one it was is told of the first process alone
    again.floor_us = repetition.floor_us;
    ResultRow row = rows_.rows.back();
    add_measurement(row, again);
    row.process = static_cast<std::uint16_t>(repetition.process - 1);
    rows_.rows.push_back(row);
}

void RowBuilder::add_measurement(ResultRow& row, const Measurement& measured) {
    // Rounds that were read from a CSV have no medians: there is their number alone.
    const auto good = static_cast<std::size_t>(
        std::count_if(measured.rounds.begin(), measured.rounds.end(), [](const Round& round) { return !round.throttled; }));
    const bool drop_throttled = good >= least_unthrottled;
    const auto first = rows_.rounds_us.size();
    constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    row.first_round = static_cast<std::uint32_t>(first);
    for (const Round& round : measured.rounds) {
        if (round.median_us > 0 && !(drop_throttled && round.throttled) && rows_.rounds_us.size() - first < most) {
            rows_.rounds_us.push_back(round.median_us);
        }
    }
    row.rounds = static_cast<std::uint16_t>(rows_.rounds_us.size() - first);
    row.rounds_taken = row.rounds > 0 ? row.rounds : static_cast<std::uint16_t>(std::min(measured.rounds.size(), most));
    row.finals = static_cast<std::uint16_t>(std::min(measured.final_rounds_us.size(), most));
    rows_.rounds_us.insert(rows_.rounds_us.end(), measured.final_rounds_us.begin(), measured.final_rounds_us.begin() + row.finals);
    row.tied = measured.tied;
    row.rank = static_cast<std::uint16_t>(std::clamp(measured.rank, 0, static_cast<int>(UINT16_MAX)));
    row.dropped = measured.stop_reason == StopReason::dropped;
    row.p20_us = time_or_none(measured.p20_us);
    row.p50_us = positive_or_none(measured.p50_us);
    row.p80_us = time_or_none(measured.p80_us);
    row.limit_us = time_or_none(measured.limit_us);
    row.copy = copy_digest(measured.limit_copy);
    row.floor_us = time_or_none(measured.floor_us);
    row.memory_mib = positive_or_none(static_cast<double>(measured.memory_bytes) / (1024.0 * 1024.0));
}

/// Rows of one problem mostly follow one another: its key is made where they do not.
std::uint32_t RowBuilder::problem(const Problem& problem) {
    if (!rows_.problems.empty() && problem.same_work(last_problem_)) {
        return last_problem_index_;
    }
    last_problem_ = problem;
    return last_problem_index_ = add_problem(problem);
}

std::uint32_t RowBuilder::add_problem(const Problem& problem) {
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

/// Most rows are of the same origin as the row before.
std::uint32_t RowBuilder::origin(const Record& record, std::string_view driver, std::string_view timer, RowOrigin::Cold cold) {
    const std::array<std::string_view, 4> texts{record.device, driver, timer, record.arch};
    if (rows_.origins.empty() || cold != rows_.origins[last_origin_].cold ||
        !std::equal(texts.begin(), texts.end(), last_origin_texts_.begin())) {
        std::copy(texts.begin(), texts.end(), last_origin_texts_.begin());
        last_origin_ = origin({shown(record.device), shown(driver), shown(timer), cold, shown(record.arch)});
    }
    return last_origin_;
}

void RowBuilder::set_driver(std::string_view driver) {
    for (RowOrigin& origin : rows_.origins) {
        origin.driver = shown(driver);
    }
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

}  // namespace normtune
