"""The drivers of fleets and of small arrays, with a system of `.npy` files: what they measure, and whom they catch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tessarray_bench import fleet_data
from tessarray_bench.model import Codec, Fleet, Job, Layout, Variable, Workload
from tessarray_bench.suites import fleet as fleet_suite
from tessarray_bench.suites import small_arrays
from tessarray_bench.systems.base import System, Unsupported
from tessarray_bench.worker import fleet, small
from tessarray_bench.worker.meter import Meter, Row
from tessarray_bench.worker.verify import WrongAnswer

VARIABLES = (
    Variable("warmth", (6, 5), "f4"),
    Variable("energy", (6, 4), "f8"),
    Variable("salt", (6, 5), "f4"),
)
SEVEN = Fleet(7, VARIABLES, seed=3)
RAGGED = Fleet(7, VARIABLES, ragged=True, seed=3)
ARRAYS = Fleet(9, (Variable("values", (3, 4), "f4"),), seed=1)


class Files(System):
    """A dataset is a folder of `.npy` files; so is a file of small arrays."""

    name = "files"
    store = "store"

    def write_fleet(
        self, path: Path, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> None:
        for name, arrays in datasets:
            (path / name).mkdir(parents=True)
            for variable, values in arrays.items():
                np.save(path / name / variable, values)

    def open_fleet(self, path: Path, workload: Workload) -> Any:
        return path

    def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
        found = (np.load(handle / name / f"{variable}.npy") for name in names)
        return [array[tuple(slice(math.ceil(share * n)) for n in array.shape)] for array in found]

    def read_dataset(self, handle: Any, name: str) -> dict[str, Any]:
        return {path.stem: np.load(path) for path in (handle / name).iterdir()}

    def create_small(self, path: Path, workload: Workload) -> Any:
        path.mkdir()
        return path

    def add_small(self, handle: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        return handle / f"{name}.npy"

    def write_small(self, array: Any, values: Any) -> None:
        np.save(array, values)

    def open_small(self, path: Path, workload: Workload) -> Any:
        return path

    def get_small(self, handle: Any, name: str) -> Any:
        return handle / f"{name}.npy"

    def read_small(self, array: Any) -> Any:
        return np.load(array)


def job(process: str, folder: Path, given: Fleet, kind: str = "fleet", system: str = "files") -> Job:
    layout = Layout((6, 5), None, Codec.parse("none")) if kind == "fleet" else None
    workload = Workload(f"{kind}/seven", kind, kind, fleet=given, layout=layout, options={"slice": 0.25})
    return Job(workload, system, process, 0, str(folder / "store"), writer="files")


def rows(process: str, folder: Path, given: Fleet, system: System | None = None) -> dict[str, Row]:
    found = fleet.run(job(process, folder, given), system or Files(), Meter())
    return {row["step"]: row for row in found}


def small_rows(process: str, folder: Path, system: System | None = None) -> dict[str, Row]:
    found = small.run(job(process, folder, ARRAYS, "small"), system or Files(), Meter())
    return {row["step"]: row for row in found}


# ---- the values


@pytest.mark.parametrize("mapped", [True, False])
def test_values_from_the_file_of_a_run_are_those_that_are_made(tmp_path: Path, mapped: bool) -> None:
    for fleet_given in (SEVEN, RAGGED):
        made = [fleet_data.dataset(fleet_given, index) for index in range(7)]
        path = fleet_data.save(fleet_given, tmp_path / f"{fleet_given.ragged}" / "fleet.bin")
        try:
            fleet_data.use(fleet_given, path, mapped)
            for index, dataset in enumerate(made):
                for name, values in fleet_data.dataset(fleet_given, index).items():
                    assert values.dtype == dataset[name].dtype
                    np.testing.assert_array_equal(values, dataset[name])
                    assert isinstance(values.base, np.memmap) == mapped
        finally:
            fleet_data._given.clear()


def test_values_depend_on_the_seed_the_dataset_and_the_variable_alone() -> None:
    first = fleet_data.values(SEVEN, 2, 1)
    assert first.tobytes() == fleet_data.values(Fleet(50, VARIABLES, seed=3), 2, 1).tobytes()
    others = [(SEVEN, 3, 1), (SEVEN, 2, 0), (Fleet(7, VARIABLES, seed=4), 2, 1)]
    assert all(first.tobytes() != fleet_data.values(*other).tobytes() for other in others)


def test_ragged_datasets_differ_in_the_rows_of_axis_0_which_their_variables_share() -> None:
    lengths = [{a.shape[0] for a in fleet_data.dataset(RAGGED, index).values()} for index in range(7)]
    assert all(len(found) == 1 for found in lengths)
    assert len(set.union(*lengths)) > 1
    assert set.union(*lengths) <= set(range(3, 7))
    assert fleet_data.dataset(RAGGED, 4)["energy"].shape[1:] == (4,)


def test_a_fleet_larger_than_memory_repeats_its_first_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet_data, "DISTINCT_BYTES", 1500)  # each dataset has 432 bytes
    assert fleet_data.distinct(SEVEN) == 3
    held = fleet_data.datasets(SEVEN)
    assert len({name for name, _ in held}) == 7
    assert held[5][1]["salt"].tobytes() == fleet_data.values(SEVEN, 2, 2).tobytes()
    assert [a.tobytes() for a in fleet_data.column(SEVEN, 0)] == [d["warmth"].tobytes() for _, d in held]
    fleet_data.forget()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1"])
def test_a_checksum_is_the_same_in_any_memory_order_and_finds_one_wrong_bit(dtype: str) -> None:
    values = np.random.default_rng(0).integers(1, 99, (5, 6, 7)).astype(dtype)
    assert fleet_data.checksum(values) == fleet_data.checksum(np.asfortranarray(values))
    assert fleet_data.checksum(values[::2, 1:]) == fleet_data.checksum(values[::2, 1:].copy())
    changed = values.copy()
    changed[3, 2, 1] += 1
    assert fleet_data.checksum(values) != fleet_data.checksum(changed)


# ---- a fleet


@pytest.mark.parametrize("given", [SEVEN, RAGGED])
def test_a_fleet_is_written_read_and_checked(tmp_path: Path, given: Fleet) -> None:
    held = dict(fleet_data.datasets(given))
    nbytes = sum(values.nbytes for dataset in held.values() for values in dataset.values())

    written = rows("write", tmp_path, given)
    assert list(written) == ["write", "sync"]
    assert written["write"]["nbytes"] == nbytes
    assert written["write"]["files"] == 21
    assert written["write"]["stored"] > nbytes

    read = rows("read", tmp_path, given)
    assert list(read) == ["open", "open + slice", "slice", "one dataset", "read all"]
    assert all(row["status"] == "ok" for row in read.values())
    corner = sum(fleet_data.corner(dataset["warmth"], 0.25).nbytes for dataset in held.values())
    assert read["open + slice"]["nbytes"] == read["slice"]["nbytes"] == corner
    assert read["one dataset"]["calls"] == 7
    assert set(read["one dataset"]["latency"]) >= {"p50", "p99", "first"}
    assert read["one dataset"]["nbytes"] == read["read all"]["nbytes"] == nbytes
    assert all(row["verified"] for step, row in read.items() if step != "open")

    (checked,) = rows("check", tmp_path, given).values()
    assert checked["nbytes"] == nbytes
    assert checked["reader"] == "files"


def test_the_slice_reads_another_variable_than_the_one_that_was_opened_with(tmp_path: Path) -> None:
    asked: list[tuple[str, float]] = []

    class Watched(Files):
        def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
            asked.append((variable, share))
            return super().read_fleet(handle, variable, names, share)

    rows("write", tmp_path, SEVEN)
    rows("read", tmp_path, SEVEN, Watched())
    # The last variable of the same shape and type; `energy` has another.
    assert asked[:2] == [("warmth", 0.25), ("salt", 0.25)]
    assert asked[2:] == [(variable.name, 1.0) for variable in VARIABLES]


def test_a_lazy_answer_is_computed_within_the_timer(tmp_path: Path) -> None:
    class Lazy:
        def __init__(self, values: Any) -> None:
            self.values = values

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            computed.append(1)
            return self.values

    class Slow(Files):
        def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
            return [Lazy(array) for array in super().read_fleet(handle, variable, names, share)]

    computed: list[int] = []
    rows("write", tmp_path, SEVEN)
    read = rows("read", tmp_path, SEVEN, Slow())
    assert read["read all"]["verified"]
    assert len(computed) == 5 * 7  # each once: verification uses what was consumed


def test_a_verb_that_is_missing_is_a_row_of_its_own_and_the_others_go_on(tmp_path: Path) -> None:
    class NoBulk(Files):
        def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
            raise Unsupported("bulk reads")

    rows("write", tmp_path, SEVEN)
    read = rows("read", tmp_path, SEVEN, NoBulk())
    assert [read[step]["status"] for step in ("open + slice", "slice", "one dataset", "read all")] == [
        "unsupported",
        "unsupported",
        "ok",
        "unsupported",
    ]
    assert read["slice"]["reason"] == "bulk reads"


Change = Callable[[list[Any]], list[Any]]


def _bit(found: list[Any]) -> list[Any]:
    found[4][0, 1] = np.nextafter(found[4][0, 1], np.float32(np.inf))
    return found


CHANGES: list[tuple[Change, str]] = [
    (_bit, r"dataset 'd0004', variable 'warmth' \[0, 1\]: expected"),
    (lambda found: found[:-1], r"variable 'warmth': expected 7 datasets, found 6 .*'d0006'"),
    (lambda found: [*found, found[0]], r"variable 'warmth': expected 7 datasets, found 8"),
    (
        lambda found: [*found[:2], found[2][:1], *found[3:]],
        r"dataset 'd0002', variable 'warmth' : expected shape",
    ),
    (lambda found: [found[1], found[0], *found[2:]], r"dataset 'd0000', variable 'warmth' \[0, 0\]"),
    (
        lambda found: [array.astype("f8") for array in found],
        r"dataset 'd0000', variable 'warmth' : expected float32",
    ),
    (lambda found: [*found[:3], None, *found[4:]], r"dataset 'd0003', variable 'warmth' : expected shape"),
]


@pytest.mark.parametrize(("change", "text"), CHANGES)
def test_a_wrong_slice_names_the_dataset_and_the_variable(tmp_path: Path, change: Change, text: str) -> None:
    class Wrong(Files):
        def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
            return change(super().read_fleet(handle, variable, names, share))

    rows("write", tmp_path, SEVEN)
    with pytest.raises(WrongAnswer, match=text):
        rows("read", tmp_path, SEVEN, Wrong())


def _dropped(found: dict[str, Any]) -> dict[str, Any]:
    return {variable: values for variable, values in found.items() if variable != "salt"}


def _rounded(found: dict[str, Any]) -> dict[str, Any]:
    return found | {"energy": np.round(found["energy"], 6)}


@pytest.mark.parametrize("process", ["read", "check"])
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (_dropped, r"dataset 'd000\d': expected variables .*'salt'"),
        (_rounded, r"dataset 'd000\d', variable 'energy'"),
    ],
)
def test_a_wrong_dataset_is_named_by_the_reader_and_by_the_check(
    tmp_path: Path, process: str, change: Callable[[dict[str, Any]], dict[str, Any]], text: str
) -> None:
    class Wrong(Files):
        def read_dataset(self, handle: Any, name: str) -> dict[str, Any]:
            return change(super().read_dataset(handle, name))

    rows("write", tmp_path, SEVEN)
    with pytest.raises(WrongAnswer, match=text):
        rows(process, tmp_path, SEVEN, Wrong())


def test_a_system_that_does_not_take_all_datasets_is_caught_at_the_write(tmp_path: Path) -> None:
    class Lazybones(Files):
        def write_fleet(self, path: Path, datasets: Iterator[tuple[str, Any]], workload: Workload) -> None:
            super().write_fleet(path, iter([next(datasets)]), workload)

    with pytest.raises(WrongAnswer, match="not all datasets"):
        rows("write", tmp_path, SEVEN, Lazybones())


def test_facts_that_an_adapter_has_for_arrays_only_do_not_fail_the_write(tmp_path: Path) -> None:
    class Arrays(Files):
        def facts(self, path: Path) -> dict[str, Any]:
            return {"chunks": np.load(path).shape}

    written = rows("write", tmp_path, SEVEN, Arrays())
    assert "IsADirectoryError" in written["write"]["facts"]["unknown"]


# ---- small arrays


def test_small_arrays_are_written_read_and_checked_one_by_one_and_as_whole_jobs(tmp_path: Path) -> None:
    written = small_rows("write", tmp_path)
    assert list(written) == ["create", "write", "close", "whole write job", "sync"]
    assert written["create"]["calls"] == written["write"]["calls"] == 9
    assert written["whole write job"]["calls"] == 1
    assert written["whole write job"]["nbytes"] == written["write"]["nbytes"] == 9 * 48
    assert written["whole write job"]["files"] == 9
    assert [entry.name for entry in tmp_path.iterdir()] == ["store"]  # what the parts were timed on is gone

    read = small_rows("read", tmp_path)
    assert list(read) == ["open", "read", "whole job"]
    assert read["read"]["calls"] == 9
    assert read["read"]["verified"]
    assert read["whole job"]["verified"]
    assert read["whole job"]["nbytes"] == 9 * 48
    assert small_rows("check", tmp_path)["check"]["reader"] == "files"


@pytest.mark.parametrize("process", ["read", "check"])
def test_a_wrong_small_array_is_named(tmp_path: Path, process: str) -> None:
    class Wrong(Files):
        def read_small(self, array: Any) -> Any:
            return super().read_small(array) * (2 if "d0005" in array.name else 1)

    small_rows("write", tmp_path)
    with pytest.raises(WrongAnswer, match=r"array 'd0005' \[0, 0\]: expected"):
        small_rows(process, tmp_path, Wrong())


def test_a_system_that_is_right_only_while_it_is_watched_one_by_one_is_caught(tmp_path: Path) -> None:
    class Later(Files):
        reads = 0

        def read_small(self, array: Any) -> Any:
            self.reads += 1
            return super().read_small(array) + np.float32(self.reads > 12)

    small_rows("write", tmp_path)
    with pytest.raises(WrongAnswer, match=r"array 'd0003': expected checksum"):
        small_rows("read", tmp_path, Later())


# ---- the suites


def test_the_suites_scale_and_mark_what_is_heavy() -> None:
    full = {workload.id: workload for workload in fleet_suite.workloads(1)}
    for name in ("profile", "gridded", "sensors", "ragged"):
        assert {f"fleet/{name}/{count}" for count in (100, 500, 1000)} <= set(full)
    heavy = {name for name, workload in full.items() if workload.options.get("heavy")}
    assert heavy == {f"fleet/{x}" for x in ("profile/10000", "sensors/10000", "gridded/500", "gridded/1000")}
    assert "fleet/gridded/300" in full
    assert full["fleet/gridded/100"].layout == Layout((50, 50, 24), None, Codec.parse("zstd:3"))

    tiny = fleet_suite.workloads(0.01)
    assert len({workload.id for workload in tiny}) == len(tiny)
    assert min(workload.fleet.count for workload in tiny if workload.fleet) == 4

    small_full = small_arrays.workloads(1)
    assert [w.id for w in small_full if w.options.get("heavy")] == ["small-arrays/128x128x128/2048"]
    assert sum(w.nbytes for w in small_arrays.workloads(0.001)) < 64 << 20
    for workload in (*full.values(), *tiny, *small_full):
        assert Workload.from_json(workload.to_json()) == workload
