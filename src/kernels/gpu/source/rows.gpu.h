// Rows of the inputs, from memory to where the residency keeps them.

/// `Inputs` tensors that are read row by row. The first has rows `FirstStride` elements apart, the others are
/// contiguous. `Plain`: the input that the kernel itself also writes (dy in place), `Inputs` where it
/// writes all of them (inference in place), or -1.
template <int Inputs, int FirstStride, int Plain>
struct nt_rows {
    const void* base[Inputs];

    NT_DEVICE const void* address(int input, nt_index row, int access) const {
        return static_cast<const char*>(base[input]) + nt_offset<nt_element>(row, input == 0 ? FirstStride : nt_cols, access);
    }

    /// One vector; zeros where it is not part of a row.
    NT_DEVICE void load(nt_data& v, int input, nt_index row, int access, bool inside) const {
        v.clear();
        if (inside) {
            if (input == Plain || Plain == Inputs) {
                nt_load<nt_path_plain>(v, address(input, row, access));
            } else {
                nt_load<nt_path_constant>(v, address(input, row, access));
            }
        }
    }

    NT_DEVICE void fill_piece(char* shared, int slot, int input, int held, int access, nt_index row, bool has_row) const {
        char* to = nt_piece_of(shared, Inputs, slot, input, held, access);
        const bool inside = has_row && nt_in_row(nt_column(access));
#if defined(NT_ASYNC_COPY)
        if constexpr (nt_piece >= 4) {
            if (inside) {
                nt_copy_async<nt_piece>(to, address(input, row, access));
                return;
            }
        }
#endif
        nt_data v;
        load(v, input, row, access, inside);
        nt_store_shared(to, v);
    }

    /// Requests all pieces of a step's rows.
    NT_DEVICE void fill(char* shared, int slot, const nt_walk& walk, int step) const {
        NT_UNROLL
        for (int held = 0; held < nt_held_rows; ++held) {
            const nt_index row = walk.row(step, held);
            NT_UNROLL
            for (int input = 0; input < Inputs; ++input) {
                NT_UNROLL
                for (int access = 0; access < nt_row_accesses; ++access) {
                    fill_piece(shared, slot, input, held, access, row, row < walk.rows);
                }
            }
        }
    }
};

NT_DEVICE void nt_commit() {
#if defined(NT_ASYNC_COPY)
    nt_commit_async();
#endif
}
template <int Pending>
NT_DEVICE void nt_wait() {
#if defined(NT_ASYNC_COPY)
    nt_wait_async<Pending>();
#endif
}

/// A step's rows as its passes see them: one block at a time, in `now`.
template <class Rows, int Inputs>
struct nt_stage {
    typedef nt_data block[Inputs][nt_held_rows][nt_accesses];
    static constexpr bool in_slots = nt_slots > 0;
    // Without asynchronous copies, rows ahead wait in registers.
    static constexpr bool ahead_in_registers = nt_ahead && !in_slots;
    static constexpr int depth = nt_ahead ? NT_STAGES - 1 : 1;

    const Rows& rows;
    const nt_walk& walk;
    char* shared;
    int steps;
    block now;
    block ahead[ahead_in_registers ? depth : 1];

    NT_DEVICE nt_stage(const Rows& rows_, const nt_walk& walk_, char* shared_, int steps_) : rows(rows_), walk(walk_), shared(shared_), steps(steps_) {}

    NT_DEVICE void load_block(block& to, int step, int chunk, int inputs) const {
        NT_UNROLL
        for (int held = 0; held < nt_held_rows; ++held) {
            const nt_index row = walk.row(step, held);
            const bool has = step < steps && (nt_step_rows == 1 ? walk.first_row(step) < walk.rows : row < walk.rows);
            NT_UNROLL
            for (int input = 0; input < Inputs; ++input) {
                NT_UNROLL
                for (int access = 0; access < nt_accesses; ++access) {
                    const int at = chunk * nt_accesses + access;
                    if (input < inputs) {
                        rows.load(to[input][held][access], input, row, at, has && nt_in_row(nt_column(at)));
                    }
                }
            }
        }
    }

    /// Before the first step: requests the rows that the first steps find already on their way.
    NT_DEVICE void start() {
        if constexpr (nt_ahead && in_slots) {
            NT_UNROLL
            for (int step = 0; step < depth; ++step) {
                if (step < steps) {
                    rows.fill(shared, step, walk, step);
                }
                nt_commit();
            }
        } else if constexpr (ahead_in_registers) {
            NT_UNROLL
            for (int step = 0; step < depth; ++step) {
                load_block(ahead[step], step, 0, Inputs);
            }
        }
    }

    NT_DEVICE int slot(int step) const { return depth > 1 ? step % depth : 0; }

    /// The step's rows are there when this returns (or, for `registers` without stages, on their way).
    NT_DEVICE void open(int step) {
        if constexpr (in_slots) {
            if constexpr (!nt_ahead) {
                rows.fill(shared, 0, walk, step);
                nt_commit();
            }
            nt_wait<nt_ahead ? depth - 1 : 0>();
            if constexpr (NT_IS(RESIDENCY, registers)) {
                read_slot(step, 0);
                if (step + depth < steps) {
                    rows.fill(shared, slot(step), walk, step + depth);
                }
                nt_commit();
            }
        } else if constexpr (ahead_in_registers) {
            copy(now, ahead[0]);
            NT_UNROLL
            for (int i = 0; i + 1 < depth; ++i) {
                copy(ahead[i], ahead[i + 1]);
            }
            load_block(ahead[depth - 1], step + depth, 0, Inputs);
        } else if constexpr (NT_IS(RESIDENCY, registers)) {
            load_block(now, step, 0, Inputs);
        }
    }

    /// Brings a block's first `inputs` tensors within reach of get().
    NT_DEVICE void first_pass(int step, int chunk, int inputs) {
        if constexpr (NT_IS(RESIDENCY, reload)) {
            load_block(now, step, chunk, inputs);
        }
    }
    NT_DEVICE void second_pass(int step, int chunk) {
        if constexpr (NT_IS(RESIDENCY, reload)) {
            load_block(now, step, chunk, Inputs);
        } else if constexpr (NT_IS(RESIDENCY, registers) && nt_element::bytes < 4) {
            forget_numbers();
        }
    }
    /// One vector of the block. Shared memory is read here, vector by vector: a whole block of a wide row would not
    /// fit the registers.
    NT_DEVICE nt_data get(int step, int chunk, int input, int held, int access) const {
        if constexpr (NT_IS(RESIDENCY, shared)) {
            nt_data v;
            nt_load_shared(v, piece(step, input, held, chunk * nt_accesses + access));
            return v;
        } else {
            return now[input][held][access];
        }
    }
    /// The second pass has read these pieces for the last time: they take the row that comes `depth` steps later.
    NT_DEVICE void release(int step, int chunk, int held, int access) const {
        if constexpr (NT_IS(RESIDENCY, shared) && nt_ahead) {
            const nt_index row = walk.row(step + depth, held);
            if (step + depth < steps) {
                NT_UNROLL
                for (int input = 0; input < Inputs; ++input) {
                    rows.fill_piece(shared, slot(step), input, held, chunk * nt_accesses + access, row, row < walk.rows);
                }
            }
        }
    }
    NT_DEVICE void close() {
        if constexpr (NT_IS(RESIDENCY, shared) && nt_ahead) {
            nt_commit();
        }
    }

    NT_DEVICE char* piece(int step, int input, int held, int access) const { return nt_piece_of(shared, Inputs, slot(step), input, held, access); }

private:
    NT_DEVICE static void copy(block& to, const block& from) {
        NT_UNROLL
        for (int input = 0; input < Inputs; ++input) {
            NT_UNROLL
            for (int held = 0; held < nt_held_rows; ++held) {
                NT_UNROLL
                for (int access = 0; access < nt_accesses; ++access) {
                    to[input][held][access] = from[input][held][access];
                }
            }
        }
    }
    NT_DEVICE void read_slot(int step, int chunk) {
        NT_UNROLL
        for (int input = 0; input < Inputs; ++input) {
            NT_UNROLL
            for (int held = 0; held < nt_held_rows; ++held) {
                NT_UNROLL
                for (int access = 0; access < nt_accesses; ++access) {
                    nt_load_shared(now[input][held][access], piece(step, input, held, chunk * nt_accesses + access));
                }
            }
        }
    }
    // Between the passes a 16-bit row stays packed: without this the compiler keeps its unpacked numbers instead, in
    // twice the registers.
    NT_DEVICE void forget_numbers() {
        NT_UNROLL
        for (int input = 0; input < Inputs; ++input) {
            NT_UNROLL
            for (int held = 0; held < nt_held_rows; ++held) {
                NT_UNROLL
                for (int access = 0; access < nt_accesses; ++access) {
                    NT_UNROLL
                    for (int i = 0; i < nt_data::words; ++i) {
                        nt_forget(now[input][held][access].word[i]);
                    }
                }
            }
        }
    }
};

/// Outputs are contiguous.
NT_DEVICE void* nt_output(void* base, nt_index row, int access) { return static_cast<char*>(base) + nt_offset<nt_element>(row, nt_cols, access); }

NT_DEVICE char* nt_dynamic_shared() {
#if defined(NT_EMULATED)
    return nt_emulated_shared();
#else
    extern NT_SHARED nt_words4 nt_dynamic[];
    return reinterpret_cast<char*>(nt_dynamic);
#endif
}
