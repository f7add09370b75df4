#!/usr/bin/env python3
"""Writes the three token histograms of this folder: what the batches of a server might look like. They are made up, by these formulas, and
measured nowhere: a log of your own (normtune shapes --from-log) says more.

A step's batch is the tokens that the model sees at once: one of each sequence that decodes, and of prompts as many as the step's budget
leaves room for; a longer prompt is taken in in pieces of that. The number of sequences that decode together is log-normal (median, sigma),
256 at most, and so is that of a prompt's tokens. Each histogram is of 1,000,000 steps: expected numbers, rounded; nothing is drawn at random.

    decode_heavy   96% of the steps decode alone (24 sequences, 0.9); 4% take in a prompt (512 tokens, 1.0; budget 2048) beside 24 decoding
    prefill_heavy  40% decode alone (4, 0.7); 60% take in a prompt (3000, 1.0; budget 8192) beside 4 decoding
    mixed          75% decode alone (48, 0.8); 25% take in a prompt (1000, 1.2; budget 2048) beside 48 decoding

Usage: examples/traffic/make.py [FOLDER]
"""

import math
import pathlib
import statistics
import sys

STEPS = 1_000_000
MOST_SEQUENCES = 256


def log_normal(median, sigma, most):
    """Probability of each whole number from 1 to most; what lies beyond is at most."""
    normal = statistics.NormalDist(math.log(median), sigma)
    below = [normal.cdf(math.log(n + 0.5)) for n in range(1, most)] + [1.0]
    return {n: below[n - 1] - (below[n - 2] if n > 1 else 0.0) for n in range(1, most + 1)}


def pieces(median, sigma, budget, longest=65536):
    """Tokens that a step takes in: whole pieces of the budget, and what is left of a prompt."""
    steps = {}
    for tokens, share in log_normal(median, sigma, longest).items():
        whole, rest = divmod(tokens, budget)
        if whole:
            steps[budget] = steps.get(budget, 0) + share * whole
        if rest:
            steps[rest] = steps.get(rest, 0) + share
    total = sum(steps.values())
    return {tokens: share / total for tokens, share in steps.items()}


def histogram(decode_share, decode, prefill, beside):
    shares = {}
    for tokens, share in log_normal(*decode, MOST_SEQUENCES).items():
        shares[tokens] = shares.get(tokens, 0) + decode_share * share
    for tokens, share in pieces(*prefill).items():
        shares[tokens + beside] = shares.get(tokens + beside, 0) + (1 - decode_share) * share
    counts = {tokens: round(STEPS * share) for tokens, share in sorted(shares.items())}
    return {tokens: count for tokens, count in counts.items() if count}


HISTOGRAMS = {
    "decode_heavy": histogram(0.96, (24, 0.9), (512, 1.0, 2024), 24),
    "prefill_heavy": histogram(0.40, (4, 0.7), (3000, 1.0, 8188), 4),
    "mixed": histogram(0.75, (48, 0.8), (1000, 1.2, 2000), 48),
}


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    for name, counts in HISTOGRAMS.items():
        lines = ["tokens,count", *(f"{tokens},{count}" for tokens, count in counts.items())]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
