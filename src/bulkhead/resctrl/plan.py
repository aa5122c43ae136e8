# SPDX-License-Identifier: Apache-2.0
"""Turns a system file into resctrl groups: one for each domain; the default group has the hypervisor's part.

The cache is divided by the same function of core/ as for EL2 (planning/mpam_cache.py). A key that resctrl
cannot express is a finding; the other keys become schemata.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from bulkhead.config.mpam import MpamComponent, Resource
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.shares import Bandwidth, Llc
from bulkhead.config.system import System
from bulkhead.planning.colors import HYPERVISOR
from bulkhead.planning.mechanism import Instance
from bulkhead.planning.mpam_cache import divide
from bulkhead.resctrl.tree import (
    MB,
    MOST_PERCENT,
    CacheInfo,
    Offer,
    ResctrlGroup,
    Values,
    cache_bytes,
    groups_of,
)
from bulkhead.units import mask_text, percent_text

DEFAULT = ""
_RESERVED = ("info", "mon_groups", "mon_data")


@dataclass(frozen=True)
class WantedGroup:
    """One group of the file. `cpus` None: it shares CPUs, so its tasks have to be put into it."""

    group: str
    schemata: dict[str, Values]
    cpus: tuple[int, ...] | None


@dataclass
class ResctrlPlan:
    wanted: list[WantedGroup] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)  # errors: then nothing is written
    lacking: list[Finding] = field(default_factory=list)  # what the kernel cannot express
    notices: list[Finding] = field(default_factory=list)


def plan_groups(system: System, platform: Platform, offer: Offer, root: Path) -> ResctrlPlan:
    plan = ResctrlPlan()
    groups = groups_of(root)
    ids = {name: tuple(values) for name, values in groups[0].schemata.items()}
    masks = _masks(system, platform, offer, root, plan)
    percents = _percents(system, offer, groups[0], plan)
    plan.lacking += _lacking(system)
    if len(system.domains) + 1 > offer.groups:
        cause = f"needs {len(system.domains) + 1} groups, the default one included"
        plan.findings.append(Finding(("domains",), "limit", cause, f"at most {offer.groups}"))
    shared = system.shared_cores()
    for owner in (HYPERVISOR, *range(len(system.domains))):
        schemata: dict[str, Values] = {}
        for name in offer.cache.names if offer.cache is not None and owner in masks else ():
            schemata[name] = dict.fromkeys(ids[name], masks[owner])
        if owner in percents:
            schemata[MB] = dict.fromkeys(ids[MB], percents[owner])
        if owner == HYPERVISOR:
            plan.wanted.insert(0, WantedGroup(DEFAULT, schemata, None))
            continue
        domain = system.domains[owner]
        cpus = None if shared.intersection(domain.cpus) else tuple(sorted(set(domain.cpus)))
        if cpus is None:
            cause = (
                f"'{domain.name}' shares CPUs, and a CPU can be in one group only: put the tasks into "
                "the group"
            )
            plan.notices.append(Finding(("domains", owner, "cpus"), "tasks", cause))
        if domain.name in _RESERVED:
            cause = f"'{domain.name}' is the name of a directory of resctrl"
            plan.findings.append(Finding(("domains", owner, "name"), "bad-name", cause, "another name"))
        plan.wanted.append(WantedGroup(domain.name, schemata, cpus))
    plan.notices += _strangers(plan, offer, groups)
    return plan


def _masks(system: System, platform: Platform, offer: Offer, root: Path, plan: ResctrlPlan) -> dict[int, int]:
    """The mask of portions of each owner."""
    if offer.cache is None:
        for path, llc in _llcs(system):
            if not llc.auto:
                cause = "this kernel cannot divide any cache"
                plan.lacking.append(Finding(path, "not-on-linux", cause, "auto"))
        return {}
    if system.isolation.llc == "none":
        return {}
    nbytes = cache_bytes(root, offer.cache)
    divided = divide(
        _with_shares(system, nbytes, plan), platform, _instance(offer.cache, platform), host=True
    )
    plan.findings += divided.findings
    found = {owner: settings.cache_portions or 0 for owner, settings in divided.settings.items()}
    for owner, mask in found.items():
        at: KeyPath = ("hypervisor", "llc") if owner == HYPERVISOR else ("domains", owner, "llc")
        plan.findings += _mask_findings(at, mask, offer.cache)
        both = mask & offer.cache.shareable
        if both and owner != HYPERVISOR:
            cause = f"portions {mask_text(both)} are also used by devices (`shareable_bits`)"
            plan.notices.append(Finding(at, "devices", cause))
    return found


def _mask_findings(path: KeyPath, mask: int, cache: CacheInfo) -> Iterator[Finding]:
    runs = [len(run) for run in bin(mask)[2:].split("0") if run]
    if len(runs) > 1 and not cache.sparse:
        cause = f"becomes {mask_text(mask)}, but masks of {cache.name} must have no gaps (`sparse_masks`)"
        yield Finding(path, "not-on-linux", cause, "adjacent portions")
    elif runs and runs[0] < cache.least:
        cause = (
            f"becomes {mask_text(mask)}, which has fewer portions than masks of {cache.name} need "
            "(`min_cbm_bits`)"
        )
        yield Finding(path, "not-on-linux", cause, f"{cache.least} of {cache.portions} or more")


def _instance(cache: CacheInfo, platform: Platform) -> Instance:
    """The kernel's cache as an MPAM component that has only portions."""
    resource = Resource(cache=platform.llc_name or "l3", portions=cache.portions)
    component = MpamComponent(name=cache.name.lower(), at=0, version="1.0", resources=(resource,))
    return Instance(component, 0, resource)


def _with_shares(system: System, nbytes: int | None, plan: ResctrlPlan) -> System:
    """Sizes as shares of the host's cache, which is not the platform's."""

    def of(path: KeyPath, llc: Llc) -> Llc:
        if llc.size is None:
            return llc
        if nbytes is None or llc.size > nbytes:
            cause = "the kernel does not state the size of the cache"
            if nbytes is not None:
                cause = f"the cache of this machine has {nbytes} bytes"
            plan.findings.append(Finding((*path, "size"), "not-on-linux", cause, "share"))
            return llc.model_copy(update={"size": None})
        return llc.model_copy(update={"size": None, "share": Fraction(llc.size, nbytes)})

    hypervisor = system.hypervisor.model_copy(
        update={"llc": of(("hypervisor", "llc"), system.hypervisor.llc)}
    )
    domains = tuple(
        domain.model_copy(update={"llc": of(("domains", index, "llc"), domain.llc)})
        for index, domain in enumerate(system.domains)
    )
    return system.model_copy(update={"hypervisor": hypervisor, "domains": domains})


def _percents(system: System, offer: Offer, default: ResctrlGroup, plan: ResctrlPlan) -> dict[int, int]:
    """Maxima in the kernel's steps, rounded down; 100 % without a maximum, so that no older value stays."""
    given = [index for index, domain in enumerate(system.domains) if domain.bandwidth.max is not None]
    values = default.schemata.get(MB, {}).values()
    if offer.bandwidth is None or MB not in default.schemata or any(one > MOST_PERCENT for one in values):
        what = "limits no bandwidth"
        if offer.bandwidth is not None and values:
            what = "the kernel gives bandwidth in another unit than percent (`mba_MBps`, or the unit of AMD)"
        for index in given:
            cause = f"this kernel {what}"
            plan.lacking.append(Finding(("domains", index, "bandwidth", "max"), "not-on-linux", cause))
        return {}
    least, step = offer.bandwidth.least, offer.bandwidth.step
    found = dict.fromkeys((HYPERVISOR, *range(len(system.domains))), MOST_PERCENT)
    for index in given:
        path: KeyPath = ("domains", index, "bandwidth", "max")
        asked = system.domains[index].bandwidth.max
        assert asked is not None
        percent = int(asked * MOST_PERCENT) // step * step
        if percent < max(least, 1):
            cause = "is less than the smallest maximum of this kernel (`min_bandwidth`)"
            nearest = -(-max(least, 1) // step) * step
            plan.findings.append(Finding(path, "share-too-small", cause, f"at least {nearest} %"))
            continue
        found[index] = percent
        if Fraction(percent, MOST_PERCENT) != asked:
            cause = f"becomes {percent} %: {percent_text(asked)} in steps of {step} %, rounded down"
            plan.notices.append(Finding(path, "rounded", cause))
    return found


def _lacking(system: System) -> Iterator[Finding]:
    """Keys for which resctrl has no file."""
    for path, llc in _llcs(system):
        for key in ("max", "min", "associativity"):
            if getattr(llc, key) is not None:
                cause = "resctrl has masks of portions, and no other control of a cache"
                yield Finding((*path, key), "not-on-linux", cause, "share, size, portions")
    for index, domain in enumerate(system.domains):
        at: KeyPath = ("domains", index)
        yield from _bandwidth_lacking((*at, "bandwidth"), domain.bandwidth)
        if domain.virtual_partids:
            cause = "a group has one PARTID, which no task chooses"
            yield Finding((*at, "virtual_partids"), "not-on-linux", cause, "0")


def _bandwidth_lacking(at: KeyPath, bandwidth: Bandwidth) -> Iterator[Finding]:
    for key in ("min", "priority", "portions", "stride", "window"):
        if getattr(bandwidth, key) is not None:
            cause = "resctrl has a maximum of bandwidth, and no other control of it"
            yield Finding((*at, key), "not-on-linux", cause, "max")
    if bandwidth.hard:
        cause = "resctrl has no hard maximum: Linux sets MPAM's maximum as soft"
        yield Finding((*at, "hard"), "not-on-linux", cause, "false")
    if not bandwidth.unlimited and bandwidth.max is None:
        cause = "Linux has no budgets of memory events"
        yield Finding(at, "not-on-linux", cause, "max")


def _strangers(plan: ResctrlPlan, offer: Offer, groups: tuple[ResctrlGroup, ...]) -> Iterator[Finding]:
    """Groups that are not in the file and share portions with groups of the file."""
    names = {one.group for one in plan.wanted}
    for group in groups:
        if group.name in names or offer.cache is None:
            continue
        theirs = 0
        for value in group.schemata.get(offer.cache.names[0], {}).values():
            theirs |= value
        for one in plan.wanted:
            ours = next(iter(one.schemata.get(offer.cache.names[0], {}).values()), 0)
            if one.group != DEFAULT and ours & theirs:
                cause = f"group '{group.name}' is not in this file, but shares portions "
                cause += f"{mask_text(ours & theirs)} with '{one.group}'"
                yield Finding(("domains",), "stranger", cause)


def _llcs(system: System) -> Iterator[tuple[KeyPath, Llc]]:
    yield ("hypervisor", "llc"), system.hypervisor.llc
    for index, domain in enumerate(system.domains):
        yield ("domains", index, "llc"), domain.llc
