"""Bad metadata and bad arguments give a typed error that names the place; nothing panics, runs or is allocated."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import hostile
import pytest
from hostile import MIB, document, make
from support import in_new_process, scaled

import tessarray
from tessarray.errors import MetadataError, TessarrayError

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")


@pytest.mark.parametrize("name", hostile.BAD_DOCUMENTS)
def test_a_bad_document_is_refused_at_open_and_the_error_names_the_member(tmp_path, name):
    text, word = hostile.BAD_DOCUMENTS[name]
    path = make(tmp_path / "a", text)
    with pytest.raises(TessarrayError) as caught:
        tessarray.open_array(path, mode="r")
    assert word in str(caught.value)
    assert "zarr.json" in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", hostile.ODD_DOCUMENTS)
def test_an_odd_and_legal_document_is_accepted(tmp_path, name):
    tessarray.open_array(make(tmp_path / "a", hostile.ODD_DOCUMENTS[name]), mode="r")


ABSURD = {
    "chunk-2^40": document(shape=[2**40], chunk_grid=hostile.chunked(2**40)),
    "shape-2^62": document(shape=[2**62], chunk_grid=hostile.chunked(2**30)),
    "chunk-2^62": document(shape=[16], chunk_grid=hostile.chunked(2**62)),
    "many-chunks": document(shape=[2**62, 2**62], chunk_grid=hostile.chunked(1, 1)),
    "index-of-2^30-entries": document(
        shape=[2**30, 1], chunk_grid=hostile.chunked(2**30, 1), codecs=[hostile.sharding(chunk_shape=[1, 1])]
    ),
    "complex-2^61": document(
        shape=[2**61],
        chunk_grid=hostile.chunked(2**61),
        data_type="complex128",
        fill_value=[0, 0],
        codecs=[{"name": "bytes", "configuration": {"endian": "little"}}],
    ),
}


@linux_only
def test_absurd_sizes_are_refused_or_read_without_memory_that_was_not_paid_for(tmp_path):
    for name, text in ABSURD.items():
        key = "_".join(["c", *"0" * len(text["shape"])])
        make(tmp_path / name, text, **{key: bytes(range(100))})
    found = in_new_process(
        """
        results = {}
        for path in sorted(Path(sys.argv[1]).iterdir()):
            before, start, kinds = reset_peak(), time.monotonic(), []
            for action in [lambda a: None, lambda a: a[(0,) * a.ndim], lambda a: a[(slice(0, 3),) * a.ndim],
                           lambda a: a[...], lambda a: repr(a.info)]:
                try:
                    action(tessarray.open_array(path, mode="r"))
                    kinds.append("none")
                except (tessarray.errors.TessarrayError, MemoryError, ValueError) as error:
                    kinds.append(type(error).__name__ + ": " + str(error)[:300])
            results[path.name] = [kinds, peak() - before, time.monotonic() - start]
        answer(**results)
        """,
        tmp_path,
    )
    for name, (kinds, extra, seconds) in found.items():
        assert kinds[3] != "none", f"{name}: all of it was read"
        assert extra <= 32 * MIB, f"{name}: {extra / MIB:.0f} MiB"
        assert seconds < 5, name


@linux_only
def test_2000_mutated_documents_never_panic_abort_or_take_memory(tmp_path):
    """Bytes and JSON values of good documents are changed at random; each gives an array or a typed error."""
    found = in_new_process(
        """
        import random
        sys.path.insert(0, sys.argv[2])
        from mutants import mutant
        rng = random.Random(31)
        accepted, other, before = 0, [], reset_peak()
        for number in range(int(sys.argv[1])):
            text = mutant(rng)
            try:
                array = tessarray.open_array({"zarr.json": text, "c/0/0": bytes(range(256))}, mode="r")
                accepted += 1
                if array.nbytes < 1 << 20:
                    array[...]
            except tessarray.errors.TessarrayError:
                pass
            except BaseException as error:
                other.append(f"{type(error).__name__}: {error}: {text!r}")
        answer(accepted=accepted, other=other[:5], extra=peak() - before)
        """,
        scaled(2000),
        Path(__file__).parent,
    )
    assert found["other"] == []
    assert 0 < found["accepted"] < scaled(2000)
    assert found["extra"] <= 64 * MIB


V2 = {
    "zarr_format": 2,
    "shape": [16, 16],
    "chunks": [16, 16],
    "dtype": "|u1",
    "compressor": None,
    "fill_value": 0,
    "order": "C",
    "filters": None,
}
BAD_V2 = {
    "object-dtype": ({"dtype": "|O"}, "|O"),
    "object-dtype-with-pickle": ({"dtype": "|O", "filters": [{"id": "pickle", "protocol": 5}]}, "pickle"),
    "pickle-after-a-good-object-codec": (
        {"dtype": "|O", "filters": [{"id": "vlen-utf8"}, {"id": "pickle"}]},
        "pickle",
    ),
    "pickle-compressor": ({"compressor": {"id": "pickle"}}, "pickle"),
    "unknown-compressor": ({"compressor": {"id": "snake-oil"}}, "snake-oil"),
    "order-odd": ({"order": "A"}, "order"),
    "chunks-0": ({"chunks": [0, 16]}, "chunks"),
    "chunks-negative": ({"chunks": [-1, 16]}, "chunks"),
    "rank-differs": ({"chunks": [16]}, "chunks"),
    "dtype-odd": ({"dtype": "|x9"}, "dtype"),
    "dtype-huge": ({"dtype": "|S99999999999"}, "dtype"),
    "separator-odd": ({"dimension_separator": "-"}, "dimension_separator"),
    "fill-text": ({"fill_value": "abc"}, "fill_value"),
    "filters-object": ({"filters": {"id": "delta"}}, "filters"),
}


@pytest.mark.parametrize("name", BAD_V2)
def test_a_bad_v2_document_is_refused_at_open_and_the_error_names_the_member(tmp_path, name):
    changes, word = BAD_V2[name]
    (tmp_path / ".zarray").write_text(json.dumps(V2 | changes))
    with pytest.raises(TessarrayError) as caught:
        tessarray.open_array(tmp_path, mode="r")
    assert word in str(caught.value)
    assert ".zarray" in str(caught.value)


def test_a_pickle_in_the_data_is_never_loaded(tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "was-run"), "w"))

    blob = pickle.dumps(Evil())
    root = make(tmp_path / "v3", document(codecs=[{"name": "numcodecs.pickle"}]), c_0_0=blob)
    with pytest.raises(TessarrayError):
        tessarray.open_array(root, mode="r")[...]
    old = tmp_path / "v2"
    old.mkdir()
    document_v2 = V2 | {"dtype": "|O", "filters": [{"id": "pickle", "protocol": 5}]}
    (old / ".zarray").write_text(json.dumps(document_v2))
    (old / "0.0").write_bytes(blob)
    with pytest.raises(TessarrayError):
        tessarray.open_array(old, mode="r")[...]
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": (-1,)},
        {"shape": (2**70,)},
        {"chunks": (0, 1)},
        {"chunks": (1, 2, 3)},
        {"shards": (3, 4)},
        {"dtype": object},
        {"dtype": "what"},
        {"compressors": "snake-oil:3"},
        {"compressors": "zstd:99999"},
        {"compressors": {"id": "pickle"}},
        {"fill_value": "abc"},
        {"fill_value": 1e30},
        {"zarr_format": 4},
        {"order": "K"},
        {"dimension_names": ["x"]},
        {"chunk_key_encoding": {"name": "hash"}},
        {"attributes": {"a": {1}}},
    ],
    ids=lambda arguments: "-".join(f"{key}={value}"[:40] for key, value in arguments.items()),
)
def test_a_bad_argument_is_a_value_or_type_error_and_leaves_nothing(tmp_path, arguments):
    base = {"shape": (8, 8), "chunks": (2, 4), "dtype": "int32"}
    with pytest.raises((ValueError, TypeError, OverflowError)):
        tessarray.create_array(tmp_path / "a", **(base | arguments))
    assert not (tmp_path / "a" / "zarr.json").exists()


def test_every_error_derives_from_tessarray_error_and_from_the_built_in_one_would_catch():
    errors = tessarray.errors
    assert issubclass(errors.NotFoundError, FileNotFoundError)
    assert issubclass(errors.SelectionError, IndexError)
    assert issubclass(MetadataError, ValueError)
    assert issubclass(errors.ExistsError, FileExistsError)
    for name in dir(errors):
        item = getattr(errors, name)
        if isinstance(item, type) and issubclass(item, Exception) and item.__module__.startswith("tessarray"):
            assert issubclass(item, errors.TessarrayError), name
