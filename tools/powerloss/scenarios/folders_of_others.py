"""Durable writes into folders that somebody else made, without a sync: strict POSIX may take the folders' names."""

from pathlib import Path

from _common import Acknowledge

ROWS, COLUMNS = 6, 4


def run(root: Path, acknowledge: Acknowledge) -> None:
    import tessarray

    durable = tessarray.LocalStore(root, durable=True)
    array = tessarray.create_array(
        durable, name="a", shape=(ROWS, COLUMNS), chunks=(1, 1), dtype="i8", fill_value=0
    )
    quick = tessarray.open_array(tessarray.LocalStore(root), path="a")
    for row in range(ROWS):
        quick[row, 0] = 1
        for column in range(1, COLUMNS):
            array[row, column] = 10 * row + column
            acknowledge(f"element {row} {column}")
    # And a folder that was there, went, and was made again by somebody else.
    store = tessarray.LocalStore(root, durable=True)
    for turn in range(3):
        tessarray.LocalStore(root).put("notes/deep/quick", b"x")
        store.put("notes/deep/kept", f"{turn}".encode())
        acknowledge(f"note {turn} 0")
        acknowledge("gone 0 0")
        tessarray.LocalStore(root).delete_prefix("notes")


def check(root: Path, acknowledged: list[str]) -> None:
    import tessarray

    if not acknowledged:
        return
    store = tessarray.LocalStore(root)
    array = tessarray.open_array(store, path="a")
    for text in acknowledged:
        kind, row, column = text.split()
        if kind == "element":
            found = int(array[int(row), int(column)])
            assert found == 10 * int(row) + int(column), f"{text}: found {found}"
    if acknowledged[-1].startswith("note"):
        assert store.get("notes/deep/kept") == acknowledged[-1].split()[1].encode()
