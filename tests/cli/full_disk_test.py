#!/usr/bin/env python3
"""A sweep whose folder is on a disk that fills up: one line that says so, exit code 2, and no half-written result file.

Needs to mount a tmpfs of its own, as root or in a user namespace; skipped (77) where that is not allowed."""

import argparse
import subprocess
import sys

import harness

SKIP = 77
MOUNT = "mkdir disk && mount -t tmpfs -o size=64k tmpfs disk"
SWEEP = (
    "normtune sweep --quiet --shapes shapes.yaml --space space.yaml --tokens 1,2,3,4,5,6,7,8 --out disk/run"
    " --backend replay --replay-script replay.yaml"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    namespace = ["unshare", "--mount", "--map-root-user"]
    try:
        allowed = subprocess.run(
            [*namespace, "sh", "-c", "mount -t tmpfs tmpfs /mnt"], capture_output=True, check=False
        )
    except FileNotFoundError:
        allowed = None
    if allowed is None or allowed.returncode != 0:
        print("mounting a tmpfs is not allowed here")
        return SKIP
    with harness.Folder(arguments.normtune) as folder:
        result = folder.run(f"{' '.join(namespace)} bash -c '{MOUNT} && {SWEEP}; status=$?; ls disk/run; exit $status'")
    stderr = result.stderr.decode()
    files = set(result.stdout.decode().split())
    good = (
        result.returncode == 2
        and stderr.count("\n") == 1
        and "No space left on device" in stderr
        and files <= {"journal.jsonl", "worker.log"}
    )
    if not good:
        print(f"exit code {result.returncode}, files {sorted(files)}, stderr: {stderr}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
