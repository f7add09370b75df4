// Stands between a sweep and its worker process, and disturbs what they say to each other.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "run/worker/channel.h"
#include "run/worker/protocol.h"
#include "run/worker/worker.h"

namespace normtune::testing {

inline constexpr const char* relay_variable = "NORMTUNE_TEST_RELAY";

/// Of $NORMTUNE_TEST_RELAY: "twice" sends each reply twice, "late" the last reply before each; "noise FILE", "ahead FILE" and "other FILE"
/// send once, when FILE is not there, what is no message, the answer to a request that was never made, and that to another request.
inline std::optional<int> run_as_relay(int argc, char** argv) {
    const char* how = std::getenv(relay_variable);
    if (how == nullptr || argc < 3 || std::string_view(argv[1]) != worker_command) {
        return std::nullopt;
    }
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        return 1;
    }
    Channel sweep{Descriptor(std::atoi(argv[2]))};
    if (fork() == 0) {
        close(ends[0]);
        std::string descriptor = std::to_string(ends[1]);
        argv[2] = descriptor.data();
        return run_as_worker(argc, argv);
    }
    close(ends[1]);
    Channel worker{Descriptor(ends[0])};
    const std::string kind = std::string(how).substr(0, std::string(how).find(' '));
    const std::string marker = std::string(how).substr(std::min(kind.size() + 1, std::string(how).size()));
    const auto once = [&] {
        const Descriptor made(open(marker.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600));
        return made.valid();
    };
    std::string request, reply, last;
    for (int count = 0; worker.receive(reply) == Received::message; ++count) {
        const bool due = count == 6 && !marker.empty() && once();
        if (kind == "late" && !last.empty()) {
            sweep.send(last);
        }
        if (due) {
            const RequestNumber number = decode_reply(reply).number;
            sweep.send(kind == "noise" ? "hello" : encode(Reply(RefusedReply{"?"}), number + (kind == "ahead" ? 3 : 0)));
        }
        sweep.send(reply);
        if (kind == "twice") {
            sweep.send(reply);
        }
        last = reply;
        if (sweep.receive(request) != Received::message || !worker.send(request)) {
            break;
        }
    }
    return 0;
}

}  // namespace normtune::testing
