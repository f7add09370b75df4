#include "space/value_help.h"

#include <cstddef>

namespace normtune {
namespace {

template <std::size_t N>
struct Words {
    std::string_view of[N];
};

constexpr Words<3> residency_help{{
    "The row stays in the threads' registers between its sum and its output: memory is read once.",
    "The row waits in shared memory (a CPU's: a scratch buffer in cache): memory is read once, and registers stay free.",
    "The row is read a second time for its output, from the caches where it is still there.",
}};
constexpr Words<4> reduction_help{{
    "Columns beyond the row are loaded under a mask, and a select puts 0 in their place before the sum.",
    "Columns beyond the row are loaded as 0 under a mask, so that the sum takes them all.",
    "Full accesses without a mask; each step asks by a branch whether it is still inside the row.",
    "No mask and no branch: the row's threads, and its blocks, divide the columns.",
}};
constexpr Words<5> grid_help{{
    "A program for each row.",
    "A program for each rows_per_program rows, which it takes one after another.",
    "As many programs as are asked for a compute unit; each goes on with every so many-th group of rows.",
    "As many programs as are asked for a compute unit; each has a run of neighbouring rows.",
    "As persistent_strided, with as few programs as take no more groups each: nearly all take as many.",
}};
constexpr Words<2> rows_binding_help{{
    "rows_per_program is compiled in: loops of a known length, and a compile for each number.",
    "rows_per_program is an argument of the launch: one compile serves all numbers.",
}};
constexpr Words<3> gamma_help{{
    "gamma is loaded once a program and kept for all of its rows.",
    "gamma is loaded before each row's sum, so that its latency is hidden behind it.",
    "gamma is loaded where it is used, after each row's sum: from the caches, and registers stay free during the sum.",
}};
constexpr Words<4> load_hint_help{{
    "Loads are cached as the device does it.",
    "Loads are marked as used once, to be evicted first; of a row that is read again, the last ones alone, and the first to be kept.",
    "Loads are cached in L2 alone, past L1.",
    "Loads leave their lines in L2 to be evicted last, so that what is stored makes way (sm_80 and later).",
}};
constexpr Words<4> store_hint_help{{
    "Stores are cached as the device does it.",
    "Stores are marked as not read again soon, to be evicted first (a CPU's: non-temporal).",
    "Stores are cached in L2 alone, past L1.",
    "Stores leave their lines in L2 to be evicted last (sm_80 and later).",
}};
constexpr Words<3> offset_bits_help{{
    "Memory offsets have 64 bits where the problem needs them, else 32.",
    "Memory offsets have 32 bits.",
    "Memory offsets have 64 bits.",
}};
constexpr Words<6> dgamma_help{{
    "Each program writes a row of partial sums of gamma's gradient in fp32; a second launch adds them up.",
    "Programs add their sums of gamma's gradient into one fp32 row by atomics; the last one converts it.",
    "gamma's gradient is summed by a pass of its own that reads x and dy by itself.",
    "Programs write partial sums of gamma's gradient, and the last ones add them up in the same launch, with all programs resident.",
    "Programs publish their partial sums early; a second launch takes each as soon as it is written (sm_90 and later).",
    "Programs beside those of dx, in the same launch, sum gamma's gradient over all rows: they read x and dy by themselves.",
}};
constexpr Words<2> dependent_launch_help{{
    "Each kernel begins when the launch ahead of it has ended.",
    "Kernels are launched while the launch ahead still runs, and wait for its end before their first read (sm_90 and later).",
}};

constexpr Words<3> staging_help{{
    "Each thread copies its own pieces of a row asynchronously, and reads no others (without rows ahead: nothing is staged).",
    "One thread asks for whole rows by bulk copies, whose bytes a barrier in shared memory counts (sm_90 and later).",
    "Rows come by bulk copies; results are put in their place in shared memory and leave by bulk copies as well (sm_90 and later).",
}};

constexpr Words<2> incoming_ds_help{{
    "Rows of the incoming ds are staged in shared memory with those of x and dy.",
    "A step begins by reading its incoming ds into registers, past shared memory, which has room for more rows ahead.",
}};

template <std::size_t N>
constexpr std::string_view at(const Words<N>& words, int value) {
    return words.of[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view value_help(Axis axis, int value) {
    switch (axis) {
        case Axis::residency:
            return at(residency_help, value);
        case Axis::reduction:
            return at(reduction_help, value);
        case Axis::grid:
            return at(grid_help, value);
        case Axis::rows_binding:
            return at(rows_binding_help, value);
        case Axis::gamma:
            return at(gamma_help, value);
        case Axis::load_hint:
            return at(load_hint_help, value);
        case Axis::store_hint:
            return at(store_hint_help, value);
        case Axis::offset_bits:
            return at(offset_bits_help, value);
        case Axis::dgamma:
            return at(dgamma_help, value);
        case Axis::dependent_launch:
            return at(dependent_launch_help, value);
        case Axis::staging:
            return at(staging_help, value);
        case Axis::incoming_ds:
            return at(incoming_ds_help, value);
        default:
            return axis_row(axis).help;
    }
}

}  // namespace normtune
