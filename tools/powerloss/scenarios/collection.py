"""Datasets that are added to a collection: each one whole, or not there, and there once it was acknowledged."""

from pathlib import Path

import numpy as np
from _common import Acknowledge


def run(root: Path, acknowledge: Acknowledge) -> None:
    import tessarray

    fleet = tessarray.create_collection(root)
    for number in range(8):
        with fleet.transaction(f"add {number}") as change:
            change.add(f"float-{number}", {"temperature": (("depth",), np.arange(50.0) + number)})
        acknowledge(f"added {number}")


def check(root: Path, acknowledged: list[str]) -> None:
    import tessarray

    if not acknowledged:
        return
    pack = tessarray.open_pack(root)
    for text in acknowledged:
        number = int(text.split()[1])
        values = pack[f"float-{number}/temperature"][...]
        assert np.array_equal(values, np.arange(50.0) + number), number
