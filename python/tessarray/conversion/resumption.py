"""Going on with an unfinished copy, of which a loss of power may have taken anything.

1. The documents of groups and arrays are made anew where they are not what they must be.
2. What killed writers left behind is removed.
3. Every block in the journal is read back. Its values must have the digest that the journal has: blocks that are
   absent, empty, zeroed or torn are copied again.
4. If nothing tells that the source is what it was (it is no single file, or its inode changed), its values are read,
   too, and must have the digest that the journal has: blocks that have changed are copied again.

Cost: step 3 reads and decodes what was stored; the source is neither read nor encoded. Step 4 reads the source.
"""

from __future__ import annotations

from collections.abc import Iterable

from tessarray.conversion.destinations.base import Destination, Target
from tessarray.conversion.digest import digest
from tessarray.conversion.journal import Digests, Journal
from tessarray.conversion.model import NDArray, Region, Source
from tessarray.conversion.pipeline import Block, run
from tessarray.conversion.progress import Reporter
from tessarray.errors import TessarrayError


def digests(destination: Destination, target: Target, region: Region, values: NDArray) -> Digests:
    """The digests of a block that has just been stored."""
    dtype = destination.stored_dtype(target.spec)
    found = digest(values, dtype)
    if not target.lossy:
        return Digests(found, found)
    return Digests(found, digest(destination.read(target.spec.path, region), dtype))


def confirm(
    source: Source, destination: Destination, journal: Journal, blocks: Iterable[Block], reporter: Reporter,
    threads: int, memory: int,
) -> None:  # fmt: skip
    """Steps 3 and 4: strike from `journal.done` whatever is not stored as it says."""
    listed = [block for block in blocks if block.key in journal.done]
    journal.done = {block.key: journal.done[block.key] for block in listed}
    reporter.start("resume", sum(block.nbytes for block in listed))

    def work(block: Block) -> None:
        if not _is_stored(source, destination, block, journal.done[block.key], journal.proven):
            del journal.done[block.key]
        reporter.advance(block.nbytes, block.target.spec.path)

    run(listed, work, threads, memory)


def _is_stored(
    source: Source, destination: Destination, block: Block, expected: Digests, proven: bool
) -> bool:
    path, dtype = block.target.spec.path, destination.stored_dtype(block.target.spec)
    try:
        stored = digest(destination.read(path, block.region), dtype)
    except (TessarrayError, OSError):
        return False
    if stored != expected.stored:
        return False
    if proven:
        return True
    with source.lock:
        values = source.read(path, block.region)
    return digest(values, dtype) == expected.source
