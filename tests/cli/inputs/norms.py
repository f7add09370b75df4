"""Providers for provider_test.py, without any library: one that is right, and one for each way to be wrong."""

import ctypes
import os
import sys
import time

from normtune_provider import Unsupported


def values(tensor):
    count = 1
    for size in tensor.shape:
        count *= size
    return (ctypes.c_float * count).from_address(tensor.address)


class Norm:
    provider = "test"
    version = "1.5"
    rounding = None

    def __init__(self, key, spoil=None, prepares=None, own=False):
        self.key, self.spoil, self.prepares, self.own = key, spoil, prepares, own

    def claims(self, problem):
        return problem.mode == "forward" and problem.dtype == "fp32" and problem.plain or "is for forward, fp32, as plain as can be"

    def prepare(self, problem, tensors, stream):
        if self.prepares:
            self.prepares()
        x, gamma, y, rstd = (values(tensors[name]) for name in ("x", "gamma", "y", "rstd"))
        own = (ctypes.c_float * len(y))() if self.own else None
        cols = problem.cols

        def run(stream):
            for row in range(problem.rows):
                of_row = x[row * cols:(row + 1) * cols]
                scale = 1 / (sum(value * value for value in of_row) / cols + problem.eps) ** 0.5
                rstd[row] = scale
                (own if self.own else y)[row * cols:(row + 1) * cols] = [value * scale * g for value, g in zip(of_row, gamma)]
            if self.spoil:
                self.spoil(x, y, rstd)
            return {"y": Array(own, tensors["y"].shape)} if self.own else None

        return run


class Serving:
    """The fused add of inference: y over x, s over the residual, and no rstd."""

    provider = "serving"

    def __init__(self, key, divisor=0, dependent_launch=False):
        self.key, self.divisor, self.dependent_launch = key, divisor, dependent_launch

    def claims(self, problem):
        return problem.mode == "inference" and problem.fused and problem.in_place and problem.dtype == "fp32" or "is for the fused inference in place"

    def prepare(self, problem, tensors, stream):
        x, residual, gamma = (values(tensors[name]) for name in ("x", "residual", "gamma"))
        assert set(tensors) == {"x", "residual", "gamma", "y", "s"} and tensors["y"].address == tensors["x"].address
        cols = problem.cols

        def run(stream):
            for row in range(0, problem.rows * cols, cols):
                of_row = [a + b for a, b in zip(x[row:row + cols], residual[row:row + cols])]
                residual[row:row + cols] = of_row
                scale = 1 / (sum(value * value for value in of_row) / (cols + self.divisor) + problem.eps) ** 0.5
                x[row:row + cols] = [value * scale * g for value, g in zip(residual[row:row + cols], gamma)]

        return run


def serving():
    return [Serving("plain"), Serving("plain.pdl", dependent_launch=True)]


def serving_wrongly():
    return [Serving("plain"), Serving("of_n_plus_1", divisor=1)]


class Array:
    """What NumPy takes for an array."""

    def __init__(self, memory, shape):
        self.memory = memory
        self.__array_interface__ = {"shape": shape, "typestr": "<f4", "data": (ctypes.addressof(memory), False), "version": 3}


def doubled(x, y, rstd):
    y[7] = 2 * y[7]


def into_x(x, y, rstd):
    x[0] = 0


def fails(*_):
    raise ValueError("no such luck\nand more")


def refuses(*_):
    raise Unsupported("not on a Tuesday")


def out_of_memory(*_):
    raise MemoryError("of its own")


def leaves(*_):
    print("leaving", flush=True)
    sys.exit(7)


def leaves_with_a_text(*_):
    sys.exit("no licence today")


def leaves_without_a_word(*_):
    sys.exit()


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("says nothing")


def mutters(*_):
    raise Mute


class MuteRefusal(Unsupported):
    def __str__(self):
        raise RuntimeError("says nothing")


def mutely_refuses(*_):
    raise MuteRefusal


def dies(*_):
    os.abort()


def hangs(*_):
    time.sleep(600)


def right():
    return [Norm("right")]


def of_the_place(x, y, rstd):
    """Another last bit in the second half of the rows."""
    for i in range(len(y) // 2, len(y)):
        y[i] *= 1 + 2**-23


def places():
    return [Norm("right"), Norm("of_the_place", of_the_place)]


def own():
    return [Norm("own", own=True)]


def wrong():
    return [
        Norm("right"),
        Norm("doubled", doubled),
        Norm("into_x", into_x),
        Norm("fails_later", fails),
        Norm("fails_at_once", prepares=fails),
        Norm("refuses", prepares=refuses),
        Norm("out_of_memory", out_of_memory),
        Norm("leaves", leaves),
        Norm("leaves_with_a_text", prepares=leaves_with_a_text),
        Norm("leaves_without_a_word", prepares=leaves_without_a_word),
        Norm("mutters", mutters),
        Norm("mutely_refuses", prepares=mutely_refuses),
        Norm("dies", prepares=dies),
        Norm("hangs", hangs),
        Norm("ahead_of_y", ahead_of_y),
        Norm("many_lines", prepares=many_lines),
        PreparesNothing("prepares_nothing"),
        NamesNoTensor("names_no_tensor"),
    ]


def ahead_of_y(x, y, rstd):
    ctypes.c_float.from_address(ctypes.addressof(y) - 4).value = 7.0


def many_lines():
    raise RuntimeError("compile log:\nptxas: of many\nnvcc: error 77\n")


class PreparesNothing(Norm):
    def prepare(self, problem, tensors, stream):
        return None


class NamesNoTensor(Norm):
    def prepare(self, problem, tensors, stream):
        return lambda stream: {"z": 3}


def no_list():
    return None


def divides_by_zero():
    norm = Norm("norm")
    norm.claims = lambda problem: 1 / 0
    return [norm]


def two_of_a_name():
    return [Norm("right"), Norm("right")]


def nothing():
    return []


def unfinished():
    return [object()]


def named_badly():
    norm = Norm("right")
    norm.provider = "normtune"
    return [norm]


def raises():
    raise RuntimeError("the factory is closed")


def leaves_the_factory():
    sys.exit(0)


def ends_the_process():
    print("closing", flush=True)
    os._exit(0)


def claims_in_no_words():
    norm = Norm("norm")
    norm.claims = lambda problem: ""
    return [norm]


def mute():
    raise Mute


def of_two_names():
    """Of one key, and not the same: each is run and judged by itself."""
    def spoil(x, y, rstd):
        y[7] = 7.0

    right, wrong = Norm("norm"), Norm("norm", spoil)
    wrong.provider = "other"
    return [right, wrong]


def of_a_number():
    norm = Norm("norm")
    norm.key = 1
    return [norm]


def refusing():
    return [Norm("refusing", prepares=refuses)]


def says_no_text():
    def raises(x, y, rstd):
        raise KeyboardInterrupt("of its own: \udcff")

    return [Norm("norm", raises)]


def of_a_set():
    norm = Norm("norm")
    norm.rounding = {"forward": {"normal"}}
    return [norm]


def misspelt():
    norm = Norm("norm")
    norm.rounding = {"forward": ["nrmal"], "backward": []}
    return [norm]
