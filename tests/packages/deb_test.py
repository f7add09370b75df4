#!/usr/bin/env python3
"""The .deb: lintian takes it, it is installed below a folder, runs there, has whole pages and completions, and is removed; and `cmake --install`."""

import gzip
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import packaging

BUILD = packaging.build_folder()
# Of packages on their way into Debian: the first upload closes a bug report.
NOT_FOR_US = "initial-upload-closes-no-bugs"


class Deb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name, "root")
        (cls.root / "var" / "lib" / "dpkg").mkdir(parents=True)
        cls.deb = packaging.package("deb", BUILD, pathlib.Path(cls.folder.name, "packages"))
        cls.dpkg("--install", cls.deb)

    @classmethod
    def dpkg(cls, *words):
        # What it depends on is of the machine, not of the folder.
        environment = os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
        packaging.run(["dpkg", f"--root={cls.root}", "--force-depends", "--force-not-root", *words], env=environment)

    def installed(self, pattern):
        return sorted(path for path in (self.root / "usr").glob(pattern))

    def test_lintian_says_nothing(self):
        lintian = ["lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags", NOT_FOR_US]
        self.assertEqual(packaging.run([*lintian, self.deb]), "")

    def test_the_executable_is_that_of_the_build(self):
        executable = self.root / "usr/bin/normtune"
        self.assertEqual(packaging.run([executable, "--version"]), packaging.run([BUILD / "bin/normtune", "--version"]))
        self.assertIn("cpu", packaging.run([executable, "devices"]))

    def test_it_depends_on_what_it_links(self):
        depends = packaging.run(["dpkg-deb", "--field", self.deb, "Depends"])
        names = [re.match(r"\S+", part.strip())[0] for part in depends.split(",")]
        self.assertLessEqual({"libc6", "libmuparser2v5", "libsimdjson14", "libstdc++6"}, set(names))
        packaging.run(["dpkg-query", "--show", *names])
        self.assertNotIn("RPATH", packaging.run(["readelf", "--dynamic", self.root / "usr/bin/normtune"]).replace("RUNPATH", "RPATH"))

    def test_a_page_for_every_program_and_command(self):
        pages = {path.name.removesuffix(".1.gz") for path in self.installed("share/man/man1/*.1.gz")}
        overview = packaging.run([BUILD / "bin/normtune", "--help"]).split("Commands:\n")[1].split("\n\n")[0]
        commands = {f"normtune-{line.split()[0]}" for line in overview.splitlines() if not line.startswith("   ")}
        self.assertEqual(pages, commands | {path.name for path in self.installed("bin/*")})
        for path in self.installed("share/man/man1/*.1.gz"):
            page = pathlib.Path(self.folder.name, path.stem)
            page.write_bytes(gzip.decompress(path.read_bytes()))
            self.assertEqual(packaging.run(["groff", "-ww", "-K", "utf8", "-T", "utf8", "-man", "-z", page]), "", path)

    def test_completions(self):
        packaging.run(["bash", "-n", self.root / "usr/share/bash-completion/completions/normtune"])
        completion = self.root / "usr/share/zsh/vendor-completions/_normtune"
        self.assertTrue(completion.read_text().startswith("#compdef normtune\n"))
        if shutil.which("zsh"):
            packaging.run(["zsh", "-n", completion])
        completion = self.root / "usr/share/fish/vendor_completions.d/normtune.fish"
        self.assertIn("complete -c normtune", completion.read_text())
        if shutil.which("fish"):
            packaging.run(["fish", "--no-execute", completion])

    def test_what_goes_with_it(self):
        for place in ("share/normtune/schemas/results.schema.json", "share/normtune/configs/gates/default.yaml", "bin/normtune-ci-gate",
                      "lib/normtune/worker/libnormtune_worker.so", "share/normtune/python/normtune_provider/worker.py",
                      "share/doc/normtune/README.md", "share/doc/normtune/docs/ci.md", "share/doc/normtune/examples/cuda_forward"):
            self.assertTrue((self.root / "usr" / place).exists(), place)
        with gzip.open(self.root / "usr/share/doc/normtune/changelog.gz", "rt") as file:
            self.assertEqual(file.readline(), "# Changelog\n")
        licences = (self.root / "usr/share/doc/normtune/copyright").read_text()
        for name in packaging.STATIC_LIBRARIES:
            self.assertIn(f"==== {name} ", licences)
        self.assertNotIn("libmuparser", licences)  # a package of its own

    def test_cmake_install_brings_its_libraries_along(self):
        prefix = pathlib.Path(self.folder.name, "prefix")
        packaging.run(["cmake", "--install", BUILD, "--prefix", prefix])
        libraries = packaging.run(["ldd", prefix / "bin/normtune"])
        for name in ("libmuparser.so.2", "libsimdjson.so.14"):
            self.assertIn(f"{name} => {prefix}", libraries)
        self.assertTrue((prefix / "share/man/man1/normtune-sweep.1").is_file())
        self.assertFalse((prefix / "normtune").exists())  # the wheel's

    def test_zz_removed_it_leaves_nothing(self):  # the last by its name
        self.dpkg("--purge", "normtune")
        self.assertEqual(self.installed("**/*normtune*"), [])


if __name__ == "__main__":
    for tool in ("lintian", "groff", "dpkg-deb", "cpack"):
        if not shutil.which(tool):
            packaging.skip(f"there is no {tool}; scripts/test installs it")
    unittest.main()
