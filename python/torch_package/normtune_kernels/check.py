"""Compares random calls with float64: shapes, strides, dtypes, castings, streams, gradients.

    python -m normtune_kernels.check [--calls 1000] [--seed 0] [--device cuda]

It ends with 1 where one is wrong, or where the package's kernels did none on a GPU.

Of a package of --batch-invariant or --deterministic it compares bits as well: of rows alone and in batches, of dgamma from call to call. On several GPUs each call's tensors are on one of them, drawn at random, and at times another is the current one.
"""

import argparse
import contextlib
import itertools
import pathlib
import random
import sys

import torch

import normtune_kernels as nt

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
UNIT = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float32: 2.0**-24}  # of a rounding to nearest


def table():
    return (pathlib.Path(__file__).parent / "kernels.txt").read_text().splitlines()


def tuned(modes=("forward",)):
    """(columns, row stride, dtype, dtype of weights, casting, offset) of the package's entries of these modes."""
    words = [line.split() for line in table() if line.startswith("entry ")]
    return sorted({(int(w[8]), int(w[9]), w[3], w[4], w[5], int(w[7])) for w in words if w[2] in modes})


def rows_of(draw, stride, cols, dtype, device):
    """A tensor of 0 to 3 leading dimensions, its rows contiguous or apart, in order or transposed, at times off 16 bytes."""
    leading = [draw.choice([0, 1, 2, 3, 7, 33, 64, 257] if draw.random() < 0.1 else [1, 2, 3, 7, 33, 64, 257]) for _ in range(draw.randint(0, 3))]
    while torch.Size(leading).numel() * cols > (2**24 if device != "cpu" else 2**18):
        leading.pop()
    kind = draw.choice(["contiguous", "contiguous", "strided", "padded", "transposed", "shifted", "backwards", "expanded"])
    make = lambda *shape: torch.randn(*shape, device=device, dtype=torch.float32).mul_(draw.choice([1.0, 1.0, 30.0, 1e-3])).to(dtype)
    if kind == "strided" and stride > cols or kind == "padded":
        return make(*leading, stride if kind == "strided" else cols + draw.choice([1, 8, 64]))[..., :cols], kind
    if kind == "transposed" and len(leading) > 1:
        return make(*reversed(leading), cols).permute(*reversed(range(len(leading))), len(leading)), kind
    if kind == "shifted":
        return make(torch.Size(leading).numel() * cols + 1)[1:].view(*leading, cols), kind
    if kind == "backwards":
        return make(*leading, cols, 2)[..., 1], kind
    if kind == "expanded" and leading:
        return make(cols).expand(*leading, cols), kind
    return make(*leading, cols), "contiguous"


def expected(x, residual, weight, eps, casting, offset, dy, ds):
    """y, s, dx, dgamma and what dx is a difference of, in float64, of the sum as it is stored."""
    s = x if residual is None else x + residual
    s64 = s.detach().double().requires_grad_()
    w64 = None if weight is None else weight.detach().double().requires_grad_()
    scale = torch.rsqrt((s64 * s64).mean(-1, keepdim=True) + eps)
    y = s64 * scale
    if w64 is not None:
        y = y * (w64 + offset)
    total = (y * dy.double()).sum() if residual is None else (y * dy.double()).sum() + (s64 * ds.double()).sum()
    gradients = torch.autograd.grad(total, [s64] if w64 is None else [s64, w64])
    minuend = (dy.double() * scale * (1 if w64 is None else w64 + offset)).detach()
    return y.detach(), s, gradients[0], gradients[1] if w64 is not None else None, minuend


def worst(found, wanted, allowed):
    """The largest error over what is allowed."""
    if found.numel() == 0:
        return 0.0
    ratio = (found.double() - wanted).abs() / allowed
    return float("inf") if bool(torch.isnan(ratio).any()) else float(ratio.max())


def judged(draw, entry, streams):
    """Errors of a random call over what is allowed, by output, and what was called. `streams`: by device; None: its current one."""
    device = draw.choice(list(streams))
    current = draw.choice(list(streams))
    with torch.cuda.device(current) if device != "cpu" else contextlib.nullcontext():
        errors, what = called(draw, entry, device, streams[device])
    return errors, what + (f" on {device}, {current} is current" if len(streams) > 1 else "")


def called(draw, entry, device, streams):
    cols, stride, dtype, weight_dtype, casting, offset = entry
    dtype, weight_dtype = DTYPES[dtype], DTYPES[weight_dtype]
    if draw.random() < 0.15:  # what nobody tuned
        cols = draw.choice([1, 2, 3, 17, 100, 409, 1000])
        casting, offset = draw.choice(["llama", "gemma", "none"]), draw.choice([0, 1])
        dtype = draw.choice(list(DTYPES.values()))
        weight_dtype = draw.choice([dtype, torch.float32])
    x, kind = rows_of(draw, stride, cols, dtype, device)
    residual = torch.randn_like(x) if draw.random() < 0.5 else None
    weight = None if draw.random() < 0.1 else (1 - offset + torch.randn(cols, device=device) / 4).to(weight_dtype)
    eps = draw.choice([1e-6, 1e-5, 1e-3])
    inputs = [t for t in (x, residual, weight) if t is not None]
    wanted = [t for t in inputs if draw.random() < 0.8]
    dy, ds = torch.randn_like(x), torch.randn_like(x)
    if draw.random() < 0.3 and x.dim() > 1:
        dy = dy.transpose(0, -2).contiguous().transpose(0, -2)
    y64, s, dx64, dw64, minuend = expected(x, residual, weight, eps, casting, offset, dy, ds)
    for t in inputs:
        t.requires_grad_(any(t is other for other in wanted))
    stream = draw.choice(streams)
    if stream is not None:
        stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream) if stream is not None else torch.no_grad() if not wanted else torch.enable_grad():
        if residual is None:
            y, total = nt.rms_norm(x, weight, eps, casting=casting, offset=offset), None
        else:
            y, total = nt.fused_add_rms_norm(x, residual, weight, eps, casting=casting, offset=offset)
        if wanted:
            torch.autograd.backward([y] if total is None else [y, total], [dy] if total is None else [dy, ds])
    if stream is not None:
        torch.cuda.current_stream(device).wait_stream(stream)
    u, e = UNIT[dtype], 2.0**-24
    none = 8 if casting == "none" else 1  # which rounds after each operation
    rows = max(1, x.numel() // cols)
    tiny = 1e-30 + (2.0**-24 if dtype == torch.float16 else 0)
    errors = {"y": worst(y.detach(), y64, none * 3 * u * y64.abs() + 4e-6 * y64.abs() + tiny)}
    if total is not None:
        errors["s"] = 0.0 if torch.equal(total.detach(), s.detach()) else float("inf")
    row_scale = torch.maximum(dx64.abs(), minuend.abs()).amax(-1, keepdim=True) if dx64.numel() else dx64
    for name, t in (("dx", x), ("dresidual", residual)):
        if t is not None and t.requires_grad:
            errors[name] = worst(t.grad, dx64, none * 4 * u * row_scale + 1e-5 * row_scale + tiny)
    if weight is not None and weight.requires_grad:
        terms = torch.sqrt(((y64 / torch.where(weight.double() + offset == 0, 1.0, weight.double() + offset).detach() * dy.double())**2)
                           .reshape(-1, cols).sum(0))
        # What lies below fp16's normal numbers: of the sum as it is stored, and of each normalised value.
        small = 1e-30 + 2.0**-24 * ((weight_dtype == torch.float16) + (dtype == torch.float16) * rows * (float(dy.abs().max()) if dy.numel() else 0))
        errors["dgamma"] = worst(weight.grad, dw64, none * 8 * u * terms + 2 * UNIT[weight_dtype] * dw64.abs() + 16 * e * rows**0.5 * terms + small)
    what = f"{tuple(x.shape)} {kind} {x.dtype} weight {None if weight is None else weight.dtype} {casting} offset {offset} eps {eps}" \
           f"{'' if residual is None else ' fused'}{'' if stream is None else ' on a stream'} gradients {len(wanted)}"
    return errors, what


def bits_of(t):
    return t.detach().contiguous().view(torch.int32 if t.dtype == torch.float32 else torch.int16)


def outputs(fused, entry, x, residual, dy, ds, weight):
    """Outputs and gradients of an operation, by name, and the gradient of gamma; None: some of it was done by the reference."""
    _, _, _, _, casting, offset = entry
    before = nt.calls()["reference"]
    inputs = [t.detach().requires_grad_() for t in ((x, residual, weight) if fused else (x, weight))]
    if fused:
        y, s = nt.fused_add_rms_norm(*inputs, 1e-6, casting=casting, offset=offset)
        found = torch.autograd.grad([y, s], inputs, [dy, ds])
        rows = {"y": y, "s": s, "dx": found[0]}
    else:
        y = nt.rms_norm(*inputs, 1e-6, casting=casting, offset=offset)
        found = torch.autograd.grad(y, inputs, dy)
        rows = {"y": y, "dx": found[0]}
    return (rows, found[-1]) if nt.calls()["reference"] == before else None


def compare_bits(fused, entry, device, rows_alike, runs_alike):
    """Of 8 rows in batches of other sizes, at other places; of dgamma over 8 calls: (what was compared, what differs, sizes by the reference)."""
    cols, stride, dtype, weight_dtype, _, offset = entry
    make = lambda rows: torch.randn(rows, stride, device=device).to(DTYPES[dtype])
    kept = [make(8) for _ in range(4)]
    weight = (1 - offset + torch.randn(cols, device=device) / 4).to(DTYPES[weight_dtype])
    first, compared, differ, by_reference = {}, 0, [], []
    for rows in (1, 2, 13, 128, 1009, 8192, 40009):
        if rows * cols > (2**26 if device != "cpu" else 2**18):
            break
        batch = [make(rows) for _ in kept]
        places = torch.randperm(rows, device=device)[:8]
        for tensor, of_rows in zip(batch, kept):
            tensor[places] = of_rows[:len(places)]
        x, residual, dy, ds = batch[0][:, :cols], *(t[:, :cols].contiguous() for t in batch[1:])
        runs = [outputs(fused, entry, x, residual, dy, ds, weight) for _ in range(8 if runs_alike else 1)]
        if None in runs:
            by_reference.append(rows)
            continue
        for name, tensor in runs[0][0].items() if rows_alike else ():
            for n, bits in enumerate(bits_of(tensor[places])):
                compared += 1
                differ += [] if torch.equal(first.setdefault((name, n), bits), bits) else [f"{name} of a row among {rows}"]
        for _, dgamma in runs[1:]:
            compared += 1
            differ += [] if torch.equal(bits_of(runs[0][1]), bits_of(dgamma)) else [f"dgamma of {rows} rows, called again"]
    return compared, differ, by_reference


def check_bits(entries, devices):
    """How many differ of what the table says is equal."""
    titles = [line[2:].partition(":")[0] for line in table() if line.startswith("# ")][:1]
    rows_alike, runs_alike = (any(word in title.lower() for title in titles) for word in ("batch-invariant", "deterministic"))
    wrong = 0
    for entry, fused, device in itertools.product(entries if rows_alike or runs_alike else (), (False, True), devices):
        compared, differ, by_reference = compare_bits(fused, entry, device, rows_alike, runs_alike)
        wrong += len(differ)
        if compared:
            print(f"{titles[0]}, {'fused_add_rms_norm' if fused else 'rms_norm'}, {entry[0]} columns, {entry[2]}{f' on {device}' if len(devices) > 1 else ''}: "
                  f"{compared} rows or dgammas compared, {len(differ)} differ{'' if not differ else ': ' + differ[0]}" +
                  (f"; of {', '.join(map(str, by_reference))} rows it was the reference" if by_reference else ""))
    return wrong


def untried(device, by_tuned):
    """(what there is to say, exit code) where the package has kernels and none of them did a call."""
    if by_tuned > 0 or not any(line.startswith("entry ") for line in table()):
        return "", 0
    if torch.device(device).type == "cpu":
        return "No kernel was tried: on a CPU the reference does every call.", 0
    return "No kernel was tried: the reference did every call. kernels.txt says of which GPUs its kernels are, and docs/torch.md which calls they serve.", 1


def main():
    parser = argparse.ArgumentParser(prog="python -m normtune_kernels.check", description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="cpu, cuda (all GPUs), or cuda:N")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    torch.manual_seed(arguments.seed)
    entries = tuned(("forward", "backward")) or [(cols, cols, dtype, dtype, "llama", 0) for cols in (128, 1024) for dtype in DTYPES]
    devices = [f"cuda:{n}" for n in range(torch.cuda.device_count())] if arguments.device == "cuda" else [arguments.device]
    streams = {device: [None] if device == "cpu" else [None, None, torch.cuda.Stream(device), torch.cuda.Stream(device)] for device in devices}
    wrong, most = 0, {}
    for _ in range(arguments.calls):
        errors, what = judged(draw, draw.choice(entries), streams)
        for name, error in errors.items():
            most[name] = max(most.get(name, 0.0), error)
        if max(errors.values()) > 1:
            wrong += 1
            print(f"wrong: {what}: " + ", ".join(f"{name} {error:.2f}" for name, error in errors.items()))
    print(f"{arguments.calls} calls, {wrong} wrong; worst error over what is allowed: " +
          ", ".join(f"{name} {error:.2f}" for name, error in sorted(most.items())) + f"; {nt.calls()}")
    wrong += check_bits(tuned(), devices)
    text, code = untried(arguments.device, nt.calls()["tuned"])
    if text:
        print(text)
    return 1 if wrong else code


if __name__ == "__main__":
    sys.exit(main())
