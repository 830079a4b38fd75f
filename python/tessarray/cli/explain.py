"""`tessarray explain`."""

from __future__ import annotations

from tessarray.cli.address import open_array
from tessarray.cli.output import print_json
from tessarray.cli.selection import parse_selection
from tessarray.conversion.size import parse_size


def run(address: str, selection: str, limit: str, as_json: bool) -> None:
    """Read a selection, and print why it takes as long as it does."""
    from tessarray.tuner.explain import explain

    found = explain(open_array(address), parse_selection(selection), limit=parse_size(limit))
    print_json(found.document()) if as_json else print(found)
