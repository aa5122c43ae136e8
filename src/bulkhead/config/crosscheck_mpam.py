# SPDX-License-Identifier: Apache-2.0
"""Checks of a platform's MPAM components: their caches and memory exist, their pages do not overlap anything.

crosscheck_platform.py calls this for each platform file.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.locate import limits
from bulkhead.config.mpam import PAGE_BYTES, Mpam, MpamComponent, Resource
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.regions import own_regions

MOST_NOT_READY_PS = 10**12  # the same as in core/manifest_mpam.c

# Core types whose technical reference manuals do not mention MPAM. Other types may have it.
WITHOUT_MPAM = (
    "cortex-a7",
    "cortex-a9",
    "cortex-a35",
    "cortex-a53",
    "cortex-a55",
    "cortex-a57",
    "cortex-a72",
    "cortex-a73",
    "cortex-m7",
)


def check_mpam(platform: Platform) -> Iterator[Finding]:
    mpam = platform.mpam
    if mpam is None:
        return
    if platform.cores.type.lower() in WITHOUT_MPAM:
        cause = f"cores of type '{platform.cores.type}' have no MPAM"
        yield Finding(("mpam",), "conflict", cause, "no `mpam`, or a core type that has MPAM")
    if mpam.virtual_partids > mpam.partids:
        cause = f"is more than the platform's {mpam.partids} PARTIDs"
        yield Finding(("mpam", "virtual_partids"), "out-of-range", cause, f"at most {mpam.partids}")
    yield from _limits(mpam)
    seen: dict[str, int] = {}
    for number, component in enumerate(mpam.components):
        at: KeyPath = ("mpam", "components", number)
        if component.name in seen:
            cause = f"a second component is named '{component.name}'"
            yield Finding((*at, "name"), "duplicate-name", cause, "each name once")
        seen.setdefault(component.name, number)
        yield from _page(at, number, platform, mpam)
        yield from _component(at, component, mpam)
        for ris, resource in enumerate(component.resources):
            yield from _resource((*at, "resources", ris), resource, platform)


def _limits(mpam: Mpam) -> Iterator[Finding]:
    """Limits of the hypervisor's tables and of the manifest (schema/manifest.yaml)."""
    most = limits()
    if len(mpam.components) > most["max_mpam_components"]:
        cause = f"{len(mpam.components)} components are more than the hypervisor supports"
        allowed = f"at most {most['max_mpam_components']}"
        yield Finding(("mpam", "components", most["max_mpam_components"]), "limit", cause, allowed)
    instances = 0
    for number, component in enumerate(mpam.components):
        before, instances = instances, instances + len(component.resources)
        if before <= most["max_mpam_instances"] < instances:
            cause = f"{instances} resource instances up to here are more than the hypervisor supports"
            allowed = f"at most {most['max_mpam_instances']} in all components together"
            yield Finding(("mpam", "components", number, "resources"), "limit", cause, allowed)
        if component.not_ready > MOST_NOT_READY_PS:
            cause = "is longer than the hypervisor accepts"
            yield Finding(("mpam", "components", number, "not_ready"), "out-of-range", cause, "at most 1 s")
    if mpam.partids > most["max_mpam_partid"] + 1:
        cause = f"the hypervisor programs PARTIDs up to {most['max_mpam_partid']} only"
        yield Finding(("mpam", "partids"), "limit", cause, f"at most {most['max_mpam_partid'] + 1}")


def _page(at: KeyPath, number: int, platform: Platform, mpam: Mpam) -> Iterator[Finding]:
    """A feature page overlaps neither memory nor other registers; so it can be given to no domain."""
    component = mpam.components[number]
    if component.at % PAGE_BYTES:
        cause = f"{component.at:#x} is not the address of a 64 KiB page"
        yield Finding((*at, "at"), "alignment", cause, "a multiple of 64 KiB")
    taken = [(one.name, one.at, one.end) for one in mpam.components[:number]]
    taken += [
        (region.name, region.at, region.end) for region in own_regions(platform) if region.key[0] != "mpam"
    ]
    taken += [(one.name, one.pages.at, one.pages.end) for one in platform.registers()]
    taken += [("memory", ram.at, ram.end) for ram in platform.memory]
    for name, start, end in taken:
        if component.at < end and start < component.end:
            cause = f"the feature page of '{component.name}' overlaps '{name}' at {start:#x}"
            yield Finding((*at, "at"), "overlap", cause, "another address")


def _component(at: KeyPath, component: MpamComponent, mpam: Mpam) -> Iterator[Finding]:
    if component.internal_partids is not None and component.internal_partids > mpam.partids:
        cause = f"is more than the platform's {mpam.partids} PARTIDs"
        yield Finding((*at, "internal_partids"), "out-of-range", cause, f"at most {mpam.partids}")
    if component.version != "1.0":
        return
    if len(component.resources) > 1:
        cause = f"has {len(component.resources)} resource instances, but MPAM 1.0 knows no resource instances"
        yield Finding((*at, "resources"), "conflict", cause, 'one of them, or version "1.1"')
    for ris, resource in enumerate(component.resources):
        capacity = resource.capacity
        stray = [key for key in ("minimum", "soft") if capacity is not None and getattr(capacity, key)]
        if capacity is not None and not capacity.maximum:
            stray.append("maximum")
        for key in stray:
            cause = "does not exist in version 1.0, which has a hard maximum only"
            yield Finding((*at, "resources", ris, "capacity", key), "conflict", cause, 'version "1.1"')
        if resource.associativity is not None:
            cause = "is a control that version 1.0 does not have"
            yield Finding((*at, "resources", ris, "associativity"), "conflict", cause, 'version "1.1"')
        moved = resource.bandwidth_monitors
        for key in ("bits", "by_direction"):
            if moved is not None and getattr(moved, key) not in (31, False):
                cause = (
                    "does not exist in version 1.0: its monitors have 31 bits and count both directions "
                    "together"
                )
                path: KeyPath = (*at, "resources", ris, "bandwidth_monitors", key)
                yield Finding(path, "conflict", cause, 'version "1.1"')


def _resource(at: KeyPath, resource: Resource, platform: Platform) -> Iterator[Finding]:
    if resource.memory is not None and platform.dram is None:
        yield Finding((*at, "memory"), "unknown-name", "the platform describes no DRAM", "the key `dram`")
    if resource.cache is None:
        return
    cache = platform.caches.get(resource.cache)
    if cache is None:
        cause = f"the platform has no cache '{resource.cache}'"
        yield Finding((*at, "cache"), "unknown-name", cause, ", ".join(platform.caches))
        return
    if resource.portions is None:
        return
    if cache.portions and cache.portions != resource.portions:
        cause = f"differs from `caches.{resource.cache}.portions`"
        yield Finding((*at, "portions"), "conflict", cause, f"{cache.portions}")
    sets = cache.size // (cache.ways * cache.line)
    whole = cache.ways if resource.portions_are == "ways" else sets
    if whole % resource.portions:
        cause = f"{resource.portions} portions do not divide {whole} {resource.portions_are} evenly"
        yield Finding((*at, "portions"), "geometry", cause, f"a divisor of {whole}")
