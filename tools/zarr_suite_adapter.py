"""Puts Tessarray's classes and functions where zarr-python's tests look for its own; see `tools/zarr_suite.py`.

A pytest plugin, loaded before the tests are imported. What zarr-python does inside (its asynchronous classes, metadata
and codecs) stays its own: a test of that tests zarr-python, or fails because our arrays have no such insides.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import zarr
import zarr.api.synchronous
import zarr.errors

import tessarray
from tessarray import errors

FUNCTIONS = (
    "array consolidate_metadata create create_array create_group create_hierarchy empty empty_like from_array full"
    " full_like load ones ones_like open open_array open_consolidated open_group save save_array save_group zeros"
    " zeros_like"
).split()

# The kinds of errors that the tests expect, as ours are called.
ERRORS = {
    "ArrayIndexError": errors.SelectionError,
    "ArrayNotFoundError": errors.NotFoundError,
    "BoundsCheckError": errors.SelectionError,
    "ContainsArrayAndGroupError": errors.ExistsError,
    "ContainsArrayError": errors.ExistsError,
    "ContainsGroupError": errors.ExistsError,
    "GroupNotFoundError": errors.NotFoundError,
    "MetadataValidationError": errors.MetadataError,
    "NegativeStepError": errors.SelectionError,
    "NodeNotFoundError": errors.NotFoundError,
    "VindexInvalidSelectionError": errors.SelectionError,
}


def _into_buffers(name: str) -> None:
    """Lets a selection be read into a buffer of zarr-python, which the tests do: into the array that it holds."""
    select = getattr(tessarray.Array, name)

    def selected(self: Any, *arguments: Any, out: Any = None, **others: Any) -> Any:
        into = out.as_numpy_array() if hasattr(out, "as_numpy_array") else out
        return select(self, *arguments, out=into, **others)

    setattr(tessarray.Array, name, selected)


def _creating(opened: Callable[..., Any]) -> Callable[..., Any]:
    """Opens in zarr-python's mode where none is given: what is not there is created, unless the store is read-only."""

    @functools.wraps(opened)
    def opening(store: Any = None, **others: Any) -> Any:
        if others.get("mode") is None and not getattr(store, "read_only", False):
            others["mode"] = "a"
        return opened(store, **others)

    return opening


def _from_store(store: Any, *, attributes: Any = None, zarr_format: Any = 3, overwrite: bool = False) -> Any:
    return tessarray.create_group(store, attributes=attributes, zarr_format=zarr_format, overwrite=overwrite)


def _open(store: Any, zarr_format: Any = None) -> Any:
    return tessarray.open_group(store, mode="r+", zarr_format=zarr_format)


def install() -> None:
    for place in (zarr, zarr.api.synchronous):
        for name in (*FUNCTIONS, "Array", "Group"):
            if hasattr(place, name):
                setattr(place, name, getattr(tessarray, name))
        for name in ("open", "open_group"):
            setattr(place, name, _creating(getattr(tessarray, name)))
    for name, ours in ERRORS.items():
        setattr(zarr.errors, name, ours)
    for kind in ("basic", "orthogonal", "coordinate", "mask", "block"):
        _into_buffers(f"get_{kind}_selection")
    tessarray.Group.from_store = staticmethod(_from_store)
    tessarray.Group.open = staticmethod(_open)


install()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Iterator[None]:
    """Notes what became of each test, a line of JSON each: its id, the outcome, and what was raised."""
    report = (yield).get_result()  # type: ignore[misc]
    if report.failed or report.skipped or call.when == "call":
        raised = "" if call.excinfo is None else call.excinfo.exconly()[:400]
        with open(os.environ["ZARR_SUITE_NOTES"], "a") as notes:
            notes.write(json.dumps([item.nodeid, report.outcome, raised]) + "\n")
