"""What the kernels here share. bf16 rounds as casting llama does: n = T(x · rstd), y = T(n · gamma), dgamma = Σ dy · n."""

import triton
import triton.language as tl


@triton.jit
def rounded(v):
    return v.to(tl.bfloat16).to(tl.float32)


@triton.jit
def backward_row(x, gain, dy, rstd, dx, row, stride, columns, mask, width):
    """Writes the row's dx and gives its part of dgamma."""
    v = tl.load(x + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(dy + row * width + columns, mask=mask, other=0.0).to(tl.float32)
    scale = tl.load(rstd + row)
    m = g * gain
    dot = tl.sum(m * v, 0)
    tl.store(dx + row * width + columns, (scale * m - scale * scale * scale / width * dot * v).to(tl.bfloat16), mask=mask)
    return g * rounded(v * scale)


@triton.jit
def sum_partials(part, partials, counter, dgamma, programs, columns, mask, BLOCK_N: tl.constexpr):
    """Each program leaves its part; the last one that comes adds them up, and leaves the counter at 0 for the next launch."""
    tl.store(partials + tl.program_id(0) * BLOCK_N + columns, part)
    tl.debug_barrier()
    arrived = tl.atomic_add(counter, 1, sem="acq_rel")
    if arrived == programs - 1:
        total = tl.zeros([BLOCK_N], tl.float32)
        for program in range(programs):
            total += tl.load(partials + program * BLOCK_N + columns, cache_modifier=".cg")
        tl.store(dgamma + columns, total.to(tl.bfloat16), mask=mask)
        tl.atomic_xchg(counter, 0)
