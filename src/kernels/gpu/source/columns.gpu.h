// dgamma by programs that read x and dy by themselves, a tile of columns each: a launch of its own (split), or beside those of dx.

#if NT_SPLIT || NT_IS(DGAMMA, beside)
/// Of a tile of dgamma's columns threads take `nt_split_width()` each, and rows `nt_split_lanes()` threads apart.
NT_CONSTANT constexpr int nt_split_width() { return nt_width < NT_REDUCE_COLS ? nt_width : NT_REDUCE_COLS; }
NT_CONSTANT constexpr int nt_split_lanes() { return NT_REDUCE_COLS / nt_split_width(); }
NT_CONSTANT constexpr int nt_split_scratch(int threads) { return nt_column_scratch(nt_split_lanes(), nt_split_width(), threads); }
NT_DEVICE int nt_split_column(int tile) { return tile * NT_REDUCE_COLS + nt_thread() % nt_split_lanes() * nt_split_width(); }

/// dgamma's sums over one of `parts` parts of the rows, of the thread's columns: threads below nt_split_lanes() get them all.
/// `scratch`: nt_split_scratch(Threads) floats.
template <int Threads>
NT_DEVICE void nt_split_columns(const void* x, const void* dy, const float* rstd, long long rows, int column, int part, int parts,
                                float (&total)[nt_split_width()], float* scratch) {
    constexpr int width = nt_split_width();
    constexpr int lanes = nt_split_lanes();
    constexpr int row_lanes = Threads / lanes;
    constexpr int wanted = nt_max(1, NT_REDUCE_ROWS / row_lanes);
    constexpr int at_once = wanted < 8 ? wanted : 8;
    typedef nt_vector<nt_element, width> vector;

    nt_follow_previous_launch();
    const long long share = (rows + parts - 1) / parts;
    const long long begin = share * part;
    const long long end = begin + share < rows ? begin + share : rows;
    const long long first = begin + nt_thread() / lanes;
    NT_UNROLL
    for (int i = 0; i < width; ++i) {
        total[i] = 0.0f;
    }
    if (column < nt_cols) {
        constexpr long long x_pitch = static_cast<long long>(NT_BACKWARD_X_STRIDE) * nt_element::bytes;
        constexpr long long dy_pitch = static_cast<long long>(nt_cols) * nt_element::bytes;
        long long left = end - first;
        const char* x_from = static_cast<const char*>(x) + first * x_pitch + column * nt_element::bytes;
        const char* dy_from = static_cast<const char*>(dy) + first * dy_pitch + column * nt_element::bytes;
        const float* rstd_from = rstd + first;
        constexpr int batch = row_lanes * at_once;
        while (left > 0) {
            vector value[at_once], gradient[at_once];
            float scale[at_once];
            const int here = static_cast<int>(left < batch ? left : batch);
            NT_UNROLL
            for (int k = 0; k < at_once; ++k) {
                value[k].clear();
                gradient[k].clear();
                scale[k] = 0.0f;
                if (k * row_lanes < here) {
                    nt_load<nt_path_constant>(value[k], x_from + k * row_lanes * x_pitch);
                    nt_load<nt_path_constant>(gradient[k], dy_from + k * row_lanes * dy_pitch);
                    scale[k] = rstd_from[k * row_lanes];
                }
            }
            left -= batch;
            x_from += batch * x_pitch;
            dy_from += batch * dy_pitch;
            rstd_from += batch;
            NT_UNROLL
            for (int k = 0; k < at_once; ++k) {
                float v[width], d[width], row_share[width];
                value[k].unpack(v);
                gradient[k].unpack(d);
                nt_gamma_shares(row_share, v, d, scale[k]);
                NT_UNROLL
                for (int i = 0; i < width; ++i) {
                    total[i] += row_share[i];
                }
            }
        }
    }
    nt_column_sum<lanes, width, Threads>(total, scratch);
}
#endif
#if NT_IS(DGAMMA, beside)
/// Shared memory of a program that sums dgamma: scratch, what a cluster's programs send to its first, and the barrier that counts it.
NT_CONSTANT constexpr int nt_sent_at() {
    return nt_align16(nt_max(nt_split_scratch(nt_threads), nt_published_parts() > 1 ? nt_column_scratch(nt_tile_lanes, nt_tile_width, nt_threads) : 0) * 4);
}
NT_CONSTANT constexpr int nt_sent_barrier_at() { return nt_align16(nt_sent_at() + NT_REDUCE_CLUSTER * NT_REDUCE_COLS * 4); }
NT_CONSTANT constexpr int nt_beside_bytes() { return NT_REDUCE_CLUSTER > 1 ? nt_sent_barrier_at() + 16 : nt_sent_at(); }
/// In a program that publishes sums of a tile: where it is the last of them, it adds them all up. The others have come here, too, so
/// who waits for their sums waits for no program that has not begun.
NT_DEVICE void nt_finish_parts(float* partials, unsigned* counters, int tile, void* dgamma, float* scratch) {
    constexpr unsigned others = nt_published_parts() - 1;
    unsigned* const before = reinterpret_cast<unsigned*>(scratch);
    if (nt_thread() == 0) {  // whose own sums lay there
        *before = nt_count_wrapping_relaxed(counters + tile, others);
    }
    nt_barrier();
    if (*before == others) {
        nt_barrier();
        nt_reduce_tile<nt_threads, nt_published_parts()>(partials, nt_published_parts(), tile, dgamma, scratch);
    }
}
template <int Width>
NT_DEVICE void nt_emit_parts(void* dgamma, float* partials, int published, int column, const float (&v)[Width]) {
    if constexpr (nt_published_parts() > 1) {
        nt_publish(partials + static_cast<long long>(published) * nt_cols + column, v);
    } else {
        nt_store_dgamma(dgamma, column, v);
    }
}

/// The whole of a program that sums dgamma. Those of a reduce cluster have parts of one tile; where dx has the clusters they know nothing of them.
NT_DEVICE void nt_sum_beside(const void* x, const void* dy, const float* rstd, long long rows, void* dgamma, float* partials, unsigned* counters,
                             char* shared) {
    if (NT_CLUSTER > 1 && nt_program_x() >= nt_reduce_tiles * NT_REDUCE_PARTS) {
        return;  // one that fills a cluster up
    }
    float* const scratch = reinterpret_cast<float*>(shared);
    const int rank = nt_program_x() % NT_REDUCE_CLUSTER;
    const int tile = nt_program_x() / NT_REDUCE_CLUSTER % nt_reduce_tiles;
    const int published = nt_program_x() / (NT_REDUCE_CLUSTER * nt_reduce_tiles);
    const int column = nt_split_column(tile);
    float total[nt_split_width()];
#if NT_REDUCE_CLUSTER > 1
    float* const sent = reinterpret_cast<float*>(shared + nt_sent_at());
    unsigned long long* const barrier = reinterpret_cast<unsigned long long*>(shared + nt_sent_barrier_at());
    if (nt_thread() == 0) {
        nt_bulk_begin(barrier);
        nt_share_barriers();
    }
    nt_cluster_arrive();
    nt_split_columns<nt_threads>(x, dy, rstd, rows, column, published * NT_REDUCE_CLUSTER + rank, NT_REDUCE_PARTS, total, scratch);
    nt_cluster_wait();  // the first program has begun its barrier; all threads wait, as none may end between the two
    if (nt_thread() < nt_split_lanes()) {
        NT_UNROLL
        for (int i = 0; i < nt_split_width(); ++i) {
            nt_send(sent + rank * NT_REDUCE_COLS + nt_thread() * nt_split_width() + i, barrier, 0, total[i]);
        }
    }
    if (rank != 0) {
        return;
    }
    if (nt_thread() == 0) {
        nt_bulk_expect(barrier, NT_REDUCE_CLUSTER * NT_REDUCE_COLS * 4);
    }
    nt_bulk_wait(barrier, 0u);
    if (nt_thread() < nt_tile_lanes) {
        float v[nt_tile_width];
        nt_load_floats(v, sent + nt_thread() * nt_tile_width);
        NT_UNROLL
        for (int part = 1; part < NT_REDUCE_CLUSTER; ++part) {
            float more[nt_tile_width];
            nt_load_floats(more, sent + part * NT_REDUCE_COLS + nt_thread() * nt_tile_width);
            NT_UNROLL
            for (int i = 0; i < nt_tile_width; ++i) {
                v[i] += more[i];
            }
        }
        const int first = tile * NT_REDUCE_COLS + nt_thread() * nt_tile_width;
        if (first < nt_cols) {
            nt_emit_parts(dgamma, partials, published, first, v);
        }
    }
#else
    nt_split_columns<nt_threads>(x, dy, rstd, rows, column, published, NT_REDUCE_PARTS, total, scratch);
    if (nt_thread() < nt_split_lanes() && column < nt_cols) {
        nt_emit_parts(dgamma, partials, published, column, total);
    }
#endif
    if constexpr (nt_published_parts() > 1) {
        nt_finish_parts(partials, counters, tile, dgamma, scratch);
    }
}
#endif
#if NT_SPLIT
/// Program (c, p) has the c-th tile of columns and the p-th part of the rows: partial row p, or dgamma itself where there is one part.
NT_KERNEL(NT_REDUCE_THREADS, 1)
nt_dgamma(const void* x, const void* dy, const float* rstd, void* dgamma, float* partials, long long rows, int parts) {
    NT_SHARED nt_words4 scratch[nt_ceil_div(nt_split_scratch(NT_REDUCE_THREADS), 4)];
    const int column = nt_split_column(nt_program_x());
    float total[nt_split_width()];
    nt_split_columns<NT_REDUCE_THREADS>(x, dy, rstd, rows, column, nt_program_y(), parts, total, reinterpret_cast<float*>(scratch));
    if (nt_thread() < nt_split_lanes() && column < nt_cols) {
        if (parts == 1) {
            nt_store_dgamma(dgamma, column, total);
        } else {
            NT_UNROLL
            for (int i = 0; i < nt_split_width(); ++i) {
                partials[static_cast<long long>(nt_program_y()) * nt_cols + column + i] = total[i];
            }
        }
    }
}
#endif
