"""Writes extensions.jsonl: small encodings of LZMA, made by numcodecs, of `scale_offset` and `cast_value`, made by
zarr-python, and of `packbits`, made by zarrs. The tests decode them and, where exact, reproduce them.

    python -m venv env && env/bin/pip install numcodecs zarr cast-value-rs zarrs && env/bin/python make_extensions.py

Made with numcodecs 0.17.1, zarr 3.4.2, cast-value-rs 0.5.1, zarrs 0.2.3, NumPy 2.5.5, on a little-endian machine.
"""

import dataclasses
import json
import lzma
import tempfile
import warnings
from pathlib import Path

import numcodecs
import numpy as np
import zarr
from zarr.abc.codec import ArrayBytesCodec
from zarr.codecs import BytesCodec, CastValue, ScaleOffset
from zarr.registry import register_codec

warnings.simplefilter("ignore")
cases = []


def add(kind, name, configuration, values, decoded, encoded, exact):
    cases.append(
        {
            "kind": kind,
            "name": name,
            "configuration": configuration,
            "dtype": values.dtype.str,
            "input": values.tobytes().hex(),
            "decoded": decoded.tobytes().hex(),
            "encoded": bytes(encoded).hex(),
            "exact": exact,
        }
    )


@dataclasses.dataclass(frozen=True)
class PackBits(ArrayBytesCodec):
    """A name for zarr-python; the pipeline of zarrs does the work."""

    is_fixed_size = True
    settings: tuple = ()

    @classmethod
    def from_dict(cls, data):
        return cls(tuple(data.get("configuration", {}).items()))

    def to_dict(self):
        return {"name": "packbits", "configuration": dict(self.settings)}

    def compute_encoded_size(self, input_byte_length, chunk_spec):
        raise NotImplementedError


def through_zarr(values, filters, serializer):
    """The only chunk of an array, and what is read from it."""
    root = Path(tempfile.gettempdir()) / "make_extensions.zarr"
    array = zarr.create_array(
        root,
        shape=values.shape,
        chunks=values.shape,
        dtype=values.dtype,
        filters=filters,
        serializer=serializer,
        compressors=None,
        overwrite=True,
        config={"write_empty_chunks": True},
    )
    array[...] = values
    document = json.loads((root / "zarr.json").read_text())
    return document["codecs"], (root / "c" / "0").read_bytes(), array[...]


# Bytes to bytes.
ramp = np.arange(60, dtype="<i4") * 7
raw = [{"id": lzma.FILTER_DELTA, "dist": 4}, {"id": lzma.FILTER_LZMA2, "preset": 1}]
for settings in (
    {},
    {"preset": 0},
    {"preset": 9, "check": lzma.CHECK_SHA256},
    {"check": lzma.CHECK_NONE},
    {"check": lzma.CHECK_CRC32},
    {"filters": raw},
    {"format": lzma.FORMAT_ALONE},
    {"format": lzma.FORMAT_RAW, "filters": raw},
    {"format": lzma.FORMAT_RAW, "filters": [{"id": lzma.FILTER_LZMA1, "preset": 3}]},
):
    codec = numcodecs.LZMA(**settings)
    for values in (ramp, ramp[:0]):
        config = {k: v for k, v in codec.get_config().items() if k != "id" and v is not None}
        add("bytes", "numcodecs.lzma", config, values, values, codec.encode(values), False)

# Array to array.
wave = np.round(np.sin(np.arange(20) / 3) * 30 + 40, 2)
for dtype, settings in (
    ("<f4", {"offset": -0.2, "scale": 100}),
    ("<f8", {"offset": 1.25, "scale": 0.1}),
    ("<i2", {"offset": 5, "scale": 3}),
    ("<u4", {"scale": 7}),
):
    values = wave.astype(dtype)
    codecs, chunk, read = through_zarr(values, [ScaleOffset(**settings)], BytesCodec())
    add("array", "scale_offset", codecs[0].get("configuration", {}), values, read, chunk, True)
rounded = np.array([0, 0.5, 1.5, 2.5, -0.5, -1.5, 3.49, 126.6, -127.2, 99.5])
for dtype, settings in (
    ("<f8", {"data_type": "int8"}),
    ("<f4", {"data_type": "int16", "rounding": "towards-zero"}),
    ("<f4", {"data_type": "int32", "rounding": "towards-positive"}),
    ("<f8", {"data_type": "int64", "rounding": "towards-negative"}),
    ("<f8", {"data_type": "int8", "rounding": "nearest-away"}),
    ("<f8", {"data_type": "float32"}),
    ("<f8", {"data_type": "uint8", "out_of_range": "clamp"}),
    ("<i4", {"data_type": "uint8", "out_of_range": "wrap"}),
    ("<i4", {"data_type": "float64"}),
):
    values = rounded.astype(dtype)
    codecs, chunk, read = through_zarr(values, [CastValue(**settings)], BytesCodec())
    add("array", "cast_value", codecs[0]["configuration"], values, read, chunk, True)
values = rounded.astype("<f4")
values[3] = np.nan
mapped = {"data_type": "uint16", "out_of_range": "clamp"}
mapped["scalar_map"] = {"encode": [["NaN", 65535]], "decode": [[65535, "NaN"]]}
codecs, chunk, read = through_zarr(values, [CastValue(**mapped)], BytesCodec())
add("array", "cast_value", codecs[0]["configuration"], values, read, chunk, True)

# Array to bytes. The chunk is read whole: zarrs 0.2.3 errs in the parts of a chunk where `first_bit` is set.
register_codec("packbits", PackBits)
zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True})
for dtype, settings in (
    ("|b1", {}),
    ("|b1", {"padding_encoding": "first_byte"}),
    ("|b1", {"padding_encoding": "last_byte"}),
    ("|i1", {"first_bit": 1, "last_bit": 4}),
    ("<i2", {"first_bit": 2, "last_bit": 11}),
    ("<u2", {"last_bit": 10, "padding_encoding": "last_byte"}),
    ("<u8", {"first_bit": 1, "last_bit": 61}),
    ("<f4", {"first_bit": 12}),
):
    values = (np.arange(13) * (9 if dtype[1] in "uf" else -9)).astype(dtype)
    if dtype == "|b1":
        values = np.arange(13) % 3 == 0
    codecs, chunk, read = through_zarr(values, [], PackBits(tuple(settings.items())))
    add("packed", "packbits", codecs[0].get("configuration", {}), values, read, chunk, True)

with (Path(__file__).parent / "extensions.jsonl").open("w") as out:
    for entry in cases:
        out.write(json.dumps(entry) + "\n")
print(len(cases), "cases")
