#!/usr/bin/env python3
"""What nobody's input may spoil: the places that outputs name, closed standard streams, and whoever reads the output (a terminal, a
CI's runner, a browser, a spreadsheet, a shell)."""

import argparse
import csv
import json
import os
import pathlib
import stat
import sys
import xml.etree.ElementTree as tree

import harness

SWEEP = (
    "normtune sweep --quiet --strategy exhaustive --shapes shapes.yaml --space space.yaml --tokens 20000"
    " --backend replay --replay-script {script} --out {out}"
)
SWEEPS = f"{SWEEP.format(script='replay.yaml', out='before')} && {SWEEP.format(script='replay_slower.yaml', out='slower')}"
GATE = "normtune gate --baseline before --candidate slower --policy policy.yaml"
HF = "normtune shapes --from-hf config.json"

# Everything that some reader would obey.
EVIL = (
    "\n::add-mask::x\r\n::error::y ##[add-mask]z \x1b[31mred\x1b]0;title\x07 \xc2\x9b31m \u202e <script>alert(1)</script>"
    " [a](http://evil.example) @mention `code` | b ${{ secrets }} \ufffe '; touch made; '"
)


def outputs(folder, check):
    folder.run(SWEEPS)
    work = folder.work
    plain = folder.run(f"{GATE} --junit gate.xml --markdown gate.md >/dev/null; {HF} -o plain.yaml; cat gate.md")
    text = plain.stdout
    result = folder.run(f"{GATE} --markdown /dev/stdout --junit /dev/null | cat")
    check(text and text in result.stdout, "--markdown /dev/stdout does not print the markdown into a pipe")
    check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null is no device any more")
    folder.run(f"{GATE} --markdown /dev/stdout > both.txt")
    both = (work / "both.txt").read_bytes()
    check(both.startswith(text) and b"gate" in both[len(text) :], "--markdown /dev/stdout and the report do not both reach a file")
    folder.run(f"{GATE} --markdown >(cat > through.md) >/dev/null; wait $!")
    check((work / "through.md").read_bytes() == text, "--markdown into a process substitution")
    (work / "link.md").symlink_to("target.md")
    (work / "target.md").write_text("old")
    folder.run(f"{GATE} --markdown link.md")
    check((work / "link.md").is_symlink(), "--markdown put a file in the place of a link")
    check((work / "target.md").read_bytes() == text, "--markdown did not write to where the link leads")
    result = folder.run(f"mkfifo pipe; (cat pipe > piped.yaml) & exec 3> pipe; {HF} -o pipe; exec 3>&-; wait; cmp piped.yaml plain.yaml && test -p pipe")
    check(result.returncode == 0, f"shapes -o PIPE: {result.stderr.decode()}")
    result = folder.run(f"mkfifo alone; {HF} -o alone; code=$?; test -p alone && exit $code")
    check(result.returncode == 2 and b"nobody reads" in result.stderr, "shapes -o PIPE without a reader")
    result = folder.run(f"{HF} -o /dev/full")
    check(result.returncode == 2 and b"No space left" in result.stderr, "shapes -o /dev/full")
    result = folder.run("mkdir place; ln -s place named; normtune merge before -o named; ls place; test -L named")
    check(result.returncode == 0 and b"results.csv" in result.stdout, f"merge -o LINK: {result.stderr.decode()}")


def inputs(folder, check):
    for command in ("best", "compare x", "audit", "plan --shapes", "shapes --from-hf", "gate --baseline x --candidate", "merge -o m"):
        result = folder.run(f"normtune {command} /dev/zero")
        told = [line for line in result.stderr.decode().splitlines() if line.startswith("normtune: ")]
        check(result.returncode == 2 and len(told) == 1, f"{command} /dev/zero: {result.stderr.decode()}")
    for reader in ("true", "head -n 1 >/dev/null"):
        result = folder.run(f"for i in {{1..3}}; do normtune sweep --help; normtune shapes qwen3; normtune compare liger_before.csv "
                            f"liger_before.csv --format json || test $? = 3; done | {reader}; echo ${{PIPESTATUS[0]}}")
        check(result.stdout == b"0\n" and not result.stderr, f"| {reader}: {result.stdout} {result.stderr.decode()}")
    result = folder.run("mkfifo pipe; timeout 60 normtune best pipe")
    check(result.returncode == 2 and b"into which nobody writes" in result.stderr, "a pipe without a writer")
    sweep = SWEEP.format(script="replay.yaml", out="").replace(" --out", "")
    for command in ("normtune best", "normtune compare x", "normtune plan --shapes", "normtune gate --baseline x --candidate", f"{HF} -o",
                    "normtune shapes --from-hf", "normtune audit", "normtune emit --out o --from", f"{sweep} --out", f"{sweep} --out a/b/",
                    "normtune sweep --resume", "normtune sweep --problem", "normtune sweep --", "normtune"):
        glue = "" if command.endswith(("/", "--")) else " "
        result = folder.run(f"{command}{glue}$(printf 'x%.0s' {{1..5000}})")
        check(result.returncode == 2 and len(result.stderr) < 500, f"{command}: a path of 5,000 characters: {result.stderr[:300]}")
    result = folder.run(f"{SWEEP.format(script='replay.yaml', out='piped')}; normtune audit <(cat piped/results.json)")
    check(result.returncode == 0, f"process substitution: {result.stderr.decode()}")
    result = folder.run("normtune compare piped <(sleep 3; cat piped/results.json)")
    check(result.returncode == 0, f"a slow process substitution: {result.stderr.decode()}")
    result = folder.run("printf 'models: [' > broken.yaml; normtune shapes ./broken.yaml")
    check(result.returncode == 2 and not result.stdout, "shapes FILE prints what it cannot parse")


def closed_streams(folder, check):
    for number, closed in enumerate(("0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-")):
        command = SWEEP.format(script="replay.yaml", out=f"closed-{number}").replace("--quiet ", "")
        result = folder.run(f"{command} {closed}")
        check(result.returncode == (2 if "1>&-" in closed else 0), f"a sweep with {closed} ends in {result.returncode}")
        journal = (folder.work / f"closed-{number}/journal.jsonl").read_text().splitlines()
        check(all(line.startswith("{") and json.loads(line) for line in journal), f"{closed}: the journal has other text in it")
        check((folder.work / f"closed-{number}/results.json").exists(), f"{closed}: no results")


def liger_csv(path, time, text):
    fields = harness.INPUTS.joinpath("liger_before.csv").read_text().splitlines()[0].split(",")
    row = {name: text for name in fields}
    row |= {"metric_name": "speed", "metric_unit": "ms", "x_value": "1024", "extra_benchmark_config_str": text, "timestamp": "2026-11-01"}
    row |= {name: str(time) for name in ("y_value_50", "y_value_20", "y_value_80")}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerow(row)


def readers(folder, check):
    work = folder.work
    liger_csv(work / "a.csv", 1.0, EVIL)
    liger_csv(work / "b.csv", 2.0, EVIL)
    compare = "normtune compare a.csv b.csv"
    gate = "normtune gate --baseline a.csv --candidate b.csv --github --junit evil.xml --markdown evil.md"
    for command in (compare, gate, f"{gate} 2>&1", f"{compare} --format json", f"{compare} --format csv"):
        out = folder.run(command).stdout.decode("utf-8")
        check("add-mask" in out, f"{command} does not show what is in the file: {out}")
        for line in out.splitlines():
            command_line = line.strip().startswith("::")
            ours = line.startswith(("::error title=normtune", "::warning title=normtune"))
            check(ours or not command_line, f"{command} prints a workflow command: {line!r}")
            check("##[" not in line or ours, f"{command} prints a workflow command of the old form: {line!r}")
        wrong = {c for c in out.replace("\r\n", "\n") if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c == "\u202e"}
        check(not wrong, f"{command} prints controls: {wrong}")
    markdowns = [folder.run(f"{compare} --format markdown").stdout.decode(), (work / "evil.md").read_text()]
    for out in markdowns:
        check("script" in out, "markdown does not show what is in the file")
        for markup in ("<script", "](http", "@mention", "`code`", "\x1b"):
            check(markup not in out, f"markdown has {markup!r}")
        check(not any(line.startswith("::") for line in out.splitlines()), "markdown has a workflow command")
    tree.parse(work / "evil.xml")
    check("\ufffe" not in (work / "evil.xml").read_text(), "JUnit has U+FFFE")

    liger_csv(work / "c.csv", 1.0, "=cmd|' /C calc'!A0")
    liger_csv(work / "d.csv", 2.0, "=cmd|' /C calc'!A0")
    out = folder.run("normtune compare c.csv d.csv --format csv").stdout.decode()
    cells = [cell for row in csv.reader(out.splitlines()) for cell in row]
    check(not any(cell.startswith(("=", "@")) for cell in cells), "a formula reaches a cell of CSV")

    folder.run(SWEEP.format(script="replay.yaml", out="evil"))
    results = json.loads((work / "evil/results.json").read_text())
    device = results["environment"]["device"]
    device["name"] = EVIL
    for record in results["records"]:
        record["device"] = EVIL
        record["reason"] = EVIL
        record["repeat"] = EVIL
    for record in results["records"][1:]:
        record.pop("measurement", None)
        record["outcome"] = "crashed"
    (work / "evil.json").write_text(json.dumps(results))
    for command in ("best", "audit", "fit", "merge -o evil_merged", "audit --format markdown", "audit --format json", "best --format cpp",
                    "best --format triton"):
        result = folder.run(f"normtune {command} evil.json")
        out = (result.stdout + result.stderr).decode("utf-8")
        check(result.returncode in (0, 1, 2) and "internal error" not in out, f"{command}: {out}")
        check(not any(line.strip().startswith("::") for line in out.splitlines()), f"{command} prints a workflow command: {out}")
        check("##[" not in out or "--format" in command, f"{command}: ##[")
        check("\x1b" not in out and "\x9b" not in out and "\r" not in out, f"{command} prints controls: {out!r}")
        check("<script" not in out or "markdown" not in command, f"{command}: HTML")


def shell(folder, check):
    evil = "out';touch made;'"
    command = SWEEP.format(script="replay.yaml", out=f'"{evil}"').replace("--quiet ", "")
    folder.run(f"{command}; rm -f \"{evil}\"/results.*")
    result = folder.run(f'normtune best "{evil}"')
    hint = result.stderr.decode().partition("go on with it by ")[2].strip()
    check("--resume" in hint, f"no hint: {result.stderr.decode()}")
    result = folder.run(f"set -e; {hint} --quiet")
    check(result.returncode == 0 and not (folder.work / "made").exists(), f"{hint}: {result.stderr.decode()}")


def limits(folder, check):
    """Limits of the system, and what is no text: one line and exit code 2, never that of a defect."""
    sweep = SWEEP.format(script="replay.yaml", out="{}")
    # A sanitizer reserves terabytes of addresses, and looks at objects through descriptors of its own.
    sanitized = os.environ.get("NORMTUNE_SANITIZED")
    address_limits = () if sanitized else (60000, 90000, 150000, 300000)
    file_limits = () if sanitized else (6, 8, 10, 12)
    for number, command in enumerate(
        [
            f"{sweep} --seed $'\\xff'",
            "normtune best $'no\\xff\\xfeutf8'",
            "normtune shapes --from-hf $'\\xc3\\x28/config.json'",
            *(f"ulimit -v {kib}; {sweep}" for kib in address_limits),
            *(f"ulimit -n {files}; {sweep}" for files in file_limits),
            f"ulimit -f 1; {sweep}",
        ]
    ):
        result = folder.run(command.replace("{}", f"limit-{number}"))
        lines = [line for line in result.stderr.decode(errors="replace").splitlines() if line.startswith("normtune: ")]
        told = result.returncode == 2 and len(lines) == 1
        loader = result.returncode in (126, 127) or b"error while loading" in result.stderr or b"fork" in result.stderr
        check(result.returncode == 0 or told or loader, f"{command}: ends in {result.returncode}: {result.stderr.decode(errors='replace')}")


def replaced(folder, check):
    """A run whose folder was deleted and made anew by another run leaves that one alone."""
    slow = (folder.work / "replay.yaml").read_text() + "delays: {compile_ms: 150}\n"
    (folder.work / "slow.yaml").write_text(slow)
    first = SWEEP.format(script="slow.yaml", out="again")
    second = SWEEP.format(script="replay.yaml", out="again")
    wait = "for i in $(seq 900); do grep -q outcome again/journal.jsonl && break; sleep 0.02; done"
    result = folder.run(f"{first} & pid=$!; {wait}; rm -r again; {second} || exit 9; sha256sum again/* > sums; wait $pid; code=$?; sha256sum -c --quiet sums || exit 8; exit $code")
    check(result.returncode == 2 and b"deleted or replaced" in result.stderr, f"ends in {result.returncode}: {result.stderr.decode()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    wrong = []
    for part in (outputs, inputs, closed_streams, readers, shell, limits, replaced):
        with harness.Folder(arguments.normtune) as folder:
            part(folder, lambda good, message, part=part: good or wrong.append(f"{part.__name__}: {message}"))
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
