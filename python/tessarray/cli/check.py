"""`tessarray check`."""

from __future__ import annotations

from typing import Any

from tessarray.cli.address import split
from tessarray.cli.output import console, print_json
from tessarray.conversion.errors import OptionError

FIELDS = ("kind", "key", "offset", "message")


def run(address: str, deep: bool, repair: bool, apply: bool, as_json: bool) -> int:
    """Check, or plan or make a repair; returns the exit code: 1 if something is (still) wrong."""
    import tessarray

    if apply and not repair:
        raise OptionError("--apply: does nothing without --repair")
    store, _ = split(address)
    if repair:
        return _repair(tessarray.repair(store, deep=deep, apply=apply), apply, as_json)
    findings = [_row(finding) for finding in tessarray.check(store, deep=deep)]
    if as_json:
        print_json(findings)
    else:
        _show(store, findings, deep)
    return 1 if findings else 0


def _row(finding: Any) -> dict[str, Any]:
    if isinstance(finding, dict):
        return {name: finding.get(name) for name in FIELDS}
    return {name: getattr(finding, name, None) for name in FIELDS}


def _repair(actions: list[Any], applied: bool, as_json: bool) -> int:
    rows = [_row(action) for action in actions]
    if as_json:
        print_json(rows)
    elif not rows:
        console().print("nothing to repair")
    else:
        _table(rows)
        console().print("done" if applied else "nothing was changed: --apply does it")
    return 1 if rows and not applied else 0


def _show(store: str, findings: list[dict[str, Any]], deep: bool) -> None:
    if findings:
        _table(findings)
    what = "metadata, indexes and every chunk" if deep else "metadata and indexes (--deep decodes every chunk)"
    verdict = f"[red]{len(findings)} findings[/]" if findings else "[green]no damage found[/]"
    console().print(f"{store}: {verdict} in {what}")


def _table(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in FIELDS:
        table.add_column(name)
    for row in rows:
        table.add_row(*(Text("" if row[name] is None else str(row[name])) for name in FIELDS))
    console().print(table)
