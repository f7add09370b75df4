#!/usr/bin/env python3
"""scripts/ci_gate from sweep to exit code, as a CI job runs it: with a slowdown and without, on the replay device and on the CPU."""

import argparse
import json
import pathlib
import sys

import harness

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "ci_gate"
REPLAY = "--shapes shapes.yaml --space space.yaml --tokens 20000,400000 --backend replay --replay-script"
CPU = "--problem rms_norm/forward/fp32/llama/2048x1024 --space quick --strategy random --trials 2 --backend cpu"
# A busy machine may be several times slower: what is planted is far more, and only that fails.
CPU_POLICY = "name: cpu\nby: best\nmetrics: [latency]\npercent: 400\nambiguous: pass\n"


class Checks:
    def __init__(self, folder):
        self.folder = folder
        self.failed = False

    def expect(self, command, code, fragment, path=""):
        result = self.folder.run(f"PATH={path}$PATH {SCRIPT} {command}")
        text = result.stdout.decode() + result.stderr.decode()
        if result.returncode != code or fragment not in text:
            self.failed = True
            print(f"ci_gate {command}\n  exit code {result.returncode}, not {code}; or lacks '{fragment}':\n{text}")

    def expect_files(self, names):
        for name in names:
            if not (self.folder.work / name).is_file():
                self.failed = True
                print(f"{name} was not written")

    def expect_none(self, names):
        for name in names:
            if (self.folder.work / name).exists():
                self.failed = True
                print(f"{name} stands there, and is not this run's")


def expect_no_verdict_where_something_is_wrong(checks):
    """Exit code 2, before the sweep where it is the script's to see; neither an earlier verdict nor a lost baseline."""
    work = checks.folder.work
    (work / "file").write_text("")
    judge = f"-- {REPLAY} replay_again.yaml"
    checks.expect(f"--baseline base.json --out new/ {judge}", 0, "pass: gate default")
    checks.expect(f"--baseline base.json --out deep/er/new {judge}", 0, "pass: gate default")
    checks.expect_files(["new/gate.md", "new/sweep.log", "deep/er/new/gate.md", "deep/er/new/sweep.log"])
    checks.expect(f"--baseline base.json --out file/new {judge}", 2, "file")
    checks.expect("--ab one other --out file/new -- --shapes shapes.yaml", 2, "file")
    (work / "occupied/sweep.log").mkdir(parents=True)
    checks.expect(f"--baseline base.json --out occupied {judge}", 2, "sweep.log")

    checks.expect(f"--baseline none.json --out new {judge}", 2, "make one with --update")
    checks.expect_none(["new/gate.md", "new/gate.xml"])
    checks.expect("--ab none other --out deep/er/new -- --shapes shapes.yaml", 2, "none")
    checks.expect_none(["deep/er/new/gate.md", "deep/er/new/gate.xml"])

    checks.expect(f"--baseline file/base.json --out unswept --update {judge}", 2, "file")
    checks.expect(f"--baseline new --out unswept --update {judge}", 2, "new is a folder")
    checks.expect_none(["unswept"])
    before = (work / "base.json").read_bytes()
    (work / "broken").mkdir()
    (work / "broken/cp").write_text('#!/bin/bash\nprintf half >"${@: -1}"\necho "cp: no space left" >&2\nexit 1\n')
    (work / "broken/cp").chmod(0o755)
    checks.expect(f"--baseline base.json --out new --update {judge}", 2, "no space left", path="$PWD/broken:")
    if (work / "base.json").read_bytes() != before:
        checks.failed = True
        print("a failed --update changed the baseline")
    (work / "link.json").symlink_to("linked/base.json")
    checks.expect(f"--baseline link.json --out new --update {judge}", 0, "link.json is the baseline now")
    checks.expect_files(["linked/base.json"])
    checks.expect_none([path.relative_to(work) for path in work.glob("**/.ci_gate.*")])


FASTER = 200  # so that the fastest still takes many empty launches: below these, no change is told


def make_far_faster(path):
    results = json.loads(path.read_text())
    for record in results["records"]:
        measurement = record.get("measurement")
        if measurement is None:
            continue
        for key in ("p20_us", "p50_us", "p80_us"):
            measurement[key] /= FASTER
        for round_ in measurement["rounds"]:
            round_["median_us"] /= FASTER
        record["compile"]["code_hash"] = "f" * 32  # other code: the same could not have become slower
        measurement["final_rounds_us"] = [us / FASTER for us in measurement["final_rounds_us"]]
    path.write_text(json.dumps(results))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    with harness.Folder(arguments.normtune) as folder:
        checks = Checks(folder)
        checks.expect(f"--baseline base.json --update --out a -- {REPLAY} replay.yaml", 0, "is the baseline now")
        checks.expect(f"--baseline base.json --out b -- {REPLAY} replay_again.yaml", 0, "pass: gate default")
        checks.expect(f"--baseline base.json --out c -- {REPLAY} replay_slower.yaml", 1, "fail: gate default")
        checks.expect_files(["c/gate.md", "c/gate.xml", "c/run/results.json", "c/sweep.log"])
        # One after another in one place, as the page has them: a further run, and no verdict of an earlier one.
        checks.expect(f"--baseline base.json --out c -- {REPLAY} replay_again.yaml", 0, "pass: gate default")
        checks.expect_files(["c/gate.md", "c/run-2/results.json"])
        checks.expect(f"--baseline other.json --out c --update -- {REPLAY} replay.yaml", 0, "is the baseline now")
        checks.expect_files(["c/run-3/results.json"])
        checks.expect_none(["c/gate.md"])
        checks.expect(f"--baseline base.json --out d --confirm -- {REPLAY} replay_slower.yaml", 1, "confirmed by fresh")
        checks.expect(f"--baseline base.json --out e -- --hot {REPLAY} replay.yaml", 3, "across: [cold]")
        checks.expect(f"--baseline none.json --out f -- {REPLAY} replay.yaml", 2, "make one with --update")
        checks.expect("--baseline base.json --out g -- --shapes nothing", 2, "no file 'nothing'")
        checks.expect("--baseline base.json", 2, "no sweep options")
        checks.expect("--basline base.json", 2, "unknown argument '--basline'")
        expect_no_verdict_where_something_is_wrong(checks)

        (folder.work / "cpu.yaml").write_text(CPU_POLICY)
        checks.expect(f"--baseline cpu/base.json --update --out h -- {CPU}", 0, "is the baseline now")
        checks.expect(f"--baseline cpu/base.json --policy cpu.yaml --out i -- {CPU}", 0, "pass: gate cpu")
        make_far_faster(folder.work / "cpu" / "base.json")
        checks.expect(f"--baseline cpu/base.json --policy cpu.yaml --out j -- {CPU}", 1, "fail: gate cpu")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
