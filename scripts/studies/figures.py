"""The figures that sentences of README, docs and results quote, each by a name, out of the files of results/ (scripts/results)."""

import difflib
import functools

import kept_figures  # noqa: F401  these define them
import recorded_figures  # noqa: F401
import rounding_figures  # noqa: F401
import run_figures  # noqa: F401
import study_figures  # noqa: F401
import triton_figures  # noqa: F401
from figure_base import FIGURES, Files


def value(name, folder):
    if name not in FIGURES:
        close = difflib.get_close_matches(name, FIGURES, 5, 0.5)
        raise KeyError(f"scripts/studies/*_figures.py have no figure of that name; close to it: {', '.join(close) or 'none'}")
    return FIGURES[name](files_of(folder))


@functools.lru_cache(maxsize=None)
def files_of(folder):
    return Files(folder)
