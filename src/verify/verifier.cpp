#include "verify/verifier.h"

#include <algorithm>
#include <list>
#include <optional>

#include <fmt/format.h>

#include "trial/launch_manifest.h"
#include "verify/check.h"
#include "verify/companions.h"
#include "verify/device_oracle.h"
#include "verify/fill.h"
#include "verify/oracle.h"

namespace normtune {

namespace {

HostTensors draw_inputs(const Problem& problem, const RoundingContract& contract, std::uint64_t seed, Draw draw) {
    HostTensors inputs;
    for (const Tensor& tensor : tensors(problem)) {
        if (tensor.access != Access::out && tensor.kind != TensorKind::statistic) {
            inputs[tensor.role] = draw_input(problem, contract, tensor, seed, draw);
        }
    }
    return inputs;
}

std::vector<std::byte> download(Device& device, const Buffers& buffers, const Tensor& tensor, int set) {
    const std::span<std::byte> staging = device.staging(static_cast<std::size_t>(tensor.span_bytes()));
    buffers.download(tensor.role, set, staging);
    return {staging.begin(), staging.end()};
}

void poison_outputs(const Problem& problem, Buffers& buffers, int set) {
    for (const Tensor& tensor : tensors(problem)) {
        if (tensor.access == Access::out) {
            buffers.fill(tensor.role, set, poison_word(tensor.dtype), tensor.span_bytes());
        }
    }
}

/// In front of each tensor and behind it: more than a row of most problems, and enough to see that a tile's rows were not masked.
constexpr std::int64_t guard_bytes = 4096;

void poison_guards(const Problem& problem, Buffers& buffers) {
    for (const Tensor& tensor : tensors(problem)) {
        if (buffers.guard_bytes() > 0) {
            buffers.fill_guard(tensor.role, 0, poison_word(tensor.dtype));
        }
    }
}

void check_guards(const Problem& problem, const Buffers& buffers, Findings& findings) {
    std::vector<std::byte> guard(2 * static_cast<std::size_t>(buffers.guard_bytes()));
    for (const Tensor& tensor : tensors(problem)) {
        if (!guard.empty()) {
            buffers.download_guard(tensor.role, 0, guard);
            check_guard(problem, tensor, guard, findings);
        }
    }
}

/// What a further draw of the same shape found, of each tensor the worse.
void take_in(ShapeCheck& all, const ShapeCheck& draw) {
    all.rows_checked += draw.rows_checked;
    for (const TensorCheck& check : draw.tensors) {
        const auto same = std::ranges::find(all.tensors, check.role, &TensorCheck::role);
        if (same == all.tensors.end()) {
            all.tensors.push_back(check);
        } else if (check.worst_over_bound > same->worst_over_bound) {
            *same = check;
        }
    }
}

/// One shape of a problem: inputs on the device, what the outputs should be. Serves every candidate of a contract.
class ShapeCase {
public:
    ShapeCase(Device& device, DeviceProgram* program, Problem problem, const RoundingContract& contract, std::uint64_t seed, Draw draw)
        : device_(device), problem_(std::move(problem)), contract_(contract), seed_(seed), draw_(draw) {
        buffers_ = device_.allocate(problem_, BufferRequest{0, seed, guard_bytes});
        inputs_ = draw_inputs(problem_, contract_, seed_, draw_);
        if (program == nullptr) {
            sums_ = oracle_sums(problem_, contract_, inputs_);
            upload();
            return;
        }
        upload();
        on_device_.emplace(device_, *program, problem_, contract_, *buffers_, 0, true, false);
        inputs_.clear();
    }

    /// What fails may have spoilt the inputs, and so may what threw: they are uploaded anew for the next.
    Findings run(const Kernel& kernel, Workspace workspace) {
        if (!whole_) {
            renew();
        }
        whole_ = false;
        Findings findings = run_once(kernel, workspace);
        whole_ = findings.reason.empty();
        return findings;
    }

    ShapeCheck summary(Findings findings) const { return {problem_.shape, problem_.shape.rows, std::move(findings.checks)}; }
    bool is_of(const Shape& shape, const RoundingContract& contract, Draw draw) const {
        return problem_.shape == shape && contract_ == contract && draw_ == draw;
    }

private:
    void upload() {
        for (const auto& [role, bytes] : inputs_) {
            buffers_->upload(role, 0, bytes);
        }
    }

    void renew() {
        if (!on_device_) {
            upload();
            return;
        }
        inputs_ = draw_inputs(problem_, contract_, seed_, draw_);
        if (!problem_.operation.has_forward()) {
            oracle_sums(problem_, contract_, inputs_);
        }
        upload();
        inputs_.clear();
    }

    Findings run_once(const Kernel& kernel, Workspace workspace) {
        poison_outputs(problem_, *buffers_, 0);
        poison_guards(problem_, *buffers_);
        if (on_device_) {
            on_device_->restore();
        } else {
            for (const Tensor& tensor : tensors(problem_)) {
                if (tensor.access == Access::in_out) {
                    buffers_->upload(tensor.role, 0, inputs_.at(tensor.role));
                }
            }
        }
        device_.run(kernel, *buffers_, 0, workspace);
        Findings findings;
        for (const OutputSummary& summary : on_device_ ? compare_on_device(findings) : compare_on_host(findings)) {
            check_output(problem_, contract_, summary, findings);
        }
        check_guards(problem_, *buffers_, findings);
        return findings;
    }

    std::vector<OutputSummary> compare_on_device(Findings& findings) {
        for (const TensorRole role : on_device_->changed()) {
            HostTensors inputs = draw_inputs(problem_, contract_, seed_, draw_);
            if (role == TensorRole::rstd) {
                oracle_sums(problem_, contract_, inputs);
            }
            const Tensor tensor = tensor_of(problem_, role);
            check_input(problem_, tensor, inputs.at(role), download(device_, *buffers_, tensor, 0), findings);
        }
        return on_device_->compare();
    }

    std::vector<OutputSummary> compare_on_host(Findings& findings) {
        HostTensors outputs;
        for (const Tensor& tensor : tensors(problem_)) {
            if (tensor.access == Access::in) {
                check_input(problem_, tensor, inputs_.at(tensor.role), download(device_, *buffers_, tensor, 0), findings);
            } else {
                outputs[tensor.role] = download(device_, *buffers_, tensor, 0);
            }
        }
        return compare_outputs(problem_, contract_, inputs_, sums_, outputs);
    }

    Device& device_;
    Problem problem_;
    RoundingContract contract_;
    std::uint64_t seed_;
    Draw draw_;
    std::unique_ptr<Buffers> buffers_;
    HostTensors inputs_;                     // for the host's oracle
    OracleSums sums_;                        // the same
    std::optional<DeviceOracle> on_device_;  // instead, where the device has programs
    bool whole_ = true;                      // the inputs are as they were drawn
};

}  // namespace

RoundingContract contract_of(const Candidate& candidate, const Operation& operation) {
    const bool states = candidate.manifest() != nullptr && candidate.manifest()->rounding && is_narrow(operation.dtype);
    return states ? *candidate.manifest()->rounding : operation.contract();
}

void verify_ahead(Device& device, const Operation& operation) {
    load_device_oracle_ahead(device, operation);
}

struct Verifier::State {
    Device& device;
    Problem problem;
    std::uint64_t seed;
    std::optional<std::unique_ptr<DeviceProgram>> program{};  // once it was asked for
    std::vector<RoundingContract> checked{};                  // by which it has computed what the host's oracle does
    std::list<ShapeCase> cases{};

    DeviceProgram* oracle_program(const RoundingContract& contract) {
        if (!program) {
            program = load_device_oracle(device, problem.operation);
        }
        if (*program && std::ranges::find(checked, contract) == checked.end()) {
            check_device_oracle(device, **program, problem.operation, contract);
            checked.push_back(contract);
        }
        return program->get();
    }

    ShapeCase& find(const Shape& shape, const RoundingContract& contract, Draw draw = {}) {
        for (ShapeCase& known : cases) {
            if (known.is_of(shape, contract, draw)) {
                return known;
            }
        }
        return cases.emplace_back(device, oracle_program(contract), Problem{shape, problem.operation, {}}, contract, seed, draw);
    }

    /// False where the candidate failed on this shape. Its own is launched twice.
    bool verify_shape(const Shape& shape, const RoundingContract& contract, const Kernel& kernel, Verification& verification,
                      Draw draw = {}) {
        ShapeCase& shape_case = find(shape, contract, draw);
        Findings findings = shape_case.run(kernel, Workspace::cleared);
        if (findings.reason.empty() && shape == problem.shape) {
            Findings again = shape_case.run(kernel, Workspace::as_left);
            if (!again.reason.empty()) {
                again.reason = "right at the first launch, wrong at a second one on the workspace that it left: " + again.reason;
                findings = std::move(again);
            }
        }
        verification.reason = findings.reason;
        ShapeCheck check = shape_case.summary(std::move(findings));
        if (draw.index == 0) {
            verification.shapes.push_back(std::move(check));
        } else {
            take_in(verification.shapes.back(), check);
        }
        return verification.reason.empty();
    }

    std::vector<OutputSummary> compare_set(const RoundingContract& contract, const Buffers& buffers, int set) {
        if (DeviceProgram* on_device = oracle_program(contract)) {
            return DeviceOracle(device, *on_device, problem, contract, buffers, set, false, true).compare();
        }
        HostTensors inputs;
        HostTensors outputs;
        for (const Tensor& tensor : tensors(problem)) {
            (tensor.access == Access::in ? inputs : outputs)[tensor.role] = download(device, buffers, tensor, set);
        }
        const OracleSums sums = oracle_sums(problem, contract, inputs);
        return compare_outputs(problem, contract, inputs, sums, outputs);
    }
};

Verifier::Verifier(Device& device, const Problem& problem, std::uint64_t seed)
    : state_(std::make_unique<State>(State{device, problem, seed})) {}

Verifier::~Verifier() = default;

Verification Verifier::verify(const Candidate& candidate) {
    const RoundingContract contract = contract_of(candidate, state_->problem.operation);
    Verification verification;
    verification.seed = state_->seed;
    const Shape& shape = state_->problem.shape;
    const Configuration* own = candidate.configuration();
    const std::unique_ptr<Kernel> kernel = state_->device.compile(state_->problem, candidate);
    // Others' kernels have no companions: a problem of few rows has several draws instead.
    const int draws = own == nullptr ? draws_of(state_->problem) : 1;
    verification.passed = true;
    for (int i = 0; i < draws && verification.passed; ++i) {
        verification.passed = state_->verify_shape(shape, contract, *kernel, verification, {i, draws});
    }
    if (own == nullptr) {
        return verification;
    }
    for (const Shape& companion : companion_shapes(state_->problem, *own, state_->device.info())) {
        if (!verification.passed) {
            break;
        }
        std::unique_ptr<Kernel> compiled;
        try {
            compiled = state_->device.compile({companion, state_->problem.operation, {}}, candidate);
        } catch (const DeviceError& error) {
            if (error.fault() == DeviceFault::unsupported) {
                continue;
            }
            throw;
        }
        verification.passed = state_->verify_shape(companion, contract, *compiled, verification);
    }
    return verification;
}

std::string Verifier::verify_timed(const Candidate& candidate, const Kernel& kernel, Buffers& buffers, bool cold, std::uint64_t seed) {
    const Problem& problem = state_->problem;
    const RoundingContract contract = contract_of(candidate, problem.operation);
    std::string reason;
    if (problem.operation.in_place) {
        // Its inputs are not what they were, so fresh ones are looked at. The device may have one workspace for all kernels: this one's
        // launches leave there what a launch of its own finds.
        state_->device.sample(&kernel, buffers, {.kind = SampleKind::kernel, .cold = cold, .samples = 1, .seed = seed});
        reason = state_->find(problem.shape, contract).run(kernel, Workspace::as_left).reason;
    } else {
        const Window window = state_->device.next_window(kernel, buffers, cold);
        const auto within = static_cast<int>(seed % static_cast<std::uint64_t>(window.launches));
        const int set = cold ? (window.first + within) % buffers.sets() : 0;
        poison_outputs(problem, buffers, set);
        state_->device.sample(&kernel, buffers, {.kind = SampleKind::kernel, .cold = cold, .samples = 1, .seed = seed, .examined = set});
        Findings findings;
        for (const OutputSummary& summary : state_->compare_set(contract, buffers, set)) {
            check_output(problem, contract, summary, findings);
        }
        reason = std::move(findings.reason);
    }
    return reason.empty() ? reason : "right before it was timed, wrong after: " + reason;
}

}  // namespace normtune
