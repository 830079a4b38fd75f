"""A durable store: create, write, overwrite, append, delete; what was acknowledged is there, whole."""

from pathlib import Path

import numpy as np
from _common import CHUNKS, SHAPE, Acknowledge, last, state


def run(root: Path, acknowledge: Acknowledge) -> None:
    import tessarray

    store = tessarray.LocalStore(root / "deep" / "er", durable=True)
    array = tessarray.create_array(store, name="a", shape=SHAPE, chunks=SHAPE, dtype="i8", fill_value=0)
    rows = tessarray.create_array(
        store, name="g/rows", shape=(0, SHAPE[1]), chunks=CHUNKS, dtype="i8", fill_value=0
    )
    acknowledge("created 0")
    for step in range(10):
        array[...] = state(step)
        acknowledge(f"step {step}")
        rows.append(state(step))
        acknowledge(f"rows {step}")
    acknowledge("deleting 0")
    store.delete_prefix("a")
    acknowledge("deleted 0")


def check(root: Path, acknowledged: list[str]) -> None:
    import tessarray

    if not acknowledged:
        return
    store = tessarray.LocalStore(root / "deep" / "er")
    if "deleted 0" in acknowledged:
        assert not store.list("a"), store.list("a")
    elif "deleting 0" not in acknowledged:
        values = tessarray.open_array(store, path="a")[...]
        found = int(values.flat[0]) - 1
        expected = last(acknowledged, "step")
        assert np.array_equal(values, state(found)) or (found == -1 == expected), "values that never were"
        assert found >= expected, f"step {expected} is gone: found {found}"
    rows = tessarray.open_array(store, path="g/rows")[...]
    done = rows.shape[0] // SHAPE[0]
    assert rows.shape[0] == done * SHAPE[0] and done > last(acknowledged, "rows"), rows.shape
    for step in range(done):
        assert np.array_equal(rows[step * SHAPE[0] : (step + 1) * SHAPE[0]], state(step)), step
