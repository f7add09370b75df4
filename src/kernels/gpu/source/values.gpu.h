// Gamma, and the roundings of the castings.

/// Gamma, loaded where NT_GAMMA says: once a program, before the row sum, or after it.
struct nt_gammas {
    static constexpr bool keep = NT_GAMMA != nt_after && !nt_gamma_in_shared;  // in registers across the row sum
    // Where rows lie in shared memory because registers are short, gamma comes vector by vector as well.
    static constexpr bool by_vector = NT_GAMMA == nt_after && NT_RESIDENCY == nt_shared;
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
        } else if constexpr (nt_affine && NT_GAMMA == nt_hoisted) {
            load_block(0);
        }
    }

    /// Before the row sum, once a step.
    NT_DEVICE void before_sum() {
        if constexpr (nt_affine && NT_GAMMA == nt_before) {
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
            if constexpr (nt_gamma_in_shared) {
                nt_gamma v;
                nt_load_shared(v, nt_gamma_piece(shared, chunk * nt_accesses + access));
                v.unpack(g);
            } else if constexpr (by_vector) {
                nt_gamma v;
                load(v, chunk * nt_accesses + access);
                v.unpack(g);
            } else {
                now[access].unpack(g);
            }
            NT_UNROLL
            for (int i = 0; i < nt_width; ++i) {
                if constexpr (NT_CASTING == nt_none) {
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
    if constexpr (NT_CASTING == nt_llama) {
        return nt_round<nt_element>(value * rstd);
    } else if constexpr (NT_CASTING == nt_none) {
        return nt_round<nt_element>(value * nt_round<nt_element>(rstd));
    } else {
        return value * rstd;
    }
}

/// sum += q, in the form of NT_REDUCTION.
NT_DEVICE void nt_accumulate(float& sum, float q, bool inside) {
    if constexpr (NT_REDUCTION == nt_where) {
        sum += inside ? q : 0.0f;
    } else {
        sum += q;
    }
}
