"""NumPy on a CPU: the smallest example of a provider."""

import numpy


class RmsNorm:
    provider = "numpy"
    key = "rms_norm"
    version = numpy.__version__
    rounding = {"forward": [], "backward": []}  # nothing before the last rounding

    def claims(self, problem):
        if problem.backend != "cpu":
            return "NumPy's arrays are in the host's memory"
        if problem.op != "rms_norm" or problem.mode not in ("forward", "inference"):
            return "is written for rms_norm, forward and inference"
        if "bf16" in (problem.dtype, problem.weight_dtype):
            return "NumPy has no bf16"
        return True

    def prepare(self, problem, tensors, stream):
        x, y = numpy.asarray(tensors["x"]), numpy.asarray(tensors["y"])
        rstd = numpy.asarray(tensors["rstd"]) if "rstd" in tensors else numpy.empty(problem.rows, "f4")
        gamma = numpy.asarray(tensors["gamma"]).astype("f4") + problem.offset if problem.affine else numpy.ones(problem.cols, "f4")
        wide = numpy.empty((problem.rows, problem.cols), "f4")

        def run(stream):
            numpy.copyto(wide, x)
            numpy.divide(1, numpy.sqrt(numpy.einsum("ij,ij->i", wide, wide) / problem.cols + problem.eps), out=rstd)
            numpy.multiply(wide, rstd[:, None], out=wide)
            numpy.multiply(wide, gamma, out=y, casting="same_kind")

        return run


def providers():
    return [RmsNorm()]
