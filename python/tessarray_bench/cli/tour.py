"""`tessarray bench` alone: every suite at a small scale, in about two minutes, with tables and a page."""

from __future__ import annotations

import sys
from pathlib import Path

from tessarray_bench.cli import run as running
from tessarray_bench.cli.output import console
from tessarray_bench.suites import tour

SECONDS = 110.0


def run(folder: Path) -> None:
    """The tour of two minutes: a few workloads on the systems that are installed, then the page in `folder`."""
    out, page = folder / "tour.json", folder / "tour.html"
    workloads = tour.workloads()
    request = running.Request(
        suites=[], systems=",".join(dict.fromkeys((*tour.SYSTEMS, *tour.FLEET))), repeats=1, scale=1.0, out=out,
        total_time=SECONDS, time_limit=30.0, spread=True, chosen=tour.chosen,
        baseline=tour.BASELINE,
    )  # fmt: skip
    say = console().print
    say(
        f"A tour: {len(workloads)} small workloads, one repeat, about two minutes; the figures are rough.\n"
        "`tessarray bench run SUITE...` measures with repeats and intervals."
    )
    document = running.execute(request, workloads, again=False)
    from tessarray_bench import results_file, tables
    from tessarray_bench.report import page as pages

    tables.show(results_file.load(out), console())
    pages.write(page, [document], ["tour"])
    if document["settings"].get("stopped"):
        print(
            f"The tour stopped at {document['settings']['stopped']}: some cells are empty.", file=sys.stderr
        )
    absent = [name for name, system in document["systems"].items() if "absent" in system]
    if absent:
        say(f"\nAbsent: {', '.join(absent)}. `tessarray bench install` brings them.")
    say(f"\nPage: {page}   results: {out}")
