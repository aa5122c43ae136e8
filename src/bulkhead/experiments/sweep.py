# SPDX-License-Identifier: Apache-2.0
"""Values of swept keys (lists, single values, ranges), and words for file names."""

from __future__ import annotations

import hashlib
import math
import re
from decimal import Decimal
from typing import Any

from bulkhead.config.quantity import Empty
from bulkhead.errors import InvalidInput

MAX_POINTS = 100_000
_RANGE = re.compile(r"(\d{1,18})\.\.(\d{1,18})(?:\.\.(\d{1,18}))?", re.ASCII)
_LIKE_A_RANGE = re.compile(r"\s*-?\d+\s*\.\..*", re.DOTALL)
_LONGEST_KEY = 100


class BadRange(InvalidInput):
    """The value is not a range low..high..step."""


def values_of(key: str, given: Any) -> list[Any]:
    """The values of a list, a single value, or a range `low..high..step` including its ends. Raises
    BadRange."""
    if isinstance(given, (list, tuple)):
        return list(given)
    match = _RANGE.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        if isinstance(given, str) and _LIKE_A_RANGE.fullmatch(given):
            raise BadRange(f"{key}: '{given[:60]}' is not a range low..high..step")
        return [given]
    low, high, step = int(match[1]), int(match[2]), int(match[3] or 1)
    if step == 0 or high < low or (high - low) // step >= MAX_POINTS:
        raise BadRange(f"{key}: '{given}' is not a range low..high..step")
    return list(range(low, high + 1, step))


def is_value(value: Any) -> bool:
    """Whether it is a word, a number, true, false, or no value (null in results)."""
    if isinstance(value, Decimal):
        return math.isfinite(float(value))
    return isinstance(value, (str, int, bool, Empty)) or value is None


def plain(value: Any) -> Any:
    """The value as results have it: floats for decimals, None for a key without a value."""
    return None if isinstance(value, Empty) else float(value) if isinstance(value, Decimal) else value


def word(value: Any) -> str:
    """The value as a word for keys and file names."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return re.sub(r"[^A-Za-z0-9_.]+", "_", str(plain(value)))


def key_of(values: list[Any]) -> str:
    """Name of the file that keeps a point's result; a long name ends with a hash."""
    key = "-".join(word(value) for value in values)
    if len(key) <= _LONGEST_KEY:
        return key
    return f"{key[:_LONGEST_KEY]}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
