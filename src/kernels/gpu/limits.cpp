#include "kernels/gpu/limits.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <string_view>

#include "kernels/gpu/layout.h"
#include "space/common_limits.h"
#include "space/heuristics.h"

namespace normtune::gpu {
namespace {

constexpr std::int64_t largest_int = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t most_threads_of_hip =
    std::numeric_limits<std::uint32_t>::max();  // of a grid: HIP's documentation of hipModuleLaunchKernel
constexpr std::int64_t largest_cluster = 16;

bool is_amd(const DeviceInfo& device) {
    return device.arch.starts_with("gfx");
}

// 32-bit registers of a thread, where so many programs share those of a compute unit.
int registers_per_thread(const Configuration& c, int programs, const DeviceInfo& device) {
    const int file = is_amd(device) ? 131072 : 65536;
    return std::min(255, file / (c.num_warps * device.warp_size * programs) / 8 * 8);
}

// Forwards that are compiled for as many programs as the threads allow: those that read their row a second time, from the caches, as
// nothing is held between the passes, and many programs hide the wait for them; and packed ones of 64 threads, where a row is one access
// of a thread, so that narrow rows of some MiB are all on the way at once. On NVIDIA's devices, where it was measured
// (results/h200/kernels.md, results/notes_gpu_kernels.md).
bool fills_the_device(const Configuration& c, const Problem& p, const DeviceInfo& device) {
    if (persistent(c) || p.operation.has_backward() || is_amd(device)) {
        return false;
    }
    const bool sum_is_fp32 = p.operation.adds_residual() && p.operation.residual == ResidualPrecision::fp32;  // would spill
    const bool narrow = c.grid == Grid::packed && c.num_warps == 2 && row_layout(c, p, device).accesses == 1 && !sum_is_fp32;
    return c.residency == Residency::reload || (narrow && c.residency == Residency::registers);
}

// What the compiler needs beside the data: addresses, loop state, the numbers of one vector unpacked; backward, which
// combines two rows in registers, half as much again as it holds (by what NVRTC 13.0 spilled for sm_80 and sm_90).
int working_registers(const Configuration& c, int held, const Problem& p, const DeviceInfo& device) {
    if (fills_the_device(c, p, device)) {
        return c.residency == Residency::reload ? 16 : 20;
    }
    return 26 + (p.operation.has_backward() && c.residency == Residency::registers ? held / 2 : 0);
}

/// Columns and elements from row to row are `int`s in the source, and so are sums of two of them.
constexpr const char* columns_reason = "columns are counted in 32 bits";
bool counts_columns(const Problem& p) {
    return p.shape.cols <= largest_int / 2 && p.shape.row_stride <= largest_int / 2;
}

/// A walk's steps and groups of rows are `int`s in the source (nt_walk), together with those that it asks for ahead, beyond its last: rstd
/// of as many steps as a warp has lanes, and of as many after those (nt_scales).
bool counts_rows(const Configuration& c, const Problem& p, const DeviceInfo& d) {
    const std::int64_t ahead = 2 * d.warp_size;
    const GridShape grid = grid_shape(c, p, d);
    if (c.grid != Grid::persistent_strided && c.grid != Grid::persistent_balanced) {
        return grid.rows_per_program + ahead <= largest_int;
    }
    const std::int64_t groups = (p.shape.rows + c.rows_per_program - 1) / c.rows_per_program;
    const std::int64_t of_a_program = (groups + grid.programs - 1) / grid.programs * c.rows_per_program;
    return groups + ahead * grid.programs <= largest_int && of_a_program + ahead <= largest_int;
}

/// Sizes without which the layout has no meaning. Planning has them among the limits that hold on every backend.
std::string basic_objection(const Configuration& c, const Problem& p, const DeviceInfo& d) {
    const int threads = c.num_warps * d.warp_size;
    if (threads > d.max_threads_per_program) {
        return "more threads than the device lets a program have";
    }
    if (threads % c.threads_per_row != 0 || !std::has_single_bit(static_cast<unsigned>(c.threads_per_row))) {
        return "a row's threads must be a power of two and divide the program's";
    }
    if (!counts_columns(p)) {
        return columns_reason;
    }
    const std::int64_t sweep = row_layout(c, p, d).sweep_cols;
    if (c.block_size != whole_row && c.block_size % sweep != 0) {
        return "a block must be a multiple of what the row's threads take at once";
    }
    const std::int64_t block = c.block_size == whole_row ? sweep : c.block_size;
    if (c.reduction == Reduction::even && p.shape.cols % block != 0) {
        return "even has no mask: threads and blocks must divide the columns";
    }
    if (c.grid == Grid::per_row && c.rows_per_program != 1) {
        return "per_row has one row a program";
    }
    if (c.offset_bits == OffsetBits::_32 && needs_64_bit_offsets(p.shape.rows, p.shape.cols, p.shape.row_stride)) {
        return "32-bit offsets do not reach the last element";
    }
    return {};
}

}  // namespace

bool has_l2_policies(const DeviceInfo& device) {
    return device.backend == Backend::cuda && device.has_async_copy;
}

bool has_sm_90(const DeviceInfo& device) {
    constexpr std::string_view prefix = "sm_";
    int number = 0;
    if (device.arch.starts_with(prefix)) {
        std::from_chars(device.arch.data() + prefix.size(), device.arch.data() + device.arch.size(), number);
    }
    return number >= 90;
}

std::vector<BackendLimit> gpu_limits() {
    using C = const Configuration&;
    using P = const Problem&;
    using D = const DeviceInfo&;
    std::vector<BackendLimit> out;
    const auto add = [&out](std::string name, std::string reason, std::vector<Axis> axes, auto admits,
                            std::vector<AlikeValues> alike = {}) {
        out.push_back({"gpu." + std::move(name), std::move(reason), std::move(axes), admits, std::move(alike)});
    };
    /// Methods that are in none of the lists are alike, as are those of one list.
    const auto methods = [](std::vector<std::vector<DgammaMethod>> lists) {
        return AlikeValues{Axis::dgamma, [lists = std::move(lists)](int value) {
                               int kind = 0;
                               for (std::size_t i = 0; i < lists.size(); ++i) {
                                   kind =
                                       std::ranges::count(lists[i], static_cast<DgammaMethod>(value)) > 0 ? static_cast<int>(i) + 1 : kind;
                               }
                               return kind;
                           }};
    };
    using Method = DgammaMethod;
    const AlikeValues grids{Axis::grid, [](int value) {
                                Configuration c;
                                c.grid = static_cast<Grid>(value);
                                return persistent(c) ? 2 : c.grid == Grid::packed ? 1 : 0;
                            }};
    // Of those whose rows do not wait in shared memory, and of those that keep gamma there, or anywhere.
    const AlikeValues residencies{Axis::residency, [](int value) { return static_cast<Residency>(value) == Residency::shared ? 1 : 0; }};
    const AlikeValues hoisted{Axis::gamma, [](int value) { return static_cast<GammaPlacement>(value) == GammaPlacement::hoisted ? 1 : 0; }};
    const AlikeValues kept{Axis::gamma, [](int value) { return static_cast<GammaPlacement>(value) == GammaPlacement::after ? 0 : 1; }};
    const std::vector<Axis> launch{Axis::num_warps,       Axis::threads_per_row, Axis::rows_per_program, Axis::grid,
                                   Axis::programs_per_sm, Axis::tile_rows,       Axis::unit_margin,      Axis::cluster};
    const std::vector<Axis> row{Axis::num_warps,    Axis::threads_per_row, Axis::block_size,
                                Axis::vector_bytes, Axis::tile_rows,       Axis::cluster};
    const auto joined = [](std::vector<Axis> a, const std::vector<Axis>& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
    };

    const auto fits_workspace = [](C c, P p, D d) {
        return partial_rows(c, p, d) * p.shape.cols * 4 <= std::max<std::int64_t>(tensor_bytes(p), std::int64_t{16} << 20);
    };

    add("columns", columns_reason, {}, [](C, P p, D) { return counts_columns(p); });
    add("tile_rows", "a program's rows must be a multiple of those it takes at once: side by side, times tile_rows", launch,
        [](C c, P, D d) { return c.rows_per_program % (rows_side_by_side(c, d) * c.tile_rows) == 0; });
    add("programs", "more programs than a grid has, or on HIP more threads",
        joined(launch, {Axis::dgamma, Axis::reduce_cols, Axis::reduce_parts}),
        [](C c, P p, D d) {
            const GridShape grid = grid_shape(c, p, d);
            const std::int64_t beside = programs_beside(c, p);
            const std::int64_t rounded_up = beside > 0 ? largest_cluster : 0;  // to whole clusters
            const std::int64_t programs = grid.programs * c.cluster + beside + rounded_up;
            const bool too_many_threads = d.backend == Backend::hip && programs * c.num_warps * d.warp_size > most_threads_of_hip;
            return programs <= largest_int && !too_many_threads;
        },
        {methods({{Method::beside}})});
    add("rows", "a program's rows and a strided grid's groups of rows are counted in 32 bits", launch,
        [](C c, P p, D d) { return counts_rows(c, p, d); });
    add("programs_per_sm", "more threads than a compute unit holds at once", {Axis::num_warps, Axis::grid, Axis::programs_per_sm},
        [](C c, P, D d) { return !persistent(c) || c.programs_per_sm <= resident_programs(c, d); });
    add("residency", "registers hold one block, and the row has several", {Axis::residency, Axis::block_size},
        [](C c, P p, D) { return c.residency != Residency::registers || c.block_size == whole_row || c.block_size >= p.shape.cols; });
    add("gamma", "gamma of a row in several blocks is read block by block, or lies in shared memory for the whole program",
        {Axis::gamma, Axis::residency, Axis::block_size}, [](C c, P p, D) {
            const bool in_shared = c.gamma == GammaPlacement::hoisted && c.residency == Residency::shared;
            return !p.operation.affine || c.gamma == GammaPlacement::after || in_shared || c.block_size == whole_row ||
                   c.block_size >= p.shape.cols;
        });
    add("stages.reload", "reload keeps no row, so there is none to fetch ahead", {Axis::stages, Axis::residency},
        [](C c, P, D) { return c.stages == 1 || c.residency != Residency::reload; });
    add("stages.rows", "a program has no next row to fetch ahead", joined(launch, {Axis::stages}), [](C c, P, D d) {
        return c.stages == 1 || persistent(c) || (c.grid == Grid::packed && c.rows_per_program > rows_side_by_side(c, d) * c.tile_rows);
    });
    add("stages.async", "rows in shared memory are fetched ahead by asynchronous copies, which the device does not have",
        {Axis::stages, Axis::residency}, [](C c, P, D d) { return c.stages == 1 || c.residency != Residency::shared || d.has_async_copy; });
    add("accesses", "more than 32 accesses of a thread are written out for one block", row,
        [](C c, P p, D d) { return row_layout(c, p, d).accesses * c.tile_rows <= 32; });
    add("reduce_tile", "the reduce tile must give each of its threads work, and no more than 32 numbers at once",
        {Axis::dgamma, Axis::reduce_rows, Axis::reduce_cols, Axis::reduce_warps, Axis::num_warps, Axis::vector_bytes}, [](C c, P p, D d) {
            if (!has_dgamma(p) || c.dgamma == DgammaMethod::atomic) {
                return true;
            }
            const int threads =
                (c.dgamma == DgammaMethod::cooperative || c.dgamma == DgammaMethod::beside ? c.num_warps : c.reduce_warps) * d.warp_size;
            const auto numbers = [&](int width) { return c.reduce_rows * (c.reduce_cols / width) / threads * width; };
            const int vector = std::min(c.reduce_cols, row_layout(c, p, d).vector_elements);
            const int width = c.reduce_cols % 4 == 0 && p.shape.cols % 4 == 0 ? 4 : 1;
            const bool beside = c.dgamma == DgammaMethod::beside;  // reads x and dy themselves, as vectors
            return threads <= d.max_threads_per_program && c.reduce_cols / width <= threads && numbers(width) > 0 &&
                   (beside ? numbers(vector) * bytes_of(p.operation.dtype) <= 128 : numbers(width) <= 32) &&
                   ((c.dgamma != DgammaMethod::split && !beside) || c.reduce_cols / vector <= threads);
        });
    add("beside.in_place", "programs beside those of dx read the dy that these would write over", {Axis::dgamma},
        [](C c, P p, D) { return !has_dgamma(p) || c.dgamma != DgammaMethod::beside || !p.operation.in_place; });
    add("beside.parts", "a part of dgamma's rows would have none", {Axis::dgamma, Axis::reduce_parts},
        [](C c, P p, D) { return !has_dgamma(p) || c.dgamma != DgammaMethod::beside || c.reduce_parts <= p.shape.rows; },
        {methods({{Method::beside}})});
    add("beside.cluster", "a cluster's programs are some of the parts of dgamma's rows, on sm_90 or newer, and none has a part of dx's row",
        {Axis::dgamma, Axis::reduce_parts, Axis::reduce_cluster, Axis::cluster},
        [](C c, P p, D d) {
            return !has_dgamma(p) || c.dgamma != DgammaMethod::beside || c.reduce_cluster == 1 ||
                   (c.reduce_parts % c.reduce_cluster == 0 && c.cluster == 1 && has_sm_90(d));
        },
        {methods({{Method::beside}})});
    add("reload.in_place", "reload reads the unrounded sum's residual twice, and in place s has taken its memory", {Axis::residency},
        [](C c, P p, D) {
            const Operation& op = p.operation;
            const bool overwritten = op.holder_of(TensorRole::s) == TensorRole::residual && op.residual == ResidualPrecision::fp32;
            return c.residency != Residency::reload || !overwritten;
        });
    add("cooperative", "a cooperative launch needs all its programs resident at once", joined(launch, {Axis::dgamma}),
        [](C c, P p, D d) {
            return !has_dgamma(p) || c.dgamma != DgammaMethod::cooperative ||
                   grid_shape(c, p, d).programs <=
                       std::max<std::int64_t>(1, units_reached(c, d.compute_units) / c.cluster) * resident_programs(c, d);
        },
        {methods({{Method::cooperative}})});
    add("cluster", "clusters of programs take sm_90 or newer", {Axis::cluster}, [](C c, P, D d) { return c.cluster == 1 || has_sm_90(d); });
    add("cluster.rows", "a row over a cluster takes whole warps of its programs", {Axis::threads_per_row, Axis::cluster},
        [](C c, P, D d) { return c.cluster == 1 || c.threads_per_row % d.warp_size == 0; });
    add("cluster.columns", "a program of the cluster would have no column", joined(row, {Axis::stages, Axis::residency, Axis::staging}),
        [](C c, P p, D d) { return c.cluster == 1 || p.shape.cols > (c.cluster - 1) * program_cols(c, p, d); });
    add("cluster.dgamma", "of clusters dgamma is summed by any way but atomic", {Axis::dgamma, Axis::cluster},
        [](C c, P p, D) { return c.cluster == 1 || !has_dgamma(p) || c.dgamma != DgammaMethod::atomic; });
    add("dependent_launch", "a launch that begins before the one ahead has ended takes sm_90 or newer", {Axis::dependent_launch},
        [](C c, P, D d) { return c.dependent_launch == DependentLaunch::off || has_sm_90(d); });
    add("dependent_launch.cooperative", "a cooperative launch begins once all its programs fit at the same time",
        {Axis::dependent_launch, Axis::dgamma},
        [](C c, P p, D) { return c.dependent_launch == DependentLaunch::off || !has_dgamma(p) || c.dgamma != DgammaMethod::cooperative; });
    add("published.launch", "published sums are taken by a launch that begins early, which takes sm_90 or newer", {Axis::dgamma},
        [](C c, P p, D d) { return !has_dgamma(p) || c.dgamma != DgammaMethod::published || has_sm_90(d); });
    add("published.blocks", "a row in several blocks has its sums in memory, where they are not published at once",
        joined(row, {Axis::dgamma}),
        [](C c, P p, D d) { return !has_dgamma(p) || c.dgamma != DgammaMethod::published || !sums_in_memory(c, p, d); });
    add("deferred.sums", "dx waits for sums in registers that are published, by published or cooperative",
        joined(row, {Axis::dgamma, Axis::deferred_steps}),
        [](C c, P p, D d) { return c.deferred_steps == 0 || !has_dgamma(p) || (publishes(c.dgamma) && !sums_in_memory(c, p, d)); });
    add("staging", "bulk copies take sm_90 or newer", {Axis::staging},
        [](C c, P, D d) { return c.staging == Staging::async || has_sm_90(d); });
    add("staging.stages", "no row is fetched ahead", {Axis::staging, Axis::stages, Axis::residency},
        [](C c, P, D) { return c.staging == Staging::async || (c.stages > 1 && c.residency != Residency::reload); });
    add("staging.bytes", "bulk copies are multiples of 16 bytes, at multiples of 16", {Axis::staging, Axis::vector_bytes},
        [](C c, P p, D) { return c.staging == Staging::async || access_bytes(c.vector_bytes, p) == 16; });
    add("staging.rows", "rows side by side come by one bulk copy: each is one access of its threads, and they follow each other in memory",
        joined(row, {Axis::staging}),
        [](C c, P p, D d) { return c.staging == Staging::async || rows_side_by_side(c, d) == 1 || rows_follow(c, p, d); });
    add("staging.results", "results leave by bulk copies from where the row lay in shared memory, and all of them do",
        {Axis::staging, Axis::residency, Axis::dgamma, Axis::deferred_steps},
        [](C c, P p, D) {
            return c.staging != Staging::tma ||
                   (c.residency == Residency::shared && (c.deferred_steps == 0 || !has_dgamma(p) || !publishes(c.dgamma)));
        },
        {methods({{Method::cooperative, Method::published}})});
    add("cache_global", "AMD's compilers have no such hint", {Axis::load_hint, Axis::store_hint}, [](C c, P, D d) {
        return d.backend != Backend::hip || (c.load_hint != CacheHint::cache_global && c.store_hint != CacheHint::cache_global);
    });
    add("evict_last", "accesses choose how long the L2 keeps their lines from sm_80 on", {Axis::load_hint, Axis::store_hint},
        [](C c, P, D d) { return has_l2_policies(d) || (c.load_hint != CacheHint::evict_last && c.store_hint != CacheHint::evict_last); });
    // Those that read most axes, where the others have left least to ask about.
    add("workspace", "partial rows of dgamma would take more memory than the op's tensors",
        joined(launch, {Axis::dgamma, Axis::block_size}),
        [fits_workspace](C c, P p, D d) {
            return c.dgamma == DgammaMethod::split || c.dgamma == DgammaMethod::beside || fits_workspace(c, p, d);
        },
        {methods({{Method::split}, {Method::beside}, {Method::atomic}, {Method::cooperative, Method::published}})});
    add("workspace.split", "partial rows of dgamma would take more memory than the op's tensors",
        {Axis::dgamma, Axis::reduce_rows, Axis::reduce_cols, Axis::reduce_warps},
        [fits_workspace](C c, P p, D d) { return c.dgamma != DgammaMethod::split || fits_workspace(c, p, d); },
        {methods({{Method::split}})});
    add("workspace.beside", "partial rows of dgamma would take more memory than the op's tensors",
        {Axis::dgamma, Axis::reduce_parts, Axis::reduce_cluster},
        [fits_workspace](C c, P p, D d) { return c.dgamma != DgammaMethod::beside || fits_workspace(c, p, d); },
        {methods({{Method::beside}})});
    add("registers", "rows, gamma and sums do not fit the registers of the program's threads",
        joined(row, {Axis::residency, Axis::gamma, Axis::stages, Axis::dgamma, Axis::grid, Axis::programs_per_sm, Axis::incoming_ds}),
        [](C c, P p, D d) {
            const int held = held_registers(c, p, d);
            return held + working_registers(c, held, p, d) <= registers_per_thread(c, least_resident_programs(c, p, d), d);
        },
        {grids, methods({{Method::split, Method::beside}}), kept});
    add("shared_bytes", "rows in shared memory, with their prefetched ones, are more than a program's shared memory",
        joined(row, {Axis::residency, Axis::gamma, Axis::stages, Axis::dgamma, Axis::deferred_steps, Axis::staging, Axis::incoming_ds}),
        [](C c, P p, D d) {
            const bool forward = !p.operation.has_forward() || row_shared_bytes(c, p, d, false) <= d.shared_bytes_per_program;
            return forward && (!p.operation.has_backward() || row_shared_bytes(c, p, d, true) <= d.shared_bytes_per_program);
        },
        {methods({{Method::split, Method::beside}, {Method::atomic}, {Method::cooperative, Method::published}}), residencies, hoisted});
    add("shared_bytes.columns", "sums over columns are more than a program's shared memory",
        {Axis::num_warps, Axis::vector_bytes, Axis::residency, Axis::stages, Axis::dgamma, Axis::reduce_cols, Axis::reduce_parts,
         Axis::reduce_cluster, Axis::staging, Axis::cluster},
        [](C c, P p, D d) { return !p.operation.has_backward() || column_shared_bytes(c, p, d) <= d.shared_bytes_per_program; },
        {methods({{Method::beside}, {Method::cooperative}})});
    return out;
}

int held_registers(const Configuration& c, const Problem& p, const DeviceInfo& d) {
    const Operation& operation = p.operation;
    const RowLayout layout = row_layout(c, p, d);
    const int words = (layout.vector_bytes + 3) / 4;
    const int ahead = c.stages > 1 && !layout.async_copy ? c.stages - 1 : 0;
    const auto rows = [&](bool backward) { return operation.row_inputs(backward) * c.tile_rows * layout.accesses * words * (1 + ahead); };
    int gamma = 0;
    if (operation.affine && c.gamma != GammaPlacement::after && c.residency != Residency::shared) {
        gamma = layout.accesses * (layout.vector_elements * bytes_of(operation.weight_dtype) + 3) / 4;
    }
    const int sums = sums_dgamma(c, p) && layout.chunks == 1 ? layout.accesses * layout.vector_elements : 0;
    const int forward = operation.has_forward() ? rows(false) + gamma : 0;
    const int backward = operation.has_backward() ? rows(true) + gamma + sums : 0;
    // Rows in shared memory pass through registers a vector at a time.
    if (c.residency == Residency::shared) {
        const int ds = reads_ds_directly(c, p) ? c.tile_rows * layout.accesses * words : 0;
        return operation.has_backward() ? sums + ds : 0;
    }
    return std::max(forward, backward);
}

int least_resident_programs(const Configuration& c, const Problem& p, const DeviceInfo& device) {
    const int resident = resident_programs(c, device);
    if (!fills_the_device(c, p, device)) {
        return persistent(c) ? std::min(c.programs_per_sm, resident) : 1;
    }
    const int held = held_registers(c, p, device);
    int programs = resident;
    while (programs > 1 && registers_per_thread(c, programs, device) < held + working_registers(c, held, p, device)) {
        --programs;
    }
    return programs;
}

std::string objection(const Configuration& c, const Problem& p, const DeviceInfo& d) {
    static const std::vector<BackendLimit> limits = gpu_limits();
    std::string reason = basic_objection(c, p, d);
    for (auto limit = limits.begin(); reason.empty() && limit != limits.end(); ++limit) {
        if (!limit->admits(c, p, d)) {
            reason = limit->reason;
        }
    }
    return reason;
}

}  // namespace normtune::gpu
