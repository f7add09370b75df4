"""What normtune starts: `python3 FOLDER list QUESTION ANSWER`, and `python3 FOLDER worker LIBRARY EXECUTABLE ARGUMENT...`."""

import importlib.util
import os
import pathlib
import sys


def _load_package():
    """Puts this folder's package in place whatever the path says: its own folder must not stand on it, where a numpy.py would hide NumPy."""
    folder = pathlib.Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if pathlib.Path(entry or os.curdir).resolve() != folder]
    spec = importlib.util.spec_from_file_location("normtune_provider", folder / "__init__.py", submodule_search_locations=[str(folder)])
    module = importlib.util.module_from_spec(spec)
    sys.modules["normtune_provider"] = module
    spec.loader.exec_module(module)


def main():
    _load_package()
    command, *words = sys.argv[1:] or [""]
    if command == "list" and len(words) == 2:
        from normtune_provider import listing

        return listing.answer(*words)
    if command == "worker" and len(words) > 2:
        from normtune_provider import worker

        return worker.serve(words[0], words[1], words[2:])
    print("normtune_provider: this is what 'normtune sweep --provider' starts, not a command", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
