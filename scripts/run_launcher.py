#!/usr/bin/env python3
"""The launcher of examples/launcher, on a GPU: winners' launches by the header of `best --format cpp`, machine code by `emit`, results against float64.

    scripts/run_launcher.py [--normtune build/bin/normtune] [--results results/h100/llama3.json.gz] [--cols 4096] [--arch sm_90]

Forwards of rms_norm in bf16 on so many columns, at each number of rows on which a kernel of normtune's own won. Ends with 1 where a value is wrong.
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def output(*words, cwd):
    made = subprocess.run([str(word) for word in words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(f"{' '.join(map(str, words[:3]))} …: {made.stderr.strip()}")
    return made.stdout


def winners(normtune, work, cols):
    """{(mode, rows): configuration} of normtune's own winners of rms_norm in bf16 on so many columns, contiguous rows, of results.json in `work`."""
    found = json.loads(output(normtune, "best", "results.json", "--format", "json", cwd=work))["runs"][0]["winners"]
    return {(w["problem"]["mode"], w["problem"]["rows"]): w["configuration"] for w in found
            if w["problem"]["key"] == f"rms_norm/{w['problem']['mode']}/bf16/llama/{w['problem']['rows']}x{cols}"
            and w["problem"]["mode"] in ("forward", "backward") and "configuration" in w}


def compile_launcher(normtune, work, cols, multiprocessors, cxx):
    (work / "best.h").write_text(output(normtune, "best", "results.json", "--format", "cpp", cwd=work))
    output(cxx, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{work}", f"-DCOLS={cols}", f"-DMULTIPROCESSORS={multiprocessors}",
           ROOT / "examples/launcher/launcher.cpp", "-o", "launcher", "-ldl", cwd=work)


def emit(normtune, work, mode, rows, cols, key, arch):
    """The folder, and the launch of its main kernel."""
    folder = work / f"emitted-{mode}-{rows}"
    output(normtune, "emit", "--problem", f"rms_norm/{mode}/bf16/llama/{rows}x{cols}", "--config", key, "--arch", arch, "--out", folder, cwd=work)
    launches = json.loads((folder / "launch.json").read_text())["launches"]
    return folder, next(launch for launch in launches if launch["kernel"] == f"nt_{mode}")


def run_words(emitted):
    """Of {rows: (folder, launch)}."""
    return ["run", *(str(word) for rows, (folder, launch) in emitted.items() for word in (rows, folder / "kernel.cubin", launch["shared_bytes"]))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--normtune", default=str(ROOT / "build/bin/normtune"))
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "results/h100/llama3.json.gz")
    parser.add_argument("--cols", type=int, default=4096)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--cxx", default=os.environ.get("CXX", "c++"))
    arguments = parser.parse_args()
    normtune = pathlib.Path(arguments.normtune).resolve()
    with tempfile.TemporaryDirectory(prefix="normtune-launcher-") as folder:
        work = pathlib.Path(folder)
        text = arguments.results.read_bytes()
        (work / "results.json").write_bytes(gzip.decompress(text) if arguments.results.suffix == ".gz" else text)
        forwards = {rows: c for (mode, rows), c in winners(normtune, work, arguments.cols).items() if mode == "forward"}
        if not forwards:
            sys.exit(f"{arguments.results} has no forward of rms_norm in bf16 on {arguments.cols} columns that a kernel of normtune's own won")
        compile_launcher(normtune, work, arguments.cols, 1, arguments.cxx)
        emitted = {rows: emit(normtune, work, "forward", rows, arguments.cols, c["key"], arguments.arch) for rows, c in forwards.items()}
        return subprocess.run(["./launcher", *run_words(emitted)], cwd=work).returncode


if __name__ == "__main__":
    sys.exit(main())
