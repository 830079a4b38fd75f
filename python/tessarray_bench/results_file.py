"""Results files: load and validate one, put several side by side, save one atomically. The schema: design note 0005."""

from __future__ import annotations

import json
import lzma
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tessarray_bench.model import Workload

FORMAT = "tessarray-bench/1"
STATUSES = ("ok", "unsupported", "absent", "wrong", "failed", "crashed", "timeout", "memory")
AGAIN = " (again)"

TOP = {"settings": dict, "machine": dict, "systems": dict, "workloads": dict, "rows": list}
SETTINGS = {"scale": (int, float), "repeats": int, "seed": int, "baseline": str}
ROW = {
    "workload": str,
    "suite": str,
    "system": str,
    "repeat": int,
    "process": str,
    "step": str,
    "status": str,
}
NUMBERS = (
    *(
        "wall",
        "calls",
        "nbytes",
        "cpu_user",
        "cpu_system",
        "peak",
        "retained",
        "read",
        "written",
        "read_calls",
    ),
    *("write_calls", "requests", "transferred", "stored", "files", "offered", "dropped", "import", "startup"),
    *("total", "in_process"),
)


class ResultsError(ValueError):
    """A results file that cannot be used: `file`, `key` (where in the document), what was `expected`, what `found`."""

    def __init__(self, file: str, key: str, expected: str, found: str) -> None:
        super().__init__(f"{file}: {key}: expected {expected}, found {found}")
        self.file = file
        self.key = key
        self.expected = expected
        self.found = found


@dataclass(frozen=True)
class ResultsFile:
    """One document, valid, and the label that tells it from others: its name without the suffix."""

    label: str
    document: Mapping[str, Any]

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the run was asked for: scale, repeats, seed, baseline."""
        found: Mapping[str, Any] = self.document["settings"]
        return found

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """A row a step, repeat and system."""
        found: list[Mapping[str, Any]] = self.document["rows"]
        return found


@dataclass(frozen=True)
class Results:
    """One results file or more, side by side."""

    files: tuple[ResultsFile, ...]

    @cached_property
    def groups(self) -> tuple[tuple[ResultsFile, ...], ...]:
        """Files whose rows may be pooled: same machine, settings, versions of the systems, and definitions."""
        found: list[list[ResultsFile]] = []
        for file in self.files:
            for group in found:
                if all(poolable(file.document, other.document) for other in group):
                    group.append(file)
                    break
            else:
                found.append([file])
        return tuple(tuple(group) for group in found)

    @cached_property
    def workloads(self) -> dict[str, Workload]:
        """Definitions by identifier; where files disagree, the first one's."""
        found: dict[str, Workload] = {}
        for file in self.files:
            for name, given in file.document["workloads"].items():
                if name not in found:
                    found[name] = Workload.from_json(given)
        return found

    @cached_property
    def systems(self) -> dict[str, Mapping[str, Any]]:
        """What is told of each system; where files disagree, what the first one tells."""
        return {
            name: told for file in reversed(self.files) for name, told in file.document["systems"].items()
        }

    @property
    def suites(self) -> list[str]:
        """The suites, in the order of the rows."""
        return list(dict.fromkeys(row["suite"] for file in self.files for row in file.rows))

    @property
    def baseline(self) -> str:
        """The system that ratios are taken to: the first file's."""
        return str(self.files[0].settings["baseline"])

    def title(self, system: str) -> str:
        """What to call a system."""
        name = system.removesuffix(AGAIN)
        told = self.systems.get(name, {}).get("title") or name
        return f"{told}{AGAIN}" if name != system else str(told)


def load(path: str | os.PathLike[str], label: str | None = None) -> Results:
    """Load and validate a results file, `.json` or `.json.xz`. Raises ResultsError, or OSError if it cannot be read."""
    path = Path(path)
    try:
        packed = path.read_bytes()
        document = json.loads(lzma.decompress(packed) if path.suffix == ".xz" else packed)
    except (ValueError, lzma.LZMAError) as problem:
        raise ResultsError(str(path), "the file", "a JSON document", str(problem)) from None
    validate(document, str(path))
    return Results((ResultsFile(label or path.name.removesuffix(".xz").removesuffix(".json"), document),))


def from_document(document: Mapping[str, Any], label: str = "results") -> Results:
    """The same from a document in memory."""
    validate(document, label)
    return Results((ResultsFile(label, document),))


def merge(*given: Results) -> Results:
    """Several results side by side; labels that are not unique get a number."""
    files: list[ResultsFile] = []
    taken: set[str] = set()
    for file in (file for results in given for file in results.files):
        label, number = file.label, 1
        while label in taken:
            number += 1
            label = f"{file.label} {number}"
        taken.add(label)
        files.append(ResultsFile(label, file.document))
    return Results(tuple(files))


def save(document: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a document so that a reader, or a crash, finds the old file or the new one, whole.

    1. Write a temporary file beside it, and bring it to the disk. 2. Rename it over the old one.
    """
    path = Path(path)
    text = as_text(document)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def as_text(document: Mapping[str, Any]) -> str:
    """JSON with a line for each row, so that a file reads well and differences between two files are small."""
    head = json.dumps(
        {key: value for key, value in document.items() if key != "rows"}, indent=1, allow_nan=False
    )
    rows = ",\n  ".join(json.dumps(row, allow_nan=False) for row in document.get("rows", ()))
    return head.removesuffix("\n}") + ',\n "rows": [\n  ' + rows + "\n ]\n}\n"


def poolable(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the repeats of two runs are repeats of the same thing."""
    machine = ("processor", "cores", "memory")
    settings = ("scale", "baseline", "cache", "workdir_filesystem")
    if any(one["machine"].get(key) != other["machine"].get(key) for key in machine):
        return False
    if any(one["settings"].get(key) != other["settings"].get(key) for key in settings):
        return False
    for part, keys in (("systems", ("versions", "python")), ("workloads", None)):
        for name in one[part].keys() & other[part].keys():
            a, b = one[part][name], other[part][name]
            if a != b if keys is None else any(a.get(key) != b.get(key) for key in keys):
                return False
    return True


def validate(document: Any, file: str) -> None:
    """Raise ResultsError for the first thing that is not as the schema has it. Keys it does not know are let be."""

    def problem(key: str, expected: str, found: Any) -> ResultsError:
        text = "nothing" if found is None else repr(found)
        return ResultsError(file, key, expected, text if len(text) <= 80 else text[:77] + "...")

    def typed(given: Mapping[str, Any], types: Mapping[str, Any], where: str) -> None:
        for key, kind in types.items():
            value = given.get(key)
            if not isinstance(value, kind) or isinstance(value, bool):
                names = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
                raise problem(f"{where}{key}", names, value)

    if not isinstance(document, dict):
        raise problem("the file", "an object", document)
    if document.get("format") != FORMAT:
        raise problem("format", repr(FORMAT), document.get("format"))
    typed(document, TOP, "")
    typed(document["settings"], SETTINGS, "settings.")
    for part in ("systems", "workloads"):
        for name, given in document[part].items():
            if not isinstance(given, dict):
                raise problem(f"{part}.{name}", "an object", given)
    for name, given in document["workloads"].items():
        try:
            Workload.from_json(given)
        except (KeyError, TypeError, ValueError) as wrong:
            raise problem(
                f"workloads.{name}", f"a workload ({type(wrong).__name__}: {wrong})", given
            ) from None
    for number, row in enumerate(document["rows"]):
        where = f"rows[{number}]"
        if not isinstance(row, dict):
            raise problem(where, "an object", row)
        typed(row, ROW, f"{where}.")
        if row["status"] not in STATUSES:
            raise problem(f"{where}.status", f"one of {', '.join(STATUSES)}", row["status"])
        if row["workload"] not in document["workloads"]:
            raise problem(f"{where}.workload", "a key of workloads", row["workload"])
        if row["system"].removesuffix(AGAIN) not in document["systems"]:
            raise problem(f"{where}.system", "a key of systems", row["system"])
        if not isinstance(row.get("latency") or {}, dict):
            raise problem(f"{where}.latency", "an object", row["latency"])
        for key, value in numbers(row):
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not math.isfinite(value)
                or value < 0
            ):
                raise problem(f"{where}.{key}", "a number that is not negative", value)
        if row["status"] == "ok" and row.get("wall") is None:
            raise problem(f"{where}.wall", "seconds, as the status is ok", None)


def numbers(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The numbers of a row, by key; None counts as left out."""
    for key in NUMBERS:
        if row.get(key) is not None and not (key == "retained" and isinstance(row[key], int)):
            yield key, row[key]
    latency = row.get("latency") or {}
    for key, value in latency.items():
        yield f"latency.{key}", value
