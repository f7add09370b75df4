// A program run to its end, its output in a file.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace normtune {

struct ChildEnd {
    int status = 0;                   // exit status; meaningless where a signal ended it
    int signal = 0;                   // 0: it ended by itself
    bool timed_out = false;           // it took longer than it was given, and was killed
    std::string description() const;  // "exit status 1", "SIGABRT (Aborted)", "no end after 60 s"
};

/// Runs `words` (an executable's path and its arguments) with no input, its stdout and stderr in the file `output`, and
/// waits. It dies with the calling thread. Throws SystemError where it cannot be started.
ChildEnd run_child(const std::vector<std::string>& words, const std::string& output, std::chrono::seconds limit);

}  // namespace normtune
