"""Writes cases.jsonl: small encodings made by numcodecs, which the tests decode (and, where exact, reproduce).

    python -m venv env && env/bin/pip install numcodecs zarr pcodec && env/bin/python make.py

Made with numcodecs 0.17.1, pcodec 1.1.0, NumPy 2.5.5, Python 3.12.1, on a little-endian machine.
"""

import json
import warnings
from pathlib import Path

import numcodecs
import numpy as np
from numcodecs.vlen import VLenBytes, VLenUTF8

warnings.simplefilter("ignore")
cases = []


def hexed(data):
    return np.ascontiguousarray(data).tobytes().hex() if isinstance(data, np.ndarray) else bytes(data).hex()


def case(codec, array, *, exact=False, kind="bytes", words=None):
    """`exact`: our encoding of `array` has to be these bytes too."""
    encoded = codec.encode(array)
    # Some decoders of numcodecs refuse what they encoded from nothing.
    lossless = words is not None or kind in ("bytes", "serializer")
    decoded = array if lossless else codec.decode(encoded)
    config = {k: v for k, v in codec.get_config().items() if k != "id" and v is not None}
    cases.append(
        {
            "kind": kind,
            "name": f"numcodecs.{codec.codec_id}",
            "configuration": config,
            "dtype": array.dtype.str if array.dtype != object else "O",
            "input": [w.hex() if isinstance(w, bytes) else w for w in words] if words else hexed(array),
            "decoded": None
            if words
            else hexed(np.frombuffer(decoded, "u1") if isinstance(decoded, bytes) else decoded),
            "encoded": hexed(encoded),
            "exact": exact,
        }
    )


ramp = np.arange(60, dtype="<i4") * 7
empty = np.zeros(0, "<i4")
noise = np.random.default_rng(1).integers(0, 256, 50, dtype="u1")
wave = np.round(np.sin(np.arange(40) / 5) * 30 + 280, 2)

# Bytes to bytes.
for codec in (
    numcodecs.Zstd(level=1),
    numcodecs.Zstd(level=5, checksum=True),
    numcodecs.GZip(level=1),
    numcodecs.GZip(level=9),
    numcodecs.Zlib(level=1),
    numcodecs.LZ4(),
    numcodecs.BZ2(level=1),
):
    for data in (ramp, noise, empty):
        case(codec, data)
for location in ("start", "end"):
    for sum_ in (numcodecs.CRC32, numcodecs.Adler32, numcodecs.CRC32C):
        for data in (ramp, noise, empty):
            case(sum_(location=location), data, exact=True)
for data in (ramp, noise, noise[:49], np.full(2000, 255, "u1")):
    case(numcodecs.Fletcher32(), data, exact=True)
for data in (ramp, noise, noise[:37], noise[:12], noise[:3], np.zeros(0, "u1")):
    case(numcodecs.JenkinsLookup3(initval=3), data, exact=True)

# Array to array.
signed = np.array([5, -3, 120, -128, 127, 0, 1, -1], "i1")
for dtype, astype in (
    ("<i4", "<i4"),
    ("<i4", "<i2"),
    ("<i4", "<i8"),
    ("|u1", "|u1"),
    ("|i1", "<i2"),
    ("<u2", "|i1"),
    ("<u8", "<u8"),
    ("<f4", "<f4"),
    ("<f8", "<f8"),
    ("<f2", "<f2"),
    ("<f4", "<f8"),
    ("<f8", "<f4"),
    ("<f4", "<i4"),
    ("<f8", "<i2"),
):
    data = (
        np.concatenate([signed, signed * 3]).astype("f8")
        if dtype[1] == "f"
        else np.concatenate([signed, signed])
    )
    if dtype[1] == "f":
        data = data / (7 if astype[1] == "f" else 1)
    case(numcodecs.Delta(dtype, astype), data.astype(dtype), exact=True, kind="array")
with np.errstate(all="ignore"):
    big = np.array([0.1, 0.2, 0.7, 1e9, 0.3, 65000, -1e-7], "f8")
    for dtype, astype in (("<f4", "<f4"), ("<f4", "<f8"), ("<f8", "<f8")):
        case(numcodecs.Delta(dtype, astype), big.astype(dtype), exact=True, kind="array")

for offset, scale in ((250, 10), (250.5, 100.0), (0, 0.5), (-3, 1)):
    for dtype, astype in (
        ("<f8", "<i4"),
        ("<f4", "<i2"),
        ("<f4", "<f4"),
        ("<f8", "<f4"),
        ("<f2", "<i4"),
        ("<f2", "<f2"),
    ):
        case(
            numcodecs.FixedScaleOffset(offset, scale, dtype, astype),
            wave.astype(dtype),
            exact=True,
            kind="array",
        )
    for dtype, astype in (("<i4", "<i4"), ("<i8", "<i2"), ("<u4", "<u4")):
        values = (wave + 20).astype(dtype)
        if offset >= 0 or dtype != "<u4":
            case(numcodecs.FixedScaleOffset(offset, scale, dtype, astype), values, exact=True, kind="array")
halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 3.49999, -0.0], "<f8")
case(numcodecs.FixedScaleOffset(0, 1, "<f8", "<i2"), halves, exact=True, kind="array")

for dtype, bits in (("<f2", 10), ("<f4", 23), ("<f8", 52)):
    values = np.concatenate([wave, -wave / 1000, halves, [np.inf, 0.0, 65504.0]]).astype(dtype)
    for keep in (0, 1, 3, 7, bits):
        case(numcodecs.BitRound(keepbits=keep), values, exact=True, kind="array")
    for digits in (0, 1, 2, 3):
        for astype in ("<f4", dtype):
            case(numcodecs.Quantize(digits, dtype, astype), wave.astype(dtype), exact=True, kind="array")

for decode in ("<i4", "|u1", "<u8", "<f4", "<f8", "<f2", "|b1", "<i8"):
    for encode in ("<i2", "|i1", "<u4", "<f4", "<f8", "<f2", "|b1", "<i8"):
        values = np.array([0, 1, 2, 100, 127, 77, 3]).astype(decode)
        if decode[1] == "f":
            values = (values + 0.75).astype(decode)
        case(numcodecs.AsType(encode, decode), values, exact=True, kind="array")
large = np.array([2**63 + 2**39 + 1, 2**24 + 1, 2**53 + 1, 2**40 + 2**16 + 1], "<u8")
case(numcodecs.AsType("<f4", "<u8"), large, exact=True, kind="array-encode")
case(numcodecs.AsType("<f4", "<i8"), (large >> np.uint64(1)).astype("<i8"), exact=True, kind="array-encode")
for n in (1, 7, 8, 9, 50):
    case(numcodecs.PackBits(), noise[:n] > 100, exact=True, kind="array")

# Array to bytes.
words = ["", "snow", "ß", "a longer text", ""]
case(VLenUTF8(), np.array(words, object), exact=True, kind="vlen", words=words)
case(
    VLenBytes(),
    np.array([w.encode() for w in words], object),
    exact=True,
    kind="vlen",
    words=[w.encode() for w in words],
)
for dtype in ("<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8"):
    case(numcodecs.PCodec(level=8), wave.astype(dtype), exact=True, kind="serializer")
for options in (
    {"level": 3, "mode_spec": "classic", "delta_spec": "no_op"},
    {"level": 8, "delta_spec": "try_consecutive", "delta_encoding_order": 2},
    {"level": 5, "delta_spec": "try_lookback"},
    {"level": 12, "equal_pages_up_to": 16},
    {"level": 8, "delta_encoding_order": 1},
):
    case(numcodecs.PCodec(**options), ramp, exact=True, kind="serializer")
    case(numcodecs.PCodec(**options), np.zeros(0, "<f8"), exact=True, kind="serializer")

with (Path(__file__).parent / "cases.jsonl").open("w") as out:
    for entry in cases:
        out.write(json.dumps(entry, ensure_ascii=False) + "\n")
print(len(cases), "cases")
