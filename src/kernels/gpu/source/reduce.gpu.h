// dgamma across programs: sums over the threads that share a column, over partial rows, and over the launch.

/// Adds `v` over all threads that hold the same columns (equal thread % Lanes). Threads below Lanes get the totals.
/// `scratch`: nt_column_scratch(Lanes, Width, Threads) floats, at a multiple of 16 bytes; a barrier before it is written again.
template <int Lanes, int Width, int Threads>
NT_DEVICE void nt_column_sum(float (&v)[Width], float* scratch) {
    NT_UNROLL
    for (int mask = Lanes; mask < NT_WARP_SIZE && mask < Threads; mask *= 2) {
        NT_UNROLL
        for (int i = 0; i < Width; ++i) {
            v[i] += nt_shuffle_xor(v[i], mask);
        }
    }
    constexpr int span = nt_max(Lanes, NT_WARP_SIZE < Threads ? NT_WARP_SIZE : Threads);
    constexpr int parts = Threads / span;
    if constexpr (parts > 1) {
        const int thread = nt_thread();
        if (thread % span < Lanes) {
            nt_store_floats(scratch + (thread / span * Lanes + thread % Lanes) * Width, v);
        }
        nt_barrier();
        if (thread < Lanes) {
            nt_load_floats(v, scratch + thread * Width);
            NT_UNROLL
            for (int part = 1; part < parts; ++part) {
                float more[Width];
                nt_load_floats(more, scratch + (part * Lanes + thread) * Width);
                NT_UNROLL
                for (int i = 0; i < Width; ++i) {
                    v[i] += more[i];
                }
            }
        }
    }
}
NT_CONSTANT constexpr int nt_column_scratch(int lanes, int width, int threads) {
    return threads / nt_max(lanes, NT_WARP_SIZE < threads ? NT_WARP_SIZE : threads) * lanes * width;
}

template <int Width>
NT_DEVICE void nt_store_dgamma(void* dgamma, int column, const float (&v)[Width]) {
    nt_vector<nt_weight, Width> out;
    out.pack(v);
    constexpr int access = nt_access(nt_vector<nt_weight, Width>::bytes);
    NT_UNROLL
    for (int at = 0; at < nt_vector<nt_weight, Width>::bytes; at += access) {
        nt_write<access>(static_cast<char*>(dgamma) + static_cast<long long>(column) * nt_weight::bytes + at, out.word + at / 4);
    }
}

/// Published, a partial sum lies in memory as its bits, exclusive-or'ed with those of a signalling NaN, which no addition
/// gives. So 0 says that it is not there yet, and no fence has to order a flag with what it stands for: that fence would
/// wait for the program's stores of dx.
[[maybe_unused]] constexpr unsigned nt_no_sum = 0x7fa5a5a5u;

template <int Width>
NT_DEVICE void nt_publish(float* to, const float (&v)[Width]) {
    constexpr int access = Width % 4 == 0 ? 4 : 1;
    NT_UNROLL
    for (int i = 0; i < Width; i += access) {
        unsigned words[access];
        NT_UNROLL
        for (int k = 0; k < access; ++k) {
            words[k] = nt_float_bits(v[i + k]) ^ nt_no_sum;
        }
        nt_write_word<access>(reinterpret_cast<unsigned*>(to + i), words);
    }
}
template <int Width>
NT_DEVICE bool nt_is_published(const float (&v)[Width]) {
    bool all = true;
    NT_UNROLL
    for (int i = 0; i < Width; ++i) {
        all = all && nt_float_bits(v[i]) != 0u;
    }
    return all;
}
/// A partial sum as it lies in memory becomes the number; its place is left empty for the next launch.
template <int Width>
NT_DEVICE void nt_take_published(float (&v)[Width], float* from) {
    unsigned empty[Width];
    NT_UNROLL
    for (int i = 0; i < Width; ++i) {
        v[i] = nt_bits_float(nt_float_bits(v[i]) ^ nt_no_sum);
        empty[i] = 0u;
    }
    nt_write_word<Width>(reinterpret_cast<unsigned*>(from), empty);
}
/// Tiles of the reduction: programs of a launch of their own sum them up, or those that published.
constexpr int nt_reduce_tiles = nt_ceil_div(nt_cols, NT_REDUCE_COLS);
/// The programs that have published are counted, too: whoever looked for the sums themselves while they come would slow
/// them down. All programs of a cluster count. The count says when to look and no more, so nothing is ordered by it either.
/// Whoever counts last leaves 0 for the next launch: of a cooperative launch the last to publish, else the last program of the
/// reduction, which counts once it has all sums.
/// Returns, to thread 0, how many counted before: of a cooperative launch each number below those of its programs once.
NT_DEVICE unsigned nt_count_published(unsigned* counter, int programs) {
    const int last = NT_CLUSTER * programs - 1 + (NT_IS(DGAMMA, cooperative) ? 0 : nt_reduce_tiles);
    return nt_thread() == 0 ? nt_count_wrapping_relaxed(counter, static_cast<unsigned>(last)) : 0u;
}
/// In the launch of the reduction.
NT_DEVICE void nt_await_published(const unsigned* counter, int programs) {
    if (nt_thread() == 0) {
        while (nt_read_relaxed(counter) < static_cast<unsigned>(NT_CLUSTER * programs)) {
        }
    }
    nt_barrier();
}
/// In a program that was the one after `before` to count, until it and `others` have: once all have, the count is back at 0.
NT_DEVICE void nt_await_others(const unsigned* counter, unsigned before, int others) {
    if (nt_thread() == 0) {
        for (unsigned count = before + 1u; before < count && count < static_cast<unsigned>(others);) {
            count = nt_read_relaxed(counter);
        }
    }
    nt_barrier();
}

/// The first tile that a program of a cooperative launch sums up, if there are so many. Where programs take a few steps, those that
/// publish first do: their stores are through by the time that the last ones publish. In longer launches those are near each other on
/// the device, and the last programs do, which have the fewest rows of a strided grid. `before`: nt_count_published(). `program` of all `programs`,
/// those of a cluster one by one.
NT_DEVICE bool nt_has_few_steps(long long rows, int programs) { return NT_DEFERRED_STEPS == 0 && rows <= 4ll * programs * nt_step_rows; }
NT_DEVICE int nt_first_tile(unsigned before, bool few_steps, int program, int programs, unsigned* shared) {
    if (!few_steps) {
        return programs - 1 - program;
    }
    nt_barrier();  // what lay there has been read
    if (nt_thread() == 0) {
        *shared = before;
    }
    nt_barrier();
    return static_cast<int>(*shared);
}

template <int Width>
NT_DEVICE void nt_read_partial(float (&v)[Width], const float* from) {
    if constexpr (nt_partials_are_published()) {
        unsigned words[Width];
        nt_look_for_word<Width>(words, reinterpret_cast<const unsigned*>(from));
        NT_UNROLL
        for (int i = 0; i < Width; ++i) {
            v[i] = nt_bits_float(words[i]);
        }
    } else {
        nt_read_coherent<Width>(v, from);
    }
}

/// The reduce tile: threads take `nt_tile_width` columns each, and rows `nt_tile_lanes` threads apart.
constexpr int nt_tile_width = NT_REDUCE_COLS % 4 == 0 && nt_cols % 4 == 0 ? 4 : 1;
[[maybe_unused]] constexpr int nt_tile_lanes = NT_REDUCE_COLS / nt_tile_width;

/// Columns [tile·NT_REDUCE_COLS, …) of `count` partial rows, by `Threads` threads, which read `Rows` of them at once.
template <int Threads, int Rows = NT_REDUCE_ROWS>
NT_DEVICE void nt_reduce_tile(float* partials, int count, int tile, void* dgamma, float* scratch) {
    constexpr int row_lanes = Threads / nt_tile_lanes;
    constexpr int at_once = nt_max(1, Rows / row_lanes);
    const int column = tile * NT_REDUCE_COLS + nt_thread() % nt_tile_lanes * nt_tile_width;
    float total[nt_tile_width];
    NT_UNROLL
    for (int i = 0; i < nt_tile_width; ++i) {
        total[i] = 0.0f;
    }
    if (column < nt_cols) {
        for (int row = nt_thread() / nt_tile_lanes; row < count; row += row_lanes * at_once) {
            const auto at = [&](int k) { return partials + static_cast<long long>(row + k * row_lanes) * nt_cols + column; };
            float v[at_once][nt_tile_width];
            NT_UNROLL
            for (int k = 0; k < at_once; ++k) {
                NT_UNROLL
                for (int i = 0; i < nt_tile_width; ++i) {
                    v[k][i] = 0.0f;
                }
                if (row + k * row_lanes < count) {
                    nt_read_partial<nt_tile_width>(v[k], at(k));
                }
            }
            if constexpr (nt_partials_are_published()) {
                // Those that were not there yet are asked for again, all of them before the first answer is waited for.
                for (bool all = false; !all;) {
                    all = true;
                    NT_UNROLL
                    for (int k = 0; k < at_once; ++k) {
                        if (row + k * row_lanes < count && !nt_is_published(v[k])) {
                            nt_read_partial<nt_tile_width>(v[k], at(k));
                            all = false;
                        }
                    }
                }
            }
            NT_UNROLL
            for (int k = 0; k < at_once; ++k) {
                if constexpr (nt_partials_are_published()) {
                    if (row + k * row_lanes < count) {
                        nt_take_published<nt_tile_width>(v[k], at(k));
                    }
                }
                NT_UNROLL
                for (int i = 0; i < nt_tile_width; ++i) {
                    total[i] += v[k][i];
                }
            }
        }
    }
    nt_column_sum<nt_tile_lanes, nt_tile_width, Threads>(total, scratch);
    if (nt_thread() < nt_tile_lanes && column < nt_cols) {
        nt_store_dgamma(dgamma, column, total);
    }
}

#if NT_REDUCE
NT_KERNEL(NT_REDUCE_THREADS, 1)
nt_reduce(float* partials, void* dgamma, unsigned* counter, int count) {
    NT_SHARED nt_words4 scratch_words[nt_ceil_div(nt_column_scratch(nt_tile_lanes, nt_tile_width, NT_REDUCE_THREADS), 4)];
    float* const scratch = reinterpret_cast<float*>(scratch_words);
    if constexpr (NT_IS(DEPENDENT_LAUNCH, on)) {
        nt_release_next_launch();
    }
    if constexpr (nt_publishes) {
        nt_await_published(counter, count);
        nt_reduce_tile<NT_REDUCE_THREADS>(partials, count, nt_program_x(), dgamma, scratch);
        nt_count_published(counter, count);
        nt_await_previous_launch();  // where this launch has ended, that one has, too
    } else {
        nt_await_previous_launch();
        nt_reduce_tile<NT_REDUCE_THREADS>(partials, count, nt_program_x(), dgamma, scratch);
    }
}
#endif

/// All programs of a launch wait for each other. `counter`'s lower bits are 0 between launches; its top bit flips with each use.
NT_DEVICE void nt_grid_barrier(unsigned* counter, int program, int programs) {
    nt_fence();
    nt_barrier();
    if (nt_thread() == 0) {
        const unsigned others = static_cast<unsigned>(programs - 1);
        const unsigned before = nt_fetch_add(counter, program == 0 ? 0x80000000u - others : 1u);
        while (((before ^ nt_read_acquire(counter)) & 0x80000000u) == 0u) {
        }
    }
    nt_barrier();
    nt_fence();
}

/// atomic: the program that comes last turns the fp32 sums into dgamma, and leaves zeros for the next launch.
NT_DEVICE void nt_finish_atomic(float* sums, unsigned* counter, int programs, void* dgamma, char* shared) {
    nt_fence();
    nt_barrier();
    unsigned* last = reinterpret_cast<unsigned*>(shared);
    if (nt_thread() == 0) {
        *last = nt_count_wrapping(counter, static_cast<unsigned>(programs - 1)) == static_cast<unsigned>(programs - 1) ? 1u : 0u;
    }
    nt_barrier();
    if (*last != 0u) {
        nt_fence();
        constexpr int width = nt_cols % 4 == 0 ? 4 : 1;
        for (int column = nt_thread() * width; column < nt_cols; column += nt_threads * width) {
            float v[width];
            nt_read_coherent<width>(v, sums + column);
            nt_store_dgamma(dgamma, column, v);
            NT_UNROLL
            for (int i = 0; i < width; ++i) {
                sums[column + i] = 0.0f;
            }
        }
    }
}

template <int Width>
NT_DEVICE void nt_add_to(float* to, const float (&v)[Width]) {
#if defined(NT_ADD_RELAXED_4)
    if constexpr (Width % 4 == 0) {
        NT_UNROLL
        for (int i = 0; i < Width; i += 4) {
            nt_add_relaxed_4(to + i, v + i);
        }
    } else
#endif
    {
        NT_UNROLL
        for (int i = 0; i < Width; ++i) {
            nt_add_relaxed(to + i, v[i]);
        }
    }
}

/// Where a program's sum over its rows goes, by NT_DGAMMA. One program alone has the whole of it. What is published is so in
/// the midst of a loop over rows, where a second way out costs registers and time: it always goes through the reduction.
template <int Width>
NT_DEVICE void nt_emit_dgamma(void* dgamma, float* partials, int program, int programs, int column, const float (&v)[Width]) {
    if constexpr (nt_publishes) {
        nt_publish(partials + static_cast<long long>(program) * nt_cols + column, v);
    } else if (programs == 1) {
        nt_store_dgamma(dgamma, column, v);
    } else if constexpr (NT_IS(DGAMMA, atomic)) {
        nt_add_to(partials + column, v);
    } else {
        nt_store_floats(partials + static_cast<long long>(program) * nt_cols + column, v);
    }
}
