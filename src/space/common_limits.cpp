#include "space/common_limits.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "space/heuristics.h"

namespace normtune {
namespace {

using Admits = decltype(BackendLimit::admits);

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

std::int64_t threads(const Configuration& c, const DeviceInfo& device) {
    return std::int64_t{c.num_warps} * device.warp_size;
}

/// Groups of rows_per_program rows; a persistent grid's programs take several.
std::int64_t row_groups(const Configuration& c, const Problem& problem) {
    return ceil_div(problem.shape.rows, c.rows_per_program);
}

std::int64_t programs(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const std::int64_t groups = row_groups(c, problem);
    return persistent(c) ? persistent_programs(c, groups, device) : groups;
}

bool tiled(const Configuration& c, const Problem& problem) {
    return c.block_size != whole_row && c.block_size < problem.shape.cols;
}

bool holds_inert(const BackendTraits& traits, Axis axis) {
    return std::any_of(traits.inert.begin(), traits.inert.end(), [axis](const InertAxis& i) { return i.axis == axis; });
}

/// Columns that a row's threads take at once; a backend without vector_bytes counts single ones.
std::int64_t columns_at_once(const Configuration& c, const Problem& problem, bool vectors) {
    const int elements = vectors ? access_bytes(c.vector_bytes, problem) / bytes_of(problem.operation.dtype) : 1;
    return std::int64_t{c.cluster} * c.threads_per_row * elements;
}

bool in_blocks(const Configuration& c, const Problem& problem, bool row_is_one_block) {
    return row_is_one_block ? tiled(c, problem) : c.block_size != whole_row;
}

bool evenly(const Configuration& c, const Problem& problem, std::int64_t at_once, bool row_is_one_block) {
    return problem.shape.cols % at_once == 0 && (!in_blocks(c, problem, row_is_one_block) || problem.shape.cols % c.block_size == 0);
}

/// Collects limits; knows what the space lists and what the backend holds inert.
class Limits {
public:
    Limits(const SearchSpace& space, const BackendTraits& traits) : space_(space), traits_(traits) {}

    bool row_is_one_block() const { return traits_.row_is_one_block; }
    bool shared_whole_rows() const { return traits_.shared_whole_rows; }

    bool inert(Axis axis) const { return holds_inert(traits_, axis); }

    /// Of those that the space lists, the fewest rows that a row's threads hold at once.
    int least_tile_rows() const {
        const std::vector<int> values = listed(Axis::tile_rows);
        return inert(Axis::tile_rows) ? 1 : *std::min_element(values.begin(), values.end());
    }

    std::vector<int> listed(Axis axis) const {
        for (const AxisValues& values : space_.axes) {
            if (values.axis == axis) {
                return values.values;
            }
        }
        return {axis_row(axis).standard};
    }

    bool lists(Axis axis, int value) const {
        const std::vector<int> values = listed(axis);
        return std::find(values.begin(), values.end(), value) != values.end();
    }

    /// `subject` is the axis that the limit is about.
    void add(Axis subject, std::string name, std::string reason, std::vector<Axis> axes, Admits admits) {
        if (!inert(subject)) {
            limits_.push_back({std::move(name), std::move(reason), std::move(axes), std::move(admits)});
        }
    }

    /// Where `matters` is false, one value stands for all.
    void add_redundant(Axis subject, std::string reason, std::vector<Axis> axes, Admits matters) {
        const int canonical = canonical_value(space_, subject);
        axes.push_back(subject);
        add(subject, fmt::format("redundant.{}", axis_names.name(subject)), std::move(reason), std::move(axes),
            [subject, canonical, matters = std::move(matters)](const Configuration& c, const Problem& p, const DeviceInfo& d) {
                return axis_value(c, subject) == canonical || matters(c, p, d);
            });
    }

    std::vector<BackendLimit> take() { return std::move(limits_); }

private:
    const SearchSpace& space_;
    const BackendTraits& traits_;
    std::vector<BackendLimit> limits_;
};

/// Rows that a program's threads hold: beyond it they may lie over a cluster. Early, as it keeps the space of all others small.
constexpr std::int64_t row_bytes_of_a_program = 8 << 10;

void add_program_limits(Limits& limits) {
    limits.add(Axis::cluster, "invalid.cluster", "a row of 8 KiB or less is held by one program", {Axis::cluster},
               [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                   return c.cluster == 1 || p.shape.cols * bytes_of(p.operation.dtype) > row_bytes_of_a_program;
               });
    limits.add(Axis::num_warps, "invalid.num_warps", "more threads than the device lets a program have", {Axis::num_warps},
               [](const Configuration& c, const Problem&, const DeviceInfo& d) { return threads(c, d) <= d.max_threads_per_program; });
    limits.add(Axis::threads_per_row, "invalid.threads_per_row",
               "a row's threads must divide the program's, and be whole warps or an even part of one",
               {Axis::num_warps, Axis::threads_per_row}, [](const Configuration& c, const Problem&, const DeviceInfo& d) {
                   const bool fits_warps = c.threads_per_row % d.warp_size == 0 || d.warp_size % c.threads_per_row == 0;
                   return threads(c, d) % c.threads_per_row == 0 && fits_warps;
               });
    limits.add(
        Axis::rows_per_program, "invalid.rows_per_program",
        "rows per program must be a multiple of the rows side by side (threads / threads_per_row)",
        {Axis::num_warps, Axis::threads_per_row, Axis::rows_per_program},
        [](const Configuration& c, const Problem&, const DeviceInfo& d) { return c.rows_per_program % rows_side_by_side(c, d) == 0; });
    const int held = limits.least_tile_rows();
    limits.add(Axis::rows_per_program, "redundant.rows_per_program", "fewer rows per program already hold all rows of the problem",
               {Axis::num_warps, Axis::threads_per_row, Axis::rows_per_program},
               [held, listed = limits.listed(Axis::rows_per_program)](const Configuration& c, const Problem& p, const DeviceInfo& d) {
                   const std::int64_t step = rows_side_by_side(c, d) * held;  // what fewer rows must be a multiple of
                   return std::none_of(listed.begin(), listed.end(),
                                       [&](int fewer) { return fewer < c.rows_per_program && fewer % step == 0 && fewer >= p.shape.rows; });
               });
}

void add_grid_limits(Limits& limits) {
    limits.add(
        Axis::grid, "invalid.grid", "per_row has one row a program: more are packed", {Axis::grid, Axis::rows_per_program},
        [](const Configuration& c, const Problem&, const DeviceInfo&) { return c.grid != Grid::per_row || c.rows_per_program == 1; });
    limits.add_redundant(Axis::programs_per_sm, "the grid is not persistent", {Axis::grid},
                         [](const Configuration& c, const Problem&, const DeviceInfo&) { return persistent(c); });
    limits.add(Axis::programs_per_sm, "redundant.programs_per_sm.rows", "fewer programs a compute unit already take all rows at once",
               {Axis::grid, Axis::rows_per_program, Axis::programs_per_sm, Axis::unit_margin, Axis::cluster},
               [listed = limits.listed(Axis::programs_per_sm)](const Configuration& c, const Problem& p, const DeviceInfo& d) {
                   return !persistent(c) || std::none_of(listed.begin(), listed.end(), [&](int fewer) {
                       Configuration with_fewer = c;
                       with_fewer.programs_per_sm = fewer;
                       return fewer < c.programs_per_sm && most_persistent_programs(with_fewer, d) >= row_groups(c, p);
                   });
               });
    limits.add_redundant(Axis::unit_margin, "the grid is not persistent", {Axis::grid},
                         [](const Configuration& c, const Problem&, const DeviceInfo&) { return persistent(c); });
    limits.add(
        Axis::unit_margin, "invalid.unit_margin", "no compute unit would be left", {Axis::grid, Axis::unit_margin},
        [](const Configuration& c, const Problem&, const DeviceInfo& d) { return !persistent(c) || c.unit_margin < d.compute_units; });
    const bool lists_per_row = limits.lists(Axis::grid, static_cast<int>(Grid::per_row));
    const bool lists_strided = limits.lists(Axis::grid, static_cast<int>(Grid::persistent_strided));
    limits.add(Axis::grid, "redundant.grid",
               "packed with one row is per_row; contiguous with one group of rows a program is strided, as is balanced where "
               "no program is spare",
               {Axis::grid, Axis::rows_per_program, Axis::programs_per_sm, Axis::unit_margin, Axis::cluster},
               [=](const Configuration& c, const Problem& p, const DeviceInfo& d) {
                   if (c.grid == Grid::packed) {
                       return !lists_per_row || c.rows_per_program > 1;
                   }
                   if (c.grid == Grid::persistent_balanced) {
                       return !lists_strided || spare_programs(c, p, d) > 0;
                   }
                   return c.grid != Grid::persistent_contiguous || !lists_strided || programs(c, p, d) < row_groups(c, p);
               });
    limits.add_redundant(Axis::rows_binding, "per_row has no number of rows to bind", {Axis::grid},
                         [](const Configuration& c, const Problem&, const DeviceInfo&) { return c.grid != Grid::per_row; });
}

void add_row_limits(Limits& limits) {
    // A vector's elements count only where the backend has the choice of a vector's width.
    const bool vectors = !limits.inert(Axis::vector_bytes);
    limits.add(Axis::vector_bytes, "redundant.vector_bytes",
               "rows do not start at its multiples, so that accesses are as narrow as another value's", {Axis::vector_bytes},
               [listed = limits.listed(Axis::vector_bytes)](const Configuration& c, const Problem& p, const DeviceInfo&) {
                   const int access = access_bytes(c.vector_bytes, p);
                   const bool lists_access = std::find(listed.begin(), listed.end(), access) != listed.end();
                   return c.vector_bytes == access || (!lists_access && std::none_of(listed.begin(), listed.end(), [&](int other) {
                              return other < c.vector_bytes && access_bytes(other, p) == access;
                          }));
               });
    const bool one_block = limits.row_is_one_block();
    const bool lists_row = one_block && limits.lists(Axis::block_size, whole_row);
    std::vector<Axis> of_block{Axis::block_size};
    // Where no whole row is listed, a smaller block that stands for it must be one that the row's threads divide.
    const bool asks_for_threads = !one_block && !limits.lists(Axis::block_size, whole_row);
    if (asks_for_threads) {
        of_block.insert(of_block.end(), {Axis::threads_per_row, Axis::vector_bytes, Axis::cluster});
    }
    limits.add(Axis::block_size, "redundant.block_size", "a block of all columns or more is the whole row", std::move(of_block),
               [=, listed = limits.listed(Axis::block_size)](const Configuration& c, const Problem& p, const DeviceInfo&) {
                   if (c.block_size == whole_row || tiled(c, p)) {
                       return true;
                   }
                   return !lists_row && std::none_of(listed.begin(), listed.end(), [&](int smaller) {
                       const bool divided = !asks_for_threads || smaller % columns_at_once(c, p, vectors) == 0;
                       return smaller < c.block_size && smaller >= p.shape.cols && divided;
                   });
               });
    limits.add(Axis::block_size, "invalid.block_size", "a block must be a multiple of what the row's threads take at once",
               {Axis::block_size, Axis::threads_per_row, Axis::vector_bytes, Axis::cluster},
               [vectors, one_block](const Configuration& c, const Problem& p, const DeviceInfo&) {
                   return !in_blocks(c, p, one_block) || c.block_size % columns_at_once(c, p, vectors) == 0;
               });
    const bool shared_whole = limits.shared_whole_rows();
    limits.add(Axis::residency, "invalid.residency",
               shared_whole ? "registers and shared hold the whole row: only reload takes it in blocks"
                            : "registers hold the whole row: only shared and reload take it in blocks",
               {Axis::block_size, Axis::residency}, [shared_whole](const Configuration& c, const Problem& p, const DeviceInfo&) {
                   return c.residency == Residency::reload || (c.residency == Residency::shared && !shared_whole) || !tiled(c, p);
               });
    limits.add(Axis::residency, "invalid.shared_bytes", "the rows side by side are more than a program's shared memory",
               {Axis::num_warps, Axis::threads_per_row, Axis::residency, Axis::cluster},
               [](const Configuration& c, const Problem& p, const DeviceInfo& d) {
                   return c.residency != Residency::shared || d.shared_bytes_per_program <= 0 ||
                          p.shape.cols / c.cluster <= d.shared_bytes_per_program / bytes_of(p.operation.dtype) / rows_side_by_side(c, d);
               });
    limits.add(Axis::reduction, "invalid.reduction", "even has no mask: threads and blocks must divide the columns",
               {Axis::reduction, Axis::block_size, Axis::threads_per_row, Axis::vector_bytes, Axis::cluster},
               [vectors, one_block](const Configuration& c, const Problem& p, const DeviceInfo&) {
                   return c.reduction != Reduction::even || evenly(c, p, columns_at_once(c, p, vectors), one_block);
               });
}

void add_pipeline_limits(Limits& limits) {
    const std::vector<Axis> launch{Axis::num_warps,       Axis::threads_per_row, Axis::rows_per_program, Axis::grid,
                                   Axis::programs_per_sm, Axis::unit_margin,     Axis::cluster};
    // As if a group of threads held one row at a time: where tile_rows makes a program's rows one step, stages and hoisted are left to
    // rules.
    const auto has_next_row = [](const Configuration& c, const Problem& p, const DeviceInfo& d) {
        return programs(c, p, d) < row_groups(c, p) || c.rows_per_program > rows_side_by_side(c, d);
    };
    limits.add_redundant(Axis::stages, "a program has no next row to fetch ahead", launch, has_next_row);
    limits.add_redundant(Axis::gamma, "the op has no gamma", {},
                         [](const Configuration&, const Problem& p, const DeviceInfo&) { return p.operation.affine; });
    std::vector<Axis> with_gamma = launch;
    with_gamma.push_back(Axis::gamma);
    const bool lists_before = limits.lists(Axis::gamma, static_cast<int>(GammaPlacement::before));
    // `before` has no rows in blocks: there it stands for nothing, and hoisted is all that is left where `after` is not listed.
    const bool asks_for_blocks = !limits.shared_whole_rows() && !limits.lists(Axis::gamma, static_cast<int>(GammaPlacement::after));
    if (asks_for_blocks) {
        with_gamma.insert(with_gamma.end(), {Axis::residency, Axis::block_size});
    }
    limits.add(Axis::gamma, "redundant.gamma.hoisted", "hoisted is before where a program has no next row", std::move(with_gamma),
               [=](const Configuration& c, const Problem& p, const DeviceInfo& d) {
                   const bool only_hoisted = asks_for_blocks && c.residency == Residency::shared && tiled(c, p);
                   return c.gamma != GammaPlacement::hoisted || !lists_before || !p.operation.affine || only_hoisted ||
                          has_next_row(c, p, d);
               });
    const bool lists_auto = limits.lists(Axis::offset_bits, static_cast<int>(OffsetBits::auto_));
    limits.add(Axis::offset_bits, "invalid.offset_bits", "32-bit offsets do not reach the last element", {Axis::offset_bits},
               [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                   return c.offset_bits != OffsetBits::_32 || !needs_64_bit_offsets(p.shape.rows, p.shape.cols, p.shape.row_stride);
               });
    limits.add(Axis::offset_bits, "redundant.offset_bits", "auto comes to the same", {Axis::offset_bits},
               [lists_auto](const Configuration& c, const Problem& p, const DeviceInfo&) {
                   const bool wide = needs_64_bit_offsets(p.shape.rows, p.shape.cols, p.shape.row_stride);
                   return !lists_auto || c.offset_bits != (wide ? OffsetBits::_64 : OffsetBits::_32);
               });
}

void add_dgamma_limits(Limits& limits) {
    limits.add_redundant(Axis::dgamma, "the mode has no dgamma", {},
                         [](const Configuration&, const Problem& p, const DeviceInfo&) { return has_dgamma(p); });
    limits.add_redundant(
        Axis::reduce_parts, "dgamma is not summed by programs beside those of dx", {Axis::dgamma},
        [](const Configuration& c, const Problem& p, const DeviceInfo&) { return has_dgamma(p) && c.dgamma == DgammaMethod::beside; });
    limits.add_redundant(Axis::reduce_cluster, "no part of dgamma's rows has another one", {Axis::dgamma, Axis::reduce_parts},
                         [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                             return has_dgamma(p) && c.dgamma == DgammaMethod::beside && c.reduce_parts > 1;
                         });
    limits.add_redundant(Axis::deferred_steps, "no sums are published", {Axis::dgamma},
                         [](const Configuration& c, const Problem& p, const DeviceInfo&) { return has_dgamma(p) && publishes(c.dgamma); });
    limits.add(Axis::deferred_steps, "redundant.deferred_steps.rows", "no program has so many steps before its last",
               {Axis::num_warps, Axis::threads_per_row, Axis::rows_per_program, Axis::grid, Axis::programs_per_sm, Axis::unit_margin,
                Axis::tile_rows, Axis::deferred_steps, Axis::cluster},
               [](const Configuration& c, const Problem& p, const DeviceInfo& d) {
                   return c.deferred_steps == 0 || serial_passes(c, p, d) > c.deferred_steps;
               });
    limits.add_redundant(Axis::incoming_ds, "no whole row waits in shared memory with an incoming ds", {Axis::residency, Axis::block_size},
                         [](const Configuration& c, const Problem& p, const DeviceInfo&) { return stages_ds(c, p); });
    for (const Axis axis : {Axis::reduce_rows, Axis::reduce_cols}) {
        limits.add_redundant(
            axis, "no dgamma reduce kernel runs", {Axis::dgamma},
            [](const Configuration& c, const Problem& p, const DeviceInfo&) { return has_dgamma(p) && c.dgamma != DgammaMethod::atomic; });
    }
    // cooperative, too, sums with the program's own warps: the default space says which value stands for all, and records have that one.
    limits.add_redundant(Axis::reduce_warps, "no dgamma reduce kernel runs", {Axis::dgamma},
                         [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                             return has_dgamma(p) && c.dgamma != DgammaMethod::atomic && c.dgamma != DgammaMethod::beside;
                         });
}

}  // namespace

int canonical_value(const SearchSpace& space, Axis axis) {
    const int standard = axis_row(axis).standard;
    for (const AxisValues& values : space.axes) {
        if (values.axis == axis) {
            const bool listed = std::find(values.values.begin(), values.values.end(), standard) != values.values.end();
            return listed ? standard : values.values.front();
        }
    }
    return standard;
}

std::vector<InertAxis> inert_axes(Backend backend) {
    std::vector<InertAxis> axes;
    for (const AxisRow& row : axis_table) {
        for (const InertOn& on : row.inert_on) {
            if (on.backend == backend && !on.reason.empty()) {
                axes.push_back({row.axis, std::string(on.reason)});
            }
        }
    }
    return axes;
}

std::vector<BackendLimit> inert_limits(const SearchSpace& space, const BackendTraits& traits) {
    std::vector<BackendLimit> limits;
    for (const InertAxis& inert : traits.inert) {
        limits.push_back({fmt::format("{}.{}", backend_names.name(traits.backend), axis_names.name(inert.axis)),
                          inert.reason,
                          {inert.axis},
                          [axis = inert.axis, canonical = canonical_value(space, inert.axis)](
                              const Configuration& c, const Problem&, const DeviceInfo&) { return axis_value(c, axis) == canonical; }});
    }
    return limits;
}

std::vector<BackendLimit> common_limits(const SearchSpace& space, const BackendTraits& traits) {
    Limits limits(space, traits);
    add_program_limits(limits);
    add_grid_limits(limits);
    add_row_limits(limits);
    add_pipeline_limits(limits);
    add_dgamma_limits(limits);
    return limits.take();
}

bool divides_evenly(const Configuration& c, const Problem& problem, const BackendTraits& traits) {
    const bool vectors = !holds_inert(traits, Axis::vector_bytes);
    const std::int64_t at_once =
        columns_at_once(c, problem, vectors) * (vectors ? 1 : std::max(1, traits.lane_bytes / bytes_of(problem.operation.dtype)));
    return evenly(c, problem, at_once, traits.row_is_one_block);
}

std::int64_t units_in_use(const Configuration& c, const DeviceInfo& device) {
    return std::max(1, device.compute_units - c.unit_margin);
}

std::int64_t units_reached(const Configuration& c, std::int64_t units) {
    constexpr int beyond_clusters = 12;  // an H100 with 132 units has places for 30 clusters of 4, 15 of 8 and 7 of 16
    return c.cluster > 2 && units > 4 * beyond_clusters ? units - beyond_clusters : units;
}

std::int64_t most_persistent_programs(const Configuration& c, const DeviceInfo& device) {
    return c.programs_per_sm * std::max<std::int64_t>(1, units_reached(c, units_in_use(c, device)) / c.cluster);
}

std::int64_t persistent_programs(const Configuration& c, std::int64_t groups, const DeviceInfo& device) {
    const std::int64_t most = std::min(groups, most_persistent_programs(c, device));
    return c.grid == Grid::persistent_balanced ? balanced_programs(groups, most) : most;
}

std::int64_t spare_programs(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const std::int64_t groups = row_groups(c, problem);
    const std::int64_t most = std::min(groups, most_persistent_programs(c, device));
    return most - balanced_programs(groups, most);
}

bool has_dgamma(const Problem& problem) {
    return problem.operation.has(TensorRole::dgamma);
}

bool stages_ds(const Configuration& c, const Problem& problem) {
    return problem.operation.has_backward() && problem.operation.adds_residual() && c.residency == Residency::shared &&
           c.block_size == whole_row;
}

bool persistent(const Configuration& c) {
    return c.grid == Grid::persistent_strided || c.grid == Grid::persistent_contiguous || c.grid == Grid::persistent_balanced;
}

std::int64_t rows_side_by_side(const Configuration& c, const DeviceInfo& device) {
    return std::max<std::int64_t>(1, threads(c, device) / c.threads_per_row);
}

int access_bytes(int vector_bytes, const Problem& problem) {
    const int element = bytes_of(problem.operation.dtype);
    int bytes = std::max(vector_bytes, element);
    while (bytes > element && (problem.shape.cols % (bytes / element) != 0 || problem.shape.row_stride % (bytes / element) != 0)) {
        bytes /= 2;
    }
    return bytes;
}

bool publishes(DgammaMethod method) {
    return method == DgammaMethod::published || method == DgammaMethod::cooperative;
}

std::int64_t serial_passes(const Configuration& c, const Problem& problem, const DeviceInfo& device) {
    const std::int64_t step = rows_side_by_side(c, device) * c.tile_rows;
    const std::int64_t groups = row_groups(c, problem);
    const std::int64_t taken = ceil_div(groups, programs(c, problem, device));  // by the first program, which has the most
    const std::int64_t full = ceil_div(c.rows_per_program, step);
    if (c.grid == Grid::persistent_contiguous) {
        return ceil_div(std::min(taken * c.rows_per_program, problem.shape.rows), step);
    }
    const bool has_last = (taken - 1) * programs(c, problem, device) == groups - 1;
    const std::int64_t rest = problem.shape.rows - (groups - 1) * c.rows_per_program;
    return has_last ? (taken - 1) * full + ceil_div(rest, step) : taken * full;
}

}  // namespace normtune
