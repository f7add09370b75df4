#!/usr/bin/env python3
"""Pages of `normtune report` in a real browser: they show what the results say, sort and filter it, open soon, and fit a phone."""

import argparse
import copy
import json
import math
import shutil
import sys

import browser
import harness
import history_test

SKIP = 77
SWEEP = ("normtune sweep --strategy exhaustive --shapes shapes.yaml --space space.yaml --backend replay --replay-script {} --quiet --out {}"
         " >/dev/null")
MANY = 20_000
# A page of so many trials is ready in about 0.5 s on an idle machine; a loaded one takes long.
MOST_READY_MS = 20_000

ROWS = """[...document.querySelectorAll('#data-table tbody tr')].map((line) => ({
  row: Number(line.dataset.row), cells: [...line.children].map((cell) => cell.title || cell.textContent)}))"""
COUNT = "document.getElementById('data-count').textContent"
TITLES = """[...document.querySelectorAll('#limit figure svg')].map((svg) =>
  [...svg.querySelectorAll('circle.c0 > title')].map((title) => title.textContent))"""


class Checks:
    def __init__(self, page, folder):
        self.page = page
        self.folder = folder
        self.faults = []

    def check(self, good, what):
        if not good:
            self.faults.append(what)

    def open(self, file, state=""):
        self.page.open(f"file://{self.folder.work}/{file}#{state}")

    def near(self, shown, value):
        return math.isclose(float(shown), value, rel_tol=1e-5)

    def the_table_has_the_trials(self, records):
        self.open("run.html", "sort=p50_us&dir=asc")
        columns = self.page.evaluate("[...document.querySelectorAll('#data-table thead th')].map((th) => th.dataset.column)")
        place = {name: i for i, name in enumerate(columns, 1)}
        rows = self.page.evaluate(ROWS)
        timed = sorted((r for r in records if r.get("measurement")), key=lambda r: r["measurement"]["p50_us"])
        self.check(len(rows) == min(50, len(records)), f"{len(rows)} rows are shown of {len(records)}")
        for shown in rows[: len(timed)]:
            record = records[shown["row"]]
            cell = {name: shown["cells"][i] for name, i in place.items()}
            self.check(cell["problem"] == record["problem"]["key"], f"problem {cell['problem']}")
            self.check(cell["outcome"] == record["outcome"], f"outcome {cell['outcome']}")
            for name in ("p20_us", "p50_us", "p80_us", "gbps", "limit_ratio", "floor_us"):
                value = record["measurement"][name]
                self.check(self.near(cell[name], value) if value > 0 else cell[name] == "–", f"{name}: {cell[name]}, not {value}")
        shown = [float(row["cells"][place["p50_us"]]) for row in rows[: len(timed)]]
        self.check(shown == sorted(shown), "the rows are not sorted by p50")
        return place, timed

    def it_sorts(self, place, timed):
        button = "document.querySelector('th[data-column=p50_us] button')"
        self.page.evaluate(button + ".click()")
        rows = self.page.evaluate(ROWS)
        self.check(self.near(rows[0]["cells"][place["p50_us"]], timed[-1]["measurement"]["p50_us"]), "a click does not turn the order")
        aria = self.page.evaluate("document.querySelector('th[data-column=p50_us]').getAttribute('aria-sort')")
        self.check(aria == "descending", f"aria-sort is {aria}")
        self.page.evaluate(button + ".focus()")
        self.page.press("Enter")
        rows = self.page.evaluate(ROWS)
        self.check(self.near(rows[0]["cells"][place["p50_us"]], timed[0]["measurement"]["p50_us"]), "Enter on a heading does not sort")
        self.check("dir=asc" in self.page.evaluate("location.hash"), "the address does not say how it is sorted")

    def it_filters(self, records, timed):
        def six_digits(record):
            return float(f"{record['measurement']['p50_us']:.6g}")

        middle = six_digits(timed[len(timed) // 2])
        key = timed[0]["problem"]["key"]
        for state, wanted in (
            (f"q=p50_us%3C{middle}", sum(six_digits(r) < middle for r in timed)),
            (f"problem={key.replace('/', '%2F')}", sum(r["problem"]["key"] == key for r in records)),
            ("q=no_such_word", 0),
        ):
            self.open("run.html", state)
            text = self.page.evaluate(COUNT)
            self.check(f" of {wanted} found" in text or (wanted == 0 and text.startswith("None")), f"{state}: {text}, not {wanted}")
        self.page.evaluate("(() => { const f = document.getElementById('data-find'); f.value = ''; f.dispatchEvent(new Event('input')); })()")
        self.check(self.page.evaluate(COUNT).endswith(f"of {len(records)}"), "an empty search does not find all")

    def a_row_says_how_to_repeat_it(self, records):
        self.open("run.html")
        self.page.evaluate("document.querySelector('#data-table tbody button').click()")
        row = self.page.evaluate(ROWS)[0]["row"]
        line = self.page.evaluate("[...document.querySelectorAll('tr.more code')].at(-1).textContent")
        self.check(line == records[row]["repeat"], f"repeat line: {line}")

    def plots_have_the_values(self, records):
        titles = [title for panel in self.page.evaluate(TITLES) for title in panel]
        winners = [r for r in records if r.get("measurement", {}).get("rank") == 1]
        shown = {(title.split(", ")[1].split(":")[0], title.split(": ")[1].split(" ")[0]) for title in titles}
        for record in winners:
            m = record["measurement"]
            where = f"{record['problem']['rows']}×{record['problem']['cols']}"
            near = [value for shape, value in shown if shape == where and abs(float(value) - m["limit_ratio"]) < 0.006 * m["limit_ratio"]]
            self.check(near, f"the plot lacks {where} at {m['limit_ratio']}: {sorted(shown)}")

    def it_can_be_used_by_all(self):
        for file in ("run.html", "changes.html", "trend.html"):
            self.open(file)
            self.check(self.page.evaluate("[...document.querySelectorAll('table')].every((t) => t.caption && t.querySelector('th[scope]'))"),
                       f"{file}: a table without a caption or headings")
            self.check(self.page.evaluate("[...document.querySelectorAll('svg[role=img]')].every((s) => s.querySelector('title, desc'))"),
                       f"{file}: a picture without a title")
            self.check(self.page.evaluate("[...document.querySelectorAll('input, select')].every((e) => e.labels.length > 0)"),
                       f"{file}: an input without a label")
            ids = self.page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
            self.check(len(ids) == len(set(ids)), f"{file}: an id twice")
            for width in (360, 1280):
                self.page.width(width)
                over = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                self.check(over <= 0, f"{file}: {over} pixels too wide for {width}")
            self.page.evaluate("document.activeElement.blur()")
            self.page.press("Tab")
            self.check(self.page.evaluate("document.activeElement.matches('nav a')"), f"{file}: Tab does not reach the sections")

    def rounds_are_chosen(self):
        self.open("run.html")
        wanted = self.page.evaluate("""(() => { const s = document.querySelector('select[data-chooses=rounds]');
            s.selectedIndex = s.options.length - 1; s.dispatchEvent(new Event('change')); return s.value; })()""")
        shown = self.page.evaluate("[...document.querySelectorAll('#rounds-choice > :not([hidden])')].map((e) => e.dataset.panel)")
        self.check(shown == [wanted], f"chose {wanted}, shown are {shown}")

    def two_results_are_compared(self):
        comparison = json.loads(self.folder.run("normtune compare run again --format json").stdout)
        self.open("changes.html", "sort=change&dir=desc")
        rows = self.page.evaluate(ROWS)
        pairs = sorted((p for p in comparison["pairs"] if p["ratio"]), key=lambda p: -p["ratio"])
        self.check(rows and pairs, "no pairs")
        for shown, pair in zip(rows, pairs):
            change = (pair["ratio"] - 1) * 100
            self.check(math.isclose(float(shown["cells"][5]), change, rel_tol=1e-5), f"change {shown['cells'][5]}, not {change}")

    def a_history_is_drawn(self):
        """40 nights: from the 13th on a floor that is 0.2 µs higher, from the 26th on other code that is 5% slower."""
        sweep = json.loads(history_test.SWEEP.read_text())
        for number in range(40):
            night = history_test.night(sweep, number, 1.05 if number >= 25 else 1.0)
            for record in night["records"]:
                for name in ("p20_us", "p50_us", "p80_us", "floor_us"):
                    record["measurement"][name] += 0.2 if number >= 12 else 0
            (self.folder.work / f"night{number:02}.json").write_text(json.dumps(night))
        made = self.folder.run("normtune history add night*.json && normtune history trend --format html -o trend.html")
        self.check(made.returncode == 1 and (self.folder.work / "trend.html").exists(), f"no page of a regression: {made.stderr.decode()}")
        trend = json.loads(self.folder.run("normtune history trend --format json").stdout)
        self.open("trend.html")
        panels = {it["panel"]: it for it in self.page.evaluate("""[...document.querySelectorAll('#series figure')].map((f) => ({
          panel: f.dataset.panel, events: [...f.querySelectorAll('svg .z title')].map((t) => t.textContent),
          marks: [...f.querySelectorAll('svg circle > title')].map((t) => t.textContent),
          cells: [...f.querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => c.textContent))}))""")}
        self.check(len(panels) == 3 * len(trend["series"]), f"panels: {list(panels)}")
        changes = []
        for series in trend["series"]:
            name = f"{series['problem']} {series['configuration']}"
            shown = panels.get(name + ": p50", {"events": [], "marks": [], "cells": []})
            self.check(len(shown["cells"]) == len(shown["marks"]) == len(series["runs"]), f"{name}: {len(shown['marks'])} marks")
            for cells, mark, run, p50 in zip(shown["cells"], shown["marks"], series["runs"], series["p50_us"]):
                started = trend["runs"][run]["started"]
                self.check(cells[0] == started and self.near(cells[2], p50), f"{name}: {cells}, not {p50} on {started}")
                self.check(mark.startswith(f"p50, {started}: ") and self.near(mark.split("Z: ")[1].split(" ")[0], p50), f"{name}: {mark}")
            wanted = [(" or ".join(c["causes"]), f"{(c['ratio'] - 1) * 100:+.2f}%", f"({(c['low'] - 1) * 100:+.2f}% … {(c['high'] - 1) * 100:+.2f}%)")
                      for c in series["changes"]]
            self.check(shown["events"] == [f"{cause}: {size} {interval}" for cause, size, interval in wanted], f"{name}: {shown['events']}, not {wanted}")
            changes += [(trend["runs"][c["run"]]["started"][:10], f"{(c['ratio'] - 1) * 100:+.2f}%", name) for c in series["changes"]]
        rows = self.page.evaluate("[...document.querySelectorAll('#changes tbody tr')].map((r) => [...r.children].map((c) => c.textContent))")
        self.check(changes and sorted((r[0], r[1], r[5]) for r in rows) == sorted(changes), f"changes: {rows}, not {changes}")

    def many_trials_open_soon(self, results):
        template = next(r for r in results["records"] if r.get("measurement") and "configuration" in r)
        parts = template["configuration"]["key"].split(".")
        records = []
        for i in range(MANY):
            record = copy.deepcopy(template)
            problem, rows = divmod(i, 100)
            rows += 1
            record["problem"].update(rows=problem + 1, cols=1024, row_stride=1024, key=f"rms_norm/forward/bf16/llama/{problem + 1}x1024")
            record["configuration"]["rows_per_program"] = rows
            record["configuration"]["key"] = ".".join(f"r{rows}" if p[0] == "r" and p[1:].isdigit() else p for p in parts)
            time = 10 + i / 1000
            record["measurement"].update(rank=1 if rows == 1 else 0, tied=False, p20_us=time, p50_us=time, p80_us=time, final_rounds_us=[])
            records.append(record)
        (self.folder.work / "many.json").write_text(json.dumps({**results, "records": records}))
        made = self.folder.run("normtune report many.json -o many.html")
        if made.returncode != 0:
            self.faults.append(f"no page of many trials: {made.stderr.decode()}")
            return
        self.open("many.html")
        ready = int(self.page.evaluate("document.documentElement.dataset.readyMs"))
        size = (self.folder.work / "many.html").stat().st_size
        print(f"{MANY} trials: {size / 1e6:.1f} MB, ready after {ready} ms")
        self.check(ready < MOST_READY_MS, f"{MANY} trials are ready after {ready} ms")
        self.check("20,000" in self.page.evaluate(COUNT), "not all of many trials are there")


def pictures(checks):
    ended = checks.folder.run("set -o pipefail; normtune report run -o - | true && normtune report run --format svg -o - | true")
    checks.check(ended.returncode == 0 and not ended.stderr, f"a reader that went away: {ended.stderr.decode()}")
    svg = checks.folder.run("normtune report run --format svg --plot limit -o - | python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.stdin)'")
    checks.check(svg.returncode == 0 and not svg.stderr, f"the SVG is no XML: {svg.stderr.decode()}")
    without = checks.folder.run("PATH=${PATH%%:*} normtune report run --format png -o no.png")
    checks.check(without.returncode == 2 and b"librsvg2-bin" in without.stderr, f"without rsvg-convert: {without.stderr.decode()}")
    checks.check(not (checks.folder.work / "no.png").exists(), "a picture is left of nothing")
    if shutil.which("rsvg-convert"):
        png = checks.folder.run("normtune report run --format png -o run.png && head -c 8 run.png")
        checks.check(png.stdout == b"\x89PNG\r\n\x1a\n", f"PNG: {png.stderr.decode()}")
    else:
        print("rsvg-convert is not installed: no PNG is made")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    program = browser.find()
    if program is None:
        print("chromium is not installed")
        return SKIP
    with harness.Folder(arguments.normtune) as folder:
        made = folder.run(SWEEP.format("replay.yaml", "run") + ";" + SWEEP.format("replay_slower.yaml", "again") +
                          "; normtune report run -o run.html && normtune report run again -o changes.html")
        if made.returncode != 0:
            print(made.stderr.decode())
            return 1
        results = json.loads((folder.work / "run" / "results.json").read_text())
        records = results["records"]
        page = browser.Browser(program)
        try:
            checks = Checks(page, folder)
            place, timed = checks.the_table_has_the_trials(records)
            checks.it_sorts(place, timed)
            checks.it_filters(records, timed)
            checks.a_row_says_how_to_repeat_it(records)
            checks.plots_have_the_values(records)
            checks.rounds_are_chosen()
            checks.two_results_are_compared()
            checks.a_history_is_drawn()
            checks.it_can_be_used_by_all()
            checks.many_trials_open_soon(results)
            pictures(checks)
            checks.check(not page.complaints, f"the browser complains: {page.complaints}")
        finally:
            page.close()
    print("\n".join(checks.faults))
    return 1 if checks.faults else 0


if __name__ == "__main__":
    sys.exit(main())
