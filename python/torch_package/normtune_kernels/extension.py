"""Loads the C++ extension: that of pip's install, or one that the first import compiled into a cache."""

import hashlib
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def _cache():
    return pathlib.Path(os.environ.get("NORMTUNE_KERNELS_CACHE") or
                        pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "normtune_kernels")


def _build(place):
    """As pip does. Beside its place, and renamed, so that processes that do so at once do not see a half."""
    place.parent.mkdir(parents=True, exist_ok=True)
    print(f"normtune_kernels: compiles its extension into {place.parent}, once", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        made = subprocess.run([sys.executable, "-W", "ignore", "setup.py", "-q", "build_ext", "--build-lib", folder, "--build-temp", folder],
                              cwd=HERE.parent, capture_output=True, text=True)
        found = list(pathlib.Path(folder).glob("normtune_kernels/_C*.so"))
        if made.returncode != 0 or not found:
            raise ImportError("normtune_kernels has no compiled extension, and it could not be compiled: it takes setuptools and a C++ compiler, "
                              f"which CXX may name.\n{(made.stderr or made.stdout)[-3000:]}")
        os.replace(found[0], place)


def load():
    """The module `_C`."""
    import torch
    if importlib.util.find_spec("normtune_kernels._C") is not None:
        return importlib.import_module("normtune_kernels._C")
    text = [torch.__version__, sys.version, *(file.read_text() for file in sorted((HERE / "csrc").iterdir()))]
    place = _cache() / hashlib.sha256("\0".join(text).encode()).hexdigest()[:16] / "_C.so"
    if not place.exists():
        _build(place)
    loader = importlib.machinery.ExtensionFileLoader("normtune_kernels._C", str(place))
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location("normtune_kernels._C", place, loader=loader))
    sys.modules["normtune_kernels._C"] = module
    loader.exec_module(module)
    return module
