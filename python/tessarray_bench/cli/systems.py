"""`tessarray bench systems` and `install`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tessarray_bench.cli.output import console
from tessarray_bench.cli.run import about, adapters_of
from tessarray_bench.harness import environments


def show(adapters: list[Path], home: Path | None, as_json: bool) -> None:
    """Every system: its version, where it runs, what it can do; the absent ones with what brings them."""
    candidates = adapters_of(adapters)
    found = environments.probe([cls for cls, _ in candidates.values()], home)
    facts = {name: about(cls, found[name]) for name, (cls, _) in candidates.items()}
    for name, place in found.items():
        if place.python is None:
            facts[name]["absent"] = place.reason
    if as_json:
        json.dump(facts, sys.stdout, indent=1)
        print()
        return
    from rich.table import Table

    table = Table("system", "versions", "can", "runs in")
    for name, fact in facts.items():
        versions = ", ".join(f"{k} {v}" for k, v in fact["versions"].items() if k != "numpy")
        where = f"{fact['environment']}, Python {fact['python']}"
        if "absent" in fact:
            versions, where = "absent", fact["absent"]
        table.add_row(name, versions, ", ".join(fact["features"]), where)
    console().print(table)


def install(groups: list[str], home: Path | None) -> None:
    """Make the environments of the groups, with what they hold said afterwards."""
    out = console()
    known = environments.groups()
    for name in groups or list(known):
        if name not in known:
            raise environments.EnvironmentError_(f"no group {name!r}; there are: {', '.join(known)}")
        environments.install(known[name], environments.home(home), out.print)
