#!/usr/bin/env python3
"""What the ladder of the least expected time, and the rules of thumb, lose over token histograms: `normtune fit --traffic` for each, as a
markdown table. NORMTUNE names the executable.

    scripts/studies/traffic.py RESULTS... --traffic FILE... [--model PATTERN] [--mode MODE] [--most-steps N]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys


def percent(share):
    return f"{100 * share:.1f}%".replace("-0.0%", "0.0%")


def fits(arguments, traffic):
    command = [os.environ.get("NORMTUNE", "normtune"), "fit", *arguments.results, "--traffic", traffic, "--mode", arguments.mode,
               "--format", "json"]
    command += ["--model", arguments.model] if arguments.model else []
    command += ["--most-steps", str(arguments.most_steps)] if arguments.most_steps else []
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 3):  # 3: a ladder that does not reach its tolerance
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)["fits"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--traffic", nargs="+", required=True, help="histograms, as normtune shapes --from-log writes them")
    parser.add_argument("--model", help="whose traffic it is")
    parser.add_argument("--mode", default="forward")
    parser.add_argument("--most-steps", type=int)
    arguments = parser.parse_args()
    heading = None
    for traffic in arguments.traffic:
        for fit in fits(arguments, traffic):
            over = fit["traffic"]
            if heading is None:
                rules = [rule["name"] for rule in over["rules"]]
                heading = ["traffic", "operation", "steps", "best µs a token", "ladder", *rules, "interpolated"]
                print("|" + "|".join(f" {cell} " for cell in heading) + "|")
                print("|---|---|" + "--:|" * (len(heading) - 2))
            ladder = over["ladder"]
            half = "?" if ladder["half_width"] is None else f"{100 * ladder['half_width']:.{2 if ladder['half_width'] < 0.0005 else 1}f}"
            row = [pathlib.Path(traffic).stem, fit["operation"], str(fit["ladder"]["steps"]), f"{ladder['best_us_per_token']:.4f}",
                   f"{percent(ladder['loss'])} ±{half}"]
            for rule in over["rules"]:
                row.append("-" if rule["loss"] is None else percent(rule["loss"]) +
                           (f" of {100 * rule['judged']:.0f}%" if rule["judged"] < 0.995 else ""))
            row.append(f"{100 * over['between']:.0f}%")
            print("|" + "|".join(f" {cell} " for cell in row) + "|")


if __name__ == "__main__":
    main()
