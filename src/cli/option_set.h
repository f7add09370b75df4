// The options of one command, each declared once: parsing, help, error messages and shell completion come from here.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/value.h"

namespace normtune::cli {

/// What a run's folder is called in examples of help.
inline constexpr std::string_view example_run = "results/run-20261120T235959Z-1f3a";

constexpr std::size_t help_width = 80;  // of help's lines; examples, which are pasted, stay whole

enum class Arity {
    flag,  // no value
    one,   // one value; given twice is an error
    list,  // values separated by commas; may be repeated, and adds up
    many   // values up to the next option; may be repeated, and adds up
};

struct OptionSpec {
    std::string name;        // "--shapes"; a positional argument's is in capitals: "RESULTS"
    std::string short_name;  // "-o", or empty
    Arity arity = Arity::one;
    Value value;
    std::string help;   // lines, of any length
    std::string group;  // the heading that it stands under

    /// What follows the name: "FILE...", "N,...", or nothing.
    std::string argument() const;
    bool positional() const { return !name.starts_with("-"); }
};

class OptionSet {
public:
    OptionSet(std::string_view command, std::string_view description);
    ~OptionSet();

    /// The heading in help of the options declared after it.
    void group(std::string_view title);
    /// `name` is "--long", or "-s,--long", or in capitals for a positional argument.
    void flag(std::string_view name, std::string_view help, bool& target);
    void one(std::string_view name, Value value, std::string_view help);
    void list(std::string_view name, Value value, std::string_view help);
    void many(std::string_view name, Value value, std::string_view help);
    /// Command lines to learn from, at the end of help.
    void example(std::string_view line);

    std::span<const OptionSpec> specs() const;
    std::span<const std::string> examples() const;

    enum class Parsed { run, help };
    /// Takes the words after the command's name. Throws InputError naming the option, what is wrong and what would be
    /// right; where help is asked for, no value is looked at.
    Parsed parse(std::span<const std::string> words);
    std::string help() const;

private:
    struct State;
    std::unique_ptr<State> state_;
    void declare(std::string_view name, Arity arity, Value value, std::string_view help, bool* flag);
};

}  // namespace normtune::cli
