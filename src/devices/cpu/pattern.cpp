#include "devices/cpu/pattern.h"

#include <cmath>
#include <numbers>
#include <span>

#include "problem/elements.h"

namespace normtune::cpu {

namespace {

constexpr std::int64_t pattern_values = 1 << 22;

/// (0, 1]
float unit(std::uint32_t bits) {
    return static_cast<float>((bits >> 8) + 1) * 0x1p-24F;
}

}  // namespace

std::uint64_t mixed(std::uint64_t counter) {
    std::uint64_t z = counter * 0x9e3779b97f4a7c15U + 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

void fill_normal(std::byte* out, Dtype dtype, std::int64_t first, std::int64_t count, float mean, float deviation, std::uint64_t seed) {
    for (std::int64_t i = 0; i < count; i += 2) {
        // Box and Muller: two uniform numbers give two normal ones.
        const std::uint64_t bits = mixed(mixed(seed) ^ static_cast<std::uint64_t>(first + i));
        const float radius = deviation * std::sqrt(-2.0F * std::log(unit(static_cast<std::uint32_t>(bits))));
        const float angle = 2.0F * std::numbers::pi_v<float> * unit(static_cast<std::uint32_t>(bits >> 32));
        const float pair[] = {mean + radius * std::cos(angle), mean + radius * std::sin(angle)};
        encode(dtype, std::span(pair).first(i + 1 < count ? 2 : 1), i, out);
    }
}

Pattern Pattern::normal(Team& team, Dtype dtype, float mean, float deviation, std::uint64_t seed) {
    Pattern pattern;
    pattern.bytes_.resize(static_cast<std::size_t>(pattern_values * bytes_of(dtype)));
    const std::int64_t share = (pattern_values / team.size() + 1) / 2 * 2 + 2;
    auto draw = [&](int thread) {
        const std::int64_t begin = std::min(pattern_values, thread * share);
        const std::int64_t end = std::min(pattern_values, begin + share);
        fill_normal(pattern.bytes_.data() + begin * bytes_of(dtype), dtype, begin, end - begin, mean, deviation, seed);
    };
    team.fork(draw);
    return pattern;
}

}  // namespace normtune::cpu
