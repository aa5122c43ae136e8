# SPDX-License-Identifier: Apache-2.0
"""Promises of cores that VCPUs share, and whether a run kept them: the list `shared_cores` of its result.

Called by `result` with the hypervisor's statistics pages. Some promises can only be counted by the
hypervisor: periods by the clock and periods that the scheduler recharged; dispatches of a VCPU while another
of a higher priority was ready; delays from the event that made a VCPU the most urgent one of its core to its
first instruction. The platform's bound of that delay is checked only on the simulated machine, which has its
own time.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.results.run import SharedCoreResult, SharedVcpuResult
from bulkhead.run.overshoot import beyond_budget
from bulkhead.run.status import CoreStatus, SharedVcpu, SystemStatus
from bulkhead.run.target import DomainTarget, Policy

_NOTED_NS = 50_000  # time after the end of a period within which its core has recorded it
_STARTED = ("ready", "recharge")  # states of a VCPU that waits for the core or for its next period


def shared_cores(
    status: SystemStatus, domains: Sequence[DomainTarget], policy: Policy
) -> list[SharedCoreResult]:
    return [_core(core, status, domains, policy) for core in status.cores if core.shared]


def shared_reasons(found: Sequence[SharedCoreResult]) -> list[str]:
    """Promises that were broken, and VCPUs that never got the core."""
    reasons = []
    for core in found:
        reasons += [
            f"core {core['core']}: {broken}"
            for promise in core["promises"].values()
            for broken in promise["broken"]
        ]
        reasons += [
            f"core {core['core']}: {name} never had the core, although it was ready to run"
            for name in core["starved"]
        ]
    return reasons


def _core(
    core: CoreStatus, status: SystemStatus, domains: Sequence[DomainTarget], policy: Policy
) -> SharedCoreResult:
    vcpus = [(one, domains[one.domain]) for one in core.shared if one.domain < len(domains)]
    promises = {
        "budgets": [text for one, domain in vcpus for text in _beyond_budget(one, domain, status)],
        "recharges": [text for one, domain in vcpus for text in _lost_recharges(one, domain, status)],
    }
    if policy.scheduler == "fixed-priority":
        promises["priorities"] = [text for one, domain in vcpus for text in _out_of_order(one, domain)]
        if policy.release_bound_ns is not None:
            promises["releases"] = [
                text for one, domain in vcpus for text in _released_late(one, domain, policy.release_bound_ns)
            ]
    if policy.release_bound_ns is not None and any(domain.cpu_ns for _, domain in vcpus):
        promises["cpu time"] = [
            text for one, domain in vcpus for text in _beyond_cpu_time(one, domain, policy.release_bound_ns)
        ]
    return {
        "core": core.core,
        "scheduler": policy.scheduler,
        "slice_ns": policy.slice_ns,
        "switches": core.switches,
        "exit_reasons": dict(core.exits),
        "release_bound_ns": policy.release_bound_ns,
        "vcpus": [_vcpu(one, domain, policy.scheduler) for one, domain in vcpus],
        "starved": [domain.name for one, domain in vcpus if one.dispatches == 0 and one.state in _STARTED],
        "promises": {name: {"kept": not broken, "broken": broken} for name, broken in promises.items()},
    }


def _vcpu(one: SharedVcpu, domain: DomainTarget, scheduler: str) -> SharedVcpuResult:
    found: SharedVcpuResult = {
        "domain": domain.name,
        "vcpu": one.vcpu,
        "priority": one.priority,
        "state": one.state,
        "dispatches": one.dispatches,
        "blocks": one.blocks,
        "run_ns": one.run_ns,
        "out_of_order": one.out_of_order,
    }
    if scheduler == "fixed-priority":
        found["release_delay"] = {
            "releases": one.releases,
            "mean_ns": one.release_mean_ns,
            "max_ns": one.release_max_ns,
        }
    if domain.cpu_ns is not None:
        found["cpu"] = {
            "budget_ns": domain.cpu_ns[0],
            "period_ns": domain.cpu_ns[1],
            "max_ns": one.cpu_max_ns,
            "periods": one.cpu_periods,
            "throttled_periods": one.cpu_throttled_periods,
        }
    if domain.budget is not None:
        found["budget"] = domain.budget.events
        found["period_ns"] = domain.budget.period_ns
        found["max_per_period"] = one.budget.max_per_period if one.budget else 0
        found["overshoot_max"] = one.budget.overshoot_max if one.budget else 0
        found["periods"] = one.budget.periods if one.budget else 0
        found["periods_due"] = one.periods_due
        found["throttled_periods"] = one.budget.throttled_periods if one.budget else 0
    return found


def _beyond_budget(one: SharedVcpu, domain: DomainTarget, status: SystemStatus) -> list[str]:
    if domain.budget is None or one.budget is None:
        return []
    restarted = status.domains[one.domain].restarts != 0
    return beyond_budget(domain.name, domain.budget, domain.event, one.budget, restarted=restarted)


def _lost_recharges(one: SharedVcpu, domain: DomainTarget, status: SystemStatus) -> list[str]:
    if domain.budget is None:
        return []
    recharged = one.budget.periods if one.budget else 0
    due = one.periods_due
    whole = status.domains[one.domain]
    throughout = one.vcpu == 0 and whole.state == "running" and not whole.restarts
    if status.guest_ns is not None and throughout and not (one.budget and one.budget.changes):
        # It ran throughout: the last period may have ended in the run's last moment.
        due = max(due, status.guest_ns // domain.budget.period_ns - 1)
    # The machine stops while other cores work: a core may have recorded the end of a period, but not yet the
    # recharge for the next one.
    since_ns = status.guest_ns - due * domain.budget.period_ns if status.guest_ns is not None else None
    at_the_end = since_ns is not None and abs(since_ns) < _NOTED_NS
    kept = recharged == due or (at_the_end and recharged == due - 1)
    return [] if kept else [f"{domain.name} was recharged {recharged} times in {due} periods"]


def _beyond_cpu_time(one: SharedVcpu, domain: DomainTarget, slack_ns: int) -> list[str]:
    """CPU time beyond the budget. The timer that ends it may be served `slack_ns` late, like other events."""
    if domain.cpu_ns is None or one.cpu_max_ns <= domain.cpu_ns[0] + slack_ns:
        return []
    return [
        f"{domain.name} had the core for {one.cpu_max_ns / 1000:.1f} us of a period, of a budget of"
        f" {domain.cpu_ns[0] / 1000:.1f} us and at most {slack_ns / 1000:.1f} us beyond it"
    ]


def _out_of_order(one: SharedVcpu, domain: DomainTarget) -> list[str]:
    if not one.out_of_order:
        return []
    return [
        f"{domain.name}, of priority {one.priority}, was chosen {one.out_of_order} times before one of a"
        " higher priority"
    ]


def _released_late(one: SharedVcpu, domain: DomainTarget, bound_ns: int) -> list[str]:
    if one.release_max_ns <= bound_ns:
        return []
    return [
        f"{domain.name} ran {one.release_max_ns / 1000:.1f} us after it became the most urgent one, more "
        f"than the bound of {bound_ns / 1000:.1f} us"
    ]
