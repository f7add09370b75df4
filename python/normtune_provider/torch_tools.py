"""What providers that use PyTorch share: views, the stream, and a memory pool of each kernel."""

import contextlib
import weakref

from normtune_provider import Unsupported


def view(tensor):
    """A torch.Tensor of a Tensor's memory."""
    import torch

    if hasattr(tensor, "__array_interface__"):
        import numpy

        seen = torch.from_numpy(numpy.asarray(tensor))
    else:
        seen = torch.as_tensor(tensor, device="cuda")
    return seen.view(torch.bfloat16) if tensor.dtype == "bf16" else seen


def views(tensors):
    return {name: view(tensor) for name, tensor in tensors.items()}


class Kernel:
    """Of a library on PyTorch. A subclass says `make(problem, tensors)`: a function without arguments that launches on the present stream and
    returns None, where it wrote into the tensors, or its own outputs by name.

    What it allocates comes from a memory pool of its own: graphs go on writing there, so nobody else may get that memory. The pool lives as long
    as something prepared for the kernel, and its memory goes back to the device with the last of it."""

    rounding = None
    inference = False  # has it a call that stores no rstd?
    in_place = False  # does it write over its inputs?
    _pool = staticmethod(lambda: None)  # a weak reference

    def __init__(self, op):
        self.op = self.key = op

    def claims(self, problem):
        if problem.op != self.op:
            return f"is for {self.op}"
        if problem.mode == "full":
            return "forward and backward are calls of their own"
        if problem.row_stride != problem.cols:
            return "contiguous rows alone"
        if problem.mode == "inference" and not self.inference:
            return "its forward always stores rstd"
        if problem.in_place != self.in_place:
            return "writes over its inputs: it is for --in-place" if self.in_place else "does not write over its inputs"
        if not problem.affine or problem.offset or problem.weight_dtype != problem.dtype:
            return "is called with a weight of x's type and no offset"
        if problem.backend not in ("cuda", "hip", "replay") and not getattr(self, "on_cpu", False):
            return "its kernels are for GPUs"
        return True

    def prepare(self, problem, tensors, stream):
        import torch

        seen = views(tensors)
        if stream is None:  # a CPU
            launch = self.make(problem, seen)
            return lambda _stream: launch()
        if not hasattr(torch.cuda, "use_mem_pool"):
            raise Unsupported(f"PyTorch {torch.__version__} has no memory pools (torch.cuda.use_mem_pool); 2.6 and later have")
        pool = self._pool()
        if pool is None:
            pool = torch.cuda.MemPool()
            self._pool = weakref.ref(pool)
        external = torch.cuda.ExternalStream(stream)

        @contextlib.contextmanager
        def own():
            # In this thread alone: a pool is a thread's, and autograd has its own threads otherwise.
            with torch.cuda.stream(external), torch.cuda.use_mem_pool(pool), torch.autograd.set_multithreading_enabled(False):
                yield

        with torch.cuda.stream(external):
            overwritten = {tensor.address: seen[name] for name, tensor in tensors.items() if tensor.access == "in_out"}
            inputs = [(tensor, tensor.clone()) for tensor in overwritten.values()]
        with own():
            launch = self.make(problem, seen)
            launch()  # what is compiled on the first call is so now
        with torch.cuda.stream(external):
            for tensor, before in inputs:
                tensor.copy_(before)
        external.synchronize()

        def run(_stream):
            with own():
                return launch()

        return run
