# SPDX-License-Identifier: Apache-2.0
"""Whether the memory can serve the cores' budgets, devices and the broker's copying together (F3, D5).

planning/flows.py checks the rate that it chose; package/bandwidth.py gives EL2 the data to check again when a
budget changes. The arithmetic is core's (native.py), rounded to the safe side. Rates are per direction,
because a refill may evict a dirty line, and a copy reads and writes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from bulkhead.config.flow_costs import MemoryBudget
from bulkhead.config.machine_figures import machines_own
from bulkhead.config.platform import Platform
from bulkhead.config.system import BROKER, Domain, System
from bulkhead.planning.broker import is_broker
from bulkhead.planning.budgets import TWO_BUDGETS, counted_event
from bulkhead.planning.demands import Demand, admission_of
from bulkhead.planning.device_rates import DeviceRate, device_rates
from bulkhead.planning.native import NativeCapacity, Point, Row, memory
from bulkhead.planning.regulation import budget_in, saturation_of

MOST_BYTES_PER_S = 10**13  # as in core/memory_admission.h


@dataclass(frozen=True)
class BrokerLoad:
    """What a broker may ask of the memory."""

    name: str
    rate: int  # bytes/s in each direction
    engine: str  # the kind of what copies (`engine_kind`)
    chunk_bytes: int  # copied at most at a time
    both: bool = False  # a core copies in addition to the engine, and the rate may be that of either


@dataclass(frozen=True)
class Sustained:
    """What the memory can serve in addition to a broker, as EL2 gets it."""

    curve: tuple[Point, ...]
    table: tuple[Row, ...]
    shortest_period_ns: int
    smallest_events: int
    event_bytes: int
    # Of the broker and, as a rate of this broker with equal utilization, of devices and other brokers.
    broker_bytes_per_s: int
    broker_full_bytes_per_s: int  # rate at which the broker alone uses the memory fully

    def capacity(self) -> NativeCapacity:
        return memory().Capacity(
            curve=self.curve,
            table=self.table,
            shortest_period_ns=self.shortest_period_ns,
            event_bytes=self.event_bytes,
            broker=self.broker_bytes_per_s,
            broker_full=self.broker_full_bytes_per_s,
        )


@dataclass(frozen=True)
class MemoryPart:
    """Rate and utilization of one owner."""

    name: str
    bytes_per_s: Fraction  # in each direction
    utilization: Fraction


@dataclass(frozen=True)
class MemoryUse:
    """The memory's use (F3) by a system, at given rates of its brokers, as one of them sees it."""

    parts: tuple[MemoryPart, ...]
    unbounded: tuple[str, ...]  # domains without a limit
    unbounded_devices: tuple[DeviceRate, ...]
    largest_rate: int  # bytes/s that the other owners leave to the broker
    limited_by: str  # "utilization", "table"
    table_from: str | None  # remark about the table if it was not measured on a board
    sustained: Sustained
    broker: str = BROKER  # the one that sees it: the largest rate and `sustained` are its

    @property
    def utilization(self) -> Fraction:
        """Of the DRAM by all owners together; 1 is full."""
        return sum((part.utilization for part in self.parts), Fraction(0))

    @property
    def rate(self) -> Fraction:
        """The broker's rate in bytes per second, in each direction."""
        return next(part.bytes_per_s for part in self.parts if part.name == self.broker)

    @property
    def fits(self) -> bool:
        """Whether the other owners leave the broker its rate."""
        return not self.unbounded and not self.unbounded_devices and self.rate <= self.largest_rate


@dataclass(frozen=True)
class _BudgetOwner:
    """An owner of bandwidth: a domain, or all domains that a regulator limits together."""

    name: str
    rate: int  # in units of core/
    cores: int


def memory_use(
    system: System,
    platform: Platform,
    rate: int,
    engine: str,
    chunk_bytes: int,
    others: Sequence[BrokerLoad] = (),
) -> MemoryUse | None:
    """The memory's use by cores and brokers together; None: the platform has no curves.

    `rate`: the rate in bytes/s in each direction of the system's broker. `engine`: the kind of what copies
    for it (`engine_kind`), at most `chunk_bytes` at a time. `others`: further brokers. Each is charged as
    this broker at the rate with the same utilization.
    """
    if platform.memory_budget is None:
        return None
    curves, broker = platform.memory_budget, system.broker
    name = BROKER if broker is None else broker.name
    both = broker is not None and broker.copy_up_to is not None
    sustained = sustained_by(platform, curves, rate, engine, chunk_bytes, both=both)
    capacity = sustained.capacity()
    full = sustained.broker_full_bytes_per_s
    beside = [(one.name, one.rate, -(-one.rate * full // _full_of(platform, curves, one))) for one in others]
    owners, unbounded = _owners(system, platform)
    devices = device_rates(system, platform)
    shares = [(one, _share(one.charged, sustained)) for one in devices if one.charged is not None]
    taken = sum(share for _, share in shares) + sum(share for *_, share in beside)
    largest, by_table = capacity.broker_room([(one.rate, one.cores) for one in owners])
    parts = [MemoryPart(name, Fraction(rate), Fraction(capacity.broker_utilization(), memory().ONE))]
    parts += [MemoryPart(other, Fraction(asked), Fraction(share, full)) for other, asked, share in beside]
    for one in owners:
        used = Fraction(capacity.utilization(one.rate, one.cores), memory().ONE)
        parts.append(MemoryPart(one.name, Fraction(one.rate, 2 * memory().RATE_UNIT), used))
    for device, share in shares:
        used = Fraction(share, full)
        parts.append(MemoryPart(device.device, Fraction(device.charged or 0, 2), used))
    return MemoryUse(
        tuple(parts),
        unbounded,
        tuple(one for one in devices if one.charged is None),
        max(0, largest - taken),
        "table" if by_table else "utilization",
        machines_own(platform),
        replace(sustained, broker_bytes_per_s=rate + taken),
        name,
    )


def _full_of(platform: Platform, curves: MemoryBudget, load: BrokerLoad) -> int:
    """Rate at which a broker alone uses the memory fully."""
    alone = sustained_by(platform, curves, load.rate, load.engine, load.chunk_bytes, both=load.both)
    return alone.broker_full_bytes_per_s


def _share(charged: int, sustained: Sustained) -> int:
    """The rate of the broker with the utilization that a device can cause: that of a core with its rate."""
    used = sustained.capacity().utilization(charged * memory().RATE_UNIT, 1)
    return -(-used * sustained.broker_full_bytes_per_s // memory().ONE)


def sustained_by(
    platform: Platform, curves: MemoryBudget, rate: int, engine: str, chunk_bytes: int, *, both: bool = False
) -> Sustained:
    """The platform's curves in the form that core/ takes. The table was measured with the DMA engine alone.
    `both`: a core copies in addition to the engine, and the rate may be that of either."""
    event = counted_event(platform, emulated=False)
    event_bytes = event.bytes if event is not None else None
    rows = curves.table if engine == "zdma" and event_bytes is not None else ()
    engines = ("zdma", "cpu-copy") if both else (engine,)
    full = math.floor(min(_full_rate(curves, one, chunk_bytes) for one in engines))
    return Sustained(
        curve=tuple((one.rate, math.ceil(one.utilization * memory().ONE)) for one in curves.cores),
        table=tuple((row.cores or 0, row.refills, row.rate) for row in rows),
        shortest_period_ns=curves.shortest_period,
        smallest_events=curves.smallest_budget,
        event_bytes=event_bytes or 1,
        broker_bytes_per_s=rate,
        broker_full_bytes_per_s=min(max(full, 1), MOST_BYTES_PER_S),
    )


@dataclass(frozen=True)
class NotWorkable:
    """A budget that the hypervisor cannot enforce on the platform."""

    domain: int  # its number in the system
    regulated: bool  # its period is the regulator's interval
    of_period: bool  # the period is too short; else events of a period are too few
    cause: str
    allowed: str


def below_workable(system: System, platform: Platform) -> list[NotWorkable]:
    """Budgets with a period too short or too few events to work, at most one for each domain."""
    curves, event = platform.memory_budget, counted_event(platform, emulated=False)
    found: list[NotWorkable] = []
    for number, domain in enumerate(system.domains):
        budget = budget_in(system, domain, event)
        if curves is None or budget is None or budget.events is None:
            continue
        second = budget.second_events if budget.counts in TWO_BUDGETS else budget.events
        events, shortest, least = min(budget.events, second), curves.shortest_period, curves.smallest_budget
        if budget.period_ns < shortest:
            cause = (
                f"a period of {budget.period_ns} ns is shorter than the shortest period that can be enforced"
                f" on '{platform.name}' (`memory_budget.shortest_period`)"
            )
            found.append(NotWorkable(number, budget.regulated, True, cause, f"{shortest} ns or more"))
        elif events < least:
            cause = (
                f"{events} events in a period are fewer than the smallest budget that can be enforced"
                f" on '{platform.name}' (`memory_budget.smallest_budget`)"
            )
            allowed = f"{least} events or more: a higher budget, or a longer period"
            found.append(NotWorkable(number, budget.regulated, False, cause, allowed))
    return found


def _full_rate(curves: MemoryBudget, engine: str, chunk_bytes: int) -> Fraction:
    """Rate at which the broker alone causes a utilization of 1. A core that copies fetches source and
    destination."""
    if engine == "zdma":
        return curves.engine_rate(chunk_bytes)
    point = curves.cores[-1]
    return point.rate / point.utilization / 2


def _owners(system: System, platform: Platform) -> tuple[list[_BudgetOwner], tuple[str, ...]]:
    """Bandwidth that the domains' cores may use, and names of the domains without a bound. Domains that a
    regulator limits together are one owner."""
    owners, unbounded = [], []
    demands = tuple(zip(admission_of(system, platform).demands, system.domains, strict=True))
    together = _regulated(system, platform, [one for one in demands if one[0].regulated])
    if together is not None:
        owners.append(together)
    for demand, domain in demands:
        if is_broker(system, domain.name) or (demand.regulated and together is not None):
            continue  # a broker's traffic is its rate, which is counted already
        if demand.rate is None or demand.regulated:
            unbounded.append(domain.name)
            continue
        owners.append(_BudgetOwner(domain.name, demand.rate, len(domain.cpus)))
    return owners, tuple(unbounded)


def _regulated(
    system: System, platform: Platform, regulated: list[tuple[Demand, Domain]]
) -> _BudgetOwner | None:
    """The most that the regulator gives to all regulated domains; None: there is no regulator, or no
    bound."""
    regulation = system.regulation
    if not regulated or regulation is None:
        return None
    bounds = [one for one in (saturation_of(system, platform), regulation.ceiling) if one is not None]
    if not bounds or any(demand.rate is None for demand, _ in regulated):
        return None
    names = " + ".join(demand.domain for demand, _ in regulated)
    cores = sum(len(domain.cpus) for _, domain in regulated)
    return _BudgetOwner(names, min(bounds) * memory().RATE_UNIT, cores)
