#include "run/worker/worker_session.h"

#include <fmt/format.h>

#include <cmath>

#include "run/interrupt.h"
#include "support/error.h"

namespace normtune {

namespace {

Failure unexpected_reply() {
    return {Outcome::crashed, "the worker's reply does not fit the request", false};
}

// A device that returns no sample, or one that is no time, must not reach the statistics.
std::optional<Failure> check(const SampleBatch& batch) {
    if (batch.us.empty()) {
        return Failure{Outcome::launch_failed, "the device returned no sample", false};
    }
    for (const double us : batch.us) {
        if (!std::isfinite(us) || us < 0) {
            return Failure{Outcome::launch_failed, fmt::format("the device returned {} as a time in us", us), false};
        }
    }
    return std::nullopt;
}

std::variant<SampleBatch, Failure> batch_of(std::variant<Reply, Failure> answer) {
    if (auto* failure = std::get_if<Failure>(&answer)) {
        return std::move(*failure);
    }
    auto* measured = std::get_if<MeasuredReply>(&std::get<Reply>(answer));
    if (measured == nullptr) {
        return unexpected_reply();
    }
    if (auto failure = check(measured->batch)) {
        return std::move(*failure);
    }
    return std::move(measured->batch);
}

}  // namespace

WorkerSession::WorkerSession(WorkerCommand command, SessionLimits limits) : command_(std::move(command)), limits_(limits) {}

DeviceInfo WorkerSession::device() {
    start();
    return device_;
}

void WorkerSession::set_problem(OpenRequest problem) {
    problem_ = std::move(problem);
    opened_.reset();
    built_.clear();
}

void WorkerSession::retire() {
    worker_.reset();
    opened_.reset();
    built_.clear();
}

void WorkerSession::start() {
    while (!worker_) {
        worker_ = std::make_unique<WorkerProcess>(command_);
        std::string text;
        const Received got = worker_->channel().receive(text, deadline_in(limits_.start_s));
        std::string reason;
        if (got == Received::interrupted) {
            retire();
            throw Interrupted();
        }
        if (got == Received::message) {
            try {
                const Reply reply = decode_reply(text);
                if (const auto* ready = std::get_if<ReadyReply>(&reply)) {
                    device_ = ready->device;
                    start_failures_ = 0;
                    return;
                }
                if (const auto* refused = std::get_if<RefusedReply>(&reply)) {
                    retire();
                    throw DeviceLost(refused->reason);
                }
                reason = "the worker's first message is not that it is ready";
            } catch (const InputError& error) {
                reason = error.what();
            }
        } else if (got == Received::closed) {
            reason = worker_->death().reason;
        } else {
            reason = got == Received::malformed ? "the worker's first message is broken"
                                                : fmt::format("no sign of the worker in {} s", limits_.start_s);
        }
        retire();
        if (++start_failures_ >= limits_.most_start_failures) {
            throw DeviceLost(fmt::format("the worker process could not be started {} times in a row: {} (log: {})", start_failures_, reason,
                                         command_.log));
        }
    }
}

std::variant<Reply, Failure> WorkerSession::ask(const Request& request) {
    start();
    std::string text;
    const bool sent = worker_->channel().send(encode(request));
    const Received got = sent ? worker_->channel().receive(text, deadline_in(limits_.request_s)) : Received::closed;
    Failure failure;
    switch (got) {
        case Received::message:
            try {
                Reply reply = decode_reply(text);
                if (const auto* fault = std::get_if<FaultReply>(&reply)) {
                    if (fault->outcome == Outcome::launch_failed) {
                        retire();  // a failed launch may leave a device context that fails from then on
                    }
                    return Failure{fault->outcome, fault->reason, false};
                }
                return reply;
            } catch (const InputError& error) {
                failure.reason = fmt::format("the worker sent something that is no message: {}", error.what());
            }
            break;
        case Received::malformed:
            failure.reason = "the worker sent something that is no message";
            break;
        case Received::timed_out:
            failure = {Outcome::timed_out, fmt::format("no answer within {:g} s; the worker was killed", limits_.request_s), false};
            break;
        case Received::interrupted:
            retire();
            throw Interrupted();
        case Received::closed: {
            const WorkerDeath death = worker_->death();
            if (interrupt_requested()) {
                retire();
                throw Interrupted();  // a signal to all processes took the worker first
            }
            failure = {death.outcome, death.reason, false};
            break;
        }
    }
    retire();
    return failure;
}

std::variant<OpenedReply, Failure> WorkerSession::open() {
    start();
    // A second attempt: the memory of a worker that was just killed may come back late.
    for (int attempt = 0; !opened_; ++attempt) {
        std::variant<Reply, Failure> answer = ask(problem_);
        auto* failure = std::get_if<Failure>(&answer);
        const auto* opened = failure ? nullptr : std::get_if<OpenedReply>(&std::get<Reply>(answer));
        if (opened != nullptr) {
            opened_ = *opened;
        } else if (attempt > 0 || (failure && failure->outcome == Outcome::timed_out)) {
            Failure last = failure ? *failure : unexpected_reply();
            last.of_problem = true;
            last.reason = "the problem could not be opened: " + last.reason;
            return last;
        }
    }
    return *opened_;
}

std::variant<Reply, Failure> WorkerSession::ask_opened(const Request& request) {
    if (auto opened = open(); auto* failure = std::get_if<Failure>(&opened)) {
        return std::move(*failure);
    }
    return ask(request);
}

std::variant<BuiltReply, Failure> WorkerSession::build(const BuildRequest& request) {
    std::variant<Reply, Failure> answer = ask_opened(request);
    if (auto* failure = std::get_if<Failure>(&answer)) {
        return std::move(*failure);
    }
    auto* built = std::get_if<BuiltReply>(&std::get<Reply>(answer));
    if (built == nullptr) {
        return unexpected_reply();
    }
    if (built->outcome == Outcome::passed) {
        built_.insert(request.trial);
    } else if (built->outcome == Outcome::launch_failed) {
        retire();
    }
    return std::move(*built);
}

std::variant<BuiltReply, Failure> WorkerSession::build(TrialId trial, const Candidate& candidate) {
    return build(BuildRequest{trial, candidate, true});
}

std::variant<SampleBatch, Failure> WorkerSession::measure(TrialId trial, const Candidate& candidate, const SampleRequest& request) {
    if (!built_.contains(trial)) {
        auto built = build(BuildRequest{trial, candidate, false});
        if (auto* failure = std::get_if<Failure>(&built)) {
            return std::move(*failure);
        }
        if (auto& reply = std::get<BuiltReply>(built); reply.outcome != Outcome::passed) {
            return Failure{reply.outcome, "built once, but not again: " + reply.reason, false};
        }
    }
    return batch_of(ask_opened(MeasureRequest{trial, request}));
}

std::variant<SampleBatch, Failure> WorkerSession::measure(const SampleRequest& request) {
    return batch_of(ask_opened(MeasureRequest{0, request}));
}

void WorkerSession::compile_ahead(AheadRequest request) {
    ask_opened(std::move(request));
}

void WorkerSession::drop(TrialId trial) {
    if (built_.erase(trial) != 0) {
        ask(DropRequest{trial});
    }
}

}  // namespace normtune
