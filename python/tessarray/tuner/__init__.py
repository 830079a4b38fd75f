"""The tuner: measures an array, how it is read, and its store, and proposes a layout with the trade-offs shown.

`tune` is the main call, which is `tessarray.tune`; `prove` repeats one; `studies` are the parts of a tuning guide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tessarray.tuner.layout import Layout
    from tessarray.tuner.proving import Proof, prove
    from tessarray.tuner.queries import QueryClass
    from tessarray.tuner.result import Estimate, Row, TuneResult
    from tessarray.tuner.tuning import tune

_HOMES = {
    "Estimate": "result",
    "Layout": "layout",
    "Proof": "proving",
    "QueryClass": "queries",
    "Row": "result",
    "TuneResult": "result",
    "prove": "proving",
    "tune": "tuning",
}

__all__ = ["Estimate", "Layout", "Proof", "QueryClass", "Row", "TuneResult", "prove", "tune"]


def __getattr__(name: str) -> Any:
    # The search brings scipy with it: nothing is imported before it is asked for.
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(f"tessarray.tuner.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'tessarray.tuner' has no attribute {name!r}")
