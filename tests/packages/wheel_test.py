#!/usr/bin/env python3
"""The wheel: made, installed in an environment of its own, used from the shell, from Python and as the CI files use it, and removed."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import packaging

BUILD = packaging.build_folder()
INPUTS = packaging.ROOT / "tests" / "cli" / "inputs"
REPLAY = "--shapes shapes.yaml --space space.yaml --tokens 20000,400000 --backend replay --replay-script"


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.wheel = packaging.package("wheel", BUILD, root / "packages")
        cls.python = root / "python"
        packaging.run(["python3", "-m", "venv", cls.python])
        packaging.run([cls.python / "bin" / "pip", "install", "--no-index", "--no-deps", cls.wheel])
        cls.work = root / "work"
        shutil.copytree(INPUTS, cls.work)
        # Nothing of the environment that is not activated, and no library path.
        cls.environment = {"PATH": "/usr/bin:/bin", "HOME": str(root), "NORMTUNE_STORE": "", "LC_ALL": "C"}

    def run_in(self, words, **changes):
        return packaging.run(words, cwd=self.work, env=self.environment | changes)

    def python_says(self, code, **changes):
        return self.run_in([self.python / "bin" / "python", "-c", code], **changes)

    def test_one_wheel_for_every_python_of_linux(self):
        self.assertRegex(self.wheel.name, r"^normtune-[0-9.]+-py3-none-manylinux_2_\d+_\w+\.whl$")

    def test_the_executable_is_that_of_the_build(self):
        version = packaging.run([BUILD / "bin" / "normtune", "--version"])
        self.assertEqual(self.run_in([self.python / "bin" / "normtune", "--version"]), version)
        self.assertEqual(self.run_in([self.python / "bin" / "python", "-m", "normtune", "--version"]), version)
        number = self.python_says("import normtune; print(normtune.__version__)").strip()
        self.assertIn(f"normtune {number}", version)

    def test_its_libraries_travel_inside(self):
        libraries = self.run_in(["ldd", self.python_says("import normtune; print(normtune.executable())").strip()])
        for name in ("libmuparser", "libsimdjson", "libgomp"):
            line = next(line for line in libraries.splitlines() if name in line)
            self.assertIn(str(self.python), line)

    def test_a_sweep_from_python(self):
        code = ("import normtune\n"
                "normtune.run('sweep', '--problem', 'rms_norm/forward/fp32/llama/64x1024', '--space', 'quick', '--strategy', 'random',\n"
                "             '--trials', '2', '--backend', 'cpu', '--quiet', '--out', 'swept', check=True)\n"
                "print([record['outcome'] for record in normtune.load('swept')['records']])")
        self.assertTrue(self.python_says(code).endswith("['passed', 'passed']\n"))

    def test_a_python_provider(self):
        """The worker library and normtune_provider are found beside the executable, whatever Python runs them."""
        for out, python in (("by_own", self.python / "bin" / "python3"), ("by_systems", "/usr/bin/python3")):
            self.run_in([self.python / "bin" / "normtune", "sweep", "--provider", "norms.py:right", "--candidates-only", "--python", python,
                         "--problem", "rms_norm/forward/fp32/llama/4x64", "--backend", "cpu", "--quiet", "--out", out])
            records = json.loads((self.work / out / "results.json").read_text())["records"]
            self.assertEqual([record["outcome"] for record in records], ["passed"])

    def test_where_the_executable_is_looked_for(self):
        code = "import normtune; print(normtune.executable(), normtune.environment()['VIRTUAL_ENV'])"
        own = next(self.python.glob("lib/python3*/site-packages/normtune/bin/normtune"))
        self.assertEqual(self.python_says(code), f"{own} {self.python}\n")
        self.assertEqual(self.python_says(code, NORMTUNE=f"{self.python}/bin/normtune", VIRTUAL_ENV="/else"), f"{own} /else\n")
        with self.assertRaisesRegex(AssertionError, "exits 1:\nnormtune: there is no .*; normtune is used from an installed wheel\n"):
            self.run_in(["python3", "-m", "normtune"], PYTHONPATH=str(packaging.ROOT / "python"), PYTHONDONTWRITEBYTECODE="1")

    def test_scripts_are_commands(self):
        for name in ("ci-gate", "run-emitted", "triton-candidates"):
            self.assertIn("--", self.run_in([self.python / "bin" / f"normtune-{name}", "--help"]))

    def test_licences_of_what_is_inside(self):
        text = next(self.python.glob("lib/python3*/site-packages/normtune/LICENCES")).read_text()
        for name in (*packaging.STATIC_LIBRARIES, "libmuparser-dev", "libgomp1"):
            self.assertIn(f"==== {name} ", text)

    def test_the_action_installs_and_judges(self):
        """The shell of action.yml, as a runner gives it its inputs."""
        install, gate = (step["run"] for step in packaging.yaml("action.yml")["runs"]["steps"])
        output = self.work / "output"
        runner = {"RUNNER_TEMP": str(self.work), "GITHUB_OUTPUT": str(output), "GITHUB_ACTION_PATH": str(packaging.ROOT)}

        def step(script, **inputs):
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=self.work, env=self.environment | runner | inputs,
                                  capture_output=True, text=True, timeout=packaging.TIME_LIMIT_S, check=False)
            return done.returncode, done.stdout + done.stderr

        stub = self.work / "stub"
        stub.mkdir()
        for name in ("apt-get", "sudo"):  # a .deb is deb_test.py's; here, that it is what apt-get is given, by its path
            (stub / name).write_text('#!/bin/sh\necho "${0##*/} $*"\n')
            (stub / name).chmod(0o755)
        code, text = step(install, PACKAGE="stub/normtune.deb", PATH=f"{stub}:/usr/bin:/bin")
        self.assertEqual(code, 1)
        self.assertRegex(text, "^realpath: stub/normtune.deb: No such file")
        (stub / "normtune.deb").touch()
        code, text = step(install, PACKAGE="stub/normtune.deb", PATH=f"{stub}:/usr/bin:/bin")
        self.assertEqual((code, output.exists()), (0, False), text)
        self.assertIn(f"apt-get install --yes --no-install-recommends {stub}/normtune.deb\n", text)

        code, text = step(install, PACKAGE=str(self.wheel))
        self.assertEqual((code, output.read_text()), (0, f"executable={self.work}/normtune/bin/normtune\n"), text)
        inputs = {"INSTALLED": f"{self.work}/normtune/bin/normtune", "BASELINE": "kept/base.json", "POLICY": "default", "CONFIRM": "true"}
        code, text = step(gate, SELECTION=f"{REPLAY} replay.yaml", OUT="a", UPDATE="true", **inputs)
        self.assertEqual(code, 0, text)
        output.unlink()
        code, text = step(gate, SELECTION=f"{REPLAY}\n replay_slower.yaml\n", OUT="b", UPDATE="false", **inputs)
        self.assertEqual((code, output.read_text()), (1, "exit-code=1\nmarkdown=b/gate.md\n"), text)
        output.unlink()
        code, text = step(gate, SELECTION="--shapes nothing", OUT="c", UPDATE="false", **inputs)
        self.assertEqual((code, output.read_text()), (2, "exit-code=2\n"), text)

    def test_the_gitlab_template_installs_and_judges(self):
        job = packaging.yaml("examples/ci/gitlab.yml")[".normtune-gate"]
        place = self.work / "gitlab"
        shutil.copytree(INPUTS, place)

        def run_job(branch, replay):
            variables = job["variables"] | {"NORMTUNE_PACKAGE": str(self.wheel), "NORMTUNE_SELECTION": f"{REPLAY} {replay}",
                                            "NORMTUNE_BASELINE": "kept/base.json", "CI_COMMIT_BRANCH": branch, "CI_DEFAULT_BRANCH": "main"}
            shutil.rmtree(place / "ci_gate", ignore_errors=True)
            script = "\n".join(job["before_script"] + job["script"])
            return subprocess.run(["sh", "-e", "-c", script], cwd=place, env=self.environment | variables, capture_output=True, text=True,
                                  timeout=packaging.TIME_LIMIT_S, check=False)

        done = run_job("main", "replay.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run_job("change", "replay_slower.yaml")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertTrue((place / job["artifacts"]["reports"]["junit"]).is_file())

    def test_zz_removed_it_leaves_nothing(self):  # the last by its name
        packaging.run([self.python / "bin" / "pip", "uninstall", "--yes", "normtune"])
        left = [path for path in self.python.rglob("*normtune*")]
        self.assertEqual(left, [])


if __name__ == "__main__":
    if not os.access(packaging.TOOLS / "auditwheel", os.X_OK):
        packaging.skip("no auditwheel in build-python; scripts/test installs it")
    unittest.main()
