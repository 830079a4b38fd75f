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
from tessarray.conversion.destinations.base import NETCDF_SUFFIXES, WRITTEN, Target, require_format
from tessarray.conversion.destinations.zarr import ZarrDestination
from tessarray.conversion.errors import FormatError, OptionError, UnsupportedVariableError
from tessarray.conversion.journal import Journal
from tessarray.conversion.layout import Choice, check_choices, choose
from tessarray.conversion.layout_file import LayoutFile, VariableLayout, read_layout
from tessarray.conversion.model import ArraySpec, ConversionReport, GroupSpec, Progress, Skipped, Source
from tessarray.conversion.pack_placement import PackPlacement, leads_into_a_pack
from tessarray.conversion.patterns import chosen, matches, patterns
from tessarray.conversion.pipeline import Block, run
from tessarray.conversion.placement import Placement
from tessarray.conversion.progress import Bar, Reporter
from tessarray.conversion.resumption import confirm, digests
from tessarray.conversion.size import parse_size
from tessarray.conversion.sources import open_source
from tessarray.conversion.space import names_a_full_disk
from tessarray.conversion.verify import compare
from tessarray.display.units import byte_text
from tessarray.errors import InvalidArgumentError
from tessarray.stores import local_path

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
    on_error: Literal["skip", "fail"] = "skip",
    follow_external: bool = False,
) -> ConversionReport:
    """Copy a file or a set of arrays into a store, block by block, and say what was done.

    `src` is a path (netCDF-3, netCDF-4, HDF5, Zarr v2 or v3 in a folder or a zip, `.npy`, `.npz`, TIFF, or what xarray
    opens), an `xarray.Dataset`, an open array or group, or a mapping of names to arrays. `dst` is a folder; a name that
    ends in `.zip` makes a zip, `.nc` makes netCDF-4; a pack, or a path in one, takes the copy as one transaction. A
    name that ends as another format does (`.tif`, `.npy`, `.h5`) is an error. Folders above `dst` are made. Groups,
    attributes, dimension names, fill values and packed values are kept as stored, so that xarray decodes the copy as it
    does the source.

    `chunks` and `shards` are "auto", extents, or extents by dimension name; `chunks="source"` keeps the source's and
    `shards=None` stores each chunk by itself. Extents are used for arrays of as many dimensions; those that fit no
    array are an error, as is a name that no dimension has. `compressors` and `checksum` are as in `create_array`.
    `layout` is a layout file of `tessarray tune`, or its content: the variable that it names gets exactly that layout
    (chunks, shards, codecs, checksums), the others what the arguments before say. `memory` bounds the bytes in flight
    ("512MiB" or a number). `include` and `exclude` are names of variables or patterns such as "wind/*".
    `progress=True` draws a bar on stderr; a function gets a `Progress` after each block, from one thread at a time.
    `threads` is how many blocks are at work at once (the engine's own threads come on top).

    An object of the source that has no form here (a type that no array has, a filter that is not installed) is left
    out and listed in the report's `skipped`; with `on_error="fail"` it is an error instead. It is an error, too, if
    nothing else is left or if `include` names it; damage always is one. `follow_external=True` reads what an HDF5 file
    has in other files, by external links, external storage and virtual data sets: only for files that you trust.

    Nothing is at `dst` until the copy is whole. An interrupted run leaves `DST.partial/`; `resume=True` goes on with it
    if source and settings are the same, and starts anew if there is none. What the interrupted run stored is read back
    and copied again where it is not what was written, so that a copy is right after a loss of power, too. A source that
    is no single file, or whose inode has changed, is read again and compared. `verify=True` compares every value with
    the source, bit for bit, before the copy takes its place. With `overwrite`, an old store stays until then.

    Cost: each block is read and written once; where the source's chunks are larger than `memory` allows a block to be,
    its chunks are decoded more than once. `resume` decodes once what was stored before.

    Raises `SourceNotFoundError`, `FormatError`, `UnsupportedVariableError`, `OptionError`, `LayoutError` (a layout for
    another variable, shape or data type), `DestinationExistsError`, `NoSpaceError`, `ResumeError` or
    `VerificationError`, all of them `ConversionError`.
    """
    started = time.perf_counter()
    limit = parse_size(memory)
    if on_error not in ("skip", "fail"):
        raise OptionError(f"on_error: expected 'skip' or 'fail', found {on_error!r}")
    if limit < MINIMUM_MEMORY:
        raise OptionError(f"memory: expected {byte_text(MINIMUM_MEMORY)} or more, found {byte_text(limit)}")
    final = _local(dst)
    if not leads_into_a_pack(final):
        require_format(final, WRITTEN)
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
        source = open_source(src, follow_external)
        stack.callback(source.close)
        _refuse_itself(source, final)
        # What the reader keeps is part of the limit.
        flight = limit - source.keep(limit // 4)
        groups, arrays, skipped = _selected(source, patterns(include), patterns(exclude), on_error)
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
            arrays = _storable(source, destination, arrays, skipped, on_error)
            targets = _targets(source, arrays, chunks, shards, limit, flight, proposed, destination.sharding)
            check_choices(source.label, [t.spec for t in targets if t.layout.coding is None], chunks, shards)
            journal = _prepare(
                placement,
                destination,
                groups,
                targets,
                settings | _identity(source, targets),
                source.state(),
                going_on,
            )
        except BaseException:
            if not going_on:
                placement.discard()
            raise
        stack.callback(journal.close)
        reporter = Reporter(_listener(progress, stack))
        workers = threads or min(os.cpu_count() or 1, 8)
        stack.enter_context(
            names_a_full_disk(final, placement.partial, reporter.remaining, destination.resumable)
        )
        if journal.done:
            confirm(source, destination, journal, _blocks(targets, flight), reporter, workers, flight)
        total, resumed = _copy(source, destination, targets, journal, reporter, workers, flight)
        if verify:
            _verify(source, destination, targets, reporter, workers, flight, total)
        product = destination.finish()
        journal.close()
        placement.commit(product)
    seconds = time.perf_counter() - started
    return ConversionReport(
        source=source.label, destination=str(final), format=source.kind, arrays=len(targets), groups=len(groups),
        bytes=total, stored=placement.stored(), seconds=seconds, rate=(total - resumed) / max(seconds, 1e-9),
        verified=verify, resumed_bytes=resumed, warnings=tuple(source.warnings),
        skipped=tuple(skipped),
    )  # fmt: skip


def _local(dst: str | os.PathLike[str]) -> Path:
    """The path of a destination. Raises `OptionError` for an address that is none."""
    try:
        return Path(local_path(os.fspath(dst)))
    except InvalidArgumentError as error:
        raise OptionError(str(error)) from None


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
    source: Source, include: list[str] | None, exclude: list[str] | None, on_error: str
) -> tuple[list[GroupSpec], list[ArraySpec], list[Skipped]]:
    """The arrays asked for, the groups that hold them (all groups if none is left out), and what cannot be had."""
    arrays = list(source.arrays())
    known = [*(spec.path for spec in arrays), *(one.path for one in source.skipped)]
    for pattern in [*(include or []), *(exclude or [])]:
        if not any(matches(path, [pattern]) for path in known):
            raise OptionError(f"{source.label}: no variable is named '{pattern}'; {_there_are(known)}")
    kept = [spec for spec in arrays if chosen(spec.path, include, exclude)]
    if arrays and not kept:
        raise OptionError(f"{source.label}: include and exclude leave no variable; {_there_are(known)}")
    skipped = [one for one in source.skipped if chosen(one.path, include, exclude)]
    for one in skipped:
        if one.damaged:
            raise FormatError(f"{source.label}: '{one.path}': {one.reason}; leave it out with exclude")
        if on_error == "fail" or one.path in (include or []) or not kept:
            raise UnsupportedVariableError(_left_out(source, one))
    groups = list(source.groups())
    if include is not None:
        groups = [g for g in groups if g.path == "" or any(s.path.startswith(f"{g.path}/") for s in kept)]
    return groups, kept, skipped


def _there_are(paths: list[str]) -> str:
    """What a source has, for people."""
    named = sorted(path for path in paths if path)
    if not named:
        return "there is one array, without a name" if paths else "there is no variable"
    more = f" and {len(named) - 20} more" if len(named) > 20 else ""
    return f"there are {', '.join(named[:20])}{more}" if len(named) > 1 else f"there is {named[0]}"


def _left_out(source: Source, one: Skipped) -> str:
    name = f"variable '{one.path}'" if one.path else "its array"
    return f"{source.label}: {name}: {one.reason}; leave it out with exclude, or with on_error='skip'"


def _storable(
    source: Source, destination: Destination, arrays: list[ArraySpec], skipped: list[Skipped], on_error: str
) -> list[ArraySpec]:
    """The arrays that a destination can hold; the others are added to what is skipped."""
    kept = []
    for spec in arrays:
        try:
            source.warnings.extend(f"{spec.path}: {lost}" for lost in destination.check(spec))
            kept.append(spec)
        except UnsupportedVariableError as error:
            skipped.append(Skipped(spec.path, str(error)))
            if on_error == "fail" or len(arrays) == 1:
                raise UnsupportedVariableError(_left_out(source, skipped[-1])) from None
    if arrays and not kept:
        raise UnsupportedVariableError(_left_out(source, skipped[-1]))
    return kept


def _targets(
    source: Source,
    arrays: list[ArraySpec],
    chunks: Choice,
    shards: Choice,
    memory: int,
    flight: int,
    proposed: VariableLayout | None,
    sharding: bool,
) -> list[Target]:
    targets = []
    own = None if proposed is None else proposed.find(arrays, source.label)
    for spec in arrays:
        if proposed is not None and spec is own:
            layout = proposed.layout
        else:
            layout = choose(spec, chunks, shards, memory, sharding)
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


def _identity(source: Source, targets: list[Target]) -> dict[str, Any]:
    """What of the source must not change between a run and its resumption."""
    arrays = {f"array '{t.spec.path}'": f"{t.spec.dtype} of shape {t.spec.shape}" for t in targets}
    return source.identity() | arrays


def _prepare(
    placement: Placement | PackPlacement, destination: Destination, groups: list[GroupSpec], targets: list[Target],
    settings: dict[str, Any], state: Any, going_on: bool,
) -> Journal:  # fmt: skip
    if going_on:
        if not destination.resumable:
            raise OptionError(
                f"{placement.final}: a {destination.kind} file cannot be resumed; run without resume"
            )
        journal = Journal.resume(placement.partial, settings, state)
        destination.reopen(groups, targets)
        return journal
    destination.create(groups, targets)
    # The journal comes last: a partial folder with one has had all its metadata.
    return Journal.start(placement.partial, settings, state)


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
    skipped = sum(b.nbytes for b in _blocks(targets, memory) if b.key in journal.done) if journal.done else 0
    reporter.start("copy", total, skipped)

    def work(block: Block) -> None:
        path = block.target.spec.path
        with source.lock:
            values = source.read(path, block.region)
        destination.write(path, block.region, values)
        if destination.resumable:
            journal.finished(path, block.number, digests(destination, block.target, block.region, values))
        reporter.advance(block.nbytes, path)

    todo = (b for b in _blocks(targets, memory) if b.key not in journal.done)
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
