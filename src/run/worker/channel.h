// Whole messages over a stream socket: four bytes of length (little endian), then that many bytes.
#pragma once

#include <string>
#include <string_view>

#include "support/deadline.h"
#include "support/descriptor.h"

namespace normtune {

enum class Received { message, closed, timed_out, interrupted, malformed };

class Channel {
public:
    static constexpr std::size_t most_bytes = std::size_t{64} << 20;

    Channel() = default;
    explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

    /// False: the other side is gone.
    bool send(std::string_view message);
    /// Waits for one message. A message that is there is taken even when the deadline has passed, so that a process
    /// that was itself stopped for a while does not blame its worker. `interrupted`: see interrupt.h.
    Received receive(std::string& message, Deadline deadline);
    /// Waits without end and ignores interrupts: the worker's side.
    Received receive(std::string& message);

private:
    Received fill(char* to, std::size_t bytes, Deadline deadline, bool interruptible);
    Received receive(std::string& message, Deadline deadline, bool interruptible);

    Descriptor socket_;
};

}  // namespace normtune
