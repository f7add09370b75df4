"""The backward on a contiguous grid, a program a compute unit: rows a program as a constant of the compilation, or as an argument."""

import triton
import triton.language as tl
from common import backward_row, sum_partials


@triton.jit
def rows_constexpr(x, gamma, dy, rstd, dx, dgamma, partials, counter, rows, stride, cols, programs, ROWS: tl.constexpr, BLOCK_N: tl.constexpr):
    columns = tl.arange(0, BLOCK_N)
    mask = columns < cols
    gain = tl.load(gamma + columns, mask=mask, other=0.0).to(tl.float32)
    part = tl.zeros([BLOCK_N], tl.float32)
    for i in range(ROWS):
        at = tl.program_id(0).to(tl.int64) * ROWS + i
        if at < rows:
            part += backward_row(x, gain, dy, rstd, dx, at, stride, columns, mask, cols)
    sum_partials(part, partials, counter, dgamma, programs, columns, mask, BLOCK_N)


@triton.jit
def rows_runtime(x, gamma, dy, rstd, dx, dgamma, partials, counter, rows, stride, cols, programs, rows_per_program, BLOCK_N: tl.constexpr):
    columns = tl.arange(0, BLOCK_N)
    mask = columns < cols
    gain = tl.load(gamma + columns, mask=mask, other=0.0).to(tl.float32)
    part = tl.zeros([BLOCK_N], tl.float32)
    first = tl.program_id(0) * rows_per_program
    for at in range(first, tl.minimum(first + rows_per_program, rows)):
        part += backward_row(x, gain, dy, rstd, dx, at.to(tl.int64), stride, columns, mask, cols)
    sum_partials(part, partials, counter, dgamma, programs, columns, mask, BLOCK_N)
