# SPDX-License-Identifier: Apache-2.0
"""Quantities with units, as exact integers or fractions: `64 MiB`, `200 MB/s`, `30 us`, `80 %`, `1.2 GHz`.

The models in system.py and platform.py use the annotated types below. No float is used: a size that is not a
whole number of bytes is an error and is not rounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError
from ruamel.yaml.scalarint import HexCapsInt

from bulkhead.config.file_form import exact_decimal, in_files
from bulkhead.config.problem import nearest_of, quoted

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
U64_MAX = (1 << 64) - 1

BYTE_UNITS = {"B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB, "kB": 10**3, "MB": 10**6, "GB": 10**9}
RATE_UNITS = {f"{unit}/s": factor for unit, factor in BYTE_UNITS.items()}
TIME_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
FREQUENCY_UNITS = {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9}
UNITS_KEY = "units"  # of a quantity's JSON Schema, before schema.py has tidied it
SHARE_UNITS = {"%": Fraction(1, 100)}
_SHARE_PARTS = 10**8  # core/ takes a share as two 32-bit numbers and divides it among at most 32

_NUMBER = re.compile(r"(?P<sign>[-+]?)(?P<amount>\d+(?:\.\d+)?)\s*(?P<unit>\S*)", re.ASCII)


def problem(
    code: str, cause: str, allowed: str | None = None, nearest: str | None = None
) -> PydanticCustomError:
    """A validation error; cause, allowed values and nearest name are in its context for the report."""
    return PydanticCustomError(code, "{cause}", {"cause": cause, "allowed": allowed, "nearest": nearest})


def parse(value: object, units: Mapping[str, int | Fraction], example: str, *, bare: bool) -> Fraction:
    """The amount in base units. `bare`: a number without a unit is accepted, in base units."""
    allowed = f"a number and a unit ({', '.join(units)}), as `{example}`"
    if isinstance(value, bool) or not isinstance(value, (int, str, Decimal)):
        raise problem("wrong-type", f"is {described(value)}, not a quantity", allowed)
    if not isinstance(value, str):
        if not bare:
            raise problem("bad-unit", f"{quoted(str(value))} has no unit", allowed)
        return Fraction(value)
    match = _NUMBER.fullmatch(value.strip()) if len(value) <= 60 else None
    if match is None:
        raise problem("bad-quantity", f"{quoted(value)} is not a quantity", allowed)
    if match["sign"] == "-":
        raise problem("out-of-range", f"{quoted(value)} is negative", allowed)
    unit = match["unit"].replace("\u00b5", "u").replace("\u03bc", "u")
    if unit not in units:
        cause = f"{quoted(value)} has no unit" if not unit else f"unknown unit {quoted(unit)}"
        raise problem("bad-unit", cause, allowed, nearest_of(unit, units) if unit else None)
    return Fraction(match["amount"]) * units[unit]


def whole(
    units: Mapping[str, int | Fraction], example: str, base: str, low: int, high: int, *, bare: bool = False
) -> Callable[[object], int]:
    """A validator for a whole number of base units in low..high."""

    def validate(value: object) -> int:
        amount = parse(value, units, example, bare=bare)
        if amount.denominator != 1:
            raise problem("not-whole", f"{quoted(str(value))} is not a whole number of {base}")
        if not low <= amount <= high:
            raise problem("out-of-range", f"{quoted(str(value))} is out of range", f"{low} to {high} {base}")
        return int(amount)

    return validate


def amount_text(amount: int | Fraction, units: Mapping[str, int | Fraction]) -> str:
    """The inverse of `parse`, exact: in the unit that makes the shortest text, or the largest of several."""
    texts = []
    for unit, factor in sorted(units.items(), key=lambda unit: unit[1], reverse=True):
        with suppress(ValueError):
            texts.append(f"{exact_decimal(Fraction(amount) / factor):f} {unit}")
    return min(texts, key=len)


def with_unit(units: Mapping[str, int | Fraction]) -> PlainSerializer:
    """The serializer of a quantity with one of these units."""
    return in_files(lambda amount: amount_text(amount, units))


def _share(value: object) -> Fraction:
    if isinstance(value, str):
        amount = parse(value, SHARE_UNITS, "80 %", bare=False)
    elif isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        raise problem("bad-unit", f"{quoted(str(value))} has no unit", "a percentage, as `80 %`")
    else:
        raise problem("wrong-type", f"is {described(value)}, not a share", "a percentage, as `80 %`")
    if not 0 < amount <= 1:
        raise problem("out-of-range", f"{quoted(value)} is out of range", "more than 0 % up to 100 %")
    if amount.denominator > _SHARE_PARTS:
        raise problem("out-of-range", f"{quoted(value)} has more than six decimals", "at most six decimals")
    return amount


def _address(value: object) -> int:
    allowed = "an address, as 0x40000000"
    if isinstance(value, bool) or not isinstance(value, int):
        raise problem("wrong-type", f"is {described(value)}, not an address", allowed)
    if not 0 <= value < 1 << 48:
        raise problem("out-of-range", f"{quoted(hex(value))} is out of range", "0 to 0xFFFFFFFFFFFF")
    return value


def described(value: object) -> str:
    """Describes a file's value for an error message."""
    if value is None or isinstance(value, Empty):
        return "empty"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    if isinstance(value, (int, Decimal)):
        return f"the number {quoted(str(value))[1:-1]}"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, Mapping):
        return "a mapping"
    return "a list" if isinstance(value, (list, tuple)) else "something else"


class Empty:
    """A key without a value. It differs from None so that it is not treated as 'left out'."""


def quantity_schema(
    example: str, units: Mapping[str, int | Fraction], *, bare: bool = False
) -> WithJsonSchema:
    """The JSON Schema of a quantity. `UNITS_KEY` is for the texts of defaults; schema.py removes it."""
    types: Any = ["string", "integer"] if bare else "string"
    pattern = r"^\+?[0-9]+(\.[0-9]+)?\s*\S*$"
    return WithJsonSchema({"type": types, "examples": [example], "pattern": pattern, UNITS_KEY: units})


Bytes = Annotated[
    int,
    BeforeValidator(whole(BYTE_UNITS, "64 MiB", "bytes", 1, 1 << 48, bare=True)),
    quantity_schema("64 MiB", BYTE_UNITS, bare=True),
    with_unit(BYTE_UNITS),
]
BytesPerS = Annotated[
    int,
    BeforeValidator(whole(RATE_UNITS, "200 MB/s", "bytes per s", 1, 10**13)),
    quantity_schema("200 MB/s", RATE_UNITS),
    with_unit(RATE_UNITS),
]
Nanoseconds = Annotated[
    int,
    BeforeValidator(whole(TIME_UNITS, "30 us", "ns", 1, 3600 * 10**9)),
    quantity_schema("1 ms", TIME_UNITS),
    with_unit(TIME_UNITS),
]
Hertz = Annotated[
    int,
    BeforeValidator(whole(FREQUENCY_UNITS, "1.2 GHz", "Hz", 1, 10**11)),
    quantity_schema("1.2 GHz", FREQUENCY_UNITS),
    with_unit(FREQUENCY_UNITS),
]
Share = Annotated[
    Fraction, BeforeValidator(_share), quantity_schema("80 %", SHARE_UNITS), with_unit(SHARE_UNITS)
]
HEXADECIMAL = in_files(HexCapsInt)
Address = Annotated[
    int,
    BeforeValidator(_address),
    WithJsonSchema({"type": "integer", "minimum": 0, "format": "address"}),
    HEXADECIMAL,
]
