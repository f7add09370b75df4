#include "devices/cuda/clock_lock.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "devices/cuda/nvml.h"
#include "support/error.h"

namespace normtune::cuda {

namespace {

constexpr std::string_view keeper_command = "clock-lock";
constexpr std::string_view locked = "locked\n";

/// Until the other end closes.
std::string read_to_end(int descriptor, std::string_view until = {}) {
    std::string text;
    std::array<char, 512> block{};
    while (until.empty() || text != until) {
        const ssize_t got = ::read(descriptor, block.data(), block.size());
        if (got == 0 || (got < 0 && errno != EINTR)) {
            break;
        }
        text.append(block.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
    }
    return text;
}

}  // namespace

ClockLock::ClockLock(const std::string& executable, std::string pci_bus_id, int mhz) : pci_bus_id_(std::move(pci_bus_id)) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw SystemError(fmt::format("the clock's keeper cannot be started: {}", system_reason(errno)));
    }
    keeper_end_ = Descriptor(ends[0]);
    Descriptor its_end(ends[1]);
    const std::string clock = std::to_string(mhz);
    const std::array<const char*, 5> words{executable.c_str(), keeper_command.data(), pci_bus_id_.c_str(), clock.c_str(), nullptr};
    keeper_ = ::fork();
    if (keeper_ < 0) {
        throw SystemError(fmt::format("the clock's keeper cannot be started: {}", system_reason(errno)));
    }
    if (keeper_ == 0) {
        ::setsid();  // what ends the whole group, even at once, leaves the keeper its last act
        if (::dup2(its_end.get(), STDIN_FILENO) >= 0) {
            ::execv(words[0], const_cast<char* const*>(words.data()));
        }
        ::_exit(127);
    }
    its_end.close();
    const std::string answer = read_to_end(keeper_end_.get(), locked);
    if (answer != locked) {
        ::waitpid(keeper_, nullptr, 0);
        throw InputError(fmt::format("--lock-clocks {}: {}", mhz, answer.empty() ? "the process that keeps the clock ended" : answer));
    }
}

ClockLock::~ClockLock() {
    ::shutdown(keeper_end_.get(), SHUT_WR);
    int status = 0;
    while (::waitpid(keeper_, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        unlock_clock(pci_bus_id_);  // it was killed
    }
}

std::optional<int> run_as_clock_keeper(int argc, char** argv) {
    if (argc != 4 || argv[1] != keeper_command) {
        return std::nullopt;
    }
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        ::signal(number, SIG_IGN);
    }
    const std::string device = argv[2];
    const std::string_view clock = argv[3];
    int mhz = 0;
    std::from_chars(clock.data(), clock.data() + clock.size(), mhz);
    if (const std::string why_not = lock_clock(device, mhz); !why_not.empty()) {
        write_all(STDIN_FILENO, why_not);
        return 1;
    }
    write_all(STDIN_FILENO, locked);
    read_to_end(STDIN_FILENO);
    return unlock_clock(device) ? 0 : 1;
}

}  // namespace normtune::cuda
