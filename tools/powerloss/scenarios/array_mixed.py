"""A plain array made without durability, in folders made by others, then written and appended to durably."""

from pathlib import Path

import numpy as np
from _common import Acknowledge

CHUNK = 8


def run(root: Path, acknowledge: Acknowledge) -> None:
    import tessarray

    quick = tessarray.LocalStore(root)
    made = tessarray.create_array(
        quick, name="g/deep/a", shape=(8, 64), chunks=(1, CHUNK), dtype="i8", fill_value=0
    )
    made[:, :CHUNK] = 1
    grown = tessarray.create_array(
        quick, name="g/grown", shape=(0, CHUNK), chunks=(2, CHUNK), dtype="i8", fill_value=0
    )
    grown.append(np.full((2, CHUNK), 1))
    for turn in range(4):
        store = tessarray.LocalStore(root, durable=True)
        array = tessarray.open_array(store, path="g/deep/a")
        rows = tessarray.open_array(store, path="g/grown")
        for column in range(1, 7):
            # Chunks that are written durably, in folders that the quick writer made.
            array[turn, column * CHUNK : (column + 1) * CHUNK] = 100 * turn + column + 1
            acknowledge(f"chunk {turn} {column}")
        at = rows.shape[0]
        rows.append(np.full((2, CHUNK), 1000 + turn))
        acknowledge(f"rows {at} {1000 + turn}")
        # From here on the document is at risk, until the next durable write.
        acknowledge(f"quick {turn} 0")
        made.attrs["turn"] = turn
        made[4 + turn, 5 * CHUNK : 6 * CHUNK] = 7


def check(root: Path, acknowledged: list[str]) -> None:
    import tessarray

    if not acknowledged or acknowledged[-1].startswith("quick"):
        return
    store = tessarray.LocalStore(root)
    array = tessarray.open_array(store, path="g/deep/a")
    for text in acknowledged:
        kind, one, two = text.split()
        if kind == "quick":
            continue
        if kind == "chunk":
            row, column = int(one), int(two)
            found = array[row, column * CHUNK : (column + 1) * CHUNK]
            expected = 100 * row + column + 1
        else:
            found = tessarray.open_array(store, path="g/grown")[int(one) : int(one) + 2]
            expected = int(two)
        assert found.size and (found == expected).all(), f"{text}: found {found.tolist()}"
