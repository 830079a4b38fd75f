"""Conditions over datasets: by attributes and statistics, without reading values.

A condition is a Python expression of few kinds, looked at as a tree and never run. Each part of it gives a column: a
value for each dataset, or none.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from tessarray._native import CollectionCore
from tessarray.collection.names import unknown
from tessarray.collection.tables import Facts, dataset_attributes
from tessarray.errors import InvalidArgumentError

Column = list[Any]

COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, values: value in values,
    ast.NotIn: lambda value, values: value not in values,
}
COMPUTE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FACTS = ("min", "max", "sum", "mean", "count", "nulls", "size")
QUOTED = re.compile(r"`([^`]+)`")


def where(core: CollectionCore, condition: str) -> list[str]:
    """See `Collection.where`."""
    quoted: dict[str, str] = {}

    def name_of(match: re.Match[str]) -> str:
        label = f"quoted_{len(quoted)}_"
        quoted[label] = match.group(1)
        return label

    try:
        tree = ast.parse(QUOTED.sub(name_of, condition).strip(), mode="eval")
    except SyntaxError as error:
        raise InvalidArgumentError(f"where: {condition!r} is no condition: {error.msg}") from None
    names = core.names()
    holds = _Conditions(core, names, quoted, condition).truth(tree.body)
    return [name for name, one in zip(names, holds, strict=True) if one]


class _Conditions:
    """The columns of the parts of one condition."""

    def __init__(self, core: CollectionCore, names: list[str], quoted: dict[str, str], text: str) -> None:
        self._core, self._names, self._quoted, self._text = core, names, quoted, text
        self._places = {name: place for place, name in enumerate(names)}
        self._attributes: list[dict[str, Any]] | None = None
        self._facts: dict[str, dict[str, Column]] = {}

    def truth(self, node: ast.expr) -> list[bool]:
        """Where a condition holds."""
        if isinstance(node, ast.BoolOp):
            parts = [self.truth(part) for part in node.values]
            every = all if isinstance(node.op, ast.And) else any
            return [every(row) for row in zip(*parts, strict=True)]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return [not one for one in self.truth(node.operand)]
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return [node.value] * len(self._names)
        if isinstance(node, ast.Name):
            return [one is not None and bool(one) for one in self.column(node)]
        raise self._refused(node, "expected a comparison, and, or, not")

    def _compare(self, node: ast.Compare) -> list[bool]:
        holds = [True] * len(self._names)
        left = self.column(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.column(right_node)
            if isinstance(op, ast.Is | ast.IsNot):
                if not isinstance(right_node, ast.Constant) or right_node.value is not None:
                    raise self._refused(node, "`is` only goes with None")
                wanted = isinstance(op, ast.Is)
                holds = [one and (value is None) == wanted for one, value in zip(holds, left, strict=True)]
            else:
                compare = COMPARE[type(op)]
                rows = zip(holds, left, right, strict=True)
                holds = [one and _holds(compare, a, b) for one, a, b in rows]
            left = right
        return holds

    def column(self, node: ast.expr) -> Column:
        """The values of a part, one a dataset; `None` where there is none."""
        if isinstance(node, ast.Constant):
            return [node.value] * len(self._names)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [list(row) for row in zip(*(self.column(part) for part in node.elts), strict=True)]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return [None if one is None else -one for one in self.column(node.operand)]
        if isinstance(node, ast.BinOp) and type(node.op) in COMPUTE:
            compute = COMPUTE[type(node.op)]
            rows = zip(self.column(node.left), self.column(node.right), strict=True)
            return [_computed(compute, a, b) for a, b in rows]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self._fact(self._name(node.value), node.attr)
        if isinstance(node, ast.Name):
            return self._value(self._name(node))
        raise self._refused(node, "expected a name, a number, a text, or arithmetic on these")

    def _name(self, node: ast.Name) -> str:
        return self._quoted.get(node.id, node.id)

    def _fact(self, variable: str, fact: str) -> Column:
        if fact not in FACTS:
            raise InvalidArgumentError(
                f"where: {variable}.{fact}: expected one of {', '.join(FACTS)} in {self._text!r}"
            )
        return self._of(variable)[fact]

    def _of(self, variable: str) -> dict[str, Column]:
        if variable not in self._facts:
            found = self._core.find(variable)
            if not len(found):
                known = (name for name, _ in self._core.variables())
                raise unknown("variable", variable, known, "the collection")
            facts = Facts(self._core, found)
            places = [self._places[name] for name in found.names]
            columns = {name: getattr(facts, name) for name in (*FACTS, "texts") if name != "mean"}
            columns["mean"] = [
                total / count if total is not None and count else None
                for total, count in zip(facts.sum, facts.count, strict=True)
            ]
            self._facts[variable] = {name: self._spread(places, column) for name, column in columns.items()}
        return self._facts[variable]

    def _spread(self, places: list[int], values: Column) -> Column:
        column: Column = [None] * len(self._names)
        for place, value in zip(places, values, strict=True):
            column[place] = value
        return column

    def _value(self, name: str) -> Column:
        """An attribute, or a variable that has one value."""
        if self._attributes is None:
            self._attributes = dataset_attributes(self._core)
        column = [one.get(name) for one in self._attributes]
        if all(value is None for value in column):
            if name not in dict(self._core.variables()):
                known = [key for one in self._attributes[:1000] for key in one]
                known += [variable for variable, _ in self._core.variables()]
                raise unknown("attribute or variable", name, dict.fromkeys(known), "the collection")
        elif all(value is not None for value in column):
            return column
        if name not in dict(self._core.variables()):
            return column
        facts = self._of(name)
        single = [
            texts[0]
            if texts is not None and len(texts) == 1
            else low
            if low is not None and low == high
            else None
            for texts, low, high in zip(facts["texts"], facts["min"], facts["max"], strict=True)
        ]
        return [one if own is None else own for own, one in zip(column, single, strict=True)]

    def _refused(self, node: ast.expr, reason: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"where: {ast.unparse(node)!r} in {self._text!r}: {reason}")


def _holds(compare: Callable[[Any, Any], bool], left: Any, right: Any) -> bool:
    if left is None or right is None:
        return False
    try:
        return bool(compare(left, right))
    except TypeError:
        # A text is neither more nor less than a number.
        return False


def _computed(compute: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    try:
        return compute(left, right)
    except (TypeError, ZeroDivisionError):
        return None
