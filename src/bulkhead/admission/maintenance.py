# SPDX-License-Identifier: Apache-2.0
"""Which domains can disturb real-time ones by invalidating TLBs or instruction caches of all cores.

These instructions are broadcast to every core of the board. If the hypervisor executes them for a domain,
they stay on its core if the domain has only one; otherwise they are charged to its bandwidth budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bulkhead.config.problem import Finding
from bulkhead.config.system import Domain, System
from bulkhead.planning.budgets import CountedEvent
from bulkhead.planning.regulation import budget_in


def reaching(system: System, events: Sequence[CountedEvent]) -> Iterator[Finding]:
    """A notice for each best-effort domain whose maintenance affects real-time domains on other cores.

    `events`: events that can be counted where the system may run.
    """
    for index, domain in enumerate(system.domains):
        others = [f"'{other.name}'" for other in system.domains if _elsewhere(other, domain)]
        if domain.criticality == "rt" or not others:
            continue
        what = _unbounded(system, domain, events)
        if what is not None:
            cause = f"{what[0]}: this can delay {', '.join(others)}"
            yield Finding(("domains", index, "maintenance"), "maintenance-shared", cause, what[1])


def _elsewhere(other: Domain, domain: Domain) -> bool:
    return other is not domain and other.criticality == "rt" and not set(other.cpus) <= set(domain.cpus)


def _unbounded(system: System, domain: Domain, events: Sequence[CountedEvent]) -> tuple[str, str] | None:
    """How the domain can disturb other cores, and what to change. None: only within its budget."""
    trapped = system.maintenance_of(domain)
    if trapped == "direct":
        return f"TLB and cache invalidations of '{domain.name}' act on all cores", "`maintenance: trapped`"
    if len(domain.cpus) > 1 and not any(budget_in(system, domain, event) for event in events):
        return (
            f"TLB and cache invalidations of '{domain.name}' act on all cores, because it has several "
            "cores and no budget",
            "one core, or a `bandwidth` budget",
        )
    if trapped == "translations":
        return f"'{domain.name}' can invalidate the instruction caches of all cores", "`maintenance: trapped`"
    return None
