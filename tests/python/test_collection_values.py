"""Values of collections mean the same wherever they are asked for: reads, statistics, `map` and the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tessarray
from tessarray.collection.tables import Facts
from tessarray.errors import InvalidArgumentError

h5py = pytest.importorskip("h5py")


@st.composite
def variables(draw: st.DrawFn) -> tuple[Any, dict[str, Any], Any]:
    """Stored values, attributes, and what the values mean."""
    dtype = np.dtype(draw(st.sampled_from(["i1", "u2", "i4", "i8", "f4", "f8"])))
    stored = np.array(draw(st.lists(st.integers(0, 9), min_size=1, max_size=8)), dtype)
    attrs: dict[str, Any] = {}
    missing = []
    if draw(st.booleans()):
        attrs["_FillValue"] = dtype.type(draw(st.integers(0, 9)))
        missing.append(attrs["_FillValue"])
    if draw(st.booleans()):
        attrs["missing_value"] = draw(st.sampled_from([3, 4.0, [5, 6], 99999.0, -1e20, 3.5]))
        missing += np.atleast_1d(attrs["missing_value"]).tolist()
    if draw(st.booleans()):
        attrs |= {"scale_factor": draw(st.sampled_from([0.5, 2.0, -1.0])), "add_offset": 10.0}
    expected = stored * attrs.get("scale_factor", 1.0) + attrs.get("add_offset", 0.0)
    return stored, attrs, np.where(np.isin(stored, missing), np.nan, expected)


class TestMeaning:
    @given(st.lists(variables(), min_size=1, max_size=5))
    @settings(max_examples=40, deadline=None)
    def test_reads_and_statistics_agree_for_any_attributes(self, made: list[Any]) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction() as tx:
            for i, (stored, attrs, _) in enumerate(made):
                tx.add(f"d{i}", {"v": ("z", stored, attrs)})
        for _ in range(2):
            facts = Facts(fleet._core(), fleet._core().find("v"))
            means = fleet.map(lambda dataset: dataset.read("v"))
            for i, (stored, _, expected) in enumerate(made):
                np.testing.assert_array_equal(fleet.read("v")[i], expected)
                np.testing.assert_array_equal(means[i], expected)
                np.testing.assert_array_equal(fleet[f"d{i}"]["v"][...], stored)
                np.testing.assert_array_equal(fleet.read("v", f"d{i}", decode=False)[0], stored)
                valid = expected[~np.isnan(expected)]
                assert (facts.count[i], facts.nulls[i]) == (valid.size, stored.size - valid.size)
                assert facts.min[i] == (valid.min() if valid.size else None)
                assert facts.max[i] == (valid.max() if valid.size else None)
            # The same for statistics that are made anew from what is stored.
            with fleet.transaction() as tx:
                for i, (stored, _, _) in enumerate(made):
                    tx.update(f"d{i}", "v", ..., stored)

    def test_integers_that_no_double_holds_are_refused_not_rounded(self) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction() as tx:
            tx.add("a", {"v": ("z", np.array([2**53 + 1, -1]), {"_FillValue": np.int64(-1)})})
            tx.add("b", {"v": ("z", np.array([5, 2**62]), {"_FillValue": np.int64(2**62)})})
        with pytest.raises(InvalidArgumentError, match=r"9007199254740993.*decode=False"):
            fleet.read("v")
        assert fleet.read("v", decode=False).tolist() == [[2**53 + 1, -1], [5, 2**62]]
        np.testing.assert_array_equal(fleet.read("v", "b"), [[5, np.nan]])

    def test_zero_is_a_value_where_it_only_fills_what_is_not_written(self, tmp_path: Path) -> None:
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["v"] = np.arange(3)
        for version in (2, 3):
            group = tessarray.create_group(tmp_path / f"{version}.zarr", zarr_format=version)
            group["v"] = np.arange(3)
        tessarray.build_collection(tmp_path, tmp_path / "x.pack")
        fleet = tessarray.open_collection(tmp_path / "x.pack")
        assert fleet.read("v").tolist() == [[0, 1, 2]] * 3
        assert Facts(fleet._core(), fleet._core().find("v")).min == [0, 0, 0]


class TestDimensions:
    """A dimension has one length in a group, whatever a dataset is made of: else xarray could not show it."""

    CONFLICT = r"variable 'P': dimension 'z' has length 4, and 3 in 'T'"

    def test_two_lengths_are_refused_when_they_are_added(self, tmp_path: Path) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        with fleet.transaction() as tx:
            with pytest.raises(InvalidArgumentError, match=self.CONFLICT):
                tx.add("n", {"T": ("z", np.zeros(3)), "P": ("z", np.zeros(4))})
            with pytest.raises(InvalidArgumentError, match="'square': dimension 'z' has length 2, and 3"):
                tx.add("n", {"square": (("z", "z"), np.zeros((3, 2)))})
            with pytest.raises(
                InvalidArgumentError, match="'g/P': dimension 'z' has length 4, and 3 in 'g/T'"
            ):
                tx.add("n", {"g/T": ("z", np.zeros(3)), "g/P": ("z", np.zeros(4))})
            assert "n" not in tx
            # Each group has dimensions of its own; what has no names has none.
            tx.add("n", {"T": ("z", np.zeros(3)), "g/T": ("z", np.zeros(4)), "U": np.zeros(5)})
        assert fleet["n"].to_xarray()["T"].shape == (3,)
        assert fleet["n"].to_xarray("g")["T"].shape == (4,)

    def test_files_with_two_lengths_are_refused_or_skipped(self, tmp_path: Path) -> None:
        group = tessarray.create_group(tmp_path / "m/a.zarr")
        group.create_array("T", data=np.zeros(3), dimension_names=["z"])
        group.create_array("P", data=np.zeros(4), dimension_names=["z"])
        with pytest.raises(InvalidArgumentError, match="dimension 'z' has length"):
            tessarray.build_collection(tmp_path / "m", tmp_path / "x.pack")
        np.savez(tmp_path / "m/b.npz", v=np.zeros(2))
        report = tessarray.build_collection(tmp_path / "m", tmp_path / "x.pack", on_error="skip")
        assert report.added == ("b",)
        assert "dimension 'z'" in report.skipped[0][1]

    @given(st.lists(st.tuples(st.sampled_from(["", "g/", "h/"]), st.integers(1, 2)), min_size=1, max_size=5))
    @settings(max_examples=40, deadline=None)
    def test_what_is_taken_can_be_shown(self, made: list[tuple[str, int]]) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        dataset = {f"{group}v{i}": ("z", np.zeros(length)) for i, (group, length) in enumerate(made)}
        groups = {group: {length for one, length in made if one == group} for group, _ in made}
        with fleet.transaction() as tx:
            if any(len(lengths) > 1 for lengths in groups.values()):
                with pytest.raises(InvalidArgumentError, match="dimension 'z'"):
                    tx.add("a", dataset)
                return
            tx.add("a", dataset)
        for group, lengths in groups.items():
            assert set(fleet["a"].to_xarray(group.strip("/")).sizes.values()) == lengths

    def test_masked_elements_are_missing(self) -> None:
        fleet = tessarray.create_collection(tessarray.MemoryStore())
        mask = [False, True]
        with fleet.transaction() as tx:
            tx.add(
                "a", {"f": np.ma.array([1.0, 5.0], mask=mask), "t": np.ma.array([1, 2], "M8[s]", mask=mask)}
            )
            tx.add("b", {"i": ("z", np.ma.array([1, 5], mask=mask), {"_FillValue": -9})})
            with pytest.raises(InvalidArgumentError, match="'i': masked elements of int64 need a _FillValue"):
                tx.add("c", {"i": np.ma.array([1, 5], mask=mask)})
        np.testing.assert_array_equal(fleet.read("f", "a"), [[1, np.nan]])
        assert np.isnat(fleet.read("t", "a")[0, 1])
        np.testing.assert_array_equal(fleet.read("i", "b"), [[1, np.nan]])
        assert fleet["b"]["i"][...].tolist() == [1, -9]


class TestCommands:
    def test_read_and_stats_say_the_same(self, tmp_path: Path, run: Callable[..., Any]) -> None:
        pack = tmp_path / "x.pack"
        with tessarray.create_collection(pack).transaction() as tx:
            for i in range(3):
                values = np.array([i, 20.0, 99999.0], "f4")
                tx.add(f"d{i}", {"TEMP": ("z", values, {"_FillValue": np.float32(99999)})})
        found = json.loads(run("collection", "read", pack, "TEMP", "--json")[1])
        (stats,) = json.loads(run("collection", "stats", pack, "TEMP", "--json")[1])
        assert {key: found[key] for key in ("min", "max", "mean")} == {
            key: stats[key] for key in ("min", "max", "mean")
        }
        assert (found["count"] - found["nan"], found["nan"]) == (stats["count"], stats["nulls"])
        raw = json.loads(run("collection", "read", pack, "TEMP", "--raw", "--json")[1])
        assert (raw["max"], raw["fill values"], raw["decoded"]) == (99999, 3, False)
        assert "fill values are among" in run("collection", "read", pack, "TEMP", "--raw")[1]
