#!/usr/bin/env python3
"""The completion scripts, in the shells themselves: what bash, zsh and fish offer on a line."""

import argparse
import os
import pty
import select
import shutil
import subprocess
import sys
import time

import harness

# The line (what stands behind the last blank is being completed), and words that must and must not be offered.
CASES = [
    ("normtune sw", {"sweep"}, {"plan"}),
    ("normtune ", {"sweep", "plan", "compare", "gate", "selfcheck", "shapes", "completion", "man", "help"}, {"worker"}),
    ("normtune help pl", {"plan"}, {"sweep"}),
    ("normtune plan --sh", {"--shapes", "--show-pruned"}, {"--space"}),
    ("normtune sweep --h", {"--hot", "--help"}, set()),
    ("normtune verify --h", {"--help"}, {"--hot"}),
    ("normtune plan --dtype b", {"bf16"}, {"fp32"}),
    ("normtune plan --dtype fp32,b", {"bf16"}, {"fp32"}),
    ("normtune plan --shapes qwe", {"qwen3"}, {"llama2"}),
    ("normtune plan --shapes sha", {"shapes.yaml"}, {"space.yaml"}),
    ("normtune plan --shapes shapes.yaml qwe", {"qwen3"}, {"llama2"}),
    ("normtune plan --shapes shapes.yaml qwen3 --mo", {"--model", "--mode"}, {"--shapes"}),
    ("normtune plan --study te_", {"te_615"}, {"liger_988"}),
    ("normtune sweep --out fol", {"folder"}, {"folder.yaml"}),
    ("normtune plan --format ", {"table", "json"}, {"shapes.yaml"}),
    ("normtune compare lig", {"liger_before.csv", "liger_after.csv"}, {"--by"}),
    ("normtune compare liger_before.csv lig", {"liger_before.csv", "liger_after.csv"}, {"--by"}),
    ("normtune compare liger_before.csv liger_after.csv --by ", {"config", "best"}, {"table"}),
    ("normtune compare --across driver,ti", {"timer"}, {"device"}),
    ("normtune gate --policy heur", {"heuristics"}, {"default"}),
    ("normtune best lig", {"liger_before.csv"}, {"space.yaml"}),
    ("normtune best liger_before.csv --format tr", {"triton"}, {"cpp"}),
    ("normtune report --plot ro", {"rows", "rounds"}, {"limit"}),
    ("normtune man sw", {"sweep"}, {"plan"}),
    ("normtune history ", {"add", "list", "trend", "export", "import"}, {"worker"}),
    ("normtune history add lig", {"liger_before.csv"}, {"list"}),
    ("normtune history trend --policy heur", {"heuristics"}, {"default"}),
    ("normtune completion ", {"bash", "zsh", "fish"}, set()),
]


class Terminal:
    """A shell on a terminal of its own, which writes what it offers into a pipe."""

    def __init__(self, folder, command):
        self.offers = folder.work / "offers"
        os.mkfifo(self.offers)
        self.pipe = os.open(self.offers, os.O_RDWR)
        self.screen, theirs = pty.openpty()
        self.shell = subprocess.Popen(command, cwd=folder.work, env={**folder.environment, "OFFERS": str(self.offers)}, stdin=theirs,
                                      stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)

    def close(self):
        self.shell.kill()
        self.shell.wait()
        os.close(self.screen)
        os.close(self.pipe)

    def type(self, text):
        """Types, and waits for all that is written up to a line `end`."""
        os.write(self.screen, text.encode())
        got, shown = b"", b""
        until = time.monotonic() + harness.TIME_LIMIT_S
        while not got.endswith(b"\nend\n"):
            ready, _, _ = select.select([self.screen, self.pipe], [], [], until - time.monotonic())
            if not ready:
                raise SystemExit(f"{text!r}: no answer; on the screen: {shown!r}")
            if self.pipe in ready:
                got += os.read(self.pipe, 65536)
            if self.screen in ready:
                shown += os.read(self.screen, 65536)
        return got.decode().splitlines()[:-1]


# What is added to the completions goes into the pipe, as a whole word; matching is left to zsh.
ZSH_SETUP = r"""
autoload -U compinit && compinit -u -D
unsetopt automenu autolist beep
bindkey -e
bindkey '^I' complete-word
compadd() {
    local -a found
    if [[ ${*[1,(r)--]} != *-[OAD]* ]]; then
        builtin compadd -O found "$@"
        print -rl -- "" $found >> $OFFERS
    fi
    builtin compadd "$@"
}
_end_of_offers() { print -r -- $'\nend' >> $OFFERS }
_begin_of_offers() { comppostfuncs=(_end_of_offers) }
compprefuncs=(_begin_of_offers)
"""


def zsh_offers(folder):
    setup = folder.work / "setup.zsh"
    setup.write_text(ZSH_SETUP)
    terminal = Terminal(folder, ["zsh", "-f", "-i"])
    try:
        terminal.type(". ./setup.zsh; source <(normtune completion zsh); print -r -- $'\\nend' >> $OFFERS\n")
        for line, _, _ in CASES:
            terminal.type("\x15compprefuncs=(_begin_of_offers); print -r -- $'\\nend' >> $OFFERS\n")
            yield {word for word in terminal.type(f"{line}\t") if word}
            os.write(terminal.screen, b"\x15")
    finally:
        terminal.close()


def bash_offers(folder):
    for line, _, _ in CASES:
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        result = folder.run(
            "source <(normtune completion bash) && "
            f"COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1} ; _normtune; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        # Of a list bash is offered all of the word.
        yield {word.rpartition(",")[2] for word in result.stdout.decode().split()} if result.returncode == 0 and not result.stderr else set()


def fish_offers(folder):
    (folder.work / "normtune.fish").write_bytes(folder.run("normtune completion fish").stdout)
    for line, _, _ in CASES:
        result = folder.run(f"fish --no-config -c 'source normtune.fish; complete -C \"{line}\"'")
        words = [offer.split("\t")[0].rstrip("/") for offer in result.stdout.decode().splitlines()]
        yield {word.rpartition(",")[2] for word in words} if result.returncode == 0 and not result.stderr else set()


def readline_completes(folder):
    """What bash makes of a line with a tab in it, typed at a prompt."""
    terminal = Terminal(folder, ["bash", "--norc", "--noprofile", "-i"])
    try:
        terminal.type("source <(normtune completion bash); normtune() { printf '\\n%s\\nend\\n' \"$*\" > $OFFERS; }; normtune\n")
        for typed, wanted in (("compare --by b\t", "compare --by best"), ("plan --shapes sha\t --format j\t", "plan --shapes shapes.yaml --format json"),
                              ("sweep --across driver,ti\t", "sweep --across driver,ti"), ("compare --across driver,ti\t", "compare --across driver,timer")):
            got = terminal.type(f"normtune {typed}\n")[-1].strip()
            if got != wanted:
                yield f"bash: {typed!r} becomes {got!r}"
    finally:
        terminal.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--normtune", required=True)
    arguments = parser.parse_args()
    faults = []
    for shell, offers in (("bash", bash_offers), ("zsh", zsh_offers), ("fish", fish_offers)):
        if not shutil.which(shell):
            print(f"{shell} is not installed: what it offers is not seen")
            continue
        with harness.Folder(arguments.normtune) as folder:
            (folder.work / "folder").mkdir(exist_ok=True)
            result = folder.run(f"normtune completion {shell} > script && {shell} -n script")
            if result.returncode != 0 or result.stderr:
                faults.append(f"{shell} -n: {result.stderr.decode()}")
            for (line, wanted, unwanted), offered in zip(CASES, offers(folder), strict=True):
                if not wanted <= offered or unwanted & offered:
                    faults.append(f"{shell}: {line!r} offers {sorted(offered)}")
    with harness.Folder(arguments.normtune) as folder:
        faults += readline_completes(folder)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
