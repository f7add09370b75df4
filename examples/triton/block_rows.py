"""Rows in blocks of BLOCK_M×BLOCK_N on a grid of fixed size: BLOCK_M rows at a time, BLOCK_N the whole row or a part of it."""

import triton
import triton.language as tl
from common import rounded


@triton.jit
def block_rows(x, gamma, y, rstd, rows, stride, cols, eps, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(rows, BLOCK_M), tl.num_programs(0)):
        at = block * BLOCK_M + tl.arange(0, BLOCK_M)[:, None].to(tl.int64)
        sums = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
        for begin in range(0, cols, BLOCK_N):
            columns = begin + tl.arange(0, BLOCK_N)[None, :]
            v = tl.load(x + at * stride + columns, mask=(at < rows) & (columns < cols), other=0.0).to(tl.float32)
            sums += v * v
        scale = 1 / tl.sqrt(tl.sum(sums, 1, keep_dims=True) / cols + eps)
        tl.store(rstd + at, scale, mask=at < rows)
        for begin in range(0, cols, BLOCK_N):
            columns = begin + tl.arange(0, BLOCK_N)[None, :]
            mask = (at < rows) & (columns < cols)
            v = tl.load(x + at * stride + columns, mask=mask, other=0.0).to(tl.float32)
            gain = tl.load(gamma + columns, mask=columns < cols, other=0.0).to(tl.float32)
            tl.store(y + at * cols + columns, (rounded(v * scale) * gain).to(tl.bfloat16), mask=mask)
