#!/usr/bin/env python3
"""normtune ab with Python providers as sides: two virtual environments, one against a configuration or a candidate folder, and what goes wrong."""

import argparse
import json
import os
import pathlib
import sys

import harness

SHAPE = "rms_norm/forward/fp32/llama/4x16"
CPU = f"--problem {SHAPE} --backend cpu --hot --processes 2 --quiet"
# Times that are made up: what is after is 2.5 % slower.
REPLAY = "--problem rms_norm/forward/fp32/llama/256x1024 --backend replay --replay-script replay.yaml --processes 2 --quiet"
SCRIPT = "seed: 7\nnoise: {sigma: 0.002}\ntimings:\n  - {config: 'after*', copies: 1.23}\n  - {config: '*', copies: 1.2}\n"
TOYS = "normtune ab toy_norms:all toy_norms:all --before-python old --after-python new"
LIBRARY = """
import time
import norms

calls = []

def planted(x, y, rstd):
    calls.append(1)
    {planted}

class Toy(norms.Norm):
    provider = "toy"
    version = "{version}"

def all():
    return [Toy("rms_norm", planted), Toy("other")][: {kernels}]
"""


class Checks(harness.Checks):
    def records(self, out):
        return json.loads((self.folder.work / out / "results.json").read_text())

    def environment(self, name, version, planted="pass", kernels=1):
        """A virtual environment with a version of the library."""
        made = self.folder.work / name
        if not made.exists():
            done = self.folder.run(f"{sys.executable} -m venv --system-site-packages --without-pip {name}")
            self.expect(done.returncode == 0, done.stderr.decode())
        (packages,) = made.glob("lib/python3*/site-packages")
        (packages / "toy_norms.py").write_text(LIBRARY.format(version=version, planted=planted, kernels=kernels))
        (packages / "norms.py").write_text((harness.INPUTS / "norms.py").read_text())


def versions(checks):
    """Each side imports its own; the slower one is told, and equal ones are not. Both sleep for so long that a busy machine adds little."""
    checks.environment("old", "1.0", "time.sleep(0.01)")
    checks.environment("new", "1.1", "time.sleep(0.04)")
    checks.environment("same", "1.0", "time.sleep(0.01)")
    sleepers = CPU.replace("--processes 2", "--processes 3")
    out = checks.run(f"{TOYS} {sleepers} --out slower --format json --junit slower.xml", 1)
    (pair,) = json.loads(out)["pairs"]
    checks.expect((pair["verdict"], pair["evidence"]) == ("slower", "paired") and 2 < pair["ratio"] < 6, pair)
    checks.expect("failure" in (checks.folder.work / "slower.xml").read_text(), "slower.xml")
    checks.run(f"{TOYS.replace('new', 'same/bin/python3')} {sleepers} --threshold 100 --out equal", 0, "1 same")
    results = checks.records("slower")
    checks.expect(results["environment"]["providers"] == ["before: toy 1.0", "after: toy 1.1"], results["environment"])
    checks.expect([record["provider"] for record in results["records"]] == ["before", "after"], results["records"])
    checks.expect([len(record["measurement"]["repetitions"]) for record in results["records"]] == [2, 2], "three processes of each")
    checks.expect((checks.folder.work / "slower/worker-after.log").exists(), "a worker of its own")
    after = results["records"][1]["repeat"]
    checks.expect("--provider toy_norms:all --python new --config toy:rms_norm" in after, after)
    checks.run(after.replace("sweep", "verify", 1).replace(" --hot", "") + " --quiet --out again", 0)


def made_up(checks):
    """What is said of them, other sides beside them, and several kernels of one."""
    text = checks.run(f"{TOYS} {REPLAY} --out told", 1, "1 slower", "toy_norms:all (toy 1.1) with new", "toy:rms_norm")
    checks.expect("toy_norms:all (toy 1.0) with old" in text, text)
    for form, fragment in (("markdown", "### normtune: "), ("csv", "verdict,op,mode")):
        checks.run(f"{TOYS} {REPLAY} --format {form} --out {form}", 1, fragment)
    checks.run(f"normtune ab norms.py:right toy_norms:all --after-python old {REPLAY} --out file", 1, "1 slower")
    checks.run(f"normtune ab toy_norms:all w4.t128.r1.row.registers.masked.per_row --before-python old {REPLAY} --out own", 0, "1 same")
    checks.run(f"normtune ab vendor any.py:all {REPLAY.replace('fp32', 'bf16')} --out beside", 1, "1 slower", "any:any")
    gate = pathlib.Path(__file__).resolve().parents[2] / "scripts/ci_gate"
    checks.run(f"{gate} --ab toy_norms:all toy_norms:all --out gate -- --before-python old --after-python new {REPLAY}", 1, "1 slower")
    checks.expect("toy:rms_norm" in (checks.folder.work / "gate/gate.md").read_text(), "gate.md")
    checks.environment("many", "2.0", kernels=2)
    checks.environment("many_too", "2.1", kernels=2)
    checks.run(f"{TOYS.replace('old', 'many').replace('new', 'many_too')} {REPLAY} --out both", 1, "2 slower", "toy:other")
    checks.run(f"{TOYS.replace('new', 'many')} {REPLAY} --policy default --out policy", 1, "1 slower, 1 new", "fail: gate default")


def failures(checks):
    """A side that fails is an outcome, in whichever process and however late."""
    checks.environment("old", "1.0")
    for name, planted, outcome, reason in (
        ("dies", "import os; os.abort()", "crashed", "the worker was killed by SIGABRT"),
        ("leaves", "norms.leaves() if len(calls) > 60 else None", "crashed", "it said: leaving"),
        ("hangs", "time.sleep(600)", "timed_out", "no answer within"),
        ("wrong", "y[7] = 5", "incorrect", "y[0][7] = "),
    ):
        checks.environment("new", "1.2", planted)
        out = checks.run(f"{TOYS} {CPU} --timeout 5s --out {name}", 1, f"candidate {outcome}")
        before, after = checks.records(name)["records"]
        checks.expect((before["outcome"], after["outcome"]) == ("passed", outcome) and reason in after["reason"], name, before["outcome"], after, out)


def refusals(checks):
    work = checks.folder.work
    claims = "does not claim them (is for forward, fp32"
    checks.refused(f"normtune ab vendor toy_norms:all --after-python old {REPLAY.replace('fp32', 'bf16')}", f"toy_norms:all {claims}")
    (work / "broken.py").write_text("def all(:\n")
    (work / "raising.py").write_text((work / "any.py").read_text().replace("lambda *_: True", "lambda *_: 1 // 0"))
    (work / "odd.py").write_text((work / "any.py").read_text().replace("'any'", "'an\\ny'"))
    checks.environment("new", "1.1")
    checks.refused(f"normtune ab any.py:all raising.py:all {CPU}", "after raising.py:all: claims() of any raises ZeroDivisionError: ")
    checks.refused(f"normtune ab any.py:all odd.py:all {CPU}", "after odd.py:all: a kernel's key, 'an\\ny', has characters that cannot be printed")
    checks.refused(f"{TOYS.replace('toy_norms:all --before', 'toy_norms:none --before')} {CPU}", "after toy_norms:none: toy_norms has no none")
    checks.refused(f"normtune ab toy_norms:all broken.py:all --before-python old {CPU}", "after broken.py:all: its import raises SyntaxError")
    checks.refused(f"normtune ab toy_norms:all norms.py:right {CPU}", "; --before-python names another interpreter")
    checks.refused(f"normtune ab liger liger --before-python old --after-python new {CPU}", "before liger: liger_kernel is not installed for ")
    checks.refused(f"{TOYS.replace('new', 'no/venv')} {CPU}", "--after-python: 'no/venv' is no interpreter that can be run, nor a virtual environment")
    checks.refused(f"{TOYS.replace('new', 'old/bin/../bin/python3')} {CPU}", "is both sides; give the interpreter of another virtual environment with --before-python")
    checks.refused(f"normtune ab vendor norms.py:right --before-python old {CPU}", "--before-python is the interpreter of a Python provider, and 'vendor' is none of")
    checks.refused(f"{TOYS} --backend cpu", "neither a configuration's key nor a provider names a problem; say on which")
    checks.refused(f"{TOYS} {CPU.replace('forward', 'backward')}", f"toy_norms:all {claims}")
    checks.refused(f"normtune ab ligre liger {CPU}", "none of the shipped providers (numpy, ")
    checks.expect(not (work / "results").exists(), "a refused command left results/")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    normtune = pathlib.Path(parser.parse_args().normtune).resolve()
    with harness.Folder(normtune) as folder:
        checks = Checks(folder)
        checks.environment("old", "1.0")
        (folder.work / "replay.yaml").write_text(SCRIPT)
        (folder.work / "any.py").write_text("class Any:\n    provider = key = 'any'\n    claims = prepare = lambda *_: True\n\n\ndef all():\n    return [Any()]\n")
        if not os.environ.get("NORMTUNE_SANITIZED"):  # a sanitizer's library needs its run-time library in front of Python
            for part in (versions, made_up, failures):
                part(checks)
        refusals(checks)
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
