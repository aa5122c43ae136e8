# SPDX-License-Identifier: Apache-2.0
"""Checks that counters and timers can enforce a bandwidth budget, and which domains may use the PMU.

crosscheck.py calls this for each system file.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.shares import Bandwidth
from bulkhead.config.system import Domain, System
from bulkhead.planning.budgets import (
    MOST_EVENTS,
    NS_PER_S,
    SLACK_PART,
    CountedEvent,
    counted_event,
    counters_of,
    counts_of,
    events_of_rate,
    most_slack,
)
from bulkhead.planning.memory_budget import below_workable
from bulkhead.planning.regulation import budget_in

APART = (("read", "write"), ("read_events", "write_events"))  # budgets of lines fetched and of lines written
SHORTEST_PERIOD_NS = 1000  # the same as in core/manifest_budgets.c; a timer cannot be more precise
LONGEST_PERIOD_NS = 3600 * NS_PER_S
SHORTEST_CPU_PERIOD_NS = 100_000  # many times the duration of a switch between VCPUs


def check_budgets(system: System, platform: Platform) -> Iterator[Finding]:
    for index, domain in enumerate(system.domains):
        at: KeyPath = ("domains", index, "bandwidth")
        if domain.pmu and not (platform.pmu is not None and platform.pmu.interrupts):
            cause = (
                f"platform '{platform.name}' does not state the interrupts of its performance monitors "
                "(`pmu`)"
            )
            yield Finding(("domains", index, "pmu"), "not-supported", cause, "false")
        if not domain.bandwidth.unlimited:
            yield from _impossible(at, domain.bandwidth, platform)
            yield from _counts(at, domain, platform)
        if domain.bandwidth.slack is not None:
            yield from _slack((*at, "slack"), domain.bandwidth.slack, system, domain, platform)
        yield from _cpu_time(("domains", index, "cpu"), domain)
    yield from _one_core(system, platform)
    yield from _whole_core(system)
    yield from _workable(system, platform)
    yield from _counters(system, platform)


def _counters(system: System, platform: Platform) -> Iterator[Finding]:
    """Whether each core has the counters that the hypervisor needs there, and one more: EL2 does not take the
    last one, because some cores do not permit that (MDCR_EL2.HPMN = 0)."""
    event = counted_event(platform, emulated=False)
    budgets = {index: budget_in(system, domain, event) for index, domain in enumerate(system.domains)}
    there = platform.pmu.counters if platform.pmu is not None else 0
    for index, budget in budgets.items():
        needed = counters_of(budget) if budget is not None else 0
        if budget is None or needed < there:
            continue
        at: KeyPath = ("domains", index, "bandwidth")
        cause = (
            f"needs {needed} event counter{'s' if needed > 1 else ''} of each core for '{budget.counts}' and "
            f"one that is left, and platform '{platform.name}' has {there} (`pmu.counters`)"
        )
        one = "one budget with `counts: refills`, which needs one counter"
        allowed = one if there > 1 else "no budget, and no regulator"
        yield Finding(at, "not-on-platform", cause, allowed)


def _workable(system: System, platform: Platform) -> Iterator[Finding]:
    """Budgets that the hypervisor cannot enforce there: a domain would get more than its budget. Budgets that
    no platform could enforce are reported above."""
    intervals = False
    for one in below_workable(system, platform):
        at: KeyPath = ("domains", one.domain, "bandwidth")
        if one.regulated and one.of_period:
            if not intervals:
                yield Finding(("regulation", "interval"), "budget-not-workable", one.cause, one.allowed)
            intervals = True
        elif not any(_impossible(at, system.domains[one.domain].bandwidth, platform)):
            yield Finding(at, "budget-not-workable", one.cause, one.allowed)


def _impossible(at: KeyPath, bandwidth: Bandwidth, platform: Platform) -> Iterator[Finding]:
    """A period or an amount that no hypervisor could enforce."""
    yield from _period(at, bandwidth)
    yield from _events(at, bandwidth, platform)


def _cpu_time(at: KeyPath, domain: Domain) -> Iterator[Finding]:
    budget, period = domain.cpu.budget, domain.cpu.period
    if budget is None:
        if "period" in domain.cpu.model_fields_set:
            yield Finding(at, "missing-key", "has a period without a budget", "a budget")
        return
    if not SHORTEST_CPU_PERIOD_NS <= period <= LONGEST_PERIOD_NS:
        yield Finding((*at, "period"), "out-of-range", f"is {period} ns", "100 us to 1 h")
    elif not 0 < budget <= period:
        yield Finding(
            (*at, "budget"), "out-of-range", f"is {budget} ns", f"1 ns to the period of {period} ns"
        )


def _whole_core(system: System) -> Iterator[Finding]:
    """Reservations on one core must not add up to more than the whole core. One that is wrong by itself is
    not counted."""
    for core in sorted(system.shared_cores()):
        reserved = [
            (index, Fraction(domain.cpu.budget, domain.cpu.period))
            for index, domain in enumerate(system.domains)
            if core in domain.cpus and domain.cpu.budget is not None
            if not any(_cpu_time(("domains", index, "cpu"), domain))
        ]
        share = sum((share for _, share in reserved), Fraction())
        if share > 1:
            at: KeyPath = ("domains", reserved[-1][0], "cpu")
            cause = f"reservations of core {core} are {float(share):.0%} of its time in total"
            yield Finding(at, "cpu-time-exhausted", cause, "100 % or less")


def _period(at: KeyPath, bandwidth: Bandwidth) -> Iterator[Finding]:
    if bandwidth.period < SHORTEST_PERIOD_NS:
        yield Finding((*at, "period"), "out-of-range", f"is {bandwidth.period} ns", "1 us or more")


def _events(at: KeyPath, bandwidth: Bandwidth, platform: Platform) -> Iterator[Finding]:
    event = counted_event(platform, emulated=False)
    if event is None or event.bytes is None:
        return
    rates = {"budget": bandwidth.budget, "read": bandwidth.read, "write": bandwidth.write}
    for key, rate in rates.items():
        if rate is None:
            continue
        events = events_of_rate(rate, bandwidth.period, event)
        if events == 0:
            least = -(-event.bytes * NS_PER_S // bandwidth.period)
            cause = f"is less than one event of {event.bytes} bytes in a period: the domain would never run"
            yield Finding((*at, key), "out-of-range", cause, f"{least} B/s or more, or a longer period")
        elif events > MOST_EVENTS:
            yield Finding(
                (*at, key), "out-of-range", f"is {events} events in a period", f"at most {MOST_EVENTS}"
            )


def _counts(at: KeyPath, domain: Domain, platform: Platform) -> Iterator[Finding]:
    bandwidth = domain.bandwidth
    event = counted_event(platform, emulated=False)
    given = tuple(key for pair in APART for key in pair if getattr(bandwidth, key) is not None)
    apart = bool(given)
    if apart and given not in APART:
        cause = f"has {' and '.join(given)} without the other key of the pair"
        code = "missing-key" if len(given) == 1 else "conflict"
        yield Finding(at, code, cause, "read and write, or read_events and write_events")
    if apart != (bandwidth.counts == "each") and bandwidth.counts != "auto":
        kind = "read and write budgets" if bandwidth.counts == "each" else "each"
        yield Finding((*at, "counts"), "conflict", f"'{bandwidth.counts}' does not fit the budgets", kind)
    if bandwidth.accesses is not None:
        yield from _accesses(at, domain, platform, event)
    elif event is not None and counts_of(bandwidth, event) is None:
        cause = f"platform '{platform.name}' has no event that counts write-backs (`pmu.writeback_event`)"
        yield Finding((*at, given[0] if apart else "counts"), "not-on-platform", cause, "refills")
    if bandwidth.slack is not None and (event is None or counts_of(bandwidth, event) != "sum"):
        yield Finding((*at, "slack"), "conflict", "needs `counts: sum`", "no `slack`")
    if apart and bandwidth.per == "domain" and len(domain.cpus) > 1:
        yield Finding((*at, "per"), "conflict", "a budget for each of two counters cannot be shared", "vcpu")


def _slack(at: KeyPath, slack: int, system: System, domain: Domain, platform: Platform) -> Iterator[Finding]:
    """Admission counts the budget alone, so a sum must be nearly exact."""
    budget = budget_in(system, domain, counted_event(platform, emulated=False))
    if budget is None or budget.events is None or budget.counts != "sum":
        return
    at_a_time = budget.chunk_events if budget.shared else budget.events
    most = most_slack(at_a_time)
    if slack > most:
        part = "drawn from it at a time" if budget.shared else "in a period"
        cause = f"is {slack} events, more than 1/{SLACK_PART} of the {at_a_time} events {part}"
        yield Finding(at, "out-of-range", cause, f"at most {most}")


def _accesses(
    at: KeyPath, domain: Domain, platform: Platform, event: CountedEvent | None
) -> Iterator[Finding]:
    """A budget of accesses can only be combined with a budget of refills: each uses one of the two
    counters."""
    bandwidth = domain.bandwidth
    if bandwidth.apart or bandwidth.counts not in ("auto", "refills"):
        cause = "needs a counter of its own, and there are two counters: the other one must count refills"
        yield Finding((*at, "accesses"), "conflict", cause, "`budget` or `events`, with `counts: refills`")
    elif event is not None and event.access_name is None:
        cause = (
            f"platform '{platform.name}' has no event that counts accesses past the caches "
            "(`pmu.access_event`)"
        )
        yield Finding((*at, "accesses"), "not-on-platform", cause, "no `accesses`")
    if bandwidth.per == "domain" and len(domain.cpus) > 1:
        yield Finding((*at, "per"), "conflict", "a budget for each of two counters cannot be shared", "vcpu")


def _one_core(system: System, platform: Platform) -> Iterator[Finding]:
    """VCPUs on one core share its counters, and each counter counts one event."""
    event = counted_event(platform, emulated=False)
    if event is None:
        return
    limited = [(n, d) for n, d in enumerate(system.domains) if not d.bandwidth.unlimited]
    counts = {n: counts_of(d.bandwidth, event) for n, d in limited}
    for n, domain in limited:
        others = [d for m, d in limited if counts[m] != "writebacks" and set(d.cpus) & set(domain.cpus)]
        if counts[n] == "writebacks" and others:
            core = min(set(others[0].cpus) & set(domain.cpus))
            cause = (
                f"'writebacks' cannot share core {core} with '{others[0].name}', whose budget counts "
                "another event"
            )
            yield Finding(
                ("domains", n, "bandwidth", "counts"), "conflict", cause, "`counts: sum`, or another core"
            )
        others = [d for m, d in limited if counts[m] in ("each", "sum") and set(d.cpus) & set(domain.cpus)]
        if counts[n] == "accesses" and others:
            core = min(set(others[0].cpus) & set(domain.cpus))
            cause = f"cannot share core {core} with '{others[0].name}', whose budget counts writes"
            allowed = f"`counts: refills` or `accesses` for '{others[0].name}', or another core"
            yield Finding(("domains", n, "bandwidth", "accesses"), "conflict", cause, allowed)
