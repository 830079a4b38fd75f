"""`tessarray demo`: the main job on a real file, or on a cube of its own: convert, verify, slice, compare."""

from __future__ import annotations

from pathlib import Path


def run(file: Path | None, out: Path, size: str = "medium", as_json: bool = False) -> None:
    """Run the demonstration on `file` (any format that `convert` reads), or on a cube of `size` that it makes in `out`.

    Leaves in `out`: the store, what the other libraries read, `demo.png` and `demo.json`. Prints a table. Raises
    `DemoError` if the file has no numeric array of two dimensions or more, or if an answer differs.
    """
    from tessarray.demo.story import tell

    tell(file, out, size, as_json)


__all__ = ["run"]
