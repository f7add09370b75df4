#!/usr/bin/env python3
"""Plants slowdowns of known size in emitted kernels and counts which of them `normtune ab` finds, and how often it calls equal code changed.

    scripts/planted_slowdowns.py --out ab.csv                        what each pair was goes there
    scripts/planted_slowdowns.py --from results/h100/ab.csv          its table again

Each pair is an emitted kernel's source and a copy whose first programs wait at their beginning. How long they have to is measured: a first
run says what a wait costs each kernel. The equal copies have a kernel more that nothing launches, so that they are not known to be the same
code. Without a GPU only the planted sources are compiled. Exit code 1: less was found, or more was called, than docs/ab.md promises.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("rms_norm/forward", "fused_add_rms_norm/forward", "rms_norm/backward")
SHAPES = ("1x4096", "64x4096", "256x2048", "2048x2048", "8192x1024", "8192x4096", "4096x8192", "16384x2048")
SLOWDOWNS = (0.01, 0.02, 0.005, 0.03)  # in the order in which they are measured
PILOT = 0.03
PILOT_PROCESSES = 3  # what a wait costs has to be known to some percent alone
FIGURES = ("before", "after", "ratio", "low", "high", "verdict")  # of a pair of ab, as the last columns
COLUMNS = ("planted", "seed", "problem", "pair", "before_us", "after_us", "ratio", "ratio_low", "ratio_high", "verdict")
CLOCK_MHZ = 1700  # of the first guess
SHORT_US = 10
KERNEL = re.compile(r"NT_KERNEL\(nt_threads, NT_MIN_PROGRAMS\)\n[^{]*\{")
WAIT = """
    if (blockIdx.x < %d) {
        const long long begin = clock64();
        while (clock64() - begin < %dLL) {
        }
    }"""
UNUSED = '\nextern "C" __global__ void nt_unused(int* out) { *out = 1; }\n'


def run(command):
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NORMTUNE_STORE": ""})


def fail(what):
    raise SystemExit(f"planted_slowdowns: {what}")


def configurations(kind, cols):
    """Two for each problem: about 16 and about 32 elements a thread."""
    threads = 32
    while threads < 1024 and threads * 16 < cols:
        threads *= 2
    grid = "per_row" if kind.endswith("forward") else "persistent_strided"
    for count in (threads, max(32, threads // 2)):
        yield f"w{count // 32}.t{count}.r1.row.registers.masked.{grid}"


def emit(arguments, work, has_gpu):
    """A folder of source for each pair, below work/before; their names and problems."""
    where = ["--backend", arguments.backend] if has_gpu else ["--arch", "sm_90"]
    names = {}
    for kind in KINDS:
        for shape in SHAPES:
            problem = f"{kind}/bf16/llama/{shape}"
            some = list(dict.fromkeys(configurations(kind, int(shape.split("x")[1]))))
            for number, configuration in enumerate(some if has_gpu else some[:1]):
                name = f"{kind.replace('/', '_')}_{shape}_{number}"
                done = run([arguments.normtune, "emit", "--problem", problem, "--config", configuration, *where, "--out", str(work / "emitted" / name)])
                if done.returncode != 0:
                    if "needs NVRTC" in done.stderr:
                        return {}
                    fail(f"{problem} {configuration}: {done.stderr.strip()}")
                names[name] = problem
                plant(work, "before", name)
            if not has_gpu:
                break  # one of each kind compiles like the others
    return names


def plant(work, tree, name, edit=lambda source, launch: source):
    right = work / "emitted" / name
    launch = json.loads((right / "launch.json").read_text())
    launch.update(provider="planted", configuration=name, code={"file": "kernel.cu"})
    folder = work / tree / name
    folder.mkdir(parents=True)
    (folder / "kernel.cu").write_text(edit((right / "kernel.cu").read_text(), launch))
    (folder / "launch.json").write_text(json.dumps(launch))


def waiting(cycles):
    def edit(source, launch):
        threads = launch["launches"][0]["block"][0]
        first = launch["compute_units"] * (2048 // threads)  # as many as there may be at once: the others begin when these have ended
        text, count = KERNEL.subn(lambda found: found.group(0) + WAIT % (first, round(cycles)), source)
        if count == 0:
            fail("the source has no kernel to plant a wait in")
        return text

    return edit


def equal(source, _):
    return source + UNUSED


def compile_alone(arguments, work, names):
    """Without a GPU: each version compiles, and all differ."""
    for name in names:
        plant(work, "equal", name, equal)
        plant(work, "slower", name, waiting(1000))
        hashes = set()
        for tree in ("before", "equal", "slower"):
            plan = run([arguments.normtune, "plan", "--candidate", str(work / tree / name), "--candidates-only", "--arch", "sm_90", "--compile",
                        "--list", "--format", "json"])
            if plan.returncode != 0:
                fail(f"{tree}/{name}: {plan.stderr.strip() or plan.stdout[-400:]}")
            hashes |= {one["code_hash"] for one in json.loads(plan.stdout)["problems"][0]["compiled"]}
        if len(hashes) != 3:
            fail(f"{name}: {len(hashes)} kinds of code, not 3")
    print(f"{len(names)} planted kernels compile, each to code of its own")


class Clock:
    """Whether another run of ab is over in time, as long as the longest so far."""

    def __init__(self, seconds):
        self.end, self.longest = seconds and time.monotonic() + seconds, 0

    def admits(self):
        return self.end is None or time.monotonic() + self.longest < self.end

    def took(self, seconds):
        self.longest = max(self.longest, seconds)


def measure(arguments, work, tree, names, seed=0, more=()):
    """The pairs that both sides have, by name."""
    out = work / f"run-{tree}-{seed}"
    begin = time.monotonic()
    done = run([arguments.normtune, "ab", str(work / "before"), str(work / tree), "--backend", arguments.backend, "--format", "json", "--quiet",
                "--seed", str(seed), "--out", str(out), *more])
    print(f"{tree}: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    if done.returncode not in (0, 1, 3):
        fail(f"ab {tree}: {done.stderr.strip()}")
    pairs = {pair["candidate_configuration"].split(":")[1]: pair for pair in json.loads(done.stdout)["pairs"] if pair["ratio"] is not None}
    for name in names.keys() - pairs.keys():
        print(f"{name}: not measured in {tree}", file=sys.stderr)
    return pairs


class Tally:
    def __init__(self):
        self.pairs, self.called, self.ratios = 0, 0, []

    def add(self, ratio, called):
        self.pairs += 1
        self.called += called
        self.ratios.append(ratio)

    def share(self):
        return self.called / self.pairs if self.pairs else 0

    def text(self):
        return f"{100 * self.share():.4g}% of {self.pairs}" if self.pairs else "-"

    def usual(self):
        return f"{100 * (sorted(self.ratios)[len(self.ratios) // 2] - 1):+.2f}%" if self.ratios else "-"


def power(arguments, work, names):
    """What each pair was, and whether all was measured."""
    clock = Clock(arguments.seconds)
    for name in names:
        plant(work, "equal", name, equal)
    told = []

    def add(slowdown, tree, seed=0):
        begin = time.monotonic()
        pairs = measure(arguments, work, tree, names, seed)
        clock.took(time.monotonic() - begin)
        for name, pair in sorted(pairs.items()):
            told.append(dict(zip(COLUMNS, (slowdown, seed, names[name], name, *(pair[key] for key in FIGURES)))))
        return pairs

    guess = {name: PILOT * pair["before"] * CLOCK_MHZ for name, pair in add(0, "equal").items()}
    for name, cycles in guess.items():
        plant(work, "pilot", name, waiting(cycles))
    pilot = measure(arguments, work, "pilot", names, more=["--processes", str(PILOT_PROCESSES)])
    cost = {name: max(pair["ratio"] - 1, PILOT / 10) / guess[name] for name, pair in pilot.items()}
    whole = True
    for slowdown in SLOWDOWNS:
        if not clock.admits():
            whole = False
            break
        tree = f"slower-{slowdown}"
        for name in cost:
            plant(work, tree, name, waiting(slowdown / cost[name]))
        add(slowdown, tree)
    for seed in range(1, arguments.equal):
        if not clock.admits():
            whole = False
            break
        add(0, "equal", seed)
    return told, whole


def tallies(told):
    """{planted: {"long" | "short": Tally}} of what each pair was."""
    rows = {}
    for pair in told:
        size = "long" if float(pair["before_us"]) >= SHORT_US else "short"
        planted = float(pair["planted"])
        rows.setdefault(planted, {"long": Tally(), "short": Tally()})[size].add(float(pair["ratio"]),
                                                                              pair["verdict"] in (("slower",) if planted else ("slower", "faster")))
    return dict(sorted(rows.items()))


def as_promised(rows):
    called = sum(tally.called for tally in rows[0].values()) / max(1, sum(tally.pairs for tally in rows[0].values()))
    found = all(rows[slowdown][size].share() >= 0.95 for slowdown, size in ((0.01, "long"), (0.02, "short")) if slowdown in rows)
    return found and called <= 0.005 and all(sum(tally.pairs for tally in row.values()) >= 40 for row in rows.values())


def table(rows):
    lines = [f"| planted | found above {SHORT_US} us | measured, median | found below {SHORT_US} us | measured, median |", "|--:|--:|--:|--:|--:|"]
    for slowdown, row in rows.items():
        what = f"{100 * slowdown:g}%" if slowdown else "equal code, called"
        lines.append(f"| {what} | {row['long'].text()} | {row['long'].usual()} | {row['short'].text()} | {row['short'].usual()} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--normtune", default=os.environ.get("NORMTUNE", str(ROOT / "build/bin/normtune")))
    parser.add_argument("--backend", default=os.environ.get("CHECK_BACKEND", "cuda"))
    parser.add_argument("--equal", type=int, default=5, help="how often the equal pairs are measured (default: 5)")
    parser.add_argument("--seconds", type=float, help="begins no run that would end later; exit code 3 where that left some out")
    parser.add_argument("--compile", action="store_true", help="compile the planted sources alone, as without a GPU")
    parser.add_argument("--out", help="write what each pair was there, as CSV")
    parser.add_argument("--from", dest="source", help="measure nothing: the table of such a file")
    arguments = parser.parse_args()
    if arguments.source:
        with open(arguments.source, newline="") as file:
            print(table(tallies(csv.DictReader(file))), end="")
        return 0
    devices = run([arguments.normtune, "devices"]).stdout
    here = None if arguments.compile else re.search(rf"^{arguments.backend} \d+: (.*)", devices, re.M)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        names = emit(arguments, work, bool(here))
        if not here:
            if names:
                compile_alone(arguments, work, names)
            if arguments.compile:
                return 0
            why = re.search(rf"^{arguments.backend}: (.*)", devices, re.M)
            print(f"measuring is skipped: there is no device of {arguments.backend} ({why.group(1) if why else 'it is not built in'})"
                  + ("" if names else "; nor NVRTC to compile with"))
            return 0
        told, whole = power(arguments, work, names)
    rows = tallies(told)
    print(f"{here.group(1)}\n{table(rows)}", end="")
    if arguments.out:
        with open(arguments.out, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(told)
    if not as_promised(rows):
        return 1
    if not whole:
        print("not all was measured in the time", file=sys.stderr)
    return 0 if whole else 3


if __name__ == "__main__":
    sys.exit(main())
