"""Arrays of different shapes: cut by `clip` as NumPy cuts, padded for xarray; mistakes are told what to do instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tessarray
from tessarray.errors import InvalidArgumentError, InvalidTypeError, NotFoundError, SelectionError

SHAPES = ((1, 5), (2, 3), (1, 0), (3, 7))
ends = st.none() | st.integers(-9, 9)
slices = st.builds(slice, ends, ends, st.none() | st.integers(1, 3))


def made() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for i, shape in enumerate(SHAPES):
        rng = np.random.default_rng(i)
        found[f"d{i}"] = {
            "t": (("p", "z"), rng.standard_normal(shape).astype("f4")),
            "count": (("p", "z"), rng.integers(0, 9, shape, "i2")),
            "letters": (("p", "z"), np.full(shape, b"x")),
            "time": (("p",), np.arange(shape[0]).astype("M8[s]")),
            "number": np.int64(i),
        }
        if i != 1:
            found[f"d{i}"]["rare"] = (("z",), rng.integers(0, 9, shape[1]))
    return found


DATASETS = made()


@pytest.fixture(scope="module")
def fleet() -> tessarray.Collection:
    fleet = tessarray.create_collection(tessarray.MemoryStore())
    with fleet.transaction("fill") as tx:
        for name, variables in DATASETS.items():
            tx.add(name, variables)
    return fleet


class TestClip:
    @settings(deadline=None, max_examples=150)
    @given(
        st.tuples(slices)
        | st.tuples(slices, slices)
        | st.tuples(st.just(0), slices)
        | st.tuples(st.just(...), slices)
    )
    def test_slices_are_those_of_numpy(self, fleet: tessarray.Collection, key: tuple[Any, ...]) -> None:
        found = fleet.read("t", selection=key, clip=True)
        for part, one in zip(found, DATASETS.values(), strict=True):
            np.testing.assert_array_equal(part, one["t"][1][key])

    def test_by_name_and_by_function(self, fleet: tessarray.Collection) -> None:
        for selection in (
            {"z": slice(0, 6)},
            lambda name, shape: {"z": slice(0, 6)},
            lambda name, shape: np.s_[..., :6],
        ):
            found = fleet.read("t", selection=selection, clip=True)
            for part, one in zip(found, DATASETS.values(), strict=True):
                np.testing.assert_array_equal(part, one["t"][1][:, :6])
        assert fleet["d1"].read("t", np.s_[:, :9], clip=True).shape == (2, 3)

    def test_single_places_are_not_moved(self, fleet: tessarray.Collection) -> None:
        with pytest.raises(SelectionError):
            fleet.read("t", selection=np.s_[2, :3], clip=True)
        with pytest.raises(SelectionError):
            fleet.read("t", selection=np.s_[:, :, :3], clip=True)
        with pytest.raises(InvalidArgumentError, match="list"):
            fleet.read("t", selection=([0],), clip=True)
        with pytest.raises(InvalidArgumentError, match="step -1"):
            fleet.read("t", selection=np.s_[::-1], clip=True)

    def test_the_cure_is_in_the_message(self, fleet: tessarray.Collection) -> None:
        with pytest.raises(SelectionError, match=r"'?d0.*stop 6 reaches beyond axis 1 .*clip=True"):
            fleet.read("t", selection=np.s_[:, :6])

    def test_of_the_command(self, tmp_path: Path, run: Any) -> None:
        pack = str(tmp_path / "p")
        with tessarray.create_collection(pack).transaction("fill") as tx:
            for name, variables in DATASETS.items():
                tx.add(name, variables)
        command = ("collection", "read", pack, "t", "[0, :6]")
        code, said = run(*command)
        assert code != 0
        assert "--clip" in said
        for raw in ((), ("--raw",)):
            code, said = run(*command, "--clip", "--json", "--values", *raw)
            assert code == 0
            values = json.loads(said)["values"]
            assert [len(one) for one in values.values()] == [5, 3, 0, 6]


class TestPadding:
    @pytest.mark.parametrize("lazy", [True, False])
    def test_all_variables_are_there(self, fleet: tessarray.Collection, lazy: bool) -> None:
        pytest.importorskip("xarray")
        pytest.importorskip("dask")
        found = fleet.to_xarray(pad=True, lazy=lazy, datasets_per_chunk=3)
        assert dict(found.sizes) == {"dataset": 4, "p": 3, "z": 7}
        assert set(found.data_vars) == {"t", "count", "letters", "time", "number", "rare"}
        assert found["count"].dtype == "f4"
        assert found["number"].dtype == "i8", "what needs no padding keeps its type"
        for place, one in enumerate(DATASETS.values()):
            for name in ("t", "count", "letters", "time", "rare"):
                whole = found[name].values[place]
                expected = one[name][1] if name in one else np.empty((0,) * whole.ndim)
                expected = expected.astype("U") if expected.dtype.kind == "S" else expected
                inside = tuple(slice(0, n) for n in expected.shape)
                np.testing.assert_array_equal(whole[inside], expected)
                outside = np.ones(whole.shape, bool)
                outside[inside] = False
                rest = whole[outside]
                assert (
                    (rest == "").all()
                    if name == "letters"
                    else np.isnat(rest).all()
                    if name == "time"
                    else np.isnan(rest).all()
                )

    def test_without_it_the_cure_is_named(self, fleet: tessarray.Collection) -> None:
        pytest.importorskip("xarray")
        with pytest.raises(InvalidArgumentError, match=r"'t': it has 4 shapes; pad=True"):
            fleet.to_xarray(variables="t")
        with pytest.warns(UserWarning, match="pad=True"):
            fleet.to_xarray(lazy=False)

    def test_integers_that_no_double_holds_are_refused(self) -> None:
        pytest.importorskip("xarray")
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction("fill") as tx:
            tx.add("a", {"n": ("z", np.array([2**53 + 1]))})
            tx.add("b", {"n": ("z", np.array([1, 2]))})
        with pytest.raises(InvalidArgumentError, match="exact floating-point"):
            fleet.to_xarray(pad=True, lazy=False)


class TestWords:
    def test_a_number_is_no_name(self, fleet: tessarray.Collection) -> None:
        with pytest.raises(InvalidTypeError, match=r"names\[0\]"):
            fleet[0]  # type: ignore[index]

    def test_several_variables_are_read_many(self, fleet: tessarray.Collection) -> None:
        with pytest.raises(InvalidTypeError, match="read_many"):
            fleet.read(["t", "count"])  # type: ignore[arg-type]
        assert list(fleet.read_many("number")) == ["number"]

    def test_a_zarr_store_is_no_collection(self, tmp_path: Path) -> None:
        tessarray.open_group(tmp_path / "x.zarr", mode="w")
        with pytest.raises(NotFoundError, match="build_collection"):
            tessarray.open_collection(tmp_path / "x.zarr")
        with pytest.raises(NotFoundError) as found:
            tessarray.open_collection(tmp_path / "none")
        assert "build_collection" not in str(found.value)

    def test_expire_says_why_nothing_went(self, tmp_path: Path, run: Any) -> None:
        fleet = tessarray.create_collection(tmp_path / "p")
        for i in range(3):
            with fleet.transaction("one") as tx:
                tx.add(f"d{i}", {"t": [1.0]})
        assert "2 older versions are kept" in run("pack", "expire", str(tmp_path / "p"), "--keep", "2")[1]
        assert "kept" not in run("pack", "expire", str(tmp_path / "p"), "--keep", "2", "--retention", "0s")[1]
