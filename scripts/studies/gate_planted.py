#!/usr/bin/env python3
"""What `normtune gate --confirm` says where every second trial of 8192x4096 became 5% slower: its markdown, or its JUnit XML.

    scripts/studies/gate_planted.py BASELINE CANDIDATE FRESH
    scripts/studies/gate_planted.py BASELINE CANDIDATE FRESH --junit

Three recorded sweeps of the same selection on one device: of the first these trials are made 5% faster, the second is the change, and a replay
device plays the third where suspects are measured again.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PLANTED = 1.05
POLICY = "name: default\nacross: [driver, timer]\n"  # a replay device has its own
DEVICE = ("recorded: fresh.json\ndevice: {{name: '{name}', arch: {arch}, warp_size: {warp_size}, compute_units: {compute_units}, "
          "max_threads_per_program: {max_threads_per_program}, has_async_copy: true}}\n")


def plant(results):
    """Makes the trials faster in place; how many."""
    chosen = [record for record in results["records"] if record["problem"]["key"].endswith("8192x4096")][1::2]
    for record in chosen:
        measurement = record["measurement"]
        for figure in ("p20_us", "p50_us", "p80_us", "limit_ratio"):
            measurement[figure] /= PLANTED
        measurement["gbps"] *= PLANTED
        measurement["final_rounds_us"] = [us / PLANTED for us in measurement["final_rounds_us"]]
        for one in measurement["rounds"]:
            one["median_us"] /= PLANTED
    return len(chosen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for side in ("baseline", "candidate", "fresh"):
        parser.add_argument(side, type=pathlib.Path, help="results.json")
    parser.add_argument("--junit", action="store_true", help="print the JUnit XML")
    arguments = parser.parse_args()
    try:
        baseline = json.loads(arguments.baseline.read_text())
        device = baseline["environment"]["device"]
        if plant(baseline) == 0:
            sys.exit(f"gate_planted: {arguments.baseline} has no trials of 8192x4096")
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            (work / "planted.json").write_text(json.dumps(baseline))
            (work / "fresh.json").write_text(arguments.fresh.read_text())
            (work / "policy.yaml").write_text(POLICY)
            (work / "replay.yaml").write_text(DEVICE.format(**device))
            done = subprocess.run([os.environ.get("NORMTUNE", "normtune"), "gate", "--baseline", "planted.json", "--candidate",
                                   arguments.candidate.resolve(), "--policy", "policy.yaml", "--confirm", "--backend", "replay", "--replay-script",
                                   "replay.yaml", "--quiet", "--markdown", "gate.md", "--junit", "gate.xml"], cwd=work, capture_output=True, text=True)
            if done.returncode != 1:
                sys.exit(f"gate_planted: the gate does not fail: exit code {done.returncode}: {done.stderr.strip() or done.stdout.strip()[-300:]}")
            print((work / ("gate.xml" if arguments.junit else "gate.md")).read_text(), end="")
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"gate_planted: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
