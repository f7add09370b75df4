"""What of a package for PyTorch can be tried without a GPU: results, gradients, tracing, errors. Ends with 1 at what is wrong."""

import collections
import contextlib
import copy
import types
import warnings
from unittest import mock

import torch

import normtune_kernels as nt

FAULTS = []
OPTIONS = [(casting, offset) for casting in ("llama", "gemma", "none") for offset in (0, 1)]


def expect(good, what):
    if not good:
        FAULTS.append(what)


def refused(what, words, call):
    try:
        call()
        FAULTS.append(f"{what}: not refused")
    except (RuntimeError, ValueError) as error:
        expect(words in str(error), f"{what}: {error}")


def gradients():
    """gradcheck in float64, second derivatives and forward mode as well; in fp32 against float64."""
    make = lambda *shape: torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    x, r, w = make(3, 5), make(3, 5), make(5)
    for casting, offset in OPTIONS:
        one = lambda x, w: nt.rms_norm(x, w, 1e-3, casting=casting, offset=offset)
        both = lambda x, r, w: nt.fused_add_rms_norm(x, r, w, 1e-3, casting=casting, offset=offset)
        expect(torch.autograd.gradcheck(one, (x, w), check_forward_ad=True), f"gradcheck {casting} {offset}")
        expect(torch.autograd.gradcheck(both, (x, r, w), check_forward_ad=True), f"gradcheck fused {casting} {offset}")
    expect(torch.autograd.gradgradcheck(lambda x, w: nt.rms_norm(x, w, 1e-3), (x, w)), "gradgradcheck")
    expect(torch.autograd.gradcheck(lambda x: nt.rms_norm(x, None, 1e-3), (x,)), "gradcheck without a weight")
    f32 = [t.detach().float().requires_grad_() for t in (x, r, w)]
    step = 2.0**-7  # differences of fp32: two digits
    total = lambda x, r, w: sum((y * torch.arange(1.0, 6.0)).sum() for y in nt.fused_add_rms_norm(x, r, w, 1e-3))
    found = torch.autograd.grad(total(*f32), f32)
    for which, t in enumerate(f32):
        for at in range(t.numel()):
            moved = [[u.detach().clone() for u in f32] for _ in range(2)]
            moved[0][which].view(-1)[at] += step
            moved[1][which].view(-1)[at] -= step
            difference = (total(*moved[0]) - total(*moved[1])).item() / (2 * step)
            expect(abs(difference - found[which].view(-1)[at].item()) < 2e-2 * max(1.0, abs(difference)), f"fp32 gradient {which} {at}")


def shapes():
    """Leading dimensions, none of them too, rows apart, and tensors without elements."""
    w = torch.randn(48)
    for lead in ((), (1,), (7,), (2, 3), (2, 1, 4), (0,), (3, 0)):
        x = torch.randn(*lead, 64)[..., :48].requires_grad_()
        y = nt.rms_norm(x, w)
        expect(y.shape == x.shape and y.is_contiguous(), f"shape of {lead}")
        expect(torch.allclose(y, torch.nn.functional.rms_norm(x, (48,), w, 1e-6), atol=1e-5), f"values of {lead}")
        y.sum().backward()
    x = torch.randn(4, 6, 48).transpose(0, 1)
    y, s = nt.fused_add_rms_norm(x, x, w)
    expect(torch.equal(s, x + x) and torch.allclose(y, nt.rms_norm(x + x, w)), "transposed rows")
    expect(nt.rms_norm(torch.randn(3, 0)).shape == (3, 0), "rows without columns")
    x, none = torch.randn(3, 0, requires_grad=True), torch.ones(0, requires_grad=True)
    nt.rms_norm(x, none).sum().backward()
    expect(x.grad.shape == (3, 0) and none.grad.shape == (0,), "gradients of rows without columns")
    x, before = torch.randn(3, 48, requires_grad=True), nt.calls()
    torch.autograd.grad(nt.rms_norm(x, w).sum(), x, create_graph=True)
    after = nt.calls()
    expect(after["reference"] >= before["reference"] + 1 and sum(after.values()) == sum(before.values()) + 2, "a gradient that is differentiated counts")
    for dtype in (torch.bfloat16, torch.float16):
        expect(nt.rms_norm(torch.randn(4, 48).to(dtype), w).dtype == dtype, f"the dtype of x: {dtype}")
    with torch.inference_mode():
        expect(not nt.rms_norm(torch.randn(4, 48), w).requires_grad, "inference mode")


def module():
    """In torch.nn.RMSNorm's place: weights, values, and models whose norms are replaced."""
    theirs, ours = torch.nn.RMSNorm(48, eps=1e-5), nt.RMSNorm(48, eps=1e-5)
    torch.nn.init.normal_(theirs.weight)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(9, 48)
    expect(torch.allclose(ours(x), theirs(x), atol=1e-6), "values of the module")
    expect(torch.allclose(nt.RMSNorm(48, eps=None)(x), torch.nn.RMSNorm(48)(x), atol=1e-6), "eps None")
    for deviation in (1, 0.01):
        x16 = (deviation * x).bfloat16()
        both = nt.RMSNorm(48, eps=None, casting="gemma", dtype=torch.bfloat16)(x16), torch.nn.RMSNorm(48, dtype=torch.bfloat16)(x16)
        expect(torch.allclose(*both, rtol=0.01, atol=0.01), f"eps None of bf16, rows of {deviation}")
    expect(nt.RMSNorm(48, elementwise_affine=False).weight is None and "casting='gemma'" in repr(nt.RMSNorm(48, casting="gemma")), "no weight; its text")
    model = torch.nn.Sequential(torch.nn.Linear(48, 48), torch.nn.RMSNorm(48), torch.nn.Sequential(torch.nn.RMSNorm(48, elementwise_affine=False)))
    replaced = copy.deepcopy(model)
    expect(nt.replace_norms(replaced) == 2 and list(replaced.state_dict()) == list(model.state_dict()), "replace_norms")
    expect(torch.allclose(replaced(x), model(x), atol=1e-5), "values of the model")


class LlamaRMSNorm(torch.nn.Module):
    """Of that name, and not as Hugging Face's: it has no variance_epsilon."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(48))


def modules_that_differ():
    """replace_norms: a norm in two places, norms with hooks or a wrapped forward, and a class that only has the name of one."""
    model = torch.nn.Module()
    model.a = model.b = torch.nn.RMSNorm(48)
    model.inner = torch.nn.Sequential(model.a, LlamaRMSNorm(), torch.nn.RMSNorm(48))
    expect(nt.replace_norms(model) == 2, "how many norms are replaced")
    expect(isinstance(model.a, nt.RMSNorm) and model.a is model.b and model.a is model.inner[0], "a norm in three places")
    expect(type(model.inner[1]) is LlamaRMSNorm and isinstance(model.inner[2], nt.RMSNorm), "what lies behind a class of a norm's name")
    model = torch.nn.Sequential(*(torch.nn.RMSNorm(48) for _ in range(4)))
    called = []
    model[0].register_forward_hook(lambda *_: called.append("behind"))
    model[1].register_forward_pre_hook(lambda *_: called.append("ahead"))
    model[2].forward = lambda x: called.append("wrapped") or x
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        expect(nt.replace_norms(model) == 1 and isinstance(model[3], nt.RMSNorm), "norms with hooks stay")
    expect(len(told) == 1 and "leaves 3 of 4 norms" in str(told[0].message) and ": 0, …" in str(told[0].message), f"a warning: {[str(w.message) for w in told]}")
    model(torch.randn(2, 48))
    expect(called == ["behind", "ahead", "wrapped"], f"hooks run: {called}")


def tracing():
    """opcheck (schemas, shapes for tracing, autograd), and torch.compile in one graph, with shapes that change."""
    x, r = (torch.randn(6, 48, requires_grad=True) for _ in range(2))
    w = torch.randn(48, requires_grad=True)
    ops = torch.ops.normtune
    torch.library.opcheck(ops.rms_norm.default, (x, w, 1e-6, 0, 0))
    torch.library.opcheck(ops.rms_norm.default, (x.detach().bfloat16(), None, 1e-6, 1, 0))
    torch.library.opcheck(ops.fused_add_rms_norm.default, (x, r, w, 1e-6, 2, 1))
    scales = torch.rsqrt(x.detach().square().mean(-1) + 1e-6)
    torch.library.opcheck(ops.rms_norm_backward.default, (torch.randn(6, 48), None, x.detach(), w.detach(), scales, 1e-6, 0, 0))
    norm = nt.RMSNorm(48)

    def block(x, r):
        y, s = nt.fused_add_rms_norm(norm(x), r, norm.weight)
        return y * 2 + s

    compiled = torch.compile(block, fullgraph=True, dynamic=True, backend="aot_eager")
    for rows in (3, 6, 11):
        a, b = (torch.randn(rows, 48, requires_grad=True) for _ in range(2))
        found, wanted = (torch.autograd.grad(f(a, b).square().sum(), (a, b, norm.weight)) for f in (compiled, block))
        expect(all(torch.allclose(f, g, atol=1e-4) for f, g in zip(found, wanted)), f"compiled, {rows} rows")


def errors():
    x, w = torch.randn(4, 48), torch.randn(48)
    refused("another width", "weight must have x's last dimension, 48", lambda: nt.rms_norm(x, torch.randn(47)))
    refused("a scalar", "it is a scalar", lambda: nt.rms_norm(torch.tensor(1.0)))
    refused("integers", "must be of a floating type", lambda: nt.rms_norm(torch.ones(4, 48, dtype=torch.int32)))
    refused("a negative eps", "eps must not be negative", lambda: nt.rms_norm(x, w, -1.0))
    refused("a casting", "casting is one of llama, gemma, none, not 'bert'", lambda: nt.rms_norm(x, w, casting="bert"))
    refused("an offset", "offset is 0 or 1, not 2", lambda: nt.rms_norm(x, w, offset=2))
    refused("half an offset", "offset is 0 or 1, not 0.5", lambda: nt.rms_norm(x, w, offset=0.5))
    refused("a module's offset", "offset is 0 or 1, not 0.5", lambda: nt.RMSNorm(48, offset=0.5))
    refused("a residual's shape", "residual must have x's shape", lambda: nt.fused_add_rms_norm(x, x[:2], w))
    refused("a residual's dtype", "residual must have x's shape, dtype", lambda: nt.fused_add_rms_norm(x, x.bfloat16(), w))
    backward = torch.ops.normtune.rms_norm_backward
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        x, w = torch.randn(4, 48).to(dtype), torch.randn(48).to(dtype)
        good = torch.ops.normtune.rms_norm(x, w, 1e-6, 0, 0)[1]
        backward(x, None, x, w, good, 1e-6, 0, 0)
        other = torch.float32 if dtype == torch.float64 else torch.float64
        for what, rstd in (("too few", good[:1]), ("another dimension", good[:, None]), ("another type", good.to(other)), ("16 bits", good.bfloat16()),
                           ("another device", good.to("meta"))):
            refused(f"rstd, {what}, of {dtype}", "rstd must have a value of ", lambda: backward(x, None, x, w, rstd, 1e-6, 0, 0))
        refused(f"rstd, too few, traced, of {dtype}", "rstd must have a value of ",
                lambda: backward(*(None if t is None else t.to("meta") for t in (x, None, x, w, good[:1])), 1e-6, 0, 0))
        refused(f"rstd, too few, differentiated, of {dtype}", "rstd must have a value of ",
                lambda: backward(x, None, x.clone().requires_grad_(), w, good[:1], 1e-6, 0, 0))
    refused("two dimensions", "over the last dimension alone", lambda: nt.RMSNorm((2, 48)))


def checking():
    """check: on a GPU it does not pass where no kernel was tried."""
    from normtune_kernels import check
    expect(check.untried("cuda", 0)[1] == 1 and "No kernel was tried" in check.untried("cuda:1", 0)[0], "nothing tried on a GPU")
    expect(check.untried("cpu", 0)[1] == 0 and "No kernel was tried" in check.untried("cpu", 0)[0], "nothing tried on a CPU")
    expect(check.untried("cuda", 1) == ("", 0), "a kernel was tried")
    with mock.patch.object(check, "table", lambda: ["normtune_kernels 2"]):
        expect(check.untried("cuda", 0) == ("", 0), "a package without kernels")


def timing():
    """bench: each set is used as often as any other, keeps its outputs, and what the device did not wait for is sampled again."""
    from normtune_kernels import bench
    order, late = [], [3]

    class Event:
        def __init__(self, **_):
            pass

        def record(self):
            order.append("event")

        def query(self):
            late[0] -= 1
            return late[0] >= 0

        def synchronize(self):
            pass

        def elapsed_time(self, _):
            return 0.24

    class Graph:
        def replay(self):
            order.append("replay")

    cuda = types.SimpleNamespace(Event=Event, CUDAGraph=Graph, graph=lambda graph, pool: contextlib.nullcontext(), graph_pool_handle=lambda: 0,
                                 synchronize=lambda: None, _sleep=lambda cycles: order.append(cycles))
    with mock.patch.object(torch, "cuda", cuda):
        timer = bench.Timer(lambda: order.append("settle"))
        least = timer.cycles
        expect(timer.us(lambda: order.append("work"), lambda: order.append("before")) == 240.0, "microseconds of a sample")
        expect([word for word in order if type(word) is int] == [least, 2 * least, 4 * least, 8 * least], f"held ever longer: {order}")
        expect(order[-6:] == [8 * least, "before", "settle", "event", "work", "event"], f"the order of a sample: {order}")
        late[0] = 1000
        refused_by_exit = False
        try:
            timer.us(lambda: None)
        except SystemExit:
            refused_by_exit = True
        expect(refused_by_exit, "a device that cannot be held")
        late[0] = 0
        for sets, calls, graphs in ((5, 25, 1), (5, 23, 1), (7, 3, 3)):
            used = collections.Counter()
            made = bench.Rotation(timer, lambda at: used.update([at]) or (at,), [(at,) for at in range(sets)], calls, lambda: None)
            expect(len(made.graphs) == graphs and len(set(used.values())) == 1 and len(used) == sets, f"{sets} sets, {calls} calls: {used}")
            expect(made.outputs == [(at,) for at in range(sets)], f"outputs of {sets} sets")
            expect(made.us() == 240.0 / made.graphs[0][1], "microseconds of a call")
    expect(bench.recorded("forward", "bf16", 128, 4096, "NVIDIA H100 80GB HBM3") is not None, "what the sweep had")
    expect(bench.recorded("forward", "bf16", 128, 4096, "NVIDIA H200") is None, "what another GPU had")


if __name__ == "__main__":
    torch.manual_seed(0)
    for part in (gradients, shapes, module, modules_that_differ, tracing, errors, checking, timing):
        part()
    print(*FAULTS, sep="\n")
    raise SystemExit(1 if FAULTS else 0)
