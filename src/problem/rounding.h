// Rounding contracts: which intermediates a kernel rounds to x's type. Each library's: docs/semantics.md.
#pragma once

#include <array>
#include <string_view>

namespace normtune {

/// Points at which a pass rounds to x's type T. All other intermediates and all sums are fp32, and each output is rounded
/// once more to its own type. (g = offset + gamma, m = dy·g; dx = rstd·m − (rstd³/N)·Σ(m·x)·x [+ ds].)
struct RoundingPoints {
    bool squares = false;   // T(x·x), of which rstd is made
    bool scale = false;     // T(rstd), where it multiplies x
    bool normal = false;    // n = T(x·rstd), in y = n·g and in dgamma = Σ dy·n
    bool gain = false;      // g = T(T(offset) + T(gamma))
    bool gradient = false;  // m = T(dy·g)
    bool terms = false;     // T(dy·n)
    friend bool operator==(const RoundingPoints&, const RoundingPoints&) = default;
};

struct RoundingPoint {
    std::string_view name;  // in launch.json
    bool RoundingPoints::*member;
    bool forward;  // may a forward have it?
    bool backward;
};
inline constexpr std::array<RoundingPoint, 6> rounding_points{{
    {"squares", &RoundingPoints::squares, true, false},
    {"scale", &RoundingPoints::scale, true, true},
    {"normal", &RoundingPoints::normal, true, true},
    {"gain", &RoundingPoints::gain, true, true},
    {"gradient", &RoundingPoints::gradient, false, true},
    {"terms", &RoundingPoints::terms, false, true},
}};

struct RoundingContract {
    RoundingPoints forward{};
    RoundingPoints backward{};
    friend bool operator==(const RoundingContract&, const RoundingContract&) = default;
};

/// Of the castings llama, gemma and none, in this order: what normtune's own kernels keep.
inline constexpr std::array<RoundingContract, 3> casting_contracts{{
    {{.normal = true}, {.normal = true}},
    {},
    {{.squares = true, .scale = true, .normal = true, .gain = true},
     {.scale = true, .normal = true, .gain = true, .gradient = true, .terms = true}},
}};

}  // namespace normtune
