"""Arrays of a pack by path, and its appender: each call is a durable commit of its own."""

from pathlib import Path

import numpy as np
from _common import CHUNKS, SHAPE, Acknowledge, last, state, step_of


def run(root: Path, acknowledge: Acknowledge) -> None:
    import tessarray

    tessarray.create_pack(root)
    array = tessarray.create_array(root, name="a", data=state(0), chunks=SHAPE)
    rows = tessarray.create_array(
        root, name="rows", shape=(0, SHAPE[1]), chunks=CHUNKS, dtype="i8", fill_value=0
    )
    acknowledge("step 0")
    with rows.appender() as appender:
        for step in range(1, 8):
            array[...] = state(step)
            acknowledge(f"step {step}")
            appender.append(state(step))
            appender.flush()
            acknowledge(f"rows {step}")


def check(root: Path, acknowledged: list[str]) -> None:
    import tessarray

    if not acknowledged:
        return
    found = step_of(tessarray.open_array(root, path="a")[...])
    assert found >= last(acknowledged, "step"), (found, acknowledged[-1])
    rows = tessarray.open_array(root, path="rows")[...]
    assert rows.shape[0] // SHAPE[0] >= max(0, last(acknowledged, "rows")), rows.shape
    for step in range(rows.shape[0] // SHAPE[0]):
        assert np.array_equal(rows[step * SHAPE[0] : (step + 1) * SHAPE[0]], state(step + 1)), step
