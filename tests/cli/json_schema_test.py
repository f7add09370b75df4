#!/usr/bin/env python3
"""The JSON that commands print keeps to its schemas."""

import argparse
import json
import pathlib
import re
import sys

import harness

SKIP = 77
SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "schemas"
REPLAY = "--backend replay --replay-script replay.yaml"
SELECTION = f"--shapes shapes.yaml --space space.yaml {REPLAY}"
# Thirty nights of another tool's benchmark, the last five slower.
HISTORY = (
    "for n in $(seq 10 39); do t=$((1000 + n * 7 % 5 + (n > 34) * 200)); echo '{\"x\": {\"latency\": {\"value\": '$t'}}}' > b.json; "
    "normtune history import b.json --db h --started 19$n-01-01T00:00:00Z --device-name d --revision r$n >/dev/null || exit 2; done; "
)
CASES = [
    (f"normtune plan {SELECTION} --format json", "plan.schema.json"),
    (f"normtune plan {SELECTION} --format json --list --show-pruned", "plan.schema.json"),
    (f"normtune plan {SELECTION} --format json --shard 2/3", "plan.schema.json"),
    ("normtune plan --shapes shapes.yaml --space space.yaml --arch sm_90 --compile --format json", "plan.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run >/dev/null && normtune best run --format json", "winners.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run >/dev/null && normtune compare run run/results.csv --format json || true",
     "comparison.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run >/dev/null && normtune audit run --format json --heuristic 'one=num_warps == 1'",
     "audit.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run >/dev/null && normtune audit run --format json --axis num_warps",
     "axis.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run >/dev/null && cp -r run other && normtune audit run other --transfer --format json", "transfer.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run >/dev/null && sed 's/\"arch\":\"replay\"/\"arch\":\"sm_90\"/' run/results.json > run/sm_90.json && "
     "normtune best run/sm_90.json --for sm_120 --format json", "winners.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run --batch-invariant >/dev/null"
     " && normtune best run --batch-invariant --deterministic --format json", "winners.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run --batch-invariant >/dev/null && cat run/results.json",
     "results.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run >/dev/null && normtune fit run --format json", "fit.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run >/dev/null && normtune fit run --format json --hold-out none --axes grid,num_warps",
     "fit.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --tokens 1,16,256 --quiet --out run >/dev/null && "
     "printf 'tokens,count\\n1,5\\n30,2\\n900,1\\n' > tokens.csv && normtune fit run --format json --traffic tokens.csv", "fit.schema.json"),
    ("cp -r vendor pr; normtune ab vendor pr --backend replay --replay-script replay_ab.yaml --processes 2 --quiet --format json", "comparison.schema.json"),
    ("cp -r vendor pr; normtune ab vendor pr --backend replay --replay-script replay_ab.yaml --processes 2 --quiet --out ab >/dev/null && cat ab/results.json",
     "results.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run >/dev/null && normtune history add run --db h >/dev/null && "
     "normtune history trend --db h --format json", "history.schema.json"),
    (HISTORY + "normtune history trend --db h --format json || test $? = 1", "history.schema.json"),
    (HISTORY + "normtune history list --db h --format json", "history.schema.json"),
    ("normtune compare liger_before.csv liger_printed.txt --format json || true", "comparison.schema.json"),
    ("normtune devices --format json", "tables.schema.json"),
    ("normtune gate --baseline liger_before.csv --candidate liger_after.csv --format json || true", "tables.schema.json"),
    (f"normtune sweep --strategy exhaustive {SELECTION} --quiet --out run --format json", "winners.schema.json"),
    ("normtune compare liger_before.csv liger_after.csv --metric memory --by best --format json", "comparison.schema.json"),
]


def load_schema(name):
    return json.loads((SCHEMAS / name).read_text())


def misnamed():
    """Schemas that are not called by their file, and those of which a validator would have to fetch a part."""
    texts = {path: path.read_text() for path in sorted(SCHEMAS.glob("*.json"))}
    wrong = []
    for path, text in texts.items():
        schema = json.loads(text)
        if schema.get("$id") != f"https://normtune.invalid/schemas/{path.name}":
            wrong.append(f"{path.name}: $id is {schema.get('$id')!r}")
        for reference in re.findall(r'"\$ref": *"([^"]*)"', text):
            definition = re.fullmatch(r"#/\$defs/(\w+)", reference)
            if not definition or definition[1] not in schema["$defs"]:
                wrong.append(f"{path.name}: there is no {reference} in it")
    return wrong if texts else ["there are no schemas"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    try:
        import jsonschema
    except ImportError:
        print("python3-jsonschema is not installed")
        return SKIP
    failed = bool(misnamed())
    print(*misnamed(), sep="\n")
    for command, schema_name in CASES:
        schema = load_schema(schema_name)
        with harness.Folder(arguments.normtune) as folder:
            result = folder.run(command)
        if b"needs NVRTC" in result.stderr:
            print("skipped:", command, result.stderr.decode())
            continue
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        errors = [error.message for error in validator.iter_errors(json.loads(result.stdout))]
        if errors or result.returncode != 0:
            failed = True
            print(command, result.stderr.decode(), *errors, sep="\n    ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
