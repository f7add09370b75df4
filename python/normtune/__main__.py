"""`normtune`, `python -m normtune`, and the commands that are scripts: each becomes the process that was asked for."""

import os
import sys

import normtune


def _become(find, interpreter=(), **defaults):
    try:
        words = [*interpreter, find(), *sys.argv[1:]]
        os.execve(words[0], words, defaults | normtune.environment())
    except OSError as error:
        sys.exit(f"normtune: {error}")


def main():
    _become(normtune.executable)


def ci_gate():
    _become(lambda: normtune.script("ci_gate"), NORMTUNE=normtune.executable())


def run_emitted():
    _become(lambda: normtune.script("run_emitted.py"), [sys.executable])


def triton_candidates():
    _become(lambda: normtune.script("triton_candidates"), [sys.executable])


if __name__ == "__main__":
    main()
