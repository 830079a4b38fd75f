"""Options of commands that are fields of values: their names, defaults and help texts are those of the fields."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import Field, fields
from typing import Annotated, Any, get_type_hints

import typer

__all__ = ["option", "parameters_of", "with_parameters"]


def parameters_of(*values: Any) -> list[inspect.Parameter]:
    """An option for each field with a help text, of dataclasses, or of instances, whose values are the defaults."""
    told = [(value, one) for value in values for one in fields(value) if "help" in one.metadata]
    return [
        option(one.name, getattr(value, one.name), one.metadata["help"], one.metadata["metavar"], _kind(one))
        for value, one in told
    ]


def option(
    name: str, default: Any, help: str, metavar: str | None = None, kind: Any = str, flag: str | None = None
) -> inspect.Parameter:
    """One option of a command."""
    asked = typer.Option(flag or f"--{name.replace('_', '-')}", help=help, metavar=metavar)
    annotation: Any = Annotated[kind if default is not None else kind | None, asked]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _kind(one: Field[Any]) -> Any:
    """Whole numbers are numbers; everything else is given as a text."""
    return int if str(one.type).replace(" | None", "") == "int" else str


def with_parameters(
    given: Iterable[inspect.Parameter], options: str = "options"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options; it receives their values as a mapping, its argument `options`."""
    more = {one.name: one for one in given}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        own = [
            one.replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY)
            for one in inspect.signature(command).parameters.values()
            if one.name != options
        ]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            taken = {name: values.pop(name) for name in more}
            command(**values, **{options: taken})

        every = sorted([*own, *more.values()], key=lambda one: one.default is not inspect.Parameter.empty)
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined] # what typer reads
        run.__annotations__ = {one.name: one.annotation for one in every}
        del run.__wrapped__  # its signature is not what is meant
        return run

    return decorate
