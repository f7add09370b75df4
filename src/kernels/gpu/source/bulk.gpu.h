// Rows by bulk copies (staging: tma_loads, tma): one thread asks for all rows of a step, and the slot's barrier counts their
// bytes. A slot is asked for again once all threads have done with what lay in it, which the barrier of the next row sum tells,
// or one behind that sum.

/// Shared memory for the slots' barriers, and behind them those of a cluster.
NT_CONSTANT constexpr int nt_barrier_bytes() { return nt_align16((NT_BULK ? nt_slots : 0) * 8 + (NT_CLUSTER > 1 ? 16 * nt_groups : 0)); }
/// All of a kernel's shared memory: barriers lie behind everything else, where nothing takes their place.
NT_CONSTANT constexpr int nt_with_barriers(int bytes) { return NT_BULK || NT_CLUSTER > 1 ? nt_align16(bytes) + nt_barrier_bytes() : bytes; }

#if NT_BULK
/// Have all of the program's threads come to a barrier when they have a row's sum? Not where sums are sent over a cluster: who has one knows
/// that all warps have sent theirs, but nothing of what they have read before.
constexpr bool nt_sum_is_barrier = NT_CLUSTER == 1 && nt_row_warps > 1 && (nt_groups == 1 || nt_groups > NT_GROUP_BARRIERS);
// Rows side by side, or held at once, are one run of bytes where they fill their slot and follow each other in memory.
constexpr bool nt_rows_follow = NT_CLUSTER == 1 && nt_row_accesses == 1 && nt_cols == nt_sweep_cols;
static_assert(nt_groups == 1 || nt_rows_follow, "rows side by side come by one copy");

/// Bytes of one row that this program has.
NT_DEVICE int nt_run_bytes() {
    const int left = nt_cols - nt_program_column();
    return (NT_CLUSTER > 1 && left > nt_program_cols() ? nt_program_cols() : left) * nt_element::bytes;
}
/// Calls copy(piece of the slot, byte offset in the tensor, bytes) for each run of `rows` rows from `first` on.
template <int Stride, class Copy>
NT_DEVICE void nt_each_run(char* piece, nt_index first, int rows, const Copy& copy) {
    static_assert(nt_groups == 1 || Stride == nt_cols, "rows side by side follow each other in memory");
    const auto offset = [&](int row) {
        return (static_cast<long long>(first + row) * Stride + static_cast<long long>(nt_program_column())) * nt_element::bytes;
    };
    if constexpr (nt_rows_follow && (Stride == nt_cols || nt_step_rows == 1)) {
        copy(piece, offset(0), rows * nt_run_bytes());
    } else {
        NT_UNROLL
        for (int held = 0; held < nt_held_rows; ++held) {
            if (held < rows) {
                copy(piece + held * nt_row_accesses * (nt_threads * nt_piece), offset(held), nt_run_bytes());
            }
        }
    }
}

struct nt_bulk_slots {
    char* shared;
    unsigned long long* barriers;

    /// Rows of the step; 0 where a program has none left.
    NT_DEVICE static int rows_of(const nt_walk& walk, int step) {
        const nt_index left = walk.rows - walk.first_row(step);
        return left >= nt_step_rows ? nt_step_rows : left > 0 ? static_cast<int>(left) : 0;
    }
    NT_DEVICE void begin() const {
        if (nt_thread() == 0) {
            NT_UNROLL
            for (int slot = 0; slot < nt_slots; ++slot) {
                nt_bulk_begin(barriers + slot);
            }
            nt_bulk_fence();
        }
        nt_barrier();
    }
    /// By one thread.
    template <int Inputs, int FirstStride>
    NT_DEVICE void load(const void* const (&base)[Inputs], const nt_walk& walk, int step) const {
        const int rows = walk.has_step(step) ? rows_of(walk, step) : 0;
        if (rows == 0) {
            return;
        }
        const int slot = step % nt_slots;
        unsigned long long* const barrier = barriers + slot;
        nt_bulk_expect(barrier, Inputs * rows * nt_run_bytes());
        NT_UNROLL
        for (int input = 0; input < Inputs; ++input) {
            const auto copy = [&](char* piece, long long offset, int bytes) {
                nt_bulk_load(piece, static_cast<const char*>(base[input]) + offset, bytes, barrier);
            };
            char* const piece = nt_slot_row(shared, Inputs, slot, input, 0);
            if (input == 0) {
                nt_each_run<FirstStride>(piece, walk.first_row(step), rows, copy);
            } else {
                nt_each_run<nt_cols>(piece, walk.first_row(step), rows, copy);
            }
        }
    }
    NT_DEVICE void wait(int step) const { nt_bulk_wait(barriers + step % nt_slots, static_cast<unsigned>(step / nt_slots) & 1u); }
    /// By one thread: results that lie in place of the inputs; null: none there.
    template <int Inputs>
    NT_DEVICE void store(void* const (&results)[Inputs], const nt_walk& walk, int step) const {
        const int rows = rows_of(walk, step);
        NT_UNROLL
        for (int input = 0; input < Inputs; ++input) {
            if (results[input] != nullptr) {
                nt_each_run<nt_cols>(
                    nt_slot_row(shared, Inputs, step % nt_slots, input, 0), walk.first_row(step), rows,
                    [&](char* piece, long long offset, int bytes) { nt_bulk_store(static_cast<char*>(results[input]) + offset, piece, bytes); });
            }
        }
        nt_bulk_commit();
    }
};
#endif
