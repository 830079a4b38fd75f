"""Selections as text: `[0, :, 10:20]`, parsed and never evaluated."""

from __future__ import annotations

import ast
from typing import Any

from tessarray.conversion.errors import OptionError

MAX_LENGTH = 100_000


def parse_selection(text: str) -> tuple[Any, ...]:
    """The index that a text stands for: whole numbers, slices, lists of whole numbers, `...`.

    Brackets around it are optional. Raises `OptionError` that says which part is none of these.
    """
    inner = text.strip()
    if inner.startswith("[") and inner.endswith("]") and _is_one_bracket(inner):
        inner = inner[1:-1].strip()
    if not inner:
        return (...,)
    if len(inner) > MAX_LENGTH:
        raise OptionError(f"selection: expected at most {MAX_LENGTH} characters, found {len(inner)}")
    try:
        tree = ast.parse(f"x[{inner}]", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise OptionError(f"selection '{text}': expected something like '[0, :, 10:20]'") from None
    if not isinstance(tree, ast.Subscript) or not isinstance(tree.value, ast.Name):
        raise OptionError(f"selection '{text}': expected something like '[0, :, 10:20]'")
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    index = tuple(_part(part) for part in parts)
    if sum(part is ... for part in index) > 1:
        raise OptionError(f"selection '{text}': expected at most one '...'")
    return index


def _is_one_bracket(text: str) -> bool:
    """Whether the first bracket closes at the end: true for `[0, [1, 2]]`, not for `[1, 2], [3]`."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            return at == len(text) - 1
    return False


def _part(node: ast.expr) -> Any:
    if isinstance(node, ast.Slice):
        bounds = (node.lower, node.upper, node.step)
        return slice(*(None if bound is None else _whole(bound) for bound in bounds))
    if isinstance(node, ast.List):
        return [_whole(item) for item in node.elts]
    if isinstance(node, ast.Constant) and node.value is ...:
        return ...
    return _whole(node)


def _whole(node: ast.expr) -> int:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sign * node.value
    raise OptionError(
        f"selection: expected a whole number, a slice, a list or '...', found '{ast.unparse(node)}'"
    )
