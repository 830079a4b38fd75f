"""Workload files of the user's own: what they become, and what is said of those that are not right."""

from __future__ import annotations

import itertools
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT

from tessarray_bench import custom, custom_source, data, queries
from tessarray_bench.custom import CustomError, load, split
from tessarray_bench.harness.run import Plan, Runner, run
from tessarray_bench.model import Codec, Data, Layout, Query, Workload
from tessarray_bench.systems import from_file

EXAMPLE = ROOT / "examples" / "bench_workload.toml"
LIARS = Path(__file__).with_name("bench_liars.py")

SMALL = """
[data]
shape = [20, 30]
dtype = "float32"
kind = "smooth"
[layouts.whole]
chunks = [20, 30]
codec = "none"
"""


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder: Path, text: str) -> Workload:
    (found,) = load(written(folder, text))
    return found


def refused(folder: Path, text: str, key: str, *parts: str) -> CustomError:
    path = written(folder, text)
    with pytest.raises(CustomError) as caught:
        load(path)
    error = caught.value
    assert (error.file, error.key) == (str(path), key)
    for part in (str(path), error.expected, error.found, *parts):
        assert part in str(error)
    return error


# ---- what a file becomes


def test_each_layout_is_a_workload():
    found = load(EXAMPLE)
    assert [w.id for w in found] == [f"custom/camera-tour/{n}" for n in ("frames", "cubes", "sharded")]
    assert [w.layout for w in found] == [
        Layout((1, 256, 256)),
        Layout((16, 64, 64), None, Codec.parse("zstd:3")),
        Layout((16, 32, 32), (64, 128, 128)),
    ]
    for workload in found:
        assert (workload.suite, workload.kind, workload.workers) == ("custom", "array", None)
        assert workload.data == Data("camera", (64, 256, 256), "u2")
        assert workload.options == {"order": "C", "repeats": 5}
        assert Workload.from_json(workload.to_json()) == workload


def test_calls_are_shared_by_weight():
    assert load(EXAMPLE)[0].queries == (
        Query("frame", "[i, :, :]", 24),
        Query("pixel over time", "[:, y, x]", 8),
        Query("box", "[:16, :64, :64]", 8, 2),
        Query("points", "points", 1000),
        Query("chunks", "chunks", 1),
    )


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=12), st.integers(0, 500))
def test_shares_add_up_and_are_one_at_least(weights, spare):
    total = len(weights) + spare
    counts = split(total, weights)
    assert sum(counts) == total
    assert min(counts) >= 1
    pairs = sorted(zip(weights, counts, strict=True))
    assert all(less <= more + 1 for (_, less), (_, more) in itertools.pairwise(pairs))  # heavier, not fewer


def test_what_is_left_out_has_a_default(tmp_path):
    found = loaded(tmp_path, SMALL)
    assert found == Workload(
        "custom/mine/whole", "custom", "array", Data("smooth", (20, 30), "f4"), None,
        Layout((20, 30), None, Codec.parse("none")), options={"order": "C"},
    )  # fmt: skip


def test_what_is_given_is_kept(tmp_path):
    text = 'name = "n"\nworkers = 3\norder = "F"\n' + SMALL.replace('"smooth"', '"ramp"\nseed = 7')
    found = loaded(tmp_path, text)
    assert (found.id, found.workers, found.options["order"], found.data.seed) == ("custom/n/whole", 3, "F", 7)


def test_yaml_is_read_too(tmp_path):
    yaml = pytest.importorskip("yaml")
    path = written(tmp_path, yaml.safe_dump(tomllib.loads(EXAMPLE.read_text()), sort_keys=False), "tour.yaml")
    assert load(path) == load(EXAMPLE)


def test_yaml_without_its_reader_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(CustomError, match=r"tour\.yml: the file: expected PyYAML.*\.toml"):
        load(written(tmp_path, "name: x", "tour.yml"))


def test_it_runs_from_the_file_to_the_rows(tmp_path):
    np.save(tmp_path / "v.npy", np.asfortranarray(np.arange(600.0).reshape(20, 30)))
    text = """
    repeats = 2
    calls = 10
    data = {file = "v.npy"}
    layouts = {whole = {chunks = [20, 30], codec = "none"}}
    queries = [{selection = "[i, :4]"}]
    """
    cls = from_file(LIARS)["honest"]
    runners = {"honest": Runner(cls, sys.executable, {"title": "", "versions": {}}, str(LIARS))}
    out = tmp_path / "out.json"
    document = run(Plan([loaded(tmp_path, text)], runners, tmp_path, out, repeats=1), lambda _: None)
    assert {row["status"] for row in document["rows"]} == {"ok"}
    rows = [row for row in document["rows"] if row["step"] == "[i, :4]"]
    assert [(row["repeat"], row["calls"], row["nbytes"]) for row in rows] == [(0, 10, 320), (1, 10, 320)]
    assert (tmp_path / "v.npy").is_file()


# ---- files of values


def test_a_file_of_texts(tmp_path):
    np.save(tmp_path / "words.npy", np.array(["one", "twenty-seven letters long,"]))
    found = loaded(tmp_path, 'data = {file = "words.npy"}\nlayouts = {a = {chunks = [2]}}')
    assert found.data == Data("file", (2,), "string", 0, str(tmp_path / "words.npy"))
    values = data.load(found.data, custom_source.source_file(found.data, tmp_path))
    assert values.tolist() == ["one", "twenty-seven letters long,"]


def variable_file(folder: Path, library: str) -> tuple[Path, np.ndarray]:
    """A file with the variables `t2m` (packed; big-endian in HDF5) and `group/names`."""
    packed = np.arange(-300, 300, dtype=">i2").reshape(20, 30)
    path = folder / ("x.h5" if library == "h5py" else "x.nc")
    module: Any = pytest.importorskip(library)
    if library == "h5py":
        with module.File(path, "w") as file:
            file.create_dataset("t2m", data=packed).attrs["scale_factor"] = 0.01
            file["group/names"] = ["a", "be", "see"]
        return path, packed
    with module.Dataset(path, "w") as file:
        file.createDimension("y", 20)
        file.createDimension("x", 30)
        stored = file.createVariable("t2m", "i2", ("y", "x"), fill_value=5)
        stored.scale_factor = 0.01
        stored.set_auto_maskandscale(False)
        stored[...] = packed
        file.createDimension("n", 3)
        file.createVariable("group/names", str, ("n",))[...] = np.array(["a", "be", "see"], object)
    return path, packed


FROM_FILE = 'data = {{file = "{}", variable = "{}"}}\nlayouts = {{a = {{chunks = {}}}}}'


@pytest.mark.parametrize("library", ["h5py", "netCDF4"])
def test_a_variable_is_copied_as_it_is_stored(tmp_path, library, monkeypatch):
    path, packed = variable_file(tmp_path, library)
    monkeypatch.setattr(data, "SLAB_BYTES", 7 * 30 * 2)  # slabs of seven rows
    found = loaded(tmp_path, FROM_FILE.format(path.name, "t2m", "[20, 30]"))
    assert found.data == Data("file", (20, 30), "i2", 0, f"{path}::t2m")
    source = custom_source.source_file(found.data, tmp_path / "work")
    assert source.parent == tmp_path / "work"
    values = np.load(source)
    assert values.dtype == np.dtype("i2")
    np.testing.assert_array_equal(values, packed)
    assert custom_source.source_file(found.data, tmp_path / "work") == source


def test_a_netcdf_3_file_is_read(tmp_path):
    netcdf4 = pytest.importorskip("netCDF4")
    with netcdf4.Dataset(tmp_path / "old.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 4)
        stored = file.createVariable("v", "i2", ("x",))
        stored[...] = [1, 2, 3, -32767]
        stored.scale_factor = 0.5
        stored.missing_value = 3
    found = loaded(tmp_path, FROM_FILE.format("old.nc", "v", "[4]"))
    assert np.load(custom_source.source_file(found.data, tmp_path / "work")).tolist() == [1, 2, 3, -32767]


@pytest.mark.parametrize("library", ["h5py", "netCDF4"])
def test_texts_of_a_group_are_copied(tmp_path, library):
    path, _ = variable_file(tmp_path, library)
    found = loaded(tmp_path, FROM_FILE.format(path.name, "group/names", "[3]"))
    assert found.data.dtype == "string"
    values = data.load(found.data, custom_source.source_file(found.data, tmp_path / "work"))
    assert values.tolist() == ["a", "be", "see"]


def test_a_variable_that_is_not_there(tmp_path):
    path, _ = variable_file(tmp_path, "h5py")
    refused(
        tmp_path, FROM_FILE.format(path.name, "t2n", "[3]"), "data.variable", "'t2n'", "did you mean 't2m'?"
    )
    refused(tmp_path, FROM_FILE.format(path.name, "group", "[3]"), "data.variable", "there are t2m")


@pytest.mark.parametrize("library", ["h5py", "netCDF4"])
def test_a_library_that_is_not_there_is_named(tmp_path, library, monkeypatch):
    path = tmp_path / "x"
    path.write_bytes(custom_source.MAGIC_HDF5 if library == "h5py" else b"CDF\x01")
    monkeypatch.setitem(sys.modules, library, None)
    refused(tmp_path, FROM_FILE.format("x", "t", "[3]"), "data.variable", f"the module {library}")


def test_a_variable_that_changed_since_is_refused(tmp_path):
    path, _ = variable_file(tmp_path, "h5py")
    with pytest.raises(
        CustomError, match=r"t2m: expected the shape \[21, 30\] that it had, found \[20, 30\]"
    ):
        custom_source.source_file(Data("file", (21, 30), "i2", 0, f"{path}::t2m"), tmp_path / "work")
    assert list((tmp_path / "work").iterdir()) == []


# ---- what is not right

DATA_LINE = 'data = {shape = [20, 30], dtype = "f4", kind = "ramp"}\n'
LAYOUT_LINE = "layouts = {a = {chunks = [10, 10]}}\n"


@pytest.mark.parametrize(
    ("text", "key", "part"),
    [
        ("[data", "the file", "expected TOML"),
        ("calls = 3", "data", "found nothing"),
        ("data = 3", "data", "a table of keys and values, found 3"),
        ("shapes = 1\n" + SMALL, "shapes", "one of name, data, layouts"),
        ("quereis = []\n" + SMALL, "quereis", "did you mean 'queries'?"),
        (SMALL.replace("shape", "shap"), "data.shap", "did you mean 'shape'?"),
        (SMALL.replace("codec", "kodec"), "layouts.whole.kodec", "did you mean 'codec'?"),
        (SMALL.replace("[20, 30]\nd", "20\nd"), "data.shape", "found 20"),
        (SMALL.replace("[20, 30]\nd", "[]\nd"), "data.shape", "found []"),
        (SMALL.replace("[20, 30]\nd", "[20, 0]\nd"), "data.shape", "found [20, 0]"),
        (SMALL.replace("[20, 30]\nd", "[true, 2]\nd"), "data.shape", "found [True, 2]"),
        (SMALL.replace("float32", "float31"), "data.dtype", "found 'float31'"),
        (SMALL.replace("float32", ">f4"), "data.dtype", "found '>f4'"),
        (SMALL.replace("float32", "c8"), "data.dtype", "found 'c8'"),
        (SMALL.replace("float32", "u1"), "data.kind", "values of dtype u1"),
        (SMALL.replace("float32", "string"), "data.kind", "`strings` goes with `string` alone"),
        (SMALL.replace("smooth", "smoth"), "data.kind", "did you mean 'smooth'?"),
        (SMALL.replace('kind = "smooth"', ""), "data.kind", "found nothing"),
        (SMALL.replace("kind", 'variable = "v"\nkind'), "data.variable", "`file` beside it"),
        ('name = "a b"\n' + SMALL, "name", "without spaces and slashes"),
        ('order = "K"\n' + SMALL, "order", "one of C, F, found 'K'"),
        ("workers = 0\n" + SMALL, "workers", "1 or more, found 0"),
        ("repeats = 2.5\n" + SMALL, "repeats", "found 2.5"),
        ("calls = true\n" + SMALL, "calls", "found True"),
        (DATA_LINE, "layouts", "found nothing"),
        (DATA_LINE + "layouts = {}", "layouts", "at least one layout"),
        (DATA_LINE + "layouts = {'a/b' = {chunks = [1, 1]}}", "layouts.a/b", "'a/b'"),
        (DATA_LINE + "layouts = {a = {}}", "layouts.a.chunks", "found nothing"),
        (DATA_LINE + "layouts = {a = {chunks = [10]}}", "layouts.a.chunks", "2 lengths"),
        (
            DATA_LINE + "layouts = {a = {chunks = [10, 31]}}",
            "layouts.a.chunks",
            "at most the shape's, [20, 30]",
        ),
        (
            DATA_LINE + "layouts = {a = {chunks = [4, 10], shards = [10, 10]}}",
            "layouts.a.shards",
            "multiples of",
        ),
        *(
            (
                DATA_LINE + f"layouts = {{a = {{chunks = [4, 10], codec = '{codec}'}}}}",
                "layouts.a.codec",
                part,
            )
            for codec, part in (
                ("bloscc:lz4", "did you mean 'blosc'?"),
                ("blosc:lz5", "blosc with one of lz4"),
                ("blosc:lz4:x", "a level from 0 to 9"),
                ("zstd:23", "a level from 0 to 22"),
                ("gzip:10", "a level from 0 to 9"),
                ("zstd:3:bits", "a shuffle"),
                ("blosc:lz4:5:byte:byte", "a shuffle"),
                ("none:1", "`none` alone"),
            )
        ),
    ],
)
def test_an_error_names_the_file_the_key_what_was_expected_and_what_was_found(tmp_path, text, key, part):
    refused(tmp_path, text, key, part)


@pytest.mark.parametrize(
    ("given", "key", "part"),
    [
        ('{selection = "[i]"}', "[0].selection", "2 axes for the shape [20, 30]"),
        ('{selection = "[i, 3]"}', "[0].selection", "a name, `:` or `:n`"),
        ('{selection = "i, j"}', "[0].selection", "found 'i, j'"),
        ('{selection = "chunk"}', "[0].selection", "did you mean 'chunks'?"),
        ('{name = "x"}', "[0].selection", "found nothing"),
        ('{selection = "[i, j]", weigth = 2}', "[0].weigth", "did you mean 'weight'?"),
        ('{selection = "[i, j]", weight = 0}', "[0].weight", "a number above 0"),
        ('{selection = "[i, j]", weight = 1, count = 2}', "[0].weight", "`count` is the number of calls"),
        ('{selection = "chunks", weight = 1}', "[0].weight", "each chunk once"),
        ('{selection = "[i, j]", at_once = 0}', "[0].at_once", "found 0"),
        ('{selection = "[i, j]"}, {selection = "[i, j]"}', "[1].name", "a name of its own"),
        ('{selection = "[i, j]", name = "check"}', "[0].name", "a name of its own"),
        ("3", "[0]", "found 3"),
    ],
)
def test_an_error_in_a_query_names_its_place(tmp_path, given, key, part):
    refused(tmp_path, f"{DATA_LINE}{LAYOUT_LINE}queries = [{given}]", f"queries{key}", part)


def test_fewer_calls_than_queries_are_refused(tmp_path):
    given = 'queries = [{selection = "[i, j]"}, {selection = "[:, j]"}]'
    refused(tmp_path, f"calls = 1\n{DATA_LINE}{LAYOUT_LINE}{given}", "calls", "each of the 2 queries")


@pytest.mark.parametrize(
    ("values", "key", "part"),
    [
        (None, "data.file", "a file that is there"),
        (np.zeros((2, 2), "c8"), "data.file", "it has complex64"),
        (np.zeros((2, 2), ">f4"), "data.file", "byte order"),
        (np.zeros((), "f4"), "data.file", "the shape is []"),
        (np.zeros((2, 0), "f4"), "data.file", "the shape is [2, 0]"),
        (np.array([{}], object), "data.file", "without objects"),
        (b"no array", "data.file", "a .npy file"),
    ],
)
def test_a_file_of_values_that_cannot_be_used(tmp_path, values, key, part):
    path = tmp_path / "v.npy"
    if isinstance(values, bytes):
        path.write_bytes(values)
    elif values is not None:
        np.save(path, values)
    refused(tmp_path, 'data = {file = "v.npy"}\n' + LAYOUT_LINE, key, part)


def test_a_file_of_values_leaves_nothing_else_to_say(tmp_path):
    np.save(tmp_path / "v.npy", np.zeros((20, 30)))
    refused(
        tmp_path,
        'data = {file = "v.npy", dtype = "f4"}\n' + LAYOUT_LINE,
        "data.dtype",
        "`file` has the values",
    )
    (tmp_path / "v.tif").touch()
    refused(tmp_path, 'data = {file = "v.tif"}\n' + LAYOUT_LINE, "data.file", "`variable` beside it")


def test_a_workload_file_that_is_not_there(tmp_path):
    with pytest.raises(
        CustomError, match=r"gone\.toml: the file: expected a file that can be read, found No such"
    ):
        load(tmp_path / "gone.toml")


def test_the_words_of_queries_are_known():
    assert {q.selection for q in load(EXAMPLE)[0].queries} & set(queries.WORDS)
    assert custom.SUITE == "custom"
