"""Loads the C++ extension: that of pip's install, or one that the first import compiled into a cache."""

import hashlib
import importlib.machinery
import importlib.util
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def _cache():
    place = pathlib.Path(os.environ.get("NORMTUNE_KERNELS_CACHE") or
                         pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "normtune_kernels")
    return place.expanduser().absolute()  # the compilation runs in another folder


def _only_ours(path):
    status = path.stat()
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _own_folder(path):
    """The folder, made where there is none. What another user may put there is code that would run here."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_uid != os.geteuid():
        raise PermissionError(f"{path} is another user's")
    if not _only_ours(path):
        raise PermissionError(f"others can write {path}, which chmod go-w ends")
    return path


def _name(file):
    return f"_C.{hashlib.sha256(file.read_bytes()).hexdigest()}.so"


def _kept(folder):
    """The extension that was compiled into the folder; None: there is none that is this user's alone and has the contents that its name says."""
    return next((file for file in sorted(folder.glob("_C.*.so")) if _only_ours(file) and _name(file) == file.name), None)


def _build(folder):
    """As pip does. In a folder of its own, and renamed, so that processes that do so at once do not see a half."""
    print(f"normtune_kernels: compiles its extension into {folder}, once", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        made = subprocess.run([sys.executable, "-W", "ignore", "setup.py", "-q", "build_ext", "--build-lib", work, "--build-temp", work],
                              cwd=HERE.parent, capture_output=True, text=True)
        found = list(pathlib.Path(work).glob("normtune_kernels/_C*.so"))
        if made.returncode != 0 or not found:
            raise ImportError("normtune_kernels has no compiled extension, and it could not be compiled: it takes setuptools and a C++ compiler, "
                              f"which CXX may name.\n{(made.stderr or made.stdout)[-3000:]}")
        found[0].chmod(0o700)
        place = folder / _name(found[0])
        found[0].replace(place)
    return place


def _require_this_torch(extension, version):
    """That pip compiled it for the PyTorch that is there now."""
    note = extension.with_name("compiled_for.txt")
    compiled = note.read_text().strip() if note.exists() else "of an unknown version"
    if compiled != version:
        raise ImportError(f"normtune_kernels was compiled for PyTorch {compiled}, and this is {version}: install the package again "
                          "(pip install --no-build-isolation --force-reinstall --no-deps FOLDER)")


def load():
    """The module `_C`."""
    import torch
    if "normtune_kernels._C" in sys.modules:  # of an import that failed behind it
        return sys.modules["normtune_kernels._C"]
    installed = importlib.util.find_spec("normtune_kernels._C")
    if installed is not None:
        _require_this_torch(pathlib.Path(installed.origin), torch.__version__)
        return importlib.import_module("normtune_kernels._C")
    text = [torch.__version__, sys.version, *(file.read_text() for file in sorted((HERE / "csrc").iterdir()))]
    try:
        folder = _own_folder(_own_folder(_cache()) / hashlib.sha256("\0".join(text).encode()).hexdigest()[:16])
        place = _kept(folder) or _build(folder)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home
        raise ImportError(f"normtune_kernels cannot keep the extension that it compiles: {error}. NORMTUNE_KERNELS_CACHE names another folder for it; installed by pip it needs none") from error
    loader = importlib.machinery.ExtensionFileLoader("normtune_kernels._C", str(place))
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location("normtune_kernels._C", place, loader=loader))
    sys.modules["normtune_kernels._C"] = module
    loader.exec_module(module)
    return module
