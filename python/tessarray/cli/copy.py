"""`tessarray copy`: the keys of a store or the files of a pack, byte by byte, between folders and zips."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from tessarray.cli.output import console
from tessarray.conversion.destinations.base import STORE_SUFFIXES, require_format
from tessarray.conversion.errors import FormatError, OptionError, SourceNotFoundError
from tessarray.conversion.placement import STORE_MARKS, Placement
from tessarray.display.units import byte_text
from tessarray.stores import PACK_MARK, local_path


def run(src: Path, dst: Path, overwrite: bool) -> None:
    """Copy, and say how much. Nothing is at `dst` until all of it is."""
    src, dst = Path(local_path(str(src))), Path(local_path(str(dst)))
    if not src.exists():
        raise SourceNotFoundError(f"{src}: no such store")
    here, there = src.resolve(), dst.resolve()
    if here == there or here in there.parents or there in here.parents:
        raise OptionError(f"{dst}: source and destination are the same, or one lies in the other")
    require_format(dst, "a folder (.zarr, .pack, or no suffix) or .zip", STORE_SUFFIXES)
    placement = Placement(dst)
    placement.begin(overwrite, resume=False)
    product = placement.partial / "store"
    try:
        keys, size = _pack(src, product) if dst.suffix.lower() == ".zip" else _unfold(src, product)
        if not keys:
            raise FormatError(f"{src}: holds no Zarr metadata, and is no pack")
    except BaseException:
        placement.discard()
        raise
    placement.commit(product)
    console().print(f"{src} -> {dst}: {keys} keys, {byte_text(size)}")


def _pack(src: Path, product: Path) -> tuple[int, int]:
    keys = size = 0
    with zipfile.ZipFile(product, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for key, file in _entries(src):
            with archive.open(zipfile.ZipInfo(key), "w", force_zip64=True) as into:
                shutil.copyfileobj(file, into, 1 << 20)
                size += file.tell()
            keys += 1
    return keys, size


def _unfold(src: Path, product: Path) -> tuple[int, int]:
    keys = size = 0
    product.mkdir()
    for key, file in _entries(src):
        path = product / key
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as into:
            shutil.copyfileobj(file, into, 1 << 20)
            size += file.tell()
        keys += 1
    return keys, size


def _files(src: Path) -> list[Path]:
    """Of a pack, the commits that are there by now come last, and what they name was there before them: while others
    write, what is copied is a pack all the same."""
    commits = sorted((src / "commits").glob("*.json")) if (src / PACK_MARK).is_file() else []
    if not commits and not any((src / mark).is_file() for mark in STORE_MARKS):
        raise FormatError(f"{src}: holds no Zarr metadata, and is no pack")
    apart = {"commits", "locks", "latest.json"} if commits else set()
    files = (item for item in sorted(src.rglob("*")) if item.is_file() and not item.is_symlink())
    return [*(item for item in files if item.relative_to(src).parts[0] not in apart), *commits]


def _entries(src: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Every key with its bytes; refuses what is no store, and names in a zip that would leave the folder."""
    if src.is_dir():
        for item in _files(src):
            with item.open("rb") as file:
                yield item.relative_to(src).as_posix(), file
        return
    try:
        with zipfile.ZipFile(src) as archive:
            names = {info.filename for info in archive.infolist()}
            if not names & {*STORE_MARKS, PACK_MARK}:
                raise FormatError(f"{src}: holds no Zarr metadata, and is no pack")
            for info in archive.infolist():
                if info.is_dir():
                    continue
                key = PurePosixPath(info.filename)
                if key.is_absolute() or ".." in key.parts or "\\" in info.filename:
                    raise FormatError(f"{src}: key '{info.filename}' leaves the store")
                with archive.open(info) as file:
                    yield info.filename, file
    except zipfile.BadZipFile as error:
        raise FormatError(f"{src}: not readable as a zip: {error}") from error
