#!/usr/bin/env python3
"""Providers of libraries that need a GPU, on stand-ins with the libraries' own signatures: what is called, with which tensors, and what comes back."""

import dataclasses
import importlib.metadata
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent / "stand_ins")]
importlib.metadata.version = {"quack-kernels": "0.6.5"}.__getitem__

import quack.rmsnorm  # noqa: E402, F401
from normtune_provider import Problem  # noqa: E402
from normtune_provider.providers import quack as heuristic, quack_tuned as tuned  # noqa: E402
from tensors import Tensor  # noqa: E402

PLAIN = Problem(key="", op="rms_norm", mode="forward", dtype="bf16", casting="llama", weight_dtype="bf16", rows=3, cols=8, row_stride=8, affine=True,
                offset=0, in_place=False, residual="fp32", eps=1e-5, backend="cuda")
NAMES = {  # docs/semantics.md
    ("rms_norm", "forward"): ("x", "gamma", "y", "rstd"),
    ("rms_norm", "backward"): ("x", "gamma", "rstd", "dy", "dx", "dgamma"),
    ("fused_add_rms_norm", "forward"): ("x", "residual", "gamma", "y", "s", "rstd"),
    ("fused_add_rms_norm", "backward"): ("x", "gamma", "rstd", "dy", "ds", "dx", "dgamma"),
}


def tensors_of(problem):
    shapes = {"gamma": (problem.cols,), "dgamma": (problem.cols,), "rstd": (problem.rows,)}
    return {name: Tensor(name, shapes.get(name, (problem.rows, problem.cols)), "fp32" if name == "rstd" else problem.dtype)
            for name in NAMES[problem.op, problem.mode]}


def of(module, problem):
    found = [kernel for kernel in module.providers() if kernel.claims(problem) is True]
    assert len(found) == 1, [kernel.claims(problem) for kernel in module.providers()]
    return found[0]


class Quack(unittest.TestCase):
    def called(self, module, problem):
        """The outputs of its own, and what was called."""
        calls = sys.modules["quack.rmsnorm"].calls
        calls.clear()
        outputs = of(module, problem).make(problem, tensors_of(problem))() or {}
        return {name: (output.shape, output.dtype) for name, output in outputs.items()}, list(calls)

    def test_heuristic(self):
        wide, row, column = ((3, 8), "bf16"), ((3,), "fp32"), ((8,), "bf16")
        for op in ("rms_norm", "fused_add_rms_norm"):
            forward = {"y": wide, "rstd": row} | ({"s": wide} if op != "rms_norm" else {})
            self.assertEqual(self.called(heuristic, dataclasses.replace(PLAIN, op=op)), (forward, ["rmsnorm_fwd"]))
            backward = dataclasses.replace(PLAIN, op=op, mode="backward")
            self.assertEqual(self.called(heuristic, backward), ({"dx": wide, "dgamma": column}, ["rmsnorm_bwd"]))

    def test_tuned_writes_into_the_tensors(self):
        for op in ("rms_norm", "fused_add_rms_norm"):
            self.assertEqual(self.called(tuned, dataclasses.replace(PLAIN, op=op)), ({}, ["rmsnorm_fwd_tuned"]))
            backward = dataclasses.replace(PLAIN, op=op, mode="backward")
            self.assertEqual(self.called(tuned, backward), ({"dgamma": ((8,), "bf16")}, ["rmsnorm_bwd_tuned"]))

    def test_claims(self):
        for change in ({"residual": "rounded", "op": "fused_add_rms_norm"}, {"backend": "hip"}, {"backend": "cpu"}, {"mode": "full"}, {"row_stride": 9},
                       {"offset": 1}, {"affine": False}, {"weight_dtype": "fp32"}, {"mode": "backward", "in_place": True}):
            problem = dataclasses.replace(PLAIN, **change)
            for module in (heuristic, tuned):
                for kernel in module.providers():
                    self.assertIsInstance(kernel.claims(problem), str, change)
        self.assertIs(of(heuristic, dataclasses.replace(PLAIN, residual="rounded")).claims(PLAIN), True)
        self.assertEqual([kernel.provider for kernel in tuned.providers()], ["quack_tuned"] * 2)
        self.assertEqual(tuned.providers()[0].version, "0.6.5")


if __name__ == "__main__":
    unittest.main()
