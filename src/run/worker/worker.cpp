#include "run/worker/worker.h"

#include <signal.h>
#include <sys/prctl.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <map>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "devices/registry.h"
#include "run/sweep.h"
#include "run/worker/channel.h"
#include "run/worker/protocol.h"
#include "support/cores.h"
#include "support/error.h"
#include "verify/bits.h"
#include "verify/companions.h"
#include "verify/verifier.h"

namespace normtune {

namespace {

Outcome outcome_of(DeviceFault fault) {
    switch (fault) {
        case DeviceFault::unsupported:
            return Outcome::unsupported;
        case DeviceFault::compile_failed:
            return Outcome::compile_failed;
        case DeviceFault::launch_failed:
            return Outcome::launch_failed;
        case DeviceFault::out_of_memory:
            return Outcome::out_of_memory;
    }
    return Outcome::launch_failed;
}

// Runs `work`; what it throws becomes what `fault` makes of an outcome and a reason. An exception that is no
// DeviceError is a defect of ours or of a library: it counts as a crash, though this process survives it.
template <typename Work, typename Fault>
Reply guarded(Work work, Fault fault) {
    try {
        return work();
    } catch (const DeviceError& error) {
        return fault(outcome_of(error.fault()), error.what());
    } catch (const std::bad_alloc&) {
        return fault(Outcome::out_of_memory, "the worker's own memory ran out");
    } catch (const std::exception& error) {
        return fault(Outcome::crashed, std::string("unexpected exception: ") + error.what());
    }
}

Reply fault_reply(Outcome outcome, const std::string& reason) {
    return FaultReply{outcome, reason};
}

/// The problem that is open, with its buffers and kernels; everything goes when the next one is opened.
struct OpenProblem {
    Problem problem;
    std::unique_ptr<Buffers> buffers;
    std::uint64_t verify_seed = 0;
    std::unique_ptr<Verifier> verifier;  // made by the first trial that needs it
    std::unique_ptr<BitsComparer> bits;  // the same
    std::map<TrialId, std::unique_ptr<Kernel>> kernels;
};

class Worker {
public:
    explicit Worker(Device& device) : device_(device) {}

    Reply operator()(const OpenRequest& request) {
        open_.reset();
        return guarded(
            [&]() -> Reply {
                auto opened = std::make_unique<OpenProblem>();
                opened->problem = request.problem;
                opened->verify_seed = request.verify_seed;
                opened->buffers = device_.allocate(request.problem, request.buffers);
                open_ = std::move(opened);
                return OpenedReply{open_->buffers->sets()};
            },
            fault_reply);
    }

    Reply operator()(const BuildRequest& request) {
        BuiltReply built;
        return guarded(
            [&]() -> Reply {
                OpenProblem& open = opened();
                std::unique_ptr<Kernel> kernel = device_.compile(open.problem, request.candidate);
                built.compile = kernel->info();
                if (request.verify) {
                    built.verification = verify(open, request.candidate);
                    if (!built.verification->passed) {
                        built.outcome = Outcome::incorrect;
                        built.reason = built.verification->reason;
                        return built;
                    }
                }
                if (request.verify && request.bits) {
                    built.bits = compare_bits(open, request.candidate);
                }
                open.kernels[request.trial] = std::move(kernel);
                return built;
            },
            [&](Outcome outcome, const std::string& reason) -> Reply {
                built.outcome = outcome;
                built.reason = reason;
                return built;
            });
    }

    Reply operator()(const MeasureRequest& request) {
        return guarded(
            [&]() -> Reply {
                OpenProblem& open = opened();
                const Kernel* kernel = request.sample.kind == SampleKind::kernel ? open.kernels.at(request.trial).get() : nullptr;
                return MeasuredReply{device_.sample(kernel, *open.buffers, request.sample)};
            },
            fault_reply);
    }

    Reply operator()(const CheckRequest& request) {
        return guarded(
            [&]() -> Reply {
                OpenProblem& open = opened();
                if (const auto& scripted = backend_row(device_.info().backend).verify) {
                    return CheckedReply{scripted(device_, open.problem, request.candidate, true).reason};
                }
                return CheckedReply{verifier(open).verify_timed(request.candidate, *open.kernels.at(request.trial), *open.buffers,
                                                                request.cold, request.seed)};
            },
            fault_reply);
    }

    Reply operator()(const AheadRequest& request) {
        return guarded(
            [&]() -> Reply {
                const Problem& problem = request.problem ? *request.problem : opened().problem;
                if (request.verify) {
                    verify_ahead(device_, problem.operation);  // first: it takes longest
                }
                for (const Candidate& candidate : request.candidates) {
                    device_.compile_ahead(problem, candidate);
                    if (const Configuration* own = candidate.configuration(); own != nullptr && request.verify) {
                        for (const Shape& shape : companion_shapes(problem, *own, device_.info())) {
                            device_.compile_ahead({shape, problem.operation, {}}, candidate);
                        }
                    }
                }
                return DroppedReply{};
            },
            fault_reply);
    }

    Reply operator()(const DropRequest& request) {
        if (open_) {
            open_->kernels.erase(request.trial);
        }
        return DroppedReply{};
    }

private:
    OpenProblem& opened() {
        if (!open_) {
            throw std::logic_error("no problem is open");
        }
        return *open_;
    }

    Verification verify(OpenProblem& open, const Candidate& candidate) {
        if (const auto& scripted = backend_row(device_.info().backend).verify) {
            return scripted(device_, open.problem, candidate, false);
        }
        return verifier(open).verify(candidate);
    }

    BitsCheck compare_bits(OpenProblem& open, const Candidate& candidate) {
        if (const auto& scripted = backend_row(device_.info().backend).bits) {
            return scripted(device_, open.problem, candidate);
        }
        if (!open.bits) {
            open.bits = std::make_unique<BitsComparer>(device_, open.problem);
        }
        return open.bits->compare(candidate);
    }

    Verifier& verifier(OpenProblem& open) {
        if (!open.verifier) {
            open.verifier = std::make_unique<Verifier>(device_, open.problem, open.verify_seed);
        }
        return *open.verifier;
    }

    Device& device_;
    std::unique_ptr<OpenProblem> open_;
};

// Where memory runs out, the kernel is to take the worker and not the parent, which holds the samples.
void volunteer_for_the_oom_killer() {
    std::ofstream("/proc/self/oom_score_adj") << 800;
}

std::optional<int> parse_int(const std::string& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

int serve_worker(int descriptor, Backend backend, int ordinal, const std::string& replay_script) {
    // What a terminal sends to all its processes concerns the parent, which ends this process when it has to.
    for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
        signal(signal_number, SIG_IGN);
    }
    volunteer_for_the_oom_killer();
    Channel channel{Descriptor(descriptor)};
    std::unique_ptr<Device> device;
    try {
        device = open_device(backend, ordinal, replay_script);
    } catch (const InputError& error) {
        channel.send(encode(Reply(RefusedReply{error.what()}), 0));
        return static_cast<int>(ExitCode::usage);
    } catch (const std::system_error& error) {
        channel.send(encode(Reply(RefusedReply{fmt::format("the device cannot be opened: {}", error.what())}), 0));
        return static_cast<int>(ExitCode::usage);
    }
    channel.send(encode(Reply(ReadyReply{device->info()}), 0));
    Worker worker(*device);
    std::string text;
    while (channel.receive(text) == Received::message) {
        const Numbered<Request> request = decode_request(text);
        const Reply reply = std::visit(worker, request.message);
        std::fflush(stdout);  // whatever libraries print shall be in the log when something goes wrong later
        if (!channel.send(encode(reply, request.number))) {
            break;
        }
    }
    return static_cast<int>(ExitCode::good);
}

std::vector<std::string> worker_arguments(int descriptor, Backend backend, int ordinal, const std::string& script, int cores) {
    return {worker_command, std::to_string(descriptor), std::string(backend_names.name(backend)), std::to_string(ordinal),
            script,         std::to_string(cores)};
}

std::optional<int> run_as_worker(int argc, const char* const* argv) {
    if (argc < 2 || std::string_view(argv[1]) != worker_command) {
        return std::nullopt;
    }
    const auto descriptor = argc == 7 ? parse_int(argv[2]) : std::nullopt;
    const auto backend = argc == 7 ? backend_names.find(argv[3]) : std::nullopt;
    const auto ordinal = argc == 7 ? parse_int(argv[4]) : std::nullopt;
    const auto cores = argc == 7 ? parse_int(argv[6]) : std::nullopt;
    if (!descriptor || !backend || !ordinal || !cores) {
        std::fputs("normtune: 'worker' is how a sweep starts its worker process, not a command\n", stderr);
        return static_cast<int>(ExitCode::usage);
    }
    limit_cores(*cores);
    try {
        return serve_worker(*descriptor, *backend, *ordinal, argv[5]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "normtune worker: %s\n", error.what());
        return 1;
    }
}

}  // namespace normtune
