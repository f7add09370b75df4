#!/usr/bin/env python3
"""Every command that prints a table, at 80, 120 and 200 columns: no line is longer, no word is split. Its other formats, orders and
colours; a pull request's markdown of 5,000 pairs; and `explain`."""

import argparse
import csv
import io
import json
import pathlib
import re
import sys

import harness

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "results" / "h100"
LONG_KEY = "w16.t256.r4.row.registers.masked.persistent_strided.gamma_hoisted.s2.cooperative.tile256x32x16.h2.d2"
SWEEP = "sweep --strategy exhaustive --shapes shapes.yaml --space space.yaml --backend replay --quiet"
PREPARE = [
    f"normtune {SWEEP} --tokens 20000,400000 --replay-script replay.yaml --out before",
    f"normtune {SWEEP} --tokens 20000,400000 --replay-script replay_slower.yaml --out after",
    f"normtune {SWEEP} --replay-script replay.yaml --shard 1/2 --out shard-1",
    f"normtune {SWEEP} --replay-script replay.yaml --shard 2/2 --out shard-2",
    f"gunzip -c {RESULTS}/qwen3_default.csv.gz > h100.csv",
    f"gunzip -c {RESULTS}/qwen3.json.gz > h100.json",
    "printf 'tokens,count\\n1,900\\n24,5000\\n8192,12\\n9000,1\\n' > tokens.csv",
]
TABLES = [
    "best before after",
    "best before",
    "audit before",
    "audit h100.csv",
    "audit --transfer before after",
    "best h100.json --for sm_120",
    "audit before --axis threads_per_row",
    "fit before",
    "fit h100.json --traffic tokens.csv --mode forward --op rms_norm --model Qwen3-8B",
    "fit h100.json --traffic tokens.csv --mode forward --op rms_norm --model Qwen3-8B --batch-invariant --tolerance 40%",
    "best before --batch-invariant --deterministic",
    "fit h100.csv --mode backward --op rms_norm --batch-invariant --tolerance 30%",
    "fit h100.csv --mode backward --op rms_norm",
    "compare before after",
    "compare liger_before.csv liger_after.csv",
    "gate --baseline before --candidate after",
    "plan --shapes qwen3 --tokens 8192 --arch sm_90 --space quick",
    "plan --shapes qwen3 --tokens 8192 --arch sm_90 --space quick --rules",
    "plan --problem rms_norm/forward/bf16/llama/8192x4096 --arch sm_90 --space liger_988 --list --show-pruned",
    "merge shard-1 shard-2 -o merged-COLUMNS",
    f"{SWEEP} --replay-script replay.yaml --fresh --out swept-COLUMNS",
    "verify --shapes shapes.yaml --space space.yaml --backend replay --replay-script faults.yaml --quiet --out verified-COLUMNS",
    "verify --shapes shapes.yaml --space space.yaml --backend replay --replay-script faults.yaml --quiet --out bits-COLUMNS --batch-invariant",
    "selfcheck --shapes shapes.yaml --space space.yaml --tokens 20000 --sweeps 2 --trials 2 --backend replay --replay-script replay.yaml"
    " --quiet --out check-COLUMNS",
    "devices",
    "shapes",
    "explain --list-axes",
    f"explain {LONG_KEY}",
    "explain w4.t128.r1.row.registers.masked.per_row --problem rms_norm/backward/bf16/llama/8192x4096 --arch sm_90",
    "explain acme:norm.BLOCK=256.VECTOR=4",
]
BREAKS = "./,:|;"


def piece_of(piece, word):
    """Is it a part of the word that begins and ends at the word's ends or after one of its breaks?"""
    at = word.find(piece)
    while at >= 0:
        end = at + len(piece)
        if (at == 0 or word[at - 1] in BREAKS) and (end == len(word) or word[end - 1] in BREAKS):
            return True
        at = word.find(piece, at + 1)
    return False


def width_faults(command, width, wide, narrow):
    faults = []
    words = set(wide.split())
    for line in narrow.splitlines():
        if len(line) > width and not line.lstrip().startswith("repeat: "):
            faults.append(f"{command}: {len(line)} characters at {width} columns: {line}")
        for word in line.split():
            known = word in words or word.rstrip(",") in words
            if not known and not any(piece_of(part, whole) for part in (word, word.rstrip(",")) for whole in words):
                faults.append(f"{command}: split at {width} columns: {word}")
    return faults


def columns_faults(folder):
    faults = []
    for command in TABLES:
        if "COLUMNS" in command:
            wide = folder.run("normtune " + command.replace("COLUMNS", "wide")).stdout.decode()
        else:
            wide = folder.run("normtune " + command).stdout.decode()
        if len(wide.splitlines()) < 3 and "explain" not in command and "fit h100" not in command:
            faults.append(f"{command}: prints nothing: {wide!r}")
        for width in (80, 120, 200):
            run = folder.run(f"COLUMNS={width} normtune {command.replace('COLUMNS', str(width))}")
            narrow = run.stdout.decode().replace(f"-{width}:", "-wide:").replace(f"-{width}/", "-wide/")
            if run.returncode == 2:
                faults.append(f"{command}: {run.stderr.decode()}")
            faults += width_faults(command, width, wide, narrow)
    return faults


def devices_faults(folder):
    """Why a device is not here: an error whose name is its text is said once."""
    said = folder.run("normtune devices").stdout.decode()
    return [f"devices: {twice[0]}" for twice in re.finditer(r"\b(\w+) \(\1\)", said)]


def format_faults(folder):
    """CSV, markdown and JSON have the rows of the table; --sort and --top arrange it."""
    faults = []
    for command in TABLES:
        if "COLUMNS" in command or "--list " in command or command.startswith("compare"):
            continue
        text = {}
        for form in ("csv", "markdown", "json"):
            run = folder.run(f"normtune {command} --format {form}")
            text[form] = run.stdout.decode()
            if run.returncode == 2 or not text[form]:
                faults.append(f"{command} --format {form}: {run.stderr.decode()}")
        try:
            json.loads(text["json"])
        except ValueError as error:
            faults.append(f"{command}: no JSON: {error}")
        tables = [list(csv.reader(io.StringIO(table, newline=""))) for table in text["csv"].split("\r\n\r\n")]
        for table in tables:
            if len({len(row) for row in table}) != 1:
                faults.append(f"{command}: rows of several lengths in CSV: {table[:3]}")
        if text["markdown"].count("\n|") < sum(len(table) for table in tables):
            faults.append(f"{command}: fewer rows in markdown than in CSV")
    return faults


def order_faults(folder):
    faults = []

    def rows(options):
        out = folder.run(f"normtune best before --format csv {options}").stdout.decode()
        return [row for row in csv.reader(io.StringIO(out, newline=""))]

    plain = rows("")
    times = [float(row[2]) for row in rows("--sort 'p50 us'")[1:]]
    if len(times) < 3 or times != sorted(times, reverse=True):
        faults.append(f"--sort 'p50 us': {times}")
    if [float(row[2]) for row in rows("--sort 'p50 us:up'")[1:]] != sorted(times):
        faults.append("--sort 'p50 us:up'")
    if [row[0] for row in rows("--sort problem")[1:]] != sorted(row[0] for row in plain[1:]):
        faults.append("--sort problem")
    if rows("--top 1") != plain[:2]:
        faults.append("--top 1")
    cut = folder.run("normtune best before --top 1").stdout.decode()
    if f"… and {len(plain) - 2} more." not in cut:
        faults.append(f"--top does not say what it leaves out: {cut}")
    for options in ("--sort nothing", "--format json --top 3", "--top 0"):
        run = folder.run(f"normtune best before {options}")
        if run.returncode != 2 or run.stdout:
            faults.append(f"{options}: {run.returncode} {run.stderr.decode()}")
    return faults


def heading_faults(folder):
    """--sort takes every heading of what is measured, and is looked at before anything is."""
    faults = []
    one = "--problem rms_norm/forward/bf16/llama/256x1024 --space space.yaml --backend replay --quiet"
    commands = [
        f"sweep --candidate vendor {one} --replay-script replay.yaml --batch-invariant",
        f"verify {one} --replay-script faults.yaml --batch-invariant",
        f"ab vendor pr {one.replace('--space space.yaml', '--processes 2')} --replay-script replay_ab.yaml --policy default",
    ]
    folder.run("cp -r vendor pr; mkdir taken; touch taken/a")
    for command in commands:
        out = folder.run(f"normtune {command} --format markdown --out sorted-{command.split()[0]}").stdout.decode()
        if command.startswith("ab"):  # its markdown is another
            out = folder.run(f"normtune {command} --out sorted-table").stdout.decode()
            headings = {cell for line in out.splitlines() for cell in re.split(r"  +", line.strip()) if line.startswith(("ratios of", "verdict", "extremes", "metric"))}
        else:
            headings = {cell.strip() for heading in re.findall(r"^\| (.*) \|\n\|-", out, re.MULTILINE) for cell in heading.split("|")}
        if len(headings) < 4:
            faults.append(f"{command}: headings {headings}")
        for heading in headings:
            run = folder.run(f"normtune {command} --sort '{heading}' --out taken")
            if "--sort" in run.stderr.decode() or "taken" not in run.stderr.decode():
                faults.append(f"{command} --sort '{heading}': {run.stderr.decode()}")
    return faults


def color_faults(folder):
    faults = []
    gate = "normtune gate --baseline before --candidate after"
    if b"\x1b" in folder.run(gate).stdout:
        faults.append("colour in a pipe")
    if b"\x1b[31mfail" not in folder.run(f"{gate} --color always").stdout:
        faults.append("--color always")
    for command in ("audit before", "compare before after", "plan --shapes shapes.yaml --arch sm_90", f"explain {LONG_KEY}"):
        plain = folder.run(f"normtune {command}").stdout
        painted = folder.run(f"normtune {command} --color always").stdout
        if painted == plain or re.sub(rb"\x1b\[\d+m", b"", painted) != plain:
            faults.append(f"{command}: colour changes more than colour")
    return faults


def liger_csv(path, pairs, slower):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        header = next(csv.reader(open(path.parent / "liger_before.csv", newline="")))
        writer.writerow(header)
        example = next(csv.DictReader(open(path.parent / "liger_before.csv", newline="")))
        for i in range(pairs):
            row = dict(example)
            row["x_value"] = str(64 + i)
            for name in ("y_value_50", "y_value_20", "y_value_80"):
                row[name] = str(float(row[name]) * (1 + (slower * (i % 7)) / 10))
            writer.writerow([row[name] for name in header])


def markdown_faults(folder):
    faults = []
    liger_csv(folder.work / "many_before.csv", 5000, 0)
    liger_csv(folder.work / "many_after.csv", 5000, 1)
    compare = folder.run("normtune compare many_before.csv many_after.csv --format markdown --most 0").stdout.decode()
    gate = folder.run("normtune gate --baseline many_before.csv --candidate many_after.csv --markdown gate.md")
    gate_md = (folder.work / "gate.md").read_text() if gate.returncode != 2 else gate.stderr.decode()
    for name, text in (("compare", compare), ("gate", gate_md)):
        if not 3000 < len(text) < 65536:
            faults.append(f"{name}: markdown of {len(text)} characters")
        if text.count("<details>") != text.count("</details>") or text.count("<details>") == 0:
            faults.append(f"{name}: folds that do not close")
        head = text.split("<details>")[0]
        if "geometric mean" not in head or head.count("+60.0%") < 1 or len(head.splitlines()) > 40:
            faults.append(f"{name}: geometric means and the worst do not stand first: {head[:2000]}")
        if " more." not in text:
            faults.append(f"{name}: does not say that rows are left out")
    return faults


def explain_faults(folder):
    faults = []
    for command, wanted in (
        (f"explain {LONG_KEY}", "deferred_steps"),
        ("explain w4.t128.r1.row.registers.masked.per_row --problem rms_norm/forward/bf16/llama/8192x4096 --arch sm_90", "nt_forward"),
        ("explain w8.t128.r1.row.registers.masked.per_row --problem rms_norm/forward/bf16/llama/8192x4096 --arch sm_90", "A sweep leaves it out here"),
        ("explain w1.t16.r1.row.reload.masked.packed --problem rms_norm/forward/fp32/llama/64x4096 --backend cpu", "64x4096 on"),
    ):
        run = folder.run(f"normtune {command}")
        if run.returncode != 0 or wanted not in run.stdout.decode():
            faults.append(f"{command}: {run.returncode} {run.stdout.decode()} {run.stderr.decode()}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    faults = []
    with harness.Folder(arguments.normtune) as folder:
        for command in PREPARE:
            run = folder.run(command)
            if run.returncode != 0:
                faults.append(f"{command}: {run.stderr.decode()}")
        for check in (columns_faults, devices_faults, format_faults, order_faults, heading_faults, color_faults, markdown_faults, explain_faults):
            faults += check(folder)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
