# SPDX-License-Identifier: Apache-2.0
"""F3 and the sum of budgets in exact numbers, as the requirement defines them: core/'s integers must agree,
and must never admit more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

NS_PER_S = 10**9


def rate_of(events: int, event_bytes: int, holders: int, period_ns: int) -> Fraction:
    """The rate in bytes per s."""
    return Fraction(events * event_bytes * holders * NS_PER_S, period_ns)


@dataclass(frozen=True)
class Row:
    cores: int  # 0: any number
    refills: int
    rate: int

    def bears(self, refills: Sequence[Fraction]) -> bool:
        """Whether the memory sustains this amount of an owner, as if one core had all of it."""
        few = self.cores == 0 or len(refills) <= self.cores
        return sum(refills) <= self.refills or (few and all(one <= self.refills for one in refills))


@dataclass(frozen=True)
class Oracle:
    """The memory's capacity. Owners are (bytes per s of both directions together, cores)."""

    curve: tuple[tuple[int, Fraction], ...]  # bytes per s in each direction, utilization
    table: tuple[Row, ...]
    shortest_period_ns: int
    event_bytes: int
    broker: int
    broker_full: int

    def core_utilization(self, each_way: Fraction) -> Fraction:
        """Straight lines between points, from (0, 0); beyond the last point its line continues."""
        low_rate, low_use = Fraction(0), Fraction(0)
        slope = Fraction(0)
        for rate, use in self.curve:
            slope = (use - low_use) / (rate - low_rate)
            if each_way <= rate:
                break
            low_rate, low_use = Fraction(rate), use
        return low_use + (each_way - low_rate) * slope

    def utilization(self, rate: Fraction, cores: int) -> Fraction:
        each_way = rate / 2
        return max(self.core_utilization(each_way), cores * self.core_utilization(each_way / cores))

    def refills(self, rate: Fraction) -> Fraction:
        return rate / 2 * Fraction(self.shortest_period_ns, NS_PER_S * self.event_bytes)

    def table_rate(self, owners: Sequence[tuple[Fraction, int]]) -> int | None:
        refills = [self.refills(rate) for rate, _ in owners]
        return max((row.rate for row in self.table if row.bears(refills)), default=0) if self.table else None

    def broker_room(self, owners: Sequence[tuple[Fraction, int]]) -> Fraction:
        """The largest rate of the broker, in each direction."""
        used = sum((self.utilization(rate, cores) for rate, cores in owners), Fraction(0))
        most = max(Fraction(0), 1 - used) * self.broker_full
        measured = self.table_rate(owners)
        return most if measured is None else min(most, Fraction(measured))

    def fits(self, owners: Sequence[tuple[Fraction, int]]) -> bool:
        return self.broker <= self.broker_room(owners)
