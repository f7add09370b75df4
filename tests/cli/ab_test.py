#!/usr/bin/env python3
"""normtune ab on the replay device: verdicts, exit codes, reports, trees of candidates, and what is refused."""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as tree

import harness

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
SCRIPT = SCRIPTS / "ci_gate"
REPLAY = "--backend replay --processes 3 --quiet --replay-script"
SHAPE = "--problem rms_norm/forward/bf16/llama/256x1024"
EQUAL = "seed: 7\nnoise: {sigma: 0.002}\ntimings:\n  - {config: '*', copies: 1.2}\n"
SLOWER = "seed: 7\nnoise: {sigma: 0.002}\ntimings:\n  - {config: 'after*', copies: 1.23}\n  - {config: '*', copies: 1.2}\n"


class Checks(harness.Checks):
    def write(self, name, text):
        file = self.folder.work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


def copies(checks):
    """vendor is for one problem, tuned claims many."""
    for side in ("old", "new"):
        checks.folder.run(f"cp -r vendor {side}_vendor; cp -r tuned {side}_tuned; mkdir -p {side}_tree/sub; cp -r vendor {side}_tree/one; cp -r vendor {side}_tree/sub/two")
    checks.write("equal.yaml", EQUAL)
    checks.write("slower.yaml", SLOWER)


def verdicts(checks):
    checks.run(f"normtune ab old_vendor new_vendor {REPLAY} equal.yaml --out e", 0, "0 slower, 1 same", "same rounds of up to 3 processes", "Files in e")
    checks.run(f"normtune ab old_vendor new_vendor {REPLAY} slower.yaml --out s", 1, "1 slower", "new_vendor:norm_v2", "paired")
    checks.run(f"normtune ab new_vendor old_vendor {REPLAY} slower.yaml --threshold 10 --out t", 0, "1 same")
    checks.run(f"normtune ab old_vendor new_vendor {REPLAY} slower.yaml --policy default --out p", 1, "fail: gate default")
    checks.run(f"normtune ab old_vendor new_vendor {REPLAY} equal.yaml --policy default --out q", 0, "pass: gate default")
    # With a policy every format says what the exit code does.
    checks.write("wide.yaml", "name: wide\nthresholds:\n  - {problem: '*', percent: 10}\n")
    for policy, code, result, verdict in (("default", 1, "fail", "slower"), ("wide.yaml", 0, "pass", "same")):
        command = f"normtune ab old_vendor new_vendor {REPLAY} slower.yaml --policy {policy} --out {result}_"
        document = json.loads(checks.run(f"{command}json --format json", code))
        gate = document["gate"]
        checks.expect(gate["result"] == result and document["pairs"][0]["verdict"] == verdict, gate)
        checks.expect([(it["metric"], it["verdict"], it["result"]) for it in gate["cases"]] == [("latency", verdict, result), ("memory", "same", "pass")], gate)
        checks.run(f"{command}csv --format csv", code, "result,metric,verdict", f"{result},latency,{verdict},", "pass,memory,same,")
        checks.run(f"{command}markdown --format markdown", code, f"### normtune gate `{policy.removesuffix('.yaml')}`: {result}", "memory")
    rows = (checks.folder.work / "s/results.csv").read_text().splitlines()
    checks.expect(len(rows) == 3 and ",before," in rows[1] + rows[2] and ",after," in rows[1] + rows[2], rows)
    # Both sides in the same rounds: as many of each, in each process.
    records = json.loads((checks.folder.work / "s/results.json").read_text())["records"]
    counts = [[len(r["measurement"]["rounds"])] + [len(p["rounds"]) for p in r["measurement"]["repetitions"]] for r in records]
    checks.expect(counts == [[33, 33, 33]] * 2, counts)
    checks.run(records[1]["repeat"] + " --quiet --out again", 0, "new_vendor:norm_v2")


def reports(checks):
    out = checks.run(f"normtune ab old_tuned new_tuned {SHAPE} {REPLAY} replay_ab.yaml --format json --junit ab.xml --markdown ab.md --github --out j", 1)
    comparison = json.loads(out[: out.rindex("}") + 1])
    pairs = {pair["candidate_configuration"]: pair["verdict"] for pair in comparison["pairs"]}
    checks.expect(len(pairs) > 10 and all(pair["evidence"] == "paired" for pair in comparison["pairs"]), pairs)
    checks.expect(all((verdict == "slower") == ("THREADS=128" in key) for key, verdict in pairs.items()), pairs)
    checks.expect(any(verdict == "faster" for verdict in pairs.values()), pairs)
    checks.expect("::error" in out, out[-500:])
    suites = tree.parse(checks.folder.work / "ab.xml").getroot()
    failures = len(list(suites.iter("failure")))
    checks.expect(failures == sum(verdict == "slower" for verdict in pairs.values()) > 0, failures)
    checks.expect("slower" in (checks.folder.work / "ab.md").read_text(), "ab.md")
    for form, fragment in (("markdown", "### normtune: "), ("csv", "verdict,op,mode")):
        checks.run(f"normtune ab old_tuned new_tuned {SHAPE} {REPLAY} replay_ab.yaml --format {form} --out {form}", 1, fragment)
    # One configuration's key against another.
    keys = "w4.t128.r1.row.registers.masked.per_row w8.t256.r1.row.registers.masked.per_row"
    checks.run(f"normtune ab {keys} {SHAPE} {REPLAY} equal.yaml --out keys", 0, "1 same")
    checks.run(f"normtune ab old_vendor w8.t256.r1.row.registers.masked.per_row {REPLAY} equal.yaml --out mixed", 0, "1 same")


def as_results(checks):
    """Its folder is no sweep that was cut off."""
    out = checks.run("normtune best e", 0, "The run is of normtune ab", "Least p50")
    checks.expect("come to its end" not in out and "so far" not in out, out)


def trees(checks):
    checks.run(f"normtune ab old_tree new_tree {REPLAY} slower.yaml --out tree", 1, "2 slower", "sub.two:norm_v2")
    checks.folder.run("rm -r new_tree/one")
    checks.run(f"normtune ab old_tree new_tree {REPLAY} slower.yaml --out less", 1, "1 slower, 1 missing")
    checks.run(f"normtune ab old_tree new_tree {REPLAY} equal.yaml --out less2", 0, "1 missing")
    checks.run(f"normtune ab old_tree new_tree {REPLAY} equal.yaml --policy default --out less3", 1, "the candidate has no such trial")
    checks.folder.run("cp -r old_tree other_tree; mv other_tree/one other_tree/first; mv other_tree/sub other_tree/second")
    checks.run(f"normtune ab old_tree other_tree {REPLAY} equal.yaml", 2, "have no candidate of one name")
    # Tunables that one side alone has.
    launch = json.loads((checks.folder.work / "new_tuned/launch.json").read_text())
    launch["tunables"]["THREADS"] = [128, 2048 // 4]
    launch["configuration"] = "norm_v2"
    checks.write("fewer/launch.json", json.dumps(launch))
    checks.folder.run("cp tuned/norm.cu fewer/")
    checks.run(f"normtune ab old_tuned fewer {SHAPE} {REPLAY} equal.yaml --out fewer_run", 0, " missing", "same", "norm.KEEP=0.THREADS=64.VECTOR=2")


def together(checks):
    """A clock that wanders by 10% within seconds is no difference between two that are measured right after one another; and a pair stays together
    in its batch, also where one that did not compile has moved the others."""
    launch = json.loads((checks.folder.work / "tuned/launch.json").read_text())
    launch.update(tunables={"X": list(range(1, 71))}, rules=[])
    launch["launches"][0]["block"] = [256, 1, 1]
    for side in ("old", "new"):
        checks.write(f"{side}_many/launch.json", json.dumps(launch))
        checks.folder.run(f"cp tuned/norm.cu {side}_many/")
    checks.write("wander.yaml", EQUAL.replace("0.002", "0.0005") + "drift: {amplitude: 0.1, period_samples: 4000}\n"
                 "faults:\n  - {config: 'before:norm.X=33', at: compile, do: compile_failed, text: no}\n")
    out = checks.run(f"normtune ab old_many new_many {SHAPE} {REPLAY} wander.yaml --format json --out many", 0)
    pairs = json.loads(out)["pairs"]
    counts = {verdict: sum(pair["verdict"] == verdict for pair in pairs) for verdict in ("same", "new", "slower", "faster", "ambiguous")}
    checks.expect(counts == {"same": 69, "new": 1, "slower": 0, "faster": 0, "ambiguous": 0}, counts)
    checks.expect(all(abs(pair["ratio"] - 1) < 0.003 for pair in pairs if pair["ratio"]), sorted(pair["ratio"] for pair in pairs if pair["ratio"]))


def failures(checks):
    fault = "faults:\n  - {config: '%s:*', at: verify, do: incorrect, text: y is off}\n"
    checks.write("wrong_after.yaml", EQUAL + fault % "after")
    checks.write("wrong_before.yaml", EQUAL + fault % "before")
    checks.write("wrong_both.yaml", EQUAL + fault % "*")
    checks.run(f"normtune ab old_vendor new_vendor {REPLAY} wrong_after.yaml --junit f.xml --out f", 1, "missing", "candidate incorrect: y is off", "1 incorrect")
    checks.expect("y is off" in (checks.folder.work / "f.xml").read_text(), "f.xml")
    checks.run(f"normtune ab old_vendor new_vendor {REPLAY} wrong_before.yaml --out g", 0, "1 new", "baseline incorrect: y is off")
    checks.run(f"normtune ab old_vendor new_vendor {REPLAY} wrong_both.yaml --out h", 3, "1 trial failed on both sides",
               "before incorrect: y is off\n  after  incorrect: y is off", "Nothing was")
    # A configuration that AFTER alone has, and that fails, is named in every report.
    launch = json.loads((checks.folder.work / "new_tuned/launch.json").read_text())
    launch["tunables"]["THREADS"] = launch["tunables"]["THREADS"] + [96]
    checks.write("more_tuned/launch.json", json.dumps(launch))
    checks.folder.run("cp new_tuned/norm.cu more_tuned/")
    checks.write("wrong_new.yaml", EQUAL + "faults:\n  - {config: 'after:*THREADS=96*', at: verify, do: incorrect, text: y is off}\n")
    for policy, out in (("", "n"), (" --policy default", "np")):
        command = f"normtune ab old_tuned more_tuned {SHAPE} {REPLAY} wrong_new.yaml{policy}"
        document = json.loads(checks.run(f"{command} --format json --junit n.xml --markdown n.md --out {out}", 3))
        failed = [(it["configuration"], it["note"]) for it in document["failed"]]
        checks.expect(len(failed) == document["failed_both"] > 0 and all("THREADS=96" in key and note == "candidate incorrect: y is off" for key, note in failed), failed)
        cases = [it.get("name") for it in tree.parse(checks.folder.work / "n.xml").getroot().iter("testcase") if "y is off" in str([skip.get("message") for skip in it])]
        checks.expect(len(cases) == len(failed) and all("THREADS=96" in name for name in cases), cases)
        lines = [line for line in checks.run(f"{command} --format csv --out {out}_csv", 3).splitlines() if "y is off" in line]
        checks.expect(len(lines) == len(failed) and all("THREADS=96" in line for line in lines), lines)
        for text in ((checks.folder.work / "n.md").read_text(), checks.run(f"{command} --format markdown --out {out}_markdown", 3)):
            checks.expect("THREADS=96" in text and "candidate incorrect: y is off" in text, text)
    checks.write("late.yaml", EQUAL + "faults:\n  - {config: 'after:*', at: measure, do: crash, from: 5}\n")
    checks.run(f"normtune ab old_vendor new_vendor {REPLAY} late.yaml --out late", 1, "candidate crashed")


def refusals(checks):
    checks.run("normtune ab", 2, "give BEFORE and AFTER")
    checks.run("normtune ab old_vendor", 2, "give BEFORE and AFTER")
    checks.run(f"normtune ab old_vendor old_vendor/. {REPLAY} equal.yaml", 2, "is both sides")
    checks.run(f"normtune ab old_vendor nothing {REPLAY} equal.yaml", 2, "'nothing' is neither a folder nor a configuration")
    checks.run(f"mkdir empty_tree; normtune ab old_vendor empty_tree {REPLAY} equal.yaml", 2, "empty_tree: holds no launch.json, nor does a folder in it")
    checks.run(f"normtune ab old_tuned new_tuned {REPLAY} equal.yaml", 2, "is for many shapes; say on which to measure it, with --shapes or --problem")
    checks.run(f"normtune ab old_vendor new_tuned --problem rms_norm/backward/bf16/llama/256x1024 {REPLAY} equal.yaml", 2, "there is no pair")
    # Two names of one configuration, and one that a space which had further points would leave out for another: all are measured, on each problem.
    key = "w4.t128.r1.row.registers.masked"
    for after in (f"{key}.per_row.p2", f"{key}.packed", f"{key}.persistent_strided"):
        out = after.replace(".", "_")
        checks.run(f"normtune ab {key}.per_row {after} {SHAPE} {REPLAY} equal.yaml --out {out}", 0, "0 slower, 1 same")
    checks.run(f"normtune ab {key}.persistent_strided.p2 {key}.persistent_strided.p4 --shapes qwen3 --model Qwen3-0.6B --site hidden "
               f"--tokens 1,8192 --op rms_norm --mode forward {REPLAY} equal.yaml --out both", 0, "0 slower, 2 same")
    launch = json.loads((checks.folder.work / "new_tuned/launch.json").read_text())
    launch["claims"]["op"] = "fused_add_rms_norm"
    checks.write("other_op/launch.json", json.dumps(launch))
    checks.folder.run("cp tuned/norm.cu other_op/")
    checks.run(f"normtune ab old_tuned other_op {SHAPE} {REPLAY} equal.yaml", 2, "there is no pair", "other_op is for op fused_add_rms_norm")
    checks.run(f"normtune ab old_vendor new_vendor {REPLAY} equal.yaml --policy heuristics", 2, "take a policy with by: config")
    checks.run(f"normtune ab old_vendor new_vendor {REPLAY} equal.yaml --policy default --threshold 1", 2, "leave out --threshold")
    checks.run("normtune ab old_vendor new_vendor --processes 1", 2, "--processes: '1'")
    checks.run("normtune sweep --resume s", 2, "is of normtune ab, which is not resumed")
    checks.run("normtune ab old_vendor new_vendor --backend replay --replay-script equal.yaml --out s", 2, "s: ")
    checks.expect(not (checks.folder.work / "results").exists(), "a refused command left results/")


def interrupted(checks):
    checks.write("slow.yaml", EQUAL + "delays: {sample_ms: 50}\n")
    with subprocess.Popen(["normtune", "ab", "old_vendor", "new_vendor", "--backend", "replay", "--replay-script", "slow.yaml", "--out", "cut"],
                          cwd=checks.folder.work, env=checks.folder.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        log = checks.folder.work / "cut/worker.log"  # of the worker: signals are handled by then
        while not log.exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    checks.expect(process.returncode == 130 and b"nothing is judged" in stderr, process.returncode, stderr.decode())
    checks.expect(b"--resume" not in stderr, stderr.decode())


def interrupted_again(checks):
    """What measures trials again has nothing to judge by then, and ends as every other interrupt does."""
    for name in ("shapes.yaml", "space.yaml", "replay.yaml"):
        checks.write(name, (pathlib.Path(__file__).parent / "inputs" / name).read_text())
    checks.write("slow_again.yaml", (checks.folder.work / "replay.yaml").read_text() + "delays: {sample_ms: 50}\n")
    checks.run("normtune sweep --shapes shapes.yaml --space space.yaml --backend replay --replay-script replay.yaml --out raced --quiet", 0, "")
    for pause in (1, 4, 16):  # a signal that comes before anything handles it ends the process by itself
        with subprocess.Popen(["normtune", "audit", "raced", "--heuristic", "one_warp=num_warps == 1", "--measure", "--backend", "replay",
                               "--replay-script", "slow_again.yaml"],
                              cwd=checks.folder.work, env=checks.folder.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(pause)
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=60)
        if process.returncode != -signal.SIGINT:
            break
    checks.expect(process.returncode == 130 and b"interrupted while trials were measured again: nothing is judged" in stderr, process.returncode,
                  stderr.decode())


def gate(checks):
    checks.run(f"{SCRIPT} --ab old_vendor new_vendor --out gate_ab -- {REPLAY} slower.yaml", 1, "1 slower")
    for name in ("gate.md", "gate.xml", "run/results.json"):
        checks.expect((checks.folder.work / "gate_ab" / name).is_file(), name)
    checks.run(f"{SCRIPT} --ab old_vendor new_vendor --policy default --out gate_ok -- {REPLAY} equal.yaml", 0, "pass: gate default")
    checks.run(f"{SCRIPT} --ab old_vendor", 2, "--ab needs two sides")
    checks.run(f"{SCRIPT} --ab old_vendor new_vendor --confirm", 2, "leave out --baseline, --confirm and --update")


def planted(checks):
    """The slowdowns that scripts/check_gpu ab measures compile, where there is a compiler."""
    done = checks.folder.run(f"{SCRIPTS}/planted_slowdowns.py --normtune $(command -v normtune) --compile")
    checks.expect(done.returncode == 0 and done.stdout in (b"", b"3 planted kernels compile, each to code of its own\n"), done.stdout, done.stderr.decode())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    with harness.Folder(arguments.normtune) as folder:
        checks = Checks(folder)
        copies(checks)
        for part in (verdicts, as_results, reports, trees, together, failures, refusals, interrupted, interrupted_again, gate, planted):
            part(checks)
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
