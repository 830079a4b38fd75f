"""Conditions against a plain loop over the datasets: the same answer, or an error where there is none."""

from __future__ import annotations

import datetime
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import SCALE

import tessarray
from tessarray.collection.times import date_of
from tessarray.errors import InvalidArgumentError, NotFoundError

ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
EQUAL = {"==": operator.eq, "!=": operator.ne}
DAY = np.datetime64("2015-01-01", "D")
WHY = "the question has no answer"


def made(datasets: dict[str, dict[str, Any]], attrs: dict[str, dict[str, Any]] | None = None) -> Any:
    fleet = tessarray.create_collection(tessarray.MemoryStore())
    with fleet.transaction() as tx:
        for name, dataset in datasets.items():
            tx.add(name, dataset, attrs=(attrs or {}).get(name))
    return fleet


numbers = st.lists(st.integers(-2, 2), min_size=0, max_size=3)
values = st.one_of(
    st.tuples(st.just("number"), numbers),
    st.tuples(st.just("packed"), numbers),
    st.tuples(st.just("text"), st.lists(st.sampled_from(["1", "b", "2015-01-02"]), min_size=1, max_size=3)),
    st.tuples(st.just("days"), numbers),
    st.tuples(st.just("hours"), numbers),
    st.tuples(st.just("time"), numbers),
)
attributes = st.none() | st.integers(-2, 2) | st.sampled_from(["1", "b", "2015-01-02", 0.5, True])
constants = st.integers(-2, 2) | st.sampled_from([0.5, "1", "b", "2015-01-02", "2014-12-31T12:00"])


def variable(kind: str, held: list[Any]) -> Any:
    """What is stored for values of a kind; numbers of times are days from 2015-01-01."""
    if kind == "text":
        return np.array(held, "U10")
    whole = np.array(held, np.int64)
    if kind == "packed":
        return ("z", (whole * 2).astype("i2"), {"scale_factor": 0.5, "units": "m"})
    if kind == "days":
        return ("z", whole.astype("f8"), {"units": "days since 2015-01-01 00:00:00"})
    if kind == "hours":
        return ("z", whole * 24, {"units": "hours since 2015-01-01", "calendar": "standard"})
    if kind == "time":
        return ("z", (DAY + whole.astype("m8[D]")).astype("M8[s]"))
    return ("z", whole.astype("i4"), {"_FillValue": np.int32(-2)})


def meant(kind: str, held: list[Any]) -> list[Any]:
    """The values that count."""
    return [one for one in held if not (kind == "number" and one == -2)]


def paired(kind: str, value: Any, constant: Any) -> tuple[Any, Any]:
    """Both as what can be compared; ValueError where they cannot."""
    if kind in ("days", "hours", "time"):
        if isinstance(constant, str):
            try:
                moment = np.datetime64(constant, "s")
            except ValueError:
                raise ValueError(WHY) from None
            return (DAY + np.timedelta64(value, "D")).astype("M8[s]"), moment
        if kind == "time":
            raise ValueError(WHY)
        return (value * 24 if kind == "hours" else value), constant
    if isinstance(value, str) != isinstance(constant, str):
        raise ValueError(WHY)
    return value, constant


def answer(rows: list[tuple[str, Any]], sign: str, constant: Any) -> list[bool]:
    """Of one value each, or None."""
    found, alike, unlike = [], False, False
    for kind, value in rows:
        if value is None:
            found.append(False)
            continue
        try:
            a, b = paired(kind, value, constant)
        except ValueError:
            if sign in ORDER:
                raise
            unlike = True
            found.append(sign == "!=")
        else:
            alike = True
            found.append(bool((ORDER | EQUAL)[sign](a, b)))
    if unlike and not alike:
        raise ValueError(WHY)
    return found


def fact(kind: str, held: list[Any], name: str) -> tuple[str, Any]:
    one = meant(kind, held)
    if name == "value":
        if len(set(one)) > 1:
            raise ValueError(WHY)
        return kind, one[0] if one else None
    if name in ("min", "max") and kind == "text":
        raise ValueError(WHY)
    if name in ("min", "max"):
        return kind, getattr(np, name)(one).item() if one else None
    return "number", {"count": len(one), "nulls": len(held) - len(one), "size": len(held)}[name]


class TestAgainstALoop:
    @given(
        st.lists(st.none() | values, min_size=1, max_size=4),
        st.sampled_from(["value", "min", "max", "count", "nulls", "size"]),
        st.sampled_from([*ORDER, *EQUAL]),
        constants,
    )
    @settings(max_examples=round(60 * SCALE), deadline=None)
    def test_variables_of_any_types(self, made_of: list[Any], name: str, sign: str, constant: Any) -> None:
        if all(one is None for one in made_of):
            return
        datasets = {
            f"d{i}": {"other": [1]} | ({} if one is None else {"v": variable(*one)})
            for i, one in enumerate(made_of)
        }
        fleet = made(datasets)
        condition = f"{'v' if name == 'value' else f'v.{name}'} {sign} {constant!r}"
        try:
            rows = [("number", None) if one is None else fact(*one, name) for one in made_of]
            expected = answer(rows, sign, constant)
        except ValueError:
            with pytest.raises(InvalidArgumentError, match="where"):
                fleet.where(condition)
        else:
            names = [f"d{i}" for i, one in enumerate(expected) if one]
            assert fleet.where(condition) == names
            inverse = [f"d{i}" for i, one in enumerate(expected) if not one]
            assert fleet.where(f"not {condition}") == inverse

    @given(
        st.lists(attributes, min_size=1, max_size=5),
        st.sampled_from([*ORDER, *EQUAL, "in"]),
        constants,
        st.data(),
    )
    @settings(max_examples=round(60 * SCALE), deadline=None)
    def test_attributes_of_any_types(
        self, held: list[Any], sign: str, constant: Any, data: st.DataObject
    ) -> None:
        fleet = made(
            {f"d{i}": {"v": [1]} for i in range(len(held))},
            {f"d{i}": {"x": one} for i, one in enumerate(held) if one is not None},
        )
        if all(one is None for one in held):
            with pytest.raises(NotFoundError, match="no attribute or variable 'x'"):
                fleet.where("x == 1")
            return
        assert fleet.where("x is None") == [f"d{i}" for i, one in enumerate(held) if one is None]
        rows = [("plain", one) for one in held]
        try:
            if sign == "in":
                constant = [constant, *data.draw(st.lists(constants, max_size=2))]
                expected = [False] * len(held)
                alike = False
                for one in constant:
                    pairs = [isinstance(a, str) == isinstance(one, str) for a in held if a is not None]
                    alike = alike or any(pairs)
                    if any(pairs):
                        expected = [a or b for a, b in zip(expected, answer(rows, "==", one), strict=True)]
                if not alike:
                    raise ValueError(WHY)
            else:
                expected = answer(rows, sign, constant)
        except ValueError:
            with pytest.raises(InvalidArgumentError, match="where"):
                fleet.where(f"x {sign} {constant!r}")
        else:
            names = [f"d{i}" for i, one in enumerate(expected) if one]
            assert fleet.where(f"x {sign} {constant!r}") == names


class TestTimes:
    def juld(self, units: str, values: list[float], **attrs: Any) -> Any:
        return made(
            {f"d{i}": {"t": ("z", np.array([one]), {"units": units} | attrs)} for i, one in enumerate(values)}
        )

    @given(st.datetimes(datetime.datetime(1583, 1, 1), datetime.datetime(9999, 12, 31)))
    @settings(max_examples=200, deadline=None)
    def test_dates_are_those_of_the_library(self, moment: datetime.datetime) -> None:
        expected = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
        assert date_of(moment.isoformat()) == expected
        assert date_of(f"{moment.isoformat(' ')}+02:30") == expected - 9_000_000_000

    def test_old_epochs_as_cftime_has_them(self) -> None:
        cftime = pytest.importorskip("cftime")
        for units in (
            "days since 1-1-1",
            "hours since 0001-01-01 00:00:0.0",
            "days since 1582-10-04",
            "days since 1200-03-01",
        ):
            days = cftime.date2num(cftime.datetime(2015, 1, 1, calendar="standard"), units, "standard")
            fleet = self.juld(units, [days - 1, days, days + 1])
            assert fleet.where("t > '2015-01-01'") == (["d2"])
            assert fleet.where("t == '2015-01-01'") == (["d1"])

    def test_units_and_zones(self) -> None:
        fleet = self.juld("seconds since 1970-01-01T00:00:00Z", [0, 86399, 86400])
        assert fleet.where("t < '1970-01-02'") == ["d0", "d1"]
        assert fleet.where("t >= '1970-01-02T01:00+01:00'") == ["d2"]
        assert fleet.where("t.mean > 10") == ["d1", "d2"]
        assert fleet.where("'1970-01-01' < t <= '1970-01-02'") == ["d1", "d2"]
        assert fleet.where("t - 86400 == 0") == ["d2"]

    @pytest.mark.parametrize(
        ("units", "attrs", "why"),
        [
            ("months since 1970-01-01", {}, "no fixed length"),
            ("days since 1970-01-01", {"calendar": "360_day"}, "calendar 360_day"),
            ("days since yesterday", {}, "is no date"),
            ("days since 1970-01-01", {}, "'soon' is no date"),
        ],
    )
    def test_what_is_no_date(self, units: str, attrs: dict[str, Any], why: str) -> None:
        fleet = self.juld(units, [1.0], **attrs)
        with pytest.raises(InvalidArgumentError, match=why):
            fleet.where("t > 'soon'" if "soon" in why else "t > '1970-01-01'")
        assert fleet.where("t >= 1") == ["d0"]

    def test_variables_are_compared_across_units(self) -> None:
        fleet = made(
            {
                "a": {
                    "t": ("z", [1.0], {"units": "days since 2000-01-01"}),
                    "u": np.array(["2000-01-01T12"], "M8[ns]"),
                },
                "b": {
                    "t": ("z", [1.0], {"units": "hours since 2000-01-01"}),
                    "u": np.array(["2000-01-01T12"], "M8[ns]"),
                },
            }
        )
        assert fleet.where("t > u") == ["a"]


class TestRefusals:
    def test_integers_are_exact(self) -> None:
        fleet = made({"a": {"v": np.array([2**64 - 1], "u8")}, "b": {"v": np.array([2**64 - 2], "u8")}})
        assert fleet.where(f"v.max == {2**64 - 1}") == ["a"]
        assert fleet.where(f"v < {2**64 - 1}") == ["b"]

    @pytest.mark.parametrize(
        ("condition", "said"),
        [
            ("v > 1", r"v has several values in 1 of 2 datasets \(2 in 'a'\): write v.min, v.max, v.mean"),
            ("n > 'x'", r"the number 1 cannot be compared with the text 'x' \(dataset 'a'\)"),
            ("ship == 13857", "the text '13857' cannot be compared with the number 13857; write '13857'"),
            ("(n > 1) & (n < 2)", "write `and` for `&`"),
            ("(n > 1) | (n < 2)", "write `or` for `|`"),
            ("~(n > 1)", "write `not` for `~`"),
            ("n = 1", "equality is written =="),
            ("n == None", "None goes with `is`"),
            ("ship.max > 1", "no variable 'ship'"),
            ("id.max > 1", "id holds texts in 'a', which have no max"),
            ("many == 'x'", "only few and short texts"),
            ("z.max > 1", "complex128 has no order"),
            ("ship + 1 > 2", "no arithmetic with the text '13857' and the number 1"),
            ("`de/ep` > 1", "write `de/ep`.min"),
            ("n in 3", "the number 3 holds nothing"),
            ("n", "no"),
            ("(" * 300 + "n" + ")" * 300, "is no condition"),
            ("n > 1\0", "is no condition"),
        ],
    )
    def test_the_message_says_what_to_do(self, condition: str, said: str) -> None:
        dataset = {
            "v": [1, 2], "n": [1], "id": ["a"], "many": [str(i) for i in range(20)], "z": [1j], "de/ep": [1, 2],
        }  # fmt: skip
        fleet = made({"a": dataset, "b": {"n": [1]}}, {"a": {"ship": "13857"}})
        if condition == "n":
            assert fleet.where("n") == ["a", "b"]
            return
        with pytest.raises((InvalidArgumentError, NotFoundError), match=said):
            fleet.where(condition)

    def test_backquotes_in_a_text_are_part_of_it(self) -> None:
        fleet = made({"a": {"v": [1]}}, {"a": {"title": "a `b` c"}})
        assert fleet.where("title == 'a `b` c' and `v`.max == 1") == ["a"]

    def test_presence_is_of_the_variable_not_of_its_one_value(self) -> None:
        fleet = made({"a": {"v": [1, 2]}, "b": {"w": [1]}})
        assert fleet.where("v is None") == ["b"]
        assert fleet.where("v is not None") == ["a"]
