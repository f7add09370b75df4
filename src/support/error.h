// Errors that a user can cause and mend. Everything else is a defect and may be any std::exception.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace normtune {

/// Exit codes of the executable; the one place that defines them.
enum class ExitCode : int {
    good = 0,
    regression = 1,      // a regression, or a gate that fails
    usage = 2,           // the command's words or a file are wrong
    inconclusive = 3,    // a comparison or gate that cannot tell
    not_comparable = 4,  // another device, or nothing in common
    faulty_trials = 5,   // a sweep finished in which a configuration was incorrect or crashed
    defect = 70,         // normtune's own fault: EX_SOFTWARE of sysexits.h
    interrupted = 130,   // SIGINT or SIGTERM; what was measured is saved
};

/// Bad input: the command's words or a file. Its what() is one complete line (no newline):
/// what is wrong and what would be right. main prints it to stderr as "normtune: <what>" and exits 2.
class InputError : public std::runtime_error {
public:
    explicit InputError(const std::string& message) : std::runtime_error(message) {}
    /// "file:line: message"; line 0 leaves the line out.
    InputError(std::string_view file, int line, std::string_view message);
};

/// The machine would not let us: disk full, folder not writable, worker cannot be started. Also one line, exit code 2.
class SystemError : public std::runtime_error {
public:
    explicit SystemError(const std::string& message) : std::runtime_error(message) {}
};

/// SIGINT or SIGTERM came, and there is nothing to judge. One line, exit code 130.
class InterruptedError : public std::runtime_error {
public:
    explicit InterruptedError(const std::string& message) : std::runtime_error(message) {}
};

/// A user's text for a message: in single quotes, cut where it is long, and harmless to a terminal (control characters
/// are '?', what is not UTF-8 is U+FFFD), so that the message stays one line.
std::string quoted_for_message(std::string_view text);

}  // namespace normtune
