// Backward: dx (plus the incoming ds for the fused op, whose x is the saved sum s) and dgamma.

#if NT_BACKWARD
/// m = dy·g, as the casting rounds it.
NT_DEVICE float nt_scaled_gradient(float dy, float g) { return NT_IS(CASTING, none) ? nt_round<nt_element>(dy * g) : dy * g; }

/// rstd of the rows at hand, requested as far ahead as the rows themselves; 0 for rows that there are not. A request of each step is handed on from
/// register to register, which waits for it one step after it was made. Over larger clusters that came too soon: there each lane asks for another
/// step's, as many steps ahead. But for fused rows of 32,768 columns and more in registers, which are faster as they were (docs/gpu_kernels.md).
NT_CONSTANT constexpr bool nt_scales_of_many_steps() {
    return NT_CLUSTER > 2 && NT_STAGES > 2 && !(nt_fused && NT_IS(RESIDENCY, registers) && nt_cols >= 32768);
}
struct nt_scales {
    static constexpr int depth = nt_scales_of_many_steps() ? 2 : nt_ahead ? NT_STAGES - 1 : 1;
    const float* rstd;
    const nt_walk& walk;
    float now[nt_held_rows];
    float ahead[depth][nt_held_rows];

    NT_DEVICE nt_scales(const float* rstd_, const nt_walk& walk_) : rstd(rstd_), walk(walk_) {
        if constexpr (nt_ahead) {
            NT_UNROLL
            for (int i = 0; i < depth; ++i) {
                load(ahead[i], nt_scales_of_many_steps() ? i * NT_WARP_SIZE + lane() : i);
            }
        }
    }
    NT_DEVICE void open(int step) {
        if constexpr (nt_scales_of_many_steps()) {
            const int at = step % NT_WARP_SIZE;
            if (at == 0 && step > 0) {
                hand_on(ahead[0]);
                load(ahead[depth - 1], step + NT_WARP_SIZE + lane());
            }
            NT_UNROLL
            for (int held = 0; held < nt_held_rows; ++held) {
                now[held] = nt_shuffle_from<NT_WARP_SIZE>(ahead[0][held], at);
            }
        } else if constexpr (nt_ahead) {
            hand_on(now);
            load(ahead[depth - 1], step + depth);
        } else {
            load(now, step);
        }
    }

private:
    NT_DEVICE static int lane() { return nt_thread() % NT_WARP_SIZE; }
    /// The first of those ahead, and all others one place further.
    NT_DEVICE void hand_on(float (&to)[nt_held_rows]) {
        NT_UNROLL
        for (int held = 0; held < nt_held_rows; ++held) {
            to[held] = ahead[0][held];
            NT_UNROLL
            for (int i = 0; i + 1 < depth; ++i) {
                ahead[i][held] = ahead[i + 1][held];
            }
        }
    }
    NT_DEVICE void load(float (&to)[nt_held_rows], int step) const {
        NT_UNROLL
        for (int held = 0; held < nt_held_rows; ++held) {
            const nt_index row = walk.row(step, held);
            unsigned bits = 0u;
            if (walk.has_row(step, row)) {
                nt_read_cached<4>(&bits, rstd + row);
            }
            to[held] = nt_bits_float(bits);
        }
    }
};

/// A block's share of dgamma, added where the rows are too wide to keep it: into this group's own partial row, or
/// atomically into the sums.
NT_DEVICE void nt_add_to_memory(float* partials, int partial_row, bool first, int column, const float (&v)[nt_width]) {
    if constexpr (NT_IS(DGAMMA, atomic)) {
        nt_add_to(partials + column, v);
    } else {
        float* to = partials + static_cast<long long>(partial_row) * nt_cols + column;
        float total[nt_width];
        NT_UNROLL
        for (int i = 0; i < nt_width; ++i) {
            total[i] = first ? v[i] : to[i] + v[i];
        }
        nt_store_floats(to, total);
    }
}

/// Sums held in registers by a program's groups of threads, added up and handed on. `shared`: of its own where they are
/// published, which is before the last rows' dx; else all of the program's.
template <int Accesses>
NT_DEVICE void nt_combine_groups(float (&sums)[Accesses][nt_width], char* shared, void* dgamma, float* partials, int program, int programs) {
    NT_UNROLL
    for (int mask = nt_threads_per_row; mask < NT_WARP_SIZE && mask < nt_threads; mask *= 2) {
        NT_UNROLL
        for (int access = 0; access < Accesses; ++access) {
            NT_UNROLL
            for (int i = 0; i < nt_width; ++i) {
                sums[access][i] += nt_shuffle_xor(sums[access][i], mask);
            }
        }
    }
    constexpr int span = nt_max(nt_threads_per_row, NT_WARP_SIZE);
    constexpr int parts = nt_threads / span;
    const bool leads = nt_thread() % span < nt_threads_per_row;
    if constexpr (parts == 1) {
        NT_UNROLL
        for (int access = 0; access < Accesses; ++access) {
            if (leads && nt_in_row(nt_column(access))) {
                nt_emit_dgamma(dgamma, partials, program, programs, nt_column(access), sums[access]);
            }
        }
    } else {
        // By this program's columns: those of all its accesses, one after the other.
        constexpr int access_cols = nt_threads_per_row * nt_width;
        constexpr int pitch = Accesses * access_cols;
        float* all = reinterpret_cast<float*>(shared);
        if constexpr (!nt_publishes) {
            nt_barrier();
        }
        if (leads) {
            NT_UNROLL
            for (int access = 0; access < Accesses; ++access) {
                nt_store_floats(all + nt_thread() / span * pitch + access * access_cols + nt_lane() * nt_width, sums[access]);
            }
        }
        nt_barrier();
        constexpr int width = nt_cols % 4 == 0 ? 4 : 1;
        NT_NO_UNROLL
        for (int at = nt_thread() * width; at < (NT_CLUSTER > 1 ? pitch : nt_cols); at += nt_threads * width) {
            const int column = NT_CLUSTER > 1 ? (at / access_cols * NT_CLUSTER + nt_cluster_rank()) * access_cols + at % access_cols : at;
            if (NT_CLUSTER > 1 && column >= nt_cols) {
                break;
            }
            float total[width];
            NT_UNROLL
            for (int i = 0; i < width; ++i) {
                total[i] = all[at + i];
                NT_UNROLL
                for (int part = 1; part < parts; ++part) {
                    total[i] += all[part * pitch + at + i];
                }
            }
            nt_emit_dgamma(dgamma, partials, program, programs, column, total);
        }
    }
}

/// Dynamic shared memory that the sums of dgamma need: groups' sums, the last program's flag.
NT_CONSTANT constexpr int nt_epilogue_bytes() {
    int bytes = 0;
    if (nt_sums_in_registers && nt_threads > nt_max(nt_threads_per_row, NT_WARP_SIZE)) {
        bytes = nt_threads / nt_max(nt_threads_per_row, NT_WARP_SIZE) * nt_accesses * (nt_sweep_cols / NT_CLUSTER) * 4;
    }
    if (nt_sums_dgamma && NT_IS(DGAMMA, atomic)) {
        bytes = nt_max(bytes, 16);
    }
    return bytes;
}

/// dx of the steps before a program's last can wait in shared memory until its sums are published: its stores would be
/// ahead of theirs. A thread reads back its own pieces only, so no barrier is needed between the two.
constexpr int nt_deferred_bytes = NT_DEFERRED_STEPS * nt_held_rows * nt_accesses * nt_threads * nt_piece;
NT_DEVICE char* nt_deferred_piece(char* deferred, int before_last, int held, int access) {
    return deferred + (((before_last - 1) * nt_held_rows + held) * nt_accesses + access) * (nt_threads * nt_piece) + nt_thread() * nt_piece;
}
NT_DEVICE void nt_store_deferred(void* dx, char* deferred, const nt_walk& walk, int last) {
    NT_UNROLL
    for (int before_last = NT_DEFERRED_STEPS; before_last >= 1; --before_last) {
        if (before_last <= last) {
            NT_UNROLL
            for (int held = 0; held < nt_held_rows; ++held) {
                const nt_index row = walk.row(last - before_last, held);
                NT_UNROLL
                for (int access = 0; access < nt_accesses; ++access) {
                    if (nt_in_row(nt_column(access)) && walk.has(row)) {
                        nt_data out;
                        nt_load_shared(out, nt_deferred_piece(deferred, before_last, held, access));
                        nt_store(nt_output(dx, row, access), out);
                    }
                }
            }
        }
    }
}

/// Where sums are published, they lie behind the rows, and the dx that waits behind them; else they lie where rows lay
/// before. A reduce tile has all of it once more.
NT_CONSTANT constexpr int nt_sums_at(int inputs) { return nt_publishes ? nt_align16(nt_shared_bytes(inputs)) : 0; }
NT_CONSTANT constexpr int nt_deferred_at(int inputs) { return nt_align16(nt_sums_at(inputs) + nt_epilogue_bytes()); }
NT_CONSTANT constexpr int nt_backward_bytes(int inputs) {
    int bytes = nt_max(nt_shared_bytes(inputs), nt_sums_at(inputs) + nt_epilogue_bytes());
    if (NT_DEFERRED_STEPS > 0) {
        bytes = nt_deferred_at(inputs) + nt_deferred_bytes;
    }
    if (nt_sums_dgamma && NT_IS(DGAMMA, cooperative)) {
        bytes = nt_max(bytes, nt_column_scratch(nt_tile_lanes, nt_tile_width, nt_threads) * 4);
    }
#if NT_IS(DGAMMA, beside)
    if (nt_affine) {
        bytes = nt_max(bytes, nt_beside_bytes());
    }
#endif
    return bytes;
}

/// The first programs of the launch: each sums a part of the rows of a tile of dgamma's columns, and those that fill the last cluster up do nothing.
/// Those of dx follow.
NT_CONSTANT constexpr int nt_programs_beside() {
#if NT_IS(DGAMMA, beside)
    return nt_affine ? (nt_reduce_tiles * NT_REDUCE_PARTS + NT_CLUSTER - 1) / NT_CLUSTER * NT_CLUSTER : 0;
#else
    return 0;
#endif
}

/// A step's rows of the incoming ds, needed once, after the row sum: requested as the step begins, past the slots.
constexpr bool nt_direct_ds = nt_fused && NT_IS(INCOMING_DS, direct) && NT_IS(RESIDENCY, shared) && NT_BLOCK == 0;
struct nt_ds_rows {
    nt_rows<1, nt_cols, -1> from;
    nt_data now[nt_held_rows][nt_accesses];

    NT_DEVICE void request(const nt_walk& walk, int step) {
        NT_UNROLL
        for (int held = 0; held < nt_held_rows; ++held) {
            const nt_index row = walk.row(step, held);
            NT_UNROLL
            for (int access = 0; access < nt_accesses; ++access) {
                from.load(now[held][access], 0, row, access, walk.has_row(step, row) && nt_in_row(nt_column(access)));
            }
        }
    }
};

NT_KERNEL(nt_threads, NT_MIN_PROGRAMS)
nt_backward(const void* x, const void* gamma, const void* dy, const void* ds, const float* rstd, void* dx, void* dgamma, float* partials, unsigned* counter,
            long long rows, int programs, int rows_per_program) {
    constexpr int inputs = nt_fused && !nt_direct_ds ? 3 : 2;
    typedef nt_rows<inputs, NT_BACKWARD_X_STRIDE, NT_IN_PLACE ? 1 : -1> rows_type;
    static_assert(nt_with_barriers(nt_backward_bytes(inputs)) == NT_SHARED_BACKWARD, "the launch knows the same shared bytes");

    char* shared = nt_dynamic_shared();
    unsigned long long* const cluster_barriers = nt_cluster_barriers(shared, NT_SHARED_BACKWARD, nt_groups);
    const bool sums_beside = nt_programs_beside() > 0 && nt_program_x() < nt_programs_beside();
    if (nt_beginning_in_cluster() == nt_ahead_of_rows && !sums_beside) {
        nt_begin_in_cluster<nt_groups>(cluster_barriers);
    }
    if constexpr (NT_IS(DEPENDENT_LAUNCH, on)) {
        nt_await_previous_launch();  // before nt_reduce may begin: it would take what the launch before this one published
    }
    nt_release_next_launch();
    rows_type from;
    from.base[0] = x;
    from.base[1] = dy;
    if constexpr (inputs > 2) {
        from.base[2] = ds;
    }
    [[maybe_unused]] nt_ds_rows direct;
    direct.from.base[0] = ds;
    if constexpr (NT_BULK_RESULTS) {
        NT_UNROLL
        for (int input = 0; input < inputs; ++input) {
            from.results[input] = input == 0 ? dx : nullptr;
        }
    }
#if NT_IS(DGAMMA, beside)
    if (sums_beside) {
        nt_sum_beside(x, dy, rstd, rows, dgamma, partials, counter, shared);
        return;
    }
#endif
    const int program = nt_cluster_index() - nt_programs_beside() / NT_CLUSTER;
#if NT_IS(DGAMMA, beside) && NT_REDUCE_CLUSTER > 1
    if (nt_strided() && program >= programs) {
        return;  // it only fills the last cluster up: a strided walk would take another program's rows
    }
#endif
    const nt_walk walk{static_cast<nt_index>(rows), program, programs, rows_per_program};
    nt_stage<rows_type, inputs> stage(from, walk, shared, NT_SHARED_BACKWARD);
    nt_scales scales(rstd, walk);
    stage.start();
    nt_gammas gammas(gamma, shared);
    if constexpr (nt_beginning_in_cluster() == nt_behind_rows_ahead) {
        nt_begin_in_cluster<nt_groups>(cluster_barriers);
    }

    float sums[nt_sums_in_registers ? nt_accesses : 1][nt_width];
    NT_UNROLL
    for (int access = 0; access < (nt_sums_in_registers ? nt_accesses : 1); ++access) {
        NT_UNROLL
        for (int i = 0; i < nt_width; ++i) {
            sums[access][i] = 0.0f;
        }
    }

    const int last = NT_DEFERRED_STEPS > 0 ? walk.last_step() : 0;
    char* deferred = shared + nt_deferred_at(inputs);
    [[maybe_unused]] unsigned published_before = 0u;
    for (int step = 0; walk.has_step(step); ++step) {
        scales.open(step);
        if constexpr (nt_direct_ds) {
            direct.request(walk, step);
        }
        stage.open(step);
        if (nt_beginning_in_cluster() == nt_behind_first_rows && step == 0) {
            nt_begin_in_cluster<nt_groups>(cluster_barriers);
        }
        if constexpr (NT_IS(RESIDENCY, registers)) {
            gammas.before_sum();
        }
        nt_row_sums row_sums;
        NT_NO_UNROLL
        for (int chunk = 0; chunk < nt_chunks; ++chunk) {
            stage.template first_pass<true>(step, chunk, 2);
            if constexpr (!NT_IS(RESIDENCY, registers)) {
                if (chunk == 0) {
                    gammas.before_sum();
                }
            }
            gammas.use(chunk);
            NT_UNROLL
            for (int access = 0; access < nt_accesses; ++access) {
                const int column = nt_column(chunk * nt_accesses + access);
                const bool inside = nt_in_row(column);
                float g[nt_width], block_sum[nt_width];
                gammas.get(chunk, access, g);
                NT_UNROLL
                for (int i = 0; i < nt_width; ++i) {
                    block_sum[i] = 0.0f;
                }
                NT_UNROLL
                for (int held = 0; held < nt_held_rows; ++held) {
                    float v[nt_width], d[nt_width];
                    stage.get(step, chunk, 0, held, access).unpack(v);
                    stage.get(step, chunk, 1, held, access).unpack(d);
                    if (!NT_IS(REDUCTION, guard) || inside) {
                        NT_UNROLL
                        for (int i = 0; i < nt_width; ++i) {
                            row_sums.add(held, i, nt_scaled_gradient(d[i], g[i]) * v[i], inside);
                            if constexpr (nt_sums_dgamma) {
                                const float product = d[i] * nt_normalised(v[i], scales.now[held]);
                                const float share = NT_IS(CASTING, none) ? nt_round<nt_element>(product) : product;
                                if constexpr (nt_sums_in_registers) {
                                    sums[access][i] += share;
                                } else {
                                    block_sum[i] += share;
                                }
                            }
                        }
                    }
                }
                if constexpr (nt_sums_in_memory) {
                    if (inside) {
                        nt_add_to_memory(partials, program * nt_groups + nt_group(), step == 0, column, block_sum);
                    }
                }
            }
        }
        if constexpr (nt_publishes) {
            if (NT_DEFERRED_STEPS > 0 ? step == last : !walk.has_step(step + 1)) {
                nt_combine_groups(sums, shared + nt_sums_at(inputs), dgamma, partials, program, programs);
                published_before = nt_count_published(counter, programs);
            }
        }
        float sum[nt_held_rows];
        row_sums.total(sum);
        nt_row_sum(sum, shared, cluster_barriers, step);
        stage.after_sum(step);

        NT_NO_UNROLL
        for (int chunk = 0; chunk < nt_chunks; ++chunk) {
            stage.second_pass(step, chunk);
            if constexpr (!nt_gammas::keep) {
                gammas.use(chunk);
            }
            NT_UNROLL
            for (int held = 0; held < nt_held_rows; ++held) {
                const nt_index row = walk.row(step, held);
                const float scale = scales.now[held];
                const float back = -sum[held] * scale * scale * scale * (1.0f / static_cast<float>(nt_cols));
                NT_UNROLL
                for (int access = 0; access < nt_accesses; ++access) {
                    const int column = nt_column(chunk * nt_accesses + access);
                    float v[nt_width], d[nt_width], g[nt_width];
                    stage.get(step, chunk, 0, held, access).unpack(v);
                    stage.get(step, chunk, 1, held, access).unpack(d);
                    gammas.get(chunk, access, g);
                    NT_UNROLL
                    for (int i = 0; i < nt_width; ++i) {
                        d[i] = scale * nt_scaled_gradient(d[i], g[i]) + back * v[i];
                    }
                    if constexpr (nt_fused) {
                        float incoming[nt_width];
                        if constexpr (nt_direct_ds) {
                            direct.now[held][access].unpack(incoming);
                        } else {
                            stage.get(step, chunk, inputs - 1, held, access).unpack(incoming);
                        }
                        NT_UNROLL
                        for (int i = 0; i < nt_width; ++i) {
                            d[i] += incoming[i];
                        }
                    }
                    stage.release(step, chunk, held, access);
                    nt_data out;
                    out.pack(d);
                    if constexpr (NT_DEFERRED_STEPS > 0) {
                        if (step < last && step >= last - NT_DEFERRED_STEPS) {
                            nt_store_shared(nt_deferred_piece(deferred, last - step, held, access), out);
                            continue;
                        }
                    }
                    if (nt_in_row(column) && walk.has(row)) {
                        stage.put(dx, step, 0, row, held, chunk * nt_accesses + access, out);
                    }
                }
            }
        }
        stage.close(NT_BULK_RESULTS);
    }
    stage.finish();

    if constexpr (NT_DEFERRED_STEPS > 0) {
        nt_store_deferred(dx, deferred, walk, last);
    }
    if constexpr (nt_sums_in_registers && !nt_publishes) {
        nt_combine_groups(sums, shared, dgamma, partials, program, programs);
    }
    if constexpr (nt_sums_dgamma && NT_IS(DGAMMA, atomic)) {
        if (programs > 1 || nt_sums_in_memory) {
            nt_finish_atomic(partials, counter, programs, dgamma, shared);
        }
    }
    if constexpr (nt_sums_dgamma && NT_IS(DGAMMA, cooperative)) {
        const bool few_steps = nt_publishes && nt_has_few_steps(rows, programs);
        const int all = NT_CLUSTER * programs;
        const int own = NT_CLUSTER > 1 ? NT_CLUSTER * program + nt_cluster_rank() : program;
        const int first = nt_first_tile(published_before, few_steps, own, all, reinterpret_cast<unsigned*>(shared));
        if constexpr (nt_publishes) {
            if (first >= nt_reduce_tiles) {
                return;
            }
            // Of many the last few are looked for one by one, while the sums of the others are already here. Few come at nearly the same time.
            nt_await_others(counter, published_before, few_steps ? all / 2 : all - nt_ceil_div(all, 32));
        } else {
            nt_grid_barrier(counter, own, all);
        }
        for (int tile = first; tile < nt_reduce_tiles; tile += all) {
            if (tile != first) {
                nt_barrier();  // the last tile's sums have been read
            }
            nt_reduce_tile<nt_threads>(partials, programs * (nt_sums_in_memory ? nt_groups : 1), tile, dgamma, reinterpret_cast<float*>(shared));
        }
    }
}
#endif
