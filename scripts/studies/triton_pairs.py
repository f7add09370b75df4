#!/usr/bin/env python3
"""Candidates of one provider that differ in one tunable alone: is their machine code the same, and what does the value cost? As Markdown.

    scripts/studies/triton_pairs.py results.csv...

Of each tunable the least value is what the others are set against. Then the best of each provider on each problem."""

import collections
import sys

from axis_effect import geometric_mean, passed_rows


def tunables(key):
    """{"BLOCK": 1024} of "norm.BLOCK=1024"."""
    return {name: int(value) for name, _, value in (part.partition("=") for part in key.split(".")) if value}


def problem(row):
    return f'{row["mode"]} {row["rows"]}x{row["cols"]}'


def pairs(rows):
    """{(provider, problem, tunable, value, against): [(same code, ratio of p50)]}"""
    alike = collections.defaultdict(dict)
    for row in rows:
        values = tunables(row["config"])
        for name in values:
            rest = tuple(sorted((other, value) for other, value in values.items() if other != name))
            alike[(row["provider"], problem(row), name, rest)][values[name]] = row
    out = collections.defaultdict(list)
    for (provider, of, name, _), by_value in alike.items():
        least = min(by_value)
        for value, row in by_value.items():
            if value != least:
                base = by_value[least]
                same = bool(row["code_hash"]) and row["code_hash"] == base["code_hash"]
                out[(provider, of, name, value, least)].append((same, float(row["p50_us"]) / float(base["p50_us"])))
    return out


def main():
    rows = list(passed_rows(sys.argv[1:]))
    if not rows:
        sys.exit("nothing passed in these files")
    print("| provider | problem | tunable | value | against | pairs | same code | others: mean | least | most |\n|---|---|---|---|---|---|---|---|---|---|")
    for (provider, of, name, value, least), found in sorted(pairs(rows).items()):
        ratios = [ratio for same, ratio in found if not same]
        figures = f"{geometric_mean(ratios):.3f} | {min(ratios):.3f} | {max(ratios):.3f}" if ratios else " |  | "
        print(f"| {provider} | {of} | {name} | {value} | {least} | {len(found)} | {sum(same for same, _ in found)} | {figures} |")
    best = collections.defaultdict(dict)
    for row in rows:
        best[problem(row)].setdefault(row["provider"], row)
        if float(row["p50_us"]) < float(best[problem(row)][row["provider"]]["p50_us"]):
            best[problem(row)][row["provider"]] = row
    print("\n| problem | provider | best | p50 µs | over the least |\n|---|---|---|---|---|")
    for of, providers in sorted(best.items()):
        least = min(float(row["p50_us"]) for row in providers.values())
        for provider, row in sorted(providers.items()):
            print(f'| {of} | {provider} | {row["config"]} | {float(row["p50_us"]):.2f} | {float(row["p50_us"]) / least:.3f} |')


if __name__ == "__main__":
    main()
