# SPDX-License-Identifier: Apache-2.0
"""Checks that the hypervisor can do on this platform what `regulation` asks for.

crosscheck.py calls this for each system file. Values that a manifest cannot hold are reported here, at their
key.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from bulkhead.config.platform import LONGEST_DELAY_NS, Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.system import Domain, Regulation, System
from bulkhead.planning.budgets import NS_PER_S, counted_event, events_of_rate
from bulkhead.planning.delays import POLICY as DELAY
from bulkhead.planning.delays import missing_key
from bulkhead.planning.device_rates import STATE_RATE, device_rates
from bulkhead.planning.regulation import (
    BY_TRAFFIC,
    BY_UTILIZATION,
    DYNAMIC,
    LONGEST_INTERVAL_NS,
    MOST_GLOBAL_EVENTS,
    ONE,
    SHORTEST_INTERVAL_NS,
    RegulatorPlan,
    bandwidth_threshold,
    is_regulated,
    regulator_of,
    smallest_enforced,
)

Findings = Iterator[Finding]
_AT: KeyPath = ("regulation",)
MB = 10**6


def check_regulation(system: System, platform: Platform) -> Findings:
    regulation = system.regulation
    if regulation is None or regulation.policy == "none":
        return
    wrong = [*_threshold(system, regulation, platform), *_interval(regulation)]
    yield from wrong
    if regulation.reclaim:
        yield from _reclaim(system, regulation)
    if regulation.policy not in DYNAMIC:
        return
    yield from _platform(regulation, platform)
    yield from _domains(system, regulation)
    found = regulator_of(system, platform, counted_event(platform, emulated=False))
    if found is not None and not any(wrong):
        yield from _bounds(system, regulation, found, platform)


def _threshold(system: System, regulation: Regulation, platform: Platform) -> Findings:
    wants_bandwidth = regulation.policy == "dynamic-bandwidth"
    given = "threshold" in regulation.model_fields_set
    if given and isinstance(regulation.threshold, int) != wants_bandwidth:
        share = (
            "a share of time, as `5 %`"
            if regulation.policy == DELAY
            else "a share of DRAM utilization, as `80 %`"
        )
        kind = "a bandwidth, as `2 GB/s`" if wants_bandwidth else share
        cause = f"does not fit the policy '{regulation.policy}'"
        yield Finding((*_AT, "threshold"), "conflict", cause, kind)
    elif wants_bandwidth and bandwidth_threshold(system, platform) is None:
        cause = "the policy 'dynamic-bandwidth' needs the key 'threshold'"
        yield Finding(_AT, "missing-key", cause, "a bandwidth, as `2 GB/s`")
    elif regulation.policy == DELAY:
        yield from _delay(regulation, platform)


def _delay(regulation: Regulation, platform: Platform) -> Findings:
    if isinstance(regulation.threshold, Fraction) and round(regulation.threshold * ONE) >= ONE:
        cause = f"is 100 % of the time or more, in steps of 1/{ONE}"
        yield Finding((*_AT, "threshold"), "out-of-range", cause, "at most 99.999 %")
    if (key := missing_key(regulation, platform)) is not None:
        cause = f"the policy '{DELAY}' needs the key '{key}': '{platform.name}' has no `dram.delays`"
        yield Finding(_AT, "missing-key", cause, "the delay that `bulkhead limits` prints")
    for key in ("delay", "cluster_delay"):
        if (getattr(regulation, key) or 0) > LONGEST_DELAY_NS:
            yield Finding((*_AT, key), "out-of-range", "is longer than 4 ms", "1 ns to 4 ms")


def _interval(regulation: Regulation) -> Findings:
    if not SHORTEST_INTERVAL_NS <= regulation.interval <= LONGEST_INTERVAL_NS:
        yield Finding((*_AT, "interval"), "out-of-range", f"is {regulation.interval} ns", "10 us to 1 s")


def _platform(regulation: Regulation, platform: Platform) -> Findings:
    event = counted_event(platform, emulated=False)
    if event is None or event.bytes is None:
        cause = (
            f"platform '{platform.name}' has no event for memory traffic, or no interrupt of its "
            "performance monitors"
        )
        yield Finding((*_AT, "policy"), "not-on-platform", cause, "none")
    counters = platform.dram.utilization if platform.dram is not None else None
    if regulation.policy in BY_UTILIZATION and counters is None:
        cause = (
            f"the memory controller of '{platform.name}' has no counters of busy cycles (`dram.utilization`)"
        )
        yield Finding((*_AT, "policy"), "not-on-platform", cause, "dynamic-bandwidth, static")


def _domains(system: System, regulation: Regulation) -> Findings:
    users: dict[int, int] = {}
    for domain in system.domains:
        for core in domain.cpus:
            users[core] = users.get(core, 0) + 1
    if not any(is_regulated(system, domain) for domain in system.domains):
        cause = f"'{regulation.policy}' regulates best-effort domains, and the system has none"
        yield Finding(
            (*_AT, "policy"), "conflict", cause, "static, or a domain with `criticality: best-effort`"
        )
    for index, domain in enumerate(system.domains):
        at: KeyPath = ("domains", index)
        counted = is_regulated(system, domain) or regulation.policy in BY_TRAFFIC
        if not counted:
            continue
        if any(users[core] > 1 for core in domain.cpus):
            cause = f"'{domain.name}' shares a core: its budget belongs to its VCPUs and cannot be regulated"
            yield Finding((*at, "cpus"), "conflict", cause, "cores of its own, or the policy static")
        yield from _bandwidth((*at, "bandwidth"), domain, regulation)
    if regulation.reclaim:
        cause = f"the regulator of the policy '{regulation.policy}' already distributes unused budget"
        yield Finding((*_AT, "reclaim"), "conflict", cause, "false, or the policy static")


def _bandwidth(at: KeyPath, domain: Domain, regulation: Regulation) -> Findings:
    bandwidth = domain.bandwidth
    if bandwidth.counts == "each" or bandwidth.apart:
        cause = f"'{domain.name}' has two budgets, and a regulator sets only one"
        yield Finding((*at, "counts"), "conflict", cause, "sum, refills, writebacks")
    if bandwidth.accesses is not None:
        cause = f"'{domain.name}' has two budgets, and a regulator sets only one"
        yield Finding((*at, "accesses"), "conflict", cause, "no `accesses`, or the policy static")
    given = "period" in bandwidth.model_fields_set or (not bandwidth.unlimited and domain.criticality == "rt")
    if given and bandwidth.period != regulation.interval:
        cause = f"is {bandwidth.period} ns, but the regulator's interval is {regulation.interval} ns"
        yield Finding((*at, "period"), "conflict", cause, "the interval")


def _reclaim(system: System, regulation: Regulation) -> Findings:
    """Domains that reclaim share one pool: their periods and the kind of events they count must be equal."""
    if regulation.policy in DYNAMIC:
        return
    givers = [
        (index, domain)
        for index, domain in enumerate(system.domains)
        if domain.criticality != "rt"
        and not domain.bandwidth.unlimited
        and (domain.bandwidth.per == "vcpu" or len(domain.cpus) == 1)
        and not domain.bandwidth.apart
        and domain.bandwidth.accesses is None
    ]
    for index, domain in givers[1:]:
        for key in ("period", "counts"):
            first = getattr(givers[0][1].bandwidth, key)
            if getattr(domain.bandwidth, key) != first:
                cause = f"differs from that of '{givers[0][1].name}', with which it shares unused budget"
                yield Finding(("domains", index, "bandwidth", key), "conflict", cause, f"{first}")


def _is_workable(regulation: Regulation, platform: Platform) -> bool:
    """Whether the interval is a period that can be enforced; another check reports one that is not."""
    stated = platform.memory_budget
    return stated is None or regulation.interval >= stated.shortest_period


def _bounds(system: System, regulation: Regulation, found: RegulatorPlan, platform: Platform) -> Findings:
    """The same checks as in core/regulator_parameters.c, reported at the keys of the file."""
    budgets = {core: found.budget_events[core] for core in found.regulated}
    regulated = {
        core: events for core, events in budgets.items() if events is not None
    }  # None: reported by another check
    for index, domain in enumerate(system.domains):
        low = [core for core in domain.cpus if core in regulated and regulated[core] < found.floor_events]
        if low:
            cause = f"gives core {low[0]} of '{domain.name}' a smaller start budget than `regulation.floor`"
            yield Finding(
                ("domains", index, "bandwidth"), "out-of-range", cause, "a higher budget, or a lower floor"
            )
    event = counted_event(platform, emulated=False)
    assert event is not None and event.bytes is not None
    raised = found.floor_events > 1 and "floor" not in regulation.model_fields_set
    if events_of_rate(regulation.floor, regulation.interval, event) == 0 and not raised:
        cause = f"is less than one event of {event.bytes} bytes in an interval"
        yield Finding((*_AT, "floor"), "out-of-range", cause, "a higher value, or a longer interval")
    elif _is_workable(regulation, platform) and found.floor_events < (
        least := smallest_enforced(platform, event)
    ):
        cause = (
            f"{found.floor_events} events in an interval are fewer than the smallest budget that can be"
            f" enforced on '{platform.name}' (`memory_budget.smallest_budget`)"
        )
        rate = -(-least * event.bytes * NS_PER_S // regulation.interval)
        allowed = f"at least {rate / MB:.6f}".rstrip("0").rstrip(".") + " MB/s, or a longer interval"
        yield Finding((*_AT, "floor"), "budget-not-workable", cause, allowed)
    if found.ceiling_events == 0:
        cause = f"is less than one event of {event.bytes} bytes in an interval"
        yield Finding((*_AT, "ceiling"), "out-of-range", cause, "a higher value, or a longer interval")
        return
    key = {"dynamic-bandwidth": "threshold", DELAY: "least"}.get(found.policy)
    if key is not None and not 0 < found.bandwidth_threshold_events < 1 << 38:
        cause = f"is {found.bandwidth_threshold_events} events of {event.bytes} bytes in an interval"
        yield Finding((*_AT, key), "out-of-range", cause, "1 to 2^38 - 1 of them")
    others = [events for core, events in found.budget_events.items() if core not in found.regulated]
    limits = [events for events in others if events is not None]
    ceiling = found.ceiling_events
    if regulation.saturation is not None:
        if len(limits) != len(others):
            cause = "is a ceiling for the limits of real-time domains, and one of them has no limit"
            yield Finding((*_AT, "saturation"), "conflict", cause, "a `bandwidth` for each real-time domain")
            return
        devices = device_rates(system, platform)
        if unknown := [f"'{one.device}'" for one in devices if one.charged is None]:
            cause = f"is a ceiling for all traffic, and no rate of {', '.join(unknown)} is known"
            yield Finding((*_AT, "saturation"), "conflict", cause, STATE_RATE)
            return
        if sum(limits) >= found.saturation_events:
            beside = " and devices" if devices else ""
            cause = f"is used up by the limits of the real-time domains{beside} alone"
            yield Finding((*_AT, "saturation"), "out-of-range", cause, "a higher value, or lower limits")
            return
        ceiling = min(ceiling, found.saturation_events - sum(limits))
    if sum(regulated.values()) > ceiling:
        key = "ceiling" if ceiling == found.ceiling_events else "saturation"
        cause = (
            f"leaves {ceiling} events of an interval, the budgets at the start are {sum(regulated.values())}"
        )
        allowed = "a higher value, or lower budgets" if ceiling < MOST_GLOBAL_EVENTS else "lower budgets"
        yield Finding((*_AT, key), "out-of-range", cause, allowed)
