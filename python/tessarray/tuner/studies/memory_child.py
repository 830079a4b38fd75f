"""What `tune memory` runs in a new process: one read or write with so many workers, and the peak it caused.

Called as `python -m tessarray.tuner.studies.memory_child JSON`; prints one JSON object: the resident bytes before, and
the most while at work. Linux counts a peak anew when it is told to (`/proc/self/clear_refs`); elsewhere the process's
highest so far is taken, which a fresh process has only just left.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

STATUS = Path("/proc/self/status")


def resident(field: str) -> int | None:
    """`VmRSS` or `VmHWM` in bytes; None if the system does not tell."""
    try:
        lines = STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), None)


def reset() -> int:
    """Begin to count a peak anew; the bytes resident now."""
    now = resident("VmRSS")
    if now is None:
        return highest()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return highest()
    return now


def highest() -> int:
    """The most resident bytes since `reset`, or of the process if that is not known."""
    found = resident("VmHWM")
    if found is not None:
        return found
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def work(task: dict[str, Any]) -> dict[str, int]:
    """Do one task: `what` is `read`, `write` (whole objects) or `change` (parts of objects that are there)."""
    import tessarray
    from tessarray.tuner.layout import Layout

    session = tessarray.Session(threads=task["workers"])
    layout = Layout.from_document(task["layout"])
    values = np.load(task["values"])
    small = values[tuple(slice(0, 64) for _ in values.shape)]
    plain = Layout(tuple(min(n, 8) for n in small.shape), None, layout.codec, layout.checksum)
    tiny = plain.create(tessarray.MemoryStore(), small.shape, values.dtype, session=session)
    tiny[...] = small  # starts the workers, and loads what they need
    tiny[...]
    if task["what"] == "write":
        array = layout.create(task["store"], values.shape, values.dtype, session=session, overwrite=True)
    else:
        array = tessarray.open_array(task["store"], mode="r+", session=session)
    inner = tuple(slice(1, n - 1) if n > 2 else slice(None) for n in values.shape)
    before = reset()
    for _ in range(2):
        if task["what"] == "read":
            array.read(..., out=values)
        elif task["what"] == "write":
            array.write(..., values)
        else:
            array.write(inner, values[inner])
    return {"before": before, "peak": highest(), "stored": array.nbytes_stored()}


if __name__ == "__main__":
    print(json.dumps(work(json.loads(sys.argv[1]))))
