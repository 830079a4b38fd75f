"""What the size of Blosc's blocks costs and gains: bytes, and the time of an element, a cube, and everything.

    .venv/bin/python benchmarks/engine_blocks.py                   # some minutes; files in memory where /dev/shm is
    .venv/bin/python benchmarks/engine_blocks.py --field FILE.nc   # variables of a file, too

Chunks of 128 x 128 x 128, LZ4 at level 5 with byte shuffle. A block has a stream for each byte of an element: C-Blosc's
own choice there are streams of 128 KiB, the engine's are of 8 KiB (0 below: no size is asked for). Times are medians of
interleaved repeats, over the time with 128.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tessarray
from tessarray.codecs import Blosc, Crc32c
from tessarray_bench import data
from tessarray_bench.model import Data

STREAMS = (128 << 10, 32 << 10, 0)
CHUNK, CUBE, PLACES, REPEATS = 128, 32, 40, 5
MADE = [
    Data("camera", (128, 512, 512), "u2"),
    Data("smooth", (128, 256, 512), "f4"),
    Data("ramp", (128, 256, 512), "f4"),
    Data("smooth", (64, 256, 512), "f8"),
    Data("categorical", (128, 512, 512), "u1"),
    Data("sparse", (128, 256, 512), "f4"),
]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--field", type=Path, action="append", default=[], help="a file that xarray opens")
    given = parser.parse_args()
    columns = [f"{f'{n >> 10} KiB' if n else 'own'}: size, element, cube, all" for n in STREAMS[1:]]
    print(f"| values | ratio, element, cube, all with {STREAMS[0] >> 10} KiB | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 2) + "|")
    for name, values in arrays(given.field):
        print(f"| {name} | {' | '.join(cells(values))} |", flush=True)


def arrays(fields: list[Path]) -> Iterator[tuple[str, Any]]:
    """Values to store, with what to call them."""
    for one in MADE:
        yield f"{one.kind} {one.dtype}", data.make(one, 0, one.shape[0])
    for path in fields:
        import xarray

        with xarray.open_dataset(path, mask_and_scale=False) as found:
            for name, variable in found.data_vars.items():
                if variable.ndim >= 3 and variable.dtype.kind in "iuf":
                    values = variable.values.reshape(-1, *variable.shape[-2:])
                    yield f"{path.name}: {name} {values.dtype}", values.astype(values.dtype.newbyteorder("="))


def cells(values: Any) -> list[str]:
    """The row of one array."""
    room = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=room if room.is_dir() else None) as folder:
        found = {stream: store(Path(folder) / str(stream), values, stream) for stream in STREAMS}
        sizes = {stream: stored(Path(folder) / str(stream)) for stream in STREAMS}
        times = race(found, values.shape)
    first = STREAMS[0]
    whole = ", ".join(f"{1e6 * seconds:,.0f} µs" for seconds in times[first])
    row = [f"{values.nbytes / sizes[first]:.3g}, {whole}"]
    for stream in STREAMS[1:]:
        ratios = ", ".join(
            f"{after / before:.2f}" for after, before in zip(times[stream], times[first], strict=True)
        )
        row.append(f"{sizes[stream] / sizes[first] - 1:+.1%}, {ratios}")
    return row


def store(path: Path, values: Any, stream: int) -> Any:
    """An array with blocks of this size, which has been read once."""
    chunks = tuple(min(n, CHUNK) for n in values.shape)
    codecs = [Blosc(blocksize=stream), Crc32c()]
    array = tessarray.create_array(path, data=values, chunks=chunks, compressors=codecs)
    assert np.array_equal(array[...], values)
    return array


def stored(path: Path) -> int:
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())


def race(found: dict[int, Any], shape: tuple[int, ...]) -> dict[int, list[float]]:
    """Seconds of an element, a cube and a read of everything."""
    rng = np.random.default_rng(1)
    times: dict[int, list[list[float]]] = {stream: [[], [], []] for stream in found}
    for _ in range(REPEATS):
        corners = [[int(rng.integers(0, max(n - CUBE, 0) + 1)) for n in shape] for _ in range(PLACES)]
        elements = [tuple(one) for one in corners]
        cubes = [tuple(slice(at, at + CUBE) for at in one) for one in corners]
        for stream, array in found.items():
            for kept, picks in zip(times[stream], (elements, cubes, [...]), strict=True):
                kept.append(statistics.median(took(lambda one=one, a=array: a[one]) for one in picks))
    return {stream: [statistics.median(kept) for kept in three] for stream, three in times.items()}


def took(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
