// Rules as muParser expressions: compiled for one problem on one device, then asked about configurations.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "problem/configuration.h"
#include "problem/device_info.h"
#include "problem/problem.h"
#include "problem/space.h"

namespace normtune {

enum class RuleAnswer : std::uint8_t {
    prunes,
    keeps,
    undefined
};  // undefined: the expression is not a finite number there

/// Beside muParser's own functions (min, max, abs, …) an expression may call floor(a), ceil(a), mod(a, b),
/// divides(a, b) (1 where a divides b), pow2ceil(a) and pow2floor(a), and negate with '!'. Variables: see Rule.
class CompiledRule {
public:
    /// Throws InputError: file, line, rule, and where and what is wrong in its expression.
    CompiledRule(const Rule& rule, const Problem& problem, const DeviceInfo& device);
    ~CompiledRule();
    CompiledRule(CompiledRule&&) noexcept;
    CompiledRule& operator=(CompiledRule&&) noexcept;

    /// The axes that the expression reads, directly or through block, threads and rows_side_by_side.
    const std::vector<Axis>& axes() const;
    RuleAnswer ask(const Configuration& configuration) const;
    /// Throws the InputError of an undefined answer: the rule, the value, and what the expression read.
    [[noreturn]] void fail(const Configuration& configuration) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Compiles a rule on a sample problem: what is unknown or malformed is found when a file is read.
void check_rule(const Rule& rule);

}  // namespace normtune
