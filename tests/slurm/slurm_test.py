#!/usr/bin/env python3
"""scripts/slurm on a cluster of one machine: tasks are requeued and killed, and the merge is what one sweep gives."""

import argparse
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cluster

SKIPPED = 77
SUBMIT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "slurm" / "submit"
SHARDS = 3
TIME_LIMIT_S = 120

SHAPES = """\
name: slurm
dtypes: [bf16]
ops: [rms_norm]
modes: [forward]
tokens: [64, 512, 4096, 32768]
models:
  - name: Small
    eps: 1.0e-6
    sites:
      - {site: hidden, cols: 1024, rows_per_token: 1}
      - {site: q_norm, cols: 128, rows_per_token: 4}
"""
SPACE = """\
name: slurm
axes:
  num_warps: [1, 2, 4]
  threads_per_row: [32]
  rows_per_program: [1, 2, 4, 8]
  grid: [packed]
"""
# Times without noise: what is measured after a kill is what would have been measured before it.
REPLAY = """\
noise: {sigma: 0}
timings:
  - {config: '*', copies: 1.2, spread: 0.5}
delays: {verify_ms: 150}
"""
# What may differ between two runs that measured the same.
OF_THE_RUN = ("timestamp", "compile_ms")


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def rows_of(path):
    with open(path, newline="") as file:
        return [{name: cell for name, cell in row.items() if name not in OF_THE_RUN} for row in csv.DictReader(file)]


def trials_of(folder):
    """Keys of the journal's records, in order; a line that is being written is left out."""
    try:
        lines = (folder / "journal.jsonl").read_text().split("\n")[1:-1]
    except FileNotFoundError:
        return []
    records = [json.loads(line).get("record") for line in lines]
    return [(record["problem"]["key"], record["configuration"]["key"]) for record in records if record]


def sweep_process(folder):
    """The normtune that sweeps into `folder`, as its parent process and not as its worker."""
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if len(words) > 1 and words[0].endswith("normtune") and words[1] == "sweep" and str(folder) in words:
                return int(entry.name)
    return None


class Run:
    def __init__(self, slurm, normtune, work):
        self.slurm = slurm
        self.work = work
        self.out = work / "out"
        self.sweep = [str(normtune), "sweep", "--shapes", "shapes.yaml", "--space", "space.yaml", "--strategy", "exhaustive"]
        self.sweep += ["--backend", "replay", "--replay-script", "replay.yaml"]

    def submit(self, *arguments):
        return subprocess.run(
            [SUBMIT, *arguments], cwd=self.work, env=self.slurm.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )

    def start(self):
        (self.work / "shapes.yaml").write_text(SHAPES)
        (self.work / "space.yaml").write_text(SPACE)
        (self.work / "replay.yaml").write_text(REPLAY)
        self.whole = subprocess.Popen(
            [*self.sweep, "--quiet", "--out", "whole"], cwd=self.work, env=self.slurm.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        done = self.submit("--shards", str(SHARDS), "--out", str(self.out), "--partition=test", "--", *self.sweep)
        check(done.returncode == 0, done.stderr)
        words = done.stdout.replace(",", "").replace(".", "").split()
        self.array, self.merge = (words[i + 1] for i, word in enumerate(words) if word == "job")

    def shard(self, number):
        return self.out / f"shard-{number}"

    def under_way(self, number):
        """Are some trials done? Ended is too late."""
        check(not (self.shard(number) / "results.json").exists(), f"shard {number} ended before it could be stopped")
        return trials_of(self.shard(number))

    def requeue(self, number):
        self.slurm.wait_until(f"shard {number} has trials", lambda: self.under_way(number), TIME_LIMIT_S)
        before = trials_of(self.shard(number))
        self.slurm.client("scontrol", "requeue", f"{self.array}_{number}")
        return before

    def kill(self, number):
        self.slurm.wait_until(f"shard {number} has trials", lambda: self.under_way(number), TIME_LIMIT_S)
        before = trials_of(self.shard(number))
        process = sweep_process(self.shard(number))
        check(process is not None, f"shard {number} has no process")
        os.kill(process, signal.SIGKILL)
        return before

    def ended(self):
        return (self.out / "merged" / "results.json").exists() or not self.slurm.client("squeue", "-h", "-j", self.merge).strip()

    def check_shard(self, number, before):
        trials = trials_of(self.shard(number))
        check(trials[: len(before)] == before, f"shard {number} lost trials")
        check(len(trials) > len(before), f"shard {number} was not stopped in the middle: it had all of its {len(before)} trials")
        check(len(set(trials)) == len(trials), f"shard {number} ran a trial twice: {trials}")

    def log(self, name):
        return (self.out / "logs" / f"{name}.log").read_text()


def run(slurm, normtune, work):
    sweep = Run(slurm, normtune, work)
    sweep.start()
    try:
        killed = sweep.kill(2)
        requeued = sweep.requeue(1)
        slurm.wait_until("the merge has ended", sweep.ended, TIME_LIMIT_S)
        check(sweep.whole.wait(TIME_LIMIT_S) == 0, "the sweep that is not in shards failed")
    finally:
        sweep.whole.kill()
        sweep.whole.wait()
    check((sweep.out / "merged" / "results.json").exists(), f"nothing was merged\n{sweep.log('merge')}")
    merged = rows_of(sweep.out / "merged" / "results.csv")
    check(merged == rows_of(work / "whole" / "results.csv"), "the merged results are not those of one sweep")
    sweep.check_shard(1, requeued)
    sweep.check_shard(2, killed)
    check("start 2" in sweep.log("shard-1"), "shard 1 was not requeued")
    check("killed by a signal" in sweep.log("shard-2"), "shard 2 was not killed")
    again = sweep.submit("--shards", str(SHARDS), "--out", str(sweep.out), "--", *sweep.sweep)
    check(again.returncode == 2 and "has ended" in again.stderr, f"submitted twice: {again}")
    other = sweep.submit("--shards", str(SHARDS + 1), "--out", str(sweep.out), "--", *sweep.sweep)
    check(other.returncode == 2 and "another sweep's" in other.stderr, f"another sweep into the same folder: {other}")
    print(f"{len(merged)} trials in {SHARDS} shards; requeued after {len(requeued)} trials, killed after {len(killed)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True, type=pathlib.Path, help="the executable")
    arguments = parser.parse_args()
    if missing := cluster.missing_programs():
        print(f"skipped: {', '.join(missing)} not found; Debian has them in slurm-wlm and munge")
        return SKIPPED
    work = pathlib.Path(tempfile.mkdtemp(prefix="normtune-slurm-"))
    try:
        slurm_folder = work / "slurm"
        slurm_folder.mkdir()
        start = time.monotonic()
        with cluster.Cluster(slurm_folder) as slurm:
            try:
                run(slurm, arguments.normtune.resolve(), work)
            except Exception:
                print(slurm.logs(), *(log.read_text() for log in sorted(work.glob("out/logs/*.log"))), sep="\n", file=sys.stderr)
                raise
        print(f"{time.monotonic() - start:.1f} s")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
