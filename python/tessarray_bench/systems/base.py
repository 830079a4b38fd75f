"""What an adapter is: one file, one class, a few verbs. Leave out the verbs that the system has not got.

    class Mine(System):
        name = "mine"
        title = "My Store"
        modules = ("mystore",)
        install = "pip install mystore"
        sources = {"threads": "https://mystore.example/guide#threads"}

        def start(self, workers):
            import mystore
            self.mystore = mystore

        def create(self, path, array): return self.mystore.create(path, array.shape, array.dtype, array.layout.chunks)
        def write(self, handle, values): handle[...] = values
        def open(self, path): return self.mystore.open(path)
        def read(self, handle, selection): return handle[selection]

Run it with `tessarray bench run planes --adapter mine.py --systems mine,zarr-python`. Rules for adapters:

- Use the system as its own documentation says is fastest, and name the page in `sources`, setting by setting.
- The layout that is asked for is what every system gets. What cannot be had raises `Unsupported` with the reason;
  what is had otherwise is said by `facts`, and is shown beside the figures.
- Verbs do the work before they return: a read gives the values in memory (a NumPy array), a write has been accepted
  when `finish` returns. Nothing is kept between jobs: every job is a process of its own.
- Import the system in `start` only, so that `tessarray bench systems` can list it where it is not installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tessarray_bench.model import Layout, Workload

Selection = tuple[slice | int, ...]


class Unsupported(Exception):  # noqa: N818 - it is an answer, not an error
    """The system cannot do what is asked; the text says what."""


@dataclass(frozen=True)
class ArraySpec:
    """An array to create. `growing`: axis 0 begins with no rows and takes appends. `layout` None: the natural one.

    `dtype` is NumPy's short name, or `string`: values then come as an array of NumPy's StringDType.
    """

    shape: tuple[int, ...]
    dtype: str
    layout: Layout | None
    growing: bool = False


class System:
    """Base of the adapters. A verb that stays as it is here is a feature the system has not got."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    # Modules that must be importable, and the distributions whose versions are reported (default: the modules).
    modules: ClassVar[tuple[str, ...]] = ()
    distributions: ClassVar[tuple[str, ...]] = ()
    # Which of `environments/*.lock.txt` holds it: `peers`, `atlas`, or `own` for the interpreter that runs the bench.
    environment: ClassVar[str] = "peers"
    # For systems outside these: the command that brings it.
    install: ClassVar[str] = ""
    # Setting -> the page that recommends it.
    sources: ClassVar[Mapping[str, str]] = {}
    # What the store is named in the job's folder.
    store: ClassVar[str] = "store"
    # The on-disk format, and the systems (first one found is used) that read it independently of this one; where
    # there is no other implementation, the same system in a fresh process checks the store, and the row says so.
    format: ClassVar[str] = ""
    readers: ClassVar[tuple[str, ...]] = ()
    # Codec names (`Codec.name`, or `blosc:zstd` for one inside blosc) it can write. Empty: it has no say.
    codecs: ClassVar[tuple[str, ...]] = ()
    double_partitioning: ClassVar[bool] = False

    # ---- set-up

    @classmethod
    def variables(cls, workers: int | None) -> dict[str, str]:
        """Environment variables of the process; `workers` is None for the system's defaults."""
        return {}

    @classmethod
    def supports(cls, workload: Workload) -> str | None:
        """Why this workload cannot be done by this system at all, or None. Verbs may refuse later, too."""
        return None

    def start(self, workers: int | None) -> None:
        """Import the system and set it up. Timed as `import`."""
        raise NotImplementedError

    # ---- one array

    def create(self, path: Path, array: ArraySpec) -> Any:
        """Create an array and return a handle that `write` or `append` take."""
        raise Unsupported("arrays")

    def write(self, handle: Any, values: Any) -> None:
        """Write the whole array."""
        raise Unsupported("writing arrays")

    def append(self, handle: Any, values: Any) -> None:
        """Append rows at the end of axis 0: readers may see them when this returns."""
        raise Unsupported("appends")

    def finish(self, handle: Any) -> None:
        """Close what `create` returned: other processes can read all of it now."""

    def open(self, path: Path) -> Any:
        """Open an array for reading."""
        raise Unsupported("reading arrays")

    def open_url(self, url: str) -> Any:
        """Open, for reading, an array behind an HTTP server (plain GET and HEAD, with ranges)."""
        raise Unsupported("reading over HTTP")

    def read(self, handle: Any, selection: Selection) -> Any:
        """The selected values as a NumPy array in memory; an integer drops its axis."""
        raise Unsupported("reading arrays")

    def read_points(self, handle: Any, coordinates: tuple[Any, ...]) -> Any:
        """The elements at the given coordinates, one index array an axis, as `numpy_array[coordinates]`."""
        raise Unsupported("points")

    def close(self, handle: Any) -> None:
        """Close what `open` returned."""

    def facts(self, path: Path) -> dict[str, Any]:
        """The layout as the store's own metadata say: `chunks`, `shards` (or None), `codec` (as `Codec` writes it),
        `checksum` (its name or None), `dtype`; further keys are shown as they are."""
        return {}

    # ---- a fleet of datasets: each a mapping of variable names to arrays, all held in memory before the timer

    def write_fleet(
        self, path: Path, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> None:
        """Write every dataset as it comes."""
        raise Unsupported("fleets")

    def open_fleet(self, path: Path, workload: Workload) -> Any:
        """Open a fleet for reading."""
        raise Unsupported("fleets")

    def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
        """One variable of the named datasets, in order: of every axis the first `ceil(share * length)` elements."""
        raise Unsupported("fleets")

    def read_dataset(self, handle: Any, name: str) -> dict[str, Any]:
        """All variables of one dataset, whole."""
        raise Unsupported("fleets")

    # ---- many small arrays in one file or store

    def create_small(self, path: Path, workload: Workload) -> Any:
        """A new file or group, into which `add_small` puts arrays; `finish` closes it."""
        raise Unsupported("files of small arrays")

    def add_small(self, handle: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        """Create one array in it; what is returned goes to `write_small`."""
        raise Unsupported("files of small arrays")

    def write_small(self, array: Any, values: Any) -> None:
        """Write the whole array."""
        raise Unsupported("files of small arrays")

    def open_small(self, path: Path, workload: Workload) -> Any:
        """Open the file for reading."""
        raise Unsupported("files of small arrays")

    def get_small(self, handle: Any, name: str) -> Any:
        """Open one array of the file."""
        raise Unsupported("files of small arrays")

    def read_small(self, array: Any) -> Any:
        """The whole array in memory."""
        raise Unsupported("files of small arrays")


# The verb without which a kind of workload cannot begin, and its name in words.
FIRST = {
    "array": ("write", "writing arrays"),
    "append": ("append", "appends"),
    "fleet": ("write_fleet", "fleets"),
    "small": ("create_small", "files of small arrays"),
}


def refusal(system: type[System], workload: Workload) -> str | None:
    """Why a system cannot do a workload, as far as its class alone tells: a verb it has not got, or its own answer."""
    verb, words = FIRST[workload.kind]
    if getattr(system, verb) is getattr(System, verb):
        return words
    if workload.options.get("latency") is not None and system.open_url is System.open_url:
        return "reading over HTTP"
    return system.supports(workload)


def features(system: type[System]) -> list[str]:
    """What an adapter has verbs for, as words."""
    verbs = {
        "write": "write",
        "append": "append",
        "read": "read",
        "points": "read_points",
        "http": "open_url",
        "fleet": "read_fleet",
        "small-arrays": "add_small",
    }
    found = [word for word, verb in verbs.items() if getattr(system, verb) is not getattr(System, verb)]
    return found + (["double partitioning"] if system.double_partitioning else [])
