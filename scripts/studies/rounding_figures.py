"""How fp32 sums drift: the figures of docs/semantics.md, by draws from fixed seeds."""

import random
import struct

from figure_base import figure

DRAWS = 6


def fp32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def bf16(value):
    bits = struct.unpack("I", struct.pack("f", value))[0]
    return struct.unpack("f", struct.pack("I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


def rstd_error(cols, seed):
    """Of one fp32 accumulator over squares of bf16 values from N(0, 1), relative, in units of 2⁻²⁴."""
    draw, accumulated, exact = random.Random(seed), 0.0, 0.0
    for _ in range(cols):
        square = bf16(draw.gauss(0, 1)) ** 2
        accumulated, exact = fp32(accumulated + square), exact + square
    return abs((accumulated / exact) ** -0.5 - 1) * 2**24


@figure
def semantics__rstd_drift(files):
    errors = [f"{max(rstd_error(cols, seed) for seed in range(DRAWS)):.0f}" for cols in (4096, 8192, 17389, 131072)]
    return f"{', '.join(errors[:-1])} and {errors[-1]}·ε"
