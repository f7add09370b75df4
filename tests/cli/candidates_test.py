#!/usr/bin/env python3
"""Kernels that others wrote as sources: compiled for a GPU that is not here, emitted, read back; what their launch.json may say."""

import argparse
import json
import pathlib
import re
import sys

import harness

SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBLEM = "rms_norm/forward/bf16/llama/8192x4096"
HIP_SOURCE = """extern "C" __attribute__((global)) void norm(float* rstd, int rows) {
    rstd[__builtin_amdgcn_workgroup_id_x() % rows] = FACTOR;
}
"""


def expect(condition, *what):
    if not condition:
        print("FAILED:", *what)
        expect.failed = True


expect.failed = False


def schema_of_examples():
    try:
        import jsonschema
    except ImportError:
        print("python3-jsonschema is not installed: the examples are not held against the schema")
        return
    schema = json.loads((ROOT / "schemas/candidate.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for file in ROOT.glob("examples/*/launch.json"):
        errors = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(json.loads(file.read_text()))]
        expect(not errors, file, errors)


def cuda(folder):
    """The example: each of its kernels compiles; one is emitted with its numbers, and reads back as the same code."""
    plan = folder.run(f"normtune plan --candidate tuned --candidates-only --problem {PROBLEM} --arch sm_90 --compile --list --format json")
    if b"needs NVRTC" in plan.stderr:
        print("skipped: no NVRTC")
        return
    expect(plan.returncode == 0, plan.stderr.decode())
    compiled = {one["key"]: one for one in json.loads(plan.stdout)["problems"][0]["compiled"]}
    expect(len(compiled) == 28, "of the example", len(compiled), "compile")
    expect(all(one["outcome"] == "passed" and one["registers"] > 0 for one in compiled.values()), compiled)
    expect(len({one["code_hash"] for one in compiled.values()}) == len(compiled), "equal code of different tunables")
    key = "norm.KEEP=1.THREADS=256.VECTOR=8"
    emit = folder.run(f"normtune emit --candidate tuned --config example:{key} --problem {PROBLEM} --arch sm_90 --out winner")
    expect(emit.returncode == 0, emit.stderr.decode())
    launch = json.loads((folder.work / "winner/launch.json").read_text())
    expect(launch["launches"][0]["grid"] == [8192, 1, 1] and launch["launches"][0]["block"] == [256, 1, 1], launch)
    expect(launch["code"]["hash"] == compiled["example:" + key]["code_hash"], "another hash than planned:", launch["code"])
    source = (folder.work / "winner/kernel.cu").read_text()
    expect("#define THREADS 256\n" in source and "#define COLS 4096\n" in source, source[:300])
    back = folder.run(f"normtune plan --candidate winner --candidate tuned --candidates-only --problem {PROBLEM} --arch sm_90 --compile --list --format json")
    again = {one["key"]: one for one in json.loads(back.stdout)["problems"][0]["compiled"]}
    expect(again["winner:" + key]["code_hash"] == launch["code"]["hash"], back.stderr.decode(), again)
    # What does not compile is told, and the others go on.
    manifest = json.loads((folder.work / "tuned/launch.json").read_text())
    manifest["code"]["macros"]["COLS"] = "cols / VECTOR"
    manifest["code"]["options"] = ["-DPack=1"]
    (folder.work / "broken").mkdir()
    (folder.work / "broken/launch.json").write_text(json.dumps(manifest | {"provider": "broken"}))
    (folder.work / "broken/norm.cu").write_text((folder.work / "tuned/norm.cu").read_text())
    broken = folder.run(f"normtune plan --candidate broken --candidates-only --problem {PROBLEM} --arch sm_90 --compile --list --format json")
    outcomes = {one["outcome"] for one in json.loads(broken.stdout)["problems"][0]["compiled"]}
    expect(broken.returncode == 5 and outcomes == {"compile_failed"}, broken.returncode, outcomes)
    reasons = [one["reason"] for one in json.loads(broken.stdout)["problems"][0]["compiled"]]
    expect(all(re.search(r" norm\.cu\([0-9]+\): error: ", reason) for reason in reasons), reasons)
    # So is a kernel that the code does not have: of a source, and of a cubin.
    misnamed = json.loads((folder.work / "tuned/launch.json").read_text())
    misnamed["launches"][0]["kernel"] = "rms_nrom"
    (folder.work / "broken/launch.json").write_text(json.dumps(misnamed))
    plan = folder.run(f"normtune plan --candidate broken --candidates-only --problem {PROBLEM} --arch sm_90 --compile --list --format json")
    outcomes = {(one["outcome"], one["reason"].split(",")[0]) for one in json.loads(plan.stdout)["problems"][0]["compiled"]}
    expect(plan.returncode == 5 and outcomes == {("compile_failed", "its code has no kernel 'rms_nrom'")}, plan.returncode, outcomes)
    launch["launches"][0]["kernel"] = "rms_nrom"
    (folder.work / "winner/launch.json").write_text(json.dumps(launch))
    for candidate in ("winner", f"broken --config example:{key}"):
        emit = folder.run(f"normtune emit --candidate {candidate} --problem {PROBLEM} --arch sm_90 --out none")
        expect(emit.returncode == 2 and b"no kernel 'rms_nrom'" in emit.stderr, emit.returncode, emit.stderr.decode())
        expect(not (folder.work / "none").exists(), "emit left a folder")


def hip(folder):
    kernel = folder.work / "hip"
    kernel.mkdir()
    (kernel / "norm.hip").write_text(HIP_SOURCE)
    (kernel / "launch.json").write_text(json.dumps({
        "schema_version": 2,
        "claims": {"op": "rms_norm", "mode": "forward", "dtype": "bf16", "casting": ["llama", "none"]},
        "code": {"file": "norm.hip", "options": ["-ffast-math", "-O2"]},
        "tunables": {"FACTOR": [1, 2]},
        "workspace_bytes": 0,
        "launches": [{"kernel": "norm", "grid": ["rows", 1, 1], "block": ["warp_size", 1, 1], "shared_bytes": 0,
                      "arguments": [{"name": "rstd", "type": "pointer", "tensor": "rstd"}, {"name": "rows", "type": "int32", "value": "rows"}]}],
    }))
    plan = folder.run(f"normtune plan --candidate hip --candidates-only --problem {PROBLEM} --arch gfx942 --compile --list --format json")
    if b"needs hiprtc or clang" in plan.stderr:
        print("skipped: no compiler for gfx942")
        return
    compiled = json.loads(plan.stdout)["problems"][0]["compiled"] if plan.returncode == 0 else []
    expect([one["key"] for one in compiled] == ["hip:norm.FACTOR=1", "hip:norm.FACTOR=2"], plan.stdout, plan.stderr)
    expect(all(one["outcome"] == "passed" for one in compiled), compiled)
    (kernel / "norm.hip").write_text(HIP_SOURCE + "\nundeclared = 1;\n")
    plan = folder.run(f"normtune plan --candidate hip --candidates-only --problem {PROBLEM} --arch gfx942 --compile --list --format json")
    line = HIP_SOURCE.count("\n") + 2
    reasons = [one["reason"] for one in json.loads(plan.stdout)["problems"][0]["compiled"]]
    expect(reasons and all(f" norm.hip:{line}:1: error: " in reason for reason in reasons), reasons)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    schema_of_examples()
    for part in (cuda, hip):
        with harness.Folder(arguments.normtune) as folder:
            part(folder)
    return 1 if expect.failed else 0


if __name__ == "__main__":
    sys.exit(main())
