"""`tessarray bench report`, `show` and `compare`."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import sys
from pathlib import Path

from tessarray_bench import compare as comparing
from tessarray_bench import results_file, tables
from tessarray_bench.cli.output import console


def read(files: list[Path]) -> results_file.Results:
    """Results files, side by side. Raises ResultsError."""
    return results_file.merge(*(results_file.load(file) for file in files))


def run(files: list[Path], out: Path, figures: Path | None, csv: Path | None) -> None:
    """Write the page of results files, and figures and CSV if their folders are given."""
    from tessarray_bench.report import page

    results = read(files)
    page.write(out, [dict(file.document) for file in results.files], [file.label for file in results.files])
    say = console().print
    say(f"Page: {out}")
    if csv is not None:
        from tessarray_bench.report import table_csv

        csv.mkdir(parents=True, exist_ok=True)
        table_csv.write_cells(results, csv / "cells.csv")
        table_csv.write_rows(results, csv / "rows.csv")
        say(f"CSV: {csv / 'cells.csv'}, {csv / 'rows.csv'}")
    if figures is not None:
        if importlib.util.find_spec("matplotlib") is None:
            raise ValueError("--figures needs matplotlib: pip install matplotlib")
        from tessarray_bench.report import figures as drawing

        say(f"Figures: {', '.join(str(path) for path in drawing.draw(results, figures))}")


def show(files: list[Path], suites: list[str]) -> None:
    """Print the tables of results files, of some suites or all. Raises ValueError for a suite that they have not."""
    results = read(files)
    if suites:
        unknown = [name for name in suites if name not in results.suites]
        if unknown:
            raise ValueError(f"no suite {', '.join(unknown)} in it; there are: {', '.join(results.suites)}")
        results = results_file.merge(*(_only(file, suites) for file in results.files))
    tables.show(results, console())


def _only(file: results_file.ResultsFile, suites: list[str]) -> results_file.Results:
    rows = [row for row in file.rows if row["suite"] in suites]
    return results_file.from_document({**file.document, "rows": rows}, file.label)


def compare(old: Path, new: Path, as_json: bool) -> int:
    """Print what changed from one results file to a later one; 1 if something became slower or broke, else 0."""
    found = comparing.compare(results_file.load(old), results_file.load(new))
    if as_json:
        json.dump(dataclasses.asdict(found), sys.stdout, default=str, indent=1)
        print()
    else:
        comparing.show(found, console())
    return found.exit_code
