"""Long tables: a row for each element, equal to a loop over datasets; what cannot be one table is an error."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tessarray
from tessarray.errors import InvalidArgumentError, InvalidTypeError, NotFoundError, TessarrayError

pytest.importorskip("pyarrow")


def collection(datasets: dict[str, dict[str, Any]]) -> tessarray.Collection:
    fleet = tessarray.create_collection(tessarray.MemoryStore())
    with fleet.transaction("fill") as tx:
        for name, variables in datasets.items():
            tx.add(name, variables)
    return fleet


def letters(text: str, length: int) -> np.ndarray[Any, Any]:
    return np.frombuffer(text.ljust(length).encode(), "S1")


@st.composite
def profiles(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for i in range(draw(st.integers(1, 5))):
        n, levels = draw(st.integers(0, 3)), draw(st.integers(0, 5))
        rng = np.random.default_rng(draw(st.integers(0, 99)))
        made[f"d{i}"] = {
            "t": (("p", "z"), rng.integers(0, 5, (n, levels)).astype("f4"), {"_FillValue": 3.0}),
            "juld": (("p",), rng.integers(0, 99, n).astype("f8"), {"units": f"days since 19{50 + i}-01-01"}),
            "number": (
                ("p", "s"),
                np.stack([letters(f"n{i}{k}", 8) for k in range(n)] or [letters("", 8)[:0]] * 0)
                if n
                else np.empty((0, 8), "S1"),
            ),
            "turned": (("z", "p"), rng.integers(0, 9, (levels, n))),
            "one": np.float64(i),
        }
        if draw(st.booleans()):
            made[f"d{i}"]["rare"] = (("z",), rng.integers(0, 9, levels))
    return made


class TestValues:
    @settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    @given(profiles(), st.sampled_from(["skip", "fill"]))
    def test_rows_are_those_of_a_loop(self, made: dict[str, dict[str, Any]], missing: Any) -> None:
        rare = any("rare" in one for one in made.values())
        variables = ["juld", "t", "number", "turned", "one", *(["rare"] if rare else [])]
        expected = []
        for i, (name, one) in enumerate(made.items()):
            if rare and missing == "skip" and "rare" not in one:
                continue
            n, levels = one["t"][1].shape
            for p in range(n):
                for z in range(levels):
                    t = float(one["t"][1][p, z])
                    since = np.datetime64(f"19{50 + i}-01-01", "us")
                    row = {
                        "dataset": name,
                        "p": p,
                        "z": z,
                        "juld": (since + np.timedelta64(int(one["juld"][1][p]), "D")).item(),
                        "t": None if t == 3.0 else t,
                        "number": f"n{i}{p}",
                        "turned": int(one["turned"][1][z, p]),
                        "one": float(i),
                    }
                    if rare:
                        row["rare"] = int(one["rare"][1][z]) if "rare" in one else None
                    expected.append(row)
        assert collection(made).table(variables, missing=missing).to_pylist() == expected

    def test_stored_values_are_given_where_nothing_is_decoded(self) -> None:
        fleet = collection(
            {"a": {"t": ("z", np.array([1.0, 9.0]), {"_FillValue": 9.0, "units": "days since 2000-01-01"})}}
        )
        assert fleet.table("t", decode=False).column("t").to_pylist() == [1.0, 9.0]
        assert fleet.table("t").column("t").to_pylist()[1] is None

    def test_a_coordinate_is_numbered_beside_its_values(self) -> None:
        found = collection({"a": {"lat": ("lat", [5.0, 6.0])}}).table(["lat"], ["a"])
        assert found.column_names == ["dataset", "lat_index", "lat"]

    def test_letters_are_texts_or_values_of_the_rows(self) -> None:
        fleet = collection({"a": {"qc": ("z", letters("12", 3)), "t": ("z", [1.0, 2.0, 3.0])}})
        assert fleet.table(["t", "qc"]).column("qc").to_pylist() == ["1", "2", ""]
        assert fleet.table("qc").column("qc").to_pylist() == ["12"]

    def test_letters_of_different_lengths(self) -> None:
        fleet = collection({"a": {"s": ("n", letters("abc", 3))}, "b": {"s": ("n", letters("d", 1))}})
        assert fleet.table("s").column("s").to_pylist() == ["abc", "d"]
        latin = collection({"a": {"s": ("n", np.array([b"\xe9"], "S1"))}})
        assert latin.table("s").column("s").to_pylist() == ["é"]


class TestErrors:
    @pytest.mark.parametrize(
        ("variables", "kind", "message"),
        [
            (["t", "x"], InvalidArgumentError, "'x' has dimension 'x'"),
            (["t", "none"], NotFoundError, "no variable 'none'"),
            (["t", "t"], InvalidArgumentError, "each once"),
            ([], InvalidArgumentError, "each once"),
            (["rare"], NotFoundError, "missing='skip'"),
            (["some"], InvalidTypeError, "'b' stores numbers where others store times"),
            (["ranks"], TessarrayError, "different ranks"),
            (["far"], InvalidArgumentError, "no time"),
            (["complex"], InvalidTypeError, "'complex'.*complex128"),
        ],
    )
    def test_what_is_no_table(self, variables: list[str], kind: type[Exception], message: str) -> None:
        units = {"units": "days since 2000-01-01"}
        far = ("z", np.array([1e30, 0.0]), units)
        both = {"t": ("z", [1.0, 2.0]), "x": ("x", [1.0]), "far": far, "complex": ("z", np.array([1j, 2]))}
        fleet = collection(
            {
                "a": {
                    **both,
                    "rare": ("z", [1.0, 2.0]),
                    "some": ("z", [1.0, 2.0], units),
                    "ranks": np.zeros(3),
                },
                "b": {**both, "some": ("z", [1.0, 2.0]), "ranks": np.zeros((3, 2))},
            }
        )
        with pytest.raises(kind, match=message):
            fleet.table(variables)


def test_real_profiles(shared_data: Path, tmp_path: Path) -> None:
    if not (shared_data / "argo-profiles.tar.xz").exists():
        pytest.skip("shared/data/argo-profiles.tar.xz is not there")
    with tarfile.open(shared_data / "argo-profiles.tar.xz") as archive:
        wanted = [one for one in archive.getmembers() if one.name.endswith(".nc") and "bodc" in one.name][:20]
        archive.extractall(tmp_path, members=wanted, filter="data")
    tessarray.build_collection(tmp_path / "bodc", tmp_path / "fleet.pack")
    fleet = tessarray.open_collection(tmp_path / "fleet.pack")
    frame = fleet.table(["PRES", "TEMP", "JULD", "PLATFORM_NUMBER"]).to_pandas()
    assert frame["TEMP"].max() < 40
    for name in fleet.names:
        own = frame[frame["dataset"] == name]
        there = fleet[name].to_xarray().load()
        np.testing.assert_array_equal(own["TEMP"].to_numpy(), there["TEMP"].values.ravel())
        assert set(own["PLATFORM_NUMBER"]) == {
            one.decode().strip() for one in there["PLATFORM_NUMBER"].values
        }
        times = np.repeat(there["JULD"].values, there["TEMP"].shape[1]).astype("M8[us]")
        assert np.abs(own["JULD"].to_numpy() - times).max() <= np.timedelta64(1, "us")
