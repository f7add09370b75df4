#!/usr/bin/env python3
"""The completion scripts: the shells accept them, and bash offers commands, options and values."""

import argparse
import shutil
import sys

import harness

# What stands on the line (the last word is being completed), and words that must and must not be offered.
CASES = [
    (["normtune", "sw"], {"sweep"}, {"plan"}),
    (["normtune", ""], {"sweep", "plan", "compare", "gate", "selfcheck", "shapes", "completion", "man", "help"}, {"worker"}),
    (["normtune", "help", "pl"], {"plan"}, {"sweep"}),
    (["normtune", "plan", "--sh"], {"--shapes", "--show-pruned"}, {"--space"}),
    (["normtune", "sweep", "--h"], {"--hot", "--help"}, set()),
    (["normtune", "verify", "--h"], {"--help"}, {"--hot"}),
    (["normtune", "plan", "--dtype", "b"], {"bf16"}, {"fp32"}),
    (["normtune", "plan", "--dtype", "fp32,f"], {"fp32,fp32", "fp32,fp16"}, {"bf16"}),
    (["normtune", "plan", "--shapes", "shapes.yaml", "qwe"], {"qwen3"}, {"llama2"}),
    (["normtune", "plan", "--shapes", "sha"], {"shapes.yaml"}, set()),
    (["normtune", "sweep", "--out", "fol"], {"folder"}, {"space.yaml"}),
    (["normtune", "plan", "--format", ""], {"table", "json"}, set()),
    (["normtune", "compare", "--by", ""], {"config", "best"}, {"table"}),
    (["normtune", "compare", "--across", "driver,t"], {"driver,timer"}, {"driver,device"}),
    (["normtune", "gate", "--policy", "heur"], {"heuristics"}, {"default"}),
    (["normtune", "report", "--plot", "ro"], {"rows", "rounds"}, {"limit"}),
    (["normtune", "completion", ""], {"bash", "zsh"}, set()),
    (["normtune", "man", "sw"], {"sweep"}, {"plan"}),
]


def offered(folder, words):
    quoted = " ".join(f"'{word}'" for word in words)
    result = folder.run(
        "source <(normtune completion bash) && "
        f"COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1} ; _normtune; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    return result.returncode, set(result.stdout.decode().split())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    faults = []
    with harness.Folder(arguments.normtune) as folder:
        for shell in ("bash", "zsh"):
            if shutil.which(shell):
                result = folder.run(f"normtune completion {shell} > script && {shell} -n script")
                if result.returncode != 0 or result.stderr:
                    faults.append(f"{shell} -n: {result.stderr.decode()}")
        for words, wanted, unwanted in CASES:
            status, words_offered = offered(folder, words)
            if status != 0 or not wanted <= words_offered or unwanted & words_offered:
                faults.append(f"{words}: offers {sorted(words_offered)}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
