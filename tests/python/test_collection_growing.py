"""Collections that grow file by file: the same as if all files had been added at once; nothing twice, nothing lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import SCALE

import tessarray
from tessarray.errors import ExistsError, InvalidArgumentError, NotFoundError

FOLDERS = ("", "01", "02", "02/deep", "03/deep")
STEMS = ("data", "cast", "other")


def write(path: Path, value: float, name: str = "v") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **{name: np.array([value, value + 1])})
    return path


def contents(pack: Path) -> dict[str, list[float]]:
    fleet = tessarray.open_collection(pack)
    return {name: fleet[name]["v"][...].tolist() for name in fleet.names}


def build(sources: Any, pack: Path, **options: Any) -> Any:
    return tessarray.build_collection(sources, pack, incremental=True, **options)


trees = st.lists(
    st.tuples(st.sampled_from(FOLDERS), st.sampled_from(STEMS)), min_size=1, max_size=7, unique=True
)


class TestSplits:
    @given(tree=trees, data=st.data())
    @settings(
        max_examples=round(12 * SCALE),
        suppress_health_check=[HealthCheck.function_scoped_fixture],
        deadline=None,
    )
    def test_any_sequence_of_calls_gives_what_one_call_gives(
        self, tree: list[tuple[str, str]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        home = tmp_path_factory.mktemp("split")
        root = home / "m"
        files = [write(root / folder / f"{stem}.npz", i) for i, (folder, stem) in enumerate(tree)]
        tessarray.build_collection(root, home / "once.pack")
        order = data.draw(st.permutations(files))
        cuts = sorted(data.draw(st.lists(st.integers(0, len(files)), max_size=3)))
        for begin, stop in zip([0, *cuts], [*cuts, len(files)], strict=True):
            again = data.draw(st.lists(st.sampled_from(files), max_size=2))
            if order[begin:stop] or again:
                build([*order[begin:stop], *again], home / "split.pack", root=root)
        assert contents(home / "split.pack") == contents(home / "once.pack")
        assert len(contents(home / "once.pack")) == len(files)
        last = build(root, home / "split.pack")
        assert (last.added, last.changed, last.removed) == ((), (), ())

    @given(tree=trees, data=st.data())
    @settings(
        max_examples=round(12 * SCALE),
        suppress_health_check=[HealthCheck.function_scoped_fixture],
        deadline=None,
    )
    def test_a_folder_that_fills_gives_what_it_gives_in_the_end(
        self, tree: list[tuple[str, str]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        home = tmp_path_factory.mktemp("fill")
        for i, (folder, stem) in enumerate(tree):
            write(home / "m" / folder / f"{stem}.npz", i)
            if data.draw(st.booleans()):
                source = data.draw(st.sampled_from([home / "m", f"{home}/m/**/*.npz"]))
                build(source, home / "grown.pack")
        build(home / "m", home / "grown.pack")
        tessarray.build_collection(home / "m", home / "once.pack")
        assert contents(home / "grown.pack") == contents(home / "once.pack")

    @given(tree=trees, data=st.data())
    @settings(
        max_examples=round(12 * SCALE),
        suppress_health_check=[HealthCheck.function_scoped_fixture],
        deadline=None,
    )
    def test_files_and_folders_in_any_order_are_stored_once_or_refused(
        self, tree: list[tuple[str, str]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """No call stores a file twice or replaces another's dataset, whichever sources are given and however."""
        home = tmp_path_factory.mktemp("any")
        files = [write(home / "m" / folder / f"{stem}.npz", i) for i, (folder, stem) in enumerate(tree)]
        sources: list[Path | str] = [*files, *{file.parent for file in files}, home / "m"]
        expected: dict[Path, float] = {}
        for _ in range(data.draw(st.integers(1, 4))):
            source = data.draw(st.sampled_from(sources))
            path = Path(source)
            taken = [file for file in files if file == path or path in file.parents]
            before = contents(home / "x.pack") if expected else {}
            try:
                build(os.path.relpath(source) if data.draw(st.booleans()) else source, home / "x.pack")
            except (ExistsError, InvalidArgumentError):
                assert (contents(home / "x.pack") if expected else {}) == before
            else:
                expected |= {file: files.index(file) for file in taken}
        found = sorted(values[0] for values in contents(home / "x.pack").values()) if expected else []
        assert found == sorted(expected.values())


class TestPlaces:
    def test_months_with_one_file_name(self, tmp_path: Path) -> None:
        pack = tmp_path / "f.pack"
        write(tmp_path / "m/01/data.npz", 1)
        assert build(tmp_path / "m", pack).added == ("01-data",)
        write(tmp_path / "m/02/data.npz", 2)
        report = build(tmp_path / "m", pack)
        assert (report.added, report.changed, report.unchanged) == (("02-data",), (), 1)
        assert build(tmp_path / "m/02", pack).unchanged == 1

    def test_another_file_never_replaces_a_dataset(self, tmp_path: Path) -> None:
        pack = tmp_path / "g.pack"
        write(tmp_path / "m/01/data.npz", 1)
        write(tmp_path / "m/02/data.npz", 2)
        build(tmp_path / "m/01", pack)
        with pytest.raises(ExistsError, match=r"02/data.npz would be dataset 'data'.*01/data.npz.*root="):
            build(tmp_path / "m/02", pack)
        assert contents(pack) == {"data": [1, 2]}
        report = build(tmp_path / "m", pack, root=tmp_path / "m")
        assert (report.added, report.removed) == (("02-data",), ())
        (tmp_path / "m/01/data.npz").unlink()
        write(tmp_path / "n/data.npz", 7)
        with pytest.raises(ExistsError, match="gone, of other content"):
            build(tmp_path / "n", pack)
        assert contents(pack) == {"02-data": [2, 3], "data": [1, 2]}

    def test_what_has_moved_is_known_by_its_content(self, tmp_path: Path) -> None:
        pack = tmp_path / "x.pack"
        for i, place in enumerate(("01/data", "02/data", "02/same", "03/same")):
            write(tmp_path / f"old/{place}.npz", 5 if "same" in place else i)
        build(tmp_path / "old", pack)
        (tmp_path / "old").rename(tmp_path / "new")
        write(tmp_path / "new/04/data.npz", 9)
        report = build(tmp_path / "new", pack)
        assert (report.added, report.changed, report.unchanged, report.removed) == (("04-data",), (), 4, ())
        assert sorted(report.moved) == ["01-data", "02-data", "02-same", "03-same"]
        (tmp_path / "new/01").rename(tmp_path / "new/05")
        assert build(tmp_path / "new", pack).moved == ("01-data",)
        assert len(contents(pack)) == 5

    def test_links_and_relative_paths_are_the_file_they_lead_to(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pack = tmp_path / "x.pack"
        write(tmp_path / "m/01/data.npz", 1)
        build(tmp_path / "m", pack)
        (tmp_path / "m/latest.npz").symlink_to(tmp_path / "m/01/data.npz")
        (tmp_path / "link").symlink_to(tmp_path / "m")
        monkeypatch.chdir(tmp_path)
        for source in ("m", "link", "m/01/data.npz", "m/latest.npz", "link/*/*.npz"):
            assert build(source, pack).unchanged == 1
        assert contents(pack) == {"01-data": [1, 2]}

    def test_renamed_datasets_keep_their_file(self, tmp_path: Path) -> None:
        pack = tmp_path / "x.pack"
        write(tmp_path / "m/a.npz", 1)
        build(tmp_path / "m", pack)
        with tessarray.open_collection(pack).transaction() as tx:
            tx.rename("a", "b")
        write(tmp_path / "m/a.npz", 4)
        report = build(tmp_path / "m", pack)
        assert (report.added, report.changed) == ((), ("b",))
        assert contents(pack) == {"b": [4, 5]}

    def test_stems_are_remembered(self, tmp_path: Path) -> None:
        pack = tmp_path / "x.pack"
        write(tmp_path / "m/01/a.npz", 1)
        build(tmp_path / "m", pack, names="stem")
        write(tmp_path / "m/02/b.npz", 1)
        assert build(tmp_path / "m", pack).added == ("b",)
        with pytest.raises(InvalidArgumentError, match="'path' or 'stem'"):
            build(tmp_path / "m", pack, names="hash")

    def test_files_that_two_datasets_were_made_from_are_told(self, tmp_path: Path) -> None:
        pack = tmp_path / "x.pack"
        path = write(tmp_path / "m/a.npz", 1)
        build(path, pack)
        fleet = tessarray.open_collection(pack)
        with fleet.transaction() as tx:
            tx.add("twin", {"v": [1.0, 2.0]})
            tx.pack.store.put("twin/source.json", fleet.store.get("a/source.json") or b"")
        assert "'a', 'twin' were all made from it" in build(path, pack).warnings[0]


class TestFailures:
    def test_nothing_is_left_by_a_build_that_fails(self, tmp_path: Path) -> None:
        write(tmp_path / "m/a.npz", 1)
        (tmp_path / "m/b.npz").write_bytes(b"PK\x03\x04 cut")
        with pytest.raises(tessarray.TessarrayError, match=r"b\.npz"):
            tessarray.build_collection(tmp_path / "m", tmp_path / "x.pack")
        assert [path.name for path in tmp_path.iterdir()] == ["m"]
        tessarray.build_collection(tmp_path / "m", tmp_path / "x.pack", on_error="skip")
        assert contents(tmp_path / "x.pack") == {"a": [1, 2]}

    def test_what_is_to_be_replaced_stays_if_the_build_fails(self, tmp_path: Path) -> None:
        tessarray.build_collection(write(tmp_path / "m/a.npz", 1), tmp_path / "x.pack")
        bad = tmp_path / "bad.npz"
        bad.write_bytes(b"PK\x03\x04 cut")
        with pytest.raises(tessarray.TessarrayError):
            tessarray.build_collection(bad, tmp_path / "x.pack", overwrite=True)
        assert contents(tmp_path / "x.pack") == {"a": [1, 2]}
        tessarray.build_collection(write(tmp_path / "m/b.npz", 3), tmp_path / "x.pack", overwrite=True)
        assert contents(tmp_path / "x.pack") == {"b": [3, 4]}

    def test_notes_among_data_stop_nothing(self, tmp_path: Path) -> None:
        write(tmp_path / "m/a.npz", 1)
        (tmp_path / "m/README").write_text("about these files")
        (tmp_path / "m/notes.txt").write_text("more of it")
        report = tessarray.build_collection(tmp_path / "m", tmp_path / "x.pack")
        assert report.added == ("a",)
        assert [Path(path).name for path, _ in report.skipped] == ["README", "notes.txt"]
        with pytest.raises(tessarray.TessarrayError, match=r"notes\.txt"):
            tessarray.build_collection(tmp_path / "m/notes.txt", tmp_path / "y.pack")
        (tmp_path / "m/damaged.nc").write_bytes(b"no netCDF at all")
        with pytest.raises(tessarray.TessarrayError, match=r"damaged\.nc"):
            tessarray.build_collection(tmp_path / "m", tmp_path / "z.pack")

    def test_the_pack_in_the_folder_is_no_source(self, tmp_path: Path) -> None:
        write(tmp_path / "a.npz", 1)
        build(tmp_path, tmp_path / "x.pack")
        assert build(tmp_path, tmp_path / "x.pack").unchanged == 1

    def test_patterns_that_fit_nothing(self, tmp_path: Path) -> None:
        write(tmp_path / "m/a.npz", 1, "TEMP")
        write(tmp_path / "m/b.npz", 2, "PSAL")
        with pytest.raises(NotFoundError, match=r"2 files is 'temp' \(did you mean 'TEMP'\?\).*: TEMP, PSAL"):
            tessarray.build_collection(tmp_path / "m", tmp_path / "x.pack", include="temp")
        assert not (tmp_path / "x.pack").exists()
        report = tessarray.build_collection(tmp_path / "m", tmp_path / "x.pack", include=["PSAL", "psal"])
        assert report.added == ("a", "b")
        assert report.warnings == ("no variable is 'psal'; there are: TEMP, PSAL",)
        assert tessarray.open_collection(tmp_path / "x.pack").variables == {"PSAL": 1}
        write(tmp_path / "m/c.npz", 2, "TEMP")
        assert build(tmp_path / "m", tmp_path / "x.pack", include="PSAL").added == ("c",)

    def test_commands_say_what_to_do(self, tmp_path: Path, run: Callable[..., Any]) -> None:
        for month in ("01", "02"):
            write(tmp_path / f"m/{month}/data.npz", 1)
        shutil.copytree(tmp_path / "m", tmp_path / "other")
        code, said = run("collection", "build", tmp_path / "m", tmp_path / "other")
        assert code == 1
        assert "last path of a build is the collection" in said
        code, said = run("collection", "build", *sorted((tmp_path / "m").rglob("*.npz")), tmp_path / "x.pack")
        assert code == 1
        assert "--root" in said
        paths = sorted((tmp_path / "m").rglob("*.npz"))
        code, said = run("collection", "build", *paths, tmp_path / "x.pack", "--root", tmp_path / "m")
        assert code == 0, said
        assert "2 added" in said
        code, said = run("collection", "build", tmp_path / "m", tmp_path / "x.pack")
        assert code == 1
        assert "--incremental" in said
        code, said = run("collection", "build", tmp_path / "m", tmp_path / "y.pack", "--include", "V")
        assert code == 1
        assert "did you mean 'v'" in said
        code, said = run("collection", "add", tmp_path / "x.pack", paths[0])
        assert code == 0, said
        assert "0 added, 1 there already" in said
