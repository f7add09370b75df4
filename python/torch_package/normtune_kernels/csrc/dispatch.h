// Which kernel of the package serves a call, and how it is launched. Plain C++17: no PyTorch, no CUDA headers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace normtune_torch {

enum class Op { rms_norm, fused_add_rms_norm };
enum class Mode { forward, backward };
enum class Dtype { fp32, bf16, fp16 };
enum class Casting { llama, gemma, none };
enum class Grid { per_row, packed, persistent_strided, persistent_contiguous, persistent_balanced };
enum class Dgamma { partials, atomic, split, cooperative, published, beside, none };

/// What the kernels of an entry compute; all of it is compiled into them.
struct Work {
    Op op = Op::rms_norm;
    Mode mode = Mode::forward;
    Dtype dtype = Dtype::bf16;
    Dtype weight_dtype = Dtype::bf16;
    Casting casting = Casting::llama;
    bool affine = true;
    int offset = 0;
    std::int64_t cols = 0;
    std::int64_t row_stride = 0;  // of x, in elements
    bool operator==(const Work& other) const;
};

struct WorkHash {
    std::size_t operator()(const Work& work) const;
};

/// A winner, and the rows that it serves.
struct Step {
    std::int64_t rows_to = 0;        // up to here it is the nearest winner
    std::int64_t most_rows = 0;      // its offsets reach so far
    std::int64_t most_programs = 0;  // a cooperative launch that was measured had so many; 0: it is none
    int code = 0;
    int threads = 0;
    int shared_bytes = 0;
    Grid grid = Grid::per_row;
    int rows_per_program = 1;
    int compiled_rows = 0;  // rows per program of a contiguous grid, where they are compiled in; else 0
    int programs_per_sm = 1;
    int unit_margin = 0;
    int cluster = 1;  // programs that a row is spread over
    Dgamma dgamma = Dgamma::none;
    int groups_in_memory = 0;  // partial rows of a program, where sums are kept in memory; else 0
    int reduce_rows = 1;
    int reduce_cols = 1;
    int reduce_warps = 1;
    int reduce_parts = 1;           // of the rows, each summed by programs beside
    int reduce_cluster = 1;         // of them, whose programs add up in shared memory
    bool dependent_launch = false;  // all launches may begin while the one ahead ends
    std::int64_t rows = 0;          // that it won on
    std::string key;                // the configuration
};

/// Of a device that kernels of another one may run on.
struct Limits {
    int shared_bytes = 0;         // of a program; 0: as where they were tuned
    bool is_other_minor = false;  // fewer threads may be resident, so that a cooperative launch may not fit
};

struct Device {
    std::string arch;  // "sm_90"
    int compute_units = 0;
    std::string name;
    std::unordered_map<Work, std::vector<Step>, WorkHash> entries;

    /// The step for so many rows on a device of `units` compute units; null: none was tuned, or none can take so many there.
    const Step* choose(const Work& work, std::int64_t rows, int units, const Limits& limits = {}) const;
};

struct Table {
    std::vector<std::string> codes;  // files, by Step::code
    std::vector<Device> devices;

    /// Of kernels.txt's text. Throws std::runtime_error: the line, and what is wrong.
    static Table read(std::string_view text);
    /// The device of this name, else one whose code runs on this architecture; null: none.
    const Device* find(const std::string& name, int major, int minor) const;
};

/// Of a call; what an operation does not have is null.
struct Tensors {
    const void* x = nullptr;  // of a fused backward: the sum s
    const void* residual = nullptr;
    const void* gamma = nullptr;
    const void* dy = nullptr;
    const void* ds = nullptr;
    void* y = nullptr;
    void* s = nullptr;
    float* rstd = nullptr;
    void* dx = nullptr;
    void* dgamma = nullptr;
    char* workspace = nullptr;
    std::int64_t rows = 0;
    float eps = 0;
};

enum class Kernel { nt_forward, nt_backward, nt_reduce, nt_dgamma };
constexpr std::array<const char*, 4> kernel_names{"nt_forward", "nt_backward", "nt_reduce", "nt_dgamma"};

union Argument {
    const void* pointer;
    std::int64_t int64;
    std::int32_t int32;
    float fp32;
};

struct Launch {
    Kernel kernel;
    unsigned grid_x;
    unsigned grid_y;
    unsigned cluster;  // of grid_x
    unsigned threads;
    unsigned shared_bytes;
    bool cooperative;
    bool overlaps;  // may begin while the launch before it ends
    int count;      // of arguments
    std::array<Argument, 12> arguments;
};

struct Plan {
    int count = 0;
    std::array<Launch, 3> launches;  // in stream order
};

/// Bytes beside the tensors, and whether they have to be 0 before the first launch; a launch leaves them ready for the next.
struct Workspace {
    std::int64_t bytes = 0;
    bool zeroed = false;
};
Workspace workspace(const Step& step, const Work& work, std::int64_t rows, int units);

Plan plan(const Step& step, const Work& work, const Tensors& tensors, int units);

}  // namespace normtune_torch
