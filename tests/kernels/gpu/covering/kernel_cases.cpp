#include "kernels/gpu/covering/kernel_cases.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/gpu/layout.h"
#include "kernels/gpu/limits.h"
#include "problem/selection.h"
#include "space/common_limits.h"

namespace normtune::covering {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 19;
constexpr std::int64_t most_threads = 200'000;  // rows times threads of each

Factor axis_factor(Axis axis, const std::vector<std::string>& texts) {
    Factor out{std::string(axis_names.name(axis)), {}};
    for (const std::string& text : texts) {
        const int value = axis_parse(axis, text).value();
        out.values.push_back({text, [axis, value](KernelCase& k) { set_axis(k.configuration, axis, value); }});
    }
    return out;
}

/// Every value of one factor with every value of another, less those named.
Factor product(const Factor& a, const Factor& b, const std::vector<std::string>& without = {}) {
    Factor out{a.name + "/" + b.name, {}};
    for (const Factor::Value& first : a.values) {
        for (const Factor::Value& second : b.values) {
            const std::string text = first.text + "/" + second.text;
            if (std::find(without.begin(), without.end(), text) == without.end()) {
                out.values.push_back({text, [first, second](KernelCase& k) {
                                          first.set(k);
                                          second.set(k);
                                      }});
            }
        }
    }
    return out;
}

/// The values of both, by the first one's name.
Factor either(Factor a, const Factor& b) {
    a.values.insert(a.values.end(), b.values.begin(), b.values.end());
    return a;
}

template <class T, std::size_t N>
Factor operation_factor(const char* name, const NameTable<T, N>& names, T Operation::*member) {
    Factor out{name, {}};
    for (std::size_t i = 0; i < N; ++i) {
        const auto value = static_cast<T>(i);
        out.values.push_back({std::string(names.name(value)), [member, value](KernelCase& k) { k.problem.operation.*member = value; }});
    }
    return out;
}

/// Each op in each of its modes.
Factor op_factor() {
    std::vector<std::string> missing;
    for (const OpDescriptor& op : op_registry) {
        for (const Mode mode : {Mode::forward, Mode::backward, Mode::full, Mode::inference}) {
            if (!has_mode(op, mode)) {
                missing.push_back(fmt::format("{}/{}", op.name, mode_names.name(mode)));
            }
        }
    }
    return product(operation_factor("op", op_names, &Operation::op), operation_factor("mode", mode_names, &Operation::mode), missing);
}

template <class T>
Factor number_factor(const char* name, const std::vector<T>& values, std::function<void(KernelCase&, T)> set) {
    Factor out{name, {}};
    for (const T value : values) {
        out.values.push_back({fmt::format("{}", value), [set, value](KernelCase& k) { set(k, value); }});
    }
    return out;
}

std::vector<Factor> problem_factors() {
    Factor weightless{"", {{"weightless", [](KernelCase& k) {
                                k.problem.operation.weight_dtype = k.problem.operation.dtype;
                                k.problem.operation.affine = false;
                            }}}};
    Factor dtype{"gamma_dtype",
                 {{"same", [](KernelCase& k) { k.problem.operation.weight_dtype = k.problem.operation.dtype; }},
                  {"fp32", [](KernelCase& k) {
                       k.problem.operation.weight_dtype = Dtype::fp32;
                       k.wide_gamma = true;
                   }}}};
    using Size = std::int64_t;
    return {
        op_factor(),
        product(operation_factor("dtype", dtype_names, &Operation::dtype), operation_factor("casting", casting_names, &Operation::casting)),
        either(product(dtype, axis_factor(Axis::gamma, {"after", "before", "hoisted"})), weightless),
        number_factor<int>("offset", {0, 1}, [](KernelCase& k, int v) { k.problem.operation.offset = v; }),
        number_factor<bool>("in_place", {false, true}, [](KernelCase& k, bool v) { k.problem.operation.in_place = v; }),
        operation_factor("residual", residual_names, &Operation::residual),
        number_factor<Size>("rows", {7, 29, 173, 601}, [](KernelCase& k, Size v) { k.problem.shape.rows = v; }),
        // 409, 3571 and 17389 are primes; 96 and 1000 are divided by some vectors and tiles, the others by most.
        number_factor<Size>("cols", {512, 64, 96, 409, 1000, 3571, 4096, 17389},
                            [](KernelCase& k, Size v) { k.problem.shape.cols = k.problem.shape.row_stride = v; }),
        number_factor<Size>("gap", {0, 8, 67}, [](KernelCase& k, Size v) { k.problem.shape.row_stride += v; })};
}

}  // namespace

std::vector<Factor> kernel_factors(const DeviceInfo& device) {
    std::vector<Factor> out = problem_factors();
    std::vector<std::string> warps{"2", "1", "4", "8", "16"};
    std::vector<std::string> hints{"default", "streaming"};
    std::vector<std::string> without_rows_ahead{"reload/2", "reload/3"};
    if (device.warp_size == 32) {
        warps.emplace_back("32");
    }
    if (device.backend != Backend::hip) {
        hints.emplace_back("cache_global");  // evict_last is as streaming in emulation
    }
    if (!device.has_async_copy) {
        without_rows_ahead.insert(without_rows_ahead.end(), {"shared/2", "shared/3"});
    }
    out.push_back(axis_factor(Axis::num_warps, warps));
    out.push_back(axis_factor(Axis::threads_per_row, {"64", "4", "8", "16", "32", "128", "256", "512", "1024"}));
    out.push_back(number_factor<int>("steps", {1, 2, 3}, [](KernelCase& k, int v) { k.steps = v; }));
    out.push_back(axis_factor(Axis::tile_rows, {"1", "2", "4"}));
    out.push_back(axis_factor(Axis::block_size, {"row", "128", "1024", "4096"}));
    out.push_back(product(axis_factor(Axis::residency, {"registers", "shared", "reload"}), axis_factor(Axis::stages, {"1", "2", "3"}),
                          without_rows_ahead));
    if (device.backend == Backend::cuda) {
        out.push_back(axis_factor(Axis::staging, {"async", "tma_loads", "tma"}));
    }
    out.push_back(axis_factor(Axis::incoming_ds, {"staged", "direct"}));
    out.push_back(axis_factor(Axis::reduction, {"masked", "where", "guard", "even"}));
    out.push_back(either(product(axis_factor(Axis::grid, {"packed", "persistent_strided", "persistent_contiguous"}),
                                 axis_factor(Axis::rows_binding, {"constexpr", "runtime"})),
                         axis_factor(Axis::grid, {"per_row"})));
    out.push_back(axis_factor(Axis::programs_per_sm, {"1", "2"}));
    out.push_back(axis_factor(Axis::vector_bytes, {"16", "8", "4", "2"}));
    out.push_back(axis_factor(Axis::load_hint, hints));
    out.push_back(axis_factor(Axis::store_hint, hints));
    out.push_back(axis_factor(Axis::offset_bits, {"auto", "32", "64"}));
    std::vector<std::string> sums{"partials", "atomic", "split", "cooperative"};
    if (device.backend == Backend::cuda) {
        sums.emplace_back("published");
    }
    Factor dgamma = axis_factor(Axis::dgamma, sums);
    for (Factor::Value& value : dgamma.values) {
        value.set = [set = value.set](KernelCase& k) {
            set(k);
            k.has_dgamma = true;
        };
    }
    for (const std::string& method : sums) {
        if (method == "cooperative" || method == "published") {
            for (const int steps : {1, 2}) {
                const auto sum =
                    std::find_if(dgamma.values.begin(), dgamma.values.end(), [&](const Factor::Value& v) { return v.text == method; });
                dgamma.values.push_back({fmt::format("{}/d{}", method, steps), [set = sum->set, steps](KernelCase& k) {
                                             set(k);
                                             k.configuration.deferred_steps = steps;
                                         }});
            }
        }
    }
    dgamma.values.insert(dgamma.values.begin(), {"none", [](KernelCase&) {}});
    out.push_back(std::move(dgamma));
    Factor tile{"tile", {{"none", [](KernelCase&) {}}}};
    for (const char* text : {"64x64x4", "32x8x1", "16x32x2", "32x16x4"}) {
        const auto c = Configuration::parse(fmt::format("w1.t32.r1.row.registers.masked.per_row.tile{}", text));
        tile.values.push_back({text, [c](KernelCase& k) {
                                   k.configuration.reduce_rows = c.reduce_rows;
                                   k.configuration.reduce_cols = c.reduce_cols;
                                   k.configuration.reduce_warps = c.reduce_warps;
                                   k.has_tile = true;
                               }});
    }
    out.push_back(std::move(tile));
    return out;
}

std::vector<int> value_counts(const std::vector<Factor>& factors) {
    std::vector<int> out;
    for (const Factor& factor : factors) {
        out.push_back(static_cast<int>(factor.values.size()));
    }
    return out;
}

std::string pair_text(const std::vector<Factor>& factors, const Pair& pair) {
    const auto text = [&](std::size_t factor, int value) {
        return factors[factor].name + "=" + factors[factor].values[static_cast<std::size_t>(value)].text;
    };
    return text(pair.first_factor, pair.first_value) + " " + text(pair.second_factor, pair.second_value);
}

KernelCase kernel_case(const std::vector<Factor>& factors, const Row& row, const DeviceInfo& device) {
    KernelCase out;
    for (std::size_t i = 0; i < factors.size(); ++i) {
        factors[i].values[static_cast<std::size_t>(row[i])].set(out);
    }
    Configuration& c = out.configuration;
    const int side_by_side = std::max(1, c.num_warps * device.warp_size / c.threads_per_row);
    c.rows_per_program = out.steps * side_by_side * c.tile_rows;
    return out;
}

namespace {

/// Steps of the program that takes the most.
std::int64_t most_steps(const KernelCase& given, const DeviceInfo& device) {
    const Configuration& c = given.configuration;
    const std::int64_t rows = given.problem.shape.rows;
    const gpu::GridShape grid = gpu::grid_shape(c, given.problem, device);
    const std::int64_t tiles = (rows + c.rows_per_program - 1) / c.rows_per_program;
    const std::int64_t of_program =
        c.grid == Grid::persistent_strided ? (tiles + grid.programs - 1) / grid.programs * c.rows_per_program : grid.rows_per_program;
    const int step_rows = gpu::row_layout(c, given.problem, device).step_rows;
    return (std::min(rows, of_program) + step_rows - 1) / step_rows;
}

/// A value that changes nothing would count as covered, and nothing would have been tried.
std::string without_meaning(const KernelCase& given, const DeviceInfo& device) {
    const Operation& operation = given.problem.operation;
    const Configuration& c = given.configuration;
    const Shape& shape = given.problem.shape;
    if (operation.in_place && !operation.can_be_in_place()) {
        return "the mode is not in place";
    }
    if (!operation.can_have_stride() && shape.row_stride != shape.cols) {
        return "in place it has contiguous rows";
    }
    if (operation.residual == ResidualPrecision::fp32 && !(operation.adds_residual() && operation.has_forward())) {
        return "no residual is added";
    }
    if (operation.offset != 0 && !operation.affine) {
        return "there is no gamma to offset";
    }
    if (given.wide_gamma && operation.dtype == Dtype::fp32) {
        return "gamma's type is the same";
    }
    const bool has_dgamma = operation.has_backward() && operation.affine;
    if (given.has_dgamma != has_dgamma || given.has_tile != (has_dgamma && c.dgamma != DgammaMethod::atomic)) {
        return "there is no dgamma, or no tile of it";
    }
    if (c.incoming_ds == IncomingDs::direct && !stages_ds(c, given.problem)) {
        return "no row waits in shared memory with an incoming ds";
    }
    if (c.programs_per_sm > 1 && !persistent(c)) {
        return "the grid is not persistent";
    }
    if (gpu::row_layout(c, given.problem, device).vector_bytes != c.vector_bytes) {
        return "accesses are narrower";
    }
    if (c.block_size != whole_row && c.block_size >= 2 * shape.cols) {
        return "most of the block is beyond the row";
    }
    if ((given.steps > 1 || c.stages > 1) && most_steps(given, device) < 2) {
        return "no program has a second step";
    }
    if (c.deferred_steps > 0 && most_steps(given, device) <= c.deferred_steps) {
        return "no program has so many steps before its last";
    }
    if (has_dgamma && c.dgamma != DgammaMethod::split && gpu::grid_shape(c, given.problem, device).programs < 2) {
        return "one program has the whole sum";
    }
    return {};
}

}  // namespace

std::string objection(const KernelCase& given, const DeviceInfo& device) {
    const Shape& shape = given.problem.shape;
    if (shape.rows * shape.row_stride > most_elements || shape.rows * given.configuration.threads_per_row > most_threads) {
        return "too large to emulate";
    }
    const std::string why = gpu::objection(given.configuration, given.problem, device);
    return why.empty() ? without_meaning(given, device) : why;
}

namespace {

using Values = std::vector<std::pair<std::string_view, std::string_view>>;  // of factors, by their names

Row with_values(const std::vector<Factor>& factors, Row row, const Values& values) {
    for (const auto& [name, text] : values) {
        const auto factor = std::ranges::find(factors, name, &Factor::name);
        const auto value = std::ranges::find(factor->values, text, &Factor::Value::text);
        row[static_cast<std::size_t>(factor - factors.begin())] = static_cast<int>(value - factor->values.begin());
    }
    return row;
}

}  // namespace

Array covering_cases(const std::vector<Factor>& factors, const DeviceInfo& device) {
    const auto allowed = [&](const Row& row) { return objection(kernel_case(factors, row, device), device).empty(); };
    // Elements whose accesses are checked, and threads that meet.
    const auto cost = [&](const Row& row) {
        const KernelCase given = kernel_case(factors, row, device);
        const Shape& shape = given.problem.shape;
        return static_cast<double>(shape.rows * (shape.cols + 10 * given.configuration.num_warps * device.warp_size));
    };
    // Each factor's first value; and rows that are hard to find: one so wide that only the most threads hold it in
    // registers.
    const Row plain(factors.size(), 0);
    const Row wide = with_values(
        factors, plain,
        {{"cols", "17389"}, {"num_warps", device.warp_size == 32 ? "32" : "16"}, {"threads_per_row", "1024"}, {"vector_bytes", "4"}});
    // And one whose few threads take a wide block.
    const Row few = with_values(factors, plain,
                                {{"cols", "4096"},
                                 {"dtype/casting", "bf16/llama"},
                                 {"threads_per_row", "16"},
                                 {"block_size", "4096"},
                                 {"residency/stages", "reload/1"}});
    std::vector<Row> first{plain, wide, few};
    if (device.backend == Backend::hip) {  // so wide a row with a step of dx that waits leaves little of the shared memory
        first.push_back(with_values(factors, wide,
                                    {{"op/mode", "rms_norm/backward"},
                                     {"dtype/casting", "bf16/llama"},
                                     {"vector_bytes", "2"},
                                     {"rows", "29"},
                                     {"grid/rows_binding", "persistent_strided/constexpr"},
                                     {"dgamma", "cooperative/d1"},
                                     {"tile", "64x64x4"}}));
        first.push_back(with_values(
            factors, wide,
            {{"op/mode", "rms_norm/forward"}, {"dtype/casting", "bf16/llama"}, {"vector_bytes", "2"}, {"residency/stages", "shared/1"}}));
    } else {  // and those whose one warp takes so narrow a block with bulk copies
        for (const char* staging : {"tma_loads", "tma"}) {
            first.push_back(with_values(factors, plain,
                                        {{"dtype/casting", "fp32/llama"},
                                         {"num_warps", "1"},
                                         {"threads_per_row", "32"},
                                         {"block_size", "128"},
                                         {"residency/stages", "shared/2"},
                                         {"grid/rows_binding", "persistent_strided/constexpr"},
                                         {"staging", staging}}));
        }
    }
    return cover_pairs(value_counts(factors), first, allowed, cost);
}

}  // namespace normtune::covering
