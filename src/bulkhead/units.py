# SPDX-License-Identifier: Apache-2.0
"""Formats numbers for users, in the units of configuration files. For messages and tables only."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

_SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def size_text(nbytes: int) -> str:
    """`67108864` as `64 MiB`: exact if possible, else with two decimals."""
    for factor, unit in _SIZES:
        if nbytes >= factor:
            if nbytes % factor == 0:
                return f"{nbytes // factor} {unit}"
            if nbytes % (factor >> 10) == 0 and nbytes // (factor >> 10) < 4096:
                continue
            return f"{nbytes / factor:.2f} {unit}"
    return f"{nbytes} B"


def ranges_text(numbers: Iterable[int]) -> str:
    """`{0, 1, 2, 5}` as `0-2, 5`."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(f"{low}" if low == high else f"{low}-{high}" for low, high in found)


def colors_text(colors: frozenset[int] | None) -> str:
    """As `ranges_text`; None: `not colored`."""
    return "not colored" if colors is None else ranges_text(colors)


def percent_text(share: Fraction) -> str:
    """`3/8` as `37.5 %`; up to six digits."""
    return f"{float(share * 100):.6g} %"


def mask_text(bitmap: int) -> str:
    """`61680` as `0xF0F0`."""
    return f"0x{bitmap:X}"


def percent_down(share: Fraction) -> str:
    """The largest percentage that a file can express and that is not larger: files have six decimals."""
    return _percent(math.floor(share * 10**8))


def percent_up(share: Fraction) -> str:
    """The smallest percentage that a file can express and that is not smaller."""
    return _percent(math.ceil(share * 10**8))


def _percent(millionths: int) -> str:
    """Of a percent."""
    whole, rest = divmod(millionths, 10**6)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".") + " %"


def time_text(ns: float) -> str:
    """`1500` as `1.5 us`."""
    return f"{ns / 1000:,.1f} us" if ns < 10**6 else f"{ns / 10**6:,.4g} ms"


def duration(ns: Any) -> str:
    """A time in ns with three digits and a suitable unit."""
    if not isinstance(ns, int | float):
        return "–"
    for scale, unit in _TIMES:
        if abs(ns) >= scale:
            return f"{ns / scale:.3g} {unit}" if abs(ns) < 100 * scale else f"{ns / scale:.0f} {unit}"
    return "0 s" if ns == 0 else f"{ns:.3g} ns"
