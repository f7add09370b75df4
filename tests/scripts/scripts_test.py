#!/usr/bin/env python3
"""The parts of scripts/ that need no GPU: columns, tables, pairs of configurations."""

import csv
import gzip
import io
import pathlib
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.dont_write_bytecode = True
sys.path[:0] = [str(SCRIPTS), str(SCRIPTS / "peers"), str(SCRIPTS / "studies")]

import axis_effect  # noqa: E402
import columns  # noqa: E402
import held_out  # noqa: E402
import run_emitted  # noqa: E402
import table as peers_table  # noqa: E402


def trial(**changes):
    row = {axis: "-" for axis in axis_effect.AXES} | {column: "-" for column in axis_effect.PROBLEM}
    return row | {"op": "rms_norm", "mode": "forward", "rows": "64", "cols": "128", "outcome": "passed", "rank": "", "limit_ratio": "1.5",
                  "code_hash": "a", "p50_us": "10", "config": "w1"} | changes


class Columns(unittest.TestCase):
    def test_shapes(self):
        self.assertEqual(columns.parse_shape("8192x4096"), (8192, 4096))
        for wrong in ("8192", "8192x", "x4096", "0x4096", "8192x-1", "8192x4096x1"):
            with self.assertRaisesRegex(SystemExit, "ROWSxCOLS"):
                columns.parse_shape(wrong)

    def test_quantiles_lie_between_samples(self):
        self.assertEqual(columns.quantiles([float(n) for n in range(11)]), (2.0, 5.0, 8.0))
        self.assertEqual(columns.quantiles([3.0]), (3.0, 3.0, 3.0))

    def test_a_row_has_every_column_and_milliseconds(self):
        row = columns.row("rms_norm", "liger", "forward", 8192, 4096, "bfloat16", 1e-6, [1000.0, 2000.0, 3000.0], "H100", "now", "1")
        named = dict(zip(columns.HEADER, row, strict=True))
        self.assertEqual((named["y_value_50"], named["metric_unit"], named["x_value"]), ("2.0000000", "ms", 4096))


class PeersTable(unittest.TestCase):
    def test_the_fastest_peer_over_the_winner(self):
        with tempfile.TemporaryDirectory() as folder:
            results, peers = pathlib.Path(folder, "results.csv"), pathlib.Path(folder, "peers.csv")
            rows = [trial(rank="2", p50_us="8"), trial(rank="1", p50_us="10"), trial(outcome="incorrect", p50_us="1")]
            with open(results, "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
            with open(peers, "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(columns.HEADER)
                for name, us in (("slow", 40.0), ("fast", 15.0), ("copy", 5.0)):
                    writer.writerow(columns.row("rms_norm", name, "forward", 64, 128, "bfloat16", 1e-6, [us], "H100", "now", "1"))
            lines = peers_table.table(peers_table.best_of_normtune(results), peers_table.peers_of(peers))
        self.assertIn("| rms_norm | forward | 64×128 | 10.00 | 1.50 | 15.00 | 40.00 | 1.50× |", lines)
        self.assertEqual(lines[-1], "rms_norm forward: geometric mean 1.50× the fastest peer, least 1.50×, over 1 shapes.")


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


class HeldOut(unittest.TestCase):
    def test_folds_count_by_their_shapes(self):
        def summary(judged, mean, worst):
            return {"shapes": 4, "judged": judged, "mean_loss": mean, "worst_loss": worst}
        self.assertIsNone(held_out.together([summary(0, None, None)]))
        count, mean, worst = held_out.together([summary(3, 0.0, 0.0), summary(1, 0.1, 0.1), summary(0, None, None)])
        self.assertEqual((count, worst), (4, 0.1))
        self.assertAlmostEqual(mean, 1.1 ** 0.25 - 1)


class RunEmitted(unittest.TestCase):
    def test_a_problem_key_tells_what_to_check(self):
        problem = run_emitted.parse_problem("fused_add_rms_norm/full/bf16/gemma/64x128/offset1")
        self.assertTrue(problem["fused"])
        self.assertEqual((problem["mode"], problem["casting"], problem["offset"], problem["in_place"]), ("full", "gemma", 1, False))


if __name__ == "__main__":
    unittest.main()
