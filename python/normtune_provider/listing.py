"""Which kernels there are: finds factories, and asks their kernels about problems."""

import collections.abc
import functools
import hashlib
import importlib
import importlib.util
import inspect
import json
import pathlib
import sys
import sysconfig
import traceback

from normtune_provider import Problem

_found = {}


class Missing(Exception):
    """A provider that cannot be had, in one line."""


class NotInstalled(Missing):
    """Another interpreter may have it."""


def text_of(error):
    """Empty where the error's own __str__ fails."""
    try:
        return str(error)
    except BaseException:  # whatever a provider's class does there
        return ""


def where(error):
    """" (FILE:LINE)" of the innermost call in a file of one's own; else empty."""
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if _is_own(pathlib.Path(frame.filename).resolve()):
            place = f" ({frame.filename}:{frame.lineno})"
    return place


def in_a_line(error):
    """How Python would end its traceback, and where in a file of one's own it came from; of a text of many lines the first and the last."""
    lines = [line.strip() for line in text_of(error).splitlines() if line.strip()]
    said = ": " + " … ".join(dict.fromkeys((lines[0], lines[-1]))) if lines else ""
    return type(error).__name__ + said + where(error)


@functools.cache
def _installed():
    paths = sysconfig.get_paths()
    places = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return {pathlib.Path(place).resolve() for place in places} | {pathlib.Path(__file__).resolve().parent}


def _is_own(path):
    """Neither the standard library's, nor this package's, nor an installed package's, whose version says what it is."""
    return path.is_file() and not _installed() & set(path.parents) and not {"site-packages", "dist-packages"} & set(path.parts)


def _module(asked_as):
    if ":" not in asked_as:
        return f"normtune_provider.providers.{asked_as}", "providers"
    place, _, factory = asked_as.rpartition(":")
    return place, factory


def _load(place):
    if not place.endswith(".py"):
        if "" not in sys.path:
            sys.path.append("")  # last: no file here hides an installed package
        return importlib.import_module(place)
    path = pathlib.Path(place).resolve()
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    name = "normtune_file_" + hashlib.sha256(str(path).encode()).hexdigest()[:16]
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def kernels(asked_as):
    """The kernels of a factory, by their keys' order. Raises Missing."""
    if asked_as not in _found:
        place, factory = _module(asked_as)
        doing = "its import"
        try:
            module = _load(place)
            if not hasattr(module, factory):
                raise Missing(f"{place} has no {factory}")
            doing = "its factory"
            made = getattr(module, factory)
            if not callable(made):
                raise Missing(f"{factory} of {place} is no function: a factory returns a list of kernels")
            made = made()
            if not isinstance(made, collections.abc.Iterable):
                raise Missing(f"{factory} of {place} returns {type(made).__name__}, where a factory returns a list of kernels")
            _found[asked_as] = list(made)
        except Missing:
            raise
        except FileNotFoundError as error:
            raise Missing(f"there is no {error.filename}") from error
        except ModuleNotFoundError as error:
            raise NotInstalled(f"{error.name or error} is not installed for {sys.executable}") from error
        except (Exception, SystemExit) as error:
            raise Missing(f"{doing} raises {in_a_line(error)}") from error
        for kernel in _found[asked_as]:
            for name in ("provider", "key", "claims", "prepare"):
                if not hasattr(kernel, name):
                    raise Missing(f"a kernel of it ({kernel!r}) has no {name}; docs/providers.md says what one has")
    return _found[asked_as]


def _own_files():
    """What is loaded by now of one's own."""
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return {path for path in (pathlib.Path(file).resolve() for file in files if isinstance(file, str)) if _is_own(path)}


def _code(kernel, own_files):
    """Of the interpreter, the file that the kernel's class is in, and files of one's own: other code, another digest."""
    files = set(own_files)
    try:
        files.add(pathlib.Path(inspect.getfile(type(kernel))).resolve())
    except (OSError, TypeError):
        pass  # made without a file
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(files):
        if path.is_file():  # else part of an archive
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _refusal(kernel, problem):
    claimed = kernel.claims(problem)
    if isinstance(claimed, str):
        return claimed or "does not claim it"
    return "" if claimed else "does not claim it"


def _providers(asked_as, problems):
    by_name = {}
    for kernel in kernels(asked_as):
        by_name.setdefault(str(kernel.provider), []).append(kernel)
    if not by_name:
        raise Missing("its factory returns no kernel")
    for name, own in by_name.items():
        entries = []
        for kernel in own:
            key = str(kernel.key)
            if not key.isprintable():
                raise Missing(f"a kernel's key, {key!r}, has characters that cannot be printed")
            try:
                refusals = [_refusal(kernel, problem) for problem in problems]
            except (Exception, SystemExit) as error:
                raise Missing(f"claims() of {key} raises {in_a_line(error)}") from error
            entry = {"key": key, "refusals": refusals}
            if getattr(kernel, "rounding", None) is not None:
                try:
                    entry["rounding"] = json.loads(json.dumps(kernel.rounding))
                except (TypeError, ValueError) as error:
                    raise Missing(f"the rounding of {key} has to be lists of names: {in_a_line(error)}") from error
            if getattr(kernel, "dependent_launch", False):
                entry["dependent_launch"] = True
            entries.append(entry)
        own_files = _own_files()  # behind claims(), which may load some
        for kernel, entry in zip(own, entries):
            entry["code"] = _code(kernel, own_files)
        yield {"asked_as": asked_as, "name": name, "version": str(getattr(own[0], "version", "")), "kernels": entries}


def answer(question_path, answer_path):
    question = json.loads(pathlib.Path(question_path).read_text(encoding="utf-8"))
    problems = [Problem.of(members, question["backend"]) for members in question["problems"]]
    out = []
    for asked_as in question["providers"]:
        try:
            out += _providers(asked_as, problems)
        except Missing as error:
            out.append({"asked_as": asked_as, "missing": str(error), "not_installed": isinstance(error, NotInstalled)})
    pathlib.Path(answer_path).write_text(json.dumps({"providers": out}), encoding="utf-8")
    return 0
