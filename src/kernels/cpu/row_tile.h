// What the CPU kernels' row passes work on, and the table of passes that each instruction set offers.
// This header is included by sources that are compiled for different instruction sets: data and declarations only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "problem/operation.h"
#include "space/configuration.h"

namespace normtune::cpu {

inline constexpr int most_rows = 4;          // rows side by side in one tile
inline constexpr int most_vectors = 8;       // vectors in flight a row, and accumulators of a tile (rows · vectors)
inline constexpr int most_row_vectors = 16;  // vectors that hold a whole row (residency registers)
inline constexpr int row_padding = 256;      // floats after a scratch row that a masked step may read and write

/// What gamma points to: fp32 as the passes keep rows (offset added), x's 16-bit type, or the caller's fp32.
enum class GammaForm { prepared, narrow, wide };

enum class Prefetch { none, keep, streaming };  // prefetcht0, prefetchnta

/// R rows side by side (R is compiled into the pass). Pointers stand at the tile's first row; strides are in elements.
/// x has x_stride, every other tensor `cols`. Unused pointers are null.
struct RowTile {
    const void* x = nullptr;  // forward: input; backward: input, or the saved sum
    std::int64_t x_stride = 0;
    const void* residual = nullptr;  // not null: it is added to x
    void* s = nullptr;
    void* y = nullptr;
    const void* dy = nullptr;
    const void* ds = nullptr;
    void* dx = nullptr;
    std::int64_t cols = 0;

    const void* gamma = nullptr;
    GammaForm gamma_form = GammaForm::prepared;
    std::int64_t gamma_columns = -1;  // column & gamma_columns is gamma's index: 0 for weightless (a vector of ones)
    float offset = 0;                 // added to gamma unless it is prepared

    bool keep_fp32_sum = false;  // residual precision fp32: x + r is not rounded before it is squared
    bool stream_s = false;
    bool stream_rows = false;  // register-resident passes: non-temporal stores (the others have it compiled in)

    float* scratch_x = nullptr;  // not null: residency shared. Rows of fp32, scratch_stride apart
    float* scratch_m = nullptr;  // backward: dy·gamma
    std::int64_t scratch_stride = 0;
    float* dgamma = nullptr;  // fp32 row that is added to; null: none

    const float* rstd_in = nullptr;
    float* rstd_out = nullptr;  // null: it is not stored
    float eps = 0;
    float inverse_cols = 0;

    float scale[most_rows] = {};  // x·scale is the normalised row: rstd, rounded where the casting says so
    float rstd[most_rows] = {};
    float coefficient[most_rows] = {};  // rstd³/N · Σ m·x

    Prefetch prefetch = Prefetch::none;
    std::int64_t ahead = 0;  // rows from this tile to the one to prefetch; 0: within the row
};

/// Reads columns [begin, end) of the tile's rows and adds up: sums[r] is row r's. `begin` is a multiple of a step.
using SumPass = void (*)(const RowTile&, std::int64_t begin, std::int64_t end, float* sums);
/// Writes columns [begin, end) of the tile's rows.
using WritePass = void (*)(const RowTile&, std::int64_t begin, std::int64_t end);
/// Handles `rows` whole rows (a multiple of R), each held in registers from its load to its store.
using ResidentPass = void (*)(const RowTile&, std::int64_t rows);
/// dgamma[begin, end) += Σ over `rows` rows of dy·n; rstd_in stands at the first row.
using ColumnPass = void (*)(const RowTile&, std::int64_t rows, std::int64_t begin, std::int64_t end);
/// out[c] = offset + gamma[c] in fp32; `rounded`: Liger's T(T(offset) + T(gamma)).
using GammaPass = void (*)(const void* gamma, bool narrow, float offset, bool rounded, float* out, std::int64_t cols);
/// out[c] = Σ over `count` rows, `stride` floats apart, rounded to the pass's type, or kept in fp32 (not narrow), for c
/// in [begin, end).
using FoldPass = void (*)(const float* rows, std::int64_t stride, int count, void* out, bool narrow, std::int64_t begin, std::int64_t end);
/// Copies a multiple of 64 bytes between 64-byte aligned places.
using CopyPass = void (*)(void* to, const void* from, std::int64_t bytes);
/// Reads as many; what it returns depends on all of them.
using ReadPass = float (*)(const void* from, std::int64_t bytes);

/// How a pass is compiled. Fields that a pass does not depend on are ignored.
struct PassKey {
    Dtype dtype = Dtype::fp32;
    Casting casting = Casting::llama;
    Reduction reduction = Reduction::masked;
    bool stream = false;
    int vectors = 1;  // in flight a row: 1, 2, 4, 8 (residency registers: and 16)
    int rows = 1;     // side by side: 1, 2, 4
};

/// The passes of one instruction set. A selector returns null where the combination is not built.
struct PassSet {
    const char* name;                         // "baseline", "avx2", "avx512"
    int lanes;                                // fp32 lanes of a vector
    SumPass (*square_sum)(const PassKey&);    // Σ x²; stores s and scratch on the way
    WritePass (*scale_rows)(const PassKey&);  // y
    ResidentPass (*resident_forward)(const PassKey&);
    SumPass (*gradient_sum)(const PassKey&);     // Σ m·x; adds to dgamma on the way
    WritePass (*gradient_rows)(const PassKey&);  // dx
    ResidentPass (*resident_backward)(const PassKey&);
    ColumnPass (*column_gradient)(const PassKey&);
    GammaPass (*prepare_gamma)(const PassKey&);
    FoldPass (*fold)(const PassKey&);
    CopyPass copy;         // regular stores
    CopyPass copy_stream;  // non-temporal stores; finish with fence()
    ReadPass read;
    void (*fence)();
};

/// Write passes have no accumulators, so they are built for fewer shapes: the vectors that they take at a time.
constexpr int write_vectors(int vectors, int rows) {
    const int most = most_rows / rows;
    return vectors < most ? vectors : most;
}

}  // namespace normtune::cpu
