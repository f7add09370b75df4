#!/usr/bin/env python3
"""Progress on a terminal: a bar that redraws itself, colour unless NO_COLOR is set, and nothing with --quiet; what audit is at."""

import argparse
import os
import pty
import sys

import harness

SWEEP = [
    "normtune", "sweep", "--shapes", "shapes.yaml", "--space", "space.yaml", "--backend", "replay", "--replay-script",
    "replay.yaml",
]  # fmt: skip


def on_terminal(folder, words, environment):
    """What the command writes to a terminal that is its stdout and stderr."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder.work)
        os.execvpe(words[0], words, {**folder.environment, "TERM": "xterm", **environment})
    output = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux ends a terminal with EIO
            break
        if not part:
            break
        output += part
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), output.decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    faults = []
    with harness.Folder(arguments.normtune) as folder:
        status, output = on_terminal(folder, SWEEP, {})
        if status != 0 or "\r\x1b[K[" not in output or "trials" not in output:
            faults.append(f"no bar: {status} {output!r}")
        if "\x1b[1m" not in output:
            faults.append(f"no colour on a terminal: {output!r}")
        if not output.replace("\r\n", "\n").split("\x1b[K")[-1].endswith("\n"):
            faults.append("the bar is left behind")
        status, output = on_terminal(folder, SWEEP, {"NO_COLOR": "1"})
        if status != 0 or "\x1b[1m" in output:
            faults.append(f"NO_COLOR is not kept: {output!r}")
        status, output = on_terminal(folder, [*SWEEP, "--quiet"], {})
        if status != 0 or "\r\x1b[K" in output:
            faults.append(f"--quiet is not quiet: {output!r}")
        status, output = on_terminal(folder, [*SWEEP, "--quiet", "--strategy", "exhaustive", "--out", "run"], {})
        status, output = on_terminal(folder, ["normtune", "audit", "run"], {})
        if status != 0 or "reading run" not in output or "judging " not in output:
            faults.append(f"audit does not say what it is at: {output!r}")
        if any(line.strip() for line in output.split("\x1b[K")[-1].splitlines()[:1] if "…" in line):
            faults.append("what audit was at is left behind")
        result = folder.run("normtune audit run")
        if b"reading" in result.stderr or b"\x1b" in result.stderr:
            faults.append(f"audit says it where no terminal is: {result.stderr!r}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
