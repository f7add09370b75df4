#include "support/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "support/descriptor.h"
#include "support/error.h"

namespace normtune {
namespace {

constexpr int exec_failed_status = 127;
constexpr auto poll_interval = std::chrono::milliseconds(2);

// Between fork and exec: only calls that are safe there, nothing that allocates.
[[noreturn]] void become(pid_t parent, const char* output, char* const* argv) {
    setpgid(0, 0);  // so that it can be ended with its children
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int input = open("/dev/null", O_RDONLY);
    const int log = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (getppid() != parent || input < 0 || log < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0) {
        _exit(exec_failed_status);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execv(argv[0], argv);
    _exit(exec_failed_status);
}

}  // namespace

std::string ChildEnd::description() const {
    if (timed_out) {
        return "no end within its time";
    }
    if (signal == 0) {
        return fmt::format("exit status {}", status);
    }
    const char* name = sigabbrev_np(signal);
    const char* words = sigdescr_np(signal);
    return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{} ({})", name, words == nullptr ? "" : words);
}

ChildEnd run_child(const std::vector<std::string>& words, const std::string& output, std::chrono::seconds limit) {
    std::vector<char*> argv;
    for (const std::string& word : words) {
        argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
        throw SystemError(fmt::format("{} cannot be started: {}", words.front(), system_reason(errno)));
    }
    if (child == 0) {
        become(parent, output.c_str(), argv.data());
    }
    const auto end = std::chrono::steady_clock::now() + limit;
    ChildEnd out;
    int status = 0;
    while (true) {
        const pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            throw SystemError(fmt::format("{} cannot be waited for: {}", words.front(), system_reason(errno)));
        }
        if (!out.timed_out && std::chrono::steady_clock::now() >= end) {
            out.timed_out = true;
            ::kill(-child, SIGKILL);
            ::kill(child, SIGKILL);
        }
        std::this_thread::sleep_for(poll_interval);
    }
    if (WIFSIGNALED(status)) {
        out.signal = WTERMSIG(status);
    } else {
        out.status = WEXITSTATUS(status);
        if (out.status == exec_failed_status) {
            throw SystemError(fmt::format("{} cannot be run", words.front()));
        }
    }
    return out;
}

}  // namespace normtune
