"""Arrow tables of datasets and of statistics."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tessarray._native import CollectionCore
from tessarray.collection.decoding import Packing, packings
from tessarray.collection.transaction import describe
from tessarray.errors import MissingPackageError

if TYPE_CHECKING:
    from tessarray.collection.collection import Collection

# What a table says of each array.
FACTS = ("dtype", "shape", "dims", "size", "min", "max", "sum", "count", "nulls", "texts", "attributes")


def arrow_package() -> Any:
    """pyarrow, or an error that says how to install it."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingPackageError("tables need pyarrow: pip install pyarrow") from error
    return pyarrow


def dataset_attributes(core: CollectionCore) -> list[dict[str, Any]]:
    """The attributes of every dataset, in the order of the names."""
    known: dict[str, dict[str, Any]] = {}
    return [
        known.get(text) or known.setdefault(text, json.loads(text or "{}"))
        for text in core.dataset_attributes()
    ]


def statistics(core: CollectionCore, variables: Sequence[str] | None = None) -> Any:
    """See `Collection.statistics`."""
    arrow = arrow_package()
    fields: dict[str, list[Any]] = {name: [] for name in ("dataset", "variable", *FACTS)}
    for variable, _ in core.variables():
        if variables is not None and variable not in variables:
            continue
        found = core.find(variable)
        facts = Facts(core, found)
        fields["dataset"] += found.names
        fields["variable"] += [variable] * len(found)
        for name in FACTS:
            fields[name] += getattr(facts, name)
    types = {
        "shape": arrow.list_(arrow.int64()),
        "dims": arrow.list_(arrow.string()),
        "texts": arrow.list_(arrow.string()),
    }
    types |= {name: arrow.int64() for name in ("size", "count", "nulls")}
    types |= {name: arrow.float64() for name in ("min", "max", "sum")}
    return arrow.table(
        {name: arrow.array(values, types.get(name, arrow.string())) for name, values in fields.items()}
    )


class Facts:
    """What is known of the arrays of one variable, in columns: decoded numbers, `None` where nothing is known."""

    def __init__(self, core: CollectionCore, found: Any) -> None:
        kinds, shapes, texts = found.kinds, found.shapes, found.attributes
        kind, shape, attributes, _ = (column.tolist() for column in found.columns())
        known = core.statistics(found)
        packing = packings(found)
        self.dtype = [str(kinds[number][0]) for number in kind]
        self.shape = [list(shapes[number]) for number in shape]
        self.dims = [
            None if kinds[number][1] is None else [name or "" for name in kinds[number][1]] for number in kind
        ]
        self.size = [int(np.prod(one, dtype=np.int64)) for one in self.shape]
        self.attributes = [texts[number] for number in attributes]
        self.count = [None if one is None else one[0] for one in known]
        self.nulls = [None if one is None else one[1] for one in known]
        self.texts = [None if one is None else one[5] for one in known]
        ends = [_ends(one, packing[number]) for one, number in zip(known, attributes, strict=True)]
        self.min = [one[0] for one in ends]
        self.max = [one[1] for one in ends]
        self.sum = [one[2] for one in ends]
        # Numbers of integers and times that no double holds, where nothing is packed.
        self.exact = [
            (one[2], one[3]) if one is not None and packing[number] is None else end[:2]
            for one, number, end in zip(known, attributes, ends, strict=True)
        ]
        self.kinds = [kinds[number][0].kind for number in kind]


def _ends(known: Any, packing: Packing | None) -> tuple[float | None, float | None, float | None]:
    """Minimum, maximum and sum as doubles, unpacked."""
    if known is None:
        return None, None, None
    count, _, low, high, total, _ = known
    low, high = (None if one is None else float(one) for one in (low, high))
    if packing is None:
        return low, high, total
    first, last = packing.number(low), packing.number(high)
    if first is not None and last is not None and first > last:
        first, last = last, first
    return first, last, None if total is None else total * packing.scale + count * packing.offset


def refresh(collection: Collection, message: str) -> int:
    """See `Collection.refresh_statistics`."""
    core = collection._core()
    done = 0
    with collection.transaction(message) as tx:
        for variable, _ in core.variables():
            found = core.find(variable)
            for name, known in zip(found.names, core.statistics(found), strict=True):
                if known is None:
                    done += describe(tx.pack, tx.pack[f"{name}/{variable}"], collection._session)
    return done
