// The configuration as constants, and the layout that follows from it. The macros are written by macros.cpp, which
// also says what each of them means; layout.cpp computes the same byte counts for the launch.

typedef nt_dtype<NT_DTYPE>::type nt_element;
typedef nt_dtype<NT_WEIGHT_DTYPE>::type nt_weight;
#if NT_OFFSET_BITS == 64
typedef long long nt_index;
#else
typedef int nt_index;
#endif

NT_CONSTANT constexpr int nt_ceil_div(int a, int b) { return (a + b - 1) / b; }
NT_CONSTANT constexpr int nt_max(int a, int b) { return a > b ? a : b; }

constexpr int nt_cols = NT_COLS;
constexpr int nt_threads = NT_THREADS;
constexpr int nt_threads_per_row = NT_THREADS_PER_ROW;
constexpr int nt_groups = nt_threads / nt_threads_per_row;  // rows side by side
constexpr int nt_held_rows = NT_TILE_ROWS;                  // rows that a group holds at once
constexpr int nt_step_rows = nt_groups * nt_held_rows;      // rows that a program takes in one step
constexpr int nt_width = NT_VECTOR;                         // elements of one access
constexpr int nt_sweep_cols = NT_CLUSTER * nt_threads_per_row * nt_width;
constexpr int nt_accesses = NT_BLOCK > 0 ? NT_BLOCK / nt_sweep_cols : nt_ceil_div(nt_cols, nt_sweep_cols);  // a block
constexpr int nt_chunks = NT_BLOCK > 0 ? nt_ceil_div(nt_cols, NT_BLOCK) : 1;
constexpr int nt_row_accesses = nt_accesses * nt_chunks;
constexpr bool nt_affine = NT_AFFINE != 0;
constexpr bool nt_fused = NT_FUSED != 0;

// dgamma's sums of a program: in registers, or in memory where a row's blocks are more than registers hold. Of several
// programs they are partial sums, which some methods publish before the last rows' dx is written.
constexpr bool nt_sums_dgamma = NT_BACKWARD && nt_affine && !NT_IS(DGAMMA, split) && !NT_IS(DGAMMA, beside);
constexpr bool nt_sums_in_registers = nt_sums_dgamma && nt_chunks == 1;
[[maybe_unused]] constexpr bool nt_sums_in_memory = nt_sums_dgamma && nt_chunks > 1;
constexpr bool nt_publishes = nt_sums_in_registers && (NT_IS(DGAMMA, published) || NT_IS(DGAMMA, cooperative));
// Of a tile of dgamma's columns that programs beside sum: rows of sums that go through memory.
// (Functions, not constants: those would be named in everybody's machine code.)
NT_CONSTANT constexpr int nt_published_parts() { return NT_BACKWARD && nt_affine && NT_IS(DGAMMA, beside) ? NT_REDUCE_PARTS / NT_REDUCE_CLUSTER : 1; }
NT_CONSTANT constexpr bool nt_partials_are_published() { return nt_publishes || nt_published_parts() > 1; }
static_assert(NT_DEFERRED_STEPS == 0 || nt_publishes, "dx waits for sums that are published, and for no others");

typedef nt_vector<nt_element, nt_width> nt_data;
typedef nt_vector<nt_weight, nt_width> nt_gamma;

// Rows fetched ahead lie in slots of shared memory, filled by asynchronous copies where the device has them.
#if defined(NT_ASYNC_COPY)
constexpr bool nt_async = NT_STAGES > 1 || NT_IS(RESIDENCY, shared);
#else
constexpr bool nt_async = false;
#endif
constexpr bool nt_ahead = NT_STAGES > 1;
// By bulk copies, a row at hand in shared memory keeps its slot until all threads have done with it. (Macros and functions, not
// constants: those would be named in everybody's machine code.)
#define NT_BULK (!NT_IS(STAGING, async))
#define NT_BULK_RESULTS NT_IS(STAGING, tma)
constexpr int nt_slots = nt_async || NT_IS(RESIDENCY, shared) ? nt_max(1, NT_STAGES - (NT_IS(RESIDENCY, shared) && NT_BULK ? 0 : 1)) : 0;
static_assert(!NT_BULK || (nt_ahead && nt_slots > 0), "bulk copies fetch rows ahead");
static_assert(!NT_BULK_RESULTS || NT_IS(RESIDENCY, shared), "results leave from where the row lay");

/// When a program begins in its cluster: once its first rows have been asked for, which makes short launches faster; ahead of them in wide rows
/// over many programs each that have no other rows on their way, which are faster so (docs/gpu_kernels.md has the times).
enum nt_beginning { nt_ahead_of_rows, nt_behind_rows_ahead, nt_behind_first_rows };
NT_CONSTANT constexpr nt_beginning nt_beginning_in_cluster() {
    return nt_ahead ? nt_behind_rows_ahead : NT_CLUSTER >= 8 && nt_cols * nt_data::bytes / nt_width > 65536 ? nt_ahead_of_rows : nt_behind_first_rows;
}

// Columns from one access of a thread to its next, and from one program of a cluster to the next. With bulk copies a
// program's columns follow each other, so that they are one run of bytes.
NT_CONSTANT constexpr int nt_access_cols() { return NT_BULK ? nt_threads_per_row * nt_width : nt_sweep_cols; }
NT_CONSTANT constexpr int nt_program_cols() { return nt_threads_per_row * nt_width * (NT_BULK ? nt_row_accesses : 1); }

/// Dynamic shared memory, in bytes, in this order: scratch of the row sums (two, used in turn), gamma (hoisted into
/// shared memory where the row lies there), slots. The sums of dgamma use it again from the start or, published, follow.
constexpr int nt_row_warps = nt_ceil_div(nt_threads_per_row, NT_WARP_SIZE);
constexpr int nt_scratch_floats = NT_CLUSTER > 1 || nt_row_warps > 1 ? NT_CLUSTER* nt_groups* nt_row_warps* nt_held_rows : 0;
NT_CONSTANT constexpr int nt_align16(int bytes) { return (bytes + 15) / 16 * 16; }
constexpr int nt_gamma_at = nt_align16(2 * nt_scratch_floats * 4);
constexpr bool nt_gamma_in_shared = nt_affine && NT_IS(GAMMA, hoisted) && NT_IS(RESIDENCY, shared);
constexpr int nt_slots_at = nt_gamma_at + (nt_gamma_in_shared ? nt_row_accesses * nt_threads * nt_gamma::bytes : 0);
constexpr int nt_piece = nt_data::bytes;  // one thread's part of one access
NT_CONSTANT constexpr int nt_slot_bytes(int inputs) { return inputs * nt_held_rows * nt_row_accesses * nt_threads * nt_piece; }

NT_CONSTANT constexpr int nt_shared_bytes(int inputs) { return nt_slots_at + nt_slots * nt_slot_bytes(inputs); }

/// Where a row of the slot begins.
NT_DEVICE char* nt_slot_row(char* shared, int inputs, int slot, int input, int held) {
    const int row = (slot * inputs + input) * nt_held_rows + held;
    return shared + nt_slots_at + row * nt_row_accesses * (nt_threads * nt_piece);
}
/// Piece of the slot: every thread copies and reads its own pieces only, so no barrier is needed between the two.
NT_DEVICE int nt_piece_at(int inputs, int slot, int input, int held, int access) {
    const int row = (slot * inputs + input) * nt_held_rows + held;
    return nt_slots_at + (row * nt_row_accesses + access) * (nt_threads * nt_piece) + nt_thread() * nt_piece;
}
NT_DEVICE char* nt_piece_of(char* shared, int inputs, int slot, int input, int held, int access) {
    return shared + nt_piece_at(inputs, slot, input, held, access);
}
NT_DEVICE char* nt_gamma_piece(char* shared, int access) { return shared + nt_gamma_at + (access * nt_threads + nt_thread()) * nt_gamma::bytes; }

/// A thread's place in its row: group, and column of its `access`-th vector of the row. The compiler does not know how many threads
/// there are, and the first load waits for what it computes of them.
NT_DEVICE int nt_group() { return nt_groups == 1 ? 0 : nt_thread() / nt_threads_per_row; }
NT_DEVICE int nt_lane() { return nt_groups == 1 ? nt_thread() : nt_thread() % nt_threads_per_row; }
NT_DEVICE int nt_program_column() { return NT_CLUSTER > 1 ? nt_cluster_rank() * nt_program_cols() : 0; }
NT_DEVICE int nt_first_column() {  // of a thread
    if constexpr (NT_CLUSTER == 1) {
        return nt_lane() * nt_width;
    } else if constexpr (NT_BULK) {
        return nt_program_column() + nt_lane() * nt_width;
    } else {
        return (nt_cluster_rank() * nt_threads_per_row + nt_lane()) * nt_width;
    }
}
NT_DEVICE int nt_column(int access) { return access * nt_access_cols() + nt_first_column(); }
/// Is the vector at `column` part of the row? With `even` all are, and nothing is asked.
NT_DEVICE bool nt_in_row(int column) { return NT_IS(REDUCTION, even) || column < nt_cols; }

/// Byte offset of a thread's `access`-th vector in `row` of a tensor of E whose rows are `stride` elements apart. The
/// access's part is a constant of its own, so that one address serves all accesses of a row.
template <class E>
NT_DEVICE long long nt_offset(nt_index row, int stride, int access) {
    const nt_index first = row * static_cast<nt_index>(stride) + static_cast<nt_index>(nt_first_column());
    return static_cast<long long>(first) * E::bytes + static_cast<long long>(access) * (nt_access_cols() * E::bytes);
}

NT_DEVICE constexpr bool nt_strided() { return NT_IS(GRID, persistent_strided) || NT_IS(GRID, persistent_balanced); }
/// Programs read their first rows without having asked whether they have any: a grid that is not persistent has as many as there are rows for.
NT_DEVICE constexpr bool nt_begins_with_a_row() { return NT_IS(GRID, per_row) || NT_IS(GRID, packed); }
/// But for backwards' programs that only fill up the last cluster of sums beside: there each load and store asks, which waits for `rows` together
/// with the pointers, not ahead of them; and of the arguments those that come last are in the cache then, when dx is stored. Rows over clusters
/// have none of those programs.
NT_DEVICE constexpr bool nt_asks_of_each_row() { return nt_step_rows > 1 || (NT_BACKWARD && NT_CLUSTER == 1 && nt_begins_with_a_row()); }

/// The rows of a program (or of a cluster: `program` and `programs` then count those), in steps of nt_step_rows.
struct nt_walk {
    nt_index rows;
    int program;
    int programs;
    int rows_per_program;  // as an argument; NT_ROWS_PER_PROGRAM > 0 puts a constant in its place

    NT_DEVICE int per_program() const { return NT_ROWS_PER_PROGRAM > 0 ? NT_ROWS_PER_PROGRAM : rows_per_program; }
    NT_DEVICE int steps_per_tile() const { return per_program() / nt_step_rows; }
    NT_DEVICE nt_index first_row(int step) const {
        if constexpr (NT_IS(GRID, per_row)) {
            return static_cast<nt_index>(program);
        } else if constexpr (nt_strided()) {
            const int tile = program + step / steps_per_tile() * programs;
            return static_cast<nt_index>(tile) * per_program() + step % steps_per_tile() * nt_step_rows;
        } else {
            return static_cast<nt_index>(program) * per_program() + static_cast<nt_index>(step) * nt_step_rows;
        }
    }
    /// Has the step a row? Asked of each step: to count the steps of a strided grid takes a division, ahead of the first load.
    NT_DEVICE bool has_step(int step) const { return is_of_program(step) && ((nt_begins_with_a_row() && step == 0) || first_row(step) < rows); }
    /// `row`: one of the step's.
    NT_DEVICE bool has_row(int step, nt_index row_) const { return nt_asks_of_each_row() ? is_of_program(step) && row_ < rows : has_step(step); }
    /// The last step that has a row, at a division's price: for after the first loads.
    NT_DEVICE int last_step() const {
        int last = 0;
        if constexpr (nt_strided()) {
            const int tiles = static_cast<int>((rows + per_program() - 1) / per_program());
            last = ((tiles - program + programs - 1) / programs) * steps_per_tile() - 1;
        } else if constexpr (!NT_IS(GRID, per_row)) {
            last = steps_per_tile() - 1;
        }
        if constexpr (!NT_IS(GRID, per_row)) {
            while (first_row(last) >= rows) {
                --last;
            }
        }
        return last;
    }
    /// Row of this thread's group.
    NT_DEVICE nt_index row(int step, int held) const { return first_row(step) + static_cast<nt_index>(held * nt_groups + nt_group()); }
    NT_DEVICE bool has(nt_index row_) const { return !nt_asks_of_each_row() || row_ < rows; }

private:
    NT_DEVICE bool is_of_program(int step) const { return nt_strided() || step < (NT_IS(GRID, per_row) ? 1 : steps_per_tile()); }
};

/// With dependent_launch, at a kernel's begin: the next launch may be made ready, and nothing is read or written before all
/// launches ahead have ended. Gamma waits, too: what runs ahead may be what trains it.
NT_DEVICE void nt_follow_previous_launch() {
    if constexpr (NT_IS(DEPENDENT_LAUNCH, on)) {
        nt_release_next_launch();
        nt_await_previous_launch();
    }
}

/// Adds `Count` sums over the threads of a row; every one of them gets the totals. `cluster_barriers`: nt_cluster_barriers().
template <int Count>
NT_DEVICE void nt_row_sum(float (&sum)[Count], char* shared, [[maybe_unused]] unsigned long long* cluster_barriers, int step) {
    NT_UNROLL
    for (int mask = 1; mask < (nt_threads_per_row < NT_WARP_SIZE ? nt_threads_per_row : NT_WARP_SIZE); mask *= 2) {
        NT_UNROLL
        for (int i = 0; i < Count; ++i) {
            sum[i] += nt_shuffle_xor(sum[i], mask);
        }
    }
#if NT_CLUSTER > 1
    static_assert(nt_threads_per_row % NT_WARP_SIZE == 0, "a row over a cluster takes whole warps of its programs");
    nt_cluster_sum<Count, nt_row_warps, nt_groups>(sum, reinterpret_cast<float*>(shared), cluster_barriers, step, nt_group(), nt_lane());
#else
    if constexpr (nt_row_warps > 1) {
        // Two scratch areas in turn: a warp may write the next step's while another still reads this one's.
        float* scratch = reinterpret_cast<float*>(shared) + (step & 1) * nt_scratch_floats + nt_group() * nt_row_warps * Count;
        const int warp = nt_lane() / NT_WARP_SIZE;
        const int lane = nt_lane() % NT_WARP_SIZE;
        if (lane == 0) {
            NT_UNROLL
            for (int i = 0; i < Count; ++i) {
                scratch[i * nt_row_warps + warp] = sum[i];
            }
        }
        if constexpr (nt_groups > 1 && nt_groups <= NT_GROUP_BARRIERS) {
            nt_group_barrier(nt_group(), nt_threads_per_row);
        } else {
            nt_barrier();
        }
        NT_UNROLL
        for (int i = 0; i < Count; ++i) {
            if constexpr (nt_row_warps <= 8) {
                float total = scratch[i * nt_row_warps];
                NT_UNROLL
                for (int w = 1; w < nt_row_warps; ++w) {
                    total += scratch[i * nt_row_warps + w];
                }
                sum[i] = total;
            } else if constexpr (nt_row_warps == 16) {
                sum[i] = nt_sum_of_parts<nt_row_warps, 2>(scratch + i * nt_row_warps, lane);
            } else {
                float total = scratch[i * nt_row_warps + lane % nt_row_warps];
                NT_UNROLL
                for (int mask = 1; mask < nt_row_warps; mask *= 2) {
                    total += nt_shuffle_xor(total, mask);
                }
                sum[i] = total;
            }
        }
    }
#endif
}
