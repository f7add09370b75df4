// A worker that writes down what it is asked, and does nothing.
#pragma once

#include <fstream>
#include <string>

#include "run/worker/channel.h"
#include "run/worker/protocol.h"

namespace normtune::testing {

inline constexpr const char* requests_log_command = "requests-log";

/// `requests-log FILE worker DESCRIPTOR …`: a line a request, "open", "ahead" or "other".
inline int serve_requests_log(const char* file, int descriptor) {
    Channel channel{Descriptor(descriptor)};
    channel.send(encode(Reply(ReadyReply{}), 0));
    std::string text;
    while (channel.receive(text) == Received::message) {
        const Numbered<Request> request = decode_request(text);
        const bool opens = std::holds_alternative<OpenRequest>(request.message);
        std::ofstream(file, std::ios::app) << (opens                                                   ? "open\n"
                                               : std::holds_alternative<AheadRequest>(request.message) ? "ahead\n"
                                                                                                       : "other\n");
        channel.send(encode(opens ? Reply(OpenedReply{1}) : Reply(DroppedReply{}), request.number));
    }
    return 0;
}

}  // namespace normtune::testing
