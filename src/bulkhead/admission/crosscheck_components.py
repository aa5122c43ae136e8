# SPDX-License-Identifier: Apache-2.0
"""Checks of a component system that span keys: names that must exist, addresses, times, hardware.

load_components.py calls this with models that are valid on their own. Whether the hardware can keep the
specifications is checked afterwards by core/ (src/bulkhead/mxu/).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from bulkhead.config.components import (
    MMU_KEYS,
    MPU_KEYS,
    OWN,
    RESERVED,
    SYSTEM_REGIONS,
    Component,
    ComponentSystem,
)
from bulkhead.config.microkernel import Microkernel
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.references import check_image
from bulkhead.config.system import Image
from bulkhead.units import percent_text, size_text

# The same as in microkernel/kernel/config.h.
MOST_COMPONENTS = 8  # besides memory manager and scheduler
MOST_NAME = 11
MOST_CALLS = 4
MOST_MEMORY = 64  # entries of the system description: memory and heaps of all components
RESERVED_COMPONENTS = ("kernel", "manager", "scheduler", "system")

Findings = Iterator[Finding]


def check_components(system: ComponentSystem, platform: Platform) -> list[Finding]:
    """All findings about a component system that span keys, on its platform."""
    kernel = platform.microkernel
    if kernel is None or (platform.cores.mpu is None and platform.cores.tlb is None):
        cause = (
            f"platform '{platform.name}' does not state where the microkernel puts components (`microkernel`)"
        )
        return [Finding(("platform",), "not-on-platform", cause, "a platform with a section `microkernel`")]
    findings = [*_hardware(system, platform), *_names(system), *_listed(system), *_processor(system)]
    for index, component in enumerate(system.components):
        at: KeyPath = ("components", index)
        if component.image.elf is not None:
            findings += check_image(at, Image(elf=component.image.elf))
        findings += _memory(at, component, kernel)
        findings += _phases(at, component, platform)
        findings += _times(at, component)
        findings += _channels(at, component, system)
    return findings + list(_rings(system))


def _hardware(system: ComponentSystem, platform: Platform) -> Findings:
    hardware = system.hardware
    with_mpu = platform.cores.mpu is not None
    keys = MPU_KEYS if with_mpu else MMU_KEYS
    for key in MMU_KEYS if with_mpu else MPU_KEYS:
        if getattr(hardware, key) is not None:
            kind = "an MPU, no MMU" if with_mpu else "an MMU, no MPU"
            cause = f"does not fit '{platform.name}': {platform.cores.type} has {kind}"
            yield Finding(("hardware", key), "not-on-platform", cause, ", ".join(keys))
    mpu, tlb, l2 = platform.cores.mpu, platform.cores.tlb, platform.caches.get("l2")
    if mpu is not None and (hardware.system_regions or SYSTEM_REGIONS) >= mpu.regions:
        cause = f"leaves none of the {mpu.regions} regions of the MPU"
        yield Finding(("hardware", "system_regions"), "out-of-range", cause, f"1 to {mpu.regions - 1}")
    if with_mpu:
        frame = platform.microkernel.frame if platform.microkernel is not None else 0
        if hardware.region is not None and hardware.region < frame:
            cause = f"is less than a frame of {size_text(frame)}"
            yield Finding(("hardware", "region"), "out-of-range", cause, f"{size_text(frame)} or more")
        return
    entries = platform.microkernel.entries if platform.microkernel is not None else ()
    if hardware.page is not None and hardware.page not in entries:
        cause = f"the MMU of '{platform.name}' has no entries of {size_text(hardware.page)}"
        yield Finding(("hardware", "page"), "out-of-range", cause, ", ".join(map(size_text, entries)))
    own_ocm = platform.microkernel.own_ocm if platform.microkernel is not None else 0
    limits = {
        "locked_entries": tlb.l2.lockable if tlb is not None and tlb.l2 is not None else 0,
        "ocm": platform.ocm.size - own_ocm if platform.ocm is not None else 0,
        "locked_ways": l2.lockable_ways if l2 is not None else 0,
    }
    for key, most in limits.items():
        asked = getattr(hardware, key)
        if asked is not None and asked > most:
            yield Finding(
                ("hardware", key), "out-of-range", f"'{platform.name}' has {most}", f"at most {most}"
            )


def _names(system: ComponentSystem) -> Findings:
    seen: dict[str, int] = {}
    if len(system.components) > MOST_COMPONENTS:
        cause = f"are {len(system.components)}"
        yield Finding(
            ("components",),
            "limit",
            cause,
            f"at most {MOST_COMPONENTS} besides the memory manager and the scheduler",
        )
    for index, component in enumerate(system.components):
        path: KeyPath = ("components", index, "name")
        if component.name in RESERVED_COMPONENTS:
            yield Finding(path, "bad-name", f"'{component.name}' is reserved", "another name")
        if len(component.name) > MOST_NAME:
            yield Finding(
                path, "bad-name", f"'{component.name}' is too long", f"at most {MOST_NAME} characters"
            )
        if component.name in seen:
            cause = f"'{component.name}' is also components[{seen[component.name]}]"
            yield Finding(path, "duplicate", cause, "a name that no other entry has")
        seen.setdefault(component.name, index)


def _listed(system: ComponentSystem) -> Findings:
    listed = sum(len(one.memory) + (one.heap is not None) for one in system.components)
    if listed > MOST_MEMORY:
        cause = f"have {listed} pieces of memory in total, heaps included"
        yield Finding(("components",), "limit", cause, f"at most {MOST_MEMORY}")
    for index, component in enumerate(system.components):
        by_hash: dict[int, str] = {}
        for number, one in enumerate(component.memory):
            other = by_hash.setdefault(_hash(one.name), one.name)
            if other != one.name:
                path: KeyPath = ("components", index, "memory", number, "name")
                cause = f"'{one.name}' has the same hash as '{other}', so rt_memory() cannot tell them apart"
                yield Finding(path, "bad-name", cause, "another name")


def _hash(name: str) -> int:
    """The same hash as manager_hash() of microkernel/include/microkernel/manager.h: FNV-1a."""
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def _memory(at: KeyPath, component: Component, kernel: Microkernel) -> Findings:
    seen: dict[str, int] = {}
    for key in ("stack", "data"):
        size = getattr(component, key)
        if size is not None and size > kernel.frames.size:
            cause = (
                f"is more than the memory of components: {size_text(kernel.frames.size)} from "
                f"{kernel.frames.at:#x} on"
            )
            yield Finding((*at, key), "memory-exhausted", cause, f"at most {size_text(kernel.frames.size)}")
        if size is not None and size % kernel.frame:
            cause = f"{size} bytes are not whole frames"
            yield Finding((*at, key), "unaligned", cause, f"a multiple of {size_text(kernel.frame)}")
    for number, one in enumerate(component.memory):
        path: KeyPath = (*at, "memory", number)
        if one.name in RESERVED:
            cause = f"'{one.name}' is the name of memory that each component has"
            yield Finding((*path, "name"), "bad-name", cause, "another name")
        if one.name in seen:
            yield Finding(
                (*path, "name"),
                "duplicate",
                f"'{one.name}' is also memory[{seen[one.name]}]",
                "a name that no other entry has",
            )
        seen.setdefault(one.name, number)
        if one.size > kernel.frames.size:
            cause = (
                f"is more than the memory of components: {size_text(kernel.frames.size)} from "
                f"{kernel.frames.at:#x} on"
            )
            yield Finding(
                (*path, "size"), "memory-exhausted", cause, f"at most {size_text(kernel.frames.size)}"
            )
        elif one.at is not None and not (
            kernel.frames.at <= one.at and one.at + one.size <= kernel.frames.end
        ):
            cause = f"{one.at:#x} with {size_text(one.size)} is not in the memory of components"
            allowed = f"{kernel.frames.at:#x} to {kernel.frames.end - 1:#x}"
            yield Finding((*path, "at"), "out-of-range", cause, allowed)
        if one.at is not None and one.at % kernel.frame:
            cause = f"{one.at:#x} is not the address of a frame"
            yield Finding((*path, "at"), "unaligned", cause, f"a multiple of {size_text(kernel.frame)}")


def _phases(at: KeyPath, component: Component, platform: Platform) -> Findings:
    own = [key for key in OWN if key != "heap" or component.heap]
    known = list(dict.fromkeys([*(one.name for one in component.memory), *own]))
    for number, phase in enumerate(component.phases):
        for index, name in enumerate(phase.ranges):
            path: KeyPath = (*at, "phases", number, "ranges", index)
            if name not in known:
                cause = f"'{component.name}' has no memory {quoted(name)}"
                yield Finding(path, "unknown-name", cause, ", ".join(known), nearest_of(name, known))
            if name in phase.ranges[:index]:
                yield Finding(path, "duplicate", f"{quoted(name)} is named twice", "each once")
    if component.phases and component.period is None:
        yield Finding(
            (*at, "phases"),
            "conflict",
            "divide a job into phases, and the component has no jobs without `period`",
            "a `period`, or no phases",
        )
    if component.phases and platform.cores.mpu is None:
        cause = "limit the misses of MPU regions, and this platform has an MMU"
        yield Finding(
            (*at, "phases"),
            "not-on-platform",
            cause,
            "no such limits: the WCET must contain the cost of the checks",
        )


def _times(at: KeyPath, component: Component) -> Findings:
    budget = component.budget if component.budget is not None else component.period
    for key in ("budget", "wcet"):
        if getattr(component, key) is not None and component.period is None:
            yield Finding(
                (*at, key),
                "conflict",
                "belongs to a job, and the component has no jobs without `period`",
                "a `period`, or no such key",
            )
    if component.period is not None and component.budget is not None and component.budget > component.period:
        yield Finding(
            (*at, "budget"), "out-of-range", "is more than the period", f"at most {component.period} ns"
        )
    elif component.wcet is not None and budget is not None and component.wcet > budget:
        yield Finding((*at, "wcet"), "out-of-range", "is more than the budget", f"at most {budget} ns")


def _processor(system: ComponentSystem) -> Findings:
    """All components share one core. A component without a budget may use its whole period and is not counted
    here."""
    shares = [Fraction(one.budget, one.period) for one in system.components if one.budget and one.period]
    if sum(shares) > 1:
        cause = f"have budgets of {percent_text(sum(shares, Fraction()))} of the core in total"
        yield Finding(("components",), "overcommit", cause, "at most 100 %")


def _channels(at: KeyPath, component: Component, system: ComponentSystem) -> Findings:
    names = [one.name for one in system.components if one is not component]
    if len(component.channels) > MOST_CALLS:
        yield Finding((*at, "channels"), "limit", f"are {len(component.channels)}", f"at most {MOST_CALLS}")
    for index, name in enumerate(component.channels):
        path: KeyPath = (*at, "channels", index)
        if name not in names:
            cause = f"there is no other component {quoted(name)}"
            yield Finding(path, "unknown-name", cause, ", ".join(names), nearest_of(name, names))
        elif name in component.channels[:index]:
            yield Finding(path, "duplicate", f"{quoted(name)} is named twice", "each once")
    callers = [
        one.name for one in system.components if component.name in one.channels and one is not component
    ]
    if component.period is not None and callers:
        cause = f"has a `period`, but runs when {callers[0]} calls it, in the time of the caller"
        yield Finding((*at, "period"), "conflict", cause, "no period, or no channel to it")


def _rings(system: ComponentSystem) -> Findings:
    """A call along a cycle of channels would wait for itself: the kernel refuses it (SYS_EDEADLOCK)."""
    for index, component in enumerate(system.components):
        reached: list[str] = list(component.channels)
        for name in reached:
            other = system.component(name)
            reached += [one for one in (other.channels if other is not None else ()) if one not in reached]
        if component.name in reached and component.name not in component.channels:
            cause = f"form a cycle from '{component.name}' back to itself: a call would wait for itself"
            yield Finding(("components", index, "channels"), "conflict", cause, "channels without a cycle")
            return  # the other components of the cycle would report the same mistake
