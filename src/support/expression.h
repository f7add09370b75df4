// An arithmetic expression over named numbers (muParser): compiled once, evaluated whenever they have changed.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace normtune {

/// Beside muParser's own functions (min, max, abs, …) an expression may call floor(a), ceil(a), ceildiv(a, b), mod(a, b),
/// divides(a, b) (1 where a divides b), pow2ceil(a) and pow2floor(a), and negate with '!'.
class Expression {
public:
    static constexpr std::size_t longest = 2000;  // characters
    struct Variable {
        std::string_view name;
        double* value;  // outlives the expression
    };
    using Constant = std::pair<std::string_view, double>;

    /// Throws InputError: what is wrong with it and where, without the text itself.
    Expression(const std::string& text, std::span<const Variable> variables, std::span<const Constant> constants = {});
    ~Expression();
    Expression(Expression&&) noexcept;
    Expression& operator=(Expression&&) noexcept;

    double value() const;
    /// The variables that stand in it, by name, and what they are now.
    std::vector<std::pair<std::string, double>> reads() const;

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

/// May a variable have this name? Letters, digits and _, no digit first, and none of the functions' names.
bool is_variable_name(std::string_view name);

}  // namespace normtune
