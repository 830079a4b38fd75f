"""`fleet`: thousands of datasets with the same variables. One variable of all of them, and all variables of one."""

from __future__ import annotations

from typing import Any

from tessarray_bench.model import Codec, Fleet, Layout, Variable, Workload

COUNTS = (100, 500, 1000)
MIDDLE = 300  # gridded ones: 2.3 GB, where 500 are 3.8 GB
LARGE = 10_000
FEWEST = 4
# What every system under test can write; the default of those that were compared in public.
ZSTD = Codec("zstd", "", 3, "none")
# Values as instruments give them; noise alone would time nothing but the copying of it.
KIND = "smooth"

PROFILE = tuple(Variable(n, (50, 168), "f4") for n in ("temperature", "salinity", "pressure", "oxygen"))
GRIDDED = tuple(
    Variable(name, (100, 100, 48), dtype)
    for name, dtype in (("temperature", "f4"), ("energy", "f8"), ("humidity", "f4"))
)
SENSORS = tuple(Variable(n, (24,), "f4") for n in ("temperature", "humidity", "pressure"))


def workloads(scale: float) -> list[Workload]:
    """At scale 1 fleets of 100, 500 and 1000 datasets, and of 10^4, which are marked heavy."""
    made = []
    for count in _counts(scale):
        made.append(_workload("profile", count, PROFILE, (50, 168)))
        made.append(_workload("gridded", count, GRIDDED, (50, 50, 24), heavy=count >= 500))
        made.append(_workload("sensors", count, SENSORS, (24,)))
        made.append(_workload("ragged", count, PROFILE, (50, 168)))
    middle = round(MIDDLE * scale)
    if middle > FEWEST and middle not in _counts(scale):
        made.append(_workload("gridded", middle, GRIDDED, (50, 50, 24)))
    if scale >= 1:
        large = round(LARGE * scale)
        made.append(_workload("profile", large, PROFILE, (50, 168), heavy=True))
        made.append(_workload("sensors", large, SENSORS, (24,), heavy=True))
    return made


def _counts(scale: float) -> list[int]:
    return sorted({max(round(count * scale), FEWEST) for count in COUNTS})


def _workload(
    name: str, count: int, variables: tuple[Variable, ...], chunks: tuple[int, ...], heavy: bool = False
) -> Workload:
    options: dict[str, Any] = {"slice": 0.25}
    if heavy:
        options["heavy"] = True
    fleet = Fleet(count, variables, ragged=name == "ragged", kind=KIND)
    return Workload(
        f"fleet/{name}/{count}",
        "fleet",
        "fleet",
        fleet=fleet,
        layout=Layout(chunks, None, ZSTD),
        options=options,
    )
