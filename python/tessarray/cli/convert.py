"""`tessarray convert`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from tessarray.cli.output import console, print_json
from tessarray.conversion import ConversionReport
from tessarray.conversion.errors import OptionError
from tessarray.display.units import byte_text, rate_text, time_text


def run(
    src: str, dst: Path, *, chunks: str, shards: str, codec: str, checksum: str, layout: Path | None, memory: str,
    resume: bool, verify: bool, overwrite: bool, include: list[str] | None, exclude: list[str] | None,
    threads: int | None, zarr_format: int, on_error: str, follow_external: bool, progress: bool, as_json: bool,
) -> None:  # fmt: skip
    """Convert, then say what was done."""
    from tessarray.conversion import convert

    try:
        report = convert(
            src,
            dst,
            chunks=parse_extents(chunks),
            shards=parse_extents(shards),
            compressors=None if codec == "none" else codec,
            checksum=parse_checksum(checksum),
            layout=layout,
            memory=memory,
            resume=resume,
            verify=verify,
            overwrite=overwrite,
            include=include or None,
            exclude=exclude or None,
            progress=progress and sys.stderr.isatty(),
            threads=threads,
            zarr_format=2 if zarr_format == 2 else 3,
            on_error="fail" if on_error == "fail" else "skip",
            follow_external=follow_external,
        )
    except KeyboardInterrupt:
        partial = dst.with_name(dst.name + ".partial")
        if partial.exists():
            raise KeyboardInterrupt(
                f"{partial} has what was done: the same command with --resume goes on"
            ) from None
        raise
    if as_json:
        print_json(asdict(report))
    else:
        show(report)


def show(report: ConversionReport) -> None:
    """A conversion in two lines, then what was not kept."""
    out: Any = console()
    many = f"{report.arrays} array{'s' if report.arrays != 1 else ''}"
    ratio = report.bytes / max(report.stored, 1)
    out.print(f"[bold]{report.source}[/] ({report.format}) -> [bold]{report.destination}[/]")
    out.print(
        f"{many}, {byte_text(report.bytes)} stored in {byte_text(report.stored)} ({ratio:.1f} to 1), "
        f"{time_text(report.seconds)}, {rate_text(report.rate)}"
        + (f", of which {byte_text(report.resumed_bytes)} by an earlier run" if report.resumed_bytes else "")
        + (", [green]every value verified[/]" if report.verified else "")
    )
    for one in report.skipped:
        out.print(f"[bold red]left out[/] {one.path}: {one.reason}")
    notes: dict[str, list[str]] = {}
    for warning in report.warnings:
        name, _, text = warning.partition(": ")
        notes.setdefault(text, []).append(name)
    for text, names in notes.items():
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        out.print(f"[yellow]note[/] {shown}: {text}", markup=True)


def parse_checksum(text: str) -> Literal["auto", "crc32c"] | None:
    """`auto`, `crc32c` or `none`. Raises `OptionError` for anything else."""
    match text:
        case "auto" | "crc32c":
            return text
        case "none":
            return None
    raise OptionError(f"--checksum: expected auto, crc32c or none, found '{text}'")


def parse_extents(text: str) -> Any:
    """`auto`, `none`, `source`, `10,64,64` or `time=10,lat=64`. Raises `OptionError` for anything else."""
    if text in ("auto", "source"):
        return text
    if text == "none":
        return None
    parts = [part.strip() for part in text.strip("()[] ").split(",") if part.strip()]
    try:
        if any("=" in part for part in parts):
            return {name.strip(): int(extent) for name, _, extent in (part.partition("=") for part in parts)}
        return tuple(int(part) for part in parts)
    except ValueError:
        raise OptionError(f"'{text}': expected auto, 10,64,64 or time=10,lat=64") from None
