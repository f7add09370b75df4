// Rows of the inputs, from memory to where the residency keeps them.

/// `Inputs` tensors that are read row by row. The first has rows `FirstStride` elements apart, the others are
/// contiguous. `Plain`: the input that the kernel itself also writes (dy in place), `Inputs` where it
/// writes all of them (inference in place), or -1.
template <int Inputs, int FirstStride, int Plain>
struct nt_rows {
    const void* base[Inputs];
    void* results[NT_BULK_RESULTS ? Inputs : 1];  // by bulk copies: what lies in an input's place in the end, or null

    NT_DEVICE const void* address(int input, nt_index row, int access) const {
        return static_cast<const char*>(base[input]) + nt_offset<nt_element>(row, input == 0 ? FirstStride : nt_cols, access);
    }

    /// One vector; zeros where it is not part of a row.
    template <nt_path Constant = nt_path_constant>
    NT_DEVICE void load(nt_data& v, int input, nt_index row, int access, bool inside) const {
        v.clear();
        if (input == Plain || Plain == Inputs) {
            nt_load_if<nt_path_plain>(v, address(input, row, access), inside);
        } else {
            nt_load_if<Constant>(v, address(input, row, access), inside);
        }
    }

    NT_DEVICE void fill_piece(char* shared, int slot, int input, int held, int access, nt_index row, bool has_row) const {
        const int at = nt_piece_at(Inputs, slot, input, held, access);
        const bool inside = has_row && nt_in_row(nt_column(access));
#if defined(NT_ASYNC_COPY)
        if constexpr (nt_piece >= 4) {
            if (NT_ASYNC_ZEROS || inside) {
                nt_copy_async<nt_piece>(shared, at, address(input, row, access), inside);
                return;
            }
        }
#endif
        nt_data v;
        load(v, input, row, access, inside);
        nt_store_shared(shared + at, v);
    }

#if NT_BULK
    /// A step's rows, by one thread.
    NT_DEVICE void load_bulk(const nt_bulk_slots& slots, const nt_walk& walk, int step) const { slots.template load<Inputs, FirstStride>(base, walk, step); }
#endif

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

/// Outputs are contiguous.
NT_DEVICE void* nt_output(void* base, nt_index row, int access) { return static_cast<char*>(base) + nt_offset<nt_element>(row, nt_cols, access); }

/// A step's rows as its passes see them: one block at a time, in `now`.
template <class Rows, int Inputs>
struct nt_stage {
    typedef nt_data block[Inputs][nt_held_rows][nt_accesses];
    static constexpr bool in_slots = nt_slots > 0;
    // Without asynchronous copies, rows ahead wait in registers.
    static constexpr bool ahead_in_registers = nt_ahead && !in_slots;
    static constexpr int depth = in_slots ? nt_slots : nt_ahead ? NT_STAGES - 1 : 1;

    const Rows& rows;
    const nt_walk& walk;
    char* shared;
    block now;
    block ahead[ahead_in_registers ? depth : 1];
#if NT_BULK
    nt_bulk_slots bulk;
    int stored = -1;  // the last step
#endif

    /// `bytes`: of shared memory, all in all.
    NT_DEVICE nt_stage(const Rows& rows_, const nt_walk& walk_, char* shared_, [[maybe_unused]] int bytes) : rows(rows_), walk(walk_), shared(shared_) {
#if NT_BULK
        bulk = {shared, reinterpret_cast<unsigned long long*>(shared + bytes - nt_barrier_bytes())};
#endif
    }

    template <nt_path Constant = nt_path_constant>
    NT_DEVICE void load_block(block& to, int step, int chunk, int inputs) const {
        NT_UNROLL
        for (int held = 0; held < nt_held_rows; ++held) {
            const nt_index row = walk.row(step, held);
            const bool has = walk.has_row(step, row);
            NT_UNROLL
            for (int input = 0; input < Inputs; ++input) {
                NT_UNROLL
                for (int access = 0; access < nt_accesses; ++access) {
                    const int at = chunk * nt_accesses + access;
                    if (input < inputs) {
                        rows.template load<Constant>(to[input][held][access], input, row, at, has && nt_in_row(nt_column(at)));
                    }
                }
            }
        }
    }

    /// Before the first step: requests the rows that the first steps find already on their way.
    NT_DEVICE void start() {
#if NT_BULK
        bulk.begin();
        clear_beyond_row();
        for (int step = 0; step < depth; ++step) {
            load_bulk(step);
        }
#else
        if constexpr (nt_ahead && in_slots) {
            NT_UNROLL
            for (int step = 0; step < depth; ++step) {
                if (walk.has_step(step)) {
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
#endif
    }

    NT_DEVICE int slot(int step) const { return depth > 1 ? step % depth : 0; }

    /// The step's rows are there when this returns (or, for `registers` without stages, on their way).
    NT_DEVICE void open(int step) {
#if NT_BULK
        bulk.wait(step);
        if constexpr (NT_IS(RESIDENCY, registers)) {
            read_slot(step, 0);
        }
#else
        if constexpr (in_slots) {
            if constexpr (!nt_ahead) {
                rows.fill(shared, 0, walk, step);
                nt_commit();
            }
            nt_wait<nt_ahead ? depth - 1 : 0>();
            if constexpr (NT_IS(RESIDENCY, registers)) {
                read_slot(step, 0);
                if (walk.has_step(step + depth)) {
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
#endif
    }

    /// All threads of the row have its sum: what lay in the slots that they are done with may make place.
    NT_DEVICE void after_sum([[maybe_unused]] int step) {
#if NT_BULK
        if constexpr (!nt_sum_is_barrier) {
            nt_barrier();
        }
        if constexpr (NT_IS(RESIDENCY, registers)) {
            load_bulk(step + depth);  // the row at hand is in registers now
        } else if constexpr (!NT_BULK_RESULTS) {
            if (step > 0) {
                load_bulk(step - 1 + depth);
            }
        } else {
            // The results of the step before leave; its slot, or that of the one before it, is free once they have been read.
            constexpr int behind = depth > 2 ? 2 : 1;
            if (nt_thread() == 0 && step > 0) {
                bulk.store(rows.results, walk, step - 1);
                nt_bulk_wait_read<behind - 1>();
            }
            if (step >= behind) {
                load_bulk(step - behind + depth);
            }
            stored = step;
        }
#endif
    }
    /// One vector of a result: to memory, or in an input's place in shared memory, from where the row leaves by a bulk copy.
    NT_DEVICE void put(void* base, int step, [[maybe_unused]] int in_place_of, nt_index row, int held, int access, const nt_data& v) const {
        if constexpr (NT_BULK_RESULTS) {
            nt_store_shared(piece(step, in_place_of, held, access), v);
        } else {
            nt_store(nt_output(base, row, access), v);
        }
    }
    /// After the last step.
    NT_DEVICE void finish() const {
#if NT_BULK_RESULTS
        nt_barrier();
        if (nt_thread() == 0 && stored >= 0) {
            bulk.store(rows.results, walk, stored);
            nt_bulk_wait_read<0>();
        }
#endif
    }

    /// Brings a block's first `inputs` tensors within reach of get(). `Again`: a second pass of `reload` reads them, too.
    template <bool Again>
    NT_DEVICE void first_pass(int step, int chunk, int inputs) {
        if constexpr (NT_IS(RESIDENCY, reload)) {
            load_block<Again ? nt_path_again : nt_path_constant>(now, step, chunk, inputs);
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
            read_piece(v, step, input, held, chunk * nt_accesses + access);
            return v;
        } else {
            return now[input][held][access];
        }
    }
    /// The second pass has read these pieces for the last time: they take the row that comes `depth` steps later.
    NT_DEVICE void release(int step, int chunk, int held, int access) const {
        if constexpr (NT_IS(RESIDENCY, shared) && nt_ahead && !NT_BULK) {
            const nt_index row = walk.row(step + depth, held);
            if (walk.has_step(step + depth)) {
                NT_UNROLL
                for (int input = 0; input < Inputs; ++input) {
                    rows.fill_piece(shared, slot(step), input, held, chunk * nt_accesses + access, row, row < walk.rows);
                }
            }
        }
    }
    /// `wrote`: something was put into the step's slot.
    NT_DEVICE void close([[maybe_unused]] bool wrote) {
#if NT_BULK
        if (wrote) {
            nt_bulk_fence();
        }
#else
        if constexpr (NT_IS(RESIDENCY, shared) && nt_ahead) {
            nt_commit();
        }
#endif
    }

    NT_DEVICE char* piece(int step, int input, int held, int access) const { return nt_piece_of(shared, Inputs, slot(step), input, held, access); }

private:
#if NT_BULK
    NT_DEVICE void load_bulk(int step) const {
        if (nt_thread() == 0) {
            rows.load_bulk(bulk, walk, step);
        }
    }
    /// Pieces beyond the row, which no copy writes.
    NT_DEVICE void clear_beyond_row() const {
        nt_data zeros;
        zeros.clear();
        NT_NO_UNROLL
        for (int access = 0; access < nt_row_accesses; ++access) {
            if (!nt_in_row(nt_column(access))) {
                for (int row = 0; row < depth * Inputs * nt_held_rows; ++row) {
                    nt_store_shared(nt_piece_of(shared, 1, 0, 0, row, access), zeros);
                }
            }
        }
    }
#endif
    NT_DEVICE void read_piece(nt_data& v, int step, int input, int held, int access) const {
        if (NT_BULK && !walk.has(walk.row(step, held))) {
            v.clear();  // nothing was copied there
        } else {
            nt_load_shared(v, piece(step, input, held, access));
        }
    }
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
                    read_piece(now[input][held][access], step, input, held, chunk * nt_accesses + access);
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

NT_DEVICE char* nt_dynamic_shared() {
#if defined(NT_EMULATED)
    return nt_emulated_shared();
#else
    extern NT_SHARED nt_words4 nt_dynamic[];
    return reinterpret_cast<char*>(nt_dynamic);
#endif
}
