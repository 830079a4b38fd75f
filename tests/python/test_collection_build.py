"""Building collections from files: drifting schemas, bad files, what is new, what was interrupted; and the commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessarray
from tessarray.collection import readers
from tessarray.errors import ExistsError, InvalidArgumentError, NotFoundError

netcdf = pytest.importorskip("netCDF4")
h5py = pytest.importorskip("h5py")
xarray = pytest.importorskip("xarray")


def write_cast(path: Path, i: int, format: str = "NETCDF3_CLASSIC") -> None:
    """A cast with a length of its own; every third has a variable more."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with netcdf.Dataset(path, "w", format=format) as file:
        file.createDimension("z", 3 + i)
        file.createDimension("n", 4)
        temperature = file.createVariable("TEMP", "f4", ("z",), fill_value=99999.0)
        temperature[:] = np.arange(3 + i) + 10 * i
        temperature.units = "degree_Celsius"
        file.createVariable("ID", "S1", ("n",))[:] = np.array(list(f"{i:04}"), "S1")
        packed = file.createVariable("PSAL", "i2", ("z",), fill_value=-1)
        packed.scale_factor, packed.add_offset = 0.5 + i, 1.0
        packed.set_auto_maskandscale(False)
        packed[:] = np.arange(3 + i)
        if i % 3 == 0:
            file.createVariable("DOXY", "f8", ("z",))[:] = i
        file.platform = f"float {i}"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for i in range(7):
        write_cast(tmp_path / "data" / f"cast-{i}.nc", i, "NETCDF4" if i % 2 else "NETCDF3_CLASSIC")
    return tmp_path / "data"


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few files are read by processes, too."""
    monkeypatch.setattr(readers, "MANY", 1)


@pytest.mark.usefixtures("apart")
class TestReaders:
    def test_processes_read_what_threads_read(self, files: Path, tmp_path: Path) -> None:
        reports = [
            tessarray.build_collection(files, tmp_path / f"{workers}.pack", workers=workers, exclude="DOXY")
            for workers in (1, 3)
        ]
        assert reports[0].added == reports[1].added
        assert reports[0].bytes == reports[1].bytes
        one, other = (tessarray.open_collection(tmp_path / f"{workers}.pack") for workers in (1, 3))
        assert one.datasets.equals(other.datasets)
        assert one.statistics.equals(other.statistics)
        assert "DOXY" not in other.variables
        for name in one.names:
            xarray.testing.assert_identical(one[name].to_xarray().load(), other[name].to_xarray().load())
        again = tessarray.build_collection(files, tmp_path / "3.pack", workers=3, incremental=True)
        assert (again.unchanged, again.added) == (7, ())

    def test_large_values_go_beside_the_rest(self, tmp_path: Path) -> None:
        for i in range(3):
            with h5py.File(tmp_path / f"{i}.h5", "w") as file:
                file["v"] = np.arange(200_000) + i
                file["small"] = i
        tessarray.build_collection(f"{tmp_path}/*.h5", tmp_path / "x.pack", workers=2)
        found = tessarray.open_collection(tmp_path / "x.pack").read("v")
        np.testing.assert_array_equal(found, np.arange(200_000) + np.arange(3)[:, None])

    def test_errors_are_those_of_this_process(self, files: Path, tmp_path: Path) -> None:
        (files / "bad.nc").write_bytes(b"CDF\x01 and no header")
        with pytest.raises(tessarray.errors.TessarrayError, match=r"bad\.nc: not readable as netCDF"):
            tessarray.build_collection(files, tmp_path / "x.pack", workers=2)
        report = tessarray.build_collection(files, tmp_path / "y.pack", workers=2, on_error="skip")
        assert len(report.added) == 7
        assert [Path(path).name for path, _ in report.skipped] == ["bad.nc"]

    def test_a_file_that_breaks_its_reader_is_skipped_by_name(
        self, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        send = readers._send

        def broken(pipe: Any, value: Any) -> None:
            if value[0].name == "cast-3.nc":
                # Half a request: the reader ends as one does whose library crashed.
                pipe.write(b"\x01")
                pipe.flush()
                pipe.close()
                raise BrokenPipeError
            send(pipe, value)

        monkeypatch.setattr(readers, "_send", broken)
        report = tessarray.build_collection(files, tmp_path / "x.pack", workers=2, on_error="skip")
        assert len(report.added) == 6
        ((path, reason),) = report.skipped
        assert path.endswith("cast-3.nc")
        assert "its reader ended with" in reason

    @pytest.mark.parametrize("executable", ["no-python", "/bin/echo", "/bin/false"])
    def test_without_processes_threads_read(
        self, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executable: str
    ) -> None:
        monkeypatch.setattr(sys, "executable", str(tmp_path / executable))
        report = tessarray.build_collection(files, tmp_path / "x.pack", workers=2)
        assert len(report.added) == 7


class TestBuild:
    def test_files_that_drift(self, files: Path, tmp_path: Path) -> None:
        report = tessarray.build_collection(f"{files}/*.nc", tmp_path / "x.pack")
        assert report.added == tuple(f"cast-{i}" for i in range(7))
        fleet = tessarray.open_collection(tmp_path / "x.pack")
        assert [len(one) for one in fleet.read("TEMP")] == [3 + i for i in range(7)]
        assert fleet.variables["DOXY"] == 3
        assert fleet.where("TEMP.max > 60 and platform == 'float 6'") == ["cast-6"]
        assert fleet.where("ID == '0003'") == ["cast-3"]
        decoded = fleet.read("PSAL", ["cast-0", "cast-2"], decode=True)
        assert decoded[0].tolist() == [1, 1.5, 2]
        assert decoded[1].tolist() == [1, 3.5, 6, 8.5, 11]
        for i in range(7):
            with xarray.open_dataset(files / f"cast-{i}.nc") as source:
                xarray.testing.assert_identical(fleet[f"cast-{i}"].to_xarray().load(), source.load())

    def test_every_kind_of_source(self, tmp_path: Path) -> None:
        folder = tmp_path / "data"
        write_cast(folder / "three.nc", 1)
        with netcdf.Dataset(folder / "groups.nc", "w") as file:
            group = file.createGroup("deep")
            group.createDimension("x", 2)
            group.createVariable("v", "i4", ("x",))[:] = [1, 2]
            group.note = "below"
        with h5py.File(folder / "five.h5", "w") as file:
            file["v"] = np.arange(3)
            file["g/w"] = [1.5]
        store = tessarray.create_group(folder / "six.zarr")
        store["v"] = np.arange(4)
        report = tessarray.build_collection(folder, tmp_path / "x.pack", workers=3)
        fleet = tessarray.open_collection(tmp_path / "x.pack")
        assert sorted(report.added) == fleet.names == ["five", "groups", "six", "three"]
        assert [one.tolist() for one in fleet.read("v", missing="skip")] == [[0, 1, 2], [0, 1, 2, 3]]
        assert fleet["groups"]["deep/v"][...].tolist() == [1, 2]
        assert fleet["groups"].group["deep"].attrs["note"] == "below"
        assert fleet.read("g/w", "five").tolist() == [[1.5]]

    def test_dimensions_that_can_grow_still_can(self, tmp_path: Path) -> None:
        for i, format in enumerate(("NETCDF3_CLASSIC", "NETCDF4")):
            with netcdf.Dataset(tmp_path / f"{i}.nc", "w", format=format) as file:
                file.createDimension("time", None)
                file.createDimension("x", 2)
                file.createVariable("v", "f4", ("time", "x"))[:] = np.ones((3, 2))
        tessarray.build_collection(f"{tmp_path}/*.nc", tmp_path / "x.pack")
        fleet = tessarray.open_collection(tmp_path / "x.pack")
        for i in range(2):
            fleet.export(f"{i}", tmp_path / f"{i}-back.nc")
            with netcdf.Dataset(tmp_path / f"{i}-back.nc") as file:
                assert file.dimensions["time"].isunlimited()
                assert not file.dimensions["x"].isunlimited()

    def test_names_of_files_in_several_folders(self, tmp_path: Path) -> None:
        for place in ("a/cast.nc", "b/cast.nc", "b/other.nc"):
            write_cast(tmp_path / "data" / place, 0)
        report = tessarray.build_collection(tmp_path / "data", tmp_path / "x.pack")
        assert report.added == ("a-cast", "b-cast", "b-other")
        stems = tessarray.build_collection(tmp_path / "data/b", tmp_path / "s.pack", names="stem")
        assert stems.added == ("cast", "other")
        named = tessarray.build_collection(
            [tmp_path / "data"], tmp_path / "y.pack", name=lambda path: f"{path.parent.name}_{path.stem}"
        )
        assert named.added == ("a_cast", "b_cast", "b_other")
        with pytest.raises(InvalidArgumentError, match="would both be dataset 'same'"):
            tessarray.build_collection(tmp_path / "data", tmp_path / "z.pack", name=lambda path: "same")

    def test_bad_files_are_skipped_with_a_reason_and_leave_nothing(self, files: Path, tmp_path: Path) -> None:
        (files / "bad.nc").write_bytes(b"CDF\x01 and then nothing")
        (files / "empty.nc").write_bytes(b"")
        with pytest.raises(tessarray.TessarrayError, match=r"bad\.nc"):
            tessarray.build_collection(files, tmp_path / "x.pack")
        report = tessarray.build_collection(files, tmp_path / "y.pack", on_error="skip")
        assert [Path(path).name for path, _ in report.skipped] == ["bad.nc", "empty.nc"]
        assert all(reason for _, reason in report.skipped)
        fleet = tessarray.open_collection(tmp_path / "y.pack")
        assert len(fleet) == 7
        assert fleet.check(deep=True) == []
        assert not [key for key, _ in fleet.store.list("") if key.startswith(("bad", "empty"))]

    def test_variables_are_chosen(self, files: Path, tmp_path: Path) -> None:
        tessarray.build_collection(files, tmp_path / "x.pack", include=["TEMP", "P*"], exclude="PSAL")
        assert tessarray.open_collection(tmp_path / "x.pack").variables == {"TEMP": 7}

    def test_a_used_path(self, files: Path, tmp_path: Path) -> None:
        tessarray.build_collection(f"{files}/cast-[01].nc", tmp_path / "x.pack")
        with pytest.raises(ExistsError, match="incremental adds to it"):
            tessarray.build_collection(files, tmp_path / "x.pack")
        tessarray.build_collection(f"{files}/cast-[23].nc", tmp_path / "x.pack", overwrite=True)
        assert tessarray.open_collection(tmp_path / "x.pack").names == ["cast-2", "cast-3"]
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "file").write_text("mine")
        with pytest.raises(ExistsError, match="something else"):
            tessarray.build_collection(files, tmp_path / "other", overwrite=True)
        with pytest.raises(NotFoundError, match="no file matches"):
            tessarray.build_collection(f"{files}/*.xyz", tmp_path / "z.pack")

    def test_incremental(self, files: Path, tmp_path: Path) -> None:
        pack = tmp_path / "x.pack"
        tessarray.build_collection(files, pack)
        again = tessarray.build_collection(files, pack, incremental=True)
        assert (again.added, again.changed, again.unchanged, again.version) == ((), (), 7, 1)
        write_cast(files / "cast-7.nc", 7)
        write_cast(files / "cast-1.nc", 9)
        os.utime(files / "cast-2.nc", (1, 1))
        (files / "cast-3.nc").unlink()
        third = tessarray.build_collection(files, pack, incremental=True)
        assert (third.added, third.changed, third.unchanged) == (("cast-7",), ("cast-1",), 5)
        assert third.removed == ("cast-3",)
        fleet = tessarray.open_collection(pack)
        assert len(fleet.read("TEMP", "cast-1")[0]) == 12
        assert "cast-3" in fleet

    def test_an_interrupted_build_goes_on(self, tmp_path: Path) -> None:
        for i in range(60):
            write_cast(tmp_path / "data" / f"c{i:03}.nc", i % 9)
        program = (
            "import sys, tessarray.collection.building as b\n"
            "b.COMMIT_BYTES = 200\n"
            "def told(done, total):\n"
            "    print(done, flush=True)\n"
            "    import time; time.sleep(0.02)\n"
            "b.build_collection(sys.argv[1], sys.argv[2], progress=told)\n"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "data"), str(tmp_path / "x.pack")],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        for line in child.stdout:
            if int(line) == 30:
                break
        child.kill()
        child.wait()
        left = tessarray.open_collection(tmp_path / "x.pack").names
        assert 0 < len(left) < 60
        report = tessarray.build_collection(tmp_path / "data", tmp_path / "x.pack", incremental=True)
        fleet = tessarray.open_collection(tmp_path / "x.pack")
        assert len(fleet) == 60
        assert len(report.added) == 60 - len(left)
        assert fleet.check(deep=True) == []

    def test_two_processes_add_five_hundred_each(self, tmp_path: Path) -> None:
        tessarray.create_collection(tmp_path / "x.pack", durable=False)
        program = (
            "import sys, numpy as np, tessarray\n"
            "fleet = tessarray.open_collection(sys.argv[1], durable=False)\n"
            "for i in range(50):\n"
            "    with fleet.transaction() as tx:\n"
            "        for j in range(10):\n"
            "            tx.add(f'{sys.argv[2]}-{i * 10 + j:03}', {'v': np.array([i * 10 + j])})\n"
        )
        children = [
            subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "x.pack"), name]) for name in "ab"
        ]
        assert [child.wait() for child in children] == [0, 0]
        fleet = tessarray.open_collection(tmp_path / "x.pack")
        assert len(fleet) == 1000
        np.testing.assert_array_equal(fleet.read("v").ravel(), np.tile(np.arange(500), 2))

    def test_a_reader_stays_at_its_version_during_compaction(self, tmp_path: Path) -> None:
        fleet = tessarray.create_collection(tmp_path / "x.pack", durable=False)
        for i in range(5):
            with fleet.transaction() as tx:
                tx.add(f"d{i}", {"v": np.full(100, i)})
        pinned = fleet.at(3)
        before = pinned.read("v")
        fleet.compact()
        np.testing.assert_array_equal(pinned.read("v"), before)
        assert len(fleet) == 5
        np.testing.assert_array_equal(fleet.read("v")[:3], before)


class TestArgo:
    """The real profiles, file by file."""

    def test_all_files_are_equal(self, shared_data: Path, tmp_path: Path) -> None:
        with tarfile.open(shared_data / "argo-profiles.tar.xz") as archive:
            archive.extractall(tmp_path / "argo", filter="data")
        report = tessarray.build_collection(
            f"{tmp_path}/argo/**/*.nc", tmp_path / "x.pack", on_error="skip", names="stem"
        )
        fleet = tessarray.open_collection(tmp_path / "x.pack")
        assert len(fleet) + len(report.skipped) == 1021
        paths = {path.stem: path for path in (tmp_path / "argo").rglob("*.nc")}
        names = fleet.names[::23]
        for variable in ("TEMP", "PRES", "PSAL"):
            found = fleet.read(variable, missing="skip", decode=False)
            for name in names:
                with netcdf.Dataset(paths[name]) as source:
                    if variable in source.variables:
                        source.set_auto_maskandscale(False)
                        np.testing.assert_array_equal(found[name], source[variable][:])
        for name in names[::4]:
            with xarray.open_dataset(paths[name], decode_timedelta=False) as source:
                lazy = fleet[name].to_xarray(decode_timedelta=False)
                xarray.testing.assert_identical(lazy.load(), source.load())


class TestCommands:
    def test_from_files_to_values(self, files: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
        pack = tmp_path / "x.pack"
        code, said = run("collection", "build", f"{files}/*.nc", pack)
        assert code == 0
        assert "7 added" in said
        assert run("collection", "ls", pack)[1].split() == [f"cast-{i}" for i in range(7)]
        code, said = run("collection", "show", pack, "cast-2")
        assert code == 0
        assert "degree_Celsius" in said
        assert "platform: float 2" in said
        assert "PSAL: attributes that differ: scale_factor" in run("collection", "schema", pack)[1]
        assert run("collection", "where", pack, "TEMP.max > 50")[1].split() == ["cast-5", "cast-6"]
        found = json.loads(run("collection", "stats", pack, "TEMP", "--json")[1])
        assert found[0]["max"] == 68
        found = json.loads(run("collection", "stats", pack, "TEMP", "--each", "--json")[1])
        assert [one["min"] for one in found] == [10 * i for i in range(7)]
        code, said = run("collection", "read", pack, "TEMP", "[:2]", "--json", "--values", "--name", "cast-1")
        assert json.loads(said)["values"] == {"cast-1": [10, 11]}
        code, said = run(
            "collection",
            "read",
            pack,
            "PSAL",
            "--decode",
            "--where",
            "TEMP.min < 15",
            "--out",
            tmp_path / "p.npz",
        )
        assert code == 0
        assert "ragged" in said
        with np.load(tmp_path / "p.npz") as saved:
            assert saved["names"].tolist() == ["cast-0", "cast-1"]
            assert saved["shapes"].tolist() == [[3], [4]]
            assert saved["values"].tolist() == [1, 1.5, 2, 1, 2.5, 4, 5.5]
        assert run("collection", "export", pack, "cast-0", tmp_path / "back.nc")[0] == 0
        with (
            xarray.open_dataset(tmp_path / "back.nc") as back,
            xarray.open_dataset(files / "cast-0.nc") as source,
        ):
            xarray.testing.assert_identical(back.load(), source.load())
        assert run("collection", "export", pack, "cast-0", tmp_path / "back.zarr")[0] == 0
        write_cast(tmp_path / "more.nc", 3)
        assert run("collection", "add", pack, tmp_path / "more.nc")[0] == 0
        assert run("collection", "remove", pack, "more", "cast-6")[0] == 0
        assert "cast-6" not in run("collection", "ls", pack)[1]
        assert run("collection", "check", pack, "--deep")[0] == 0
        assert run("collection", "compact", pack)[0] == 0
        assert "build" in run("collection", "versions", pack)[1]
        assert run("collection", "ls", pack, "--version", "1")[1].count("cast") == 7

    def test_errors_are_one_line(self, files: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
        pack = tmp_path / "x.pack"
        assert run("collection", "build", f"{files}/*.nc", pack)[0] == 0
        for arguments, expected in (
            (("read", pack, "TMP"), "did you mean 'TEMP'"),
            (("where", pack, "TEMP.max >"), "no condition"),
            (("show", pack, "cast"), "no dataset 'cast'"),
            (("read", pack, "TEMP", "[:99]"), "reaches beyond axis 0"),
            (("build", f"{files}/*.nc", pack), "incremental adds to it"),
            (("ls", tmp_path / "nothing"), "nothing"),
        ):
            code, said = run("collection", *arguments)
            assert code != 0
            assert expected in said
            assert "Traceback" not in said

    def test_help_has_examples(self, run: Callable[..., Any]) -> None:
        for name in ("build", "ls", "show", "schema", "stats", "read", "add", "remove", "where", "export"):
            assert f"tessarray collection {name}" in run("collection", name, "--help")[1]


def test_a_build_is_not_slowed_by_what_is_there(tmp_path: Path) -> None:
    """Each transaction costs its own datasets, not those of the whole collection: bytes written grow linearly."""
    fleet = tessarray.create_collection(tmp_path / "x.pack", durable=False)
    sizes = []
    for round_ in range(3):
        begun = sum(path.stat().st_size for path in (tmp_path / "x.pack" / "catalogue").glob("*"))
        for i in range(40):
            with fleet.transaction() as tx:
                tx.add(f"r{round_}-{i}", {"v": np.arange(10)})
        sizes.append(
            sum(path.stat().st_size for path in (tmp_path / "x.pack" / "catalogue").glob("*")) - begun
        )
    assert sizes[2] < 3 * sizes[0]
