#!/usr/bin/env python3
"""best --format torch: the package's files, what is refused, and, where this Python has PyTorch, the package itself on the CPU."""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys

import harness

SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "results/h100/llama3.json.gz"
KEPT = ("rms_norm/forward/bf16/llama/1x4096", "rms_norm/forward/bf16/llama/128x4096", "rms_norm/backward/bf16/llama/128x4096")
LARGEST = 5_000_000


def few_problems():
    results = json.loads(gzip.decompress(RECORDED.read_bytes()))
    results["records"] = [record for record in results["records"] if record["problem"]["key"] in KEPT]
    results["plans"] = [plan for plan in results["plans"] if plan["problem"] in KEPT]
    return results


def check_files(package, results):
    """What is wrong with the files of a package."""
    faults = []
    inside = package / "normtune_kernels"
    shipped = {path.relative_to(ROOT / "python/torch_package") for path in (ROOT / "python/torch_package").rglob("*.*")
               if path.is_file() and "__pycache__" not in path.parts}
    for path in shipped:
        if not (package / path).is_file() or (package / path).read_text() != (ROOT / "python/torch_package" / path).read_text():
            faults.append(f"{path} is not as in python/torch_package")
    table = [line.split(" ") for line in (inside / "kernels.txt").read_text().splitlines()]
    for file in [line[1] for line in table if line[0] == "code"]:
        if (inside / file).read_bytes()[:4] != b"\x7fELF":
            faults.append(f"{file} is no machine code")
    winners = {record["problem"]["key"]: record for record in results["records"] if record["measurement"].get("rank") == 1}
    steps = [(line[-1], float(line[-2])) for line in table if line[0] == "step"]
    for key, record in winners.items():
        wanted = (record["configuration"]["key"], round(record["measurement"]["p50_us"], 4))
        if wanted not in steps:
            faults.append(f"kernels.txt lacks {key}'s winner, {wanted}")
    size = sum(path.stat().st_size for path in package.rglob("*") if path.is_file())
    faults += [f"the package has {size} bytes"] if size > LARGEST else []
    for path in package.rglob("*.py"):
        compile(path.read_text(), str(path), "exec")
    return faults


def check_with_torch(package, work):
    """Compiles and imports the package in place, and compares random calls with float64."""
    environment = dict(os.environ, PYTHONPATH=str(package), NORMTUNE_KERNELS_CACHE=str(work / "cache"), CFLAGS="-O0")
    made = subprocess.run([sys.executable, "-W", "ignore", "-m", "normtune_kernels.check", "--calls", "40", "--device", "cpu"], env=environment,
                          capture_output=True, text=True, timeout=580)
    return [] if made.returncode == 0 and "40 calls, 0 wrong" in made.stdout else [made.stdout + made.stderr]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    faults = []
    with harness.Folder(arguments.normtune) as folder:
        results = few_problems()
        (folder.work / "results.json").write_text(json.dumps(results))
        made = folder.run("normtune best results.json --format torch --out package")
        if b"needs NVRTC" in made.stderr:
            print(made.stderr.decode())
            return SKIP
        if made.returncode != 0 or made.stderr or not made.stdout.startswith(b"3 winners of NVIDIA H100 80GB HBM3 (sm_90), as "):
            print(made.returncode, made.stdout.decode(), made.stderr.decode())
            return 1
        faults += check_files(folder.work / "package", results)
        results["environment"]["device"]["backend"] = "cpu"
        (folder.work / "cpu.json").write_text(json.dumps(results))
        for words, expected in [("results.json --format torch", "--format torch and --out DIR"), ("results.json --out other", "--format torch and --out DIR"),
                                ("results.json --format torch --out package", "package"), ("cpu.json --format torch --out other", "has cubins"),
                                ("results.json --format torch --out other --top 3", "--sort and --top")]:
            refused = folder.run(f"normtune best {words}")
            if refused.returncode != 2 or expected.encode() not in refused.stderr or refused.stderr.count(b"\n") != 1:
                faults.append(f"{words}: {refused.returncode} {refused.stderr.decode()}")
        if (folder.work / "other").exists():
            faults.append("a refused command left its folder")
        if subprocess.run([sys.executable, "-c", "import torch, setuptools"], capture_output=True).returncode == 0:
            faults += check_with_torch(folder.work / "package", folder.work)
        else:
            print("this Python has no PyTorch: the package is not imported")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
