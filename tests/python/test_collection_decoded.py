"""Decoded values of collections: texts are texts and times are times, in reads, selections, datasets and tables."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tessarray
from tessarray.errors import InvalidArgumentError, InvalidTypeError, SelectionError

xarray = pytest.importorskip("xarray")
DAYS = {"units": "days since 1950-01-01", "_FillValue": 999999.0}


def letters(texts: list[str], width: int) -> np.ndarray[Any, Any]:
    return np.array([list(text.ljust(width)) for text in texts], "S1").reshape(len(texts), width)


def profile(platform: list[str], days: list[float], levels: int) -> dict[str, Any]:
    count = len(platform)
    return {
        "PLATFORM": (("prof", "string8"), letters(platform, 8)),
        "MODE": (("prof",), np.array(["R"] * count, "S1")),
        "QC": (("prof", "level"), np.full((count, levels), "1", "S1")),
        "TEMP": (("prof", "level"), np.arange(count * levels, dtype="f4").reshape(count, levels)),
        "JULD": (("prof",), np.array(days), DAYS),
        "CYCLE": (("prof",), np.full(count, levels, "i4"), {"_FillValue": 99999}),
        "VERSION": (("string4",), letters(["3.1"], 4)[0]),
    }


@pytest.fixture
def fleet() -> tessarray.Collection:
    made = tessarray.create_collection(tessarray.MemoryStore())
    with made.transaction("fill") as tx:
        tx.add("a", profile(["123", "123"], [0.0, 999999.0], 3), attrs={"ship": "Meteor", "CYCLE": "c"})
        tx.add("b", profile(["4567890"], [1.5], 2))
        tx.add("c", profile(["4567890"], [365.25], 2))
    return made


class TestReading:
    def test_letters_are_texts_along_dimensions_of_their_own(self, fleet: tessarray.Collection) -> None:
        found = fleet.read("PLATFORM")
        assert [one.tolist() for one in found] == [["123", "123"], ["4567890"], ["4567890"]]
        assert fleet.read("VERSION").tolist() == ["3.1"] * 3
        assert fleet["b"].read("PLATFORM").tolist() == ["4567890"]

    def test_letters_along_dimensions_of_numbers_are_one_each(self, fleet: tessarray.Collection) -> None:
        assert fleet.read("QC", ["b", "c"]).tolist() == [[["1", "1"]]] * 2
        assert [one.tolist() for one in fleet.read("MODE")] == [["R", "R"], ["R"], ["R"]]

    def test_times_are_times(self, fleet: tessarray.Collection) -> None:
        found = fleet.read("JULD")
        assert found.dtype == "M8[us]"
        assert found["b"].tolist() == [datetime.datetime(1950, 1, 2, 12)]
        assert np.isnat(found["a"]).tolist() == [False, True]

    def test_stored_values_are_as_they_are(self, fleet: tessarray.Collection) -> None:
        assert fleet.read("PLATFORM", "a", decode=False).dtype == "S1"
        assert fleet.read("JULD", "a", decode=False).tolist() == [[0, 999999]]

    @pytest.mark.parametrize("name", ["a", "b"])
    def test_as_xarray_has_them(self, fleet: tessarray.Collection, name: str) -> None:
        there = fleet[name].to_xarray().load()
        for variable in fleet.variables:
            values = there[variable].values
            if values.dtype.kind == "S":
                values = np.char.rstrip(values.astype("U"))
            own = fleet[name].read(variable)
            assert own.shape == values.shape
            np.testing.assert_array_equal(own.astype("M8[ns]") if own.dtype.kind == "M" else own, values)

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        variable=st.sampled_from(["PLATFORM", "JULD", "TEMP", "MODE"]),
        key=st.sampled_from(
            [np.s_[0], np.s_[:1], np.s_[...], np.s_[..., 0], np.s_[None, 0], np.s_[[0]], np.s_[-1:]]
        ),
    )
    def test_a_selection_is_one_of_the_decoded_values(
        self, fleet: tessarray.Collection, variable: str, key: Any
    ) -> None:
        whole = fleet.read(variable)
        part = fleet.read(variable, selection=key)
        for i in range(3):
            np.testing.assert_array_equal(np.asarray(part[i]), np.asarray(whole[i])[key])
        called = fleet.read(variable, selection=lambda name, shape: key)
        np.testing.assert_array_equal(np.asarray(called[0]), np.asarray(part[0]))

    def test_selections_by_name_and_cut_ones(self, fleet: tessarray.Collection) -> None:
        assert fleet.read("PLATFORM", selection={"prof": 0}).tolist() == ["123", "4567890", "4567890"]
        cut = fleet.read("PLATFORM", selection=np.s_[:5], clip=True)
        assert [len(one) for one in cut] == [2, 1, 1]
        shapes = []
        fleet.read("PLATFORM", selection=lambda name, shape: shapes.append(shape) or ...)
        assert shapes == [(2,), (1,), (1,)]

    def test_letters_are_selected_as_stored(self, fleet: tessarray.Collection) -> None:
        with pytest.raises(SelectionError, match=r"2 axes.*texts.*1.*decode=False"):
            fleet.read("PLATFORM", selection=np.s_[0, :3])
        assert fleet.read("PLATFORM", "b", np.s_[0, :3], decode=False).tolist() == [[b"4", b"5", b"6"]]

    def test_into_the_callers_array(self, fleet: tessarray.Collection) -> None:
        times, texts = np.empty((2, 1), "M8[us]"), np.empty((2, 1), "U9")
        fleet.read("JULD", ["b", "c"], out=times)
        assert fleet.read("PLATFORM", ["b", "c"], out=texts) is texts
        assert texts.tolist() == [["4567890"]] * 2
        assert times[0, 0] == np.datetime64("1950-01-02T12")
        with pytest.raises(InvalidTypeError, match=r"U8.*U3"):
            fleet.read("PLATFORM", ["b", "c"], out=np.empty((2, 1), "U3"))
        with pytest.raises(InvalidArgumentError, match=r"shape \(2, 1\)"):
            fleet.read("JULD", ["b", "c"], out=np.empty(2, "M8[us]"))

    def test_what_is_absent_is_not_a_time_or_no_text(self, fleet: tessarray.Collection) -> None:
        with fleet.transaction("one more") as tx:
            tx.add("d", {"TEMP": (("prof", "level"), np.zeros((1, 2), "f4"))})
        names = ["b", "d"]
        assert np.isnat(fleet.read("JULD", names, missing="fill")).tolist() == [[False], [True]]
        assert fleet.read("PLATFORM", names, missing="fill").tolist() == [["4567890"], [""]]
        assert fleet.read("PLATFORM", missing="skip").pad().tolist()[1] == ["4567890", ""]

    def test_bytes_are_texts_in_utf8_or_latin1(self) -> None:
        made = tessarray.create_collection(tessarray.MemoryStore())
        with made.transaction("fill") as tx:
            tx.add("u", {"s": ("n", np.array(["é".encode(), b"ab "], "S3"))})
            tx.add("l", {"s": ("n", np.array([b"\xe9", b""], "S3"))})
        assert made.read("s", "u").tolist() == [["é", "ab"]]
        assert made.read("s").tolist() == [["é", ""], ["Ã©", "ab"]]


class TestStacks:
    def test_datasets_are_stacked_as_read(self, fleet: tessarray.Collection) -> None:
        stacked = fleet.to_xarray(["b", "c"], ["PLATFORM", "JULD"])
        assert stacked["PLATFORM"].dims == ("dataset", "prof")
        assert stacked["PLATFORM"].values.tolist() == [["4567890"]] * 2
        assert stacked["JULD"].dtype == "M8[us]"
        assert "units" not in stacked["JULD"].attrs
        np.testing.assert_array_equal(stacked["JULD"].values, fleet.read("JULD", ["b", "c"]))

    def test_padded_ones_are_not_a_time_or_no_text(self, fleet: tessarray.Collection) -> None:
        stacked = fleet.to_xarray(None, ["PLATFORM", "JULD"], pad=True)
        assert stacked["PLATFORM"].values.tolist() == [["123", "123"], ["4567890", ""], ["4567890", ""]]
        assert np.isnat(stacked["JULD"].values).tolist() == [[False, True]] * 3


class TestSelectingTimes:
    @pytest.fixture
    def series(self) -> tessarray.Collection:
        made = tessarray.create_collection(tessarray.MemoryStore())
        with made.transaction("fill") as tx:
            for name, first in (("a", 0), ("b", 5)):
                time = np.arange(first, first + 10, dtype="f8")
                tx.add(
                    name, {"time": ("time", time, {"units": "days since 2000-01-01"}), "v": ("time", time)}
                )
        return made

    @pytest.mark.parametrize(
        "value",
        [slice("2000-01-06", "2000-01-08"), slice(5, 7), slice(np.datetime64("2000-01-06"), "2000-01-08")],
    )
    def test_by_dates_and_by_numbers(self, series: tessarray.Collection, value: Any) -> None:
        assert [one.tolist() for one in series.sel({"time": value}).read("v")] == [[5, 6, 7]] * 2

    def test_the_nearest_moment(self, series: tessarray.Collection) -> None:
        assert series.sel({"time": datetime.datetime(2000, 1, 8, 1)}).read("v").tolist() == [7, 7]
        assert series.sel({"time": 7.2}).read("v").tolist() == [7, 7]

    def test_what_is_no_time(self, series: tessarray.Collection) -> None:
        with pytest.raises(InvalidArgumentError, match=r"'tomorrow'.*'time'"):
            series.sel({"time": "tomorrow"})


class TestDatasets:
    def test_variables_of_one_value_have_a_column(self, fleet: tessarray.Collection) -> None:
        pytest.importorskip("pyarrow")
        table = fleet.datasets
        rows = {row["dataset"]: row for row in table.to_pylist()}
        assert table.column_names == [
            "dataset", "variables", "ship", "CYCLE",
            "variable CYCLE", "JULD", "MODE", "PLATFORM", "QC", "VERSION",
        ]  # fmt: skip
        assert [row["PLATFORM"] for row in rows.values()] == ["123", "4567890", "4567890"]
        assert [row["MODE"] for row in rows.values()] == ["R"] * 3
        assert [row["variable CYCLE"] for row in rows.values()] == [3, 2, 2]
        assert str(table.schema.field("JULD").type) == "timestamp[us]"
        assert rows["b"]["JULD"] == datetime.datetime(1950, 1, 2, 12)
        assert (rows["a"]["CYCLE"], rows["b"]["CYCLE"]) == ("c", None)

    def test_several_values_are_null(self, fleet: tessarray.Collection) -> None:
        pytest.importorskip("pyarrow")
        with fleet.transaction("two platforms") as tx:
            tx.update("a", "JULD", slice(None), [1.0, 2.0])
        assert [one is None for one in fleet.datasets["JULD"].to_pylist()] == [True, False, False]

    def test_the_table_is_made_once_a_version_and_reads_no_values(
        self, fleet: tessarray.Collection, tmp_path: Path
    ) -> None:
        pytest.importorskip("pyarrow")
        with tessarray.record(tmp_path / "log.jsonl") as recording:
            first = fleet.datasets
        assert recording.lines == 0
        assert fleet.datasets is first
        with fleet.transaction("rename") as tx:
            tx.rename("c", "z")
        assert fleet.datasets["dataset"].to_pylist() == ["a", "b", "z"]
