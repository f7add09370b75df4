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
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
