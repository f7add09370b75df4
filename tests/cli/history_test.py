#!/usr/bin/env python3
"""normtune history: nights go in and come out again, bad input is refused in one line, and the exit code is the verdict."""

import argparse
import copy
import datetime
import json
import math
import pathlib
import random
import sys

import harness

SWEEP = pathlib.Path(__file__).resolve().parents[1] / "data" / "repeated" / "h100_a" / "sweep-1.json"
NIGHTS = 30


def night(sweep, number, slower=1.0, uuid="GPU-1"):
    """A recorded sweep as it would have been on another night: a few trials, seeded noise, and one that the code made slower."""
    noise = random.Random(number)
    out = copy.deepcopy(sweep)
    out["records"] = out["records"][:4]
    environment = out["environment"]
    environment["started"] = (datetime.datetime(2026, 9, 1) + datetime.timedelta(days=number)).strftime("%Y-%m-%dT02:00:00Z")
    environment["source_revision"] = f"revision-{number}"
    if uuid:
        environment["device"]["uuid"] = uuid
    for i, record in enumerate(out["records"]):
        by = math.exp(noise.gauss(0, 0.001)) * (slower if i == 0 else 1)
        measurement = record["measurement"]
        for name in ("p20_us", "p50_us", "p80_us"):
            measurement[name] *= by
        for taken in measurement["rounds"]:
            taken["median_us"] *= by
        build = "new" if slower != 1 and i == 0 else "old"
        record["compile"] = {"compile_ms": 1.0, "from_cache": False, "code_hash": f"{build}{i:029d}", "workspace_bytes": 0, "programs": 1}
    return out


class Checks:
    def __init__(self):
        self.failed = 0

    def that(self, condition, what, result):
        if not condition:
            self.failed += 1
            print(f"{what}: exit code {result.returncode}", result.stdout.decode()[-1500:], result.stderr.decode(), sep="\n    ")


def fill(folder, check):
    sweep = json.loads(SWEEP.read_text())
    for number in range(NIGHTS):
        (folder.work / f"n{number:02}.json").write_text(json.dumps(night(sweep, number, 1.05 if number >= 25 else 1.0)))
    result = folder.run("normtune history add n*.json")
    check.that(result.returncode == 0 and b"120 trials added" in result.stdout and result.stderr == b"", "add", result)
    result = folder.run("normtune history add n07.json n07.json")
    check.that(b"0 trials added" in result.stdout and b"4 were there already" in result.stdout, "add again", result)
    (folder.work / "n29.json").write_text(json.dumps(night(sweep, NIGHTS - 1, 1.06)))
    result = folder.run("normtune history add n29.json")
    check.that(b"0 trials added" in result.stdout and b"1 replaced, 3 were there already" in result.stdout, "add what is other", result)
    resumed = night(sweep, NIGHTS, 1.05)
    (folder.work / "again.json").write_text(json.dumps(resumed))
    folder.run("normtune history add again.json --db again.sqlite3")
    for record, outcome in ((resumed["records"][1], "incorrect"), (resumed["records"][2], "crashed")):
        record["outcome"], record["reason"] = outcome, "the finals say so"
        del record["measurement"]
    (folder.work / "again.json").write_text(json.dumps(resumed))
    key = "{} {}".format(resumed["records"][1]["problem"]["key"], resumed["records"][1]["configuration"]["key"])
    result = folder.run("normtune history add again.json --db again.sqlite3")
    check.that(result.returncode == 0 and b"2 were there already, 2 without a time now\n" in result.stdout, "add what failed since", result)
    check.that(f"  taken out: {key}: incorrect\n" in result.stdout.decode(), "which", result)
    result = folder.run("normtune history list --db again.sqlite3 --format json")
    check.that(json.loads(result.stdout)["runs"][0]["trials"] == 2, "what failed since has no time", result)
    for record in resumed["records"]:
        record.update(outcome="crashed", reason="the worker ended")
        record.pop("measurement", None)
    (folder.work / "again.json").write_text(json.dumps(resumed))
    result = folder.run("normtune history add again.json --db again.sqlite3")
    check.that(result.returncode == 0 and b"0 trials added" in result.stdout and b"2 without a time now" in result.stdout, "all failed since", result)
    result = folder.run("normtune history add again.json --db new.sqlite3")
    check.that(result.returncode == 2 and b"no trial in it passed" in result.stderr and not (folder.work / "new.sqlite3").exists(), "no time at all", result)
    (folder.work / "old.json").write_text(json.dumps(night(sweep, 40, uuid="")))
    result = folder.run("normtune history add old.json --db other.sqlite3")
    check.that(result.returncode == 0 and b"has neither UUID nor id" in result.stderr, "no UUID", result)


def trends(folder, check):
    result = folder.run("normtune history trend")
    text = result.stdout.decode()
    check.that(result.returncode == 1 and text.startswith("fail: trend by policy default: 4 series, 1 change, 1 regression "), "trend", result)
    check.that("2026-09-26" in text and "cause: code; revision revision-24 → revision-25" in text, "cause", result)
    again = folder.run("normtune history trend")
    check.that(again.stdout == result.stdout, "deterministic", again)
    result = folder.run("normtune history trend --policy lenient")
    check.that(result.returncode == 0 and result.stdout.startswith(b"pass"), "lenient", result)
    result = folder.run("normtune history trend --format json --config 'w8.t256.r1.row.registers.even.per_row'")
    document = json.loads(result.stdout)
    change = document["series"][0]["changes"][0]
    check.that(document["regression"] and change["causes"] == ["code"] and document["runs"][change["run"]]["revision"] == "revision-25", "JSON", result)
    check.that(change["low"] < 1.05 < change["high"] * 1.01 and change["p"] < 1e-3, "size", result)
    result = folder.run("normtune history trend --format markdown")
    check.that(result.returncode == 1 and b"### normtune history trend" in result.stdout, "markdown", result)
    result = folder.run("normtune history list")
    check.that(len(result.stdout.splitlines()) == NIGHTS + 1, "list", result)
    result = folder.run("COLUMNS=80 normtune history trend; COLUMNS=80 normtune history list")
    check.that(max(len(line) for line in result.stdout.decode().splitlines()) <= 80, "80 columns", result)
    result = folder.run("normtune history trend --format csv")
    check.that(result.stdout.decode().count("rms_norm/forward/bf16/llama/2048x4096 w8") == 2, "CSV", result)


def exchanges(folder, check):
    result = folder.run("normtune history export -o - && normtune history trend --format html -o - | tail -1")
    check.that(result.stdout.startswith(b"{") and result.stdout.rstrip().endswith(b"</html>") and not (folder.work / "-").exists(), "stdout", result)
    points = []
    for name, started in (("bmf", "--started 2026-09-30T02:00:00Z --device-name 'NVIDIA H100 80GB HBM3'"), ("google-benchmark", "")):
        result = folder.run(
            f"normtune history export --format {name} -o {name}.json && normtune history import {name}.json {started} --db {name}.sqlite3 && "
            f"normtune history trend --format json --db {name}.sqlite3"
        )
        check.that(result.returncode == 0 and b"4 trials added" in result.stdout, f"{name} and back", result)
        document = json.loads(result.stdout[result.stdout.index(b"{"):])
        points.append([(it["problem"], it["configuration"], round(it["p50_us"][0], 9)) for it in document["series"]])
    first = json.loads(folder.run("normtune history trend --format json --nights 1").stdout)
    wanted = [(it["problem"], it["configuration"], round(it["p50_us"][0], 9)) for it in first["series"]]
    check.that(all(sorted(found) == sorted(wanted) for found in points), "what came back", folder.run("cat bmf.json"))
    bmf = json.loads((folder.work / "bmf.json").read_text())
    check.that(all(it["latency"]["lower_value"] <= it["latency"]["value"] for it in bmf.values()), "BMF", folder.run("cat bmf.json"))
    google = {"context": {"date": "2026-11-20T10:00:00+01:00", "host_name": "host"},
              "benchmarks": [{"name": "BM_x/8", "run_type": "iteration", "real_time": t, "cpu_time": t, "time_unit": "ms"} for t in (1, 3, 2)]}
    (folder.work / "g.json").write_text(json.dumps(google))
    result = folder.run("normtune history import g.json --db g.sqlite3 && normtune history list --db g.sqlite3 --format json")
    check.that(b'"started": "2026-11-20T09:00:00Z"' in result.stdout, "a date of another zone", result)
    result = folder.run("normtune history export --db g.sqlite3")
    check.that(json.loads(result.stdout) == {"BM_x/8": {"latency": {"value": 2e6}}}, "another tool's name", result)


BAD = [
    ("normtune history", "give add, list, trend, export, import"),
    ("normtune history remove", "unknown 'remove'"),
    ("normtune history add", "no results are named"),
    ("normtune history import", "no file is named"),
    ("normtune history add missing.json", "missing.json: "),
    ("normtune history add liger_before.csv", "liger_before.csv"),
    ("normtune history add n01.json --started yesterday", "--started: 'yesterday' is not a time in UTC"),
    ("normtune history add n01.json --started 2999-01-01T00:00:00Z", "which is to come"),
    ("normtune history add n01.json --policy default", "--policy goes with history trend"),
    ("normtune history trend n01.json", "a FILE goes with history add and import"),
    ("normtune history trend --format bmf", "this --format goes with history export"),
    ("normtune history list --format html", "--format html goes with history trend"),
    ("normtune history trend -o x.json --format json", "--output goes with history export and trend --format html"),
    ("normtune history trend --format html --top 3", "leave them out"),
    ("normtune history export -o \"$HOME/.local/share/normtune/history.sqlite3\"", "is the history"),
    ("printf 'name: p\\nthresholds:\\n  - {op: rms_nrom, percent: 1}\\n' > slip.yaml; normtune history trend --policy slip.yaml", "'op' is 'rms_nrom'"),
    ("normtune history export --format csv", "this --format goes with history trend and list"),
    ("normtune history trend --db none.sqlite3", "there is no history yet"),
    ("normtune history trend --problem 'x*'", "has no trial of this problem"),
    ("normtune history export --run 2020-01-01T00:00:00Z", "no run began at 2020-01-01T00:00:00Z"),
    ("normtune history import n01.json", "normtune history add"),
    ("normtune history import shapes.yaml", "shapes.yaml"),
    ("echo '{}' > empty.json; normtune history import empty.json", "holds no benchmark"),
    ("echo '{\"x\":{\"latency\":{\"value\":-1}}}' > less.json; normtune history import less.json", "is no time"),
    ("echo '{\"x\":{\"latency\":{\"value\":1}}}' > x.json; normtune history import x.json", "give --started"),
    ("normtune history import x.json --started 2026-01-01T00:00:00Z", "give --device-name"),
    ("echo hello > text.sqlite3; normtune history trend --db text.sqlite3", "text.sqlite3: is damaged or no database"),
    ("NORMTUNE_HISTORY= normtune history list", "NORMTUNE_HISTORY is empty"),
    ("cp winners.sqlite3 w.sqlite3; normtune history list --db w.sqlite3", "is a database of another program"),
]


def refusals(folder, check):
    before = folder.run("normtune history list").stdout
    folder.run("python3 -c \"import sqlite3; d = sqlite3.connect('winners.sqlite3'); d.execute('CREATE TABLE t (x)'); d.commit()\"")
    for command, wanted in BAD:
        result = folder.run(command)
        lines = result.stderr.decode().splitlines()
        check.that(result.returncode == 2 and len(lines) == 1 and wanted in lines[0] and result.stdout == b"", command, result)
    check.that(folder.run("normtune history list").stdout == before, "nothing was half added", folder.run("normtune history list"))
    result = folder.run("head -c 6000 \"$HOME/.local/share/normtune/history.sqlite3\" > cut.sqlite3; normtune history trend --db cut.sqlite3")
    check.that(result.returncode == 2 and b"cut.sqlite3: is damaged" in result.stderr, "a damaged database", result)


def several_devices(folder, check):
    """A sweep that gave each problem to one of two GPUs of one name: a night is what both measured."""
    sweep = json.loads(SWEEP.read_text())
    for number in range(NIGHTS):
        both = night(sweep, number, 1.05 if number >= 25 else 1.0)
        for record in both["records"][2:]:
            record["device_id"] = "0000:c1:00.0"
        (folder.work / f"g{number:02}.json").write_text(json.dumps(both))
    names = " ".join(f"g{number:02}.json" for number in range(NIGHTS))
    folder.run(f"normtune history add {names} --db gpus.sqlite3")
    result = folder.run("normtune history trend --db gpus.sqlite3")
    check.that(result.returncode == 1 and b"1 regression in" in result.stdout and b"not in the newest" not in result.stdout, "two GPUs", result)
    for run in ("", " --run 2026-09-30T02:00:00Z"):
        result = folder.run("normtune history export --db gpus.sqlite3" + run)
        check.that(result.returncode == 0 and len(json.loads(result.stdout)) == 4 and result.stderr == b"", "export of two GPUs" + run, result)


def damaged_and_merged(folder, check):
    """Trials that are there twice, numbers of two devices as those of one, and what would be written over what was read."""
    sweep = night(json.loads(SWEEP.read_text()), 0)
    twice = copy.deepcopy(sweep)
    twice["records"] += twice["records"]
    (folder.work / "twice.json").write_text(json.dumps(twice))
    two = copy.deepcopy(sweep)
    two["records"][1]["device"] = "NVIDIA H200"
    (folder.work / "two.json").write_text(json.dumps(two))
    part = copy.deepcopy(sweep)
    part["environment"]["device"]["compute_units"] = 16
    (folder.work / "part.json").write_text(json.dumps(part))
    hot = copy.deepcopy(sweep)
    for record in hot["records"]:
        record["measurement"]["cold"] = False
    (folder.work / "hot.json").write_text(json.dumps(hot))
    failed = copy.deepcopy(sweep)
    for record in failed["records"]:
        record["outcome"] = "launch_failed"
        del record["measurement"]
    (folder.work / "failed.json").write_text(json.dumps(failed))
    (folder.work / "run").mkdir()
    (folder.work / "run/results.json").write_text(json.dumps(sweep))
    for command, wanted in (
        ("normtune best twice.json", "twice: the file is damaged"),
        ("normtune history add twice.json", "twice: the file is damaged"),
        ("normtune best two.json --format cpp", "are merged of several devices"),
        ("normtune best two.json --providers", "are merged of several devices"),
        ("normtune best run part.json --format cpp", "with 132 compute units and with 16; export one at a time"),
        ("normtune fit two.json", "are merged of several devices"),
        ("normtune fit run part.json", "with 132 compute units and with 16; fit one at a time"),
        ("normtune audit --transfer two.json run", "are merged of several devices"),
        ("normtune audit hot.json run", "on data in cache; audit one kind at a time"),
        ("normtune audit hot.json run --axis num_warps", "on data in cache; audit one kind at a time"),
        ("normtune audit failed.json --axis num_warps", "nothing was measured in these results"),
        ("normtune report run -o run/results.json", "is a result, which the page would take the place of"),
        ("normtune gate --baseline run --candidate run --junit run/results.json", "is a result, which the JUnit XML would take the place of"),
    ):
        result = folder.run(command)
        lines = result.stderr.decode().splitlines()
        check.that(result.returncode == 2 and len(lines) == 1 and wanted in lines[0] and result.stdout == b"", command, result)
    (folder.work / "copy.json").write_text(json.dumps(sweep))
    for what in ("", " --axis num_warps"):
        once = folder.run("normtune audit run --format json" + what)
        result = folder.run("normtune audit run copy.json --format json" + what)
        check.that(result.stdout == once.stdout and b"counts once" in result.stderr, "a run beside its copy" + what, result)
    result = folder.run("normtune best run")
    check.that(result.returncode == 0 and json.loads((folder.work / "run/results.json").read_text()) == sweep, "what was read is there", result)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    check = Checks()
    with harness.Folder(arguments.normtune) as folder:
        for part in (fill, trends, exchanges, refusals, several_devices, damaged_and_merged):
            part(folder, check)
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
