#!/usr/bin/env python3
"""Providers of libraries that need a GPU, on stand-ins with the libraries' own signatures: what is called, with which tensors, and what comes back."""

import contextlib
import dataclasses
import importlib.metadata
import os
import pathlib
import sys
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent / "stand_ins")]
importlib.metadata.version = {"quack-kernels": "0.6.5", "flashinfer-python": "0.7.2", "torch": "2.9.0", "nvidia-cutlass-dsl": "4.8.1"}.__getitem__

import flashinfer.norm  # noqa: E402
import quack.rmsnorm  # noqa: E402, F401
import torch  # noqa: E402
from normtune_provider import Problem, Unsupported, torch_tools, worker  # noqa: E402
from normtune_provider.providers import flashinfer as serving, pytorch, quack as heuristic, quack_tuned as tuned, torch_compile  # noqa: E402
from tensors import Tensor  # noqa: E402

PLAIN = Problem(key="", op="rms_norm", mode="forward", dtype="bf16", casting="llama", weight_dtype="bf16", rows=3, cols=8, row_stride=8, affine=True,
                offset=0, in_place=False, residual="fp32", eps=1e-5, backend="cuda")
NAMES = {  # docs/semantics.md
    ("rms_norm", "forward"): ("x", "gamma", "y", "rstd"),
    ("rms_norm", "backward"): ("x", "gamma", "rstd", "dy", "dx", "dgamma"),
    ("fused_add_rms_norm", "forward"): ("x", "residual", "gamma", "y", "s", "rstd"),
    ("fused_add_rms_norm", "backward"): ("x", "gamma", "rstd", "dy", "ds", "dx", "dgamma"),
    ("rms_norm", "inference"): ("x", "gamma", "y"),
    ("fused_add_rms_norm", "inference"): ("x", "residual", "gamma", "y", "s"),
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
            inference = {name: output for name, output in forward.items() if name != "rstd"}
            self.assertEqual(self.called(heuristic, dataclasses.replace(PLAIN, op=op, mode="inference")), (inference, ["rmsnorm_fwd"]))
            backward = dataclasses.replace(PLAIN, op=op, mode="backward")
            self.assertEqual(self.called(heuristic, backward), ({"dx": wide, "dgamma": column}, ["rmsnorm_bwd"]))

    def test_tuned_writes_into_the_tensors(self):
        for op in ("rms_norm", "fused_add_rms_norm"):
            for mode in ("forward", "inference"):
                self.assertEqual(self.called(tuned, dataclasses.replace(PLAIN, op=op, mode=mode)), ({}, ["rmsnorm_fwd_tuned"]))
            backward = dataclasses.replace(PLAIN, op=op, mode="backward")
            self.assertEqual(self.called(tuned, backward), ({"dgamma": ((8,), "bf16")}, ["rmsnorm_bwd_tuned"]))

    def test_claims(self):
        for change in ({"residual": "rounded", "op": "fused_add_rms_norm"}, {"backend": "hip"}, {"backend": "cpu"}, {"mode": "full"}, {"row_stride": 9},
                       {"offset": 1}, {"affine": False}, {"weight_dtype": "fp32"}, {"mode": "backward", "in_place": True}, {"mode": "inference", "in_place": True}):
            problem = dataclasses.replace(PLAIN, **change)
            for module in (heuristic, tuned):
                for kernel in module.providers():
                    self.assertIsInstance(kernel.claims(problem), str, change)
        self.assertIs(of(heuristic, dataclasses.replace(PLAIN, residual="rounded")).claims(PLAIN), True)
        self.assertEqual([kernel.provider for kernel in tuned.providers()], ["quack_tuned"] * 2)
        self.assertEqual(tuned.providers()[0].version, "0.6.5")


class FlashInfer(unittest.TestCase):
    INFERENCE = dataclasses.replace(PLAIN, mode="inference")
    FUSED = dataclasses.replace(INFERENCE, op="fused_add_rms_norm", in_place=True)

    def test_writes_into_the_tensors_with_and_without_dependent_launch(self):
        for problem, call in ((self.INFERENCE, "rmsnorm"), (self.FUSED, "fused_add_rmsnorm")):
            kernels = [kernel for kernel in serving.providers() if kernel.claims(problem) is True]
            self.assertEqual([(kernel.key, kernel.dependent_launch) for kernel in kernels], [(problem.op, False), (f"{problem.op}.pdl", True)])
            for kernel in kernels:
                flashinfer.norm.calls.clear()
                self.assertIsNone(kernel.make(problem, tensors_of(problem))())
                self.assertEqual(flashinfer.norm.calls, [(call, kernel.dependent_launch)])
            self.assertEqual(kernels[0].version, "0.7.2+cute_dsl4.8.1")

    def test_the_version_says_which_of_its_kernels_are_taken(self):
        with mock.patch.dict(os.environ, {"FLASHINFER_USE_CUDA_NORM": "1"}):
            self.assertEqual(serving.version(), "0.7.2+cuda")
        missing = importlib.metadata.PackageNotFoundError("nvidia-cutlass-dsl")
        with mock.patch.object(importlib.metadata, "version", lambda name: "0.7.2" if name == "flashinfer-python" else self.fail_with(missing)):
            self.assertEqual(serving.version(), "0.7.2+cuda")

    @staticmethod
    def fail_with(error):
        raise error

    def test_others_than_the_version_says_are_refused(self):
        with mock.patch.object(flashinfer.norm, "_USE_CUDA_NORM", True, create=True):
            with self.assertRaisesRegex(Unsupported, "cute_dsl4.8.1"):
                serving.providers()[0].make(self.INFERENCE, tensors_of(self.INFERENCE))

    def test_dependent_launch_takes_hopper(self):
        torch.cuda.capability = (8, 0)
        try:
            for kernel in serving.providers()[:2]:
                if kernel.dependent_launch:
                    with self.assertRaises(Unsupported):
                        kernel.make(self.INFERENCE, tensors_of(self.INFERENCE))
                else:
                    kernel.make(self.INFERENCE, tensors_of(self.INFERENCE))
        finally:
            torch.cuda.capability = (9, 0)

    def test_claims(self):
        for problem, changes in ((self.INFERENCE, ({"in_place": True}, {"mode": "forward"})),
                                 (self.FUSED, ({"in_place": False}, {"residual": "rounded"}, {"mode": "backward"}))):
            for change in (*changes, {"dtype": "fp32", "weight_dtype": "fp32"}, {"backend": "hip"}, {"backend": "cpu"}, {"row_stride": 9}, {"offset": 1},
                           {"affine": False}):
                for kernel in serving.providers():
                    self.assertIsInstance(kernel.claims(dataclasses.replace(problem, **change)), str, change)


class Inference(unittest.TestCase):
    def test_is_claimed_where_there_is_a_call_that_stores_no_rstd(self):
        for module in (pytorch, torch_compile, heuristic, tuned):
            for op, residual in (("rms_norm", "fp32"), ("fused_add_rms_norm", "rounded" if module in (pytorch, torch_compile) else "fp32")):
                self.assertEqual(of(module, dataclasses.replace(PLAIN, op=op, mode="inference", residual=residual)).op, op)


class Values(list):
    clone = list.copy

    def copy_(self, other):
        self[:] = other


class Counting(torch_tools.Kernel):
    def make(self, problem, tensors):
        def launch():
            tensors["x"][0] += 1

        return launch


class Pool:
    pass


@contextlib.contextmanager
def without_a_gpu(values):
    def nothing(*_):
        return contextlib.nullcontext()

    parts = {"use_mem_pool": nothing, "stream": nothing, "MemPool": Pool,
             "ExternalStream": lambda _: types.SimpleNamespace(synchronize=lambda: None)}
    with contextlib.ExitStack() as stack:
        for name, part in parts.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, part, create=True))
        stack.enter_context(mock.patch.object(torch, "autograd", types.SimpleNamespace(set_multithreading_enabled=nothing), create=True))
        stack.enter_context(mock.patch.object(torch_tools, "views", lambda tensors: dict.fromkeys(tensors, values)))
        yield


class InPlace(unittest.TestCase):
    def test_a_pool_lives_as_long_as_what_was_prepared(self):
        x = types.SimpleNamespace(access="in", address=1)
        kernel = Counting("rms_norm")
        with without_a_gpu(Values([1, 2])):
            runs = [kernel.prepare(PLAIN, {"x": x}, 7)]
            pool = kernel._pool()
            runs.append(kernel.prepare(PLAIN, {"x": x}, 7))
            self.assertIs(kernel._pool(), pool)  # one of all buffer sets
            del pool, runs[0]
            self.assertIsNotNone(kernel._pool())
            runs.clear()
            self.assertIsNone(kernel._pool())

    def test_memory_goes_back_once_the_kernel_is_gone(self):
        order = []

        class Kernel:
            def __del__(self):
                order.append("kernel")

        server = worker._Server()
        server.kernels[1] = Kernel()
        with mock.patch.object(torch.cuda, "is_initialized", lambda: True, create=True), \
                mock.patch.object(torch.cuda, "empty_cache", lambda: order.append("cache"), create=True):
            server.drop(1)
        self.assertEqual(order, ["kernel", "cache"])

    def test_the_launch_that_compiles_leaves_the_inputs(self):
        x = types.SimpleNamespace(access="in_out", address=1)
        values = Values([1, 2])
        with without_a_gpu(values):
            run = Counting("rms_norm").prepare(PLAIN, {"x": x, "y": x}, 7)
            self.assertEqual(values, [1, 2])
            run(7)
        self.assertEqual(values, [2, 2])


if __name__ == "__main__":
    unittest.main()
