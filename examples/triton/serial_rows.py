"""Several rows a program, one after the other, gamma loaded once before them or with each row; the backward sums dgamma up in partials."""

import triton
import triton.language as tl
from common import backward_row, rounded, sum_partials


@triton.jit
def serial_forward(x, gamma, y, rstd, rows, stride, cols, eps, ROWS: tl.constexpr, HOISTED: tl.constexpr, BLOCK_N: tl.constexpr):
    columns = tl.arange(0, BLOCK_N)
    mask = columns < cols
    gain = tl.zeros([BLOCK_N], tl.float32)
    if HOISTED:
        gain = tl.load(gamma + columns, mask=mask, other=0.0).to(tl.float32)
    for i in range(ROWS):
        at = tl.program_id(0).to(tl.int64) * ROWS + i
        if at < rows:
            v = tl.load(x + at * stride + columns, mask=mask, other=0.0).to(tl.float32)
            scale = 1 / tl.sqrt(tl.sum(v * v, 0) / cols + eps)
            tl.store(rstd + at, scale)
            if not HOISTED:
                gain = tl.load(gamma + columns, mask=mask, other=0.0).to(tl.float32)
            tl.store(y + at * cols + columns, (rounded(v * scale) * gain).to(tl.bfloat16), mask=mask)


@triton.jit
def serial_backward(x, gamma, dy, rstd, dx, dgamma, partials, counter, rows, stride, cols, programs, HOISTED: tl.constexpr, BLOCK_N: tl.constexpr):
    columns = tl.arange(0, BLOCK_N)
    mask = columns < cols
    gain = tl.zeros([BLOCK_N], tl.float32)
    if HOISTED:
        gain = tl.load(gamma + columns, mask=mask, other=0.0).to(tl.float32)
    part = tl.zeros([BLOCK_N], tl.float32)
    for at in range(tl.program_id(0), rows, programs):
        if not HOISTED:
            gain = tl.load(gamma + columns, mask=mask, other=0.0).to(tl.float32)
        part += backward_row(x, gain, dy, rstd, dx, at.to(tl.int64), stride, columns, mask, cols)
    sum_partials(part, partials, counter, dgamma, programs, columns, mask, BLOCK_N)
