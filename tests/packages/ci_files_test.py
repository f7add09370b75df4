#!/usr/bin/env python3
"""Workflows, action, GitLab's template and Containerfile: their schemas, and whether their shell parses (wheel_test.py runs it)."""

import json
import os
import re
import unittest

import packaging

FILES = {"vendor.github-workflows": [".github/workflows/tests.yml", "examples/ci/github.yml"],
         "vendor.github-actions": ["action.yml"],
         "vendor.gitlab-ci": ["examples/ci/gitlab.yml"]}


def scripts(node):
    """Every `run` below a node."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from [value] if name == "run" and isinstance(value, str) else scripts(value)
    elif isinstance(node, list):
        for value in node:
            yield from scripts(value)


class CiFiles(unittest.TestCase):
    def test_schemas(self):
        for schema, paths in FILES.items():
            packaging.run([packaging.TOOLS / "check-jsonschema", "--builtin-schema", schema, *paths], cwd=packaging.ROOT)

    def test_a_wrong_one_is_told(self):
        with self.assertRaisesRegex(AssertionError, "'runs' is a required property"):
            packaging.run([packaging.TOOLS / "check-jsonschema", "--builtin-schema", "vendor.github-actions", "examples/ci/github.yml"],
                          cwd=packaging.ROOT)

    def test_shell_parses_and_takes_no_foreign_text(self):
        count = 0
        for path in [path for paths in FILES.values() for path in paths]:
            for script in scripts(packaging.yaml(path)):
                count += 1
                packaging.run(["bash", "-n", "-c", script])
                self.assertNotIn("${{", script, path)  # a pull request's title could be a command; values come in by the environment
        self.assertGreaterEqual(count, 5)

    def test_the_action_gives_its_shell_every_input(self):
        action = packaging.yaml("action.yml")
        used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", json.dumps(action["runs"])))
        self.assertEqual(used, set(action["inputs"]))
        example = packaging.yaml("examples/ci/github.yml")
        step = next(step for step in example["jobs"]["gate"]["steps"] if step.get("id") == "gate")
        self.assertLessEqual(set(step["with"]), set(action["inputs"]))
        for name, value in action["inputs"].items():
            self.assertTrue("default" in value or name in step["with"], name)

    def test_the_workflow_runs_scripts_that_are_there(self):
        job = packaging.yaml(".github/workflows/tests.yml")["jobs"]["test"]
        for command in job["strategy"]["matrix"]["command"]:
            self.assertTrue(os.access(packaging.ROOT / command.split()[0], os.X_OK), command)
        self.assertIn("scripts/results --check", [step.get("run") for step in job["steps"]])

    def test_containerfile(self):
        text = (packaging.ROOT / "Containerfile").read_text().replace("\\\n", " ")
        instructions = [line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
        self.assertLessEqual({name for name, _ in instructions}, {"FROM", "RUN", "COPY", "ENV", "WORKDIR", "ENTRYPOINT"})
        for name, words in instructions:
            if name == "RUN":
                packaging.run(["bash", "-n", "-c", words])
        self.assertIn("scripts/package wheel --out /packages", text)


if __name__ == "__main__":
    if not os.access(packaging.TOOLS / "check-jsonschema", os.X_OK):
        packaging.skip("no check-jsonschema in build-python; scripts/test installs it")
    unittest.main()
