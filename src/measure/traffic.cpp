#include "measure/traffic.h"

#include <algorithm>

namespace normtune {

namespace {

PassTraffic traffic_of(const Problem& problem, bool backward) {
    const Operation& operation = problem.operation;
    const std::vector<Tensor> held = tensors(problem);
    PassTraffic pass;
    for (const TensorSpec& spec : operation.descriptor().tensors) {
        const Touch touch = backward ? spec.backward : spec.forward;
        if (spec.kind != TensorKind::signal || touch == Touch::none || !operation.has(spec.role)) {
            continue;
        }
        const bool saved = backward && operation.has_forward() && spec.role == TensorRole::x;
        const TensorRole role = saved ? operation.descriptor().saved_input : spec.role;
        const auto holder = std::ranges::find_if(held, [&](const Tensor& t) { return t.role == role || t.result == role; });
        (touch == Touch::read ? pass.reads : pass.writes).push_back(holder->role);
    }
    for (std::size_t i = 0; i < std::min(pass.reads.size(), pass.writes.size()); ++i) {
        const auto overwritten = std::ranges::find(pass.reads, pass.writes[i]);
        if (overwritten != pass.reads.end()) {
            pass.in_place = true;
            std::iter_swap(pass.reads.begin() + static_cast<std::ptrdiff_t>(i), overwritten);
        }
    }
    return pass;
}

}  // namespace

std::vector<PassTraffic> signal_traffic(const Problem& problem) {
    std::vector<PassTraffic> passes;
    for (const bool backward : {false, true}) {
        if (backward ? problem.operation.has_backward() : problem.operation.has_forward()) {
            passes.push_back(traffic_of(problem, backward));
        }
    }
    return passes;
}

std::int64_t signal_bytes(const Problem& problem) {
    return problem.shape.rows * problem.shape.cols * bytes_of(problem.operation.dtype);
}

}  // namespace normtune
