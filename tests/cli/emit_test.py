#!/usr/bin/env python3
"""What emit writes: launch.json keeps to its schema, the cubin is there, and kernel.cu compiles by itself."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

import harness

SKIP = 77
SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "schemas/launch.schema.json"
CASES = [  # every op, mode and method of dgamma
    ("rms_norm/forward/bf16/llama/8192x4096", "w8.t256.r1.row.registers.even.per_row"),
    ("rms_norm/backward/fp16/gemma/173x409", "w4.t32.r4.row.reload.masked.packed.v2"),
    ("fused_add_rms_norm/backward/bf16/llama/8192x4096", "w8.t256.r1.row.registers.even.persistent_strided.atomic"),
    ("rms_norm/full/fp32/none/64x1024", "w8.t256.r1.row.registers.even.persistent_strided.cooperative"),
    ("rms_norm/backward/bf16/llama/8192x4096", "w8.t256.r1.row.registers.masked.persistent_strided.gamma_hoisted.s3.tile256x32x8"),
    ("fused_add_rms_norm/backward/fp32/none/128x4096", "w16.t512.r1.row.registers.even.per_row.ld_streaming.published.tile256x32x8"),
    ("fused_add_rms_norm/forward/bf16/llama/8192x4096", "w4.t128.r1.b2048.shared.masked.per_row"),
]


def nvcc():
    for place in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if place and os.access(place, os.X_OK):
            return place
    return None


def check(folder, problem, configuration, schema):
    """What is wrong with the files of one kernel."""
    import jsonschema
    launch = json.loads((folder / "launch.json").read_text())
    errors = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(launch)]
    if launch["problem"] != problem or launch["configuration"] != configuration:
        errors.append(f"launch.json is of {launch['configuration']} on {launch['problem']}")
    if (folder / "kernel.cubin").read_bytes()[:4] != b"\x7fELF":
        errors.append("kernel.cubin is no ELF file")
    source = (folder / "kernel.cu").read_text()
    for step in launch["launches"]:
        if step["kernel"] not in source:
            errors.append(f"kernel.cu has no {step['kernel']}")
    if nvcc():
        compiled = subprocess.run([nvcc(), "-std=c++17", "-cubin", "-arch=sm_90", "-Xcudafe", "--display_error_number", "-o", "again.cubin",
                                   "kernel.cu"], cwd=folder, capture_output=True, text=True, timeout=300)
        if compiled.returncode != 0 or "warning" in compiled.stderr:
            errors.append(f"nvcc: {compiled.stderr}")
    return errors


def round_trip(folder, schema):
    """A folder that emit wrote, emitted again; one whose figures nobody knows; and code that is not what was measured."""
    import jsonschema
    problem, configuration = CASES[0]
    errors = []

    def run(words, wanted=b""):
        result = folder.run(words)
        if result.returncode != 0 or wanted not in result.stdout + result.stderr:
            errors.append(f"{words}: exit code {result.returncode}, {(result.stdout + result.stderr).decode()[-500:]}")

    def code(name):
        launch = json.loads((folder.work / name / "launch.json").read_text())
        errors.extend(error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(launch))
        return launch["code"]

    run(f"normtune emit --problem {problem} --eps 1e-5 --config {configuration} --arch sm_90 --out first")
    run(f"normtune emit --candidate first --problem {problem} --arch sm_90 --out second")
    if not code("first")["occupancy"] > 0 or code("first") != code("second"):
        errors.append(f"{code('first')} became {code('second')}")
    unknown = json.loads((folder.work / "first/launch.json").read_text())
    unknown["code"] = {"file": "kernel.cubin"}
    (folder.work / "first/launch.json").write_text(json.dumps(unknown))
    run(f"normtune emit --candidate first --problem {problem} --arch sm_90 --out third")
    if code("third") != {"file": "kernel.cubin"}:
        errors.append(f"figures that nobody knows: {code('third')}")
    run("normtune plan --candidate first --candidates-only --shapes shapes1.yaml --arch sm_90 --compile --format json", b'"code_hash"')
    listed = folder.run("normtune plan --candidate first --candidates-only --shapes shapes1.yaml --arch sm_90 --compile --format json").stdout
    if b'"registers"' in listed or b'"occupancy"' in listed:
        errors.append(f"figures that nobody knows: {listed.decode()}")
    tuned = "--candidate tuned --problem rms_norm/forward/bf16/llama/512x1024"
    run(f"normtune sweep {tuned} --candidates-only --backend replay --replay-script replay_tuned.yaml --out swept --quiet")
    run(f"normtune emit {tuned} --from swept --arch sm_90 --out fourth", b"swept measured other machine code")
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    try:
        import jsonschema
    except ImportError:
        print("python3-jsonschema is not installed")
        return SKIP
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    if not nvcc():
        print("no nvcc here: kernel.cu is not compiled by itself")
    failed = False
    for problem, configuration in CASES:
        with harness.Folder(arguments.normtune) as folder:
            result = folder.run(f"normtune emit --problem {problem} --config {configuration} --arch sm_90 --out kernel")
            if b"needs NVRTC" in result.stderr:
                print(result.stderr.decode())
                return SKIP
            errors = ([result.stderr.decode()] if result.returncode != 0 else
                      check(folder.work / "kernel", problem, configuration, schema))
        if errors:
            failed = True
            print(configuration, problem, *errors, sep="\n    ")
    with harness.Folder(arguments.normtune) as folder:
        (folder.work / "shapes1.yaml").write_text("name: one\neps: 1.0e-5\nmodels: [{name: one, sites: [{site: a, cols: 4096, rows_per_token: 8192}]}]\n"
                                                  "tokens: [1]\ndtypes: [bf16]\nops: [rms_norm]\nmodes: [forward]\n")
        errors = round_trip(folder, schema)
    if errors:
        failed = True
        print("round trip", *errors, sep="\n    ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
