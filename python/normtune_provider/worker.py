"""normtune's worker in this process: the C interface of libnormtune_worker.so (src/run/worker/worker_library.cpp)."""

import ctypes
import itertools
import json
import os
import sys
import traceback

from normtune_provider import Problem, Tensor, Unsupported, listing

INTERFACE = 2
_NO_GRAPH = -1
_UNSUPPORTED, _COMPILE_FAILED, _LAUNCH_FAILED, _OUT_OF_MEMORY = 1, 2, 3, 4

_int64, _int, _pointer = ctypes.c_int64, ctypes.c_int, ctypes.c_void_p
_tensors = ctypes.POINTER(ctypes.c_uint64)
_PREPARE = ctypes.CFUNCTYPE(_int, ctypes.c_char_p, ctypes.POINTER(_int64), _pointer, _int64)
_BIND = ctypes.CFUNCTYPE(_int, _int64, _tensors, _pointer, _pointer, _int64)
_LAUNCH = ctypes.CFUNCTYPE(_int, _int64, _tensors, _int, _pointer, _pointer, _int64)
_EXCHANGE = ctypes.CFUNCTYPE(_int, _int64, _tensors, _int, _int, _pointer, _pointer, _int64)
_DROP = ctypes.CFUNCTYPE(None, _int64)


class _Providers(ctypes.Structure):
    _fields_ = [("prepare", _PREPARE), ("bind", _BIND), ("launch", _LAUNCH), ("exchange", _EXCHANGE), ("drop", _DROP)]


class _Kernel:
    """A kernel on a problem; what it prepared, by the addresses of its tensors."""

    def __init__(self, request):
        self.problem = Problem.of(request["problem"], request["backend"])
        self.backend = request["backend"]
        self.tensors = request["tensors"]
        self.names = set(request["names"])  # of tensors of any problem
        self.indices = [tensor["index"] for tensor in self.tensors]
        wanted = (request["name"], request["key"])
        found = [kernel for kernel in listing.kernels(request["provider"]) if (str(kernel.provider), str(kernel.key)) == wanted]
        if not found:
            raise Unsupported(f"{request['provider']} has no {':'.join(wanted)} in this process")
        self.kernel = found[0]
        self.bound = {}
        self.checked = set()  # addresses whose first launch's outputs have good names
        self.own_outputs = {}  # by graph and addresses: kept as long as the graph may write there

    def addresses(self, tensors):
        return tuple(tensors[index] for index in self.indices)

    def views(self, addresses):
        views = {}
        for members, address in zip(self.tensors, addresses):
            views[members["name"]] = Tensor(members, address, self.backend)
            if members["result"] != members["name"]:  # written over it
                views[members["result"]] = views[members["name"]]
        return views

    def bind(self, addresses, stream):
        if addresses not in self.bound:
            views = self.views(addresses)
            run = self.kernel.prepare(self.problem, views, stream)
            if not callable(run):
                raise listing.Missing(f"prepare() of {self.kernel.key} returned {type(run).__name__}, where it returns a function that launches")
            self.bound[addresses] = (run, views)

    def launch(self, addresses, graph, stream):
        self.own_outputs.pop((graph, addresses), None)  # first: its memory is free for the same outputs
        outputs = self.bound[addresses][0](stream)
        if outputs is not None:
            if addresses not in self.checked:
                self.check(outputs, self.bound[addresses][1])
                self.checked.add(addresses)
            self.own_outputs[graph, addresses] = outputs

    def check(self, outputs, views):
        """A name that no problem has is a slip; one that this problem lacks (rstd in inference) is left alone."""
        if not isinstance(outputs, dict):
            raise listing.Missing(f"run() of {self.kernel.key} returned {type(outputs).__name__}, where it returns nothing, or its outputs as a dict")
        unknown = [str(name) for name in outputs if name not in self.names]
        if unknown:
            raise listing.Missing(f"run() of {self.kernel.key} returned {', '.join(unknown)}; names of this problem are {', '.join(views)}")

    def exchange(self, addresses, graph, fetch, stream):
        outputs = self.own_outputs.get((graph, addresses))
        if not outputs:
            return
        views = self.bound[addresses][1]
        pairs = [(views[name], output) for name, output in outputs.items() if name in views]
        copy = _copy_on_cpu if self.backend == "cpu" else _copy_on_gpu
        copy([pair if fetch else pair[::-1] for pair in pairs], stream)


def _copy_on_cpu(pairs, _stream):
    import numpy

    for to, source in pairs:
        to, source = (_plain(numpy.asarray(one) if not hasattr(one, "detach") else _numpy_of(one)) for one in (to, source))
        numpy.copyto(to, source.reshape(to.shape))


def _plain(array):
    """bf16 as its bits."""
    return array.view("<i2") if array.dtype.itemsize == 2 else array


def _numpy_of(tensor):
    import torch

    tensor = tensor.detach()
    return (tensor.view(torch.int16) if tensor.element_size() == 2 else tensor).numpy()


def _copy_on_gpu(pairs, stream):
    import torch

    with torch.cuda.stream(torch.cuda.ExternalStream(stream)):
        for to, source in pairs:
            to, source = (torch.as_tensor(one, device="cuda").detach() for one in (to, source))
            if to.element_size() == 2:
                to, source = to.view(torch.int16), source.view(torch.int16)
            to.copy_(source.view(to.shape))


def _fault_of(error, usual):
    if isinstance(error, (Unsupported, NotImplementedError)):
        return _UNSUPPORTED
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return _OUT_OF_MEMORY
    return usual


def _exit(code):
    """What Python does at its end with the code of a SystemExit: a status, None for 0, or what it prints."""
    if code is not None and not isinstance(code, int):
        print(listing.text_of(code) or type(code).__name__, file=sys.stderr)
        code = 1
    sys.stderr.flush()
    os._exit((code or 0) & 0xFF)


class _Server:
    def __init__(self):
        self.kernels = {}
        self.numbers = itertools.count(1)
        # What is called from C has to live as long as the worker.
        self.table = _Providers(_PREPARE(self.prepare), _BIND(self.bind), _LAUNCH(self.launch), _EXCHANGE(self.exchange), _DROP(self.drop))

    def prepare(self, request, number, why, why_bytes):
        def work():
            kernel = _Kernel(json.loads(request))
            number[0] = next(self.numbers)
            self.kernels[number[0]] = kernel

        return self._answer(work, _COMPILE_FAILED, why, why_bytes)

    def bind(self, number, tensors, stream, why, why_bytes):
        kernel = self.kernels[number]
        return self._answer(lambda: kernel.bind(kernel.addresses(tensors), stream), _COMPILE_FAILED, why, why_bytes)

    def launch(self, number, tensors, graph, stream, why, why_bytes):
        kernel = self.kernels[number]
        return self._answer(lambda: kernel.launch(kernel.addresses(tensors), graph, stream), _LAUNCH_FAILED, why, why_bytes)

    def exchange(self, number, tensors, graph, fetch, stream, why, why_bytes):
        kernel = self.kernels[number]
        return self._answer(lambda: kernel.exchange(kernel.addresses(tensors), graph, fetch, stream), _LAUNCH_FAILED, why, why_bytes)

    def drop(self, number):
        self.kernels.pop(number, None)
        # PyTorch keeps what it had, and a pool that ended ahead of its tensors for good: the next kernels need the memory.
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.empty_cache()

    @staticmethod
    def _answer(work, usual_fault, why, why_bytes):
        try:
            work()
            return 0
        except SystemExit as end:  # C has no way to pass it on
            _exit(end.code)
        except BaseException as error:  # as above
            if not isinstance(error, (Unsupported, NotImplementedError, listing.Missing)):
                traceback.print_exception(type(error), error, error.__traceback__)  # worker.log has it
            own_words = isinstance(error, (Unsupported, listing.Missing)) and listing.text_of(error)
            text = own_words or listing.in_a_line(error)
            encoded = text.encode(errors="replace")[: why_bytes - 1] + b"\0"
            ctypes.memmove(why, encoded, len(encoded))
            return _fault_of(error, usual_fault)


def serve(library, executable, arguments):
    """Until normtune closes the channel. Its exit status."""
    interface = ctypes.CDLL(library)
    version = interface.normtune_worker_interface()
    if version != INTERFACE:
        raise SystemExit(f"{library} has interface {version}, this package {INTERFACE}: they are of different versions of normtune")
    words = [executable, *arguments]
    server = _Server()
    return interface.normtune_worker_serve(executable.encode(), len(words), (ctypes.c_char_p * len(words))(*[word.encode() for word in words]),
                                           ctypes.byref(server.table))
