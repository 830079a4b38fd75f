"""Collections: what is added is read back, across datasets of any kind; wrong requests are errors that say where."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import tessarray
from tessarray import RaggedArray
from tessarray.errors import (
    ExistsError,
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
    SelectionError,
)

SHIPS = ("Meteor", "Sonne", "Polarstern")


@pytest.fixture
def fleet() -> tessarray.Collection:
    """Five datasets: `even` has one shape, `ragged` several, `rare` is in two of them."""
    fleet = tessarray.create_collection(tessarray.MemoryStore())
    with fleet.transaction("fill") as tx:
        for i in range(5):
            tx.add(f"d{i}", datasets()[f"d{i}"], attrs={"ship": SHIPS[i % 3], "number": i})
    return fleet


def datasets() -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for i in range(5):
        rng = np.random.default_rng(i)
        made[f"d{i}"] = {
            "even": (("y", "x"), rng.standard_normal((4, 6)).astype("f4"), {"units": "K"}),
            "ragged": (("z", "n"), rng.integers(0, 100, (i, 3))),
            "deep/level": rng.standard_normal(2),
        }
        if i % 2:
            made[f"d{i}"]["rare"] = np.array([i, i + 0.5])
    return made


class TestReading:
    def test_equal_shapes_are_stacked(self, fleet: tessarray.Collection) -> None:
        expected = np.stack([one["even"][1] for one in datasets().values()])
        found = fleet.read("even")
        assert isinstance(found, np.ndarray)
        assert found.dtype == "f4"
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(fleet.read("deep/level")[4], datasets()["d4"]["deep/level"])

    def test_names_give_the_order_and_may_repeat(self, fleet: tessarray.Collection) -> None:
        expected = np.stack([datasets()[name]["even"][1] for name in ("d3", "d0", "d3")])
        np.testing.assert_array_equal(fleet.read("even", ["d3", "d0", "d3"]), expected)
        np.testing.assert_array_equal(fleet.read("even", "d3"), expected[:1])

    def test_different_shapes_are_ragged(self, fleet: tessarray.Collection) -> None:
        found = fleet.read("ragged")
        assert isinstance(found, RaggedArray)
        assert found.names == fleet.names
        assert found.row_sizes.tolist() == [0, 1, 2, 3, 4]
        for name, one in zip(found.names, found, strict=True):
            np.testing.assert_array_equal(one, datasets()[name]["ragged"][1])
        assert found.values.shape == (10, 3)
        assert found.dims == ("z", "n")

    @pytest.mark.parametrize(
        "selection",
        [np.s_[1:3], np.s_[:, 2], np.s_[..., ::2], np.s_[-2:, [0, 5]], 3, np.s_[1, 1], np.s_[::-1], ...],
        ids=str,
    )
    def test_any_selection_of_numpy(self, fleet: tessarray.Collection, selection: Any) -> None:
        expected = np.stack([one["even"][1][selection] for one in datasets().values()])
        np.testing.assert_array_equal(fleet.read("even", selection=selection), expected)

    def test_selections_by_dimension_and_by_dataset(self, fleet: tessarray.Collection) -> None:
        expected = np.stack([one["even"][1][1:, 2] for one in datasets().values()])
        np.testing.assert_array_equal(fleet.read("even", selection={"x": 2, "y": slice(1, None)}), expected)
        halves = fleet.read("ragged", selection=lambda name, shape: np.s_[: shape[0] // 2])
        assert [len(one) for one in halves] == [0, 0, 1, 1, 2]
        firsts = fleet.read("ragged", ["d2", "d3"], selection=lambda name, shape: {"z": int(name[1:]) - 1})
        np.testing.assert_array_equal(firsts, [datasets()[name]["ragged"][1][-1] for name in ("d2", "d3")])

    def test_ragged_arrays_may_give_equal_parts(self, fleet: tessarray.Collection) -> None:
        found = fleet.read("ragged", ["d2", "d3", "d4"], np.s_[:2, 0])
        np.testing.assert_array_equal(
            found, [datasets()[name]["ragged"][1][:2, 0] for name in ("d2", "d3", "d4")]
        )

    def test_nothing_is_clipped(self, fleet: tessarray.Collection) -> None:
        with pytest.raises(SelectionError, match=r"d2/ragged, of shape \[2, 3\].*stop 3.*axis 0"):
            fleet.read("ragged", ["d4", "d2"], np.s_[:3])
        with pytest.raises(SelectionError, match="axis"):
            fleet.read("even", selection=np.s_[-5:])
        with pytest.raises(SelectionError, match="3 axes were indexed, it has 2"):
            fleet.read("even", selection=np.s_[0, 0, 0])
        with pytest.raises(SelectionError, match="out of bounds"):
            fleet.read("even", selection=4)
        with pytest.raises(SelectionError, match="no dimension 'depth'"):
            fleet.read("even", selection={"depth": 0})

    def test_datasets_without_the_variable(self, fleet: tessarray.Collection) -> None:
        with pytest.raises(NotFoundError, match=r"3 of 5 datasets have no variable 'rare': 'd0', 'd2', 'd4'"):
            fleet.read("rare")
        np.testing.assert_array_equal(fleet.read("rare", missing="skip"), [[1, 1.5], [3, 3.5]])
        assert fleet.names_with("rare") == ["d1", "d3"]
        filled = fleet.read("rare", ["d1", "d2"], missing="fill")
        np.testing.assert_array_equal(filled, [[1, 1.5], [np.nan, np.nan]])
        assert fleet.read("rare", ["d0", "d2"], missing="skip").names == []
        with pytest.raises(InvalidArgumentError, match="missing"):
            fleet.read("rare", missing="ignore")  # type: ignore[arg-type]

    def test_ragged_arrays_are_filled_with_nothing(self) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction() as tx:
            tx.add("a", {"t": [1, 2, 3]})
            tx.add("b", {"other": [1]})
            tx.add("c", {"t": [4]})
        found = fleet.read("t", missing="fill")
        assert isinstance(found, RaggedArray)
        assert (found.names, found.row_sizes.tolist()) == (["a", "b", "c"], [3, 0, 1])

    def test_unknown_names_are_key_errors_with_near_ones(self, fleet: tessarray.Collection) -> None:
        with pytest.raises(KeyError, match="no variable 'evn'; did you mean 'even'"):
            fleet.read("evn")
        with pytest.raises(KeyError, match="no variable 'evn'"):
            fleet.read("evn", missing="skip")
        with pytest.raises(KeyError, match="no dataset 'd9'; did you mean"):
            fleet.read("even", ["d0", "d9"], missing="skip")
        with pytest.raises(KeyError, match="no dataset 'x'"):
            fleet["x"]
        with pytest.raises(KeyError, match="no variable 'eve'; did you mean 'even'"):
            fleet["d0"]["eve"]

    def test_several_variables_and_buffers(self, fleet: tessarray.Collection) -> None:
        found = fleet.read_many(["even", "ragged"])
        assert list(found) == ["even", "ragged"]
        out = np.empty((5, 2, 6), "f4")
        assert fleet.read("even", selection=np.s_[:2], out=out) is out
        np.testing.assert_array_equal(out, fleet.read("even")[:, :2])
        for wrong in (
            np.empty((5, 2, 6)),
            np.empty((5, 3, 6), "f4"),
            np.empty((5, 6, 2), "f4").swapaxes(1, 2),
        ):
            with pytest.raises((InvalidArgumentError, InvalidTypeError), match="out"):
                fleet.read("even", selection=np.s_[:2], out=wrong)
        with pytest.raises(InvalidArgumentError, match="ragged"):
            fleet.read("ragged", out=np.empty(30, np.int64))

    def test_dtypes_that_differ_give_one_that_holds_both(self) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction() as tx:
            tx.add("a", {"t": np.array([1, 2], "i2"), "s": np.array([1])})
            tx.add("b", {"t": np.array([1.5, 2.5], "f4"), "s": np.array(["x"], "U1")})
        found = fleet.read("t")
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, [[1, 2], [1.5, 2.5]])
        with pytest.raises(InvalidTypeError, match="which no dtype holds"):
            fleet.read("s")
        with fleet.transaction() as tx:
            tx.add("c", {"t": np.zeros((2, 2))})
        with pytest.raises(SelectionError, match="ranks"):
            fleet.read("t")

    def test_packed_values_are_decoded_by_each_datasets_own_attributes(self) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction() as tx:
            for name, scale, offset in (("a", 0.5, 0.0), ("b", 0.25, -10.0)):
                attrs = {"scale_factor": scale, "add_offset": offset, "_FillValue": np.int16(-1)}
                tx.add(name, {"t": ("z", np.array([0, 4, -1], "i2"), attrs)})
        np.testing.assert_array_equal(fleet.read("t", decode=False), [[0, 4, -1], [0, 4, -1]])
        decoded = fleet.read("t")
        assert decoded.dtype == np.float32
        np.testing.assert_array_equal(decoded, [[0, 2, np.nan], [-10, -9, np.nan]])
        np.testing.assert_array_equal(fleet.read("t", ["b"], np.s_[1:2], decode=True), [[-9]])


class TestValues:
    """Round trips of everything that can be stored."""

    CASES: ClassVar[dict[str, Any]] = {
        "empty": np.empty((0, 3), "f4"),
        "scalar": np.float64(2.5),
        "bool": np.array([True, False]),
        "datetime": np.array(["2026-01-01", "NaT"], "M8[s]"),
        "duration": np.array([5, 7], "m8[ms]"),
        "text": ["a", "ß", ""],
        "fixed": np.array(["abc", "d"], "U3"),
        "chars": np.array([[b"a", b"b"], [b"c", b""]], "S1"),
        "complex": np.array([1 + 2j], "c8"),
        "big": np.array([1, 2], ">i4"),
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "strided": np.arange(20)[::3],
        "half": np.array([1.5, np.nan], "f2"),
    }

    @pytest.mark.parametrize("case", CASES)
    def test_what_is_added_is_read(self, case: str, tmp_path: Path) -> None:
        values = self.CASES[case]
        fleet = tessarray.create_collection(tmp_path / "x.pack", durable=False)
        with fleet.transaction() as tx:
            tx.add("one", {"v": values})
            tx.add("two", {"v": values})
        found = tessarray.open_collection(tmp_path / "x.pack").read("v")
        expected = np.stack([np.asarray(values)] * 2)
        np.testing.assert_array_equal(found.astype(expected.dtype), expected)
        np.testing.assert_array_equal(np.asarray(fleet["one"]["v"][...]).astype(expected.dtype), expected[0])

    def test_values_may_change_once_they_are_added(self) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        values = np.zeros(3)
        with fleet.transaction() as tx:
            for i in range(3):
                values[:] = i
                tx.add(f"d{i}", {"v": values})
        np.testing.assert_array_equal(fleet.read("v")[:, 0], [0, 1, 2])

    def test_many_shapes_have_few_kinds(self) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction() as tx:
            for n in range(1, 200):
                tx.add(f"d{n:03}", {"v": np.arange(n)})
        found = fleet.read("v")
        assert [one.tolist() for one in found] == [list(range(n)) for n in range(1, 200)]
        assert len(fleet._core().find("v").kinds) < 40

    def test_wrong_values_are_refused_and_leave_nothing(self) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction() as tx:
            tx.add("a", {"v": [1]})
            with pytest.raises(ExistsError, match='"a" is there'):
                tx.add("a", {"v": [1]})
            for name in ("", "a/b", "__x", ".."):
                with pytest.raises(InvalidArgumentError, match="dataset name"):
                    tx.add(name, {"v": [1]})
            with pytest.raises(InvalidTypeError, match="'v'"):
                tx.add("b", {"v": np.array([object()])})
            with pytest.raises(InvalidArgumentError, match="dimension names"):
                tx.add("b", {"v": (("x", "y"), [1])})
            with pytest.raises(InvalidTypeError, match="tuple of 4"):
                tx.add("b", {"v": (1, 2, 3, 4)})
        assert fleet.names == ["a"]


class TestChanging:
    def test_update_append_remove_rename(self, fleet: tessarray.Collection) -> None:
        with fleet.transaction("change") as tx:
            tx.update("d0", "even", np.s_[0, :2], [7, 8])
            assert tx.append("d1", "ragged", [[1, 2, 3]]) == (2, 3)
            tx.remove("d2")
            tx.rename("d3", "new")
            tx.set_attributes("d4", {"ship": "Maria"})
            assert "d2" not in tx
            with pytest.raises(NotFoundError, match="no dataset 'd2'"):
                tx.update("d2", "even", 0, 0)
            with pytest.raises(NotFoundError, match="no variable 'nothing'"):
                tx.update("d0", "nothing", 0, 0)
            with pytest.raises(InvalidArgumentError, match="there already"):
                tx.rename("d0", "d1")
        assert fleet.names == ["d0", "d1", "d4", "new"]
        assert fleet["d0"]["even"][0, :2].tolist() == [7, 8]
        np.testing.assert_array_equal(fleet.read("even", "new")[0], datasets()["d3"]["even"][1])
        assert fleet["new"].attrs == {"ship": SHIPS[0], "number": 3}
        assert fleet["d4"].attrs["ship"] == "Maria"
        assert fleet.at(1).names == [f"d{i}" for i in range(5)]

    def test_an_exception_changes_nothing(self, fleet: tessarray.Collection) -> None:
        def fails() -> None:
            with fleet.transaction() as tx:
                tx.add("x", {"v": [1]})
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fails()
        assert "x" not in fleet
        assert fleet.version == 1

    def test_handles_see_new_versions_and_pickles_the_one_that_was(self, tmp_path: Path) -> None:
        fleet = tessarray.create_collection(tmp_path / "x.pack", durable=False)
        with fleet.transaction() as tx:
            tx.add("a", {"v": [1]})
        other = tessarray.open_collection(tmp_path / "x.pack")
        pinned = pickle.loads(pickle.dumps(other))
        with fleet.transaction() as tx:
            tx.add("b", {"v": [2]})
        assert other.read("v").tolist() == [[1], [2]]
        assert pinned.read("v").tolist() == [[1]]
        with pytest.raises(PermissionError):
            pinned.transaction()

    def test_two_writers_add_side_by_side(self, tmp_path: Path) -> None:
        fleet = tessarray.create_collection(tmp_path / "x.pack", durable=False)
        with fleet.transaction() as tx:
            tx.add("first", {"v": [0]})
        one, two = fleet.transaction(), fleet.transaction()
        one.add("a", {"v": [1]})
        two.add("b", {"v": [2]})
        one.commit()
        two.commit()
        assert fleet.names == ["a", "b", "first"]
        assert fleet.read("v").ravel().tolist() == [1, 2, 0]


class TestRagged:
    def ragged(self) -> RaggedArray:
        shapes = np.array([[2, 1], [1, 3], [0, 2]])
        return RaggedArray(["a", "b", "c"], np.arange(5.0), shapes, ("z", "x"))

    def test_parts_have_their_own_shapes(self) -> None:
        found = self.ragged()
        assert found["b"].tolist() == [[2, 3, 4]]
        assert [one.shape for one in found] == [(2, 1), (1, 3), (0, 2)]
        assert found[-1].shape == (0, 2)
        assert found[1:].names == ["b", "c"]
        assert found[1:].values.tolist() == [2, 3, 4]
        assert found.tolist() == [[[0], [1]], [[2, 3, 4]], []]
        with pytest.raises(IndexError):
            found[3]
        with pytest.raises(KeyError):
            found["d"]
        with pytest.raises(InvalidArgumentError, match="expected 5 elements, found 4"):
            RaggedArray(["a"], np.arange(4), np.array([[5]]))

    def test_padding_is_asked_for(self) -> None:
        padded = self.ragged().pad()
        assert padded.shape == (3, 2, 3)
        np.testing.assert_array_equal(padded[0], [[0, np.nan, np.nan], [1, np.nan, np.nan]])
        assert np.isnan(padded[2]).all()
        whole = RaggedArray(["a", "b"], np.arange(3), np.array([[1], [2]]))
        with pytest.raises(InvalidArgumentError, match="pass fill_value"):
            whole.pad()
        assert whole.pad(-1).tolist() == [[0, -1], [1, 2]]
        assert RaggedArray([], np.empty(0), np.empty((0, 1), int)).pad().shape == (0, 0)

    def test_awkward(self) -> None:
        awkward = pytest.importorskip("awkward")
        assert awkward.to_list(self.ragged().to_awkward()) == self.ragged().tolist()
        even = RaggedArray(["a", "b"], np.arange(6), np.array([[1, 2], [2, 2]]))
        assert awkward.to_list(even.to_awkward()) == [[[0, 1]], [[2, 3], [4, 5]]]

    def test_a_cf_ragged_array(self) -> None:
        pytest.importorskip("xarray")
        found = RaggedArray(["a", "b"], np.arange(6), np.array([[1, 2], [2, 2]]), ("z", "x")).to_xarray("t")
        assert found["t"].dims == ("obs", "x")
        assert found["row_size"].values.tolist() == [1, 2]
        assert found["row_size"].attrs["sample_dimension"] == "obs"
        with pytest.raises(InvalidArgumentError, match=r"first axis only.*pad=True"):
            self.ragged().to_xarray()

    def test_any_shapes_are_one_padded_array(self) -> None:
        pytest.importorskip("xarray")
        ragged = self.ragged()
        found = ragged.to_xarray("t", pad=True)
        assert found["t"].dims[0] == "dataset"
        np.testing.assert_array_equal(found["t"], ragged.pad())
        assert found["dataset"].values.tolist() == ragged.names

    def test_names_of_dimensions_are_not_guessed(self) -> None:
        assert RaggedArray(["a", "b"], np.arange(3), np.array([[1], [2]]), ("p", "z")).dims is None


class TestSel:
    def test_by_values_of_each_datasets_own_coordinates(self) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        depths = {"a": [0.0, 10, 20], "b": [25.0, 15, 5], "c": [100.0]}
        with fleet.transaction() as tx:
            for name, depth in depths.items():
                values = np.arange(len(depth) * 2).reshape(len(depth), 2)
                tx.add(name, {"z": ("z", np.array(depth)), "t": (("z", "x"), values)})
        chosen = fleet.sel({"z": slice(5, 20)})
        assert chosen.names == ["a", "b"]
        assert chosen.read("z").tolist() == [[10, 20], [15, 5]]
        assert chosen.read("t").tolist() == [[[2, 3], [4, 5]], [[2, 3], [4, 5]]]
        nearest = fleet.sel({"z": 12.0}, ["a", "b"])
        assert nearest.read("z").tolist() == [10, 15]
        with pytest.raises(KeyError, match="no variable 'depth'"):
            fleet.sel({"depth": 3})


class TestPyramids:
    """Levels of an OME-Zarr image share their dimensions, each of its own length."""

    LEVELS: ClassVar[dict[str, Any]] = {
        str(level): (("y", "x"), np.zeros((8 >> level, 8 >> level))) for level in range(3)
    }

    def images(self, *paths: str) -> dict[str, Any]:
        return {
            "multiscales": [
                {"axes": [{"name": "y"}, {"name": "x"}], "datasets": [{"path": p} for p in paths]}
            ]
        }

    @pytest.mark.parametrize("wrap", [lambda images: images, lambda images: {"ome": images}])
    def test_levels_may_differ(self, wrap: Any) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction("image") as tx:
            tx.add("a", self.LEVELS, attrs=wrap(self.images("0", "1", "2")))
        assert [fleet.read(level)[0].shape for level in "012"] == [(8, 8), (4, 4), (2, 2)]

    def test_what_is_no_level_may_not(self) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        for attrs in ({}, self.images("0"), {"multiscales": 3}, {"multiscales": [{"datasets": [7]}]}):
            with pytest.raises(InvalidArgumentError, match="dimension 'y'"), fleet.transaction("image") as tx:
                tx.add("a", self.LEVELS, attrs=attrs)

    def test_files_of_pyramids_are_built(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            image = tessarray.create_group(tmp_path / f"{name}.zarr", zarr_format=3)
            for level in range(3):
                image.create_array(
                    f"img/{level}", data=np.full((8 >> level,) * 2, level), dimension_names=("y", "x")
                )
            image["img"].attrs.update({"ome": self.images("0", "1", "2")})
        report = tessarray.build_collection(tmp_path / "*.zarr", tmp_path / "c.pack")
        assert len(report.added) == 2
        fleet = tessarray.open_collection(tmp_path / "c.pack")
        assert fleet.read("img/2").shape == (2, 2, 2)
