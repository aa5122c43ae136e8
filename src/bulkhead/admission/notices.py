# SPDX-License-Identifier: Apache-2.0
"""Notices about keys of a system file that this version accepts but does not enforce.

The keys are validated like all others; `check` and `run` show these notices so that users do not rely on
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.system import Domain, System
from bulkhead.planning.budgets import CountedEvent
from bulkhead.planning.regulation import budget_in, is_dynamic


def not_enforced(system: System, events: Sequence[CountedEvent]) -> list[Finding]:
    """One notice for each key without effect. `events`: events that can be counted where the system may
    run."""
    notices: list[Finding] = []

    def note(path: KeyPath, what: str) -> None:
        notices.append(Finding(path, "not-enforced", f"{what} has no effect"))

    regulated = is_dynamic(system)
    if regulated and not any(event.bytes for event in events):
        assert system.regulation is not None
        cause = (
            f"the regulation policy '{system.regulation.policy}' is {_uncounted(events, 'the policy static')}"
        )
        notices.append(Finding(("regulation", "policy"), "not-enforced", cause))
    elif (
        system.regulation is not None and system.regulation.policy != "none" and not system.regulation.samples
    ):
        cause = (
            f"the policy '{system.regulation.policy}' takes samples nevertheless, until a manager stops them"
        )
        notices.append(Finding(("regulation", "samples"), "not-enforced", cause))
    for index, domain in enumerate(system.domains):
        _note_domain(note, ("domains", index), domain, system)
        if not domain.bandwidth.unlimited and not any(budget_in(system, domain, event) for event in events):
            cause = f"the bandwidth budget of '{domain.name}' is {_uncounted(events, '`instructions`')}"
            notices.append(Finding(("domains", index, "bandwidth"), "not-enforced", cause))
    if system.broker is not None and not system.flows:
        note(("broker",), "the broker of a system without flows")
    if system.brokers and not system.flows:
        note(("brokers",), "the brokers of a system without flows")
    return notices


def _uncounted(events: Sequence[CountedEvent], instead: str) -> str:
    if not events:
        return "not enforced: no event for memory traffic is counted there"
    return f"not enforced: {events[0].name} is counted there, which is not a number of bytes; use {instead}"


def _note_domain(note: Callable[[KeyPath, str], None], at: KeyPath, domain: Domain, system: System) -> None:
    if domain.priority != 0:
        if not system.shared_cores().intersection(domain.cpus):
            note((*at, "priority"), f"the priority of '{domain.name}' on cores that no other domain uses")
        elif system.hypervisor.scheduler == "round-robin":
            note((*at, "priority"), f"the priority of '{domain.name}' under round robin")
    if not domain.cpu.unlimited and not system.shared_cores().intersection(domain.cpus):
        note((*at, "cpu"), f"the CPU time of '{domain.name}' on cores that no other domain uses")
