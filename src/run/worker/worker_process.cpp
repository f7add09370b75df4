#include "run/worker/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "run/worker/worker.h"
#include "support/error.h"
#include "support/utf8.h"

namespace normtune {

namespace {

constexpr int exec_failed_status = 127;
constexpr auto grace_to_end = std::chrono::seconds(2);
// A process inside a driver call that hangs cannot be killed; it is left behind rather than waited for without end.
constexpr auto grace_to_be_killed = std::chrono::seconds(10);

Descriptor open_or_throw(const char* path, int flags, mode_t mode = 0) {
    Descriptor file(::open(path, flags | O_CLOEXEC, mode));
    if (!file.valid()) {
        throw SystemError(fmt::format("{}: cannot be opened for the worker: {}", path, system_reason(errno)));
    }
    return file;
}

// How many processes the kernel has killed for want of memory; 0 where it does not tell.
long oom_kills() {
    std::ifstream counters("/proc/vmstat");
    std::string name;
    long value = 0;
    while (counters >> name >> value) {
        if (name == "oom_kill") {
            return value;
        }
    }
    return 0;
}

// Between fork and exec: only calls that are safe there, nothing that allocates.
[[noreturn]] void become_worker(pid_t parent, int socket, int input, int log, char* const* argv) {
    // Its own group, so that a terminal's Ctrl-C does not reach it and so that it can be ended with its children.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(exec_failed_status);  // the parent died before prctl
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (dup2(input, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0 || fcntl(socket, F_SETFD, 0) < 0) {
        _exit(exec_failed_status);
    }
    execv(argv[0], argv);
    const char* reason = strerrordesc_np(errno);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, reason, strlen(reason));
    _exit(exec_failed_status);
}

// The signal's name, and its description where that adds something.
std::string signal_name(int number) {
    const char* name = sigabbrev_np(number);
    const char* words = sigdescr_np(number);
    return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{} ({})", name, words == nullptr ? "" : words);
}

std::string one_line(std::string text) {
    for (char& c : text) {
        c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
    return to_utf8(text);
}

std::optional<int> wait_for(pid_t pid, std::chrono::steady_clock::duration patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    int status = 0;
    while (true) {
        const pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid) {
            return status;
        }
        if (got < 0 && errno != EINTR) {
            return 0;
        }
        if (std::chrono::steady_clock::now() >= end) {
            return std::nullopt;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerCommand& command) : log_(command.log), oom_kills_before_(oom_kills()) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        throw SystemError(fmt::format("a socket for the worker cannot be made: {}", system_reason(errno)));
    }
    Descriptor ours(ends[0]);
    const Descriptor theirs(ends[1]);
    const Descriptor input = open_or_throw("/dev/null", O_RDONLY);
    const Descriptor log = open_or_throw(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    struct stat log_state {};
    log_start_ = fstat(log.get(), &log_state) == 0 ? log_state.st_size : 0;

    std::vector<std::string> words = worker_arguments(theirs.get(), command.backend, command.ordinal, command.replay_script, command.cores);
    words.insert(words.begin(), command.program.begin(), command.program.end());
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);

    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) {
        throw SystemError(fmt::format("the worker process cannot be started: {}", system_reason(errno)));
    }
    if (pid_ == 0) {
        become_worker(parent, theirs.get(), input.get(), log.get(), argv.data());
    }
    setpgid(pid_, pid_);  // here as well: whichever of the two comes first
    channel_ = Channel(std::move(ours));
}

WorkerProcess::~WorkerProcess() {
    kill();
}

void WorkerProcess::kill() {
    if (pid_ <= 0) {
        return;
    }
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    wait_for(pid_, grace_to_be_killed);
    pid_ = -1;
}

WorkerDeath WorkerProcess::death() {
    const std::optional<int> status = wait_for(pid_, grace_to_end);
    if (!status) {
        kill();
        return {Outcome::crashed, "the worker closed its channel and had to be killed" + last_words()};
    }
    ::kill(-pid_, SIGKILL);  // what it may have started
    pid_ = -1;
    if (WIFSIGNALED(*status)) {
        const int number = WTERMSIG(*status);
        if (number == SIGKILL && oom_kills() > oom_kills_before_) {
            return {Outcome::out_of_memory, "the worker was taken by the kernel's out-of-memory killer" + last_words()};
        }
        return {Outcome::crashed, "the worker was killed by " + signal_name(number) + last_words()};
    }
    return {Outcome::crashed, fmt::format("the worker exited with status {}", WEXITSTATUS(*status)) + last_words()};
}

// The last line that this worker printed: an assertion's, a sanitizer's or an allocator's complaint.
std::string WorkerProcess::last_words() const {
    constexpr off_t most = 4096;
    constexpr std::size_t most_shown = 200;
    std::ifstream file(log_, std::ios::binary | std::ios::ate);
    const off_t size = file ? static_cast<off_t>(file.tellg()) : 0;
    const off_t start = std::max(log_start_, size - most);
    if (size <= start) {
        return "";
    }
    std::string text(static_cast<std::size_t>(size - start), '\0');
    file.seekg(start);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.erase(text.find_last_not_of(" \r\n\t") + 1);
    const std::string line = text.substr(text.rfind('\n') + 1);
    return line.empty() ? "" : "; it said: " + one_line(line.substr(0, most_shown));
}

}  // namespace normtune
