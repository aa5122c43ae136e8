# SPDX-License-Identifier: Apache-2.0
"""Measured durations of the parts of packets' paths (F5), from frames that the hypervisor filled
(core/path_costs.h).

Called by `conclude` for a run of a system with `broker: { stamps: true }`, and by `bench flows`. Durations
are kept for each core, so that a part can be evaluated for some cores only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bulkhead.results.run import PathCostsResult, PathPartResult
from bulkhead.run.status import CoreStatus, SystemStatus
from bulkhead.schema.layout import Layout

NS_PER_S = 10**9


@dataclass(frozen=True)
class PathCost:
    """One part on one core or several, in ticks of the counter."""

    count: int
    min: int
    max: int
    sum: int
    histogram: tuple[int, ...]

    def __add__(self, other: PathCost) -> PathCost:
        if self.count == 0 or other.count == 0:
            return other if self.count == 0 else self
        return PathCost(
            self.count + other.count,
            min(self.min, other.min),
            max(self.max, other.max),
            self.sum + other.sum,
            tuple(a + b for a, b in zip(self.histogram, other.histogram, strict=True)),
        )

    @property
    def median(self) -> int:
        """The median as the middle of its bucket, whose width is an eighth to a quarter of the value."""
        left = self.count // 2
        for number, count in enumerate(self.histogram):
            if left < count:
                low, high = bucket(number)
                return min(max((low + high - 1) // 2, self.min), self.max)
            left -= count
        return self.max

    def json(self, hz: int) -> PathPartResult:
        """The cost in ns, rounded up. `hz`: frequency of the counter."""

        def ns(ticks: int) -> int:
            return -(-ticks * NS_PER_S // hz)

        return {
            "count": self.count,
            "min": ns(self.min),
            "avg": ns(-(-self.sum // self.count)),
            "max": ns(self.max),
            "median": ns(self.median),
        }


NOTHING = PathCost(0, 0, 0, 0, ())


def bucket(number: int) -> tuple[int, int]:
    """First value of a bucket, and first value of the next."""
    if number < 4:
        return number, number + 1
    power, quarter = number // 4 + 1, number % 4
    return (4 + quarter) << (power - 2), (5 + quarter) << (power - 2)


Costs = dict[int, dict[str, PathCost]]  # by core, then by part


def path_costs(
    layout: Layout,
    status: SystemStatus,
    pool_frames: Sequence[int],
    bytes_at: Callable[[int], bytes | None],
) -> Costs:
    """What each core has recorded; empty if the system did not ask for it."""
    found: Costs = {}
    for core in status.cores:
        page = _frame_of(core, pool_frames, bytes_at)
        if page is not None:
            found[core.core] = _parts(layout, page)
    return found


def merged(costs: Iterable[dict[str, PathCost]]) -> dict[str, PathCost]:
    total: dict[str, PathCost] = {}
    for one in costs:
        for name, cost in one.items():
            total[name] = total.get(name, NOTHING) + cost
    return total


def path_costs_json(costs: Costs, hz: int) -> PathCostsResult:
    """Parts that were seen, in ns: for all cores together, and for each core."""
    return {
        "parts": _seen(merged(costs.values()), hz),
        "cores": [{"core": core, "parts": _seen(parts, hz)} for core, parts in sorted(costs.items())],
    }


def _seen(parts: dict[str, PathCost], hz: int) -> dict[str, PathPartResult]:
    return {name: cost.json(hz) for name, cost in parts.items() if cost.count}


def _frame_of(
    core: CoreStatus, pool_frames: Sequence[int], bytes_at: Callable[[int], bytes | None]
) -> bytes | None:
    if not 0 < core.paths_frame < len(pool_frames):
        return None
    return bytes_at(int(pool_frames[core.paths_frame]))


def _parts(layout: Layout, page: bytes) -> dict[str, PathCost]:
    names = {number: name for name, number in layout.enum("path_part").items()}
    raw: Mapping[str, Any] = layout.unpack("status_path_costs", page)
    return {
        names[number]: PathCost(
            int(one["count"]),
            int(one["min"]),
            int(one["max"]),
            int(one["sum"]),
            tuple(int(value) for value in one["histogram"]),
        )
        for number, one in enumerate(raw["parts"])
        if number in names
    }
