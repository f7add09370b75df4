#include "space/rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "space/common_limits.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/expression.h"

namespace normtune {
namespace {

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Named values are numbers in an expression, distinct across axes, so that a name compared with another axis's value
/// (`residency == masked`) never holds by accident; axes that share their names share the numbers. Where some names are
/// numbers (offset_bits) these stand for themselves, and the word beside them is 0.
std::vector<double> numbers_of(std::span<const std::string_view> names) {
    const auto same = [&](const AxisRow& row) { return row.domain.names.data() == names.data(); };
    const auto first = std::find_if(axis_table.begin(), axis_table.end(), same) - axis_table.begin();
    const bool has_numbers = std::any_of(names.begin(), names.end(), [](std::string_view name) { return is_digit(name.front()); });
    std::vector<double> out;
    for (const std::string_view name : names) {
        const double number = is_digit(name.front()) ? std::stod(std::string(name)) : 0;
        out.push_back(has_numbers ? number : 1000.0 * static_cast<double>(1 + first) + static_cast<double>(out.size()));
    }
    return out;
}

double expression_value(Axis axis, int value) {
    static const auto named = [] {
        std::array<std::vector<double>, axis_count> out;
        std::transform(axis_table.begin(), axis_table.end(), out.begin(), [](const AxisRow& row) { return numbers_of(row.domain.names); });
        return out;
    }();
    const std::vector<double>& numbers = named[static_cast<std::size_t>(axis)];
    return numbers.empty() ? value : numbers[static_cast<std::size_t>(value)];
}

constexpr std::array<std::string_view, 4> code_variables{"code_registers", "code_spill_bytes", "code_shared_bytes", "code_occupancy"};

struct Variable {
    std::string_view name;
    std::vector<Axis> reads;  // empty: fixed for a problem
    double value = 0;
};

const std::vector<Expression::Constant>& value_names() {
    static const std::vector<Expression::Constant> all = [] {
        std::vector<Expression::Constant> out;
        for (const AxisRow& row : axis_table) {
            for (std::size_t value = 0; value < row.domain.names.size(); ++value) {
                if (const std::string_view name = row.domain.names[value]; !is_digit(name.front())) {  // "32" and "64" stand for themselves
                    out.emplace_back(name, expression_value(row.axis, static_cast<int>(value)));
                }
            }
            if (!row.domain.zero.empty()) {
                out.emplace_back(row.domain.zero, 0);
            }
        }
        return out;
    }();
    return all;
}

}  // namespace

struct CompiledRule::State {
    Rule rule;
    Problem problem;                  // its shape alone
    DeviceInfo device;                // warp_size and compute_units alone
    std::vector<Variable> variables;  // never resized once muParser has the addresses
    std::vector<std::size_t> used;    // of `variables`: those that read axes and stand in the expression
    std::vector<Axis> axes;
    std::array<bool, code_variables.size()> reads_figure{};
    std::size_t first_fact = 0;  // of `variables`: what problem and device say
    std::size_t first_code_variable = 0;
    std::optional<Expression> expression;

    bool reads_code() const { return std::find(reads_figure.begin(), reads_figure.end(), true) != reads_figure.end(); }

    /// A rule of the command line has no line, and its option for a file.
    [[noreturn]] void reject(const std::string& what) const {
        const std::string name = for_terminal(rule.name);
        const std::string keep = for_terminal(rule.keep);
        const std::string whole =
            rule.line == 0 ? fmt::format("'{}={}': {}", name, keep, what) : fmt::format("rule '{}' (keep: {}): {}", name, keep, what);
        throw rule.file.empty() ? InputError(whole) : InputError(rule.file, rule.line, whole);
    }

    void set(const Problem& of, const DeviceInfo& on) {
        std::size_t place = first_fact;
        for (const auto& [name, value] : problem_facts(of, on)) {
            variables[place++].value = value;
        }
        place_of(of, on);
    }

    void place_of(const Problem& of, const DeviceInfo& on) {
        problem.shape = of.shape;
        device.warp_size = on.warp_size;
        device.compute_units = on.compute_units;
    }

    void define(std::string_view name, double value) { variables.push_back({name, {}, value}); }

    void define_variables(const Problem& of, const DeviceInfo& on) {
        variables.reserve(axis_count + 32);
        for (const AxisRow& row : axis_table) {
            variables.push_back({row.name, {row.axis}});
        }
        variables.push_back({"block", {Axis::block_size}});
        variables.push_back({"threads", {Axis::num_warps}});
        variables.push_back({"rows_side_by_side", {Axis::num_warps, Axis::threads_per_row}});
        variables.push_back({"spare_programs", {Axis::rows_per_program, Axis::programs_per_sm, Axis::unit_margin, Axis::cluster}});
        first_fact = variables.size();
        for (const auto& [name, value] : problem_facts(of, on)) {
            define(name, value);
        }
        first_code_variable = variables.size();
        for (const std::string_view name : code_variables) {
            define(name, 0);
        }
        place_of(of, on);
    }

    void compile() {
        std::vector<Expression::Variable> named;
        for (Variable& variable : variables) {
            named.push_back({variable.name, &variable.value});
        }
        try {
            expression.emplace(rule.keep, named, value_names());
        } catch (const InputError& error) {
            if (rule.keep.size() > Expression::longest) {
                rule.keep = rule.keep.substr(0, 60) + " …";
            }
            reject(error.what());
        }
        for (const auto& read : expression->reads()) {
            const auto at = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.name == read.first; });
            const auto place = static_cast<std::size_t>(at - variables.begin());
            if (!at->reads.empty()) {
                used.push_back(place);
                axes.insert(axes.end(), at->reads.begin(), at->reads.end());
            } else if (place >= first_code_variable) {
                reads_figure[place - first_code_variable] = true;
            }
        }
        if (reads_code() && rule.keep_all_if_none) {
            reject("keep_all_if_none is for rules that are applied before anything is compiled; this one reads code_…");
        }
        std::sort(axes.begin(), axes.end());
        axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    }

    double evaluate(const Configuration& configuration) {
        for (const std::size_t i : used) {
            variables[i].value = i < axis_count ? expression_value(static_cast<Axis>(i), axis_value(configuration, static_cast<Axis>(i)))
                                                : derived(variables[i].name, configuration);
        }
        return expression->value();
    }

    double derived(std::string_view name, const Configuration& configuration) const {
        const double threads = configuration.num_warps * device.warp_size;
        if (name == "block") {
            const auto cols = static_cast<double>(problem.shape.cols);
            return configuration.block_size == whole_row ? std::exp2(std::ceil(std::log2(cols))) : configuration.block_size;
        }
        if (name == "spare_programs") {
            return static_cast<double>(spare_programs(configuration, problem, device));
        }
        return name == "threads" ? threads : std::floor(threads / configuration.threads_per_row);
    }
};

std::array<std::pair<std::string_view, double>, 16> problem_facts(const Problem& problem, const DeviceInfo& device) {
    const Operation& operation = problem.operation;
    return {{{"rows", static_cast<double>(problem.shape.rows)},
             {"cols", static_cast<double>(problem.shape.cols)},
             {"row_stride", static_cast<double>(problem.shape.row_stride)},
             {"element_bytes", bytes_of(operation.dtype)},
             {"weight_bytes", bytes_of(operation.weight_dtype)},
             {"forward", !operation.has_backward()},
             {"backward", operation.mode == Mode::backward},
             {"full", operation.mode == Mode::full},
             {"inference", operation.mode == Mode::inference},
             {"fused", operation.adds_residual()},
             {"affine", operation.affine},
             {"in_place", operation.in_place},
             {"warp_size", device.warp_size},
             {"compute_units", device.compute_units},
             {"shared_bytes", static_cast<double>(device.shared_bytes_per_program)},
             {"cache_bytes", static_cast<double>(device.cache_bytes)}}};
}

CompiledRule::CompiledRule(const Rule& rule, const Problem& problem, const DeviceInfo& device) : state_(std::make_unique<State>()) {
    state_->rule = rule;
    // An expression may stand on several lines of a file; a message is one line.
    std::replace_if(
        state_->rule.keep.begin(), state_->rule.keep.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
    state_->define_variables(problem, device);
    state_->compile();
}

CompiledRule::~CompiledRule() = default;
CompiledRule::CompiledRule(CompiledRule&&) noexcept = default;
CompiledRule& CompiledRule::operator=(CompiledRule&&) noexcept = default;

const std::vector<Axis>& CompiledRule::axes() const {
    return state_->axes;
}

void CompiledRule::set(const Problem& problem, const DeviceInfo& device) {
    state_->set(problem, device);
}

bool CompiledRule::reads_code() const {
    return state_->reads_code();
}

RuleAnswer CompiledRule::ask(const Configuration& configuration, const CodeFigures& figures) const {
    const auto number = [](const auto& figure) { return figure ? std::optional<double>(static_cast<double>(*figure)) : std::nullopt; };
    const std::array<std::optional<double>, code_variables.size()> values{number(figures.registers), number(figures.spill_bytes),
                                                                          number(figures.shared_bytes), figures.occupancy};
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i]) {
            state_->variables[state_->first_code_variable + i].value = *values[i];
        } else if (state_->reads_figure[i]) {
            return RuleAnswer::keeps;
        }
    }
    return ask(configuration);
}

RuleAnswer CompiledRule::ask(const Configuration& configuration) const {
    const double value = state_->evaluate(configuration);
    if (!std::isfinite(value)) {
        return RuleAnswer::undefined;
    }
    return value != 0 ? RuleAnswer::keeps : RuleAnswer::prunes;
}

void CompiledRule::fail(const Configuration& configuration) const {
    const double value = state_->evaluate(configuration);
    std::string read;
    for (const auto& [name, number] : state_->expression->reads()) {
        const auto axis = axis_names.find(name);
        read += fmt::format("{}{} = {}", read.empty() ? "" : ", ", name,
                            axis ? axis_text(*axis, axis_value(configuration, *axis)) : fmt::format("{}", number));
    }
    state_->reject(fmt::format("gives {}{}{}; a rule gives a finite number, 0 to prune", value, read.empty() ? "" : " where ", read));
}

void CompiledRule::fail_as_too_large(std::uint64_t times) const {
    state_->reject(
        fmt::format("reads {} axes, and what is before it leaves more than {} combinations of their values; let one "
                    "rule read fewer: "
                    "'A && B' can be two rules, and one before it can take most of the combinations",
                    state_->axes.size(), times));
}

CodeRules::CodeRules(const SearchSpace& space, const Problem& problem, const DeviceInfo& device) {
    for (const Rule& rule : space.rules) {
        const auto stands_in = [&](std::string_view name) { return rule.keep.find(name) != std::string::npos; };
        if (std::ranges::none_of(code_variables, stands_in)) {
            continue;  // compiling it takes time for each problem
        }
        CompiledRule compiled(rule, problem, device);
        if (compiled.reads_code()) {
            rules_.push_back({rule, std::move(compiled)});
        }
    }
}

const Rule* CodeRules::taken_by(const Configuration& configuration, const CodeFigures& figures) const {
    for (const Compiled& one : rules_) {
        const RuleAnswer answer = one.compiled.ask(configuration, figures);
        if (answer == RuleAnswer::undefined) {
            one.compiled.fail(configuration);
        }
        if (answer == RuleAnswer::prunes) {
            return &one.rule;
        }
    }
    return nullptr;
}

void check_rule(const Rule& rule) {
    Problem sample;
    sample.shape = {2048, 4096, 4096};
    CompiledRule compiled(rule, sample, DeviceInfo{});
}

Rule default_threads_per_row_rule() {
    return {"threads_per_row", "cols / 16 <= num_warps * warp_size && num_warps * warp_size <= cols * 2", true, "", 0};
}

}  // namespace normtune
