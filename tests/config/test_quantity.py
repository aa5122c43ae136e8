# SPDX-License-Identifier: Apache-2.0
"""Quantities are exact and have units, and errors state what is allowed."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from bulkhead.config.quantity import BYTE_UNITS, Bytes, BytesPerS, Hertz, Nanoseconds, Share
from bulkhead.units import colors_text, size_text


def read(kind: Any, value: object) -> Any:
    return TypeAdapter(kind).validate_python(value)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Bytes, "64 MiB", 64 << 20),
        (Bytes, "64MiB", 64 << 20),
        (Bytes, "1.5 KiB", 1536),
        (Bytes, 4096, 4096),
        (Bytes, "2 GB", 2 * 10**9),
        (BytesPerS, "200 MB/s", 200 * 10**6),
        (BytesPerS, "1 MiB/s", 1 << 20),
        (Nanoseconds, "30 us", 30_000),
        (Nanoseconds, "30 µs", 30_000),
        (Nanoseconds, "0.5 ms", 500_000),
        (Hertz, "1.2 GHz", 1_200_000_000),
        (Share, "37.5 %", Fraction(3, 8)),
    ],
)
def test_quantities_are_exact(kind: Any, text: object, value: object) -> None:
    assert read(kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text", "code"),
    [
        (Bytes, "64 MIB", "bad-unit"),
        (Bytes, "64 MB/s", "bad-unit"),
        (Bytes, "-1 MiB", "out-of-range"),
        (Bytes, "0.3 B", "not-whole"),
        (Bytes, "1e3 B", "bad-quantity"),
        (Bytes, "٣ MiB", "bad-quantity"),
        (Bytes, True, "wrong-type"),
        (Bytes, Decimal("0.5"), "not-whole"),
        (Nanoseconds, 5, "bad-unit"),
        (Nanoseconds, "1 h", "bad-unit"),
        (Nanoseconds, "0.1 ns", "not-whole"),
        (BytesPerS, "200 MB", "bad-unit"),
        (Share, "0 %", "out-of-range"),
        (Share, "101 %", "out-of-range"),
        (Share, Decimal("0.5"), "bad-unit"),
    ],
)
def test_what_is_not_a_quantity_says_why(kind: Any, text: object, code: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read(kind, text)
    error = caught.value.errors()[0]
    assert error["type"] == code
    assert error["ctx"]["cause"]


def test_a_wrong_unit_names_the_nearest() -> None:
    with pytest.raises(ValidationError) as caught:
        read(Bytes, "64 mib")
    assert caught.value.errors()[0]["ctx"]["nearest"] == "MiB"


@given(amount=st.integers(1, 255), unit=st.sampled_from(sorted(BYTE_UNITS)))
def test_every_whole_amount_of_every_unit_is_read(amount: int, unit: str) -> None:
    assert read(Bytes, f"{amount} {unit}") == amount * BYTE_UNITS[unit]


@given(nbytes=st.integers(1, 1 << 44))
def test_a_size_text_without_a_point_reads_back_as_itself(nbytes: int) -> None:
    text = size_text(nbytes)
    assert "." in text or read(Bytes, text) == nbytes


def test_colors_are_shown_as_runs() -> None:
    assert colors_text(frozenset({0, 1, 2, 5, 7, 8})) == "0-2, 5, 7-8"
    assert colors_text(None) == "not colored"
