# SPDX-License-Identifier: Apache-2.0
"""Budgets of all domains under `regulation`, and the regulator's parameters.

Used for the manifest, for checks and for reports. Under a dynamic policy each core of a best-effort domain is
regulated, and its period is the interval; the domain's `bandwidth` is the budget at the start. Devices that
are regulated, too, have places behind the cores in `regulated` and `budget_events`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import get_args

from bulkhead.config.platform import Platform
from bulkhead.config.shares import Bandwidth
from bulkhead.config.system import Domain, Regulation, RegulationPolicy, System
from bulkhead.planning.budgets import (
    TWO_BUDGETS,
    Budget,
    CountedEvent,
    budget_of,
    counts_of,
    events_in,
    events_of_rate,
    lines_per_event,
    slack_of,
)
from bulkhead.planning.delays import POLICY as DELAY
from bulkhead.planning.delays import delays_of
from bulkhead.planning.device_rates import INITIAL_BYTES_PER_S, charged_together, constant_rates
from bulkhead.planning.regulated_devices import RegulatedDevice, regulated_devices

DYNAMIC = tuple(name for name in get_args(RegulationPolicy) if name not in ("none", "static"))
PHASES = "dynamic-phases"
BY_TRAFFIC = ("dynamic-bandwidth", DELAY, PHASES)  # policies that also count cores that are not regulated
BY_UTILIZATION = ("dynamic", PHASES)
DELAY_SHARE = Fraction(1, 20)
ONE = 1 << 16  # fixed-point 1.0 (core/utilization.h)
MOST_GLOBAL_EVENTS = (1 << 30) - 1  # core/regulator_share.h
SHORTEST_INTERVAL_NS = 10_000  # as in core/manifest_budgets.c, like the next
LONGEST_INTERVAL_NS = 10**9


@dataclass(frozen=True)
class RegulatorPlan:
    """Parameters of core/regulator.h, with core numbers of the platform."""

    policy: str
    hold: str
    threshold: int  # in 1/65536
    step: int  # in 1/65536; 0: adaptive
    bandwidth_threshold_events: int
    interval_ns: int
    members: frozenset[int]  # cores whose events are counted in each interval
    regulated: frozenset[int]
    budget_events: dict[int, int | None]  # by core with a VCPU; None: unlimited
    floor_events: int
    ceiling_events: int
    saturation_events: int
    store_samples: bool
    horizon_intervals: int  # for `dynamic-delay`, like the next
    event_delays_ps: dict[int, int]  # by regulated core or device
    devices: tuple[RegulatedDevice, ...] = ()


def is_dynamic(system: System) -> bool:
    return system.regulation is not None and system.regulation.policy in DYNAMIC


def is_regulated(system: System, domain: Domain) -> bool:
    """Whether the regulator changes the domain's budgets."""
    return is_dynamic(system) and domain.criticality != "rt"


def budget_in(system: System, domain: Domain, event: CountedEvent | None) -> Budget | None:
    """The budget of a domain in its system; None: it has none, or it cannot be counted there."""
    if event is None or (is_dynamic(system) and event.bytes is None):
        return budget_of(domain.bandwidth, len(domain.cpus), event)
    regulation = system.regulation
    if regulation is None or regulation.policy not in DYNAMIC:
        reclaim = regulation is not None and regulation.reclaim and domain.criticality != "rt"
        return budget_of(domain.bandwidth, len(domain.cpus), event, reclaim=reclaim)
    if domain.criticality == "rt":
        return _counted(regulation, domain, event)
    return _first(regulation, domain, event)


def _counted(regulation: Regulation, domain: Domain, event: CountedEvent) -> Budget | None:
    """The budget of a real-time domain. If the policy needs its traffic, it is counted even without a
    limit."""
    if regulation.policy in BY_TRAFFIC and domain.bandwidth.unlimited:
        return Budget(None, regulation.interval, 0, counts_of(domain.bandwidth, event) or "refills")
    found = budget_of(domain.bandwidth, len(domain.cpus), event)
    if found is None or regulation.policy not in BY_TRAFFIC:
        return found
    assert found.events is not None
    return replace(found, events=_per_core(domain.bandwidth, domain, found.events), chunk_events=0)


def _first(regulation: Regulation, domain: Domain, event: CountedEvent) -> Budget | None:
    """The initial budget of each core of a regulated domain."""
    bandwidth = domain.bandwidth
    counts = counts_of(bandwidth, event)
    if counts is None or counts in TWO_BUDGETS:
        return None
    if bandwidth.unlimited:
        events = events_of_rate(INITIAL_BYTES_PER_S, regulation.interval, event)
    else:
        if bandwidth.events is not None:
            events = bandwidth.events
        else:
            assert bandwidth.budget is not None
            events = events_of_rate(bandwidth.budget, regulation.interval, event)
        events = _per_core(bandwidth, domain, events)
    slack = slack_of(bandwidth, counts, events)
    return Budget(events, regulation.interval, 0, counts, 0, slack, regulated=True)


def _per_core(bandwidth: Bandwidth, domain: Domain, events: int) -> int:
    return events // len(domain.cpus) if bandwidth.per == "domain" else events


def lines_of(budget: Budget, event: CountedEvent) -> int:
    """Most lines that the memory moves in a period for a domain that uses all of its budgets."""
    assert budget.events is not None and event.bytes is not None
    if budget.counts != "accesses":
        return budget.events + budget.second_events
    past = -(-budget.second_events * event.access_bytes // event.bytes)
    return past if event.access_counts_lines else budget.events + past


def lines_of_event(system: System, domains: Iterable[Domain], event: CountedEvent) -> int:
    """lines_per_event() of these domains; 1 on the emulator."""
    if event.stands_in:
        return 1
    budgets = [budget_in(system, domain, event) for domain in domains]
    counts = [one.counts for one in budgets if one is not None]
    return lines_per_event(counts, access_counts_lines=event.access_counts_lines)


def _events_of_traffic(rate: int, system: System, domains: Iterable[Domain], event: CountedEvent) -> int:
    """Events that these domains may have in an interval if they cause at most this traffic of the memory, in
    bytes per s."""
    assert system.regulation is not None and event.bytes is not None
    lines = lines_of_event(system, domains, event)
    return events_in(rate, system.regulation.interval, event.bytes, lines=lines)


def _limit(system: System, domain: Domain, event: CountedEvent) -> int | None:
    """Limit of one of the domain's cores in an interval, in events, rounded up."""
    assert system.regulation is not None
    budget = budget_in(system, domain, event)
    if budget is None or budget.events is None:
        return None
    events = lines_of(budget, event)
    vcpus = len(domain.cpus) if budget.shared else 1
    return -(-events * system.regulation.interval // (budget.period_ns * vcpus))


def regulator_of(system: System, platform: Platform, event: CountedEvent | None) -> RegulatorPlan | None:
    """The regulator's parameters; None: there is no regulator, or events cannot be counted there."""
    regulation = system.regulation
    if regulation is None or regulation.policy not in DYNAMIC or event is None or event.bytes is None:
        return None
    by_traffic = regulation.policy in BY_TRAFFIC
    regulated = frozenset(core for d in system.domains if is_regulated(system, d) for core in d.cpus)
    all_cores = frozenset(core for domain in system.domains for core in domain.cpus)
    if not regulated:
        return None
    devices = regulated_devices(system, platform, regulation, event)
    places = frozenset(one.place for one in devices)
    delays = (
        delays_of(regulation, platform, regulated, all_cores - regulated, places)
        if regulation.policy == DELAY
        else None
    )
    if regulation.policy == PHASES:
        traffic: int | None = highest_phase(platform)
    else:
        traffic = delays.least if delays is not None else bandwidth_threshold(system, platform)
    threshold = share_threshold(regulation)
    ceiling = MOST_GLOBAL_EVENTS
    if regulation.ceiling is not None:
        those = [domain for domain in system.domains if is_regulated(system, domain)]
        ceiling = _events_of_traffic(regulation.ceiling, system, those, event)
    elif delays is not None:
        most = _most(platform, len(regulated | places))  # they may fetch that, and write nothing back
        ceiling = events_of_rate(most, regulation.interval, event)
    return RegulatorPlan(
        policy=regulation.policy,
        hold=regulation.hold,
        threshold=max(1, round(threshold * ONE)),
        step=max(1, round(regulation.step * ONE)) if regulation.step is not None else 0,
        bandwidth_threshold_events=(
            _events_of_traffic(traffic, system, system.domains, event) if by_traffic and traffic else 0
        ),
        interval_ns=regulation.interval,
        members=all_cores if by_traffic else regulated,
        regulated=regulated | places,
        budget_events={core: _limit(system, d, event) for d in system.domains for core in d.cpus}
        | {one.place: one.budget_events for one in devices},
        floor_events=max(
            1,
            events_of_rate(regulation.floor, regulation.interval, event),  # a core's budget, like the others
            *_least(regulation, platform, devices, event),
        ),
        ceiling_events=min(ceiling, MOST_GLOBAL_EVENTS),
        saturation_events=_saturation_events(system, platform, event),
        store_samples=regulation.samples,
        horizon_intervals=delays.horizon_intervals if delays is not None else 0,
        event_delays_ps=delays.event_ps if delays is not None else {},
        devices=devices,
    )


def _least(
    regulation: Regulation, platform: Platform, devices: tuple[RegulatedDevice, ...], event: CountedEvent
) -> list[int]:
    """Floors that the devices and the platform's smallest budget need, unless the file states one."""
    if "floor" in regulation.model_fields_set:
        return []
    return [smallest_enforced(platform, event), *(one.least_events(regulation.interval) for one in devices)]


def smallest_enforced(platform: Platform, event: CountedEvent) -> int:
    """Smallest budget in events that the hypervisor can enforce; 1 where the platform states none, and on the
    emulator."""
    stated = platform.memory_budget
    return 1 if stated is None or event.stands_in else stated.smallest_budget


def saturation_of(system: System, platform: Platform) -> int | None:
    """The bandwidth that the limits of all cores and regulated devices must stay below, in bytes per s:
    `saturation` without what other devices take; None: there is none."""
    regulation = system.regulation
    if regulation is None or regulation.saturation is None:
        return None
    return max(1, regulation.saturation - charged_together(constant_rates(system, platform)))


def _saturation_events(system: System, platform: Platform, event: CountedEvent) -> int:
    """At least 1 if there is a saturation, because 0 stands for none."""
    rate = saturation_of(system, platform)
    if rate is None or system.regulation is None:
        return 0
    return max(1, _events_of_traffic(rate, system, system.domains, event))


def _most(platform: Platform, cores: int) -> int:
    """Upper bound in bytes per s: each of `cores` may use the whole bandwidth of the data bus."""
    dram = platform.dram
    return cores * dram.speed * 10**6 * dram.width * dram.channels // 8 if dram is not None else 10**13


def highest_phase(platform: Platform) -> int:
    """Where the highest phase of `dynamic-phases` begins, in bytes per s: what the memory guarantees, else
    the rate of its data bus."""
    guaranteed = platform.dram.guaranteed if platform.dram is not None else None
    return guaranteed if guaranteed is not None else _most(platform, 1)


def share_threshold(regulation: Regulation) -> Fraction:
    """U_T, or the share of time of `dynamic-delay`; 1 if the threshold is a rate."""
    if regulation.policy == DELAY and "threshold" not in regulation.model_fields_set:
        return DELAY_SHARE
    return regulation.threshold if isinstance(regulation.threshold, Fraction) else Fraction(1)


def bandwidth_threshold(system: System, platform: Platform) -> int | None:
    """B_T in bytes/s, of all cores and regulated devices together; None: neither the system nor the platform
    states it. Of what the memory guarantees, other devices take their charges."""
    regulation = system.regulation
    if regulation is not None and isinstance(regulation.threshold, int):
        return regulation.threshold
    if platform.dram is None or platform.dram.guaranteed is None:
        return None
    return max(1, platform.dram.guaranteed - charged_together(constant_rates(system, platform)))
