#include "run/worker/channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "run/interrupt.h"

namespace normtune {

namespace {

// A signal between the look at the flag and poll() would be seen only when poll() ends, so it ends now and then.
constexpr int poll_slice_ms = 100;

int slice_until(Deadline deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, poll_slice_ms));
}

}  // namespace

bool Channel::send(std::string_view message) {
    const auto length = static_cast<std::uint32_t>(message.size());
    std::string frame;
    frame.reserve(message.size() + 4);
    for (int shift = 0; shift < 32; shift += 8) {
        frame.push_back(static_cast<char>((length >> shift) & 0xffU));
    }
    frame += message;
    std::string_view rest = frame;
    while (!rest.empty()) {
        const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

Received Channel::fill(char* to, std::size_t bytes, Deadline deadline, bool interruptible) {
    while (bytes > 0) {
        if (interruptible && interrupt_requested()) {
            return Received::interrupted;
        }
        pollfd waiting{socket_.get(), POLLIN, 0};
        const int ready = ::poll(&waiting, 1, interruptible ? slice_until(deadline) : -1);
        if (ready < 0 && errno != EINTR) {
            return Received::closed;
        }
        if (ready <= 0) {
            if (interruptible && std::chrono::steady_clock::now() >= deadline && ready == 0) {
                return Received::timed_out;
            }
            continue;
        }
        const ssize_t got = ::recv(socket_.get(), to, bytes, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return Received::closed;
        }
        to += got;
        bytes -= static_cast<std::size_t>(got);
    }
    return Received::message;
}

Received Channel::receive(std::string& message, Deadline deadline, bool interruptible) {
    std::array<char, 4> prefix{};
    if (const Received got = fill(prefix.data(), prefix.size(), deadline, interruptible); got != Received::message) {
        return got;
    }
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < prefix.size(); ++i) {
        length |= static_cast<std::uint32_t>(static_cast<unsigned char>(prefix[i])) << (8 * i);
    }
    if (length > most_bytes) {
        return Received::malformed;
    }
    message.resize(length);
    return fill(message.data(), length, deadline, interruptible);
}

Received Channel::receive(std::string& message, Deadline deadline) {
    return receive(message, deadline, true);
}

Received Channel::receive(std::string& message) {
    return receive(message, Deadline::max(), false);
}

}  // namespace normtune
