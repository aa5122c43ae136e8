# SPDX-License-Identifier: Apache-2.0
"""Formats numbers for users, equally in the terminal and on the page."""

from __future__ import annotations

from typing import Any

from bulkhead.report.load import Json


def count(value: Any) -> str:
    """An integer as 1 234 567; a dash for other values."""
    return f"{value:,}".replace(",", "\u202f") if isinstance(value, int) else "–"


def rate(events: int, ns: Any) -> str:
    """Events per second."""
    if not isinstance(ns, int | float) or ns <= 0:
        return "–"
    per_s = events * 1e9 / ns
    return f"{per_s:.1f}" if per_s < 10 else count(round(per_s))


def exit_rate(vcpus: list[Json], ns: Any) -> str:
    """Exits per second of a domain; a dash if it shares a core, where exits are not counted by domain."""
    exits = [vcpu.get("exits", 0) for vcpu in vcpus]
    return rate(sum(exits), ns) if None not in exits else "–"


def ranges(numbers: list[int]) -> str:
    """Numbers as ranges: 0-2, 5."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(f"{low}" if low == high else f"{low}-{high}" for low, high in found)
