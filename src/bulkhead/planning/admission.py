# SPDX-License-Identifier: Apache-2.0
"""Whether all budgets together are within what the memory sustains (B10): its guaranteed bandwidth.

`check`, `plan` and `run` refuse what is not, unless `regulation.overcommit` allows it. Everything is in bytes
per second on the memory's side: a budget of refills alone also lets as many dirty lines be written back. The
arithmetic is core/'s (native.py), which EL2 asks for changes while the system runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bulkhead.config.parameters import parameters
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding
from bulkhead.config.system import Domain, System
from bulkhead.planning.budgets import CountedEvent, counted_event
from bulkhead.planning.native import memory
from bulkhead.planning.regulation import budget_in, is_regulated, lines_of

MB = 10**6


@dataclass(frozen=True)
class Accesses:
    """A domain's second budget, of each of its cores."""

    event: str
    events: int
    period_ns: int


@dataclass(frozen=True)
class Demand:
    """What a domain may ask of the memory."""

    domain: str
    rate: int | None  # in units of core/; None: nothing bounds it
    regulated: bool  # only at the start: the regulator gives what is left
    accesses: Accesses | None = None  # what bounds what goes past the caches; None: nothing

    @property
    def bytes_per_s(self) -> int | None:
        return None if self.rate is None else self.rate // memory().RATE_UNIT


@dataclass(frozen=True)
class Admission:
    demands: tuple[Demand, ...]
    guaranteed: int | None  # bytes per s; None: the platform does not say
    overcommit: bool
    platform: str
    source: str = ""  # of `guaranteed`, as the platform's file says
    simulated: int | None = None  # bytes per s that the simulated machine has of it, by calibration

    @property
    def bounded(self) -> int:
        """The sum of what is bounded, in bytes per s."""
        return self._sum() // memory().RATE_UNIT if self._rates() else 0

    @property
    def exceeded(self) -> bool:
        if self.guaranteed is None or not self._rates():
            return False
        return self._sum() > self.guaranteed * memory().RATE_UNIT

    def _rates(self) -> list[int]:
        return [one.rate for one in self.demands if one.rate is not None]

    def _sum(self) -> int:
        return memory().sum_of(self._rates())


def admission_of(system: System, platform: Platform) -> Admission:
    """For the simulated machine and the board; an emulator has no bandwidth."""
    event = counted_event(platform, emulated=False)
    demands = tuple(
        Demand(
            domain.name,
            _demand(system, domain, event),
            is_regulated(system, domain),
            _accesses(system, domain, event),
        )
        for domain in system.domains
    )
    guaranteed = platform.dram.guaranteed if platform.dram is not None else None
    regulation = system.regulation
    fact = next((one for one in platform.calibration if one.fact == "guaranteed"), None)
    return Admission(
        demands,
        guaranteed,
        regulation is not None and regulation.overcommit,
        platform.name,
        next((one.source for one in parameters(platform) if one.key == "dram.guaranteed"), ""),
        int(fact.measured * MB) if fact is not None and fact.measured is not None else None,
    )


def not_admitted(system: System, platform: Platform) -> Iterator[Finding]:
    """That budgets were held against nothing, because the platform states nothing. A notice."""
    found = admission_of(system, platform)
    if found.guaranteed is None and found.bounded:
        cause = (
            f"budgets of {found.bounded / MB:.0f} MB/s together: not checked against what memory sustains, "
            f"platform '{platform.name}' has no `dram.guaranteed`"
        )
        yield Finding(("domains",), "not-checked", cause)


def check_admission(system: System, platform: Platform) -> Iterator[Finding]:
    found = admission_of(system, platform)
    if not found.exceeded or found.overcommit:
        return
    assert found.guaranteed is not None
    parts = [f"{one.domain} {one.bytes_per_s / MB:.0f}" for one in found.demands if one.bytes_per_s]
    cause = (
        f"budgets of {found.bounded / MB:.0f} MB/s ({', '.join(parts)}) are more than the "
        f"{found.guaranteed / MB:.0f} MB/s that '{platform.name}' sustains in its worst case "
        f"(`dram.guaranteed`; {found.source})"
    )
    yield Finding(("domains",), "overcommit", cause, "lower budgets, or `regulation: { overcommit: true }`")


def _accesses(system: System, domain: Domain, event: CountedEvent | None) -> Accesses | None:
    budget = budget_in(system, domain, event)
    if budget is None or budget.counts != "accesses" or event is None or event.access_name is None:
        return None
    return Accesses(event.access_name, budget.second_events, budget.period_ns)


def _demand(system: System, domain: Domain, event: CountedEvent | None) -> int | None:
    budget = budget_in(system, domain, event)
    if budget is None or budget.events is None or event is None or event.bytes is None:
        return None
    if budget.counts == "writebacks":
        return None  # what it fetches is not bounded
    lines = lines_of(budget, event)
    if budget.counts == "refills" or (budget.counts == "accesses" and not event.access_counts_lines):
        lines += budget.events  # that are written back
    holders = len(domain.cpus) if budget.regulated or not budget.shared else 1
    return memory().rate(lines, event.bytes, holders, budget.period_ns)
