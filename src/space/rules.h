// Rules as muParser expressions: compiled for one problem on one device, then asked about configurations.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "problem/problem.h"
#include "space/axes.h"
#include "space/configuration.h"
#include "space/device_info.h"
#include "space/space.h"

namespace normtune {

enum class RuleAnswer : std::uint8_t { prunes, keeps, undefined };  // undefined: the expression is not a finite number there

/// What a compiler says of a configuration's kernels: the most of any of them. A backend may not know each.
struct CodeFigures {
    std::optional<int> registers;  // a thread's
    std::optional<int> spill_bytes;
    std::optional<std::int64_t> shared_bytes;  // a program's, static and dynamic
    std::optional<double> occupancy;           // of the main kernel, 0…1
};

/// What expressions may read of a problem and a device, by name.
std::array<std::pair<std::string_view, double>, 16> problem_facts(const Problem& problem, const DeviceInfo& device);

/// Functions: support/expression.h; variables: see Rule.
class CompiledRule {
public:
    /// Throws InputError: file, line, rule, and where and what is wrong in its expression.
    CompiledRule(const Rule& rule, const Problem& problem, const DeviceInfo& device);
    ~CompiledRule();
    CompiledRule(CompiledRule&&) noexcept;
    CompiledRule& operator=(CompiledRule&&) noexcept;

    /// Goes on with another problem or device, which is far less work than to compile anew.
    void set(const Problem& problem, const DeviceInfo& device);

    /// The axes that the expression reads, directly or through block, threads and rows_side_by_side.
    const std::vector<Axis>& axes() const;
    /// Does it read code_registers, code_spill_bytes, code_shared_bytes or code_occupancy? Then it is asked once the
    /// configuration is compiled, and planning leaves it out.
    bool reads_code() const;
    RuleAnswer ask(const Configuration& configuration) const;
    /// A figure that is not known keeps the configuration.
    RuleAnswer ask(const Configuration& configuration, const CodeFigures& figures) const;
    /// Throws the InputError of an undefined answer: the rule, the value, and what the expression read.
    [[noreturn]] void fail(const Configuration& configuration) const;
    /// Throws an InputError: the rule was asked `times` times while planning, and that is no end of it.
    [[noreturn]] void fail_as_too_large(std::uint64_t times) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The rules of a space that need the compiled code, in their order.
class CodeRules {
public:
    CodeRules(const SearchSpace& space, const Problem& problem, const DeviceInfo& device);
    bool empty() const { return rules_.empty(); }
    /// The first rule that takes the configuration; null: it is kept. Throws the InputError of an undefined answer.
    const Rule* taken_by(const Configuration& configuration, const CodeFigures& figures) const;

private:
    struct Compiled {
        Rule rule;
        CompiledRule compiled;
    };
    std::vector<Compiled> rules_;
};

/// Compiles a rule on a sample problem: what is unknown or malformed is found when a file is read.
void check_rule(const Rule& rule);

}  // namespace normtune
