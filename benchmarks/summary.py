"""Where Tessarray stands in results files, one line a step: `.venv/bin/python benchmarks/summary.py [FILE...]`.

The fastest of Tessarray's systems against the fastest of all others, with the 95 % interval of the ratio of their
times, as a Markdown table; "equal" is what differs by less than a system differs from itself.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from tessarray.display.units import time_text
from tessarray_bench.results import Cell, cells, floor_of, judge
from tessarray_bench.results_file import load

LEFT_OUT = {"check", "sync"}


def main(paths: list[str]) -> int:
    kept = (Path(__file__).parent / "results").glob("*.json.xz")
    files = paths or [str(path) for path in sorted(kept) if path.name != "tune.json.xz"]
    print("| workload | step | ours | best other | its time / ours | |\n|---|---|---|---|---|---|")
    count: dict[str, int] = defaultdict(int)
    for path in files:
        found = cells(load(path))
        noise = floor_of(cell for cell in found if cell.process != "check")
        steps: dict[tuple[str, str], list[Cell]] = defaultdict(list)
        for cell in found:
            if cell.step not in LEFT_OUT and cell.median is not None and not cell.system.endswith("(again)"):
                steps[cell.workload, cell.step].append(cell)
        for (workload, step), several in steps.items():
            ours = [cell for cell in several if cell.system.startswith("tessarray")]
            others = [cell for cell in several if not cell.system.startswith("tessarray")]
            if not ours or not others:
                continue
            best, rival = (min(some, key=time_of) for some in (ours, others))
            judged = judge(rival, best, noise)
            if judged is None:
                continue
            ratio, verdict = judged
            said = {"faster": "slower", "slower": "faster"}.get(verdict, verdict)
            count[said] += 1
            low, high = ratio.interval[:2] if ratio.interval else (ratio.value, ratio.value)
            print(
                f"| {workload} | {step} | {time_text(time_of(best))} ({best.system}) | "
                f"{time_text(time_of(rival))} ({rival.system}) | {ratio.value:.2f} ({low:.2f} to {high:.2f}) | {said} |"
            )
    total = sum(count.values())
    print(
        f"\n{total} steps: faster in {count['faster']}, equal in {count['equal']}, slower in {count['slower']}"
    )
    return 0


def time_of(cell: Cell) -> float:
    assert cell.median is not None
    return cell.median


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
