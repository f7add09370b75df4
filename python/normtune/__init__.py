"""normtune's executable for Python programs: where it is, running it, and reading what it wrote.

    import normtune
    normtune.run("sweep", "--shapes", "qwen3", "--tokens", "1,2048", "--budget", "1m", "--out", "tuned", check=True)
    for record in normtune.load("tuned")["records"]:
        print(record["problem"]["key"], record["outcome"])
"""

import gzip
import importlib.metadata
import json
import os
import pathlib
import subprocess

__all__ = ["__version__", "environment", "executable", "load", "run", "script"]

try:
    __version__ = importlib.metadata.version("normtune")
except importlib.metadata.PackageNotFoundError:  # the sources' folder on the path
    __version__ = "unknown"

_FOLDER = pathlib.Path(__file__).resolve().parent


def executable():
    """Path of the executable, which comes with the package."""
    return _part("bin/normtune")


def environment():
    """Of the executable's processes: it finds the NVRTC that pip put beside this package, also where the environment is not activated."""
    variables = dict(os.environ)
    if _FOLDER.parent.name in ("site-packages", "dist-packages"):  # PREFIX/lib/python3.X/site-packages/normtune
        variables.setdefault("VIRTUAL_ENV", str(_FOLDER.parents[3]))
    return variables


def script(name):
    """Path of a script that comes with the package: ci_gate, run_emitted.py, triton_candidates."""
    return _part(f"scripts/{name}")


def _part(name):
    path = _FOLDER / name
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"there is no {path}; normtune is used from an installed wheel")
    return str(path)


def run(*words, **options):
    """Runs `normtune WORDS…`; options and result are those of subprocess.run. Its exit codes: normtune(1)."""
    return subprocess.run([executable(), *map(os.fspath, words)], **{"env": environment(), **options})


def load(path):
    """What a run wrote, as schemas/results.schema.json describes it: of a run's folder, a results.json, or one packed by gzip."""
    path = pathlib.Path(path)
    if path.is_dir():
        path /= "results.json"
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        return json.load(file)
