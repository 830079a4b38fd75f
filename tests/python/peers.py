"""The other libraries, as writers and readers of a cell, and what each of them does not do."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import tensorstore
import zarr
from cells import Cell

STRICT_ZARRS = {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}
# Marks a combination that the peer takes and gets wrong, which the check of the table does not try.
KNOWN_BUG = "bug of the peer: "
PEERS = ("zarr", "zarrs", "tensorstore")

# What a peer refuses by design, with the reason: a dtype or a codec it does not have. `test_parity` checks that the
# lines still hold, so a peer that learns something shows up as a failure of the table.
UNSUPPORTED: dict[str, dict[str, str]] = {
    "zarr": {"dtype:bfloat16": "zarr-python has no bfloat16"},
    "zarrs": {
        "dtype:bfloat16": "zarr-python, whose pipeline it is, has no bfloat16",
        **{
            f"dtype:{name}": "zarrs-python refuses the dtype in strict mode"
            for name in ("datetime64[ns]", "datetime64[D]", "timedelta64[s]", "S5", "U4", "V3", "string")
        },
        **{
            f"numcodecs.{name}": "zarrs-python refuses the codec in strict mode"
            for name in ("lz4", "lzma", "adler32", "fletcher32", "delta", "bitround")
        },
        "cell:big-endian-complex128": KNOWN_BUG
        + "zarrs-python swaps the bytes of the pair, not of each part",
    },
    "tensorstore": {
        **{
            f"dtype:{name}": "TensorStore's zarr3 driver has no such dtype"
            for name in ("datetime64[ns]", "datetime64[D]", "timedelta64[s]", "S5", "U4", "string")
        },
        "dtype:V3": KNOWN_BUG + "TensorStore aborts the process when it creates an array of raw_bytes",
        **{
            f"numcodecs.{name}": "TensorStore's zarr3 driver has no numcodecs codecs"
            for name in (
                "zlib lz4 bz2 lzma shuffle adler32 fletcher32 delta bitround pcodec fixedscaleoffset".split()
            )
        },
    },
}


def unsupported(peer: str, cell: Cell) -> str | None:
    """Why the peer cannot take part in a cell; None if it can."""
    for name in sorted(cell.codec_names | {f"cell:{cell.name}"}):
        if reason := UNSUPPORTED[peer].get(name):
            return reason
    return None


def write(peer: str, path: Path, cell: Cell, values: np.ndarray[Any, Any]) -> None:
    if peer == "tensorstore":
        write_tensorstore(path, cell, values)
        return
    with zarr.config.set(STRICT_ZARRS if peer == "zarrs" else {}), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.create_array(path, zarr_format=3, fill_value=fill_value(cell), **cell.arguments())
        array[...] = values


def fill_value(cell: Cell) -> Any:
    """Zero of the dtype: what the corner of the data holds."""
    if cell.dtype == "string":
        return ""
    return np.zeros((), cell.numpy_dtype)[()]


def read(peer: str, path: Path, cell: Cell) -> np.ndarray[Any, Any]:
    if peer == "tensorstore":
        return np.asarray(open_tensorstore(path).read().result())
    with zarr.config.set(STRICT_ZARRS if peer == "zarrs" else {}), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(zarr.open_array(path, mode="r")[...])


def open_tensorstore(path: Path) -> Any:
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}}
    return tensorstore.open(spec, open=True).result()


def write_tensorstore(path: Path, cell: Cell, values: np.ndarray[Any, Any]) -> None:
    """Create the array from the Zarr document of the cell and fill it."""
    metadata = document(cell)
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}, "metadata": metadata}
    array = tensorstore.open(spec, create=True).result()
    array.write(values).result()


def document(cell: Cell) -> dict[str, Any]:
    """The zarr.json of a cell without attributes: zarr-python writes it, but for dtypes it does not know."""
    stand_in = cell.dtype == "bfloat16"
    arguments = cell.arguments() | ({"dtype": np.dtype("int16")} if stand_in else {})
    store: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fill = 0 if stand_in else fill_value(cell)
        zarr.create_array(store, zarr_format=3, fill_value=fill, **arguments)
    metadata: dict[str, Any] = json.loads(store["zarr.json"].to_bytes())
    if stand_in:
        metadata |= {"data_type": "bfloat16", "fill_value": 0.0}
    return {
        key: value for key, value in metadata.items() if key not in ("attributes", "consolidated_metadata")
    }
