// Seeded choices that come out alike on every machine and standard library. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace normtune {

/// SplitMix64 (Steele, Lea and Flood 2014): one 64-bit state, passes BigCrush.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    /// In [0, bound), bound > 0. The remainder's bias is bound / 2^64: nothing here.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    /// In [0, 1).
    double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

private:
    std::uint64_t state_;
};

/// 64-bit FNV-1a.
inline std::uint64_t fnv1a(std::string_view text, std::uint64_t basis = 0xcbf29ce484222325U) {
    for (const char c : text) {
        basis = (basis ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return basis;
}

/// A seed for one purpose, so that two uses of the same number are not the same stream.
inline std::uint64_t mix_seed(std::uint64_t seed, std::string_view purpose, std::uint64_t index = 0) {
    const std::uint64_t basis = 0xcbf29ce484222325U ^ seed;
    Random random(fnv1a(purpose, basis) ^ (index * 0xd6e8feb86659fd93U));
    return random.next();
}

template <typename T>
void shuffle(std::vector<T>& values, Random random) {
    for (std::size_t i = values.size(); i > 1; --i) {
        std::swap(values[i - 1], values[random.below(i)]);
    }
}

}  // namespace normtune
