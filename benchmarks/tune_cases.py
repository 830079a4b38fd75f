"""The cases of `tune_bars.py`: arrays, how they are read, and three loads of each.

Sizes are those that two cores read and write many times over in some minutes; `scale` makes them smaller. The real
files lie in the folder `shared/data` beside the repository; without it their cases are skipped.
"""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tessarray_bench.data import make
from tessarray_bench.model import Data

__all__ = ["CASES", "MIXED", "Case", "chosen"]

Weights = Mapping[str, float]
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
MIXED = "mixed"
LEAST = 8  # elements along an axis that scaling leaves


@dataclass(frozen=True)
class Case:
    """kind: of `tessarray_bench.data`; `read` in its place for real files. templates: query classes by name, where `%n`
    is a run of n elements that shrinks with the array. loads: weights of the classes.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    kind: str
    templates: Mapping[str, str]
    loads: Mapping[str, Weights]
    limits: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[], np.ndarray | None] | None = None

    def values(self, scale: float = 1.0) -> np.ndarray | None:
        """The array; None where its file is not here. scale: a factor on the number of elements, but for files."""
        if self.read is not None:
            return self.read()
        factor = scale ** (1 / len(self.shape))
        shape = tuple(min(max(round(n * factor), LEAST), n) for n in self.shape)
        found: np.ndarray = make(Data(self.kind, shape, self.dtype), 0, shape[0])
        return found

    def classes(self, shape: tuple[int, ...]) -> dict[str, str]:
        """The templates with runs that fit a shape: as long a part of an axis as at full size, where it is smaller."""
        found = {}
        for name, template in self.templates.items():
            parts = [part.strip() for part in template.strip("[]").split(",")]
            fitted = [
                f":{max(min(int(part[1:]) * n // full, n), 1)}" if part.startswith("%") else part
                for part, n, full in zip(parts, shape, self.shape or shape, strict=True)
            ]
            found[name] = f"[{', '.join(fitted)}]"
        return found

    def queries(self, shape: tuple[int, ...], load: str) -> dict[str, tuple[str, float]]:
        """What `tune` is given for a load."""
        templates = self.classes(shape)
        return {name: (templates[name], weight) for name, weight in self.loads[load].items()}


def three(first: str, second: str, third: str) -> dict[str, Weights]:
    """One class alone, another for the most part, and a mix of all."""
    return {
        f"{first} only": {first: 1.0},
        f"{second} mostly": {first: 0.1, second: 0.8, third: 0.1},
        MIXED: {first: 0.5, second: 0.4, third: 0.1},
    }


CUBE = {"map": "[t, :, :]", "series": "[:, y, x]", "box": "[%30, %64, %64]"}


def variable(file: str, name: str) -> Callable[[], np.ndarray | None]:
    """Reads one variable of a shared file."""

    def read() -> np.ndarray | None:
        if not (SHARED / file).exists():
            return None
        import netCDF4

        with netCDF4.Dataset(SHARED / file) as opened:
            opened.set_auto_maskandscale(False)
            return np.ascontiguousarray(opened[name][...])

    return read


def profiles() -> np.ndarray | None:
    """TEMP of the shared Argo profiles, one row a profile, NaN behind the last level of each."""
    archive = SHARED / "argo-profiles.tar.xz"
    if not archive.exists():
        return None
    import netCDF4

    rows: list[np.ndarray] = []
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
        for path in sorted(Path(folder).rglob("*.nc")):
            with netCDF4.Dataset(path) as opened:
                if "TEMP" in opened.variables:
                    rows.extend(np.ma.filled(opened["TEMP"][...].astype("f4"), np.nan))
    found = np.full((len(rows), max(map(len, rows))), np.nan, "f4")
    for row, values in zip(found, rows, strict=True):
        row[: len(values)] = values
    return found


def listed() -> list[Case]:
    """All cases, the synthetic ones first."""
    planes = {"planes of axis 0": "[i, :]", "planes of axis 1": "[:, j]", "box": "[%100, %100]"}
    square = {"rows": "[%10, :]", "columns": "[:, %10]", "random": "[%100, %100]"}
    planes3 = {"planes of axis 0": "[i, :, :]", "planes of axis 2": "[:, :, k]", "box": "[%40, %30, %30]"}
    planes4 = {
        "planes of axis 0": "[i, :, :, :]",
        "planes of axis 3": "[:, :, :, l]",
        "box": "[%20, %8, %10, %5]",
    }
    field4 = {"map": "[t, z, :, :]", "series": "[:, z, y, x]", "column": "[t, :, %8, %8]"}
    stack = {"frame": "[t, :, :]", "pixel series": "[:, %4, %4]", "patch": "[%16, %64, %64]"}
    land = {"row band": "[%16, :]", "column band": "[:, %16]", "patch": "[%256, %256]"}
    series = {"window": "[%100000]", "point": "[i]", "day": "[%2000]"}
    deep = {"map": "[t, z, :, :]", "series": "[:, z, y, x]", "box": "[t, :, %32, %32]"}
    casts = {"profile": "[n, :]", "level": "[:, k]", "float": "[%100, %50]"}
    small = {"map": "[t, :, :]", "series": "[:, y, x]", "box": "[%6, %30, %30]"}
    return [
        Case("planes 2-D, f8 ramp", (4000, 4000), "f8", "ramp", planes, three(*planes)),
        Case("planes 3-D, f8 ramp", (400, 300, 150), "f8", "ramp", planes3, three(*planes3)),
        Case("planes 4-D, f8 ramp", (200, 40, 50, 25), "f8", "ramp", planes4, three(*planes4)),
        Case("planes 3-D, f8 waves", (400, 300, 150), "f8", "smooth", planes3, three(*planes3)),
        Case("square, f8 random", (10000, 10000), "f8", "random", square, three(*square)),
        Case("cube, f4 waves", (365, 180, 360), "f4", "smooth", CUBE, three(*CUBE)),
        Case("field 4-D, f4 waves", (120, 12, 90, 180), "f4", "smooth", field4, three(*field4)),
        Case("camera stack, u2, appended", (256, 512, 512), "u2", "camera", stack, three(*stack),
             {"append_axis": 0, "append_length": 16}),
        Case("sparse, f4", (365, 180, 360), "f4", "sparse", CUBE, three(*CUBE)),
        Case("classes, u1", (8000, 8000), "u1", "categorical", land, three(*land)),
        Case("counts, i4", (4000, 4000), "i4", "categorical", land, three(*land)),
        Case("random, u1", (256, 512, 512), "u1", "random", stack, three(*stack)),
        Case("series, f4 waves", (16_000_000,), "f4", "smooth", series, three(*series)),
        Case("ERA-Interim u, i2", (), "i2", "", deep, three(*deep), read=variable("eraint_uvz.nc", "u")),
        Case("COADS SST, f4", (), "f4", "", small, three(*small), read=variable("coads_climatology.nc4", "SST")),
        Case("Argo TEMP, f4", (), "f4", "", casts, three(*casts), read=profiles),
    ]  # fmt: skip


CASES: dict[str, Case] = {case.name: case for case in listed()}


def chosen(given: str | None) -> list[Case]:
    """Cases by name, or by the beginning of it: a comma between. All where left out."""
    if not given:
        return list(CASES.values())
    wanted = [part.strip() for part in given.split(";")]
    found = [case for case in CASES.values() if any(case.name.startswith(part) for part in wanted)]
    missing = [part for part in wanted if not any(name.startswith(part) for name in CASES)]
    if missing:
        raise SystemExit(f"no case begins with '{missing[0]}'; there are: {'; '.join(CASES)}")
    return found
