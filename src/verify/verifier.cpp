#include <algorithm>
#include <list>
#include <span>
#include <vector>

#include "verify/check.h"
#include "verify/companions.h"
#include "verify/fill.h"
#include "verify/oracle.h"
#include "verify/verifier.h"

namespace normtune {

namespace {

constexpr std::int64_t most_elements_in_full = std::int64_t{1} << 22;
constexpr std::int64_t sampled_elements = std::int64_t{1} << 20;
constexpr std::int64_t most_bytes_kept = std::int64_t{4} << 20;  // of a tensor's inputs on the host, and compared afterwards

/// One shape of a problem: inputs on the device, what the outputs should be. Serves every configuration.
class ShapeCase {
public:
    ShapeCase(Device& device, Problem problem, std::uint64_t seed)
        : device_(device),
          problem_(std::move(problem)),
          judge_(judge_of(problem_.operation.descriptor().formula)),
          tensors_(tensors(problem_)),
          seed_(seed) {
        buffers_ = device_.allocate(problem_, BufferRequest{0, seed});
        HostTensors inputs = draw();
        const Shape& shape = problem_.shape;
        const bool small = shape.rows * shape.cols <= most_elements_in_full;
        reference_ = judge_.reference(problem_, inputs, oracle_rows(shape, small ? most_elements_in_full : sampled_elements, seed));
        upload(inputs);
        keep(std::move(inputs));
    }

    /// `compiled` for this problem. A failure counts once it repeats on inputs that no earlier configuration can have
    /// spoilt.
    Findings run(const Kernel& compiled) {
        const bool fresh = fresh_;
        Findings findings = run_once(compiled);
        if (!findings.reason.empty()) {
            HostTensors inputs = draw();
            add_statistics(problem_, reference_, inputs);
            upload(inputs);
            if (!fresh) {
                findings = run_once(compiled);
                upload(inputs);
            }
        }
        return findings;
    }

    ShapeCheck summary(Findings findings) const {
        return {problem_.shape, static_cast<std::int64_t>(reference_.rows.size()), std::move(findings.checks)};
    }

    const Problem& problem() const { return problem_; }

private:
    HostTensors draw() const {
        HostTensors inputs;
        for (const Tensor& tensor : tensors_) {
            if (tensor.access != Access::out && tensor.kind != TensorKind::statistic) {
                inputs[tensor.role] = draw_input(problem_, tensor, seed_);
            }
        }
        return inputs;
    }

    void upload(const HostTensors& inputs) {
        for (const auto& [role, bytes] : inputs) {
            buffers_->upload(role, 0, bytes);
        }
        fresh_ = true;
    }

    /// What each run needs again: a tensor that kernels write over, and small ones to see that they came back
    /// unchanged.
    void keep(HostTensors inputs) {
        for (const Tensor& tensor : tensors_) {
            if (tensor.access == Access::in_out || (tensor.access == Access::in && tensor.span_bytes() <= most_bytes_kept)) {
                kept_[tensor.role] = std::move(inputs[tensor.role]);
            }
        }
    }

    Findings run_once(const Kernel& compiled) {
        for (const Tensor& tensor : tensors_) {
            if (tensor.access == Access::out) {
                buffers_->fill(tensor.role, 0, poison_word(tensor.dtype), tensor.span_bytes());
            } else if (tensor.access == Access::in_out) {
                buffers_->upload(tensor.role, 0, kept_.at(tensor.role));
            }
        }
        device_.run(compiled, *buffers_, 0);
        fresh_ = false;
        std::vector<std::byte> rstd(problem_.operation.has_forward() ? reference_.rstd.size() * sizeof(float) : 0);
        if (!rstd.empty()) {
            buffers_->download(TensorRole::rstd, 0, rstd);
        }
        const std::vector<double> deviations = rstd_deviations(problem_, rstd, reference_);
        Findings findings;
        for (const Tensor& tensor : tensors_) {
            const auto kept = kept_.find(tensor.role);
            if (tensor.access == Access::in && kept == kept_.end()) {
                continue;
            }
            const std::span<std::byte> bytes = device_.staging(static_cast<std::size_t>(tensor.span_bytes()));
            buffers_->download(tensor.role, 0, bytes);
            if (tensor.access == Access::in) {
                check_input(problem_, tensor, kept->second, bytes, findings);
            } else {
                judge_.check(problem_, tensor, bytes, reference_, deviations, findings);
            }
        }
        return findings;
    }

    Device& device_;
    Problem problem_;
    const Judge& judge_;
    std::vector<Tensor> tensors_;
    std::uint64_t seed_;
    Reference reference_;
    std::unique_ptr<Buffers> buffers_;
    HostTensors kept_;
    bool fresh_ = false;  // nothing has run since the inputs were uploaded
};

}  // namespace

struct Verifier::State {
    Device& device;
    Problem problem;
    std::uint64_t seed;
    std::list<ShapeCase> cases;

    ShapeCase& find(const Problem& wanted) {
        for (ShapeCase& known : cases) {
            if (known.problem().shape == wanted.shape) {
                return known;
            }
        }
        return cases.emplace_back(device, wanted, seed);
    }

    /// False where the configuration failed on this shape.
    bool verify_shape(const Problem& on, const Kernel& compiled, Verification& verification) {
        ShapeCase& shape_case = find(on);
        Findings findings = shape_case.run(compiled);
        verification.reason = findings.reason;
        verification.shapes.push_back(shape_case.summary(std::move(findings)));
        return verification.reason.empty();
    }
};

Verifier::Verifier(Device& device, const Problem& problem, std::uint64_t seed)
    : state_(std::make_unique<State>(State{device, problem, seed, {}})) {}

Verifier::~Verifier() = default;

Verification Verifier::verify(const Candidate& candidate) {
    Verification verification;
    verification.seed = state_->seed;
    verification.passed = state_->verify_shape(state_->problem, *state_->device.compile(state_->problem, candidate), verification);
    const Configuration* own = candidate.configuration();
    if (own == nullptr) {
        return verification;
    }
    const int warp_size = state_->device.info().warp_size;
    for (const Shape& shape : companion_shapes(state_->problem.shape, *own, warp_size)) {
        if (!verification.passed) {
            break;
        }
        Problem companion{shape, state_->problem.operation, {}};
        std::unique_ptr<Kernel> compiled;
        try {
            compiled = state_->device.compile(companion, candidate);
        } catch (const DeviceError& error) {
            if (error.fault() == DeviceFault::unsupported) {
                continue;
            }
            throw;
        }
        verification.passed = state_->verify_shape(companion, *compiled, verification);
    }
    return verification;
}

}  // namespace normtune
