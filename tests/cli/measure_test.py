#!/usr/bin/env python3
"""scripts/measure: pieces, what a cut leaves and its next call does, what fails, and what it will not pack."""

import argparse
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import harness

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "measure"
SWEEP = "normtune sweep --strategy exhaustive --shapes {work}/shapes.yaml --space {work}/space.yaml --tokens 20000 --backend replay --replay-script {work}/{script}"


def call(folder, normtune, *words):
    command = [sys.executable, SCRIPT, "--normtune", normtune, "--measurements", "pieces.json", "--out", "measured", *words]
    return subprocess.run(command, cwd=folder.work, env=folder.environment, capture_output=True, text=True, timeout=120, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    normtune = parser.parse_args().normtune
    wrong = []

    def check(good, message, result):
        if not good:
            wrong.append(f"{message}: exit code {result.returncode}: {result.stdout}{result.stderr}")

    with harness.Folder(normtune) as folder:
        work = folder.work
        (work / "slow.yaml").write_text((work / "replay.yaml").read_text() + "delays: {compile_ms: 700}\n")
        quick, slow = SWEEP.format(work=work, script="replay.yaml"), SWEEP.format(work=work, script="slow.yaml")
        pieces = [
            {"name": "quick", "files": "h100", "ships": ["csv", "json"], "command": quick},
            {"name": "broken", "files": "h100", "command": quick + " --op no_such_op"},
            {"name": "absent", "files": "h100", "command": "scripts/no_such_script", "writes": "a.csv", "needs": "no_such_module"},
            {"name": "slow", "files": "studies", "command": slow},
            {"name": "script", "files": "h100", "took_s": 61, "command": "scripts/no_such_script x", "writes": "b.csv", "out": "B_OUT"},
        ]
        if not os.environ.get("NORMTUNE_SANITIZED"):  # a sanitizer's library needs its run-time library in front of Python
            beside = {"name": "beside", "files": "h100", "providers": {f"{work}/norms.py:right": "json", "no_such": "no_such_module"},
                      "command": "normtune sweep --candidates-only --problem rms_norm/forward/fp32/llama/8x32 --backend cpu"}
            (work / "pieces.json").write_text(json.dumps([beside]))
            result = call(folder, normtune)
            check(result.returncode == 0 and "beside: without no_such: not installed for" in result.stdout, "a sweep with providers", result)
            results = json.loads((work / "measured/beside/results.json").read_text())
            check(results["environment"]["providers"] == ["test 1.5"], "a provider that is there", result)
            shutil.rmtree(work / "measured")
        (work / "pieces.json").write_text(json.dumps(pieces))
        result = call(folder, normtune, "--only", "quick,broken,absent")
        check("broken: failed" in result.stdout and "no_such_op" in result.stdout, "a measurement that fails", result)
        check("absent: skipped" in result.stdout, "a measurement without its module", result)
        result = call(folder, normtune, "--only", "slow", "--seconds", "12")
        check(result.returncode == 3 and "slow: cut" in result.stdout, "a sweep longer than the time", result)
        before = len((work / "measured/slow/journal.jsonl").read_bytes())
        result = call(folder, normtune, "--only", "quick,slow")
        check(result.returncode == 0 and "quick" not in result.stdout and "slow: " in result.stdout, "what the cut left", result)
        check(before > 0 and len((work / "measured/slow/journal.jsonl").read_bytes()) > before, "the journal does not go on", result)
        result = call(folder, normtune, "--only", "quick,broken,slow,absent")
        check(result.returncode == 1 and "broken" in result.stdout, "what failed is tried again", result)
        # A script of the tree, here one that has nothing to do, must leave what it is to write.
        (work / "pieces.json").write_text(json.dumps([{"name": "script", "files": "h100", "took_s": 61, "writes": "b.md", "out": "PLANTED_OUT",
                                                       "command": "scripts/check_gpu no_such_part"}]))
        result = call(folder, normtune)
        check(result.returncode == 1 and "script: failed" in result.stdout, "a script that writes nothing", result)
        (work / "pieces.json").write_text(json.dumps(pieces))
        result = call(folder, normtune, "--list")
        check(re.search(r"^script +1 min 01 s  scripts/no_such_script x$", result.stdout, re.MULTILINE), "the list", result)
        result = call(folder, normtune, "--pack", "packed")
        check(result.returncode == 2 and not (work / "packed").exists(), "a device without a UUID is packed", result)
        files = [work / "measured" / name / "results.json" for name in ("quick", "slow")]
        for revision, uuid, told in (("abc-dirty", "GPU-1", "no committed revision"), ("abc", "", "no GPU with a UUID"), ("abc", "GPU-1", "")):
            for file in files:
                results = json.loads(file.read_text())
                results["environment"]["source_revision"] = revision
                results["environment"]["device"] |= {"name": "NVIDIA H200", "uuid": uuid}
                results["command"] = [word.replace("/measured/", "/gemessen-für-Zoë/") for word in results["command"]]
                file.write_text(json.dumps(results, ensure_ascii=False))  # as normtune writes it
            result = call(folder, normtune, "--pack", "packed")
            check(result.returncode == (2 if told else 0) and told in result.stderr, f"packing {revision} of '{uuid}'", result)
        shipped = sorted(str(path.relative_to(work / "packed")) for path in (work / "packed").rglob("*.*"))
        check(shipped == ["h200/quick.csv.gz", "h200/quick.json.gz", "studies/slow.csv.gz", "studies/slow.environment.json"], f"packed {shipped}", result)
        packed = gzip.decompress((work / "packed/h200/quick.csv.gz").read_bytes())
        check(packed == (work / "measured/quick/results.csv").read_bytes(), "what is packed is another file", result)
        quick_results = json.loads(gzip.decompress((work / "packed/h200/quick.json.gz").read_bytes()))
        check(quick_results["records"] == json.loads(files[0].read_text())["records"], "the packed records are others", result)
        slow_origin = json.loads((work / "packed/studies/slow.environment.json").read_text())
        check(slow_origin["environment"]["device"]["uuid"] == "GPU-1", "the environment of what ships no json", result)
        for name, command in (("quick", quick_results["command"]), ("slow", slow_origin["command"])):
            check(command[0] == "normtune" and command[-2:] == ["--out", f"measured/{name}"], f"the packed command {command}", result)
        result = call(folder, normtune, "--only", "quick,other")
        check(result.returncode == 2 and "no measurement other" in result.stderr, "an unknown name", result)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
