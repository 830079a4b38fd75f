"""Collections under xarray and dask: lazy equals eager equals the source, in threads, processes and clusters."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessarray
from tessarray.errors import InvalidArgumentError, NotFoundError

xarray = pytest.importorskip("xarray")
dask = pytest.importorskip("dask")


def source(i: int) -> Any:
    """A dataset with times, packed values, texts and a coordinate."""
    rng = np.random.default_rng(i)
    dataset = xarray.Dataset(
        {
            "t": (("time", "lat"), rng.standard_normal((3, 4)).astype("f4"), {"units": "K", "run": i}),
            "packed": (("time",), np.array([1.5, np.nan, 2.5])),
            "label": (("lat",), ["a", "bb", "", "c"]),
        },
        coords={
            "time": np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "M8[ns]"),
            "lat": np.array([10.0, 20.0, 30.0, 40.0]),
        },
        attrs={"title": f"run {i}"},
    )
    dataset["packed"].encoding = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -99}
    return dataset


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fleet = tessarray.create_collection(tmp_path / "x.pack", durable=False)
    with fleet.transaction("fill") as tx:
        for i in range(6):
            tx.add(f"d{i}", source(i))
    return tmp_path / "x.pack"


class TestOneDataset:
    def test_it_is_identical_to_what_was_added(self, folder: Path) -> None:
        fleet = tessarray.open_collection(folder)
        for i in (0, 5):
            xarray.testing.assert_identical(fleet[f"d{i}"].to_xarray().load(), source(i))

    def test_by_the_engine(self, folder: Path) -> None:
        found = xarray.open_dataset(folder, engine="tessarray", group="d3")
        xarray.testing.assert_identical(found.load(), source(3))
        guessed = xarray.open_dataset(str(folder), group="d3")
        xarray.testing.assert_identical(guessed.load(), source(3))
        inside = xarray.open_dataset(f"{folder}/d3", engine="tessarray")
        xarray.testing.assert_identical(inside.load(), source(3))
        raw = xarray.open_dataset(folder, engine="tessarray", group="d3", decode_cf=False)
        assert raw["packed"].dtype == np.int16

    def test_versions_and_chunks(self, folder: Path) -> None:
        fleet = tessarray.open_collection(folder)
        with fleet.transaction() as tx:
            tx.update("d0", "t", ..., 0)
        then = xarray.open_dataset(folder, engine="tessarray", group="d0", version=1, chunks={})
        assert then["t"].chunks is not None
        xarray.testing.assert_identical(then.load(), source(0))
        now = xarray.open_dataset(folder, engine="tessarray", group="d0")
        assert float(now["t"].sum()) == 0
        with pytest.raises(NotFoundError):
            xarray.open_dataset(folder, engine="tessarray", group="d9")

    def test_any_index(self, folder: Path) -> None:
        lazy = xarray.open_dataset(folder, engine="tessarray", group="d2")["t"]
        eager = source(2)["t"]
        for key in (0, slice(1, None), [2, 0], (slice(None), [3, 1]), ([0, 2], slice(None, None, -1))):
            xarray.testing.assert_identical(lazy[key].load(), eager[key])
        points = {"time": xarray.DataArray([0, 1], dims="p"), "lat": xarray.DataArray([3, 0], dims="p")}
        xarray.testing.assert_identical(lazy.isel(points).load(), eager.isel(points))
        assert pickle.loads(pickle.dumps(lazy)).equals(eager)

    def test_groups(self, tmp_path: Path) -> None:
        tree = xarray.DataTree.from_dict({"/": source(0), "/deep": source(1), "/deep/deeper": source(2)})
        fleet = tessarray.create_collection(tmp_path / "t.pack", durable=False)
        with fleet.transaction() as tx:
            tx.add("one", tree)
        found = xarray.open_datatree(tmp_path / "t.pack", engine="tessarray", group="one")
        xarray.testing.assert_identical(found.load(), tree)
        own = tree["deep/deeper"].to_dataset(inherit=False)
        xarray.testing.assert_identical(fleet["one"].to_xarray("deep/deeper").load(), own)
        np.testing.assert_array_equal(fleet.read("deep/t")[0], source(1)["t"])

    def test_zarr_python_reads_it(self, folder: Path) -> None:
        found = xarray.open_zarr(tessarray.open_pack(folder).zarr_store(), group="d4", consolidated=False)
        xarray.testing.assert_identical(found.drop_vars("label").load(), source(4).drop_vars("label"))


class TestManyDatasets:
    @pytest.mark.parametrize("lazy", [True, False])
    def test_along_a_new_dimension(self, folder: Path, lazy: bool) -> None:
        fleet = tessarray.open_collection(folder)
        found = fleet.to_xarray(variables=["t", "packed", "lat"], concat_dim="run", lazy=lazy)
        expected = xarray.concat(
            [source(i)[["t", "packed"]] for i in range(6)], "run", coords="minimal", compat="override"
        )
        assert (found["t"].chunks is not None) == lazy
        np.testing.assert_array_equal(found["t"], expected["t"])
        np.testing.assert_array_equal(found["packed"], expected["packed"])
        assert found["run"].values.tolist() == fleet.names
        assert found["t"].dims == ("run", "time", "lat")
        assert found["lat"].dims == ("lat",), "a coordinate that all share stays one"
        assert found["t"].attrs == {"units": "K"}
        assert found["t"].sel(run="d4").equals(found["t"][4])

    def test_chunks_are_groups_of_datasets(self, folder: Path) -> None:
        fleet = tessarray.open_collection(folder)
        found = fleet.to_xarray(["d0", "d1", "d2", "d3", "d5"], "t", datasets_per_chunk=2)
        assert found["t"].chunks[0] == (2, 2, 1)
        np.testing.assert_array_equal(found["t"][-1], source(5)["t"])

    def test_what_is_not_alike_is_said(self, folder: Path) -> None:
        fleet = tessarray.open_collection(folder)
        with fleet.transaction() as tx:
            tx.add("e", {"t": np.zeros((1, 1)), "alike": np.zeros(2)})
        with pytest.raises(InvalidArgumentError, match="'t': it has 2 shapes"):
            fleet.to_xarray(variables="t")
        with pytest.raises(NotFoundError, match="1 of 7 datasets have none"):
            fleet.to_xarray(variables="packed")
        with pytest.raises(KeyError, match="no dataset 'd9'"):
            fleet.to_xarray(["d9"])
        with fleet.transaction() as tx:
            tx.add("f", {"t": np.zeros((3, 4), "f4"), "alike": np.zeros(2)})
        with pytest.warns(UserWarning, match=r"left out of the dataset: .*alike: 5 of 6"):
            found = fleet.to_xarray([*(f"d{i}" for i in range(5)), "f"])
        assert list(found.data_vars) == ["t"]

    def test_a_handle_keeps_its_version(self, folder: Path) -> None:
        fleet = tessarray.open_collection(folder)
        lazy = fleet.to_xarray(variables="t")["t"].sum()
        before = float(lazy)
        with fleet.transaction() as tx:
            tx.update("d0", "t", ..., 1e6)
        assert float(lazy) == before

    @pytest.mark.parametrize("scheduler", ["threads", "processes"])
    def test_schedulers(self, folder: Path, scheduler: str) -> None:
        fleet = tessarray.open_collection(folder)
        lazy = fleet.to_xarray(variables="t", datasets_per_chunk=1)["t"].mean()
        expected = np.mean([source(i)["t"].values for i in range(6)])
        with dask.config.set(scheduler=scheduler):
            assert float(lazy) == pytest.approx(float(expected), rel=1e-6)


def ship(dataset: Any) -> tuple[str, float]:
    """For other processes: module level."""
    return dataset.name, float(np.asarray(dataset["t"][...]).sum())


def fails(dataset: Any) -> None:
    if dataset.name == "d3":
        raise ZeroDivisionError("no")


class TestMap:
    @pytest.mark.parametrize("executor", ["threads", "processes"])
    def test_results_come_in_order(self, folder: Path, executor: str) -> None:
        fleet = tessarray.open_collection(folder)
        found = fleet.map(ship, executor=executor, workers=2)
        assert [name for name, _ in found] == fleet.names
        assert found[2][1] == pytest.approx(float(source(2)["t"].sum()), rel=1e-5)
        assert len(fleet.map(ship, ["d4", "d1"])) == 2

    def test_failures_name_the_dataset(self, folder: Path) -> None:
        fleet = tessarray.open_collection(folder)
        with pytest.raises(ZeroDivisionError) as caught:
            fleet.map(fails)
        assert caught.value.__notes__ == ["in dataset 'd3'"]
        with pytest.raises(KeyError, match="d9"):
            fleet.map(ship, ["d9"])
        with pytest.raises(InvalidArgumentError, match="executor"):
            fleet.map(ship, executor="magic")


def write_some(folder: str, worker: int) -> int:
    """For other processes: adds five datasets, one transaction each."""
    fleet = tessarray.open_collection(folder, durable=False)
    for i in range(5):
        with fleet.transaction() as tx:
            tx.add(f"w{worker}-{i}", {"t": np.full((3, 4), worker * 10 + i, "f4")})
    return worker


@pytest.mark.serial
class TestDistributed:
    def test_a_cluster_computes_and_writes(self, folder: Path) -> None:
        distributed = pytest.importorskip("distributed")
        fleet = tessarray.open_collection(folder)
        expected = float(np.mean([source(i)["t"].values for i in range(6)]))
        with (
            distributed.LocalCluster(
                n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            lazy = fleet.to_xarray(variables="t", datasets_per_chunk=1)["t"].mean()
            assert float(lazy.compute(scheduler=client)) == pytest.approx(expected, rel=1e-6)
            assert len(fleet.map(ship, executor=client)) == 6
            jobs = client.map(write_some, [str(folder)] * 4, range(4), pure=False)
            assert sorted(client.gather(jobs)) == [0, 1, 2, 3]
        names = [name for name in fleet.names if name.startswith("w")]
        assert len(names) == 20
        for name, values in zip(names, fleet.read("t", names), strict=True):
            worker, i = name[1:].split("-")
            assert (values == int(worker) * 10 + int(i)).all()
