// The one file that includes CLI11: it costs seconds of compile time, and only splitting and help are asked of it.
#include "cli/option_set.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>

#include "report/table.h"
#include "support/pattern.h"

namespace normtune::cli {
namespace {

constexpr std::size_t help_column = 34;  // where what options mean begins

/// What stands beside an option's name.
std::string help_lines(std::string_view help) {
    std::vector<std::string> out;
    for (const std::string_view line : split(help, '\n')) {
        std::ranges::move(wrapped(line, help_width - help_column), std::back_inserter(out));
    }
    return fmt::format("{}", fmt::join(out, "\n"));
}

}  // namespace

std::string OptionSpec::argument() const {
    switch (arity) {
        case Arity::flag:
            return {};
        case Arity::one:
            return value.placeholder;
        case Arity::list:
            return value.placeholder + ",...";
        case Arity::many:
            return value.placeholder + "...";
    }
    return {};
}

struct OptionSet::State {
    CLI::App app;
    std::string heading = "Options";
    std::vector<std::string> examples;
    std::vector<OptionSpec> specs;
    std::vector<CLI::Option*> options;  // of the same index in specs
    std::vector<bool*> flags;           // null where the option is no flag

    explicit State(std::string description) : app(std::move(description)) {}

    /// The option whose value stands before the word, as in --tokens 1 128; null: none.
    const OptionSpec* option_before(const std::string& word, std::span<const std::string> words) const {
        for (std::size_t i = 2; i < words.size(); ++i) {
            const bool follows_value = words[i] == word && !words[i - 1].starts_with("-");
            for (const OptionSpec& spec : specs) {
                const bool takes_one = spec.arity == Arity::one || spec.arity == Arity::list;
                if (follows_value && takes_one && !spec.positional() && (words[i - 2] == spec.name || words[i - 2] == spec.short_name)) {
                    return &spec;
                }
            }
        }
        return nullptr;
    }

    [[noreturn]] void refuse(const std::string& word, std::span<const std::string> words) const {
        if (!word.starts_with("-") || word == "-" || word == "--") {
            if (const OptionSpec* before = option_before(word, words)) {
                throw InputError(fmt::format("unexpected argument '{}': {} takes one value{}", word, before->name,
                                             before->arity == Arity::list ? ", or several with commas between them" : ""));
            }
            throw InputError(fmt::format("unexpected argument '{}'; see {} --help", word, app.get_name()));
        }
        const std::string name = word.substr(0, word.find('='));
        std::vector<std::string_view> known{"--help"};
        for (const OptionSpec& spec : specs) {
            if (!spec.positional()) {
                known.push_back(spec.name);
            }
        }
        const std::string near = nearest(name, known.data(), known.data() + known.size());
        throw InputError(near.empty() ? fmt::format("unknown option '{}'; see {} --help", name, app.get_name())
                                      : fmt::format("unknown option '{}'; did you mean '{}'?", name, near));
    }

    void refuse_flag_values(std::span<const std::string> words) const {
        for (const OptionSpec& spec : specs) {
            for (const std::string& word : words) {
                if (spec.arity == Arity::flag && word.starts_with(spec.name + "=")) {
                    throw InputError(fmt::format("{} takes no value; write {} alone", spec.name, spec.name));
                }
            }
        }
    }

    void apply(const OptionSpec& spec, const std::vector<std::string>& words) const {
        if (spec.arity == Arity::one && words.size() > 1) {
            throw InputError(fmt::format("{} is given {} times; once is enough", spec.name, words.size()));
        }
        for (const std::string& word : words) {
            for (const std::string_view part : spec.arity == Arity::list ? split(word, ',') : std::vector{std::string_view(word)}) {
                if (part.empty() && part.size() < word.size()) {
                    throw InputError(fmt::format("{}: a value is missing between the commas of '{}'", spec.name, word));
                }
                if (part.empty()) {
                    throw InputError(spec.positional() ? fmt::format("the argument {} is empty; see {} --help", spec.name, app.get_name())
                                                       : fmt::format("{} needs a value: {} {}", spec.name, spec.name, spec.argument()));
                }
                try {
                    spec.value.take(std::string(part));
                } catch (const InputError& error) {
                    throw InputError(fmt::format("{}: {}", spec.name, error.what()));
                }
            }
        }
    }
};

OptionSet::OptionSet(std::string_view command, std::string_view description) : state_(std::make_unique<State>(std::string(description))) {
    CLI::App& app = state_->app;
    app.name(fmt::format("normtune {}", command));
    app.set_help_flag("-h,--help", "Print this help");
    app.allow_extras();  // refused here, with the nearest option named
    app.get_formatter()->column_width(help_column);
}

OptionSet::~OptionSet() = default;

void OptionSet::group(std::string_view title) {
    state_->heading = title;
}

void OptionSet::flag(std::string_view name, std::string_view help, bool& target) {
    declare(name, Arity::flag, {}, help, &target);
}

void OptionSet::one(std::string_view name, Value value, std::string_view help) {
    declare(name, Arity::one, std::move(value), help, nullptr);
}

void OptionSet::list(std::string_view name, Value value, std::string_view help) {
    declare(name, Arity::list, std::move(value), help, nullptr);
}

void OptionSet::many(std::string_view name, Value value, std::string_view help) {
    declare(name, Arity::many, std::move(value), help, nullptr);
}

void OptionSet::example(std::string_view line) {
    state_->examples.emplace_back(line);
    state_->app.footer(fmt::format("Example:\n  {}", fmt::join(state_->examples, "\n  ")));
}

std::span<const OptionSpec> OptionSet::specs() const {
    return state_->specs;
}

std::span<const std::string> OptionSet::examples() const {
    return state_->examples;
}

void OptionSet::declare(std::string_view name, Arity arity, Value value, std::string_view help, bool* flag) {
    CLI::App& app = state_->app;
    const std::string words(name);
    const std::string lines = help_lines(help);
    const std::size_t comma = name.find(',');
    OptionSpec spec{comma == std::string_view::npos ? words : words.substr(comma + 1),
                    comma == std::string_view::npos ? "" : words.substr(0, comma),
                    arity,
                    std::move(value),
                    std::string(help),
                    state_->heading};
    CLI::Option* option = nullptr;
    if (arity == Arity::flag) {
        option = app.add_flag_function(
            words, [](std::int64_t) {}, lines);
    } else {
        option = app.add_option(words, CLI::callback_t([](const CLI::results_t&) { return true; }), lines);
        option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        option->allow_extra_args(arity == Arity::many);
        // An option without its value is let through, so that it never swallows the next option; apply() refuses it.
        option->expected(spec.positional() ? 1 : 0, arity == Arity::many ? CLI::detail::expected_max_vector_size : 1);
        option->option_text(spec.positional() ? " " : spec.argument());
    }
    option->group(state_->heading);
    state_->options.push_back(option);
    state_->specs.push_back(std::move(spec));
    state_->flags.push_back(flag);
}

OptionSet::Parsed OptionSet::parse(std::span<const std::string> words) {
    State& state = *state_;
    state.refuse_flag_values(words);
    try {
        state.app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them last first
    } catch (const CLI::CallForHelp&) {
        return Parsed::help;
    } catch (const CLI::ParseError& error) {
        throw InputError(fmt::format("{}; see {} --help", error.what(), state.app.get_name()));
    }
    if (const std::vector<std::string> unknown = state.app.remaining(); !unknown.empty()) {
        state.refuse(unknown.front(), words);
    }
    for (std::size_t i = 0; i < state.specs.size(); ++i) {
        if (state.flags[i] != nullptr) {
            *state.flags[i] = state.options[i]->count() > 0;
        } else if (state.options[i]->count() > 0) {
            state.apply(state.specs[i], state.options[i]->results());
        }
    }
    return Parsed::run;
}

std::string OptionSet::help() const {
    return CLI::detail::find_and_replace(state_->app.help(), "\n\n\n", "\n\n");  // one empty line between groups
}

}  // namespace normtune::cli
