// A command of the executable: its options, and what it does; and from words to a command.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option_set.h"
#include "support/error.h"

namespace normtune::cli {

class Command {
public:
    virtual ~Command() = default;
    /// Declares every option once; the targets are this object's members.
    virtual void declare(OptionSet& options) = 0;
    /// After its options were parsed. `words` is the whole command line, for records.
    virtual ExitCode run(const std::vector<std::string>& words) = 0;
};

struct CommandEntry {
    std::string_view name;
    std::string_view summary;  // one line, without a full stop
    std::unique_ptr<Command> (*make)();
};

/// In the order in which help lists them.
std::span<const CommandEntry> commands();
/// The command's options, for help and completion.
std::unique_ptr<OptionSet> options_of(const CommandEntry& entry, Command& command);

/// `words` as main gets them, the executable's name first. Help and the version are commands like the others.
/// Throws InputError: unknown command or option (with the nearest), a value that is missing or out of range.
std::unique_ptr<Command> parse_command_line(const std::vector<std::string>& words);

}  // namespace normtune::cli
