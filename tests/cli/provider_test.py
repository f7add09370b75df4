#!/usr/bin/env python3
"""Python providers on the CPU device: what is right is measured, whatever goes wrong is an outcome, and the rest goes on."""

import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys

import harness

PROBLEM = "rms_norm/forward/fp32/llama/8x32"
WRONG = {
    "right": ("passed", ""),
    "doubled": ("incorrect", "y[0][7] = "),
    "into_x": ("incorrect", "x[0][0] was overwritten, though it is an input"),
    "fails_later": ("launch_failed", "ValueError: no such luck"),
    "fails_at_once": ("compile_failed", "ValueError: no such luck"),
    "refuses": ("unsupported", "not on a Tuesday"),
    "out_of_memory": ("out_of_memory", "MemoryError: of its own"),
    "leaves": ("crashed", "the worker exited with status 7; it said: leaving"),
    "leaves_with_a_text": ("crashed", "the worker exited with status 1; it said: no licence today"),
    "leaves_without_a_word": ("crashed", "the worker exited with status 0"),
    "mutters": ("launch_failed", "Mute"),
    "mutely_refuses": ("unsupported", "MuteRefusal"),
    "dies": ("crashed", "the worker was killed by SIGABRT"),
    "hangs": ("timed_out", "no answer within"),
    "ahead_of_y": ("incorrect", "y: memory in front of its start was written to, 0 bytes ahead of it"),
    "many_lines": ("compile_failed", "RuntimeError: compile log: … nvcc: error 77 ("),
    "prepares_nothing": ("compile_failed", "prepare() of prepares_nothing returned NoneType, where it returns a function that launches"),
    "names_no_tensor": ("launch_failed", "run() of names_no_tensor returned z; names of this problem are x, gamma, y, rstd"),
}


def expect(condition, *what):
    if not condition:
        print("FAILED:", *what)
        expect.failed = True


expect.failed = False


def outcomes(folder, out):
    records = json.loads((folder.work / out / "results.json").read_text())["records"]
    return {record.get("candidate", "normtune"): record for record in records}


def faults(folder):
    run = folder.run(f"normtune verify --provider norms.py:wrong --candidates-only --problem {PROBLEM} --backend cpu --timeout 8s --out a --quiet")
    expect(run.returncode == 5, "exit code", run.returncode, run.stderr.decode())
    for key, record in outcomes(folder, "a").items():
        outcome, reason = WRONG[key]
        expect(record["outcome"] == outcome and reason in record["reason"], key, record["outcome"], record["reason"])
    expect(len(outcomes(folder, "a")) == len(WRONG), outcomes(folder, "a").keys())


def refuses_all(folder):
    """Nothing passed of a provider: what it refuses as it is prepared was tried, what claims() refuses was not."""
    run = folder.run(f"normtune verify --provider norms.py:refusing --problem {PROBLEM} --space quick --backend cpu --out refused --quiet")
    found = {key: record["outcome"] for key, record in outcomes(folder, "refused").items()}
    expect(run.returncode == 5 and found == {"normtune": "passed", "refusing": "unsupported"}, run.returncode, found, run.stderr.decode())
    run = folder.run(f"normtune verify --provider norms.py:refusing --problem {PROBLEM.replace('forward', 'backward')} --backend cpu --quiet")
    expect(run.returncode == 2 and b"nothing of it is left" in run.stderr, run.returncode, run.stderr.decode())


def names(folder):
    """A kernel is that of its provider and key; whatever ends it is told; a file's neighbours are there for it."""
    (folder.work / "neighbour").mkdir()
    (folder.work / "neighbour/beside.py").write_text("from norms import says_no_text\n")
    (folder.work / "neighbour/norms.py").write_text((folder.work / "norms.py").read_text())
    for factory, wanted in (
        ("norms.py:of_two_names", {"norm": ("passed", ""), "other": ("incorrect", "y[0][7] = ")}),
        ("norms.py:of_a_number", {"1": ("passed", "")}),
        ("neighbour/beside.py:says_no_text", {"norm": ("launch_failed", "KeyboardInterrupt: of its own: ?")}),
    ):
        out = "n_" + factory.rpartition(":")[2]
        folder.run(f"normtune verify --provider {factory} --candidates-only --problem {PROBLEM} --backend cpu --out {out} --quiet")
        for record in json.loads((folder.work / out / "results.json").read_text())["records"]:
            name = record["provider"] if record["provider"] in wanted else record["candidate"]
            outcome, reason = wanted.get(name, ("", ""))
            expect(record["outcome"] == outcome and reason in record["reason"], factory, name, record["outcome"], record["reason"])


def measured(folder):
    """Beside normtune's own, in the same rounds; the record's command line runs it again; what was begun goes on."""
    run = folder.run(f"normtune sweep --provider norms.py:right --problem {PROBLEM} --space quick --strategy random --trials 2 --backend cpu "
                     "--out b --quiet")
    expect(run.returncode == 0, run.returncode, run.stderr.decode())
    results = json.loads((folder.work / "b/results.json").read_text())
    expect(results["environment"]["providers"] == ["test 1.5"], results["environment"])
    records = {record.get("provider", "normtune"): record for record in results["records"]}
    mine = records["test"]
    expect(mine["outcome"] == "passed" and mine["candidate"] == "right" and mine["measurement"]["p50_us"] > 0, mine)
    rounds = {len(record["measurement"]["rounds"]) > 0 for record in results["records"]}
    expect(rounds == {True} and len(results["records"]) == 3, results["records"])
    expect("--candidates-only --provider norms.py:right --config test:right" in mine["repeat"], mine["repeat"])
    again = folder.run(mine["repeat"].replace("sweep", "verify", 1) + " --out c --quiet")
    expect(again.returncode == 0 and outcomes(folder, "c")["right"]["outcome"] == "passed", again.stderr.decode())
    resumed = folder.run("normtune sweep --resume b")
    expect(resumed.returncode == 0, "--resume", resumed.stderr.decode())
    (folder.work / "norms.py").write_text((folder.work / "norms.py").read_text() + "\n# changed\n")
    resumed = folder.run("normtune sweep --resume b")
    expect(resumed.returncode == 2 and b"test 1.5: has changed since the run began" in resumed.stderr, resumed.stderr.decode())
    plan = folder.run(f"normtune plan --provider norms.py:right --candidates-only --problem {PROBLEM.replace('forward', 'backward')} --backend cpu")
    expect(plan.returncode == 0 and b"test.claims" in plan.stdout, plan.stdout.decode(), plan.stderr.decode())


def changed_elsewhere(folder):
    """What changed in a file that it imports is other code: no comparison calls it the same, no store has its times, no run goes on."""
    (folder.work / "inner").mkdir()
    (folder.work / "inner/helper.py").write_text("slower = 1\n")
    (folder.work / "inner/outer.py").write_text("import sys\nsys.path.append('.')\nimport helper\nfrom norms import right\n")
    sweep = f"normtune sweep --provider inner/outer.py:right --problem {PROBLEM} --space quick --backend cpu --quiet --out "
    run = folder.run(sweep + "o1")
    expect(run.returncode == 0, run.stderr.decode())
    (folder.work / "inner/helper.py").write_text("slower = 2\n")
    resumed = folder.run("normtune sweep --resume o1")
    expect(resumed.returncode == 2 and b"has changed since the run began" in resumed.stderr, resumed.stderr.decode())
    again = folder.run(sweep + "o2")
    expect(again.returncode == 0 and b"from the store" not in again.stderr, again.stderr.decode())
    first, second = (outcomes(folder, out)["right"] for out in ("o1", "o2"))
    expect(first["timestamp"] < second["timestamp"] or first["measurement"] != second["measurement"], first, second)
    expect(not first["compile"]["code_hash"], first["compile"])
    for out in ("p1", "p2"):
        folder.run(f"normtune sweep --provider inner/outer.py:right --candidates-only --problem {PROBLEM} --backend cpu --quiet --out {out}")
    pairs = json.loads(folder.run("normtune compare p1 p2 --format json").stdout)["pairs"]
    expect(len(pairs) == 1 and pairs[0]["verdict"] in ("same", "slower", "faster", "ambiguous"), pairs)


def bits(folder):
    """Rows at changing places of a batch: equal bits have one digest whatever M, and what the place changes is told."""
    digests = set()
    for rows in (4, 64):
        folder.run(f"normtune verify --provider norms.py:places --candidates-only --batch-invariant --problem rms_norm/forward/fp32/llama/{rows}x32 "
                   f"--backend cpu --out bits{rows} --quiet")
        found = outcomes(folder, f"bits{rows}")
        expect(all(record["outcome"] == "passed" for record in found.values()), found)
        digests.add(found["right"]["bits"]["row_bits"])
        digests.add(found["of_the_place"]["bits"]["row_bits"])  # of 4 rows each has one place alone
    expect(len(digests) == 3 and "" in digests and "y[32][0] in a batch of 64" in found["of_the_place"]["bits"]["rows_differ"], digests, found)


def inference(folder):
    """Over its inputs and without rstd; one whose rstd is wrong is told by y. Dependent launches beside others are warned of."""
    problem = "fused_add_rms_norm/inference/fp32/llama/8x32/in_place"
    folder.run(f"normtune verify --provider norms.py:serving_wrongly --candidates-only --problem {problem} --backend cpu --out i --quiet")
    found = {key: (record["outcome"], record["reason"]) for key, record in outcomes(folder, "i").items()}
    expect(found["plain"] == ("passed", "") and found["of_n_plus_1"][0] == "incorrect" and "y[" in found["of_n_plus_1"][1], found)
    warning = b"some candidates are launched while the launch ahead ends (dependent), others after it"
    for key, warned in (("", True), (" --config serving:plain.pdl", False)):
        alone = "" if key else " --candidates-only"
        run = folder.run(f"normtune sweep --provider norms.py:serving{key}{alone} --problem {problem} --backend cpu --out i{len(key)}")
        expect(run.returncode == 0 and (warning in run.stderr) == warned, key, run.returncode, run.stderr.decode())
        records = outcomes(folder, f"i{len(key)}").values()
        expect(all(record["outcome"] == "passed" for record in records) and len(records) == (2 if warned else 1), records)


def own_outputs(folder, python):
    """Outputs in memory of its own are looked at as well; NumPy copies them."""
    run = folder.run(f"normtune sweep --provider norms.py:own --candidates-only --problem {PROBLEM} --backend cpu --python {python} --out d "
                     "--quiet")
    expect(run.returncode == 0 and outcomes(folder, "d")["own"]["outcome"] == "passed", run.stderr.decode(), run.stdout.decode())
    numpy = f"normtune sweep --provider numpy --candidates-only --backend cpu --python {python} --quiet"
    for out, problem in enumerate((PROBLEM, "rms_norm/forward/fp16/gemma/64x96/stride160/offset1", "rms_norm/forward/fp32/none/3x1000/weightless",
                                     "rms_norm/inference/fp16/llama/64x96/stride160", "rms_norm/inference/fp32/llama/64x96/in_place")):
        run = folder.run(f"{numpy} --problem {problem} --out numpy{out}")
        expect(run.returncode == 0, problem, run.stderr.decode())
        record = outcomes(folder, f"numpy{out}")["rms_norm"]
        expect(record["outcome"] == "passed" and record["measurement"], problem, record["reason"])
    run = folder.run(f"{numpy} --problem {PROBLEM.replace('fp32', 'bf16')}")
    expect(run.returncode == 2 and b"NumPy has no bf16" in run.stderr, run.stderr.decode())


def has_numpy(python):
    return subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0


def told(folder):
    """One clear line, and exit code 2."""
    (folder.work / "broken.py").write_text("def all(:\n")
    sweep = f"normtune sweep --problem {PROBLEM} --backend cpu --candidates-only --out f"
    for words, line in (
        ("--provider norms.py:missing", "--provider norms.py:missing: norms.py has no missing"),
        ("--provider broken.py:all", "--provider broken.py:all: its import raises SyntaxError: "),
        ("--provider none.py:all", "--provider none.py:all: there is no .*none.py"),
        ("--provider no_such_module:all", "--provider no_such_module:all: no_such_module is not installed for .*python3; --python names another interpreter"),
        ("--provider liger", "--provider liger: liger_kernel is not installed for .*"),
        ("--provider ligre", "--provider: 'ligre' is none of the shipped providers .numpy, pytorch, .*, nor MODULE:FACTORY"),
        ("--provider norms.py:raises", "its factory raises RuntimeError: the factory is closed"),
        ("--provider norms.py:mute", r"its factory raises Mute \(\S*norms.py:\d+\)$"),
        ("--provider norms.py:no_list", "no_list of norms.py returns NoneType, where a factory returns a list of kernels"),
        ("--provider norms.py:divides_by_zero", r"claims\(\) of norm raises ZeroDivisionError: division by zero \(\S*norms.py:\d+\)"),
        ("--provider norms.py:leaves_the_factory", "--provider norms.py:leaves_the_factory: its factory raises SystemExit: 0"),
        ("--provider norms.py:ends_the_process", "--provider norms.py:ends_the_process: .*python3 ended without an answer: closing"),
        ("--provider norms.py:claims_in_no_words", "nothing of it is left on the selected problems; .* test.claims takes the last 1: does not claim it"),
        ("--provider norms.py:nothing", "its factory returns no kernel"),
        ("--provider norms.py:unfinished", "has no provider; docs/providers.md"),
        ("--provider norms.py:named_badly", "calls itself 'normtune'"),
        ("--provider norms.py:two_of_a_name", "has a second test:right for rms_norm"),
        ("--provider norms.py:of_a_set", "--provider norms.py:of_a_set: the rounding of norm has to be lists of names: TypeError"),
        ("--provider norms.py:misspelt", "--provider: norms.py:misspelt: norm: .*'nrmal'"),
        ("--provider norms.py:right --python /no/python", "--python: '/no/python' is no interpreter that can be run"),
        ("--provider norms.py:right --python false", "--provider norms.py:right: .*false ends with exit status 1"),
        ("--provider norms.py:right --config tset:right", "--config tset:right: no --candidate or --provider has such a kernel"),
        ("--provider norms.py:right --config test:left", "no test:left is left on the selected problems"),
        ("--python python3", "--candidates-only leaves out"),
    ):
        run = folder.run(f"{sweep} {words}".replace("--candidates-only ", "" if "--config" in words else "--candidates-only "))
        text = run.stderr.decode()
        expect(run.returncode == 2 and re.search(line, text) and text.count("\n") == 1, words, run.returncode, text)
    run = folder.run(f"normtune plan --problem {PROBLEM} --provider norms.py:right --arch sm_90 --compile")
    expect(run.returncode == 2 and b"--compile: what a Python provider launches" in run.stderr, run.stderr.decode())


def shipped(folder, package):
    """What the executable names is what the package has."""
    run = folder.run(f"normtune plan --problem {PROBLEM} --provider ligre")
    named = re.search(r"shipped providers \((.*?)\)", run.stderr.decode())
    there = {path.stem for path in (package / "providers").glob("*.py")} - {"__init__"}
    expect(named and set(named[1].split(", ")) == there, run.stderr.decode(), there)


def library(path):
    """It shows its interface and nothing else, and refuses what is no worker's command line."""
    symbols = subprocess.run(["nm", "--dynamic", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in symbols.splitlines()}
    expect(names == {"normtune_worker_serve", "normtune_worker_interface"}, names)
    loaded = ctypes.CDLL(path)
    expect(loaded.normtune_worker_interface() == 2, "interface")
    words = (ctypes.c_char_p * 2)(b"normtune", b"devices")
    expect(loaded.normtune_worker_serve(b"normtune", 2, words, (ctypes.c_void_p * 5)()) == 2, "serves anything")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    normtune = pathlib.Path(parser.parse_args().normtune).resolve()
    if not os.environ.get("NORMTUNE_SANITIZED"):  # a sanitizer's library needs its run-time library in front of Python
        library(str(normtune.parent / "libnormtune_worker.so"))
        for part in (faults, refuses_all, names, measured, changed_elsewhere, bits, inference):
            with harness.Folder(normtune) as folder:
                part(folder)
        python = next(filter(has_numpy, (os.environ.get("NORMTUNE_NUMPY_PYTHON", sys.executable), "/usr/bin/python3")), None)
        if python is None:
            print("NumPy is not installed: its provider is not run")
            expect(not os.environ.get("CI"), "CI skips no test for a missing tool")
        else:
            with harness.Folder(normtune) as folder:
                own_outputs(folder, python)
    with harness.Folder(normtune) as folder:
        told(folder)
        shipped(folder, normtune.parent.parent / "python/normtune_provider")
    return 1 if expect.failed else 0


if __name__ == "__main__":
    sys.exit(main())
