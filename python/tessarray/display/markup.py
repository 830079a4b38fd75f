"""HTML elements as text. Texts and attributes are escaped here, nowhere else."""

from __future__ import annotations

import html
from collections.abc import Iterable

__all__ = ["Child", "Markup", "element", "json_text", "printable"]


class Markup(str):
    """Text that is markup already. Anything else that comes into an element is escaped."""

    __slots__ = ()


Child = str | Iterable[str] | Iterable[Iterable[str]]

REPLACED = "\N{REPLACEMENT CHARACTER}"
# What a browser shows nothing of, or refuses; lines and tabs stay.
CONTROL = {code: REPLACED for code in (*range(32), *range(127, 160)) if code not in (9, 10)}
VOID = frozenset({"br", "hr", "meta", "link"})


def element(name: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element. `class_` is `class`, `text_anchor` is `text-anchor`; `None` and `False` leave an attribute out."""
    given = "".join(
        f' {_name(key)}="{html.escape(_plain(value).translate(CONTROL), quote=True)}"'
        if value is not True
        else f" {_name(key)}"
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    inside = "".join(_markup(child) for child in _flat(children))
    return Markup(f"<{name}{given}>{inside}</{name}>" if inside or name not in VOID else f"<{name}{given}>")


def printable(text: str) -> str:
    """A text from a file without what a terminal or a browser would obey."""
    return "".join(letter if letter.isprintable() else REPLACED for letter in text)


def json_text(value: str) -> Markup:
    """JSON that may stand in a script element: no text in it can close the element, or open a comment."""
    for character in "<>&\u2028\u2029":
        value = value.replace(character, f"\\u{ord(character):04x}")
    return Markup(value)


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-") if key != "viewBox" else key


def _plain(value: str | float | bool) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _flat(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if isinstance(child, str):
            yield child
        else:
            yield from _flat(child)


def _markup(child: str) -> str:
    return child if isinstance(child, Markup) else html.escape(child.translate(CONTROL), quote=False)
