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
