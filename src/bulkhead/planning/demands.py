# SPDX-License-Identifier: Apache-2.0
"""The memory bandwidth that budgets allow domains to use, and that devices may use, beside what the memory
guarantees (B10, D5).

All rates are in bytes per second at the memory; a budget of refills alone also allows that many dirty lines
to be written back. The arithmetic is that of core/ (native.py), which EL2 uses for changes while the system
runs. admission/bandwidth.py decides by it.
"""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.config.parameters import parameters
from bulkhead.config.platform import Platform
from bulkhead.config.system import Domain, System
from bulkhead.planning.budgets import CountedEvent, counted_event
from bulkhead.planning.device_rates import DeviceRate, device_rates
from bulkhead.planning.native import memory
from bulkhead.planning.regulation import budget_in, is_regulated, lines_of
from bulkhead.results.check import AccessBudgetResult

MB = 10**6


@dataclass(frozen=True)
class Accesses:
    """A domain's second budget, of accesses past the caches; each of its cores has it."""

    event: str
    events: int
    period_ns: int

    def json(self) -> AccessBudgetResult:
        return {"event": self.event, "events": self.events, "period_ns": self.period_ns}


@dataclass(frozen=True)
class Demand:
    """The memory bandwidth that a domain may use."""

    domain: str
    rate: int | None  # in units of core/; None: unbounded
    regulated: bool  # `rate` is the budget at the start; later the regulator changes it
    accesses: Accesses | None = None  # budget of accesses past the caches; None: they are unbounded

    @property
    def bytes_per_s(self) -> int | None:
        return None if self.rate is None else self.rate // memory().RATE_UNIT


@dataclass(frozen=True)
class Admission:
    demands: tuple[Demand, ...]
    devices: tuple[DeviceRate, ...]
    guaranteed: int | None  # bytes per s; None: the platform does not state it
    overcommit: bool
    platform: str
    source: str = ""  # source of `guaranteed`, from the platform's file
    simulated: int | None = None  # bytes per s that the simulated machine reaches instead, from calibration

    @property
    def budgets(self) -> list[int]:
        """Rates of the domains whose traffic has a bound, in units of core/."""
        return [one.rate for one in self.demands if one.rate is not None]

    @property
    def bounded(self) -> int:
        """The sum of all bounded demands and devices, in bytes per s."""
        return self._sum() // memory().RATE_UNIT if self.budgets or self.devices else 0

    @property
    def exceeded(self) -> bool:
        """Whether the sum is more than what is guaranteed. Without a budget nothing is promised."""
        if self.guaranteed is None or not self.budgets:
            return False
        return self._sum() > self.guaranteed * memory().RATE_UNIT

    def _sum(self) -> int:
        devices = [(one.charged or 0) * memory().RATE_UNIT for one in self.devices]
        return memory().sum_of([*self.budgets, *devices])


def admission_of(system: System, platform: Platform) -> Admission:
    """Demands, devices and guaranteed bandwidth of a system on the simulated machine or a board; an emulator
    has no bandwidth."""
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
        device_rates(system, platform),
        guaranteed,
        regulation is not None and regulation.overcommit,
        platform.name,
        next((one.source for one in parameters(platform, "dram") if one.key == "dram.guaranteed"), ""),
        int(fact.measured * MB) if fact is not None and fact.measured is not None else None,
    )


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
        return None  # lines that it fetches are not bounded
    lines = lines_of(budget, event)
    if budget.counts == "refills" or (budget.counts == "accesses" and not event.access_counts_lines):
        lines += budget.events  # write-backs, one for each refill
    holders = len(domain.cpus) if budget.regulated or not budget.shared else 1
    return memory().rate(lines, event.bytes, holders, budget.period_ns)
