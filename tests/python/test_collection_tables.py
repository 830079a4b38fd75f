"""Statistics, conditions and schemas of collections, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tessarray
from tessarray.errors import InvalidArgumentError

pytest.importorskip("pyarrow")


def collection(datasets: dict[str, dict[str, Any]], attrs: dict[str, dict[str, Any]] | None = None) -> Any:
    fleet = tessarray.create_collection(tessarray.MemoryStore())
    with fleet.transaction() as tx:
        for name, dataset in datasets.items():
            tx.add(name, dataset, attrs=(attrs or {}).get(name))
    return fleet


def statistics(fleet: Any, variable: str = "v") -> dict[str, dict[str, Any]]:
    rows = fleet.statistics.to_pylist()
    return {row["dataset"]: row for row in rows if row["variable"] == variable}


class TestStatistics:
    @pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "?"])
    def test_as_numpy_has_them(self, dtype: str) -> None:
        rng = np.random.default_rng(0)
        values = (rng.standard_normal((7, 500)) * 50).astype(dtype)
        if dtype[0] == "f":
            values[rng.random(values.shape) < 0.3] = np.nan
        one = statistics(collection({"a": {"v": values}}))["a"]
        valid = values[values == values].astype(np.float64)
        assert (one["min"], one["max"]) == (valid.min(), valid.max())
        assert one["sum"] == pytest.approx(valid.sum(), rel=1e-9, abs=1e-9)
        assert (one["count"], one["nulls"]) == (valid.size, values.size - valid.size)
        assert (one["shape"], one["size"]) == ([7, 500], 3500)

    def test_fill_values_and_nan_are_nulls_and_never_extremes(self) -> None:
        values = np.array([99999, 3.5, np.nan, -1], "f4")
        one = statistics(collection({"a": {"v": ("z", values, {"_FillValue": np.float32(99999)})}}))["a"]
        assert (one["min"], one["max"], one["nulls"], one["count"]) == (-1, 3.5, 2, 2)
        none = statistics(collection({"a": {"v": np.full(3, np.nan)}}))["a"]
        assert (none["min"], none["max"], none["nulls"]) == (None, None, 3)

    def test_packed_values_are_unpacked(self) -> None:
        attrs = {"scale_factor": -0.5, "add_offset": 10.0, "_FillValue": np.int16(-999)}
        one = statistics(collection({"a": {"v": ("z", np.array([2, 4, -999], "i2"), attrs)}}))["a"]
        assert (one["min"], one["max"], one["sum"]) == (8.0, 9.0, 17.0)

    def test_texts_are_listed_where_they_are_few(self) -> None:
        chars = np.array([list("13857   ")], "S1")
        fleet = collection(
            {"a": {"chars": chars, "names": ["x", "y", "x"], "many": [str(i) for i in range(99)]}}
        )
        assert statistics(fleet, "chars")["a"]["texts"] == ["13857"]
        assert statistics(fleet, "names")["a"]["texts"] == ["x", "y"]
        assert statistics(fleet, "many")["a"]["texts"] is None

    def test_they_go_with_the_values(self) -> None:
        fleet = collection({"a": {"v": np.arange(4.0)}, "b": {"v": np.arange(4.0)}})
        with fleet.transaction() as tx:
            tx.update("a", "v", 0, 100)
            tx.append("b", "v", [-5.0])
        assert statistics(fleet)["a"]["max"] == 100
        assert statistics(fleet)["b"]["min"] == -5
        with fleet.pack.transaction() as raw:
            raw["a/v"][1] = 1000.0
        assert statistics(fleet)["a"]["max"] is None, "written past the collection: nothing is known any more"
        with pytest.raises(
            InvalidArgumentError, match=r"nothing is known.*1 datasets \('a'\).*refresh_statistics"
        ):
            fleet.where("v.max > 50")
        assert fleet.refresh_statistics() == 1
        assert statistics(fleet)["a"]["max"] == 1000
        with fleet.transaction() as tx:
            tx.update("a", "v", 1, 3.0)
            tx.pack["a/v"][2] = 7777.0
        assert statistics(fleet)["a"]["max"] is None

    def test_two_who_change_one_array_leave_none(self, tmp_path: Path) -> None:
        fleet = tessarray.create_collection(tmp_path / "x.pack", durable=False, chunks=(2,))
        with fleet.transaction() as tx:
            tx.add("a", {"v": np.arange(4.0)})
        one, two = fleet.transaction(), fleet.transaction()
        one.update("a", "v", 0, 50.0)
        two.update("a", "v", 3, 60.0)
        one.commit()
        two.commit()
        assert fleet.read("v").tolist() == [[50, 1, 2, 60]]
        assert statistics(fleet)["a"]["max"] is None
        fleet.refresh_statistics()
        assert statistics(fleet)["a"]["max"] == 60

    def test_they_survive_compaction_and_renaming(self) -> None:
        fleet = collection({"a": {"v": np.arange(4.0)}})
        with fleet.transaction() as tx:
            tx.rename("a", "b")
        fleet.compact()
        assert statistics(fleet)["b"]["max"] == 3

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["i2", "i8", "u4", "f4", "f8"]),
                st.lists(st.floats(allow_subnormal=False, width=32), min_size=1, max_size=20),
                st.booleans(),
            ),
            min_size=1,
            max_size=6,
        )
    )
    @settings(max_examples=60)
    def test_any_values(self, made: list[tuple[str, list[float], bool]]) -> None:
        datasets = {}
        for i, (dtype, values, fill) in enumerate(made):
            whole = np.nan_to_num(np.array(values), nan=0, posinf=9, neginf=-9).clip(0, 30000)
            array = np.array(values, dtype) if dtype[0] == "f" else whole.astype(dtype)
            attrs = {"_FillValue": array.dtype.type(array[0])} if fill and array[0] == array[0] else {}
            datasets[f"d{i}"] = {"v": ("z", array, attrs)}
        fleet = collection(datasets)
        for name, one in statistics(fleet).items():
            _, array, attrs = datasets[name]["v"]
            null = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
            if "_FillValue" in attrs:
                null |= array == attrs["_FillValue"]
            assert (one["count"], one["nulls"]) == ((~null).sum(), null.sum())
            assert one["min"] == (array[~null].min() if (~null).any() else None)
            assert one["max"] == (array[~null].max() if (~null).any() else None)


class TestTables:
    def test_datasets_have_a_column_for_each_attribute(self) -> None:
        attrs = {"a": {"ship": "Meteor", "n": 1, "x": 1, "list": [1]}, "b": {"n": 2.5, "x": "s"}}
        table = collection({"a": {"v": [1]}, "b": {"v": [1], "w/u": [2]}}, attrs).datasets
        assert table.column_names == ["dataset", "variables", "ship", "n", "x", "list", "v", "w/u"]
        assert table["ship"].to_pylist() == ["Meteor", None]
        assert table["n"].to_pylist() == [1.0, 2.5]
        assert table["x"].to_pylist() == ["1", "s"]
        assert table["list"].to_pylist() == ["[1]", None]
        assert table["variables"].to_pylist() == [["v"], ["v", "w/u"]]
        assert (table["v"].to_pylist(), table["w/u"].to_pylist()) == ([1, 1], [None, 2])

    def test_sql_can_ask_them(self) -> None:
        duckdb = pytest.importorskip("duckdb")
        known = collection({f"d{i}": {"v": np.arange(i + 1)} for i in range(4)}).statistics
        assert known.num_rows == 4
        found = duckdb.sql("select dataset from known where max >= 2 order by dataset").fetchall()
        assert found == [("d2",), ("d3",)]


class TestWhere:
    def fleet(self) -> Any:
        datasets = {
            "a": {"TEMP": [1.0, 31.0], "PLATFORM_NUMBER": np.array([list("13857")], "S1"), "wind/u": [-1.0]},
            "b": {"TEMP": [1.0, 12.0], "PLATFORM_NUMBER": np.array([list("13858")], "S1"), "wind/u": [3.0]},
            "c": {"TEMP": [40.0], "depth": np.array([5, 5])},
            "d": {"other": [1]},
        }
        attrs = {"a": {"ship": "Meteor", "year": 2020}, "b": {"ship": "Sonne"}, "c": {"year": 2021}}
        return collection(datasets, attrs)

    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            ("TEMP.max > 30 and PLATFORM_NUMBER == '13857'", "a"),
            ("TEMP.max > 30", "ac"),
            ("not TEMP.max > 30", "bd"),
            ("TEMP.min < 0.5 or year >= 2021", "c"),
            ("10 < TEMP.max < 35", "ab"),
            ("ship in ['Meteor', 'Sonne']", "ab"),
            ("ship is None", "cd"),
            ("ship is not None and year == 2020", "a"),
            ("`wind/u`.mean < 0", "a"),
            ("TEMP.max - TEMP.min > 15", "a"),
            ("TEMP.size == 1", "c"),
            ("depth == 5", "c"),
            ("TEMP.max / 0 > 1", ""),
            ("TEMP.count + TEMP.nulls == 2", "ab"),
            ("-year < -2020", "c"),
            ("True", "abcd"),
        ],
    )
    def test_conditions(self, condition: str, expected: str) -> None:
        assert self.fleet().where(condition) == list(expected)

    def test_no_values_are_read(self) -> None:
        store = tessarray.stores.RecordStore(tessarray.MemoryStore())
        fleet = tessarray.create_collection(store)
        with fleet.transaction() as tx:
            for i in range(20):
                tx.add(f"d{i:02}", {"v": np.full(30_000, float(i))})
        fleet = tessarray.open_collection(store)
        store.reset()
        assert fleet.where("v.max >= 18") == ["d18", "d19"]
        assert store.counts()["total"]["bytes_read"] < 100_000, "of 4.8 MB"

    @pytest.mark.parametrize(
        ("condition", "reason"),
        [
            ("TEMP.max >", "no condition"),
            ("__import__('os')", "expected a comparison"),
            ("TEMP.median > 1", "expected one of min, max"),
            ("TEMP.max", "expected a comparison"),
            ("[x for x in ship] == 1", "expected a name"),
            ("ship.upper() == 'A'", "expected a name"),
            ("TEMP.max is 3", "only goes with None"),
        ],
    )
    def test_what_is_no_condition(self, condition: str, reason: str) -> None:
        with pytest.raises(InvalidArgumentError, match=reason):
            self.fleet().where(condition)

    def test_unknown_names(self) -> None:
        with pytest.raises(KeyError, match="no variable 'TEMPS'; did you mean 'TEMP'"):
            self.fleet().where("TEMPS.max > 3")
        with pytest.raises(KeyError, match="no attribute or variable 'shp'; did you mean 'ship'"):
            self.fleet().where("shp == 'a'")

    @given(
        st.lists(
            st.tuples(st.integers(-5, 5), st.integers(0, 5), st.sampled_from("xyz")), min_size=1, max_size=8
        ),
        st.sampled_from(["min", "max", "sum", "count"]),
        st.sampled_from([("<", np.less), (">=", np.greater_equal), ("==", np.equal), ("!=", np.not_equal)]),
        st.integers(-6, 12),
        st.booleans(),
    )
    @settings(max_examples=60)
    def test_against_brute_force(
        self, made: list[tuple[int, int, str]], fact: str, compare: Any, bound: int, both: bool
    ) -> None:
        arrays = {f"d{i}": np.arange(low, low + n + 1) for i, (low, n, _) in enumerate(made)}
        tags = {f"d{i}": {"tag": tag} for i, (*_, tag) in enumerate(made)}
        fleet = collection({name: {"v": array} for name, array in arrays.items()}, tags)
        sign, function = compare
        text = f"v.{fact} {sign} {bound}" + (" and tag == 'x'" if both else "")
        facts = {"min": np.min, "max": np.max, "sum": np.sum, "count": np.size}
        expected = [
            name
            for name, array in arrays.items()
            if function(facts[fact](array), bound) and (not both or tags[name]["tag"] == "x")
        ]
        assert fleet.where(text) == sorted(expected)


class TestSchema:
    def test_differences_are_said(self) -> None:
        fleet = collection(
            {
                "a": {"t": (("z",), np.zeros(3, "f4"), {"units": "K", "long": "x"}), "s": [1]},
                "b": {"t": (("z",), np.zeros(5, "f4"), {"units": "K", "long": "y"})},
                "c": {"t": (("y",), np.zeros(4, "f8"), {"units": "K"}), "s": np.zeros((2, 2), int)},
            }
        )
        schema = fleet.merged_schema()
        one = schema.variables["t"]
        assert (schema.datasets, one.count, one.smallest, one.largest) == (3, 3, (3,), (5,))
        assert one.dtypes == {"float32": 2, "float64": 1}
        assert one.dims == {("z",): 2, ("y",): 1}
        assert (one.attributes, one.differing) == ({"units": "K"}, ("long",))
        text = str(schema)
        for part in (
            "t: different dtypes: float32 in 2, float64 in 1",
            "t: different dimensions",
            "t: attributes that differ: long",
            "s: 1 of 3 datasets have none",
            "s: different ranks: 1 in 1, 2 in 1",
        ):
            assert part in text

    def test_fifteen_hundred_variables_with_few_descriptors(self, tmp_path: Path) -> None:
        resource = pytest.importorskip("resource")
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, before[1]), before[1]))
        try:
            fleet = tessarray.create_collection(tmp_path / "x.pack", durable=False)
            with fleet.transaction() as tx:
                tx.add("a", {f"v{i}": np.full(20, i) for i in range(1500)})
            fleet = tessarray.open_collection(tmp_path / "x.pack")
            assert len(fleet.variables) == 1500
            assert fleet.read("v1234")[0, 0] == 1234
            found = fleet.read_many(fleet.variables)
            assert all(values[0, 0] == int(name[1:]) for name, values in found.items())
            assert len(fleet["a"]) == 1500
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
