"""`convert`: from a source through blocks to a destination that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from tessarray.conversion.blocks import block_extents, region_bytes, regions
from tessarray.conversion.destinations import Destination, open_destination
from tessarray.conversion.destinations.base import NETCDF_SUFFIXES, Target
from tessarray.conversion.destinations.zarr import ZarrDestination
from tessarray.conversion.errors import OptionError, UnsupportedVariableError
from tessarray.conversion.journal import Journal
from tessarray.conversion.layout import Choice, choose
from tessarray.conversion.layout_file import LayoutFile, VariableLayout, read_layout
from tessarray.conversion.model import ArraySpec, ConversionReport, GroupSpec, Progress, Source
from tessarray.conversion.pack_placement import PackPlacement, leads_into_a_pack
from tessarray.conversion.patterns import chosen, matches, patterns
from tessarray.conversion.pipeline import Block, run
from tessarray.conversion.placement import Placement
from tessarray.conversion.progress import Bar, Reporter
from tessarray.conversion.size import parse_size
from tessarray.conversion.sources import open_source
from tessarray.conversion.verify import compare

MINIMUM_MEMORY = 8 << 20


def convert(
    src: Any,
    dst: str | os.PathLike[str],
    *,
    chunks: Choice = "auto",
    shards: Choice = "auto",
    compressors: Any = "auto",
    checksum: Literal["auto", "crc32c"] | None = "auto",
    layout: LayoutFile | None = None,
    memory: int | str = "1GiB",
    resume: bool = False,
    verify: bool = False,
    overwrite: bool = False,
    include: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    progress: bool | Callable[[Progress], Any] = False,
    threads: int | None = None,
    zarr_format: Literal[2, 3] = 3,
) -> ConversionReport:
    """Copy a file or a set of arrays into a store, block by block, and say what was done.

    `src` is a path (netCDF-3, netCDF-4, HDF5, Zarr v2 or v3 in a folder or a zip, `.npy`, `.npz`, TIFF, or what xarray
    opens), an `xarray.Dataset`, an open array or group, or a mapping of names to arrays. `dst` is a folder; a name that
    ends in `.zip` makes a zip, `.nc` makes netCDF-4; a pack, or a path in one, takes the copy as one transaction.
    Groups, attributes, dimension names, fill values and packed values are kept as stored, so that xarray decodes the
    copy as it does the source.

    `chunks` and `shards` are "auto", extents, or extents by dimension name; `chunks="source"` keeps the source's and
    `shards=None` stores each chunk by itself. `compressors` and `checksum` are as in `create_array`. `layout` is a
    layout file of `tessarray tune`, or its content: the variable that it names gets exactly that layout (chunks,
    shards, codecs, checksums), the others what the arguments before say. `memory` bounds the bytes in flight ("512MiB"
    or a number).
    `include` and `exclude` are names of variables or patterns such as "wind/*". `progress=True` draws a bar on stderr;
    a function gets a `Progress` after each block, from one thread at a time. `threads` is how many blocks are at work
    at once (the engine's own threads come on top).

    Nothing is at `dst` until the copy is whole. An interrupted run leaves `DST.partial/`; `resume=True` goes on with it
    if source and settings are the same, and starts anew if there is none. `verify=True` compares every value with the
    source, bit for bit, before the copy takes its place. With `overwrite`, an old store stays until then.

    Cost: each block is read and written once; where the source's chunks are larger than `memory` allows a block to be,
    its chunks are decoded more than once.

    Raises `SourceNotFoundError`, `FormatError`, `UnsupportedVariableError`, `OptionError`, `LayoutError` (a layout for
    another variable, shape or data type), `DestinationExistsError`, `ResumeError` or `VerificationError`, all of them
    `ConversionError`.
    """
    started = time.perf_counter()
    limit = parse_size(memory)
    if limit < MINIMUM_MEMORY:
        raise OptionError(f"memory: expected {MINIMUM_MEMORY >> 20} MiB or more, found {limit} bytes")
    final = Path(dst).expanduser()
    proposed = None if layout is None else _proposed(layout, final, zarr_format, verify)
    settings: dict[str, Any] = {
        "chunks": chunks,
        "shards": shards,
        "compressors": repr(compressors),
        "memory": limit,
    }
    settings |= {"include": include, "exclude": exclude, "zarr_format": zarr_format}
    if checksum != "auto":
        settings["checksum"] = checksum
    if proposed is not None:
        settings["layout"] = {"variable": proposed.variable, **proposed.document}
    with contextlib.ExitStack() as stack:
        source = open_source(src)
        stack.callback(source.close)
        _refuse_itself(source, final)
        # What the reader keeps is part of the limit.
        flight = limit - source.keep(limit // 4)
        groups, arrays = _selected(source, patterns(include), patterns(exclude))
        placement: Placement | PackPlacement = (
            PackPlacement(final) if leads_into_a_pack(final) else Placement(final)
        )
        going_on = placement.begin(overwrite, resume)
        stack.callback(placement.release)
        try:
            if isinstance(placement, PackPlacement):
                destination: Destination = placement.destination(compressors, zarr_format)
            else:
                destination = open_destination(final, placement.partial, compressors, zarr_format)
            if isinstance(destination, ZarrDestination):
                destination.checksum = checksum
            elif checksum != "auto":
                raise OptionError(
                    f"checksum={checksum!r}: expected 'auto' for {destination.kind}; Zarr takes others"
                )
            if not destination.resumable:
                # What cannot be gone on with is not left lying about.
                stack.callback(placement.discard)
            stack.callback(destination.close)
            targets = _targets(source, destination, arrays, chunks, shards, limit, flight, proposed)
            journal = _prepare(
                placement, destination, groups, targets, settings | source.identity(), going_on
            )
        except BaseException:
            if not going_on:
                placement.discard()
            raise
        stack.callback(journal.close)
        reporter = Reporter(_listener(progress, stack))
        workers = threads or min(os.cpu_count() or 1, 8)
        total, skipped = _copy(source, destination, targets, journal, reporter, workers, flight)
        if verify:
            _verify(source, destination, targets, reporter, workers, flight, total)
        journal.remove()
        product = destination.finish()
        placement.commit(product)
    seconds = time.perf_counter() - started
    return ConversionReport(
        source=source.label, destination=str(final), format=source.kind, arrays=len(targets), groups=len(groups),
        bytes=total, stored=placement.stored(), seconds=seconds, rate=(total - skipped) / max(seconds, 1e-9),
        verified=verify, resumed_bytes=skipped, warnings=tuple(source.warnings),
    )  # fmt: skip


def _listener(progress: bool | Callable[[Progress], Any], stack: contextlib.ExitStack) -> Any:
    if callable(progress):
        return progress
    return stack.enter_context(Bar()) if progress else None


def _refuse_itself(source: Source, final: Path) -> None:
    path = getattr(source, "path", None)
    if path is None:
        return
    there, here = final.resolve(), path.resolve()
    if here == there or here in there.parents or there in here.parents:
        raise OptionError(f"{final}: source and destination are the same, or one lies in the other")


def _selected(
    source: Source, include: list[str] | None, exclude: list[str] | None
) -> tuple[list[GroupSpec], list[ArraySpec]]:
    """The arrays asked for, and the groups that hold them (all groups if none is left out)."""
    arrays = list(source.arrays())
    for pattern in [*(include or []), *(exclude or [])]:
        if not any(matches(spec.path, [pattern]) for spec in arrays):
            names = ", ".join(sorted(spec.path for spec in arrays)[:20])
            raise OptionError(f"{source.label}: no variable is named '{pattern}'; there are {names}")
    kept = [spec for spec in arrays if chosen(spec.path, include, exclude)]
    groups = list(source.groups())
    if include is not None:
        groups = [g for g in groups if g.path == "" or any(s.path.startswith(f"{g.path}/") for s in kept)]
    return groups, kept


def _targets(
    source: Source,
    destination: Destination,
    arrays: list[ArraySpec],
    chunks: Choice,
    shards: Choice,
    memory: int,
    flight: int,
    proposed: VariableLayout | None,
) -> list[Target]:
    targets = []
    own = None if proposed is None else proposed.find(arrays, source.label)
    for spec in arrays:
        try:
            source.warnings.extend(f"{spec.path}: {lost}" for lost in destination.check(spec))
        except UnsupportedVariableError as error:
            raise UnsupportedVariableError(
                f"{source.label}: variable '{spec.path}' has {error}; leave it out with exclude"
            ) from None
        if proposed is not None and spec is own:
            layout = proposed.layout
        else:
            layout = choose(spec, chunks, shards, memory, destination.sharding)
        block_extents(spec, layout.unit, flight)
        targets.append(Target(spec, layout))
    return targets


def _proposed(layout: LayoutFile, final: Path, zarr_format: int, verify: bool) -> VariableLayout:
    """The layout file, for a destination that can have what is in it. Raises `OptionError` and `LayoutError`."""
    if final.suffix.lower() in NETCDF_SUFFIXES:
        raise OptionError(
            f"{final}: a layout file is for Zarr; netCDF-4 takes chunks and compressors ('deflate:4')"
        )
    if zarr_format != 3:
        raise OptionError(f"{final}: a layout file is for Zarr 3; leave zarr_format out, found {zarr_format}")
    found = read_layout(layout)
    if verify and found.lossy:
        raise OptionError(
            f"{final}: the layout of '{found.variable}' is lossy, and verify compares bit for bit; run without verify"
        )
    return found


def _prepare(
    placement: Placement | PackPlacement, destination: Destination, groups: list[GroupSpec], targets: list[Target],
    settings: dict[str, Any], going_on: bool,
) -> Journal:  # fmt: skip
    if going_on:
        if not destination.resumable:
            raise OptionError(
                f"{placement.final}: a {destination.kind} file cannot be resumed; run without resume"
            )
        journal = Journal.resume(placement.partial, settings)
        destination.reopen(targets)
        return journal
    destination.create(groups, targets)
    # The journal comes last: a partial folder with one has all its metadata.
    return Journal.start(placement.partial, settings)


def _blocks(targets: list[Target], memory: int) -> Iterator[Block]:
    for target in targets:
        spec = target.spec
        extents = block_extents(spec, target.layout.unit, memory)
        for number, region in enumerate(regions(spec.shape, extents)):
            yield Block(target, number, region, region_bytes(region, spec.itemsize))


def _copy(
    source: Source, destination: Destination, targets: list[Target], journal: Journal, reporter: Reporter,
    threads: int, memory: int,
) -> tuple[int, int]:  # fmt: skip
    """Copy every block that the journal has not; returns bytes in all, and bytes of those that it had."""
    total = sum(target.spec.nbytes for target in targets)
    had = {(b.target.spec.path, b.number): b.nbytes for b in _blocks(targets, memory)} if journal.done else {}
    skipped = sum(had.get(key, 0) for key in journal.done)
    reporter.start("copy", total, skipped)

    def work(block: Block) -> None:
        path = block.target.spec.path
        with source.lock:
            values = source.read(path, block.region)
        destination.write(path, block.region, values)
        journal.finished(path, block.number)
        reporter.advance(block.nbytes, path)

    todo = (b for b in _blocks(targets, memory) if (b.target.spec.path, b.number) not in journal.done)
    run(todo, work, threads, memory)
    return total, skipped


def _verify(
    source: Source, destination: Destination, targets: list[Target], reporter: Reporter, threads: int, memory: int,
    total: int,
) -> None:  # fmt: skip
    reporter.start("verify", total)

    def work(block: Block) -> None:
        spec = block.target.spec
        with source.lock:
            expected = source.read(spec.path, block.region)
        actual = destination.read(spec.path, block.region)
        compare(spec.path, block.region, expected, actual, destination.stored_dtype(spec))
        reporter.advance(block.nbytes, spec.path)

    run(_blocks(targets, memory), work, threads, memory)
