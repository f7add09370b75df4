// Element types and vectors of them. A vector stays packed as its memory words until its numbers are needed: a 16-bit
// row takes half the registers that way.

struct nt_fp32 {
    static constexpr int bytes = 4;
};
struct nt_bf16 {
    static constexpr int bytes = 2;
};
struct nt_fp16 {
    static constexpr int bytes = 2;
};

template <int Code>
struct nt_dtype;  // of NT_DTYPE and NT_WEIGHT_DTYPE
template <>
struct nt_dtype<NT_DTYPE_fp32> {
    typedef nt_fp32 type;
};
template <>
struct nt_dtype<NT_DTYPE_bf16> {
    typedef nt_bf16 type;
};
template <>
struct nt_dtype<NT_DTYPE_fp16> {
    typedef nt_fp16 type;
};

#if !defined(NT_PAIR_BF16)
// Round to nearest, ties to even; a NaN stays one.
NT_DEVICE unsigned nt_one_bf16(float v) {
    const unsigned bits = nt_float_bits(v);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (bits >> 16) | 0x40u;
    }
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
NT_DEVICE unsigned nt_pair_bf16(float low, float high) { return nt_one_bf16(low) | nt_one_bf16(high) << 16; }
#endif

NT_DEVICE float nt_low(nt_bf16, unsigned word) { return nt_bits_float(word << 16); }
NT_DEVICE float nt_high(nt_bf16, unsigned word) { return nt_bits_float(word & 0xffff0000u); }
NT_DEVICE unsigned nt_pair(nt_bf16, float low, float high) { return nt_pair_bf16(low, high); }
NT_DEVICE float nt_low(nt_fp16, unsigned word) { return nt_from_fp16(word & 0xffffu); }
NT_DEVICE float nt_high(nt_fp16, unsigned word) { return nt_from_fp16(word >> 16); }
NT_DEVICE unsigned nt_pair(nt_fp16, float low, float high) { return nt_pair_fp16(low, high); }

/// Products of a word's two numbers, where the device has them for the type.
template <class E>
NT_DEVICE unsigned nt_multiply_pair(E, unsigned, unsigned) {
    return 0u;
}
#if defined(NT_MULTIPLY_PAIRS)
constexpr bool nt_multiplies_pairs = !NT_IS(DTYPE, fp32);
NT_DEVICE unsigned nt_multiply_pair(nt_bf16, unsigned a, unsigned b) { return nt_multiply_pair_bf16(a, b); }
NT_DEVICE unsigned nt_multiply_pair(nt_fp16, unsigned a, unsigned b) { return nt_multiply_pair_fp16(a, b); }
#else
constexpr bool nt_multiplies_pairs = false;
#endif

/// The value that `v` has once it is stored as E.
template <class E>
NT_DEVICE float nt_round(float v) {
    if constexpr (E::bytes == 4) {
        return v;
    } else {
        return nt_low(E{}, nt_pair(E{}, v, 0.0f));
    }
}

/// `Count` elements of E, packed.
template <class E, int Count>
struct nt_vector {
    static constexpr int bytes = Count * E::bytes;
    static constexpr int words = (bytes + 3) / 4;
    unsigned word[words];

    NT_DEVICE void clear() {
        NT_UNROLL
        for (int i = 0; i < words; ++i) {
            word[i] = 0u;
        }
    }
    NT_DEVICE void unpack(float (&out)[Count]) const {
        if constexpr (E::bytes == 4) {
            NT_UNROLL
            for (int i = 0; i < Count; ++i) {
                out[i] = nt_bits_float(word[i]);
            }
        } else {
            NT_UNROLL
            for (int i = 0; i < Count; ++i) {
                out[i] = i % 2 == 0 ? nt_low(E{}, word[i / 2]) : nt_high(E{}, word[i / 2]);
            }
        }
    }
    NT_DEVICE void pack(const float (&in)[Count]) {
        if constexpr (E::bytes == 4) {
            NT_UNROLL
            for (int i = 0; i < Count; ++i) {
                word[i] = nt_float_bits(in[i]);
            }
        } else {
            NT_UNROLL
            for (int i = 0; i < Count; i += 2) {
                word[i / 2] = nt_pair(E{}, in[i], i + 1 < Count ? in[i + 1] : 0.0f);
            }
        }
    }
};

/// Each of `v` has the value that it has once it is stored as E. Two of 16 bits at a time, as devices convert them.
template <class E, int Count>
NT_DEVICE void nt_round_all(float (&v)[Count]) {
    if constexpr (E::bytes < 4) {
        nt_vector<E, Count> stored;
        stored.pack(v);
        stored.unpack(v);
    }
}

/// The widest access that a vector of `bytes` needs: fp32 weights of eight bf16 elements are two of 16 bytes.
NT_CONSTANT constexpr int nt_access(int bytes) { return bytes < 16 ? bytes : 16; }

enum nt_path { nt_path_constant, nt_path_again, nt_path_plain, nt_path_cached };  // again: constant, and read once more

template <nt_path Path, int Count, class E>
NT_DEVICE void nt_load(nt_vector<E, Count>& v, const void* from) {
    constexpr int access = nt_access(nt_vector<E, Count>::bytes);
    NT_UNROLL
    for (int at = 0; at < nt_vector<E, Count>::bytes; at += access) {
        const void* p = static_cast<const char*>(from) + at;
        if constexpr (Path == nt_path_cached) {
            nt_read_cached<access>(v.word + at / 4, p);
        } else {
            nt_read<access, Path == nt_path_constant || Path == nt_path_again, Path == nt_path_again>(v.word + at / 4, p);
        }
    }
}
/// Where `inside`, else v stays as it is.
template <nt_path Path, int Count, class E>
NT_DEVICE void nt_load_if(nt_vector<E, Count>& v, const void* from, bool inside) {
#if defined(NT_PREDICATED)
    constexpr int access = nt_access(nt_vector<E, Count>::bytes);
    NT_UNROLL
    for (int at = 0; at < nt_vector<E, Count>::bytes; at += access) {
        nt_read_if<access, Path == nt_path_constant || Path == nt_path_again, Path == nt_path_again>(v.word + at / 4, static_cast<const char*>(from) + at,
                                                                                                     inside);
    }
#else
    if (inside) {
        nt_load<Path>(v, from);
    }
#endif
}
template <int Count, class E>
NT_DEVICE void nt_store(void* to, const nt_vector<E, Count>& v) {
    constexpr int access = nt_access(nt_vector<E, Count>::bytes);
    NT_UNROLL
    for (int at = 0; at < nt_vector<E, Count>::bytes; at += access) {
        nt_write<access>(static_cast<char*>(to) + at, v.word + at / 4);
    }
}

// Shared memory: one thread's own piece, never wider than 16 bytes.
struct alignas(16) nt_words4 {
    unsigned w[4];
};
struct alignas(8) nt_words2 {
    unsigned w[2];
};
template <int Count, class E>
NT_DEVICE void nt_load_shared(nt_vector<E, Count>& v, const char* from) {
    constexpr int bytes = nt_vector<E, Count>::bytes;
    if constexpr (bytes >= 16) {
        NT_UNROLL
        for (int i = 0; i < bytes / 16; ++i) {
            const nt_words4 w = reinterpret_cast<const nt_words4*>(from)[i];
            NT_UNROLL
            for (int k = 0; k < 4; ++k) {
                v.word[4 * i + k] = w.w[k];
            }
        }
    } else if constexpr (bytes == 8) {
        const nt_words2 w = *reinterpret_cast<const nt_words2*>(from);
        v.word[0] = w.w[0];
        v.word[1] = w.w[1];
    } else if constexpr (bytes == 4) {
        v.word[0] = *reinterpret_cast<const unsigned*>(from);
    } else {
        v.word[0] = *reinterpret_cast<const unsigned short*>(from);
    }
}
template <int Count, class E>
NT_DEVICE void nt_store_shared(char* to, const nt_vector<E, Count>& v) {
    constexpr int bytes = nt_vector<E, Count>::bytes;
    if constexpr (bytes >= 16) {
        NT_UNROLL
        for (int i = 0; i < bytes / 16; ++i) {
            nt_words4 w;
            NT_UNROLL
            for (int k = 0; k < 4; ++k) {
                w.w[k] = v.word[4 * i + k];
            }
            reinterpret_cast<nt_words4*>(to)[i] = w;
        }
    } else if constexpr (bytes == 8) {
        nt_words2 w;
        w.w[0] = v.word[0];
        w.w[1] = v.word[1];
        *reinterpret_cast<nt_words2*>(to) = w;
    } else if constexpr (bytes == 4) {
        *reinterpret_cast<unsigned*>(to) = v.word[0];
    } else {
        *reinterpret_cast<unsigned short*>(to) = static_cast<unsigned short>(v.word[0]);
    }
}

/// Floats that lie side by side, in accesses of 16 bytes where they are whole ones.
template <int Width>
NT_DEVICE void nt_store_floats(float* to, const float (&v)[Width]) {
    if constexpr (Width % 4 == 0) {
        NT_UNROLL
        for (int i = 0; i < Width; i += 4) {
            nt_words4 w;
            NT_UNROLL
            for (int k = 0; k < 4; ++k) {
                w.w[k] = nt_float_bits(v[i + k]);
            }
            *reinterpret_cast<nt_words4*>(to + i) = w;
        }
    } else {
        NT_UNROLL
        for (int i = 0; i < Width; ++i) {
            to[i] = v[i];
        }
    }
}
template <int Width>
NT_DEVICE void nt_load_floats(float (&v)[Width], const float* from) {
    if constexpr (Width % 4 == 0) {
        NT_UNROLL
        for (int i = 0; i < Width; i += 4) {
            const nt_words4 w = *reinterpret_cast<const nt_words4*>(from + i);
            NT_UNROLL
            for (int k = 0; k < 4; ++k) {
                v[i + k] = nt_bits_float(w.w[k]);
            }
        }
    } else {
        NT_UNROLL
        for (int i = 0; i < Width; ++i) {
            v[i] = from[i];
        }
    }
}
