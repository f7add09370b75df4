#!/usr/bin/env python3
"""The parts of scripts/ that need no GPU: tables, pairs of configurations."""

import contextlib
import csv
import gzip
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.dont_write_bytecode = True
sys.path[:0] = [str(SCRIPTS), str(SCRIPTS / "studies")]

import axis_effect  # noqa: E402
import count_tests  # noqa: E402
import held_out  # noqa: E402
import keep_repeated  # noqa: E402
import limits  # noqa: E402
import package_times  # noqa: E402
import planted_bugs  # noqa: E402
import run_emitted  # noqa: E402
import run_launcher  # noqa: E402


def trial(**changes):
    row = {axis: "-" for axis in axis_effect.AXES} | {column: "-" for column in axis_effect.PROBLEM}
    return row | {"op": "rms_norm", "mode": "forward", "rows": "64", "cols": "128", "outcome": "passed", "rank": "", "limit_ratio": "1.5",
                  "code_hash": "a", "p50_us": "10", "config": "w1"} | changes


class CountTests(unittest.TestCase):
    def printed(self, cases):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, "report.xml")
            report.write_text(f"<testsuite>{cases}</testsuite>")
            out = io.StringIO()
            with unittest.mock.patch.object(sys, "argv", ["count_tests.py", str(report)]), contextlib.redirect_stdout(out):
                status = count_tests.main()
            return status, out.getvalue()

    def test_says_what_was_skipped_and_why(self):
        skipped = '<testcase name="{}" status="notrun"><skipped message="SKIP_RETURN_CODE"/><system-out>{}</system-out></testcase>'
        status, text = self.printed('<testcase name="a" status="run"/><testcase name="b" status="fail"><failure message=""/></testcase>'
                                    + skipped.format("c", "[ RUN ] c\n/x_test.cpp:47: Skipped\nno NVRTC here\n\n[ SKIPPED ] c (0 ms)\n")
                                    + skipped.format("d", "starts\nskipped: slurmd not found\n") + skipped.format("e", ""))
        self.assertEqual(status, 0)
        self.assertEqual(text, "failed: b\nskipped: c: no NVRTC here\nskipped: d: skipped: slurmd not found\n"
                               "skipped: e: SKIP_RETURN_CODE\n1 passed, 1 failed, 3 skipped\n")

    def test_those_of_a_suite_for_one_reason_are_one_line(self):
        skipped = '<testcase name="{}" status="notrun"><skipped/><system-out>/x_test.cpp:47: Skipped\n{}\n</system-out></testcase>'
        text = self.printed(skipped.format("gpu.All/Bugs.Told/a  # GetParam() = 1", "slow") + skipped.format("gpu.All/Bugs.Told/b", "slow")
                            + skipped.format("gpu.All/Bugs.Told/c", "no NVRTC") + skipped.format("gpu.Other.Told", "slow"))[1]
        self.assertEqual(text, "skipped: 2 of gpu.All/Bugs: slow\nskipped: gpu.All/Bugs.Told/c: no NVRTC\nskipped: gpu.Other.Told: slow\n"
                               "0 passed, 0 failed, 4 skipped\n")

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.printed("")[0], 1)

    def test_ci_does_without_nothing(self):
        script = "source scripts/packages.sh; need_packages() { return 1; }; want_packages a-tool"
        for ci, status in (("true", 1), ("", 0)):
            done = subprocess.run(["bash", "-c", script], cwd=SCRIPTS.parent, env={"PATH": "/usr/bin:/bin", "CI": ci}, capture_output=True)
            self.assertEqual(done.returncode, status)
            self.assertIn(b"a-tool could not be installed", done.stderr)

    def test_nor_without_what_comes_from_pypi(self):
        for failing in ("python3() { return 1; }", "python3() { [[ $1 == -m ]] && mkdir -p $3/bin && ln -s /bin/false $3/bin/pip; }"):
            for ci, status in (("true", 1), ("", 0)):
                with tempfile.TemporaryDirectory() as folder:
                    script = f"source scripts/packages.sh; uname() {{ echo x86_64; }}; {failing}; need_triton {folder}/venv"
                    done = subprocess.run(["bash", "-c", script], cwd=SCRIPTS.parent, env={"PATH": "/usr/bin:/bin", "CI": ci}, capture_output=True)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertIn(b"Triton", done.stderr)


def results_script():
    loader = importlib.machinery.SourceFileLoader("results", str(SCRIPTS / "results"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("results", loader))
    loader.exec_module(module)
    return module


class ResultsPages(unittest.TestCase):
    """scripts/results on pages of the test's own, over the shipped files."""

    @classmethod
    def setUpClass(cls):
        cls.script = results_script()
        cls.workplace = cls.script.Workplace()

    @classmethod
    def tearDownClass(cls):
        cls.workplace.close()

    def remade(self, text):
        wrong = []
        with tempfile.TemporaryDirectory(dir=SCRIPTS.parent) as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(text)
            return self.script.remade(page, self.workplace, {}, wrong), wrong

    def test_a_wrong_figure_and_a_wrong_row_are_mended(self):
        command = "scripts/studies/explored.py backward_8192x1024_*.csv"
        made, wrong = self.remade(f"<!-- made by: {command} -->\n| a | 1 |\n<!-- made end -->\nworst <!--=te_615.one_row_worst-->0.2 %<!--/-->.\n")
        self.assertEqual(wrong, [])
        best, of_one_row = {}, {}
        with open(self.workplace.path / "te_615_forward.csv", newline="") as file:
            for row in csv.DictReader(file):
                if row["outcome"] == "passed" and int(row["cols"]) >= 409:
                    problem, us = (row["casting"], row["rows"], row["cols"]), float(row["p50_us"])
                    best[problem] = min(us, best.get(problem, us))
                    if row["rows_per_program"] == "1":
                        of_one_row[problem] = min(us, of_one_row.get(problem, us))
        worst = max(of_one_row[problem] / best[problem] - 1 for problem in best)
        self.assertIn(f"worst <!--=te_615.one_row_worst-->{100 * worst:.1f} %<!--/-->.", made)
        self.assertIn("| backward 8192×1024 | bhint |", made)
        self.assertNotIn("| a | 1 |", made)
        self.assertEqual(self.remade(made), (made, []))

    def test_a_sentence_quotes_cells_of_the_pages_tables(self):
        command = "scripts/studies/explored.py backward_8192x1024_*.csv"
        made, wrong = self.remade(f"<!-- made by: {command} -->\n<!-- made end -->\n"
                                  "<!--=[backward 8192×1024, bhint | measured]-->?<!--/--> <!--=[backward 8192×1024, none | measured]-->?<!--/-->"
                                  " <!--=[backward 8192×1024 | measured]-->?<!--/-->\n")
        row = next(line for line in made.splitlines() if line.startswith("| backward 8192×1024 | bhint |"))
        self.assertIn(f"<!--=[backward 8192×1024, bhint | measured]-->{row.split(' | ')[2]}<!--/-->", made)
        self.assertEqual(len(wrong), 2)
        self.assertRegex(wrong[0], r"0 rows of the page's made tables begin with backward 8192×1024, none and have a column measured")
        self.assertRegex(wrong[1], r"4 rows of the page's made tables begin with backward 8192×1024 and")

    def test_of_two_columns_of_a_name_the_second_has_a_number(self):
        text = "<!-- made by: x -->\n| a | worst | worst |\n|---|--:|--:|\n| b | 1 | 2 |\n<!-- made end -->\n"
        self.assertEqual([self.script.cell(f"b | {name}", text) for name in ("worst", "worst 2")], ["1", "2"])

    def test_what_cannot_be_made_is_told_with_its_line(self):
        text = "one\n<!--=no.such-->1<!--/-->\n<!-- made by: rm -rf x -->\nkept\n<!-- made end -->\n"
        made, wrong = self.remade(text)
        self.assertEqual(made, text)
        self.assertRegex(wrong[0], r"page.md:3: rm -rf x: 'rm' is neither normtune nor a script")
        self.assertRegex(wrong[1], r"page.md:2: figure no.such: .*no figure of that name")

    def test_what_takes_minutes_is_made_only_when_asked_for(self):
        text = "<!-- made slowly by: scripts/studies/explored.py backward_8192x1024_*.csv -->\n| a |\n<!-- made end -->\n"
        with tempfile.TemporaryDirectory(dir=SCRIPTS.parent) as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(text)
            self.assertEqual(self.script.remade(page, self.workplace, {}, [], slow=False), text)
            self.assertIn("| backward 8192×1024 | bhint |", self.script.remade(page, self.workplace, {}, [], slow=True))

    def test_a_benchmark_that_is_not_built_is_told(self):
        made, wrong = self.remade("<!-- made by: build/bin/bench_none -->\n| a |\n<!-- made end -->\n")
        self.assertIn("| a |", made)
        self.assertRegex(wrong[0], r"bench_none: No such file or directory; build it \(benchmarks: NORMTUNE_BENCHMARKS=ON\)")

    def test_a_mark_without_an_end_is_told(self):
        _, wrong = self.remade("<!-- made by: scripts/studies/explored.py a b -->\n| a |\n")
        self.assertRegex(wrong[0], "a mark without its end")

    def test_a_file_that_is_a_commands_output(self):
        command = "scripts/studies/explored.py backward_8192x1024_*.csv"
        with tempfile.TemporaryDirectory(dir=SCRIPTS.parent) as folder:
            page, file = pathlib.Path(folder, "page.md"), pathlib.Path(folder, "table.txt")
            page.write_text(f"<!-- file table.txt made by: {command} -->\n<!-- file other.txt made by: rm x -->\n")
            wrong = []
            [(path, before, after)] = self.script.made_files(page, self.workplace, {}, wrong)
            self.assertEqual((path, before), (file.resolve(), ""))
            self.assertIn("| backward 8192×1024 | bhint |", after)
            self.assertRegex(wrong[0], r"page.md:2: rm x: 'rm' is neither normtune nor a script")
            file.write_text("old")
            [(_, before, again)] = self.script.made_files(page, self.workplace, {}, [])
            self.assertEqual((before, again), ("old", after))

    def test_a_first_cell_may_hold_commas(self):
        text = "<!-- made by: x -->\n| a | b |\n|---|---|\n| c, d | 1 |\n<!-- made end -->\n"
        self.assertEqual(self.script.cell("c, d | b", text), "1")

    def test_a_measured_figure_without_a_mark_is_told(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(self.script, "ROOT", pathlib.Path(folder)):
            page = pathlib.Path(folder, "results/h100/page.md")
            page.parent.mkdir(parents=True)
            page.write_text("<!-- made by: x -->\n| 1.5 µs |\n<!-- made end -->\n`2%` <!--=a-->3 %<!--/-->\n8192×4096\n4.5 µs and\n1.1× or 20 %\n")
            found = self.script.unmarked(page)
            self.assertEqual([line.split(": ")[0] for line in found], [f"results/h100/page.md:{line}" for line in (6, 7, 7)])
            self.assertIn("'4.5 µs' is no figure that a file gives", found[0])
        self.assertEqual([line for page in self.script.pages() for line in self.script.unmarked(page)], [])

    def refused(self, text, listed="| [a page](../docs/page.md#here) |"):
        """{line: what is said} of a page of docs/."""
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(self.script, "ROOT", pathlib.Path(folder)):
            page, readme = pathlib.Path(folder, "docs/page.md"), pathlib.Path(folder, "results/README.md")
            page.parent.mkdir()
            readme.parent.mkdir()
            page.write_text(text)
            readme.write_text(f"# Results\n[a page](../docs/page.md)\n## What is not under the check\n{listed}\n")
            return [line.removeprefix("docs/page.md:") for line in self.script.unmarked(page)]

    def test_docs_say_of_each_figure_what_it_is(self):
        self.assertEqual(self.refused("`a 1 %\n2 %` of 3 % `x` <!-- not measured: 3 % -->\n"), [])
        self.assertEqual(self.refused("<!-- made by: x -->\n| 1.5 µs |\n<!-- made end -->\n`2%` <!--=a-->3 %<!--/-->, two H100s, 8192×4096\n"), [])
        found = self.refused("takes 1 % and 3 ms\n\n| a | b |\n|---|---|\n| x | 1.03 |\n")
        self.assertEqual([line.split(" is ")[0] for line in found], ["1: '1 %'", "1: '3 ms'", "5: '1.03'"])
        self.assertIn("""mark it, link to "What is not under the check" of results/README.md if it was measured and not kept, or name it behind 'not measured:'""", found[0])

    def test_what_is_not_measured_is_named_in_its_passage(self):
        self.assertEqual(self.refused("up to 1 % of\n20 ns <!-- not measured: 1 %, 20 ns -->\n"), [])
        found = self.refused("- 1 % and 2 %  <!-- not measured: 1 %, 4 s -->\n- again 1 %\n\n1 %\n")
        self.assertEqual([line.split(" is ")[0].split(", and")[0] for line in found], ["1: 'not measured: 4 s'", "1: '2 %'", "2: '1 %'", "4: '1 %'"])

    def test_what_was_not_kept_is_linked_to_the_list_and_from_it(self):
        text = "It took 3 µs ([not kept](../results/README.md#what-is-not-under-the-check)):\n\n| a |\n|---|\n| 4 µs |\n\nand 5 µs\n"
        self.assertEqual([line.split(" is ")[0] for line in self.refused(text)], ["7: '5 µs'"])
        self.assertRegex(self.refused(text, "| docs/other.md |")[0], r'^1: figures of no file.*"What is not under the check".*add a row that links to this page')

    def test_a_section_and_a_table_of_an_output(self):
        text = "# A\n\n| x |\ntext\n## B\n| y |\n"
        self.assertEqual(self.script.section(text, "A"), "\n| x |\ntext")
        with self.assertRaisesRegex(self.script.Failed, "no heading 'C'.*A, B"):
            self.script.section(text, "C")


class AxisEffect(unittest.TestCase):
    def test_pairs_differ_in_the_axis_alone(self):
        rows = [trial(reduction="masked", p50_us="10"), trial(reduction="where", p50_us="11", code_hash="b"),
                trial(reduction="masked", num_warps="4", p50_us="8"), trial(reduction="where", num_warps="4", p50_us="9"),
                trial(reduction="where", num_warps="8", p50_us="2")]
        found = axis_effect.effects(rows, "reduction", "masked", ["mode"])
        self.assertEqual(len(found), 1)
        group, value, pairs, same, ratios, best = found[0]
        self.assertEqual((group, value, pairs, same, ratios), (("forward",), "where", 2, 1, [1.1]))
        self.assertAlmostEqual(best, 2 / 8)

    def test_problems_are_not_mixed(self):
        rows = [trial(reduction="masked", cols="128"), trial(reduction="where", cols="256")]
        self.assertEqual(axis_effect.effects(rows, "reduction", "masked", ["mode"]), [])

    def test_the_table_names_each_group_and_reads_compressed_files(self):
        rows = [trial(reduction="masked"), trial(reduction="where", p50_us="12", code_hash="b"), trial(outcome="crashed")]
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/results.csv.gz"
            text = io.StringIO()
            writer = csv.DictWriter(text, rows[0])
            writer.writeheader()
            writer.writerows(rows)
            pathlib.Path(path).write_bytes(gzip.compress(text.getvalue().encode()))
            read = list(axis_effect.passed_rows([path]))
        self.assertEqual(len(read), 2)
        lines = axis_effect.table(axis_effect.effects(read, "reduction", "masked", ["cols"]), "reduction", "masked", ["cols"])
        self.assertIn("| 128 | where | 1 | 0 | 1.200 | 1.200 | 1.200 | 1.200 |", lines)


class Limits(unittest.TestCase):
    def printed(self, rows, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "results.csv")
            with open(path, "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
            out = io.StringIO()
            with unittest.mock.patch.object(sys, "argv", ["limits.py", str(path), *options]), contextlib.redirect_stdout(out):
                self.assertEqual(limits.main(), 0)
            return out.getvalue().splitlines()

    def test_short_kernels_stand_beside_the_floor(self):
        short, other, long = (trial(limit_us="2", provider="normtune", **changes) for changes in (
            {"p50_us": "2.5", "floor_us": "0.811", "rank": "1"}, {"p50_us": "2.6", "floor_us": "0.9", "rank": "2", "gamma": "before"},
            {"rows": "128", "p50_us": "10", "floor_us": "1.2", "rank": "1"}))
        self.assertEqual(self.printed([short, other, long]), [
            "| op, mode, M×N | µs (times the copy's) | floor | configuration |", "|---|---|---|---|",
            "| forward 64×128 | 2.50 (1.50) | 0.81 | `w1` |", "| forward 128×128 | 10.00 (1.50) |  | `w1` |"])
        self.assertEqual(self.printed([short, other], "--best-by", "gamma"), [
            "| op, mode, M×N | gamma - | gamma before | floor |", "|---|---|---|---|", "| forward 64×128 | 2.50 (1.50) | 2.60 (1.50) | 0.81 |"])
        self.assertEqual(self.printed([long], "--best-by", "gamma"), [
            "| op, mode, M×N | gamma - |", "|---|---|", "| forward 128×128 | 10.00 (1.50) |"])


class KeepRepeated(unittest.TestCase):
    def keep(self, revisions):
        """Exit code, what was complained of, and the files."""
        with tempfile.TemporaryDirectory() as folder:
            for number, revision in enumerate(revisions, 1):
                sweep = pathlib.Path(folder, "run", f"sweep-{number}")
                sweep.mkdir(parents=True)
                (sweep / "results.json").write_text(json.dumps({
                    "schema_version": 1, "environment": {"source_revision": revision}, "command": ["/x/normtune", "selfcheck", "--out", "/x/run"], "selection": {},
                    "plans": [1], "records": [{"outcome": "passed", "number": number, "compile": {"code_hash": "a"}, "verification": {}}]}))
            said = io.StringIO()
            with unittest.mock.patch.object(sys, "argv", ["keep_repeated.py", f"{folder}/run", f"{folder}/kept"]), contextlib.redirect_stderr(said):
                code = keep_repeated.main()
            return code, said.getvalue(), {path.name: json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("kept/*"))}

    def test_keeps_what_judging_reads_in_the_order_of_the_sweeps(self):
        code, said, files = self.keep(["1a"] * 11)
        self.assertEqual((code, said, list(files)), (0, "", [f"sweep-{n:02}.json" for n in range(1, 12)]))
        self.assertEqual(files["sweep-10.json"], {"schema_version": 1, "environment": {"source_revision": "1a"}, "plans": [],
                                                  "command": ["normtune", "selfcheck", "--out", "measured/kept"], "records": [{"outcome": "passed", "number": 10}]})

    def test_refuses_what_no_one_commit_measured(self):
        for revisions, words in (([], "holds no sweeps"), (["1a", "2b"], "of revisions 1a, 2b"), (["1a-dirty"], "of revisions 1a-dirty")):
            code, said, files = self.keep(revisions)
            self.assertEqual((code, said.count("\n"), files), (2, 1, {}))
            self.assertIn(words, said)


class HeldOut(unittest.TestCase):
    def test_folds_count_by_their_shapes(self):
        def summary(judged, mean, worst):
            return {"shapes": 4, "judged": judged, "mean_loss": mean, "worst_loss": worst}
        self.assertIsNone(held_out.together([summary(0, None, None)]))
        count, mean, worst = held_out.together([summary(3, 0.0, 0.0), summary(1, 0.1, 0.1), summary(0, None, None)])
        self.assertEqual((count, worst), (4, 0.1))
        self.assertAlmostEqual(mean, 1.1 ** 0.25 - 1)


class PlantedBugs(unittest.TestCase):
    def test_each_warp_of_a_race_has_columns(self):
        for cols in {int(shape.split("x")[1]) for shape in planted_bugs.PLANTED["shapes"]}:
            key = planted_bugs.configuration("race", cols)
            parts = dict(re.findall(r"\b([tv])(\d+)\b", key))
            threads, elements = int(parts["t"]), int(parts.get("v", 16)) // 2
            self.assertGreater(threads, 32, key)
            self.assertLess((threads - 32) * elements, cols, key)


    def test_a_bug_that_does_not_compile_is_not_told(self):
        for outcome, status in (("incorrect", 0), ("passed", 1), ("compile_failed", 1), ("timed_out", 1)):
            def verify(arguments, work, shape, bugs, outcome=outcome):
                right = {f"right_{kind}_kernel": ("passed", "") for kind in planted_bugs.KINDS}
                return {bug["name"]: ("incorrect", "") for bug in bugs} | right | {bugs[0]["name"]: (outcome, "")}
            out = io.StringIO()
            with unittest.mock.patch.object(planted_bugs, "verify_shape", verify), unittest.mock.patch.object(sys, "argv", ["planted_bugs.py"]), \
                    contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(planted_bugs.main(), status, outcome)
            if status == 1:
                self.assertIn(f"{len(planted_bugs.PLANTED['shapes'])} not told", out.getvalue())


NORMTUNE_STAND_IN = """#!{python}
import json, pathlib, sys
words, out = sys.argv[1:], pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
if words[0] == "sweep":
    assert "cols: 1024, rows_per_token: 128" in pathlib.Path(words[words.index("--shapes") + 1]).read_text()
    out.mkdir()
    (out / "results.json").write_text(json.dumps({{"environment": {{"source_revision": "abc", "device": {{"name": "G", "uuid": "GPU-1", "driver": "1, 2"}}}}}}))
else:
    (out / "normtune_kernels").mkdir(parents=True)
    (out / "normtune_kernels" / "bench.py").write_text({bench!r})
"""
BENCH_STAND_IN = """import pathlib, sys
rows = ["rows,cols,dtype,mode,device_us,pytorch_us,empty_us,sweep_us,sweep_empty_us"]
for shape in sys.argv[sys.argv.index("--shapes") + 1].split(","):
    m, n = shape.split("x")
    rows += [f"{m},{n},bf16,forward,1.64,5,0.52,1.66,0.55", f"{m},{n},bf16,backward,2.0,5,0.52,%s,0.55"]
pathlib.Path(sys.argv[sys.argv.index("--csv") + 1]).write_text("\\n".join(rows) + "\\n")
"""


class PackageTimes(unittest.TestCase):
    def measured(self, backward_us="2.0"):
        with tempfile.TemporaryDirectory() as folder:
            work, out = pathlib.Path(folder), io.StringIO()
            normtune = work / "normtune"
            normtune.write_text(NORMTUNE_STAND_IN.format(python=sys.executable, bench=BENCH_STAND_IN.replace("\\\\n", "\\n") % backward_us))
            normtune.chmod(0o755)
            words = ["package_times.py", "--normtune", str(normtune), "--shapes", "128x1024,8192x1024", "--runs", "2", "--out", str(work / "times.csv")]
            with unittest.mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(out):
                status = package_times.main()
            again = io.StringIO()
            with unittest.mock.patch.object(sys, "argv", ["package_times.py", "--from", str(work / "times.csv")]), contextlib.redirect_stdout(again):
                package_times.main()
            with open(work / "times.csv", newline="") as table:
                return status, out.getvalue(), again.getvalue(), list(csv.DictReader(table))

    def test_each_run_has_its_sweep_and_its_package(self):
        status, text, again, rows = self.measured()
        self.assertEqual((status, text), (0, again))
        self.assertEqual(len(rows), 8)
        self.assertEqual([rows[0][column] for column in ("revision", "device_id", "run", "rows", "mode", "sweep_us", "package_us")],
                         ["abc", "GPU-1", "1", "128", "forward", "1.66", "1.64"])
        self.assertIn("| 128×1024 | forward | 1.66, 1.64; 1.66, 1.64 | -1.2 %, -1.2 % | -1.2 % | 0.0 % |", text)
        self.assertIn("Within 1 %: 4 of 8 times; in the mean of 2 runs 2 of 4.", text)

    def test_a_time_that_the_sweep_has_not_is_a_failure(self):
        status, text, _, rows = self.measured(backward_us="")
        self.assertEqual((status, len(rows)), (1, 4))
        self.assertNotIn("backward", text)


class RunEmitted(unittest.TestCase):
    def test_a_problem_key_tells_what_to_check(self):
        problem = run_emitted.parse_problem("fused_add_rms_norm/full/bf16/gemma/64x128/offset1")
        self.assertTrue(problem["fused"])
        self.assertEqual((problem["mode"], problem["casting"], problem["offset"], problem["in_place"]), ("full", "gemma", 1, False))

    def test_what_is_missing_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            whole, broken, other = folder / "whole", folder / "broken", folder / "other"
            emitted = dict.fromkeys(run_emitted.EMITTED, [])
            for made, text in ((whole, json.dumps(emitted)), (broken, '{"launches":'), (other, '{"claims": {}, "launches": []}')):
                made.mkdir()
                (made / "launch.json").write_text(text)
            for given, told in ((folder / "none", f"{folder}/none: has no launch.json"), (folder, f"{folder}: has no launch.json"),
                                (broken, f"{broken}: has no launch.json"), (other, f"{other}: its launch.json is not one"), (whole, "PyTorch and CuPy (torch, cupy) are needed")):
                said = io.StringIO()
                with unittest.mock.patch.object(sys, "argv", ["run_emitted.py", str(given)]), contextlib.redirect_stderr(said), \
                        unittest.mock.patch.dict(sys.modules, {"cupy": None}):
                    self.assertEqual(run_emitted.main(), 2)
                self.assertTrue(said.getvalue().startswith(told) and said.getvalue().count("\n") == 1, said.getvalue())

    def test_clusters_are_refused(self):
        for cluster, told in (({"cluster": [2, 1, 1]}, True), ({"cluster": [1, 1, 1]}, False), ({}, False)):
            self.assertEqual(run_emitted.in_clusters({"launches": [{}, cluster]}), told)
        with tempfile.TemporaryDirectory() as folder:
            emitted = dict.fromkeys(run_emitted.EMITTED, []) | {"launches": [{"cluster": [2, 1, 1]}]}
            pathlib.Path(folder, "launch.json").write_text(json.dumps(emitted))
            said = io.StringIO()
            with unittest.mock.patch.object(sys, "argv", ["run_emitted.py", folder]), contextlib.redirect_stderr(said):
                self.assertEqual(run_emitted.main(), 2)
            self.assertEqual(said.getvalue(), f"{folder}: has a kernel that is launched in clusters, which CuPy knows no word for\n")


class RunLauncher(unittest.TestCase):
    def test_where_another_provider_won_there_is_no_launch(self):
        def winner(rows, **more):
            return {"problem": {"mode": "forward", "rows": rows, "key": f"rms_norm/forward/bf16/llama/{rows}x4096"}, **more}
        found = {"runs": [{"winners": [winner(8, configuration={"key": "w4"}), winner(16, provider="liger")]}]}
        with unittest.mock.patch.object(run_launcher, "output", return_value=json.dumps(found)):
            self.assertEqual(run_launcher.winners("normtune", ".", 4096), {("forward", 8): {"key": "w4"}})


if __name__ == "__main__":
    unittest.main()
