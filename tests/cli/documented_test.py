#!/usr/bin/env python3
"""Every command of README and docs is run, page by page in the page's order, or listed here with the reason why not.

What a command needs and a page does not make (results.json, before/, …) stands ready in its folder. A device is a replay device: what it is
given beside the page's words is printed in brackets."""

import argparse
import gzip
import json
import pathlib
import re
import shlex
import shutil
import sys
import time

import harness

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]

# What is not run, and why. Each has to be in some page.
NOT_RUN = [
    (r"scripts/(quickstart|test)\b", "installs packages and builds"),
    (r"scripts/package\b", "builds (tests/packages)"),
    (r"cmake ", "builds"),
    (r"(python3 -m )?pip install", "installs packages"),
    (r".*--backend hip\b", "needs an AMD GPU"),
    (r"normtune emit +--from .*--problem (?!.*--arch)", "needs an NVIDIA GPU: the winner's cubin is for the one that is here"),
    (r"normtune emit --candidate .*--from", "needs an NVIDIA GPU"),
    (r"(\$ )?normtune ab ", "ends with the exit code of its verdict, whatever a script plays (tests/cli/ab_test.py)"),
    (r"scripts/slurm/submit", "needs a cluster (tests/slurm has one)"),
    (r"build/bin/bench_racing", "takes minutes, and a build with benchmarks"),
    (r"scripts/triton_candidates", "needs Triton (tests/cli/triton_test.py)"),
    (r".*--provider (liger|pytorch|flashinfer)", "needs PyTorch and a GPU"),
    (r"scripts/measure .*\$pieces", "needs PyTorch and a GPU, and sweeps that are not shipped"),
    (r"normtune best run --format torch", "needs results of an NVIDIA GPU (tests/cli/torch_package_test.py)"),
    (r"python3 -m normtune_kernels", "needs PyTorch and the package (tests/cli/torch_package_test.py)"),
    (r".*--provider my_", "needs a provider of one's own (tests/cli/provider_test.py)"),
    (r".*(--candidate where_row|--axis WHERE)", "needs a folder that Triton made"),
]
# What is added, the first that matches: a device, and less work.
REPLAY = "--backend replay --replay-script replay.yaml"
ONE = "--config w4.t128.r1.row.registers.masked.per_row"
FEW = "--model Qwen3-8B"
ADDED = [
    (r"normtune plan --shapes (mine_shapes|my_model)", REPLAY),
    (r"normtune sweep --shapes my_model.yaml .*--out run", f"--space quick --site hidden {REPLAY}"),
    (r"normtune sweep .*--space te_615", f"--model TE-odd-29x17389 --tokens 29 --mode forward --strategy random --trials 20 {REPLAY}"),
    (r"normtune plan .*--candidate .*--problem", ""),
    (r"normtune plan .*--candidate .*--compile", f"{FEW} --tokens 128"),
    (r"normtune plan .*--study .*--compile", ONE),
    (r"normtune plan .*--tokens .*--compile", f"{FEW} {ONE}"),
    (r"normtune plan .*--compile", f"{FEW} --tokens 128 {ONE}"),
    (r"normtune plan .*--arch", f"{FEW} --space quick"),
    (r"normtune plan ", f"{FEW} {REPLAY}"),
    (r"normtune sweep --resume", ""),
    (r"normtune sweep .*--replay-script", f"{FEW} --tokens 128 --site hidden --space quick"),
    (r"normtune selfcheck .*", f"{FEW} --site hidden --space quick --trials 2 {REPLAY}"),
    (r"normtune sweep .*--space quick", REPLAY),
    (r"normtune sweep --candidate (kernel|examples/cuda_forward)", f"--space quick {REPLAY}"),
    (r"normtune (sweep|verify) .*--(config|problem)", REPLAY),
    (r"normtune verify .*deepseek", f"--space quick --tokens 128 {REPLAY}"),
    (r"normtune (sweep|verify) .*--candidates-only", f"{FEW} {REPLAY}"),
    (r"normtune sweep --shapes peers --site ", f"--space quick {REPLAY}"),
    (r"normtune (sweep|verify) ", f"{FEW} --site hidden --space quick {REPLAY}"),
    (r"normtune ab .*--problem", REPLAY),
    (r"normtune ab ", f"{FEW} --site hidden {REPLAY}"),
    (r"scripts/ci_gate ", f"{FEW} --site hidden {REPLAY}"),
    (r"normtune best --from-db .*--format (cpp|triton)", "--any-device"),
]
# Words that stand for others here.
REPLACED = [(r"/tmp/", "./"), (r"^scripts/", f"{SOURCE}/scripts/"), (r"\bbuild/bin/normtune\b", "normtune"), (r"--budget \S+", "--budget 5s"),
            (r"\bresults/h100/\w+.json.gz", "recorded.json.gz")]
# What a machine may lack, as normtune says it.
LACKING = ("needs NVRTC", "needs hiprtc", "no compiler for", "hiprtc")


def commands_of(page):
    """The command lines of a page: those of its sh blocks, and in sentences those that say what to work on."""
    block, pending, out = None, "", []
    for line in page.read_text().splitlines():
        if line.lstrip().startswith("```"):
            block = None if block is not None else line.strip()[3:]
        elif block == "sh":
            pending += ("\n" if pending else "") + line
            try:
                complete = not line.endswith("\\") and shlex.split(pending, comments=True) is not None
            except ValueError:  # a quotation goes on
                continue
            if complete:
                out += [pending.strip()] if shlex.split(pending, comments=True) else []
                pending = ""
        elif block is None:
            out += [text for text in re.findall(r"`(normtune [^`]*--(?:shapes|candidate|problem|study|space) [^`]*)`", line)
                    if not re.search(r"…|\b[A-Z]{3,}$|\b[A-Z]{3,} ", text)]
    if block is not None or pending:
        raise SystemExit(f"{page.name}: a block or a quotation does not end")
    return out


def without_comment(command):
    return re.sub(r" +#.*$", "", command)


def recorded(name, wanted):
    """A part of the recorded sweeps: some models, few configurations."""
    results = json.loads(gzip.decompress((SOURCE / f"results/h100/{name}.json.gz").read_bytes()))
    records = [record for record in results["records"] if record.get("provider", "normtune") == "normtune"  # a device that replays runs no other
               and record["problem"]["mode"] == "forward" and {use["model"] for use in record["problem"]["uses"]} & wanted]
    results["records"] = [record for record in records if record.get("measurement", {}).get("rank", 0) > 0
                          or int(record["configuration"]["key"].encode().hex(), 16) % 4 == 0]
    problems = {record["problem"]["key"] for record in results["records"]}
    results["plans"] = [plan for plan in results["plans"] if plan["problem"] in problems]
    for plan in results["plans"]:
        kept = sum(record["problem"]["key"] == plan["problem"] for record in results["records"])
        plan["pruned"].append({"rule": "left_out", "reason": "to be short", "count": plan["kept"] - kept})
        plan["kept"] = kept
    return json.dumps(results)


def run(folder, command):
    result = folder.run(command)
    if result.returncode != 0:
        raise SystemExit(f"{command}: {result.returncode}: {result.stderr.decode()}")


def own_candidate(folder, name):
    """A kernel with one tunable, called as its folder is."""
    shutil.copytree(SOURCE / "examples/cuda_forward", folder / name)
    launch = json.loads((folder / name / "launch.json").read_text())
    del launch["provider"], launch["rules"]
    launch["tunables"] = {"THREADS": [128, 256]}
    launch["code"]["macros"] |= {"VECTOR": "2", "KEEP": "0"}
    (folder / name / "launch.json").write_text(json.dumps(launch))


def prepare(folder):
    """What the pages take for granted."""
    work = folder.work
    qwen3 = recorded("qwen3", {"Qwen3-4B", "Qwen3-8B"})
    other = qwen3.replace("NVIDIA H100 80GB HBM3", "NVIDIA H200")  # times of the same: results of two devices are wanted
    for name, text in (("results.json", qwen3), ("qwen3.json", qwen3), ("h100.json", qwen3), ("h200.json", other), ("llama3.json", recorded("llama3", {"Llama-3.1-8B"})),
                       ("peers_providers.json", recorded("peers_providers", {"peers"})),
                       ("tokens.csv", (SOURCE / "examples/traffic/mixed.csv").read_text()), ("log.csv", "batch_size,seq_len\n32,1\n2,512\n"),
                       ("log.jsonl", '{"num_batched_tokens": 32}\n')):
        (work / name).write_text(text)
    (work / "recorded.json.gz").write_bytes(gzip.compress(qwen3.encode(), 1))
    (work / "replay.yaml").write_text("device: {name: 'H100, replayed', arch: sm_90}\nseed: 7\nnoise: {sigma: 0.001}\n")
    for name, page in (("mine.yaml", "spaces.md"), ("mine_shapes.yaml", "shapes.md")):
        (work / name).write_text(re.search(r"```yaml\n(.*?)```", (SOURCE / "docs" / page).read_text(), re.DOTALL)[1])
    shutil.copytree(work / "vendor", work / "kernel")
    shutil.rmtree(work / "tuned")
    shutil.copytree(SOURCE / "examples", work / "examples")
    own_candidate(work, "my_norm")
    own_candidate(work, "other")
    sweep = f"NORMTUNE_STORE= normtune sweep --quiet {FEW} --site hidden --tokens 128 --space quick --strategy exhaustive {REPLAY} --shapes qwen3"
    run(folder, f"{sweep} --out before; mkdir results")
    for place in ("after", "main", "pr", "BASELINE", "CANDIDATE", "results/run-20261120T235959Z-1f3a"):
        run(folder, f"cp -r before {place}")
    for place in ("norm", "kernel", "kernels/norm"):  # candidates of two versions
        for version in ("main", "pr"):
            shutil.copytree(work / "my_norm", work / version / place)
    run(folder, f"{sweep} --candidate my_norm --out results/run-20261121T120000Z-1f3a")
    # A run that was stopped: its results are missing, and the end of its journal.
    run(folder, "cd results/run-20261120T235959Z-1f3a && sed -i '$d' journal.jsonl && rm results.*")


def run_page(folder, page, faults, unused):
    last_shard = None
    for command in commands_of(page):
        plain = without_comment(command)
        reasons = [(pattern, reason) for pattern, reason in NOT_RUN if re.match(pattern, plain, re.DOTALL)]
        if reasons:
            unused.discard(reasons[0][0])
            print(f"{page.name}: {plain}\n    not run: {reasons[0][1]}")
            continue
        added = next((words for pattern, words in ADDED if re.match(pattern, re.sub(" +", " ", plain))), "")
        where = plain.find(" > ") if " > " in plain and added else len(plain)
        line = f"{plain[:where]} {added}{plain[where:]}" if added else plain
        for pattern, words in REPLACED:
            line = re.sub(pattern, words, line)
        shard = re.search(r"--shard (\d+)/(\d+) --out shard-\d+", line)
        last_shard = line if shard else last_shard
        if line.startswith("normtune merge shard-1") and last_shard:  # the other machines
            for number in range(1, 5):
                other = re.sub(r"--shard \d+/(\d+) --out shard-\d+", rf"--shard {number}/\1 --out shard-{number}", last_shard)
                folder.run(f"test -e shard-{number} || {other} --quiet")
        if made := re.match(r"normtune emit .*--out (\S+)", line):  # a stand-in of it is for the other pages
            shutil.rmtree(folder.work / made[1], ignore_errors=True)
        began = time.monotonic()
        result = folder.run(f"set -o pipefail; {line}")
        text = result.stderr.decode()
        lacking = any(words in text for words in LACKING)
        good = result.returncode == 0 or lacking
        print(f"{page.name}: {plain}{f' [{added}]' if added else ''}\n    " +
              (f"not run here: {text.strip()}" if lacking and result.returncode else f"exit {result.returncode}, {time.monotonic() - began:.1f} s"))
        if not good:
            faults.append(f"{page.name}: {line}: exit {result.returncode}: {text}{result.stdout.decode()[-500:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    parser.add_argument("--page", help="this one alone")
    arguments = parser.parse_args()
    faults, unused = [], {pattern for pattern, _ in NOT_RUN}
    with harness.Folder(arguments.normtune) as ready:
        prepare(ready)
        for page in PAGES:
            if not commands_of(page) or (arguments.page and arguments.page not in page.name):
                continue
            with harness.Folder(arguments.normtune) as folder:
                shutil.rmtree(folder.work)
                shutil.copytree(ready.work, folder.work, symlinks=True)
                run_page(folder, page, faults, unused)
    if not arguments.page:
        faults += [f"no page has what NOT_RUN lists as {pattern}" for pattern in sorted(unused)]
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
