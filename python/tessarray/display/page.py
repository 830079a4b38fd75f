"""The frame of a self-contained HTML page: style, policy, head, light or dark, tips. It loads nothing from anywhere.

text = build(title="Layout", heading="Layout of t2m", nav=links, body=sections, style=own_css)
write(path, text)
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from tessarray.display import palette
from tessarray.display.markup import Markup, element
from tessarray.display.units import UNITS

__all__ = ["build", "write"]


def build(
    *,
    title: str,
    nav: Markup,
    body: Markup,
    heading: str | None = None,
    subtitle: Markup | str = "",
    skip: tuple[str, str] = ("main", "Skip to the content"),
    style: str = "",
    scripts: Iterable[str] = (),
    data: Markup | str = "",
    charts: bool = False,
) -> str:
    """The page as text.

    heading: above the page, the title if none is given. nav: links or buttons in the head. skip: the id that the first
    link leads to, and its text. style: rules after the common ones. scripts: run in order, in a function of their own,
    after `page.js` and `units.js`; `charts` puts the charts' library and `charts.js` before them, and draws what
    `charts.figure` left in the body. data: elements before the script.
    """
    given = list(scripts)
    code = [_file("units.js").replace("/*units*/", json.dumps(UNITS, ensure_ascii=False)), _file("page.js")]
    if charts:
        code.append(_file("charts.js"))
    filling = {
        "<!--title-->": element("title", title),
        "<!--style-->": palette.css() + _file("page.css") + style,
        "<!--skip-->": element("a", skip[1], class_="skip", href=f"#{skip[0]}", data_go=skip[0]),
        "<!--heading-->": element("h1", heading if heading is not None else title),
        "<!--subtitle-->": element("p", subtitle, id="subtitle"),
        "<!--nav-->": nav,
        "<!--body-->": body,
        "<!--data-->": (element("script", _library()) if charts else "") + data,
        "<!--script-->": _harmless(
            '(async () => {\n"use strict";\n' + "\n".join([*code, *given]) + "\n})();"
        ),
    }
    pieces = [_file("page.html")]
    # Marks are looked for in what the template has, never in what was filled in.
    for mark, content in filling.items():
        at = next(i for i, piece in enumerate(pieces) if i % 2 == 0 and mark in piece)
        before, _, after = pieces[at].partition(mark)
        pieces[at : at + 1] = [before, content, after]
    return "".join(pieces)


def write(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page, in place of one that is there; it is whole or not there."""
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(target)
    return target


def _file(name: str) -> str:
    return (resources.files("tessarray.display") / "page" / name).read_text(encoding="utf-8")


def _library() -> Markup:
    path = resources.files("tessarray.display") / "vendor" / "chart.js"
    return Markup(_harmless(path.read_text(encoding="utf-8")))


def _harmless(script: str) -> str:
    """A script that cannot close its element."""
    return script.replace("</", "<\\/")
