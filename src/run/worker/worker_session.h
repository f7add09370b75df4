// A worker that is always there: started when needed, restarted after a death, brought back to where it was.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "run/worker/protocol.h"
#include "run/worker/worker_process.h"
#include "support/error.h"

namespace normtune {

/// What a request left instead of an answer.
struct Failure {
    Outcome outcome = Outcome::crashed;
    std::string reason;       // one line
    bool of_problem = false;  // its problem could not be opened: no trial of it can run
};

struct SessionLimits {
    double request_s = 60;  // opening, building, verifying, or one round
    double start_s = 60;    // from the start of the process to an open device
    int most_start_failures = 3;
};

/// No worker can be started, or it finds no device.
class DeviceLost : public SystemError {
public:
    using SystemError::SystemError;
};

/// Requests throw Interrupted (the worker is ended, the request left undone) and DeviceLost. Whatever else goes wrong
/// in the worker is a Failure of that request alone.
class WorkerSession {
public:
    WorkerSession(WorkerCommand command, SessionLimits limits);

    /// The device as the worker sees it; starts the worker.
    DeviceInfo device();
    /// The problem that all further requests are about; it is opened with the first of them.
    void set_problem(OpenRequest problem);
    /// What allocating it gave; opens it.
    std::variant<OpenedReply, Failure> open();
    std::variant<BuiltReply, Failure> build(const BuildRequest& request);
    /// Builds the trial again, unverified, where the worker that had it is gone.
    std::variant<SampleBatch, Failure> measure(TrialId trial, const Candidate& candidate, const SampleRequest& request);
    /// Empty, or what is wrong with a trial that has been measured.
    std::variant<std::string, Failure> check(TrialId trial, const Candidate& candidate, bool cold, std::uint64_t seed);
    /// The copy limit or the empty launch.
    std::variant<SampleBatch, Failure> measure(const SampleRequest& request);
    /// Tells the worker what will be built next, so that it compiles in the background. Does nothing where it fails. What names its
    /// problem opens none.
    void compile_ahead(AheadRequest request);
    /// Frees the trial's kernel.
    void drop(TrialId trial);
    /// Ends the worker; the next request starts another one.
    void retire();

private:
    void start();
    Received receive(std::string& text, std::optional<Reply>& answer);
    template <typename Wanted>
    std::variant<Wanted, Failure> ask(const Request& request);
    template <typename Wanted>
    std::variant<Wanted, Failure> ask_opened(const Request& request);
    std::optional<Failure> build_again(TrialId trial, const Candidate& candidate);

    WorkerCommand command_;
    SessionLimits limits_;
    std::unique_ptr<WorkerProcess> worker_;
    DeviceInfo device_;
    OpenRequest problem_;
    std::optional<OpenedReply> opened_;  // by this worker
    std::set<TrialId> built_;            // in this worker
    int start_failures_ = 0;             // in a row
    RequestNumber asked_ = 0;            // of this worker
};

}  // namespace normtune
