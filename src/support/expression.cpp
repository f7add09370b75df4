#include "support/expression.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <muParser.h>

#include "support/error.h"
#include "support/names.h"

namespace normtune {

struct Expression::Parser {
    mu::Parser mu;
};

namespace {

double next_power_of_two(double a) {
    return a <= 1 ? 1 : std::exp2(std::ceil(std::log2(a)));
}
double last_power_of_two(double a) {
    return a <= 1 ? 1 : std::exp2(std::floor(std::log2(a)));
}
double floor_of(double a) {
    return std::floor(a);
}
double ceil_of(double a) {
    return std::ceil(a);
}
double quotient_up(double a, double b) {
    return std::ceil(a / b);
}
double remainder_of(double a, double b) {
    return a - b * std::floor(a / b);
}
double divides(double a, double b) {
    return remainder_of(b, a) == 0;
}
double negated(double a) {
    return a == 0;
}

void define_functions(mu::Parser& parser) {
    parser.DefineFun("floor", floor_of);
    parser.DefineFun("ceil", ceil_of);
    parser.DefineFun("ceildiv", quotient_up);
    parser.DefineFun("mod", remainder_of);
    parser.DefineFun("divides", divides);
    parser.DefineFun("pow2ceil", next_power_of_two);
    parser.DefineFun("pow2floor", last_power_of_two);
    parser.DefineInfixOprt("!", negated);
}

/// The first number that is read through muParser's own locale makes a cache in the C++ library, which other threads then
/// read without a lock: it is made before any of them comes.
void make_number_cache() {
    static const bool made = [] {
        mu::Parser parser;
        parser.SetExpr("0.5");
        return parser.Eval() == 0.5;
    }();
    static_cast<void>(made);
}

/// muParser takes a lone '=' as an assignment, which nobody means.
void reject_assignment(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '=') {
            continue;
        }
        if (i + 1 < text.size() && text[i + 1] == '=') {
            ++i;
        } else if (i == 0 || (text[i - 1] != '<' && text[i - 1] != '>' && text[i - 1] != '!')) {
            throw InputError(fmt::format("'=' at character {} assigns; values are compared with '=='", i + 1));
        }
    }
}

/// muParser compares the 0 or 1 of the first comparison with the third value, which nobody means.
void reject_chains(const std::string& text) {
    std::vector<bool> compared{false};  // of each open parenthesis, since the last operator that joins comparisons
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const char next = i + 1 < text.size() ? text[i + 1] : ' ';
        if (c == '(') {
            compared.push_back(false);
        } else if (c == ')' && compared.size() > 1) {
            compared.pop_back();
        } else if (c == ',' || c == '?' || c == ':' || (c == '&' && next == '&') || (c == '|' && next == '|')) {
            compared.back() = false;
        } else if (c == '<' || c == '>' || ((c == '=' || c == '!') && next == '=')) {
            if (compared.back()) {
                throw InputError(fmt::format(
                    "the comparison at character {} has another beside it; three values are compared by two with && between", i + 1));
            }
            compared.back() = true;
            i += next == '=' ? 1 : 0;
        }
    }
}

std::string explain(const mu::Parser& parser, std::span<const Expression::Variable> variables, const mu::ParserError& error) {
    if (error.GetCode() != mu::ecUNASSIGNABLE_TOKEN) {
        std::string text = error.GetMsg();
        std::replace(text.begin(), text.end(), '\n', ' ');
        return fmt::format("{} (character {})", text, error.GetPos() + 1);
    }
    if (const std::string token = error.GetToken(); !token.empty() && std::isdigit(static_cast<unsigned char>(token.front())) != 0) {
        return fmt::format("{} at character {} is no number, or one that is out of range", quoted_for_message(token), error.GetPos() + 1);
    }
    std::vector<std::string_view> known;
    for (const Expression::Variable& variable : variables) {
        known.push_back(variable.name);
    }
    for (const auto& [name, value] : parser.GetConst()) {
        if (!name.starts_with('_')) {
            known.push_back(name);
        }
    }
    for (const auto& [name, callback] : parser.GetFunDef()) {
        known.push_back(name);
    }
    return fmt::format("{} at character {} is unknown{}", quoted_for_message(error.GetToken()), error.GetPos() + 1,
                       suggestion(error.GetToken(), known.data(), known.data() + known.size()));
}

}  // namespace

Expression::Expression(const std::string& text, std::span<const Variable> variables, std::span<const Constant> constants)
    : parser_(std::make_unique<Parser>()) {
    mu::Parser& parser = parser_->mu;
    if (text.size() > longest) {
        throw InputError(fmt::format("it has {} characters; at most {} are read", text.size(), longest));
    }
    reject_assignment(text);
    reject_chains(text);
    make_number_cache();
    try {
        for (const auto& [name, value] : constants) {
            parser.DefineConst(std::string(name), value);
        }
        define_functions(parser);
        for (const Variable& variable : variables) {
            parser.DefineVar(std::string(variable.name), variable.value);
        }
        parser.SetExpr(text);
        int results = 0;
        parser.Eval(results);
        if (results != 1) {
            throw InputError(fmt::format("it has {} values, separated by commas; an expression has one", results));
        }
    } catch (const mu::ParserError& error) {
        throw InputError(explain(parser, variables, error));
    }
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

double Expression::value() const {
    return parser_->mu.Eval();
}

std::vector<std::pair<std::string, double>> Expression::reads() const {
    std::vector<std::pair<std::string, double>> out;
    for (const auto& [name, address] : parser_->mu.GetUsedVar()) {  // parses the expression at each call
        out.emplace_back(name, *address);
    }
    return out;
}

bool is_variable_name(std::string_view name) {
    static const mu::Parser functions = [] {
        mu::Parser parser;
        define_functions(parser);
        return parser;
    }();
    const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    return !name.empty() && std::all_of(name.begin(), name.end(), fits) && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
           !functions.GetFunDef().contains(std::string(name)) && !name.starts_with('_');
}

}  // namespace normtune
