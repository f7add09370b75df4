#include "kernels/gpu/launch_plan.h"

#include "kernels/gpu/layout.h"

namespace normtune::gpu {
namespace {

// The workspace starts with the launch's counters; fp32 rows follow on a line of their own.
constexpr std::int64_t counter_at = 0;
constexpr std::int64_t line_bytes = 256;

Argument workspace(const char* name, std::int64_t at, bool present = true) {
    return {name, ArgumentType::pointer, present ? Argument::Source::workspace : Argument::Source::null, TensorRole::x, at, 0};
}

Argument integer(const char* name, ArgumentType type, std::int64_t value) {
    return {name, type, Argument::Source::value, TensorRole::x, value, 0};
}

class Planner {
public:
    Planner(const Configuration& c, const Problem& problem, const DeviceInfo& device)
        : c_(c),
          problem_(problem),
          device_(device),
          operation_(problem.operation),
          tensors_(tensors(problem)),
          grid_(grid_shape(c, problem, device)),
          partials_at_((launch_counters(c, problem) * 4 + line_bytes - 1) / line_bytes * line_bytes) {}

    LaunchPlan plan() {
        if (operation_.has_forward()) {
            forward();
        }
        if (operation_.has_backward()) {
            // The split kernel goes first: dx may be written over the dy that it reads.
            if (operation_.has(TensorRole::dgamma) && c_.dgamma == DgammaMethod::split) {
                split();
            }
            backward();
        }
        for (Launch& launch : plan_.launches) {
            launch.overlaps |= c_.dependent_launch == DependentLaunch::on;
        }
        const std::int64_t rows = partial_rows(c_, problem_, device_);
        plan_.workspace_bytes = rows == 0 ? 0 : partials_at_ + rows * problem_.shape.cols * 4;
        return plan_;
    }

private:
    void forward() {
        Launch launch = row_kernel("nt_forward", false);
        launch.arguments = {pointer("x", TensorRole::x),
                            pointer("residual", TensorRole::residual),
                            pointer("gamma", TensorRole::gamma),
                            pointer("y", TensorRole::y),
                            pointer("s", TensorRole::s),
                            pointer("rstd", TensorRole::rstd),
                            integer("rows", ArgumentType::int64, problem_.shape.rows),
                            integer("programs", ArgumentType::int32, grid_.programs),
                            integer("rows_per_program", ArgumentType::int32, grid_.rows_per_program),
                            {"eps", ArgumentType::fp32, Argument::Source::value, TensorRole::x, 0, static_cast<float>(operation_.eps)}};
        plan_.launches.push_back(std::move(launch));
    }

    void backward() {
        const bool sums = sums_dgamma(c_, problem_);
        const bool beside = programs_beside(c_, problem_) > 0;
        const bool partials = (sums || beside) && partial_rows(c_, problem_, device_) > 0;
        Launch launch = row_kernel("nt_backward", true);
        if (beside) {
            const int cluster = std::max(c_.cluster, c_.reduce_cluster);  // one of them is 1
            launch.cluster[0] = cluster;
            launch.grid[0] = (programs_beside(c_, problem_) + launch.grid[0] + cluster - 1) / cluster * cluster;
        }
        launch.cooperative = partials && c_.dgamma == DgammaMethod::cooperative;
        launch.arguments = {pointer("x", operation_.backward_input()),
                            pointer("gamma", TensorRole::gamma),
                            pointer("dy", TensorRole::dy),
                            pointer("ds", TensorRole::ds),
                            pointer("rstd", TensorRole::rstd),
                            pointer("dx", TensorRole::dx),
                            pointer("dgamma", TensorRole::dgamma, sums || beside),
                            workspace("partials", partials_at_, partials),
                            workspace("counter", counter_at, partials),
                            integer("rows", ArgumentType::int64, problem_.shape.rows),
                            integer("programs", ArgumentType::int32, grid_.programs),
                            integer("rows_per_program", ArgumentType::int32, grid_.rows_per_program)};
        plan_.launches.push_back(std::move(launch));
        if (partials && has_reduce_kernel(c_.dgamma)) {
            reduce();
            plan_.launches.back().overlaps = true;
        }
    }

    void split() {
        const SplitShape shape = split_shape(c_, problem_, device_);
        Launch launch;
        launch.kernel = "nt_dgamma";
        launch.grid[0] = shape.tiles;
        launch.grid[1] = shape.parts;
        launch.block[0] = c_.reduce_warps * device_.warp_size;
        launch.arguments = {pointer("x", operation_.backward_input()),
                            pointer("dy", TensorRole::dy),
                            pointer("rstd", TensorRole::rstd),
                            pointer("dgamma", TensorRole::dgamma),
                            workspace("partials", partials_at_, shape.parts > 1),
                            integer("rows", ArgumentType::int64, problem_.shape.rows),
                            integer("parts", ArgumentType::int32, shape.parts)};
        plan_.launches.push_back(std::move(launch));
        if (shape.parts > 1) {
            reduce();
        }
    }

    void reduce() {
        Launch launch;
        launch.kernel = "nt_reduce";
        launch.grid[0] = (problem_.shape.cols + c_.reduce_cols - 1) / c_.reduce_cols;
        launch.block[0] = c_.reduce_warps * device_.warp_size;
        launch.arguments = {workspace("partials", partials_at_), pointer("dgamma", TensorRole::dgamma),
                            workspace("counter", counter_at, c_.dgamma == DgammaMethod::published),
                            integer("count", ArgumentType::int32, partial_rows(c_, problem_, device_))};
        plan_.launches.push_back(std::move(launch));
    }

    Launch row_kernel(const char* name, bool backward) const {
        Launch launch;
        launch.kernel = name;
        launch.grid[0] = grid_.programs * c_.cluster;
        launch.cluster[0] = c_.cluster;
        launch.block[0] = c_.num_warps * device_.warp_size;
        launch.shared_bytes = shared_bytes(c_, problem_, device_, backward);
        return launch;
    }

    /// The memory that holds the tensor (in place, dx has dy's), or null where the problem has none or `wanted` is false.
    Argument pointer(const char* name, TensorRole role, bool wanted = true) const {
        for (const Tensor& tensor : tensors_) {
            if (wanted && (tensor.role == role || tensor.result == role)) {
                return {name, ArgumentType::pointer, Argument::Source::tensor, tensor.role, 0, 0};
            }
        }
        return {name, ArgumentType::pointer, Argument::Source::null, role, 0, 0};
    }

    const Configuration& c_;
    const Problem& problem_;
    const DeviceInfo& device_;
    const Operation& operation_;
    std::vector<Tensor> tensors_;
    GridShape grid_;
    std::int64_t partials_at_;
    LaunchPlan plan_;
};

}  // namespace

LaunchPlan launch_plan(const Configuration& configuration, const Problem& problem, const DeviceInfo& device) {
    return Planner(configuration, problem, device).plan();
}

}  // namespace normtune::gpu
