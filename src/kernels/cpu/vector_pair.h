// Two vectors that work as one of twice the lanes: what one register of 16-bit elements becomes in fp32.
#pragma once

#include <cstddef>
#include <cstdint>

#define NORMTUNE_INLINE [[gnu::always_inline]] static inline

namespace normtune::cpu {

/// `Single` is an instruction set's vector of fp32. Which elements lie in a and which in b is the derived type's
/// affair; rows of fp32 that only the passes see (scratch, prepared gamma, dgamma) are kept in that order.
template <class Single>
struct VectorPair {
    static constexpr int lanes = 2 * Single::lanes;
    static constexpr int accumulators = 4;
    struct F {
        typename Single::F a;
        typename Single::F b;
    };

    NORMTUNE_INLINE F zero() { return {Single::zero(), Single::zero()}; }
    NORMTUNE_INLINE F set(float v) { return {Single::set(v), Single::set(v)}; }
    NORMTUNE_INLINE F add(F x, F y) { return {Single::add(x.a, y.a), Single::add(x.b, y.b)}; }
    NORMTUNE_INLINE F sub(F x, F y) { return {Single::sub(x.a, y.a), Single::sub(x.b, y.b)}; }
    NORMTUNE_INLINE F mul(F x, F y) { return {Single::mul(x.a, y.a), Single::mul(x.b, y.b)}; }
    NORMTUNE_INLINE F fma(F x, F y, F z) { return {Single::fma(x.a, y.a, z.a), Single::fma(x.b, y.b, z.b)}; }
    NORMTUNE_INLINE float sum(F x) { return Single::sum(Single::add(x.a, x.b)); }

    NORMTUNE_INLINE F load_row(const float* p) { return {Single::load_row(p), Single::load_row(p + Single::lanes)}; }
    NORMTUNE_INLINE void store_row(float* p, F v) {
        Single::store_row(p, v.a);
        Single::store_row(p + Single::lanes, v.b);
    }
};

}  // namespace normtune::cpu
