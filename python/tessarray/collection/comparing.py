"""Comparisons of conditions, dataset by dataset: what cannot be compared is an error, never false."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from tessarray.collection.times import Time, date_of

Column = list[Any]
ORDER: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
EQUAL: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {ast.Eq: operator.eq, ast.NotEq: operator.ne}


class IncomparableError(Exception):
    """Two values that no answer is right for; its text says why. place: of the dataset."""

    place: int | None = None


def compare(op: ast.cmpop, left: Column, right: Column) -> list[bool]:
    """A comparison of two columns. A value that is `None` gives false. Raises `IncomparableError`."""
    if isinstance(op, ast.In | ast.NotIn):
        wanted = isinstance(op, ast.In)
        return _all(lambda a, b: _member(a, b) == wanted, left, right, not wanted)
    if type(op) in ORDER:
        return _all(lambda a, b: ORDER[type(op)](*_ordered(a, b)), left, right, None)
    same = EQUAL[type(op)]
    # Values of different kinds are not equal.
    return _all(lambda a, b: same(*_paired(a, b)), left, right, same(0, 1))


def _all(
    holds: Callable[[Any, Any], bool], left: Column, right: Column, otherwise: bool | None
) -> list[bool]:
    """What holds of each pair; `otherwise` where the two are of different kinds, if not all are.

    If no pair is of one kind, the question was not meant so, and has no answer.
    """
    found, alike = [], False
    unlike: IncomparableError | None = None
    for place, (a, b) in enumerate(zip(left, right, strict=True)):
        if a is None or b is None:
            found.append(False)
            continue
        try:
            found.append(bool(holds(a, b)))
            alike = True
        except IncomparableError as error:
            error.place = place
            if otherwise is None:
                raise
            unlike = unlike or error
            found.append(otherwise)
    if unlike is not None and not alike:
        raise unlike
    return found


def _member(a: Any, values: Any) -> bool:
    if isinstance(values, str):
        if not isinstance(a, str):
            raise IncomparableError(f"{a_(a)} is in no text")
        return a in values
    if not isinstance(values, list):
        raise IncomparableError(f"{a_(values)} holds nothing: `in` takes a list or a text")
    unlike: IncomparableError | None = None
    alike = found = False
    for one in values:
        try:
            first, second = _paired(a, one)
        except IncomparableError as error:
            unlike = unlike or error
        else:
            alike, found = True, found or bool(first == second)
    if unlike is not None and not alike:
        raise unlike
    return found


def _ordered(a: Any, b: Any) -> tuple[Any, Any]:
    a, b = _paired(a, b)
    if isinstance(a, list | dict):
        raise IncomparableError(f"{a_(a)} is neither more nor less than another")
    return a, b


def _paired(a: Any, b: Any) -> tuple[Any, Any]:
    """Two values of one kind; times by what they mean."""
    if isinstance(a, Time) or isinstance(b, Time):
        return _timed(a, b)
    if _is_number(a) and _is_number(b):
        return a, b
    if type(a) is type(b):
        return a, b
    hint = ""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, str) and _is_number(other):
            hint = f"; write {str(other)!r} for the text" if _looks_numeric(one) else ""
    raise IncomparableError(f"{a_(a)} cannot be compared with {a_(b)}{hint}")


def _timed(a: Any, b: Any) -> tuple[Any, Any]:
    if isinstance(a, Time) and isinstance(b, Time):
        if a.scale == b.scale:
            return a.value, b.value
        return _moment(a), _moment(b)
    time, other, swapped = (a, b, False) if isinstance(a, Time) else (b, a, True)
    if isinstance(other, str):
        try:
            pair = _moment(time), date_of(other)
        except ValueError as error:
            raise IncomparableError(f"it is a time ({time.scale.label}), and {error}") from None
    elif _is_number(other) and time.scale.numbers:
        pair = time.value, other
    else:
        raise IncomparableError(
            f"it is a time ({time.scale.label}), to be compared with a date as '2015-01-31', not with {a_(other)}"
        )
    return (pair[1], pair[0]) if swapped else pair


def _moment(time: Time) -> int:
    if time.scale.why:
        raise IncomparableError(
            f"it counts {time.scale.label}, and {time.scale.why}: compare with a number of these"
        )
    return time.moment


def plain(value: Any) -> Any:
    """A number for arithmetic; of CF times that in their units."""
    if isinstance(value, Time):
        if not value.scale.numbers:
            raise IncomparableError(f"it is a time ({value.scale.label}): no arithmetic is done with it")
        return value.value
    return value


def a_(value: Any) -> str:
    """What kind a value is, and the value."""
    shown = repr(value)
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    if isinstance(value, Time):
        return f"a time ({value.scale.label})"
    if isinstance(value, str):
        return f"the text {shown}"
    if _is_number(value):
        return f"the number {shown}"
    return f"the {'list' if isinstance(value, list) else type(value).__name__} {shown}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _looks_numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
