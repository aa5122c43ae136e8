# SPDX-License-Identifier: Apache-2.0
"""Test hooks for platforms with MPAM: a domain gets its neighbour's PARTID, or components get wrong settings.

`bulkhead run --mislabel` and `--misprogram` use them to show that the witnesses detect such errors. plan.py
applies them last: EL2 gets the wrong plan, the witnesses the right one.
"""

from __future__ import annotations

from dataclasses import replace

from bulkhead.config.problem import Finding, nearest_of, quoted
from bulkhead.config.system import System
from bulkhead.planning.mpam import MpamPlan, Partition, Settings


def mislabel(target: str, system: System, plan: MpamPlan | None) -> MpamPlan | Finding:
    """Swaps the PARTIDs of the domain and a neighbour; the components' settings for each PARTID stay."""
    found = _pair(target, "mislabel", system, plan)
    if isinstance(found, Finding):
        return found
    plan, own, other = found
    swapped = {
        own.owner: replace(own, partid=other.partid, pmg=other.pmg),
        other.owner: replace(other, partid=own.partid, pmg=own.pmg),
    }
    partitions = (swapped.get(one.owner, one) for one in plan.partitions)
    return replace(plan, partitions=tuple(sorted(partitions, key=lambda one: one.partid)))


def misprogram(target: str, system: System, plan: MpamPlan | None) -> MpamPlan | Finding:
    """Gives the domain's PARTIDs the settings that were planned for a neighbour's."""
    found = _pair(target, "misprogram", system, plan)
    if isinstance(found, Finding):
        return found
    plan, own, other = found
    of_other = {(one.component, one.ris): one.settings for one in plan.settings if one.partid == other.partid}
    mine = range(own.partid, own.partid + own.count)
    settings = tuple(
        replace(one, settings=of_other.get((one.component, one.ris), Settings()))
        if one.partid in mine
        else one
        for one in plan.settings
    )
    if settings == plan.settings:
        cause = f"{quoted(target)} and {quoted(other.owner)} have the same settings, so nothing would change"
        return Finding(("misprogram",), "bad-misprogram", cause)
    return replace(plan, settings=settings)


def _pair(
    target: str, hook: str, system: System, plan: MpamPlan | None
) -> tuple[MpamPlan, Partition, Partition] | Finding:
    """The domain's partition and that of a neighbour: a real-time domain, if there is one."""

    def refused(cause: str, allowed: str | None = None, nearest: str | None = None) -> Finding:
        return Finding((hook,), f"bad-{hook}", cause, allowed, nearest)

    names = [domain.name for domain in system.domains]
    if target not in names:
        cause = f"there is no domain {quoted(target)}"
        return refused(cause, ", ".join(names), nearest_of(target, names))
    if plan is None:
        return refused("the platform has no MPAM, so there is no PARTID", "--miscolor")
    own = plan.partition(target)
    assert own is not None, "every domain has a partition"
    others = [
        (domain, found)
        for domain in system.domains
        if domain.name != target and (found := plan.partition(domain.name)) and found.count == own.count
    ]
    if not others:
        return refused(f"no other domain has as many PARTIDs as {quoted(target)}")
    other = next((found for domain, found in others if domain.criticality == "rt"), others[0][1])
    return plan, own, other
