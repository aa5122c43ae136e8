# SPDX-License-Identifier: Apache-2.0
"""Notices about budgets that a domain can bypass: accesses to memory mapped Non-cacheable or Device cause no
refills, so that they are not counted, but still use the memory.

load.py shows these notices for boards and for the simulated machine, where memory has a bandwidth.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.admission.masters import incoherent
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding
from bulkhead.config.system import Domain, System
from bulkhead.planning.budgets import CountedEvent, counted_event
from bulkhead.planning.regulation import budget_in, is_regulated


def goes_past_the_caches(domain: Domain, platform: Platform) -> bool:
    """Whether a domain can map memory so that accesses bypass the caches. Stage 2 prevents it if each core
    has FEAT_S2FWB, except for domains with a device that is not coherent with the caches."""
    return not platform.cores.s2fwb or bool(incoherent(domain, platform))


def uncounted(system: System, platform: Platform) -> Iterator[Finding]:
    """A notice for each best-effort budget of refills in a system with a real-time domain."""
    event = counted_event(platform, emulated=False)
    waits = next((domain for domain in system.domains if domain.criticality == "rt"), None)
    if event is None or waits is None:
        return
    for index, domain in enumerate(system.domains):
        budget = None if domain.criticality == "rt" else budget_in(system, domain, event)
        if budget is None or budget.counts == "accesses" or not goes_past_the_caches(domain, platform):
            continue
        cause = (
            f"the budget of '{domain.name}' counts {event.counted_as(budget.counts)}, but no accesses to "
            f"memory that '{domain.name}' maps as Non-cacheable or Device: '{waits.name}' can wait for "
            "these without a bound"
        )
        allowed = _instead(system, domain, event)
        yield Finding(("domains", index, "bandwidth"), "uncounted", cause, allowed)


def _instead(system: System, domain: Domain, event: CountedEvent) -> str:
    if event.access_name is None:
        return "cores with FEAT_S2FWB: the platform counts no such accesses (`pmu.access_event`)"
    policy = " and a policy that does not regulate it" if is_regulated(system, domain) else ""
    return f"a second budget, of {event.access_name}: `accesses`{policy} (docs/design/bandwidth.md)"
