"""What the command-line tests share: a folder to run in, and the normalisation of what differs from run to run."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

INPUTS = pathlib.Path(__file__).parent / "inputs"
TIME_LIMIT_S = 120

# What differs between runs and machines, and what stands for it in golden files.
NORMALISATIONS = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIMESTAMP"),
    (re.compile(r"(?<=  )\d{4}-\d\d-\d\d$", re.MULTILINE), "DAY"),
    (re.compile(r"\S*/normtune-test-\w+/"), "FOLDER/"),
    (re.compile(r"results/run-\d{8}T\d{6}Z-[0-9a-f]+"), "results/run-NEW"),
    (re.compile(r"normtune \d+\.\d+\.\d+( \(revision [0-9a-f]+(-dirty)?\))?"), "normtune VERSION"),
    (re.compile(r'"normtune_version": "[^"]*"'), '"normtune_version": "VERSION"'),
    (re.compile(r"\d+(\.\d+)?/s"), "RATE/s"),
    (re.compile(r", (\d+ (s|min|h) ?)+left"), ", TIME left"),
]


def normalised(text):
    for pattern, replacement in NORMALISATIONS:
        text = pattern.sub(replacement, text)
    return text


class Folder:
    """A new folder with the inputs in it; commands run there and find the executable as `normtune`."""

    def __init__(self, normtune):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="normtune-test-"))
        self.work = self.path / "files"
        shutil.copytree(INPUTS, self.work)
        programs = self.path / "bin"
        programs.mkdir()
        (programs / "normtune").symlink_to(pathlib.Path(normtune).resolve())
        self.environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.path),
            "NORMTUNE_STORE": str(self.path / "winners.sqlite3"),
            "LC_ALL": "C",
            "TERM": "dumb",
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def run(self, command):
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIME_LIMIT_S,
        )

    def files(self):
        return sorted(str(path.relative_to(self.path)) for path in self.path.rglob("*"))


class Checks:
    """What was expected of commands in a folder; prints what did not hold."""

    def __init__(self, folder):
        self.folder = folder
        self.failed = False

    def expect(self, condition, *what):
        if not condition:
            self.failed = True
            print("FAILED:", *what)

    def run(self, command, code, *fragments):
        """Runs it and returns its standard output; the fragments may stand in either output."""
        result = self.folder.run(command)
        text = result.stdout.decode() + result.stderr.decode()
        self.expect(result.returncode == code and all(fragment in text for fragment in fragments),
                    f"{command}\n  exit code {result.returncode}, not {code}; or lacks one of {fragments}:\n{text}")
        return result.stdout.decode()

    def refused(self, command, fragment):
        """One line, and nothing was begun."""
        result = self.folder.run(command)
        text = result.stdout.decode() + result.stderr.decode()
        self.expect(result.returncode == 2 and fragment in text and text.count("\n") == 1, f"{command}: {result.returncode}, {text}")
