# SPDX-License-Identifier: Apache-2.0
"""Whether the memory bears the cores' budgets and the broker's copying together (F3).

planning/flows.py asks for a rate that it chose. Everything is exact; b is in bytes per second in each
direction, because a refill may evict a dirty line and a copy reads and writes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from bulkhead.config.flow_costs import MemoryBudget
from bulkhead.config.platform import Platform
from bulkhead.config.system import Domain, System
from bulkhead.planning.admission import admission_of
from bulkhead.planning.broker import BROKER, is_broker
from bulkhead.planning.budgets import NS_PER_S, counted_event
from bulkhead.planning.regulation import budget_in


@dataclass(frozen=True)
class Part:
    """What one owner causes."""

    name: str
    bytes_per_s: Fraction  # in each direction
    utilization: Fraction


@dataclass(frozen=True)
class MemoryUse:
    """F3 of a system, at a rate of the broker."""

    parts: tuple[Part, ...]
    unbounded: tuple[str, ...]  # domains that may ask for any amount
    largest_rate: int  # of the broker, that the others leave
    limited_by: str  # "utilization", "table"

    @property
    def utilization(self) -> Fraction:
        """Of the DRAM, by all parts together; 1 is all of it."""
        return sum((part.utilization for part in self.parts), Fraction(0))

    @property
    def rate(self) -> Fraction:
        """The broker's, in bytes per second in each direction."""
        return next(part.bytes_per_s for part in self.parts if part.name == BROKER)

    @property
    def fits(self) -> bool:
        """Do the others leave the broker its rate?"""
        return not self.unbounded and self.rate <= self.largest_rate


def memory_use(
    system: System, platform: Platform, rate: int, engine: str, chunk_bytes: int
) -> MemoryUse | None:
    """What cores and broker take together; None: the platform has no curves.

    `rate`: of the broker, bytes/s in each direction; `engine`: what copies (`broker.engine`), at most
    `chunk_bytes` at a time.
    """
    curves = platform.memory_budget
    if curves is None:
        return None
    cores, unbounded = _cores(system, platform, curves)
    left = max(Fraction(0), 1 - sum((part.utilization for part in cores), Fraction(0)))
    most = left * _full_rate(curves, engine, chunk_bytes)
    limited_by = "utilization"
    measured = _from_table(platform, curves, cores)
    if engine == "zdma" and measured is not None and measured < most:
        most, limited_by = Fraction(measured), "table"
    broker = Part(BROKER, Fraction(rate), rate / _full_rate(curves, engine, chunk_bytes))
    return MemoryUse((broker, *cores), unbounded, math.floor(most), limited_by)


def below_workable(system: System, platform: Platform) -> list[tuple[int, str]]:
    """Domains, by number, whose budgets are too short or too small to work, and why."""
    curves, event = platform.memory_budget, counted_event(platform, emulated=False)
    found: list[tuple[int, str]] = []
    for number, domain in enumerate(system.domains):
        budget = budget_in(system, domain, event)
        if curves is None or budget is None or budget.events is None:
            continue
        if budget.period_ns < curves.shortest_period:
            cause = f"a period of {budget.period_ns} ns is below the shortest that works"
            found.append((number, f"{cause}, {curves.shortest_period} ns"))
        elif budget.events < curves.smallest_budget:
            cause = f"{budget.events} events of a period are fewer than the smallest budget that works"
            found.append((number, f"{cause}, {curves.smallest_budget}"))
    return found


def _full_rate(curves: MemoryBudget, engine: str, chunk_bytes: int) -> Fraction:
    """What alone causes a utilization of 1. A core that copies fetches source and destination."""
    if engine == "zdma":
        return curves.engine_rate(chunk_bytes)
    point = curves.cores[-1]
    return point.rate / point.utilization / 2


def _cores(system: System, platform: Platform, curves: MemoryBudget) -> tuple[list[Part], tuple[str, ...]]:
    """What the domains' cores may cause, and the domains that nothing bounds. Those that a regulator holds
    together are one part."""
    parts, unbounded = [], []
    admission = admission_of(system, platform)
    regulated = [one.domain for one in admission.demands if one.regulated]
    regulation = system.regulation
    bound = (regulation.saturation or regulation.ceiling) if regulation is not None else None
    if regulated and bound is not None:
        rate = Fraction(bound, 2)
        parts.append(Part(" + ".join(regulated), rate, curves.core_utilization(rate)))
    for demand, domain in zip(admission.demands, system.domains, strict=True):
        if is_broker(system, domain.name) or (demand.regulated and bound is not None):
            continue  # what the broker moves is the rate, which is counted
        if demand.bytes_per_s is None or demand.regulated:
            unbounded.append(domain.name)
            continue
        rate = Fraction(demand.bytes_per_s, 2)
        parts.append(Part(domain.name, rate, _worst(curves, rate, domain)))
    return parts, tuple(unbounded)


def _worst(curves: MemoryBudget, rate: Fraction, domain: Domain) -> Fraction:
    """Of a domain's budget, whether one of its cores takes it all or each the same."""
    cores = len(domain.cpus)
    return max(curves.core_utilization(rate), cores * curves.core_utilization(rate / cores))


def _from_table(platform: Platform, curves: MemoryBudget, parts: list[Part]) -> int | None:
    """The largest DMA rate that was measured beside such budgets, each as if one core had all of it."""
    event = counted_event(platform, emulated=False)
    if event is None or event.bytes is None:
        return None
    period = Fraction(curves.shortest_period, NS_PER_S * event.bytes)
    return curves.table_rate([part.bytes_per_s * period for part in parts])
