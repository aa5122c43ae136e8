# SPDX-License-Identifier: Apache-2.0
"""Results of partitions from a run: traffic and cache use of each one as the machine counts them by owner of
memory, and the error of MPAM's monitors, which count by label.

rows.py calls this for the result `partitions`. Pure arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from bulkhead.experiments.row import Row
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.facts import MB, PS_PER_S
from bulkhead.machine.partition_monitors import DIRECTIONS

KIB = 1 << 10
# Of the last level.
COUNTED_BY_OWNER: dict[str, Literal["misses", "write_backs"]] = {"read": "misses", "written": "write_backs"}


def partition_columns(result: PointAnswer, measured: int, level: str) -> Row:
    """The columns. `measured`: owner of the measured part's memory; others are all other owners. `level`: the
    last one."""
    others = [owner for owner in range(1, len(result["held"][level])) if owner != measured]
    made: Row = {
        "measured_mb_s": _mb_s(result, level, [measured]),
        "others_mb_s": _mb_s(result, level, others),
        "measured_kib": _held(result, level, [measured]) / KIB,
        "others_kib": _held(result, level, others) / KIB,
    }
    partitions = result["partitions"]
    made["held_monitor_kib"] = [one["held"] / KIB for one in partitions]
    made["held_off_bytes"] = _most(one["held"] - _held(result, level, one["owners"]) for one in partitions)
    for way in DIRECTIONS:
        made[f"{way}_monitor_mb"] = [one["moved"][way] / MB for one in partitions]
        made[f"{way}_off_bytes"] = _most(
            one["moved"][way] - _moved(result, level, one["owners"], way) for one in partitions
        )
    return made


def _most(differences: Any) -> int | None:
    """The difference furthest from 0; None: there are no partitions."""
    found: list[int] = list(differences)
    return max(found, key=abs) if found else None


def _held(result: PointAnswer, level: str, owners: Sequence[int]) -> int:
    return int(sum(result["held"][level][owner] for owner in owners) * result["line_bytes"])


def _moved(result: PointAnswer, level: str, owners: Sequence[int], way: str) -> int:
    counted = result["levels"][level]["owners"]
    of = COUNTED_BY_OWNER[way]
    lines = sum(counted[owner][of] for owner in owners)
    return int(lines * result["line_bytes"])


def _mb_s(result: PointAnswer, level: str, owners: Sequence[int]) -> float:
    moved = sum(_moved(result, level, owners, way) for way in COUNTED_BY_OWNER)
    return float(moved / MB * PS_PER_S / result["simulated_ps"])
