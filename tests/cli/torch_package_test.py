#!/usr/bin/env python3
"""best --format torch: the package's files and what is refused; with --computing, for which Python needs PyTorch, the package itself on the CPU."""

import argparse
import gzip
import importlib.util
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import types
from unittest import mock

import harness

SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "results/h100/llama3.json.gz"
KEPT = ("rms_norm/forward/bf16/llama/1x4096", "rms_norm/forward/bf16/llama/128x4096", "rms_norm/backward/bf16/llama/128x4096",
        "fused_add_rms_norm/forward/bf16/llama/128x4096", "fused_add_rms_norm/backward/bf16/llama/128x4096")
LARGEST = 5_000_000
HOSTILE = "NVIDIA\n::error title=x::y\x1b[31m"  # a device's name

STRIDE = 4160
NOT_CALLED = f"fused_add_rms_norm/backward/fp16/llama/128x4096/stride{STRIDE}"  # s lies side by side, as the package's forward wrote it


def as_type(one, dtype):
    """A copy of a record or a plan, of another type; of fp16 in rows that lie apart."""
    text = json.dumps(one).replace("/bf16/", f"/{dtype}/").replace('"bf16"', f'"{dtype}"')
    if dtype == "fp16":
        text = text.replace("x4096", f"x4096/stride{STRIDE}").replace('"row_stride": 4096', f'"row_stride": {STRIDE}')
    return json.loads(text)


def few_problems():
    """Of all three types, as if these had been measured, too: a package has its kernels made anew."""
    results = json.loads(gzip.decompress(RECORDED.read_bytes()))
    records = [record for record in results["records"] if record["problem"]["key"] in KEPT]
    plans = [plan for plan in results["plans"] if plan["problem"] in KEPT]
    results["records"] = records + [as_type(record, dtype) for dtype in ("fp16", "fp32") for record in records]
    results["plans"] = plans + [as_type(plan, dtype) for dtype in ("fp16", "fp32") for plan in plans]
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
    winners = {record["problem"]["key"]: record for record in results["records"]
               if record["measurement"].get("rank") == 1 and record["problem"]["key"] != NOT_CALLED}
    steps = [(line[-1], float(line[-3]), float(line[-2])) for line in table if line[0] == "step"]
    for key, record in winners.items():
        measured = record["measurement"]
        fresh = measured["final_rounds_us"] or [measured["p50_us"]]  # of the finals, where it was in them
        wanted = (record["configuration"]["key"], round(statistics.median(fresh), 4), round(measured.get("final_floor_us", measured["floor_us"]), 4))
        if wanted not in steps:
            faults.append(f"kernels.txt lacks {key}'s winner, {wanted}")
    size = sum(path.stat().st_size for path in package.rglob("*") if path.is_file())
    faults += [f"the package has {size} bytes"] if size > LARGEST else []
    if not re.fullmatch(r"\d+\.\d+\.\d+\+h[0-9a-f]{12}\n", version_of(package)):
        faults.append(f"the version is {version_of(package)}")
    for path in package.rglob("*.py"):
        compile(path.read_text(), str(path), "exec")
    return faults


def version_of(package):
    return (package / "normtune_kernels/version.txt").read_text()


def check_versions(folder):
    """Equal contents have one version, and a package of other winners has another, so that pip installs it."""
    for out, words in (("again", ""), ("fewer", "--problem 'rms_norm/*'")):
        folder.run(f"normtune best results.json --format torch --out {out} {words}")
    package, again, fewer = (version_of(folder.work / name) for name in ("package", "again", "fewer"))
    return [] if package == again and package != fewer else [f"versions: {package} {again} {fewer}"]


def check_name(folder, results):
    """A device's name from a file is text in what is printed."""
    changed = json.loads(json.dumps(results))
    changed["environment"]["device"]["name"] = HOSTILE
    (folder.work / "named.json").write_text(json.dumps(changed))
    made = folder.run("normtune best named.json --format torch --out named")
    good = made.returncode == 0 and made.stdout.startswith(b"14 winners of NVIDIA\\x0a::error title=x::y\\x1b[31m (sm_90), as ") and b"\x1b" not in made.stdout
    return [] if good else [f"a hostile name: {made.returncode} {made.stdout.decode()} {made.stderr.decode()}"]


def module_of(package, name):
    """A file of the package by itself, without PyTorch."""
    spec = importlib.util.spec_from_file_location(name, package / f"normtune_kernels/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_cache(package, work):
    """An extension is taken from a cache that nobody else can write, if it is whole; one for another PyTorch is refused."""
    extension = module_of(package, "extension")
    faults = []

    def refused(what, words, call):
        try:
            call()
            faults.append(f"{what}: not refused")
        except (OSError, ImportError) as error:
            if words not in str(error):
                faults.append(f"{what}: {error}")

    folder = extension._own_folder(work / "extensions/entry")
    code = folder / "code"
    code.write_bytes(b"machine code")
    code.chmod(0o700)
    code = code.rename(folder / extension._name(code))
    if folder.stat().st_mode & 0o777 != 0o700 or extension._kept(folder) != code:
        faults.append("the cache's folder, or what is kept in it")
    for what, spoil, mend in (("code that others can write", lambda: code.chmod(0o720), lambda: code.chmod(0o700)),
                              ("half of the code", lambda: code.write_bytes(b"machine"), lambda: code.write_bytes(b"machine code"))):
        spoil()
        if extension._kept(folder) is not None:
            faults.append(f"{what} is loaded")
        mend()
    if extension._kept(folder) != code:
        faults.append("what was mended is not kept")
    with mock.patch.object(os, "geteuid", lambda: os.getuid() + 1):
        if extension._kept(folder) is not None:
            faults.append("code of another user is loaded")
        refused("a folder of another user", "is another user's", lambda: extension._own_folder(folder))
    folder.chmod(0o722)
    refused("a folder that others can write", "which chmod go-w ends", lambda: extension._own_folder(folder))
    modules = dict(torch=types.SimpleNamespace(__version__="1.0"), normtune_kernels=types.SimpleNamespace(__path__=[]))
    with mock.patch.dict(os.environ, NORMTUNE_KERNELS_CACHE=str(code)), mock.patch.dict(sys.modules, modules):
        refused("a cache that is no folder", "NORMTUNE_KERNELS_CACHE names another folder", extension.load)
    (folder / "compiled_for.txt").write_text("1.0\n")
    extension._require_this_torch(code, "1.0")
    refused("another PyTorch", "compiled for PyTorch 1.0, and this is 2.0", lambda: extension._require_this_torch(code, "2.0"))
    (folder / "compiled_for.txt").unlink()
    refused("an unknown PyTorch", "of an unknown version", lambda: extension._require_this_torch(code, "2.0"))
    return faults


def check_rotation(package, results):
    """bench takes as many calls a sample, and as many sets of tensors, as the sweep took: by the memory clock and bus of the GPU that it ran on."""
    rotation = module_of(package, "rotation")
    device = results["environment"]["device"]
    bytes_a_us = 2 * 2619 * 5120 / 8  # an H100's HBM3
    faults, compared = [], 0
    for record in results["records"]:
        problem, measured = record["problem"], record.get("measurement")
        if (problem["op"], problem["dtype"]) != ("rms_norm", "bf16") or not measured:
            continue
        shape = problem["mode"], problem["rows"], problem["cols"], 2
        of_one = rotation.set_bytes(*shape)
        sets = rotation.sets(of_one, device["cache_bytes"], device["memory_bytes"])
        windows = rotation.windows(sets, rotation.calls(*shape, bytes_a_us, measured["p50_us"]))
        found = max(calls for _, calls in windows), of_one * sets
        wanted = measured["launches_per_sample"], measured["rotation_bytes"]
        compared += 1
        if found != wanted:
            faults.append(f"bench: {found} calls a sample and bytes of all sets, the sweep had {wanted}: {problem['key']}")
    # Between two uses of a set lie all sets, where a sample has calls for them; else those of a sample.
    for of_one, sets, calls, cold in ((50, 8, 20, True), (49, 8, 20, False), (50, 100, 9, True), (50, 100, 8, False), (49, 100, 9, False)):
        if rotation.stays_cold(of_one, sets, calls, 100) != cold:
            faults.append(f"bench: {sets} sets of {of_one} bytes, {calls} calls a sample, 100 bytes of cache: cold is {not cold}")
    return faults[:5] if compared > 20 else faults + [f"bench: {compared} records were compared"]


def check_emitted(folder, results):
    """emit --from says where the machine code is other than what was measured, and only there."""
    key = KEPT[1]
    winner = next(record for record in results["records"] if record["problem"]["key"] == key and record["measurement"].get("rank") == 1)
    faults, told = [], b"measured other machine code of this configuration"
    for out, said in (("emitted_other", True), ("emitted_same", False)):
        winner["compile"]["code_hash"] = "0" * 32 if said else json.loads((folder.work / "emitted_other/launch.json").read_text())["code"]["hash"]
        (folder.work / "emitted.json").write_text(json.dumps(results))
        made = folder.run(f"normtune emit --from emitted.json --problem {key} --arch sm_90 --out {out}")
        if made.returncode != 0 or (told in made.stderr) != said:
            faults.append(f"emit --from, {out} code: {made.returncode} {made.stderr.decode()}")
    return faults


def compute_on_the_cpu(package):
    """Machine code becomes a line of text that torch_package/fake_cuda.cpp reads."""
    codes, entry, texts = [], [], {}
    for line in (package / "normtune_kernels/kernels.txt").read_text().splitlines():
        words = line.split(" ")
        if words[0] == "code":
            codes.append(words[1])
        elif words[0] == "entry":
            entry = words[1:]
        elif words[0] == "step":
            texts[int(words[4])] = " ".join([entry[2], entry[3], entry[6], entry[7], entry[8], words[13], words[14]])
    for number, text in texts.items():
        (package / "normtune_kernels" / codes[number]).write_text(text)


def check_installed(package, work, environment):
    """setup.py says for which PyTorch it compiled, and an extension beside the package is taken for that one alone."""
    made = work / "built"
    subprocess.run([sys.executable, "-W", "ignore", "setup.py", "-q", "build_ext", "--build-lib", made, "--build-temp", made], cwd=package,
                   env=dict(environment, CXX="true", CC="true"), capture_output=True, timeout=300)  # a compiler that compiles nothing
    faults = [] if (made / "normtune_kernels/compiled_for.txt").exists() else ["setup.py does not say for which PyTorch it compiled"]
    counting, log = work / "counting", work / "compiled"
    counting.write_text(f'#!/bin/sh\nfor word; do\n[ "$before" = -o ] && : >"$word"\n[ "$word" = -c ] && echo once >>{log}\nbefore=$word\ndone\n:\n')
    counting.chmod(0o755)
    log.write_text("")
    counts = []
    for version in ("1.0", "2.0"):  # in the same folders, as pip does in a package's own
        subprocess.run([sys.executable, "-W", "ignore", "-c", f"import sys, torch\ntorch.__version__ = {version!r}\n"
                        f"sys.argv = ['setup.py', '-q', 'build_ext', '--build-lib', {str(work / 'twice')!r}, '--build-temp', {str(work / 'twice')!r}]\n"
                        "exec(open('setup.py').read())"], cwd=package, env=dict(environment, CXX=str(counting), CC=str(counting)), capture_output=True,
                       timeout=300)
        counts.append(len(log.read_text().splitlines()))
    if counts[0] == 0 or counts[1] != 2 * counts[0]:
        faults.append(f"setup.py takes what it compiled for another PyTorch: {counts} compilations")
    inside = package / "normtune_kernels"
    note, extension = inside / "compiled_for.txt", inside / "_C.so"
    extension.write_bytes(next((work / "cache").glob("*/_C.*.so")).read_bytes())
    for version, code, expected in (("torch.__version__", 0, ""), ("'1.0'", 1, "compiled for PyTorch 1.0, and this is ")):
        found = subprocess.run([sys.executable, "-W", "ignore", "-c", f"import pathlib, torch\npathlib.Path({str(note)!r}).write_text({version})\n"
                                "import normtune_kernels"], env=environment, capture_output=True, text=True, timeout=300)
        if found.returncode != code or expected not in found.stderr:
            faults.append(f"an extension for {version}: {found.returncode} {found.stderr}")
    extension.unlink()
    return faults


def check_with_torch(package, work):
    """Imports the package in place, compiled for the CPU's tensors: by the reference, then by launches of a driver that computes on the CPU."""
    (work / "driver").mkdir()
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-shared", "-fPIC", ROOT / "tests/cli/torch_package/fake_cuda.cpp", "-o",
                    work / "driver/libcuda.so.1"], check=True)
    compute_on_the_cpu(package)
    environment = dict(os.environ, PYTHONPATH=str(package), NORMTUNE_KERNELS_CACHE=str(work / "cache"), CFLAGS="-DNORMTUNE_KERNELS_DEVICE=CPU")
    faults = []

    def run(what, wanted, *words, **more):
        made = subprocess.run([sys.executable, "-W", "ignore", *words], env={**environment, **more}, capture_output=True, text=True, timeout=580)
        if made.returncode != 0 or wanted not in made.stdout:
            faults.append(f"{what}: {made.returncode}\n{made.stdout}{made.stderr}")
        print(what, made.stdout.strip())
        compiled.append("compiles its extension" in made.stderr)

    compiled = []
    check = ("-m", "normtune_kernels.check", "--device", "cpu")
    run("by the reference:", "No kernel was tried: on a CPU", *check, "--calls", "1")
    run("by the reference:", "1000 calls, 0 wrong", *check)
    run("alone:", "", ROOT / "tests/cli/torch_package/torch_on_cpu.py")
    fake = {"LD_LIBRARY_PATH": str(work / "driver")}
    run("by launches:", "1000 calls, 0 wrong", *check, **fake)
    run("in graphs:", "1000 calls, 0 wrong", *check, **fake, FAKE_CAPTURE="1")
    run("launches:", "True", "-c", "import torch, normtune_kernels as nt; nt.rms_norm(torch.randn(3, 4096).bfloat16(), torch.ones(4096).bfloat16()); "
        "print(nt.calls() == {'tuned': 1, 'reference': 0})", **fake)
    # A single row of a wider tensor goes the way of more of its rows.
    run("one row apart:", "(3, 1)", "-c", f"import torch, normtune_kernels as nt\nw = torch.ones(4096).half()\n"
        f"for rows in (2, 1): nt.rms_norm(torch.randn(rows, {STRIDE}).half()[..., :4096], w)\n"
        f"nt.rms_norm(torch.randn(1, 1, {STRIDE}).half()[..., :4096], w)\nnt.rms_norm(torch.randn(1, 4096).half(), w)\n"
        "print(tuple(nt.calls().values()))", **fake)
    if compiled != [True] + [False] * (len(compiled) - 1):
        faults.append(f"the extension was compiled more than once: {compiled}")
    # A fused backward's rows lie side by side, whatever x's do: that of rows apart has no entry, and the reference does it.
    run("fused, rows apart:", "{'tuned': 1, 'reference': 1}", "-c", f"import torch, normtune_kernels as nt\n"
        f"x, r = torch.randn(2, {STRIDE}).half()[..., :4096].requires_grad_(), torch.randn(2, 4096).half()\n"
        "sum(t.sum() for t in nt.fused_add_rms_norm(x, r, torch.ones(4096).half())).backward()\nprint(nt.calls())", **fake)
    # Of a package that says that bits are equal they are compared, and one that differs is told.
    table = package / "normtune_kernels/kernels.txt"
    lines = table.read_text().splitlines(True)
    table.write_text(lines[0] + "# Batch-invariant and deterministic: the fastest of those alone …\n" + "".join(lines[1:]))
    run("equal bits:", "rows or dgammas compared, 0 differ", *check, "--calls", "1", **fake)
    run("other bits:", "1 True", "-c", "import torch, normtune_kernels.check as c\nof = c.bits_of\nc.bits_of = lambda t: of(t) + (t.shape[0] == 2)\n"
        "print(1, c.check_bits(c.tuned()[:1], ['cpu']) > 0)", **fake)
    table.write_text("".join(lines))
    for words, code, expected in [((), 1, "bench: this times a GPU"), (("--shapes", "8x"), 2, "argument --shapes: invalid shapes value: '8x'")]:
        refused = subprocess.run([sys.executable, "-W", "ignore", "-m", "normtune_kernels.bench", *words], env=environment, capture_output=True, text=True)
        if refused.returncode != code or expected not in refused.stderr or "Traceback" in refused.stderr:
            faults.append(f"bench {words}: {refused.returncode} {refused.stderr}")
    faults += check_installed(package, work, environment)
    table.write_text(lines[0] + "step\n")
    spoilt = subprocess.run([sys.executable, "-W", "ignore", "-c", "import normtune_kernels"], env=environment, capture_output=True, text=True)
    if "kernels.txt:2: neither a code" not in spoilt.stderr:
        faults.append(f"a spoilt table: {spoilt.stderr}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    parser.add_argument("--computing", action="store_true", help="import the package and compare what it computes, and nothing else")
    arguments = parser.parse_args()
    if arguments.computing and subprocess.run([sys.executable, "-c", "import torch, setuptools"], capture_output=True).returncode != 0:
        print(f"{sys.executable} has no PyTorch and setuptools: the package for PyTorch is not imported, and nothing of it computes")
        return SKIP
    faults = []
    with harness.Folder(arguments.normtune) as folder:
        results = few_problems()
        (folder.work / "results.json").write_text(json.dumps(results))
        made = folder.run("normtune best results.json --format torch --out package")
        if b"needs NVRTC" in made.stderr:
            print(made.stderr.decode())
            return SKIP
        # Those of other types are no kernels that were measured, and are said to be none.
        others = b"kernels are other machine code than what was measured"
        left_out = f"Left out, as no call of the package names it: {NOT_CALLED}\n".encode()
        if (made.returncode != 0 or made.stderr or others not in made.stdout or not made.stdout.endswith(left_out) or
                not made.stdout.startswith(b"14 winners of NVIDIA H100 80GB HBM3 (sm_90), as ")):
            print(made.returncode, made.stdout.decode(), made.stderr.decode())
            return 1
        if arguments.computing:
            faults += check_with_torch(folder.work / "package", folder.work)
            print("\n".join(faults))
            return 1 if faults else 0
        faults += check_files(folder.work / "package", results)
        faults += check_rotation(folder.work / "package", results)
        faults += check_cache(folder.work / "package", folder.work)
        faults += check_versions(folder)
        faults += check_name(folder, results)
        faults += check_emitted(folder, json.loads(json.dumps(results)))
        results["environment"]["device"]["backend"] = "cpu"
        (folder.work / "cpu.json").write_text(json.dumps(results))
        equal = folder.run("normtune best results.json --format torch --out equal --batch-invariant")
        table = folder.work / "equal/normtune_kernels/kernels.txt"
        if equal.returncode != 0 or not table.exists() or table.read_text().count("\nstep ") == 0 or "\n# Batch-invariant: " not in table.read_text():
            faults.append(f"--batch-invariant: {equal.returncode} {equal.stderr.decode()}")
        folder.run("normtune best results.json --format torch --out settled --deterministic")
        if "\n# Deterministic: " not in (folder.work / "settled/normtune_kernels/kernels.txt").read_text():
            faults.append("--deterministic: the table does not say so, which the package's check goes by")
        for words, expected in [("results.json --format torch", "--format torch and --out DIR"), ("results.json --out other", "--format torch and --out DIR"),
                                ("results.json --format torch --out package", "package"), ("cpu.json --format torch --out other", "has cubins"),
                                ("results.json --format torch --out other --top 3", "--sort and --top")]:
            refused = folder.run(f"normtune best {words}")
            if refused.returncode != 2 or expected.encode() not in refused.stderr or refused.stderr.count(b"\n") != 1:
                faults.append(f"{words}: {refused.returncode} {refused.stderr.decode()}")
        if (folder.work / "other").exists():
            faults.append("a refused command left its folder")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
