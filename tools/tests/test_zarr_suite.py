"""The comparison with the list of what does not apply sees every difference."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import zarr_suite

A, B = "tests/test_api.py::test_a", "tests/test_group.py::test_b"
FAILED = {A: {f"{A}[1]", f"{A}[2]"}, B: {B}}


def listed(failed: zarr_suite.Failures, release: str = "9.9") -> zarr_suite.Expected:
    empty = zarr_suite.Expected("")
    text = empty.write(failed, zarr_suite.FILES, release).replace("[unsorted]", "[design] On purpose.")
    return zarr_suite.Expected(text)


def test_a_list_that_fits_has_no_differences_and_is_written_as_it_is() -> None:
    expected = listed(FAILED)
    assert expected.release == "9.9"
    assert expected.problems(FAILED, zarr_suite.FILES) == []
    again = zarr_suite.Expected(expected.write(FAILED, zarr_suite.FILES, "9.9"))
    assert (again.cases, again.reasons) == (expected.cases, {"design": "On purpose."})


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({A: FAILED[A]}, "test_b: listed under .design., and passes now"),
        ({A: {f"{A}[1]"}, B: {B}}, "test_a: 1 cases fail, and 2 or others"),
        ({A: {f"{A}[1]", f"{A}[3]"}, B: {B}}, "test_a: 2 cases fail, and 2 or others"),
        (FAILED | {f"{A}a": {f"{A}a"}}, "test_aa: 1 cases fail, and none is listed"),
    ],
)
def test_every_difference_is_said(now: zarr_suite.Failures, words: str) -> None:
    (problem,) = listed(FAILED).problems(now, zarr_suite.FILES)
    assert re.search(words, problem)


def test_files_that_did_not_run_are_left_out_of_the_comparison_and_kept_in_the_list() -> None:
    assert listed(FAILED).problems({A: FAILED[A]}, ["api"]) == []
    written = zarr_suite.Expected(listed(FAILED).write({}, ["api"], "9.9"))
    assert set(written.cases) == {B}


def test_what_is_not_sorted_is_a_difference() -> None:
    text = zarr_suite.Expected("").write(FAILED, zarr_suite.FILES, "9.9")
    assert len(zarr_suite.Expected(text).problems(FAILED, zarr_suite.FILES)) == 2


def test_the_committed_list_gives_each_case_a_reason() -> None:
    expected = zarr_suite.Expected(zarr_suite.EXPECTED.read_text())
    assert expected.cases
    assert all(expected.reasons.get(reason) for reason, _, _ in expected.cases.values())
