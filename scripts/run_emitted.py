#!/usr/bin/env python3
"""Launches a kernel that `normtune emit` wrote from PyTorch tensors through CuPy, checks it against float64, and times it.

    normtune emit --problem rms_norm/backward/bf16/llama/8192x4096 --from results/run-… --out kernel
    scripts/run_emitted.py kernel
"""

import argparse
import json
import pathlib
import sys


def parse_problem(key):
    """Op, mode, dtype, casting and options of a problem's key."""
    op, mode, dtype, casting, _, *options = key.split("/")
    return {"fused": op == "fused_add_rms_norm", "mode": mode, "dtype": dtype, "casting": casting,
            "offset": 1 if "offset1" in options else 0, "in_place": "in_place" in options,
            "residual_fp32": "residual_fp32" in options}


def make_tensors(torch, launch):
    """Inputs drawn anew, outputs poisoned; rows lie row_stride apart."""
    dtypes = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    storage, tensors = {}, {}
    for tensor in launch["tensors"]:
        span = (tensor["rows"] - 1) * tensor["row_stride"] + tensor["cols"]
        flat = torch.full((span,), float("nan"), device="cuda", dtype=torch.float32)
        if tensor["access"] != "out":
            flat.normal_()
            if tensor["name"] == "gamma":
                flat.mul_(0.1).add_(1 - parse_problem(launch["problem"])["offset"])
        storage[tensor["name"]] = flat.to(dtypes[tensor["dtype"]])
        tensors[tensor["name"]] = storage[tensor["name"]].as_strided((tensor["rows"], tensor["cols"]),
                                                                     (tensor["row_stride"], 1))
    return storage, tensors


def reference(torch, tensors, problem, eps):
    """float64: {name: tensor} of every output. tensors' rstd is filled in where the backward pass alone needs it."""
    x = tensors["x"].double()
    out = {}
    s = x
    if problem["fused"] and problem["mode"] != "backward":
        s = x + tensors["residual"].double()
        if not problem["residual_fp32"]:
            s = s.to(tensors["x"].dtype).double()
        out["s"] = s
    rstd = torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + eps)
    n = s * rstd
    w = tensors["gamma"].double() + problem["offset"] if "gamma" in tensors else torch.ones_like(s[:1])
    if problem["mode"] == "inference":
        out["y"] = n * w
        if problem["in_place"]:  # y over x, s over the residual
            out = {"x": out["y"]} | ({"residual": out["s"]} if problem["fused"] else {})
    elif problem["mode"] != "backward":
        out["rstd"], out["y"] = rstd, n * w
    else:
        tensors["rstd"].copy_(rstd)
    if problem["mode"] in ("backward", "full"):
        dy = tensors["dy"].double()
        m = dy * w
        dx = rstd * (m - n * (m * n).mean(-1, keepdim=True))
        if problem["fused"]:
            dx = dx + tensors["ds"].double()
        out["dy" if problem["in_place"] else "dx"] = dx
        if "gamma" in tensors:
            out["dgamma"] = (dy * n).sum(0, keepdim=True)
    return out


EMITTED = {"problem", "eps", "code", "workspace_bytes", "tensors", "launches"}  # members that what follows reads


def in_clusters(launch):
    return any(one.get("cluster", [1, 1, 1]) != [1, 1, 1] for one in launch["launches"])


def launcher(cupy, folder, launch, storage, workspace):
    """A function that queues all launches of the op on a stream."""
    import numpy

    module = cupy.RawModule(path=str(folder / "kernel.cubin"),
                            enable_cooperative_groups=any(one["cooperative"] for one in launch["launches"]))
    steps = []
    for one in launch["launches"]:
        function = module.get_function(one["kernel"])
        if one["shared_bytes"] > 48 * 1024:
            function.max_dynamic_shared_size_bytes = one["shared_bytes"]
        arguments = []
        for argument in one["arguments"]:
            if argument["type"] != "pointer":
                kind = {"int64": numpy.int64, "int32": numpy.int32, "fp32": numpy.float32}[argument["type"]]
                arguments.append(kind(argument["value"]))
            elif "tensor" in argument:
                arguments.append(numpy.uint64(storage[argument["tensor"]].data_ptr()))
            elif "workspace_offset" in argument:
                arguments.append(numpy.uint64(workspace.data_ptr() + argument["workspace_offset"]))
            else:
                arguments.append(numpy.uint64(0))
        steps.append((function, tuple(one["grid"]), tuple(one["block"]), tuple(arguments), one["shared_bytes"]))

    def run():
        for function, grid, block, arguments, shared in steps:
            function(grid, block, arguments, shared_mem=shared)

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="what normtune emit wrote")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    try:
        launch = json.loads((arguments.folder / "launch.json").read_text())
    except (OSError, ValueError) as error:
        print(f"{arguments.folder}: has no launch.json that can be read: {error}", file=sys.stderr)
        return 2
    if not isinstance(launch, dict) or not EMITTED <= launch.keys():
        print(f"{arguments.folder}: its launch.json is not one that normtune emit writes", file=sys.stderr)
        return 2
    if in_clusters(launch):
        print(f"{arguments.folder}: has a kernel that is launched in clusters, which CuPy knows no word for", file=sys.stderr)
        return 2
    try:
        import cupy
        import torch
    except (ImportError, OSError) as error:  # OSError: a library of theirs
        print(f"PyTorch and CuPy (torch, cupy) are needed, of this Python: {error}", file=sys.stderr)
        return 2

    torch.manual_seed(arguments.seed)
    problem = parse_problem(launch["problem"])
    storage, tensors = make_tensors(torch, launch)
    wanted = reference(torch, tensors, problem, launch["eps"])
    workspace = torch.zeros(max(1, launch["workspace_bytes"]), dtype=torch.uint8, device="cuda")
    stream = torch.cuda.Stream()
    good = True
    with torch.cuda.stream(stream), cupy.cuda.ExternalStream(stream.cuda_stream):
        stream.wait_stream(torch.cuda.default_stream())
        run = launcher(cupy, arguments.folder, launch, storage, workspace)
        run()
        stream.synchronize()
        for name, reference_of in wanted.items():
            error = (tensors[name].double() - reference_of).abs().max().item()
            bound = (1e-4 if tensors[name].dtype == torch.float32 else 0.02) * reference_of.abs().max().item()
            good &= error <= bound
            print(f"{name}: largest error {error:.3g}, allowed {bound:.3g}{'' if error <= bound else '  WRONG'}")
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(3):
            run()
        torch.cuda._sleep(2_000_000)  # the launches below are queued meanwhile
        start.record()
        for _ in range(20):
            run()
        end.record()
        stream.synchronize()
    print(f"{launch['configuration']} on {launch['problem']}: {start.elapsed_time(end) * 50:.2f} us a launch, on warm data")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
