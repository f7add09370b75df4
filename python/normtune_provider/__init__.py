"""Kernels of Python libraries, measured by normtune: `normtune sweep --provider NAME|MODULE:FACTORY|FILE.py:FACTORY` (docs/providers.md).

A factory is a function without arguments that returns a list of kernels. A kernel is any object with

    provider   name of the library: letters, digits and . _ + -
    key        name of the kernel; tables show provider:key
    version    text, recorded; it may be left out
    rounding   which intermediates it rounds to x's type, {"forward": [...], "backward": [...]}, or None: what the problem's casting says
    dependent_launch   True: it is launched while the launch ahead ends (CUDA's programmatic dependent launch); it may be left out
    claims(problem)            True, or a text: why it is not for this Problem
    prepare(problem, tensors, stream)   a function of a stream that queues the op once on these tensors, {name: Tensor}

`prepare` is called for each buffer set and is not timed: it may compile, allocate, launch on the stream, and wait; inputs have to be as they
were when it returns, in place as well. What it returns is captured into a graph: it queues work on the stream that it is given, and waits for nothing. Where it returns a dict {name: array}, these
are outputs in memory of its own.
"""

import dataclasses

__all__ = ["Problem", "Tensor", "Unsupported"]


class Unsupported(Exception):
    """The kernel cannot do this problem here; its trial is `unsupported`, with this reason."""


@dataclasses.dataclass(frozen=True)
class Problem:
    """What is to be computed: docs/semantics.md."""

    key: str
    op: str  # rms_norm, fused_add_rms_norm
    mode: str  # forward, backward, full, inference: a forward that saves nothing, so that there is no rstd
    dtype: str  # of x: fp32, bf16, fp16
    casting: str  # llama, gemma, none
    weight_dtype: str
    rows: int
    cols: int
    row_stride: int
    affine: bool
    offset: int
    in_place: bool  # dx is in the memory of dy; inference: y in that of x, s in that of residual
    residual: str  # rounded, fp32
    eps: float
    backend: str  # cuda, hip, cpu, replay

    @property
    def fused(self):
        return self.op == "fused_add_rms_norm"

    @property
    def forward(self):
        return self.mode != "backward"

    @property
    def backward(self):
        return self.mode in ("backward", "full")

    @property
    def plain(self):
        """Nothing but shape, op, mode, types and casting differs from the usual."""
        return (self.row_stride == self.cols and self.weight_dtype == self.dtype and self.affine and self.offset == 0
                and not self.in_place)

    @classmethod
    def of(cls, members, backend):
        names = [field.name for field in dataclasses.fields(cls) if field.name != "backend"]
        return cls(backend=backend, **{name: members[name] for name in names})


class Tensor:
    """A view of one of normtune's own buffers: NumPy takes it on a CPU, PyTorch and CuPy on a GPU. bf16, which neither interface knows, is
    shown as 16-bit integers."""

    _TYPES = {"fp32": "<f4", "fp16": "<f2", "bf16": "<i2"}

    def __init__(self, members, address, backend):
        self.name = members["name"]
        self.dtype = members["dtype"]
        self.access = members["access"]  # in, out, in_out
        self.address = address
        typestr = self._TYPES[self.dtype]
        size = int(typestr[-1])
        rows, cols, stride = members["rows"], members["cols"], members["row_stride"]
        self.shape = (cols,) if members["is_vector"] else (rows,) if cols == 1 and members["name"] == "rstd" else (rows, cols)
        strides = None if len(self.shape) == 1 or stride == cols else (stride * size, size)
        interface = {"shape": self.shape, "typestr": typestr, "strides": strides, "version": 3}
        if backend == "cpu":
            self.__array_interface__ = interface | {"data": (address, False)}
        else:
            self.__cuda_array_interface__ = interface | {"data": (address, False), "stream": None}
