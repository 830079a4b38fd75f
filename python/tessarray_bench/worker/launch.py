"""Start of a worker process: `python -I launch.py JOB.json ROWS.json`.

Loads this package from where it lies without putting its neighbours on the path, so that a worker sees the packages
of its own environment only.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

BORN = time.monotonic()


def load() -> None:
    """Make this package importable from its own folder, whatever the interpreter has installed."""
    package = Path(__file__).resolve().parent.parent
    spec = importlib.util.spec_from_file_location(
        package.name, package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[package.name] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    # A script's own folder comes first on the path, where `array.py` would hide the standard library's `array`.
    here = str(Path(__file__).resolve().parent)
    sys.path[:] = [entry for entry in sys.path if entry != here]
    load()
    from tessarray_bench.worker.process import main

    sys.exit(main(sys.argv[1], sys.argv[2], BORN))
