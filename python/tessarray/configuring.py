"""How a handle reads and writes, whatever the metadata say: `verify=`, `config=`, `write_empty_chunks=`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from tessarray._native import Node
from tessarray.errors import InvalidArgumentError, InvalidTypeError

__all__ = ["Verify", "configure"]

Verify = Literal["first", "always"]

_SWITCHES = ("write_empty_chunks", "read_missing_chunks")


def configure(
    node: Node,
    verify: Verify | None = None,
    config: Any = None,
    write_empty_chunks: bool | None = None,
) -> Node:
    """The same array or group with what was given; as it is where nothing was.

    config: a mapping, or zarr-python's `ArrayConfig`.
    """
    if verify is None and config is None and write_empty_chunks is None:
        return node
    if verify not in (None, "first", "always"):
        raise InvalidArgumentError(f"verify: expected 'first' or 'always', found {verify!r}")
    given = _switches(config)
    if write_empty_chunks is not None:
        given["write_empty_chunks"] = _switch("write_empty_chunks", write_empty_chunks)
    always, empty, missing = node.options
    return node.configured(
        (
            always if verify is None else verify == "always",
            given.get("write_empty_chunks", empty),
            given.get("read_missing_chunks", missing),
        )
    )


def _switches(config: Any) -> dict[str, bool]:
    if config is None:
        return {}
    if type(config).__name__ == "ArrayConfig" and type(config).__module__.partition(".")[0] == "zarr":
        # It has a value for every switch; how reads of shards are gathered is the engine's own business.
        config = {name: getattr(config, name) for name in (*_SWITCHES, "order") if hasattr(config, name)}
    if not isinstance(config, Mapping):
        raise InvalidTypeError(f"config: expected a mapping, found {type(config).__name__}")
    unknown = sorted(set(config) - {*_SWITCHES, "order"})
    if unknown:
        known = ", ".join((*_SWITCHES, "order"))
        raise InvalidArgumentError(f"config: expected some of {known}, found {unknown[0]!r}")
    if config.get("order", "C") != "C":
        raise InvalidArgumentError(
            f"config: order: expected 'C', found {config['order']!r}: results are in C order; for another pass "
            "`out` to `read`, and for chunks in Fortran order `order='F'` to `create_array`"
        )
    return {name: _switch(name, config[name]) for name in _SWITCHES if name in config}


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgumentError(f"{name}: expected True or False, found {value!r}")
    return value
