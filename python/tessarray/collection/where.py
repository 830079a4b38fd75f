"""Conditions over datasets: by attributes and statistics, without reading values.

A condition is a Python expression of few kinds, looked at as a tree and never run. Each part of it gives a column: a
value for each dataset, or none. What a dataset has not makes a comparison false. What cannot be answered is an error: a
variable of several values, values of which nothing is known, a number against a text.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Callable
from typing import Any

from tessarray._native import CollectionCore
from tessarray.collection.comparing import IncomparableError, a_, compare, plain
from tessarray.collection.names import unknown
from tessarray.collection.tables import Facts, dataset_attributes
from tessarray.collection.times import Scale, Time, of_dtype, of_units
from tessarray.errors import InvalidArgumentError

Column = list[Any]

COMPUTE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FACTS = ("min", "max", "sum", "mean", "count", "nulls", "size")
# A name in backquotes; a text is skipped as a whole, whatever is in it.
QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`([^`]+)`""")
LABEL = re.compile(r"quoted_\d+_")
ORDERED = "min", "max", "mean", "sum"
# Names of datasets in a message.
NAMED = 3
INSTEAD: dict[type, str] = {ast.BitAnd: "and", ast.BitOr: "or", ast.Invert: "not"}


def where(core: CollectionCore, condition: str) -> list[str]:
    """See `Collection.where`."""
    quoted: dict[str, str] = {}

    def name_of(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group(0)
        label = f"quoted_{len(quoted)}_"
        quoted[label] = match.group(1)
        return label

    try:
        tree = ast.parse(QUOTED.sub(name_of, condition).strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = getattr(error, "msg", None) or str(error) or type(error).__name__
        hint = "; equality is written ==" if re.search(r"[^=<>!]=[^=]", condition) else ""
        raise InvalidArgumentError(f"where: {condition!r} is no condition: {reason}{hint}") from None
    names = core.names()
    holds = _Conditions(core, names, quoted, condition).truth(tree.body)
    return [name for name, one in zip(names, holds, strict=True) if one]


class _Conditions:
    """The columns of the parts of one condition."""

    def __init__(self, core: CollectionCore, names: list[str], quoted: dict[str, str], text: str) -> None:
        self._core, self._names, self._quoted, self._text = core, names, quoted, text
        self._places = {name: place for place, name in enumerate(names)}
        self._variables = dict(core.variables())
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
            return [one is not None and bool(plain(one)) for one in self.column(node)]
        self._refuse_signs(node)
        raise self._refused(node, "expected a comparison, and, or, not")

    def _refuse_signs(self, node: ast.expr) -> None:
        """Say what to write for the signs that stand for `and`, `or` and `not` elsewhere."""
        word = INSTEAD.get(type(getattr(node, "op", None)))
        if word is not None:
            sign = {"and": "&", "or": "|", "not": "~"}[word]
            raise self._refused(node, f"write `{word}` for `{sign}`")

    def _compare(self, node: ast.Compare) -> list[bool]:
        holds = [True] * len(self._names)
        left_node = node.left
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.Is | ast.IsNot):
                if not isinstance(right_node, ast.Constant) or right_node.value is not None:
                    raise self._refused(node, "`is` only goes with None")
                wanted = isinstance(op, ast.Is)
                found = [absent == wanted for absent in self._absent(left_node)]
            else:
                for side in (left_node, right_node):
                    if isinstance(side, ast.Constant) and side.value is None:
                        raise self._refused(node, "None goes with `is` and `is not`")
                left, right = self.column(left_node), self.column(right_node)
                try:
                    found = compare(op, left, right)
                except IncomparableError as error:
                    raise self._refused(node, str(error), error.place) from None
            holds = [one and now for one, now in zip(holds, found, strict=True)]
            left_node = right_node
        return holds

    def _absent(self, node: ast.expr) -> list[bool]:
        """Where there is nothing: no such attribute, and no variable with values."""
        if not isinstance(node, ast.Name):
            return [one is None for one in self.column(node)]
        name = self._name(node)
        column = self._attribute(name)
        if name not in self._variables:
            return [one is None for one in column]
        facts = self._of(name)
        empty = [
            size is None or count == 0 for size, count in zip(facts["size"], facts["count"], strict=True)
        ]
        return [one is None and none for one, none in zip(column, empty, strict=True)]

    def column(self, node: ast.expr) -> Column:
        """The values of a part, one a dataset; `None` where there is none."""
        if isinstance(node, ast.Constant):
            return [node.value] * len(self._names)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [list(row) for row in zip(*(self.column(part) for part in node.elts), strict=True)]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self.column(node.operand)
            return self._computed(node, lambda _, one: -one, [0] * len(operand), operand)
        if isinstance(node, ast.BinOp) and type(node.op) in COMPUTE:
            compute = COMPUTE[type(node.op)]
            return self._computed(node, compute, self.column(node.left), self.column(node.right))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self._fact(self._name(node.value), node.attr)
        if isinstance(node, ast.Name):
            return self._value(self._name(node))
        self._refuse_signs(node)
        if isinstance(node, ast.Compare | ast.BoolOp):
            raise self._refused(node, "a condition is no value: join conditions with `and`, `or`, `not`")
        raise self._refused(node, "expected a name, a number, a text, or arithmetic on these")

    def _computed(
        self, node: ast.expr, compute: Callable[[Any, Any], Any], left: Column, right: Column
    ) -> Column:
        """Arithmetic, row by row; what is divided by zero is nothing."""
        found: Column = []
        for place, (a, b) in enumerate(zip(left, right, strict=True)):
            if a is None or b is None:
                found.append(None)
                continue
            try:
                found.append(compute(plain(a), plain(b)))
            except (ZeroDivisionError, OverflowError):
                found.append(None)
            except IncomparableError as error:
                raise self._refused(node, str(error), place) from None
            except TypeError:
                raise self._refused(node, f"no arithmetic with {a_(a)} and {a_(b)}", place) from None
        return found

    def _name(self, node: ast.Name) -> str:
        return self._quoted.get(node.id, node.id)

    def _fact(self, variable: str, fact: str) -> Column:
        if fact not in FACTS:
            raise InvalidArgumentError(
                f"where: {variable}.{fact}: expected one of {', '.join(FACTS)} in {self._text!r}"
            )
        facts = self._of(variable)
        if fact == "size":
            return facts[fact]
        self._require_known(variable, facts)
        if fact in ORDERED:
            self._require_order(variable, fact, facts)
        return facts[fact]

    def _of(self, variable: str) -> dict[str, Column]:
        """What is known of a variable, a column for each fact; `None` where a dataset has it not."""
        if variable not in self._facts:
            found = self._core.find(variable)
            if not len(found):
                raise unknown("variable", variable, self._variables, "the collection")
            facts = Facts(self._core, found)
            places = [self._places[name] for name in found.names]
            scales = _scales(facts)
            columns: dict[str, Column] = {
                name: getattr(facts, name) for name in ("sum", "count", "nulls", "size")
            }
            columns |= {"texts": facts.texts, "kind": facts.kinds, "dtype": facts.dtype}
            means = [
                total / count if total is not None and count else None
                for total, count in zip(facts.sum, facts.count, strict=True)
            ]
            for name, values in (
                ("min", [low for low, _ in facts.exact]), ("max", [high for _, high in facts.exact]), ("mean", means),
            ):  # fmt: skip
                columns[name] = [
                    value if value is None or scale is None else Time(value, scale)
                    for value, scale in zip(values, scales, strict=True)
                ]
            self._facts[variable] = {name: self._spread(places, column) for name, column in columns.items()}
        return self._facts[variable]

    def _spread(self, places: list[int], values: Column) -> Column:
        column: Column = [None] * len(self._names)
        for place, value in zip(places, values, strict=True):
            column[place] = value
        return column

    def _attribute(self, name: str) -> Column:
        """An attribute of datasets; raises where neither an attribute nor a variable has this name."""
        if self._attributes is None:
            self._attributes = dataset_attributes(self._core)
        column = [one.get(name) for one in self._attributes]
        if name not in self._variables and not any(name in one for one in self._attributes):
            known = [key for one in self._attributes[:1000] for key in one]
            raise unknown(
                "attribute or variable", name, dict.fromkeys([*known, *self._variables]), "the collection"
            )
        return column

    def _value(self, name: str) -> Column:
        """An attribute, or a variable that has one value."""
        column = self._attribute(name)
        if name not in self._variables or all(one is not None for one in column):
            return column
        facts = self._of(name)
        asked = [own is None for own in column]
        self._require_known(name, facts, asked)
        single: Column = []
        several = []
        for place, wanted in enumerate(asked):
            value = None
            if wanted and facts["count"][place]:
                texts, low, high = (facts[key][place] for key in ("texts", "min", "max"))
                value = low if texts is None else texts[0]
                if (texts is not None and len(texts) > 1) or (texts is None and low != high):
                    several.append(place)
            single.append(value)
        if several:
            raise InvalidArgumentError(self._several(name, several, facts))
        return [one if own is None else own for own, one in zip(column, single, strict=True)]

    def _several(self, name: str, places: list[int], facts: dict[str, Column]) -> str:
        place = places[0]
        among = f"in {len(places)} of {len(self._names)} datasets ({facts['size'][place]} in {self._names[place]!r})"
        if facts["texts"][place] is not None:
            return f"where: {name} has several texts {among}: {', '.join(map(repr, facts['texts'][place]))}"
        shown = f"`{name}`" if not name.isidentifier() else name
        ways = ", ".join(f"{shown}.{fact}" for fact in ("min", "max", "mean"))
        return f"where: {name} has several values {among}: write {ways}, ... in {self._text!r}"

    def _require_known(
        self, variable: str, facts: dict[str, Column], asked: list[bool] | None = None
    ) -> None:
        """Raise where nothing is known of the values of a dataset that has them."""
        without = [
            place
            for place, (size, count) in enumerate(zip(facts["size"], facts["count"], strict=True))
            if size is not None and count is None and (asked is None or asked[place])
        ]
        if not without:
            return
        kind, dtype = facts["kind"][without[0]], facts["dtype"][without[0]]
        if kind in "SUTO":
            why = "only few and short texts are kept for conditions: read it"
        elif kind in "cV":
            why = f"{dtype} has no order: read it"
        else:
            why = "it was written by other means: refresh_statistics() reads it"
        listed = ", ".join(repr(self._names[place]) for place in without[:NAMED])
        raise InvalidArgumentError(
            f"where: nothing is known of the values of {variable} in {len(without)} datasets ({listed}): {why}"
        )

    def _require_order(self, variable: str, fact: str, facts: dict[str, Column]) -> None:
        for place, texts in enumerate(facts["texts"]):
            if texts is not None:
                raise InvalidArgumentError(
                    f"where: {variable} holds texts in {self._names[place]!r}, which have no {fact}: compare "
                    f"{variable} itself, or its .count and .size"
                )
            if fact == "sum" and (facts["kind"][place] or "") in "mM" and facts["count"][place] is not None:
                raise InvalidArgumentError(
                    f"where: {variable} holds times in {self._names[place]!r}, which have no sum"
                )

    def _refused(self, node: ast.expr, reason: str, place: int | None = None) -> InvalidArgumentError:
        part = LABEL.sub(lambda match: f"`{self._quoted[match.group(0)]}`", ast.unparse(node))
        where = "" if place is None else f" (dataset {self._names[place]!r})"
        return InvalidArgumentError(f"where: {part!r} in {self._text!r}: {reason}{where}")


def _scales(facts: Facts) -> list[Scale | None]:
    """What the numbers of each dataset mean as times, by its units and dtype."""
    known: dict[tuple[str, str], Scale | None] = {}
    found = []
    for attributes, dtype in zip(facts.attributes, facts.dtype, strict=True):
        key = attributes, dtype
        if key not in known:
            known[key] = of_dtype(dtype) or _by_units(attributes)
        found.append(known[key])
    return found


def _by_units(attributes: str) -> Scale | None:
    if " since " not in attributes:
        return None
    found = json.loads(attributes)
    units, calendar = found.get("units"), found.get("calendar", "standard")
    if not isinstance(units, str) or not isinstance(calendar, str):
        return None
    return of_units(units, calendar.lower())
