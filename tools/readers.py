"""What other libraries read of what Tessarray writes by default: every data type, as Zarr v3, v2 and in shards.

    .venv/bin/python tools/readers.py                    # installs the readers in .readers/, then prints the table
    .venv/bin/python tools/readers.py --home /tmp/readers

The readers (zarr-python, zarrs, TensorStore, GDAL in rasterio, z5py, netCDF-C in netCDF4, and zarrita.js if npm is
there) are installed from PyPI and npm in an environment of their own: a few hundred MB, once. Each reader is a process
of its own for each array, since some of them end the process on what they do not know. A cell is `yes` if all values
are equal, `no` if the reader refuses, WRONG if it gives other values, which makes the exit status 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import numpy as np

import tessarray

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("zarr", "zarrs", "tensorstore", "rasterio", "z5py", "netCDF4", "ml_dtypes")
READERS = ("zarr-python", "zarrs", "tensorstore", "gdal", "z5py", "netcdf-c", "zarrita.js")
INTEGERS = [f"{kind}{size}" for size in (8, 16, 32, 64) for kind in ("int", "uint")]
DTYPES = (
    "bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128", "datetime64[s]", "timedelta64[ms]",
    "S5", "U5", "V4", "str", ">i4", ">f8",
)  # fmt: skip
SHAPE, CHUNK = (40, 30), (16, 11)
LAYOUTS = ("v3", "v2", "shards")

SCRIPT = r"""
import json, sys
import numpy as np
reader, path, name, version = sys.argv[1:]
where = f"{path}/{name}"
if reader in ("zarr-python", "zarrs"):
    import zarr
    if reader == "zarrs":
        import zarrs
        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True})
    found = zarr.open_array(where, mode="r")[...]
elif reader == "tensorstore":
    import tensorstore
    driver = "zarr" if version == "2" else "zarr3"
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": where}}
    found = tensorstore.open(spec).result().read().result()
elif reader == "gdal":
    import rasterio
    with rasterio.open(f'ZARR:"{where}"') as opened:
        found = opened.read(1)
elif reader == "z5py":
    import z5py
    found = z5py.ZarrFile(path, "r")[name][...]
else:
    import netCDF4
    with netCDF4.Dataset(f"file://{path}#mode=zarr,file") as opened:
        variable = opened.variables[name]
        variable.set_auto_maskandscale(False)
        found = variable[...]
expected = np.load(f"{where}.npy", allow_pickle=False)
found = np.asarray(found)
if found.dtype.kind in "OT":
    found = found.astype("U16")
same = found.shape == expected.shape and (found == expected).all()
print(json.dumps("yes" if same else "WRONG"))
"""

JAVASCRIPT = r"""
import * as zarr from "zarrita"; import fs from "fs"; import { FileSystemStore } from "@zarrita/storage";
const where = process.argv[2];
const array = await zarr.open(new FileSystemStore(where), { kind: "array" });
const { data } = await zarr.get(array);
const file = fs.readFileSync(where + ".npy");
const expected = file.subarray(10 + file.readUInt16LE(8));
const raw = data.buffer ?? data.bytes?.buffer;
const found = raw ? Buffer.from(raw, data.byteOffset ?? 0, data.byteLength) : Buffer.from([...data].map(Number));
console.log(JSON.stringify(Buffer.compare(found, expected) === 0 ? "yes" : "WRONG"));
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--home", type=Path, default=ROOT / ".readers", help="where the readers are installed"
    )
    parser.add_argument("--reader", action="append", choices=READERS, help="only this one (repeatable)")
    given = parser.parse_args()
    home = given.home.resolve()
    python = install(home)
    groups = write(home / "arrays")
    rows, wrong = [], 0
    for dtype in DTYPES:
        for layout in LAYOUTS:
            if (name := name_of(dtype, layout)) not in groups:
                continue
            cells = [ask(home, python, reader, name, layout) for reader in given.reader or READERS]
            wrong += cells.count("WRONG")
            rows.append(f"| {dtype} | {layout} | {' | '.join(cells)} |")
            print(rows[-1], flush=True) if len(rows) > 1 else print(head(given.reader), rows[-1], sep="\n")
    return 1 if wrong else 0


def head(readers: list[str] | None) -> str:
    names = readers or READERS
    return f"| type | layout | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}"


def install(home: Path) -> Path:
    """The environment of the readers; returns its Python."""
    python = home / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(home / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    (home / "read.py").write_text(SCRIPT, encoding="utf-8")
    (home / "read.mjs").write_text(JAVASCRIPT, encoding="utf-8")
    if not (home / "node_modules").exists():
        try:
            subprocess.run(["npm", "install", "--silent", "--prefix", str(home), "zarrita"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"zarrita.js is left out: {error}", file=sys.stderr)
    return python


def name_of(dtype: str, layout: str) -> str:
    return f"{layout}-{dtype}".translate(str.maketrans({"[": "_", "]": None, ">": "big-"}))


def write(folder: Path) -> set[str]:
    """An array of each data type and layout, and its values as `.npy`."""
    folder.mkdir(exist_ok=True)
    done = set()
    for version in (2, 3):
        (folder / f"v{version}").mkdir(exist_ok=True)
        tessarray.create_group(folder / f"v{version}", zarr_format=version, overwrite=True)
    for dtype in DTYPES:
        values = (np.arange(SHAPE[0] * SHAPE[1]).reshape(SHAPE) * 7) % 120
        if dtype == "V4":
            data = np.frombuffer(values.astype("i4").tobytes(), "V4").reshape(SHAPE)
        else:
            data = values.astype(np.dtypes.StringDType() if dtype == "str" else dtype)
        for layout in LAYOUTS:
            name = name_of(dtype, layout)
            at = folder / ("v2" if layout == "v2" else "v3") / name
            more: dict[str, Any] = {"shards": (32, 33)} if layout == "shards" else {}
            try:
                tessarray.create_array(
                    at,
                    data=data,
                    chunks=CHUNK,
                    zarr_format=2 if layout == "v2" else 3,
                    overwrite=True,
                    **more,
                )
            except tessarray.TessarrayError as error:
                print(f"{name} is not written: {error}", file=sys.stderr)
                continue
            np.save(
                f"{at}.npy",
                data.astype("U16") if dtype == "str" else data.astype(data.dtype.newbyteorder("=")),
            )
            done.add(name)
    return done


def ask(home: Path, python: Path, reader: str, name: str, layout: str) -> str:
    group = home / "arrays" / ("v2" if layout == "v2" else "v3")
    version = "2" if layout == "v2" else "3"
    if reader == "netcdf-c" and version == "3":
        return "–"
    if reader == "zarrita.js":
        # Its texts are JavaScript's own, which have no bytes to compare.
        if not (home / "node_modules").exists() or name.endswith("-str"):
            return "–"
        command = ["node", str(home / "read.mjs"), str(group / name)]
    else:
        command = [str(python), str(home / "read.py"), reader, str(group), name, version]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    try:
        return str(json.loads(done.stdout.strip().splitlines()[-1])) if done.returncode == 0 else "no"
    except (ValueError, IndexError):
        return "no"


if __name__ == "__main__":
    sys.exit(main())
