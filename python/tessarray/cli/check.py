"""`tessarray check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tessarray.cli.address import split
from tessarray.cli.output import console, print_json, print_table
from tessarray.conversion.errors import OptionError

if TYPE_CHECKING:
    from tessarray import Finding

FIELDS = ("kind", "key", "offset", "message")


def run(address: str, deep: bool, missing: bool, repair: bool, apply: bool, as_json: bool) -> int:
    """Check, or plan or make a repair; returns the exit code: 1 if something is (still) wrong."""
    import tessarray

    if missing and repair:
        raise OptionError("--missing: goes without --repair, which cannot bring chunks back")
    if apply and not repair:
        raise OptionError("--apply: does nothing without --repair")
    store, _ = split(address)
    if repair:
        return _repair(tessarray.repair(store, deep=deep, apply=apply), apply, as_json)
    found = tessarray.check(store, deep=deep, missing=missing)
    findings = [_row(finding) for finding in found]
    if as_json:
        print_json(findings)
    else:
        _show(store, findings, deep)
    return 1 if found else 0


def _row(finding: Finding) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in FIELDS}


def _repair(found: list[Finding], applied: bool, as_json: bool) -> int:
    rows = [_row(finding) for finding in found]
    damage = [finding for finding in found if not finding.harmless]
    if as_json:
        print_json(rows)
    elif not rows:
        console().print("nothing to repair")
    else:
        print_table(FIELDS, ([row[name] for name in FIELDS] for row in rows))
        litter = len(found) - len(damage)
        left = f"; {len(damage)} damaged pieces stay as they are, to be written again" if damage else ""
        removed = (
            f"{litter} leftovers removed" if applied else "nothing was changed: --apply removes the leftovers"
        )
        console().print(removed + left)
    return 1 if damage or (rows and not applied) else 0


def _show(store: str, findings: list[dict[str, Any]], deep: bool) -> None:
    if findings:
        print_table(FIELDS, ([row[name] for name in FIELDS] for row in findings))
    what = (
        "metadata, indexes and every chunk" if deep else "metadata and indexes (--deep decodes every chunk)"
    )
    verdict = (
        f"[red]{len(findings)} finding{'s' if len(findings) > 1 else ''}[/]"
        if findings
        else "[green]no damage found[/]"
    )
    console().print(f"{store}: {verdict} in {what}")
