"""What the datasets of a collection have in common, and where they differ."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

import numpy as np

from tessarray._native import CollectionCore

__all__ = ["Schema", "VariableSchema"]


@dataclass(frozen=True)
class VariableSchema:
    """One variable: in how many datasets, with which dtypes and dimensions, from which shape to which.

    attributes: those that all datasets share; differing: names of those that some have, or have otherwise.
    """

    name: str
    count: int
    dtypes: dict[str, int]
    dims: dict[tuple[str | None, ...] | None, int]
    smallest: tuple[int, ...]
    largest: tuple[int, ...]
    ranks: dict[int, int]
    attributes: dict[str, object]
    differing: tuple[str, ...]


@dataclass(frozen=True)
class Schema:
    """All variables, in how many datasets each attribute is, and a sentence for each difference."""

    datasets: int
    variables: dict[str, VariableSchema]
    differences: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.datasets} datasets"]
        for one in self.variables.values():
            shape = str(one.smallest) if one.smallest == one.largest else f"{one.smallest} to {one.largest}"
            dims = next(iter(one.dims))
            named = f" {tuple(dims)}" if dims else ""
            lines.append(f"  {one.name}: {' or '.join(one.dtypes)} {shape}{named}, in {one.count}")
        return "\n".join([*lines, *(f"  ! {text}" for text in self.differences)])


def merged_schema(core: CollectionCore) -> Schema:
    """See `Collection.merged_schema`."""
    count = len(core)
    variables = {name: _variable(core, name) for name, _ in core.variables()}
    differences = [text for one in variables.values() for text in _differences(one, count)]
    return Schema(count, variables, tuple(differences))


def _variable(core: CollectionCore, name: str) -> VariableSchema:
    found = core.find(name)
    kind, shape, attributes, _ = found.columns()
    kinds, shapes = found.kinds, found.shapes
    dtypes: Counter[str] = Counter()
    dims: Counter[tuple[str | None, ...] | None] = Counter()
    for number, times in zip(*np.unique(kind, return_counts=True), strict=True):
        dtypes[str(kinds[number][0])] += int(times)
        named = kinds[number][1]
        dims[None if named is None else tuple(named)] += int(times)
    ranks: Counter[int] = Counter()
    for number, times in zip(*np.unique(shape, return_counts=True), strict=True):
        ranks[len(shapes[number])] += int(times)
    common = max(ranks, key=lambda rank: ranks[rank])
    table = np.array([one for one in shapes if len(one) == common], np.int64).reshape(-1, common)
    used = [json.loads(found.attributes[number] or "{}") for number in np.unique(attributes).tolist()]
    names = dict.fromkeys(key for one in used for key in one)
    shared = {
        key: used[0][key]
        for key in names
        if all(key in one and json.dumps(one[key]) == json.dumps(used[0].get(key)) for one in used)
    }
    return VariableSchema(
        name,
        len(found),
        dict(dtypes.most_common()),
        dict(dims.most_common()),
        tuple(int(n) for n in table.min(axis=0)),
        tuple(int(n) for n in table.max(axis=0)),
        dict(ranks),
        shared,
        tuple(key for key in names if key not in shared),
    )


def _differences(one: VariableSchema, count: int) -> list[str]:
    found = []
    if one.count < count:
        found.append(f"{one.name}: {count - one.count} of {count} datasets have none")
    if len(one.dtypes) > 1:
        kinds = ", ".join(f"{kind} in {times}" for kind, times in one.dtypes.items())
        found.append(f"{one.name}: different dtypes: {kinds}")
    if len(one.dims) > 1:
        named = ", ".join(f"{names} in {times}" for names, times in one.dims.items())
        found.append(f"{one.name}: different dimensions: {named}")
    if len(one.ranks) > 1:
        ranks = ", ".join(f"{rank} in {times}" for rank, times in one.ranks.items())
        found.append(f"{one.name}: different ranks: {ranks}")
    if one.differing:
        found.append(f"{one.name}: attributes that differ: {', '.join(one.differing)}")
    return found
