"""A proposed layout, written: `apply`, `convert(..., layout=...)` and `tessarray convert --layout`."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tune_support import result, row

import tessarray
from tessarray.cli.main import main
from tessarray.conversion.errors import ConversionError, LayoutError, OptionError
from tessarray.conversion.layout_file import codec_arguments, read_layout
from tessarray.tuner.applying import apply
from tessarray.tuner.errors import LayoutFileError
from tessarray.tuner.layout import Layout

pytestmark = pytest.mark.serial  # it measures

SHAPE = (30, 20, 25)
RNG = np.random.default_rng(5)
VALUES = np.cumsum(RNG.normal(size=SHAPE), axis=0).astype("float32")
LAYOUTS = [
    Layout((10, 5, 5), (30, 10, 25), "blosc:zstd:3:shuffle"),
    Layout((7, 20, 9), None, "zstd:3", checksum=False),
    Layout((30, 20, 25), None, "none", checksum=False),
    Layout((5, 10, 5), (20, 20, 10), "pcodec:8"),
    Layout((5, 10, 5), None, "pcodec", checksum=False),
    Layout((40, 8, 8), None, "gzip:4"),
]


def found(layout=LAYOUTS[0], **changes):
    """A result whose proposal is `layout`."""
    best = row("proposal", layout, shape=SHAPE, names=("all",))
    settings = {"source": "cube.nc", "variable": "t2m", "shape": SHAPE, "dims": ("time", "lat", "lon")}
    return result(rows=(best,), **settings | changes)


@pytest.fixture
def cube(tmp_path):
    """A netCDF file with the variable and another one."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    dims = ("time", "lat", "lon")
    data = {"t2m": (dims, VALUES, {"units": "K"}), "mask": (dims[1:], np.eye(20, 25, dtype="int16"))}
    path = tmp_path / "cube.nc"
    xarray.Dataset(data).to_netcdf(path)
    return path


def essentials(metadata):
    """A Zarr document without what comes from the source: attributes and the fill value."""
    return {key: value for key, value in metadata.items() if key not in ("attributes", "fill_value")}


def command(*words):
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code


@pytest.mark.parametrize("layout", LAYOUTS, ids=Layout.text)
def test_what_is_written_has_exactly_the_proposed_metadata(cube, tmp_path, layout):
    tuned = found(layout, source=str(cube))
    file = tuned.save(tmp_path / "layout.json")
    report = tuned.apply(tmp_path / "out.zarr", verify=True)
    assert report.verified and report.arrays == 2
    made = tessarray.open_array(str(tmp_path / "out.zarr"), path="t2m", mode="r")
    promised = json.loads(file.read_text())["zarr"]
    assert essentials(made.metadata) == essentials(promised)
    assert (made[...] == VALUES).all()
    assert made.attrs["units"] == "K"


def test_other_variables_are_converted_as_before(cube, tmp_path):
    tessarray.convert(cube, tmp_path / "plain.zarr", compressors="zstd:1")
    tessarray.convert(cube, tmp_path / "tuned.zarr", compressors="zstd:1", layout=found().document())
    plain, tuned = (tessarray.open(str(tmp_path / name), mode="r") for name in ("plain.zarr", "tuned.zarr"))
    assert plain["mask"].metadata == tuned["mask"].metadata
    assert plain["t2m"].metadata != tuned["t2m"].metadata
    assert (tuned["t2m"][...] == VALUES).all()


def test_the_command_writes_a_layout_file(cube, tmp_path, capsys):
    file = found().save(tmp_path / "layout.json")
    assert command("convert", cube, tmp_path / "out.zarr", "--layout", file, "--verify") == 0
    made = tessarray.open_array(str(tmp_path / "out.zarr"), path="t2m", mode="r")
    assert (made.chunks, made.shards) == ((10, 5, 5), (30, 10, 25))
    assert command("convert", cube, tmp_path / "no.zarr", "--layout", tmp_path / "none.json") == 1
    assert "no such file" in capsys.readouterr().err
    assert not (tmp_path / "no.zarr").exists() and not (tmp_path / "no.zarr.partial").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"variable": "wind"}, ["variable 'wind'", "mask, t2m"]),
        ({"shape": (30, 20, 26)}, ["shape (30, 20, 26)", "found (30, 20, 25)"]),
        ({"dtype": "int16"}, ["data type int16", "found float32"]),
    ],
)
def test_a_layout_for_another_array_is_refused(cube, tmp_path, changes, said):
    tuned = found(**changes)
    with pytest.raises(LayoutFileError) as caught:
        apply(tuned, tmp_path / "out.zarr", cube)
    assert all(text in str(caught.value) for text in said)
    assert caught.value.expected is not None and caught.value.found is not None
    with pytest.raises(LayoutError) as lower:
        tessarray.convert(cube, tmp_path / "out.zarr", layout=tuned.document())
    assert isinstance(lower.value, ConversionError) and isinstance(lower.value, ValueError)
    assert list(tmp_path.iterdir()) == [cube]


def test_a_variable_that_is_left_out_is_said_to_be(cube, tmp_path):
    with pytest.raises(LayoutError, match="include and exclude"):
        tessarray.convert(cube, tmp_path / "out.zarr", layout=found().document(), exclude="t2m")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("{", "expected a layout file"),
        ("[1, 2]", "JSON object"),
        ('{"format": "other/1"}', "other/1"),
        ('{"format": "tessarray-layout/1"}', "'shape'"),
        ({"layout": 5}, "chunks, shards and codec"),
        ({"layout": {"chunks": [5, 5], "shards": None, "codec": "zstd:3"}}, "3 extents"),
        ({"layout": {"chunks": [5, 0, 5], "shards": None, "codec": "zstd:3"}}, "found [5, 0, 5]"),
        ({"layout": {"chunks": [5, 5, True], "shards": None, "codec": "zstd:3"}}, "True"),
        ({"layout": {"chunks": [5, 5, 5], "shards": [10, 12, 10], "codec": "zstd:3"}}, "multiples"),
        ({"layout": {"chunks": [5, 5, 5], "shards": None, "codec": "zst:3"}}, "zst"),
        ({"layout": {"chunks": [5, 5, 5], "shards": None, "codec": "pcodec:x"}}, "x"),
        ({"layout": {"chunks": [5, 5, 5], "shards": None, "codec": "none", "filters": ["{"]}}, "codec"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_a_typed_error(tmp_path, damage, said):
    file = tmp_path / "layout.json"
    file.write_text(damage if isinstance(damage, str) else json.dumps(found().document() | damage))
    with pytest.raises(LayoutError) as caught:
        read_layout(file)
    assert said in str(caught.value) and "layout.json" in str(caught.value)


def test_layout_files_are_for_zarr_3(cube, tmp_path):
    with pytest.raises(OptionError, match="for Zarr"):
        tessarray.convert(cube, tmp_path / "out.nc", layout=found().document())
    with pytest.raises(OptionError, match="Zarr 3"):
        tessarray.convert(cube, tmp_path / "out.zarr", layout=found().document(), zarr_format=2)


def test_bare_arrays_and_packs_are_sources_and_destinations(tmp_path):
    tuned = found(source="<mapping>")
    with pytest.raises(LayoutFileError, match="pass src"):
        tuned.apply(tmp_path / "a.zarr")
    tuned.apply(tmp_path / "a.zarr", VALUES)
    assert (tessarray.open_array(str(tmp_path / "a.zarr"), path="t2m", mode="r")[...] == VALUES).all()
    # A Zarr array by itself has no name; one that was tuned as such fits the only variable of a group.
    tessarray.save_array(str(tmp_path / "bare.zarr"), VALUES)
    apply(found(variable="", source=str(tmp_path / "bare.zarr")), tmp_path / "b.zarr")
    made = tessarray.open_array(str(tmp_path / "b.zarr"), mode="r")
    assert made.shards == (30, 10, 25) and (made[...] == VALUES).all()
    apply(tuned, tmp_path / "fleet.pack", VALUES)
    packed = tessarray.open_array(str(tmp_path / "fleet.pack"), path="t2m", mode="r")
    assert (packed[...] == VALUES).all()
    apply(found(source=str(tmp_path / "fleet.pack")), tmp_path / "c.zarr")
    assert (tessarray.open_array(str(tmp_path / "c.zarr"), path="t2m", mode="r")[...] == VALUES).all()


def test_an_interrupted_run_goes_on_with_the_same_layout_only(cube, tmp_path):
    document = found().document()

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tessarray.convert(cube, tmp_path / "out.zarr", layout=document, progress=stop)
    other = found(LAYOUTS[1]).document()
    with pytest.raises(ConversionError, match="layout differs"):
        tessarray.convert(cube, tmp_path / "out.zarr", layout=other, resume=True)
    tessarray.convert(cube, tmp_path / "out.zarr", layout=document, resume=True)
    assert (tessarray.open_array(str(tmp_path / "out.zarr"), path="t2m", mode="r")[...] == VALUES).all()


def test_lossy_filters_are_applied(tmp_path):
    rounding = json.dumps({"name": "numcodecs.bitround", "configuration": {"keepbits": 6}})
    layout = replace(LAYOUTS[1], filters=(rounding,))
    tuned = found(layout, dims=None)
    tuned.apply(tmp_path / "out.zarr", VALUES)
    made = tessarray.open_array(str(tmp_path / "out.zarr"), path="t2m", mode="r")
    assert essentials(made.metadata) == essentials(tuned.document()["zarr"])
    assert np.allclose(made[...], VALUES, rtol=1 / 64, atol=1e-6) and (made[...] != VALUES).any()


@pytest.mark.parametrize("layout", LAYOUTS, ids=Layout.text)
def test_the_tuner_and_the_conversion_mean_the_same_by_a_codec(layout):
    given = layout.arguments()
    sharded = layout.shards is not None
    assert codec_arguments(layout.codec, layout.checksum, layout.filters, sharded=sharded) == {
        name: given[name] for name in ("filters", "serializer", "compressors")
    }
