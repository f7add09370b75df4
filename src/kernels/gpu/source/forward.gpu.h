// Forward: y, s for the fused op, and rstd but for inference. Arguments that a problem does not have are null.

#if NT_FORWARD
/// Second pass of `reload`: the sum that this thread stored in the first one.
template <class Stage>
NT_DEVICE void nt_reload_sum(Stage& stage, const void* s, int step, int chunk) {
    NT_UNROLL
    for (int held = 0; held < nt_held_rows; ++held) {
        const nt_index row = stage.walk.row(step, held);
        NT_UNROLL
        for (int access = 0; access < nt_accesses; ++access) {
            const int column = nt_column(chunk * nt_accesses + access);
            stage.now[0][held][access].clear();
            if (nt_in_row(column) && stage.walk.has(row)) {
                nt_load<nt_path_plain>(stage.now[0][held][access], nt_output(const_cast<void*>(s), row, chunk * nt_accesses + access));
            }
        }
    }
}

NT_KERNEL(nt_threads, NT_MIN_PROGRAMS)
nt_forward(const void* x, const void* residual, const void* gamma, void* y, void* s, float* rstd, long long rows, int programs, int rows_per_program,
           float eps) {
    constexpr int inputs = nt_fused ? 2 : 1;
    constexpr bool keep_sum = nt_fused && !NT_RESIDUAL_FP32;  // s, rounded, takes the place of x after the first pass
    typedef nt_rows<inputs, NT_X_STRIDE, NT_IN_PLACE && !NT_BACKWARD ? inputs : -1> rows_type;
    static_assert(nt_with_barriers(nt_shared_bytes(inputs)) == NT_SHARED_FORWARD, "the launch knows the same shared bytes");

    char* shared = nt_dynamic_shared();
    unsigned long long* const cluster_barriers = nt_cluster_barriers(shared, NT_SHARED_FORWARD, nt_groups);
    if constexpr (nt_beginning_in_cluster() == nt_ahead_of_rows) {
        nt_begin_in_cluster<nt_groups>(cluster_barriers);
    }
    nt_follow_previous_launch();
    rows_type from;
    from.base[0] = x;
    if constexpr (nt_fused) {
        from.base[1] = residual;
    }
    constexpr int y_in_place_of = nt_fused ? 1 : 0;  // s takes the place of x
    if constexpr (NT_BULK_RESULTS) {
        from.results[0] = s;
        from.results[y_in_place_of] = y;
    }
    const nt_walk walk{static_cast<nt_index>(rows), nt_cluster_index(), programs, rows_per_program};
    nt_stage<rows_type, inputs> stage(from, walk, shared, NT_SHARED_FORWARD);
    stage.start();
    nt_gammas gammas(gamma, shared);
    if constexpr (nt_beginning_in_cluster() == nt_behind_rows_ahead) {
        nt_begin_in_cluster<nt_groups>(cluster_barriers);
    }

    for (int step = 0; walk.has_step(step); ++step) {
        if constexpr (NT_IS(RESIDENCY, registers)) {
            gammas.before_sum();
        }
        stage.open(step);
        if (nt_beginning_in_cluster() == nt_behind_first_rows && step == 0) {
            nt_begin_in_cluster<nt_groups>(cluster_barriers);
        }

        nt_row_sums row_sums;
        NT_NO_UNROLL
        for (int chunk = 0; chunk < nt_chunks; ++chunk) {
            stage.template first_pass<!keep_sum>(step, chunk, inputs);
            NT_UNROLL
            for (int held = 0; held < nt_held_rows; ++held) {
                const nt_index row = walk.row(step, held);
                NT_UNROLL
                for (int access = 0; access < nt_accesses; ++access) {
                    const int column = nt_column(chunk * nt_accesses + access);
                    const bool inside = nt_in_row(column);
                    float v[nt_width];
                    stage.get(step, chunk, 0, held, access).unpack(v);
                    if constexpr (nt_fused) {
                        float r[nt_width];
                        stage.get(step, chunk, 1, held, access).unpack(r);
                        NT_UNROLL
                        for (int i = 0; i < nt_width; ++i) {
                            v[i] += r[i];
                        }
                        nt_data out;
                        out.pack(v);
                        if (!NT_BULK_RESULTS && inside && walk.has(row)) {
                            nt_store(nt_output(s, row, chunk * nt_accesses + access), out);
                        }
                        if constexpr (keep_sum) {
                            out.unpack(v);
                            stage.now[0][held][access] = out;
                            if (NT_IS(RESIDENCY, shared) && (!NT_BULK || walk.has(row))) {
                                nt_store_shared(stage.piece(step, 0, held, chunk * nt_accesses + access), out);
                            }
                        }
                    }
                    if (!NT_IS(REDUCTION, guard) || inside) {
                        NT_UNROLL
                        for (int i = 0; i < nt_width; ++i) {
                            const float square = NT_IS(CASTING, none) ? nt_round<nt_element>(v[i] * v[i]) : v[i] * v[i];
                            row_sums.add(held, i, square, inside);
                        }
                    }
                }
            }
        }
        if constexpr (!NT_IS(RESIDENCY, registers)) {
            gammas.before_sum();
        }
        float sum[nt_held_rows];
        row_sums.total(sum);
        nt_row_sum(sum, shared, cluster_barriers, step);
        stage.after_sum(step);
        NT_UNROLL
        for (int held = 0; held < nt_held_rows; ++held) {
            sum[held] = nt_rsqrt(sum[held] * (1.0f / static_cast<float>(nt_cols)) + eps);
            const nt_index row = walk.row(step, held);
            if (NT_RSTD && (NT_CLUSTER == 1 || nt_cluster_rank() == 0) && nt_lane() == 0 && walk.has(row)) {
                rstd[row] = sum[held];
            }
        }

        NT_NO_UNROLL
        for (int chunk = 0; chunk < nt_chunks; ++chunk) {
            if constexpr (keep_sum && NT_IS(RESIDENCY, reload)) {
                nt_reload_sum(stage, s, step, chunk);
            } else {
                stage.second_pass(step, chunk);
            }
            gammas.use(chunk);
            NT_UNROLL
            for (int held = 0; held < nt_held_rows; ++held) {
                const nt_index row = walk.row(step, held);
                NT_UNROLL
                for (int access = 0; access < nt_accesses; ++access) {
                    const int column = nt_column(chunk * nt_accesses + access);
                    float v[nt_width];
                    stage.get(step, chunk, 0, held, access).unpack(v);
                    if constexpr (nt_fused && !keep_sum) {
                        float r[nt_width];
                        stage.get(step, chunk, 1, held, access).unpack(r);
                        NT_UNROLL
                        for (int i = 0; i < nt_width; ++i) {
                            v[i] += r[i];
                        }
                        if (NT_BULK_RESULTS && nt_in_row(column) && walk.has(row)) {
                            nt_data sum_of_both;
                            sum_of_both.pack(v);
                            stage.put(s, step, 0, row, held, chunk * nt_accesses + access, sum_of_both);
                        }
                    }
                    stage.release(step, chunk, held, access);
                    const nt_data out = nt_scaled(v, sum[held], gammas, chunk, access);
                    if (nt_in_row(column) && walk.has(row)) {
                        stage.put(y, step, y_in_place_of, row, held, chunk * nt_accesses + access, out);
                    }
                }
            }
        }
        stage.close(NT_BULK_RESULTS || (keep_sum && NT_IS(RESIDENCY, shared)));
    }
    stage.finish();
}
#endif
