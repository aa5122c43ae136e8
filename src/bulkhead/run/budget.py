# SPDX-License-Identifier: Apache-2.0
"""How a domain kept its budget: the object `events` of a run's result.

Called by `result` with the hypervisor's statistics pages. Each of a domain's VCPUs is on a core of its own.
VCPUs may share the budget, but each counts its own events.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.config.quantity import U64_MAX
from bulkhead.planning.budgets import NS_PER_S, Budget
from bulkhead.planning.regulated_devices import RegulatedDevice
from bulkhead.planning.regulation import RegulatorPlan
from bulkhead.results.run import (
    AccessesResult,
    EventsResult,
    RangeResult,
    RegulatedDeviceResult,
    RegulationResult,
    VcpuEventsResult,
)
from bulkhead.run.overshoot import beyond_budget, counts_instructions
from bulkhead.run.status import BudgetStatus, CoreStatus, DeviceLimitStatus, RegulationStatus

FIRST_INTERVALS = 10  # within which the regulator has made a step


def events_of(budget: Budget, event: str | None, cores: Sequence[CoreStatus]) -> EventsResult:
    """The object `events`: the budget in each period (of all VCPUs together if `shared`), then sums and
    maxima over VCPUs.

    `latest`: the budget after changes by a manager. `accesses`: the second budget, of other events than the
    first.
    """
    vcpus = [core.budget for core in cores if core.budget is not None]
    beyond = sum(one.overshoot_periods for one in vcpus)
    last = max(vcpus, key=lambda one: one.changes, default=None)
    found: EventsResult = {
        "event": event,
        "budget": budget.events,
        "period_ns": budget.period_ns,
        "changes": last.changes if last is not None else 0,
        "shared": budget.shared,
        "events": sum(_counted(one, budget) for one in vcpus),
        "max_per_period": max((one.max_per_period for one in vcpus), default=0),
        "overshoot_max": max((one.overshoot_max for one in vcpus), default=0),
        "overshoot_mean": sum(one.overshoot_events for one in vcpus) / beyond if beyond else 0.0,
        "periods": sum(one.periods for one in vcpus),
        "late_periods": sum(one.late_periods for one in vcpus),
        "throttled_periods": sum(one.throttled_periods for one in vcpus),
        "throttled_ns": sum(one.throttled_ns for one in vcpus),
        "vcpus": [_vcpu(core.vcpu, core.budget, budget) for core in cores if core.budget is not None],
    }
    if budget.counts == "each":
        found["write_budget"] = budget.second_events
    if budget.counts == "accesses":
        found["accesses"] = _accesses(budget, vcpus)
    if last is not None and last.changes > 0:
        found["latest"] = {"budget": last.limit, "period_ns": last.period_ns}
    return found


def _counted(one: BudgetStatus, budget: Budget) -> int:
    """Events of the first budget's kind."""
    return one.events - one.second_events if budget.counts == "accesses" else one.events


def _accesses(budget: Budget, vcpus: Sequence[BudgetStatus]) -> AccessesResult:
    return {
        "budget": budget.second_events,
        "events": sum(one.second_events for one in vcpus),
        "max_per_period": max((one.second_max_per_period for one in vcpus), default=0),
    }


def budget_reasons(
    name: str, budget: Budget, event: str | None, cores: Sequence[CoreStatus], *, restarted: bool = False
) -> list[str]:
    """Why the promise of events in each period was broken; empty if it was kept.

    A period that ended late takes time from the domain alone. If a manager has changed the budget, the length
    of such a period may have been the manager's choice: nothing is kept about it, and the sentence about the
    budget says how many ended late.

    `restarted`: EL2 loaded the domain's images again. What a VCPU had beyond its budget is judged here for
    cores of its own; for shared cores see shared_core.py. Where instructions stand in, the emulator counts
    those of other cores, too, so nothing is said.
    """
    vcpus = [(core, core.budget) for core in cores if core.budget is not None]
    reasons = []
    changed = any(one.changes for _, one in vcpus)
    if (late := sum(one.late_periods for _, one in vcpus)) and not changed:
        short = f"{budget.period_ns} ns are too short here"
        reasons.append(f"domain {name}: {late} periods of its budget ended late: {short}")
    if budget.events is None or counts_instructions(event):
        return reasons
    for core, one in vcpus:
        if core.attributed:
            found = beyond_budget(f"VCPU {core.vcpu}", budget, event, one, restarted=restarted)
            reasons += [f"domain {name}: {text}" for text in found]
    return reasons


def regulation_reasons(
    regulator: RegulatorPlan, seen: RegulationStatus | None, regulated_ns: int | None
) -> list[str]:
    """Why the regulator did not work; empty if it did. `regulated_ns`: how long a regulated domain has run;
    None: none runs, or the time is not known."""
    if seen is not None or regulated_ns is None or regulated_ns <= FIRST_INTERVALS * regulator.interval_ns:
        return []
    ran = regulated_ns / regulator.interval_ns
    return [
        f"the regulator of policy '{regulator.policy}' never changed a budget: none of its intervals ended "
        f"in a time of {ran:.0f} intervals"
    ]


def _vcpu(number: int, one: BudgetStatus, budget: Budget) -> VcpuEventsResult:
    found: VcpuEventsResult = {
        "vcpu": number,
        "events": _counted(one, budget),
        "max_per_period": one.max_per_period,
        "overshoot_max": one.overshoot_max,
        "periods": one.periods,
        "throttled_periods": one.throttled_periods,
        "throttled_ns": one.throttled_ns,
    }
    limits = one.limits
    if limits is not None and limits.least != U64_MAX:  # a core that only counts has no limits
        found["budget_min"] = limits.least
        found["budget_mean"] = limits.mean
        found["budget_max"] = limits.most
    if one.reclaim is not None:
        found["given"] = one.reclaim.given
        found["drawn"] = one.reclaim.drawn
        found["violations"] = one.reclaim.violations
        found["shortfall"] = one.reclaim.shortfall
    return found


def regulation_of(
    regulator: RegulatorPlan, seen: RegulationStatus, limits: Sequence[DeviceLimitStatus]
) -> RegulationResult:
    """The object `regulation` of a run's result. `limits`: of devices, in the plan's order."""
    found: RegulationResult = {
        "policy": regulator.policy,
        "interval_ns": regulator.interval_ns,
        "intervals": seen.samples,
        "missed": seen.missed,
        "late": seen.given_up,
        "unusable": seen.unusable,
        "changes": seen.changes,
        "global_events": {
            "last": seen.global_last,
            "mean": seen.global_mean,
            "min": seen.global_min,
            "max": seen.global_max,
        },
        "load": {"mean": seen.load_mean, "min": seen.load_min, "max": seen.load_max},
    }
    if regulator.devices:
        found["devices"] = [
            _device_of(one, limit, seen.samples, regulator.interval_ns)
            for one, limit in zip(regulator.devices, limits, strict=False)
        ]
    return found


def _device_of(
    device: RegulatedDevice, limit: DeviceLimitStatus, steps: int, interval_ns: int
) -> RegulatedDeviceResult:
    events: RangeResult = {
        "last": limit.last,
        "mean": limit.sum / steps,
        "min": limit.least,
        "max": limit.most,
    }
    a_second = device.event_bytes * NS_PER_S / interval_ns
    rates: RangeResult = {
        "last": round(limit.last * a_second),
        "mean": round(events["mean"] * a_second),
        "min": round(limit.least * a_second),
        "max": round(limit.most * a_second),
    }
    return {
        "name": device.name,
        "budget_events": events,
        "bytes_per_s": rates,
        "rate_changes": limit.changes,
    }
