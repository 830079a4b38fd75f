"""Prices of a store, and what a layout costs a month."""

from __future__ import annotations

import pytest

from tessarray.errors import TessarrayError
from tessarray.tuner.prices import PRESETS, PriceError, bill, monthly, parse_prices

GIB = 1 << 30
TEXT = "storage=0.023/GB-month,get=0.0004/1000,put=0.005/1000,egress=0.09/GB"


def test_a_text_gives_money_per_byte_and_per_request():
    found = parse_prices(TEXT)
    assert found.storage == pytest.approx(0.023e-9) and found.egress == pytest.approx(0.09e-9)
    assert (found.get, found.put) == pytest.approx((4e-7, 5e-6))
    assert found.currency == "USD" and found.as_of is None


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_carries_its_date_and_asks_to_be_overridden(name):
    found = parse_prices(name)
    assert found == PRESETS[name]
    assert found.as_of and found.as_of in found.note
    assert "list prices" in found.note and "override" in found.note


def test_a_preset_can_be_changed_in_part():
    inside = parse_prices("aws-s3, egress=0, currency=eur")
    assert (inside.egress, inside.currency) == (0, "EUR")
    assert inside.storage == PRESETS["aws-s3"].storage
    assert "egress=0" in inside.note


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("storage=23/TB-month", "storage", 23e-12),
        ("storage=0.02/GiB month", "storage", 0.02 / GIB),
        ("get=0.4/M", "get", 4e-7),
        ("get=0.36/million requests", "get", 3.6e-7),
        ("put=.005/1000 requests", "put", 5e-6),
        ("egress=8.5e-2/gb", "egress", 8.5e-11),
    ],
)
def test_units(text, field, expected):
    assert getattr(parse_prices(text), field) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "aws-s3"),
        ("azure", "found 'azure'"),
        ("storage", "found 'storage'"),
        ("aws-s3,gets=3/1000", "gets=3/1000"),
        ("storage=0.023", "0.023/GB-month"),
        ("storage=0.023/GB", "0.023/GB-month"),
        ("storage=-1/GB-month", "-1/GB-month"),
        ("get=1/0", "0.0004/1000"),
        ("get=1/GB", "0.0004/1000"),
        ("egress=cheap/GB", "cheap/GB"),
        ("egress=1/GB,egress=2/GB", "twice"),
        ("currency=dollars", "dollars"),
        ("aws-s3,gcs", "gcs"),
    ],
)
def test_other_texts_are_refused_with_what_was_expected(text, said):
    with pytest.raises(PriceError) as caught:
        parse_prices(text)
    assert said in str(caught.value)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, TessarrayError)


def test_a_month_by_hand():
    prices = parse_prices(TEXT)
    # 100 GB; 10,000 accesses of 20 requests and 5 MB; 400 objects written.
    month = bill(prices, 100e9, 20, 5e6, 10_000, 400)
    assert month.storage == pytest.approx(2.3)
    assert month.reading == pytest.approx(200 * 0.0004)
    assert month.writing == pytest.approx(0.002)
    assert month.egress == pytest.approx(50 * 0.09)
    assert monthly(prices, 100e9, 20, 5e6, 10_000, 400) == pytest.approx(month.total) == pytest.approx(6.882)


def test_fewer_requests_and_less_transfer_cost_less():
    prices = parse_prices("aws-s3")
    assert monthly(prices, 1e9, 10, 1e6, 1000) < monthly(prices, 1e9, 20, 1e6, 1000)
    assert monthly(prices, 1e9, 10, 1e6, 1000) < monthly(prices, 1e9, 10, 2e6, 1000)
    assert monthly(prices, 1e9, 0, 0, 0) == pytest.approx(0.023 / GIB * 1e9)
