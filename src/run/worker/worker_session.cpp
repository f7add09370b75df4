#include "run/worker/worker_session.h"

#include <fmt/format.h>

#include <cmath>

#include "run/interrupt.h"
#include "support/error.h"

namespace normtune {

namespace {

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

std::variant<SampleBatch, Failure> batch_of(std::variant<MeasuredReply, Failure> answer) {
    if (auto* failure = std::get_if<Failure>(&answer)) {
        return std::move(*failure);
    }
    SampleBatch& batch = std::get<MeasuredReply>(answer).batch;
    if (auto failure = check(batch)) {
        return std::move(*failure);
    }
    return std::move(batch);
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
        asked_ = 0;
        std::string text;
        const Received got = worker_->channel().receive(text, deadline_in(limits_.start_s));
        std::string reason;
        if (got == Received::interrupted) {
            retire();
            throw Interrupted();
        }
        if (got == Received::message) {
            try {
                const Reply reply = decode_reply(text).message;
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

/// The answer to the request that was sent last. What answers an earlier one is a message too many, and left out.
Received WorkerSession::receive(std::string& text, std::optional<Reply>& answer) {
    const Deadline deadline = deadline_in(limits_.request_s);
    for (;;) {
        const Received got = worker_->channel().receive(text, deadline);
        if (got != Received::message) {
            return got;
        }
        Numbered<Reply> reply = decode_reply(text);
        if (reply.number == asked_) {
            answer = std::move(reply.message);
            return got;
        }
        if (reply.number > asked_) {
            throw InputError(fmt::format("it answers request {}, and {} were made", reply.number, asked_));
        }
        if (std::chrono::steady_clock::now() >= deadline) {
            return Received::timed_out;
        }
    }
}

template <typename Wanted>
std::variant<Wanted, Failure> WorkerSession::ask(const Request& request) {
    start();
    std::string text;
    std::optional<Reply> answer;
    Failure failure;
    try {
        const bool sent = worker_->channel().send(encode(request, ++asked_));
        switch (sent ? receive(text, answer) : Received::closed) {
            case Received::message:
                if (auto* wanted = std::get_if<Wanted>(&*answer)) {
                    return std::move(*wanted);
                }
                if (const auto* fault = std::get_if<FaultReply>(&*answer)) {
                    if (fault->outcome == Outcome::launch_failed) {
                        retire();  // a failed launch may leave a device context that fails from then on
                    }
                    return Failure{fault->outcome, fault->reason, false};
                }
                failure.reason = "the worker's reply does not fit the request";
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
    } catch (const InputError& error) {
        failure.reason = fmt::format("the worker sent something that is no message: {}", error.what());
    }
    retire();
    return failure;
}

std::variant<OpenedReply, Failure> WorkerSession::open() {
    start();
    // A second attempt: the memory of a worker that was just killed may come back late.
    for (int attempt = 0; !opened_; ++attempt) {
        std::variant<OpenedReply, Failure> answer = ask<OpenedReply>(problem_);
        if (const auto* opened = std::get_if<OpenedReply>(&answer)) {
            opened_ = *opened;
        } else if (Failure& failure = std::get<Failure>(answer); attempt > 0 || failure.outcome == Outcome::timed_out) {
            failure.of_problem = true;
            failure.reason = "the problem could not be opened: " + failure.reason;
            return failure;
        }
    }
    return *opened_;
}

template <typename Wanted>
std::variant<Wanted, Failure> WorkerSession::ask_opened(const Request& request) {
    if (auto opened = open(); auto* failure = std::get_if<Failure>(&opened)) {
        return std::move(*failure);
    }
    return ask<Wanted>(request);
}

std::variant<BuiltReply, Failure> WorkerSession::build(const BuildRequest& request) {
    std::variant<BuiltReply, Failure> answer = ask_opened<BuiltReply>(request);
    if (const auto* built = std::get_if<BuiltReply>(&answer)) {
        if (built->outcome == Outcome::passed) {
            built_.insert(request.trial);
        } else if (built->outcome == Outcome::launch_failed) {
            retire();
        }
    }
    return answer;
}

// Unverified, where the worker that had it is gone.
std::optional<Failure> WorkerSession::build_again(TrialId trial, const Candidate& candidate) {
    if (built_.contains(trial)) {
        return std::nullopt;
    }
    auto built = build(BuildRequest{trial, candidate, false});
    if (auto* failure = std::get_if<Failure>(&built)) {
        return std::move(*failure);
    }
    auto& reply = std::get<BuiltReply>(built);
    return reply.outcome == Outcome::passed ? std::nullopt
                                            : std::optional(Failure{reply.outcome, "built once, but not again: " + reply.reason, false});
}

std::variant<SampleBatch, Failure> WorkerSession::measure(TrialId trial, const Candidate& candidate, const SampleRequest& request) {
    if (auto failure = build_again(trial, candidate)) {
        return std::move(*failure);
    }
    return batch_of(ask_opened<MeasuredReply>(MeasureRequest{trial, request}));
}

std::variant<std::string, Failure> WorkerSession::check(TrialId trial, const Candidate& candidate, bool cold, std::uint64_t seed) {
    if (auto failure = build_again(trial, candidate)) {
        return std::move(*failure);
    }
    auto answer = ask_opened<CheckedReply>(CheckRequest{trial, candidate, cold, seed});
    if (auto* failure = std::get_if<Failure>(&answer)) {
        return std::move(*failure);
    }
    return std::move(std::get<CheckedReply>(answer).reason);
}

std::variant<SampleBatch, Failure> WorkerSession::measure(const SampleRequest& request) {
    return batch_of(ask_opened<MeasuredReply>(MeasureRequest{0, request}));
}

void WorkerSession::compile_ahead(AheadRequest request) {
    if (request.problem) {
        ask<DroppedReply>(std::move(request));
    } else {
        ask_opened<DroppedReply>(std::move(request));
    }
}

void WorkerSession::drop(TrialId trial) {
    if (built_.erase(trial) != 0) {
        ask<DroppedReply>(DropRequest{trial});
    }
}

}  // namespace normtune
