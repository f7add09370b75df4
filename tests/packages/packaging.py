"""What the tests of packages share."""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "build-python" / "bin"  # scripts/test puts them there
TIME_LIMIT_S = 300
# Whose code is in the executable, by the names of Debian's packages.
STATIC_LIBRARIES = ("libyaml-cpp-dev", "libsqlite3-dev", "libfmt-dev", "nlohmann-json3-dev", "libcli11-dev", "libmd-dev",
                    "libsimdjson-dev")  # of simdjson what its header defines in place


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def build_folder():
    """--build FOLDER, taken off the command line, so that unittest sees the rest."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    arguments, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    return arguments.build.resolve()


def run(words, **options):
    """Text of a command that has to succeed; the AssertionError says what it printed where it does not."""
    if "input" not in options:
        options["stdin"] = subprocess.DEVNULL
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=TIME_LIMIT_S, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words} exits {done.returncode}:\n{done.stdout}")
    return done.stdout


def yaml(path):
    """A YAML file of the repository."""
    code = "import json, sys, ruamel.yaml; print(json.dumps(ruamel.yaml.YAML(typ='safe').load(sys.stdin)))"
    return json.loads(run([TOOLS / "python", "-c", code], input=(ROOT / path).read_text()))


def package(kind, build, out):
    """Path of the package that scripts/package made."""
    run([ROOT / "scripts" / "package", kind, "--build", build, "--out", out])
    return next(pathlib.Path(out).iterdir())
