"""Options of commands that are fields of values: their names and defaults are those of the fields."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Annotated, Any, get_type_hints

import typer

__all__ = ["HELP", "option", "parameters_of", "with_parameters"]

# Field of `Access`, `Limits` or `Budget` -> its help text, and what stands for its value.
HELP: dict[str, tuple[str, str | None]] = {
    "log": ("A log of tessarray.record, in place of --access.", "LOG"),
    "max_files": ("The most objects the array may have.", None),
    "max_shard": ("The most bytes of values in one object.", None),
    "max_size": ("Of the whole array: 2GB, a factor on the present or zarr-python's size, or none.", None),
    "append_axis": ("The axis that grows, by LENGTH a time.", "AXIS[:LENGTH]"),
    "readers": ("Libraries that must decode it: zarr-python, tensorstore, zarrs, tessarray.", None),
    "memory": ("The most above the values, for reads, writes and tuning.", None),
    "lossy": ("Values may change by so much.", "tolerance=1e-3"),
    "budget": ("Time for everything: 60s, 5min.", None),
    "store": ("local, memory or 's3-like(ttfb=30ms,bw=200MB/s,concurrency=16)'.", None),
    "scratch": ("The folder that 'local' measures in.", "FOLDER"),
    "threads": ("Workers to measure with (default: one per core).", None),
    "seed": ("The same draws again.", None),
}


def parameters_of(*values: Any) -> list[inspect.Parameter]:
    """An option for each field with a help text, of dataclasses, or of instances, whose values are the defaults."""
    found = []
    for value in values:
        for one in fields(value):
            if one.name in HELP:
                # Whole numbers are numbers; everything else is given as a text.
                kind = int if str(one.type).removesuffix(" | None") == "int" else str
                found.append(option(one.name, getattr(value, one.name), *HELP[one.name], kind=kind))
    return found


def option(
    name: str, default: Any, help: str, metavar: str | None = None, kind: Any = str, flag: str | None = None
) -> inspect.Parameter:
    """One option of a command."""
    asked = typer.Option(flag or f"--{name.replace('_', '-')}", help=help, metavar=metavar)
    annotation: Any = Annotated[kind if default is not None else kind | None, asked]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def with_parameters(
    given: Iterable[inspect.Parameter],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options; it receives their values as a mapping, its argument `options`."""
    more = {one.name: one for one in given}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        own = [
            one.replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY)
            for one in inspect.signature(command).parameters.values()
            if one.name != "options"
        ]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            taken = {name: values.pop(name) for name in more}
            command(**values, options=taken)

        every = sorted([*own, *more.values()], key=lambda one: one.default is not inspect.Parameter.empty)
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined] # what typer reads
        run.__annotations__ = {one.name: one.annotation for one in every}
        del run.__wrapped__  # its signature is not what is meant
        return run

    return decorate
