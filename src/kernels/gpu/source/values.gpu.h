// Gamma, and the roundings of the castings.

/// Gamma, loaded where NT_GAMMA says: once a program, before the row sum, or after it.
struct nt_gammas {
    static constexpr bool keep = !NT_IS(GAMMA, after) && !nt_gamma_in_shared;  // in registers across the row sum
    // Where rows lie in shared memory because registers are short, gamma comes vector by vector as well.
    static constexpr bool by_vector = NT_IS(GAMMA, after) && NT_IS(RESIDENCY, shared);
    const void* base;
    char* shared;
    nt_gamma now[nt_accesses];

    NT_DEVICE nt_gammas(const void* base_, char* shared_) : base(base_), shared(shared_) {
        if constexpr (nt_gamma_in_shared) {
            NT_NO_UNROLL
            for (int access = 0; access < nt_row_accesses; ++access) {
                nt_gamma v;
                load(v, access);
                nt_store_shared(nt_gamma_piece(shared, access), v);
            }
        } else if constexpr (nt_affine && NT_IS(GAMMA, hoisted)) {
            load_block(0);
        }
    }

    /// Before the row sum, once a step.
    NT_DEVICE void before_sum() {
        if constexpr (nt_affine && NT_IS(GAMMA, before)) {
            load_block(0);
        }
    }
    /// Before the block's gamma is used.
    NT_DEVICE void use(int chunk) {
        if constexpr (nt_affine && !keep && !nt_gamma_in_shared && !by_vector) {
            load_block(chunk);
        }
    }
    /// g = offset + w, as the casting rounds it.
    NT_DEVICE void get(int chunk, int access, float (&g)[nt_width]) const {
        if constexpr (nt_affine) {
            packed(chunk, access).unpack(g);
            NT_UNROLL
            for (int i = 0; i < nt_width; ++i) {
                if constexpr (NT_IS(CASTING, none)) {
                    const float w = nt_round<nt_element>(g[i]);
                    g[i] = NT_OFFSET != 0 ? nt_round<nt_element>(static_cast<float>(NT_OFFSET) + w) : w;
                } else if constexpr (NT_OFFSET != 0) {
                    g[i] += static_cast<float>(NT_OFFSET);
                }
            }
        } else {
            NT_UNROLL
            for (int i = 0; i < nt_width; ++i) {
                g[i] = 1.0f;
            }
        }
    }

    /// w, as it lies in memory.
    NT_DEVICE nt_gamma packed(int chunk, int access) const {
        nt_gamma v;
        if constexpr (nt_gamma_in_shared) {
            nt_load_shared(v, nt_gamma_piece(shared, chunk * nt_accesses + access));
        } else if constexpr (by_vector) {
            load(v, chunk * nt_accesses + access);
        } else {
            v = now[access];
        }
        return v;
    }

private:
    NT_DEVICE void load(nt_gamma& v, int access) const {
        v.clear();
        if (nt_in_row(nt_column(access))) {
            nt_load<nt_path_cached>(v, static_cast<const char*>(base) + nt_offset<nt_weight>(0, 0, access));
        }
    }
    NT_DEVICE void load_block(int chunk) {
        NT_UNROLL
        for (int access = 0; access < nt_accesses; ++access) {
            load(now[access], chunk * nt_accesses + access);
        }
    }
};

/// n, the normalised value, as the casting rounds it before gamma (and before the product with dy).
NT_DEVICE float nt_normalised(float value, float rstd) {
    if constexpr (NT_IS(CASTING, llama)) {
        return nt_round<nt_element>(value * rstd);
    } else if constexpr (NT_IS(CASTING, none)) {
        return nt_round<nt_element>(value * nt_round<nt_element>(rstd));
    } else {
        return value * rstd;
    }
}

/// dgamma's shares of one row's columns, dy·n as the casting rounds it: two numbers at a time, as devices convert them.
template <int Count>
NT_DEVICE void nt_gamma_shares(float (&share)[Count], const float (&value)[Count], const float (&dy)[Count], float rstd) {
    const float scale = NT_IS(CASTING, none) ? nt_round<nt_element>(rstd) : rstd;
    NT_UNROLL
    for (int i = 0; i < Count; ++i) {
        share[i] = value[i] * scale;
    }
    if constexpr (NT_IS(CASTING, llama) || NT_IS(CASTING, none)) {
        nt_round_all<nt_element>(share);
    }
    NT_UNROLL
    for (int i = 0; i < Count; ++i) {
        share[i] *= dy[i];
    }
    if constexpr (NT_IS(CASTING, none)) {
        nt_round_all<nt_element>(share);
    }
}

/// y = n·g of one vector. A product of two 16-bit numbers is exact in fp32: where the device multiplies pairs of them,
/// with one rounding, the result is the same.
NT_DEVICE nt_data nt_scaled(const float (&value)[nt_width], float rstd, const nt_gammas& gammas, int chunk, int access) {
    float v[nt_width];
    nt_data out;
    if constexpr (nt_multiplies_pairs && NT_IS(CASTING, llama) && nt_affine && NT_OFFSET == 0 && NT_DTYPE == NT_WEIGHT_DTYPE) {
        NT_UNROLL
        for (int i = 0; i < nt_width; ++i) {
            v[i] = value[i] * rstd;
        }
        out.pack(v);
        const nt_gamma gamma = gammas.packed(chunk, access);
        NT_UNROLL
        for (int i = 0; i < nt_data::words; ++i) {
            out.word[i] = nt_multiply_pair(nt_element{}, out.word[i], gamma.word[i]);
        }
    } else {
        float g[nt_width];
        gammas.get(chunk, access, g);
        NT_UNROLL
        for (int i = 0; i < nt_width; ++i) {
            v[i] = nt_normalised(value[i], rstd) * g[i];
        }
        out.pack(v);
    }
    return out;
}

#if !defined(NT_SUM_CHAINS)
#define NT_SUM_CHAINS 4
#endif
/// The sums of the rows at hand, each in chains of additions that do not wait for each other: in one chain, a few rows
/// would take the latency of all their additions in a line.
struct nt_row_sums {
    static constexpr int chains = nt_held_rows >= NT_SUM_CHAINS ? 1 : NT_SUM_CHAINS / nt_held_rows;
    float part[nt_held_rows][chains];

    NT_DEVICE nt_row_sums() {
        NT_UNROLL
        for (int held = 0; held < nt_held_rows; ++held) {
            NT_UNROLL
            for (int chain = 0; chain < chains; ++chain) {
                part[held][chain] = 0.0f;
            }
        }
    }
    /// Number i of a vector, in the form of NT_REDUCTION.
    NT_DEVICE void add(int held, int i, float q, bool inside) {
        float& sum = part[held][i % chains];
        if constexpr (NT_IS(REDUCTION, where)) {
            sum += inside ? q : 0.0f;
        } else {
            sum += q;
        }
    }
    NT_DEVICE void total(float (&sum)[nt_held_rows]) {
        NT_UNROLL
        for (int held = 0; held < nt_held_rows; ++held) {
            NT_UNROLL
            for (int half = chains / 2; half > 0; half /= 2) {
                NT_UNROLL
                for (int chain = 0; chain < half; ++chain) {
                    part[held][chain] += part[held][chain + half];
                }
            }
            sum[held] = part[held][0];
        }
    }
};
