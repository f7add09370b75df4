// What the sweep and its worker process say to each other: one request, one reply, as JSON. docs/architecture.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "devices/device.h"
#include "trial/record.h"
#include "trial/verification.h"

namespace normtune {

/// A trial's number within its problem; the parent gives them out.
using TrialId = std::uint64_t;

/// Takes the place of whatever problem was open; its kernels and buffers are gone.
struct OpenRequest {
    Problem problem;
    BufferRequest buffers;
    std::uint64_t verify_seed = 0;
};

struct BuildRequest {
    TrialId trial = 0;
    Candidate candidate;
    bool verify = true;  // false: it was verified before this worker's predecessor died
    bool bits = false;   // verified, are bits of its outputs to be compared, too?
};

struct MeasureRequest {
    TrialId trial = 0;  // SampleKind::kernel only
    SampleRequest sample;
};

/// After a trial's last round: is what it computes as it is timed still right?
struct CheckRequest {
    TrialId trial = 0;
    Candidate candidate;
    bool cold = true;
    std::uint64_t seed = 0;  // picks the buffer set
};

struct DropRequest {
    TrialId trial = 0;
};

/// Candidates that will be built next, in this order.
struct AheadRequest {
    std::vector<Candidate> candidates;
    bool verify = true;              // their verification's shapes too
    std::optional<Problem> problem;  // none: of the problem that is open
};

using Request = std::variant<OpenRequest, BuildRequest, MeasureRequest, CheckRequest, DropRequest, AheadRequest>;

/// The worker's first message, unasked: the device is open.
struct ReadyReply {
    DeviceInfo device;
};

/// The device could not be opened: no restart would help. One line, from InputError.
struct RefusedReply {
    std::string reason;
};

struct OpenedReply {
    int sets = 0;
};

struct BuiltReply {
    Outcome outcome = Outcome::passed;  // passed: the kernel is there and may be measured
    std::string reason;
    std::optional<CompileInfo> compile;
    std::optional<Verification> verification;
    std::optional<BitsCheck> bits;
};

struct MeasuredReply {
    SampleBatch batch;
};

struct CheckedReply {
    std::string reason;  // empty: it is right
};

/// To a drop and to an ahead request.
struct DroppedReply {};

/// Opening or measuring failed, and the worker lives on.
struct FaultReply {
    Outcome outcome = Outcome::launch_failed;
    std::string reason;
};

using Reply = std::variant<ReadyReply, RefusedReply, OpenedReply, BuiltReply, MeasuredReply, CheckedReply, DroppedReply, FaultReply>;

/// Counts the requests to one worker process, from 1; a reply has that of its request, and the worker's first message 0.
/// What is not the answer to the last request is told by it.
using RequestNumber = std::uint64_t;

template <typename Message>
struct Numbered {
    RequestNumber number = 0;
    Message message;
};

std::string encode(const Request& request, RequestNumber number);
std::string encode(const Reply& reply, RequestNumber number);
/// Throw InputError where the text is no such message.
Numbered<Request> decode_request(const std::string& text);
Numbered<Reply> decode_reply(const std::string& text);

}  // namespace normtune
