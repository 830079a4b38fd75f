"""What we write, zarr-python, TensorStore and zarrs read back equal; what they write, we do. Over every cell."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import peers
import pytest
from cells import CELLS, Cell, data, equal

import tessarray

PAIRS = [pytest.param(cell, peer, id=f"{cell.name}-{peer}") for cell in CELLS for peer in peers.PEERS]


def ours(path: Path, cell: Cell, values: np.ndarray) -> None:
    array = tessarray.create_array(path, fill_value=peers.fill_value(cell), **cell.arguments())
    array[...] = values


def expected(cell: Cell, values: np.ndarray, found: np.ndarray) -> np.ndarray:
    """A lossy filter gives what it gives: within a step of the values, and then equal for every reader."""
    if cell.exact:
        return values
    np.testing.assert_allclose(found, values, atol=0.06)
    return found


def some_parts(shape: tuple[int, ...]) -> list[tuple[slice, ...]]:
    """Selections that start and end within chunks."""
    return [
        tuple(slice(side // 3, max(side // 3, side - 1)) for side in shape),
        tuple(slice(0, side, 2) for side in shape),
    ]


@pytest.mark.parametrize(("cell", "peer"), PAIRS)
def test_what_we_write_a_peer_reads_back_equal(tmp_path, cell, peer):
    if reason := peers.unsupported(peer, cell):
        pytest.skip(reason)
    values = data(cell)
    ours(tmp_path / "a", cell, values)
    found = peers.read(peer, tmp_path / "a", cell)
    equal(found, expected(cell, values, found))


@pytest.mark.parametrize(("cell", "peer"), PAIRS)
def test_what_a_peer_writes_we_read_back_equal(tmp_path, cell, peer):
    if reason := peers.unsupported(peer, cell):
        pytest.skip(reason)
    values = data(cell)
    peers.write(peer, tmp_path / "a", cell, values)
    array = tessarray.open_array(tmp_path / "a", mode="r")
    assert array.shape == cell.shape
    found = array[...]
    assert found.dtype == cell.numpy_dtype
    wanted = expected(cell, values, found)
    equal(found, wanted)
    for part in some_parts(cell.shape):
        equal(array[part], wanted[part])


@pytest.mark.parametrize("cell", [pytest.param(cell, id=cell.name) for cell in CELLS])
def test_what_we_write_we_read_back_equal_after_a_partial_overwrite(tmp_path, cell):
    values = data(cell)
    ours(tmp_path / "a", cell, values)
    found = tessarray.open_array(tmp_path / "a", mode="r")[...]
    assert found.dtype == cell.numpy_dtype
    values = np.array(expected(cell, values, found))
    equal(found, values)
    if not cell.exact or "delta" in cell.name:
        return
    part = some_parts(cell.shape)[0]
    array = tessarray.open_array(tmp_path / "a", mode="r+")
    array[part] = values[part][::-1] if values.ndim else values
    if values.ndim:
        values[part] = values[part][::-1].copy()
    equal(array[...], values)
    equal(tessarray.open_array(tmp_path / "a", mode="r")[...], values)


@pytest.mark.parametrize("peer", ["zarr", "tensorstore"])
@pytest.mark.parametrize(
    "cell", [pytest.param(cell, id=cell.name) for cell in CELLS if cell.name.startswith(("shards", "layout"))]
)
def test_a_peer_and_we_may_take_turns_in_writing_one_array(tmp_path, cell, peer):
    if (reason := peers.unsupported(peer, cell)) or cell.numpy_dtype.kind not in "iuf" or not all(cell.shape):
        pytest.skip(reason or "numbers are enough here")
    values = data(cell)
    ours(tmp_path / "a", cell, values)
    if peer == "tensorstore":
        peers.open_tensorstore(tmp_path / "a").write(values + 1).result()
    else:
        shutil.rmtree(tmp_path / "a")
        peers.write(peer, tmp_path / "a", cell, values + 1)
    array = tessarray.open_array(tmp_path / "a", mode="r+")
    part = some_parts(cell.shape)[0]
    array[part] = values[part]
    wanted = np.array(values + 1)
    wanted[part] = values[part]
    equal(peers.read(peer, tmp_path / "a", cell), wanted)


def refuses(peer: str, path: Path, cell: Cell) -> bool:
    try:
        peers.write(peer, path, cell, data(cell))
    except Exception:  # each peer has its own kinds
        return True
    return False


@pytest.mark.parametrize("peer", peers.PEERS)
def test_the_table_of_what_peers_do_not_do_has_no_stale_row(tmp_path, peer):
    """Each row names something the peer refuses today; once it no longer does, the row must go."""
    rows = [row for row, why in peers.UNSUPPORTED[peer].items() if not why.startswith(peers.KNOWN_BUG)]
    for number, row in enumerate(rows):
        cell = next(cell for cell in CELLS if row in cell.codec_names)
        assert refuses(peer, tmp_path / str(number), cell), row


def test_there_are_at_least_sixty_cells_per_direction():
    taking_part = [cell for cell in CELLS if not all(peers.unsupported(peer, cell) for peer in peers.PEERS)]
    assert len(taking_part) >= 60


def test_the_document_we_write_says_what_zarr_pythons_says(tmp_path):
    """Same document for the same array, but for the attributes and members that a reader may ignore."""
    for cell in CELLS:
        if peers.unsupported("zarr", cell):
            continue
        ours(tmp_path / cell.name, cell, data(cell))
        written = json.loads((tmp_path / cell.name / "zarr.json").read_text())
        wanted = peers.document(cell)
        for member in ("shape", "data_type", "chunk_grid", "chunk_key_encoding", "zarr_format", "node_type"):
            assert written[member] == wanted[member], (cell.name, member)
        names = [item["name"] for item in written["codecs"]]
        assert names == [item["name"] for item in wanted["codecs"]], cell.name
