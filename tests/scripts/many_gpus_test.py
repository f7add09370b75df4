#!/usr/bin/env python3
"""scripts/many_gpus on replay devices: the table has a row a count, and as many devices had trials."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

NORMTUNE = sys.argv.pop(1)
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "many_gpus"


class ManyGpus(unittest.TestCase):
    def run_script(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            replay = pathlib.Path(folder, "replay.yaml")
            replay.write_text("devices: 2\ndelays: {open_ms: 50, sample_ms: 1}\n")
            return subprocess.run([SCRIPT, "--normtune", NORMTUNE, "--repeat", "1", *words, "--", "--backend", "replay", "--replay-script", replay,
                                   "--shapes", "qwen3", "--model", "Qwen3-8B", "--tokens", "1,2", "--mode", "forward", "--space", "quick"],
                                  capture_output=True, text=True, check=False, timeout=50)

    def test_one_and_two_devices(self):
        done = self.run_script("--counts", "1,2")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split("|")[1:3] for line in done.stdout.splitlines() if line.startswith(("| 1 ", "| 2 "))]
        self.assertEqual([[cell.strip() for cell in row] for row in rows], [["1", "1"], ["2", "2"]])

    def test_too_little_gained_is_told(self):
        self.assertEqual(self.run_script("--counts", "1,2", "--least", "50").returncode, 1)

    def test_a_device_that_is_not_there_is_told(self):
        done = self.run_script("--counts", "1,3")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("there is no replay device 2", done.stderr)


if __name__ == "__main__":
    unittest.main()
