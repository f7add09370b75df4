"""Does a where after a masked load cost anything? One row a program, whole (row) or in blocks (tiled)."""

import triton
import triton.language as tl
from common import rounded


@triton.jit
def row(x, gamma, y, rstd, stride, cols, eps, BLOCK: tl.constexpr, WHERE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < cols
    v = tl.load(x + at * stride + columns, mask=mask, other=0.0).to(tl.float32)
    squares = v * v
    if WHERE:
        squares = tl.where(mask, squares, 0.0)
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / cols + eps)
    tl.store(rstd + at, scale)
    gain = tl.load(gamma + columns, mask=mask, other=0.0).to(tl.float32)
    tl.store(y + at * cols + columns, (rounded(v * scale) * gain).to(tl.bfloat16), mask=mask)


@triton.jit
def tiled(x, gamma, y, rstd, stride, cols, eps, BLOCK: tl.constexpr, WHERE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64)
    sums = tl.zeros([BLOCK], tl.float32)
    for begin in range(0, cols, BLOCK):
        columns = begin + tl.arange(0, BLOCK)
        v = tl.load(x + at * stride + columns, mask=columns < cols, other=0.0).to(tl.float32)
        squares = v * v
        if WHERE:
            squares = tl.where(columns < cols, squares, 0.0)
        sums += squares
    scale = 1 / tl.sqrt(tl.sum(sums, 0) / cols + eps)
    tl.store(rstd + at, scale)
    for begin in range(0, cols, BLOCK):
        columns = begin + tl.arange(0, BLOCK)
        mask = columns < cols
        v = tl.load(x + at * stride + columns, mask=mask, other=0.0).to(tl.float32)
        gain = tl.load(gamma + columns, mask=mask, other=0.0).to(tl.float32)
        tl.store(y + at * cols + columns, (rounded(v * scale) * gain).to(tl.bfloat16), mask=mask)
