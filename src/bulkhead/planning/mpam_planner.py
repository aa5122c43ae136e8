# SPDX-License-Identifier: Apache-2.0
"""Plans MPAM for a system: PARTIDs, and the settings of each partition at each resource instance (M7).

plan.py calls this if the platform has MPAM. core/ divides caches and rounds shares (mpam_native.py); this
module translates owners' requests for core/ and core's refusals into findings.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding
from bulkhead.config.system import System
from bulkhead.planning.broker import is_broker
from bulkhead.planning.colors import HYPERVISOR
from bulkhead.planning.mechanism import Instance, bandwidth_by_mpam, instances, is_llc, llc_mechanism
from bulkhead.planning.model import Choice
from bulkhead.planning.mpam import (
    BROKER_PARTID,
    FIRST_DOMAIN_PARTID,
    HYPERVISOR_PARTID,
    ComponentSettings,
    MpamPlan,
    Partition,
    Settings,
)
from bulkhead.planning.mpam_bandwidth import bandwidth_of, guarantees_fit
from bulkhead.planning.mpam_cache import Divided, divide
from bulkhead.planning.mpam_native import ACCEPTED, refusal_of
from bulkhead.planning.mpam_refusal import refused


@dataclass
class Planned:
    """The plan, its reasons, and findings about requests that could not be met. It is valid only without
    findings."""

    plan: MpamPlan
    choices: list[Choice] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def plan_mpam(system: System, platform: Platform) -> Planned | None:
    """The MPAM plan; None if the platform has no MPAM. Without isolation, partitions are used by monitors
    only."""
    if platform.mpam is None:
        return None
    partitions = partitions_of(system)
    planned = Planned(MpamPlan(partitions, ()), findings=_partid_findings(platform, partitions))
    settings: list[ComponentSettings] = []
    of_memory = bandwidth_by_mpam(platform)
    for instance in instances(platform):
        divided = Divided()
        if is_llc(instance, platform) and llc_mechanism(system, platform) == "mpam":
            divided = divide(system, platform, instance)
        planned.choices += divided.choices
        planned.findings += divided.findings
        if not divided.findings:
            settings += _of_instance(
                system, instance, partitions, divided, of_memory=of_memory, findings=planned.findings
            )
    planned.plan = MpamPlan(partitions, tuple(settings))
    planned.findings += _limit_findings(settings)
    planned.findings = list(dict.fromkeys(planned.findings))  # slices of a cache give the same findings
    return planned


def partitions_of(system: System) -> tuple[Partition, ...]:
    """Partitions of all owners. PARTID 0 has none: firmware uses it, and code that runs before EL2 sets
    labels."""
    found = [Partition("hypervisor", HYPERVISOR_PARTID)]
    next_partid = FIRST_DOMAIN_PARTID
    for domain in system.domains:
        if is_broker(system, domain.name) and all(one.partid != BROKER_PARTID for one in found):
            found.append(Partition(domain.name, BROKER_PARTID))
            continue
        count = max(1, domain.virtual_partids)
        found.append(Partition(domain.name, next_partid, count))
        next_partid += count
    return tuple(sorted(found, key=lambda one: one.partid))


def _partid_findings(platform: Platform, partitions: tuple[Partition, ...]) -> list[Finding]:
    assert platform.mpam is not None
    needed = max(one.partid + one.count for one in partitions)
    found = []
    if needed > platform.mpam.partids:
        cause = f"needs PARTIDs 0 to {needed - 1}, and '{platform.name}' has {platform.mpam.partids}"
        found.append(Finding(("domains",), "limit", cause, "fewer domains, or fewer `virtual_partids`"))
    for component in platform.mpam.components:
        internal = component.internal_partids
        if internal is not None and needed > internal:
            cause = (
                f"needs PARTIDs 0 to {needed - 1}, and '{component.name}' of '{platform.name}' maps them to "
                f"{internal} internal ones: two partitions on one internal PARTID are not isolated"
            )
            found.append(Finding(("domains",), "limit", cause, "fewer domains, or fewer `virtual_partids`"))
    return found


def _limit_findings(settings: list[ComponentSettings]) -> list[Finding]:
    """Findings if the manifest has no room for the settings or for the words of their bitmaps."""
    rows = sum(1 for one in settings if one.settings.asked)
    words = sum(one.settings.bitmap_words for one in settings)
    found = []
    for number, what, most in (
        (rows, "settings of PARTIDs", limits()["max_mpam_settings"]),
        (words, "words of portion bitmaps", limits()["max_mpam_words"]),
    ):
        if number > most:
            cause = f"needs {number} {what}, more than the manifest has room for"
            allowed = f"at most {most}: fewer domains, or fewer `virtual_partids`"
            found.append(Finding(("domains",), "limit", cause, allowed))
    return found


def _of_instance(
    system: System,
    instance: Instance,
    partitions: tuple[Partition, ...],
    divided: Divided,
    *,
    of_memory: bool,
    findings: list[Finding],
) -> list[ComponentSettings]:
    """Settings of all partitions at one instance; core's refusals are added to `findings`."""
    found: list[ComponentSettings] = []
    guarantees: dict[int, list[Fraction]] = {}
    owners = {domain.name: index for index, domain in enumerate(system.domains)}
    for partition in partitions:
        owner = owners.get(partition.owner, HYPERVISOR)
        settings = divided.settings.get(owner, Settings())
        if of_memory and owner != HYPERVISOR and instance.resource.memory is not None:
            settings = bandwidth_of(system.domains[owner].bandwidth, instance.resource)
        settings = _of_each(settings, partition.count)
        refusal, control = refusal_of(instance.resource, settings)
        if refusal != ACCEPTED:
            findings.append(refused(system, owner, instance, settings, refusal, control))
            continue
        if settings.mbw_min is not None:
            guarantees[owner] = [settings.mbw_min] * partition.count
        for partid in range(partition.partid, partition.partid + partition.count):
            found.append(ComponentSettings(instance.component.name, instance.ris, partid, settings))
    findings += guarantees_fit(system, instance, guarantees)
    return found


def _of_each(settings: Settings, count: int) -> Settings:
    """Settings of each PARTID of a domain. The domain's limits and its share by stride are divided among its
    PARTIDs, so that together they keep them. The guest may use one PARTID only, so each has the whole
    guarantee."""

    def part(share: Fraction | None) -> Fraction | None:
        return None if share is None else share / count

    return replace(
        settings,
        cmax=part(settings.cmax),
        associativity=part(settings.associativity),
        mbw_max=part(settings.mbw_max),
        stride=None if settings.stride is None else settings.stride * count,
    )
