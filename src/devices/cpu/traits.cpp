#include "devices/cpu/traits.h"

#include <string_view>
#include <utility>

#include "space/common_limits.h"

namespace normtune::cpu {

namespace {

/// A row's thread is a lane of a register of fp32: 16-bit elements are two a lane.
constexpr int lane_bytes = 4;

bool is_one_of(int value, std::initializer_list<int> allowed) {
    for (const int candidate : allowed) {
        if (value == candidate) {
            return true;
        }
    }
    return false;
}

/// Accumulators of a tile, of one register's elements each: AVX-512 has 32 vector registers, the others 16, and
/// accumulators of 16-bit elements take two.
int most_accumulators(const DeviceInfo& device, Dtype dtype) {
    return device.warp_size >= 16 && !is_narrow(dtype) ? 8 : 4;
}

bool resident(const Configuration& c) {
    return c.residency == Residency::registers;
}

bool fills_vectors(const Configuration& c, const Problem& p) {
    return columns_at_once(c, p.operation.dtype) == p.shape.cols;
}

void add_tile_limits(std::vector<BackendLimit>& limits) {
    limits.push_back({"cpu.threads_per_row",
                      "a warp is one vector, and a row has 1, 2, 4 or 8 of them in flight (16 where registers hold a whole row)",
                      {Axis::threads_per_row, Axis::residency},
                      [](const Configuration& c, const Problem&, const DeviceInfo& d) {
                          const int vectors = tile_shape(c, d.warp_size).vectors;
                          return is_one_of(vectors, {1, 2, 4, 8}) || (vectors == 16 && resident(c));
                      }});
    limits.push_back({"cpu.num_warps",
                      "kernels are built for 1, 2 or 4 rows side by side: num_warps is that many times a row's vectors",
                      {Axis::num_warps, Axis::threads_per_row},
                      [](const Configuration& c, const Problem&, const DeviceInfo& d) {
                          return is_one_of(tile_shape(c, d.warp_size).rows, {1, 2, 4});
                      }});
    limits.push_back({"cpu.rows_per_program",
                      "a program has at least the rows that it handles side by side",
                      {Axis::num_warps, Axis::threads_per_row, Axis::rows_per_program},
                      [](const Configuration& c, const Problem&, const DeviceInfo& d) {
                          return c.rows_per_program >= tile_shape(c, d.warp_size).rows;
                      }});
    limits.push_back({"cpu.accumulators",
                      "num_warps is the number of accumulators: at most 8 in fp32 with AVX-512, else 4",
                      {Axis::num_warps, Axis::threads_per_row, Axis::residency},
                      [](const Configuration& c, const Problem& p, const DeviceInfo& d) {
                          const TileShape tile = tile_shape(c, d.warp_size);
                          return resident(c) || tile.rows * tile.vectors <= most_accumulators(d, p.operation.dtype);
                      }});
}

void add_residency_limits(std::vector<BackendLimit>& limits) {
    limits.push_back({"cpu.registers",
                      "registers hold a whole row: its vectors cover all columns, and rows side by side times their vectors at most "
                      "twice "
                      "the accumulators (backward: the accumulators, as it holds x and dy), at most 2 rows of more than 4 vectors",
                      {Axis::num_warps, Axis::threads_per_row, Axis::residency},
                      [](const Configuration& c, const Problem& p, const DeviceInfo& d) {
                          if (!resident(c)) {
                              return true;
                          }
                          const TileShape tile = tile_shape(c, d.warp_size);
                          const int most = most_accumulators(d, p.operation.dtype) * (p.operation.has_backward() ? 1 : 2);
                          const bool built = tile.rows * tile.vectors <= 8 || tile.rows <= 2;
                          return columns_at_once(c, p.operation.dtype) >= p.shape.cols && tile.rows * tile.vectors <= most && built;
                      }});
    limits.push_back({"cpu.registers_reduction",
                      "a row in registers is one masked step, or even where its vectors are the whole row (guard: either)",
                      {Axis::residency, Axis::reduction, Axis::threads_per_row},
                      [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                          return !resident(c) || c.reduction == Reduction::masked || c.reduction == Reduction::guard ||
                                 (c.reduction == Reduction::even && fills_vectors(c, p));
                      }});
    limits.push_back({"cpu.whole_row",
                      "registers and shared hold the whole row: only reload takes it in blocks",
                      {Axis::block_size, Axis::residency},
                      [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                          return c.residency == Residency::reload || c.block_size == whole_row || c.block_size >= p.shape.cols;
                      }});
    limits.push_back({"cpu.block_size",
                      "a block must be a multiple of the columns that a row's vectors take at once",
                      {Axis::block_size, Axis::threads_per_row},
                      [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                          return c.block_size == whole_row || c.block_size >= p.shape.cols ||
                                 c.block_size % columns_at_once(c, p.operation.dtype) == 0;
                      }});
    limits.push_back({"cpu.even",
                      "even has no mask: a row's vectors in flight must divide the columns",
                      {Axis::reduction, Axis::threads_per_row},
                      [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                          return c.reduction != Reduction::even || p.shape.cols % columns_at_once(c, p.operation.dtype) == 0;
                      }});
    limits.push_back({"cpu.residual_fp32",
                      "the unrounded fp32 sum is kept between the passes only in registers or scratch (shared)",
                      {Axis::residency},
                      [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                          const Operation& op = p.operation;
                          const bool kept = op.has(TensorRole::s) && is_narrow(op.dtype) && op.residual == ResidualPrecision::fp32;
                          return !kept || c.residency != Residency::reload;
                      }});
}

void add_memory_limits(std::vector<BackendLimit>& limits) {
    limits.push_back(
        {"cpu.grid",
         "per_row has one row a program: more are packed",
         {Axis::grid, Axis::rows_per_program},
         [](const Configuration& c, const Problem&, const DeviceInfo&) { return c.grid != Grid::per_row || c.rows_per_program == 1; }});
    limits.push_back({"cpu.gamma",
                      "casting none rounds offset + gamma to a 16-bit type first: gamma must be hoisted or before",
                      {Axis::gamma},
                      [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                          const Operation& op = p.operation;
                          const bool rounded = op.affine && op.contract().forward.gain && (op.offset != 0 || op.weight_dtype != op.dtype);
                          return !rounded || c.gamma != GammaPlacement::after;
                      }});
    limits.push_back({"cpu.load_hint",
                      "cache_global and evict_last are of a GPU's caches: default or streaming (prefetchnta)",
                      {Axis::load_hint},
                      [](const Configuration& c, const Problem&, const DeviceInfo&) {
                          return c.load_hint == CacheHint::default_ || c.load_hint == CacheHint::streaming;
                      }});
    limits.push_back({"cpu.store_hint",
                      "default or streaming; non-temporal stores need x86-64 and rows of whole vectors (residency "
                      "registers: one unmasked step)",
                      {Axis::store_hint, Axis::threads_per_row, Axis::residency, Axis::reduction},
                      [](const Configuration& c, const Problem& p, const DeviceInfo& d) {
                          if (c.store_hint == CacheHint::default_) {
                              return true;
                          }
                          const int vector = d.warp_size * 4 / bytes_of(p.operation.dtype);
                          return c.store_hint == CacheHint::streaming && std::string_view(d.arch).starts_with("x86-64") &&
                                 p.shape.cols % vector == 0 && (!resident(c) || (c.reduction != Reduction::masked && fills_vectors(c, p)));
                      }});
    limits.push_back({"cpu.dgamma",
                      "no atomic addition of vectors, and one launch anyway: partials (an fp32 row a thread), or split",
                      {Axis::dgamma},
                      [](const Configuration& c, const Problem& p, const DeviceInfo&) {
                          return !has_dgamma(p) || c.dgamma == DgammaMethod::partials || c.dgamma == DgammaMethod::split;
                      }});
}

}  // namespace

TileShape tile_shape(const Configuration& c, int lanes) {
    const int threads = c.num_warps * lanes;
    return {c.threads_per_row > 0 && threads % c.threads_per_row == 0 ? threads / c.threads_per_row : 0,
            c.threads_per_row % lanes == 0 ? c.threads_per_row / lanes : 0};
}

int columns_at_once(const Configuration& c, Dtype dtype) {
    return c.threads_per_row * (lane_bytes / bytes_of(dtype));
}

BackendTraits cpu_traits() {
    BackendTraits traits{.backend = Backend::cpu, .inert = inert_axes(Backend::cpu), .limits = {}};
    traits.lane_bytes = lane_bytes;
    add_tile_limits(traits.limits);
    add_residency_limits(traits.limits);
    add_memory_limits(traits.limits);
    return traits;
}

}  // namespace normtune::cpu
