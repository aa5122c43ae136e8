# SPDX-License-Identifier: Apache-2.0
"""Checks who uses each interrupt of a board. The hypervisor identifies interrupts by number, so each number
may have one use only.

crosscheck_platform.py calls this for each platform file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bulkhead.config.devices import Iommu
from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath

TIMERS = ("hypervisor", "virtual", "physical", "maintenance")

Findings = Iterator[Finding]


def check_interrupts(platform: Platform) -> Findings:
    yield from _private_interrupts(platform)
    yield from _guest_interrupts(platform)
    yield from _pmu_interrupts(platform)
    yield from _mpam_interrupts(platform)
    yield from _device_interrupts(platform)


def _private_interrupts(platform: Platform) -> Findings:
    """Timers' interrupts are private and distinct; those of guests' timers have fixed numbers."""
    private = range(limits()["first_peripheral_intid"], _first_shared())
    fixed = {"virtual": limits()["virtual_timer_intid"], "physical": limits()["physical_timer_intid"]}
    seen: dict[int, str] = {}
    for key in TIMERS:
        intid: int = getattr(platform.timers, key)
        path: KeyPath = ("timers", key)
        if intid not in private:
            allowed = f"{private[0]} to {private[-1]}"
            yield Finding(path, "out-of-range", f"INTID {intid} is not a private interrupt", allowed)
        elif intid != fixed.get(key, intid):
            cause = f"the guests' {key} timer does not have the interrupt {intid}"
            yield Finding(path, "out-of-range", cause, str(fixed[key]))
        elif intid in seen:
            cause = f"INTID {intid} is already used by '{seen[intid]}'"
            yield Finding(path, "duplicate-name", cause, "each interrupt once")
        seen.setdefault(intid, key)


def _guest_interrupts(platform: Platform) -> Findings:
    """Guests see their virtual UART and their socket device with the board's numbers, and engines' interrupts
    are given to domains."""
    used: list[tuple[KeyPath, int]] = []
    if platform.uart is not None:
        used.append((("uart", "interrupt"), platform.uart.interrupt))
    if platform.socket is not None:
        used.append((("socket", "interrupt"), platform.socket.interrupt))
    for index, dma in enumerate(platform.dma):
        used += [(("dma", index, "interrupts", at), intid) for at, intid in enumerate(dma.interrupts)]
    for path, intid in used:
        yield from _not_shared(path, intid, " that a guest can have")


def _pmu_interrupts(platform: Platform) -> Findings:
    lines = platform.pmu.interrupts if platform.pmu is not None else ()
    path: KeyPath = ("pmu", "interrupts")
    if len(lines) not in (0, 1, platform.cores.count):
        cause = f"has {len(lines)} entries for {platform.cores.count} cores"
        yield Finding(path, "conflict", cause, "one private interrupt, or one line for each core")
    elif len(lines) == 1 and platform.cores.count > 1 and lines[0] >= _first_shared():
        yield Finding(
            path, "conflict", f"INTID {lines[0]} is one line for all cores", "one line for each core"
        )
    taken = _private_users(platform) | _uart_user(platform)
    for number, intid in enumerate(lines):
        if intid in taken:
            cause = f"INTID {intid} is already used by '{taken[intid]}'"
            yield Finding((*path, number), "duplicate-name", cause, "each interrupt once")
        elif intid >= _first_shared():
            taken[intid] = f"core {number}"


def _mpam_interrupts(platform: Platform) -> Findings:
    """MPAM components may share an interrupt: the hypervisor asks all of them which one raised it. The two
    interrupts of one component must differ."""
    taken = _private_users(platform) | _uart_user(platform)
    if platform.pmu is not None:
        taken |= dict.fromkeys(platform.pmu.interrupts, "pmu")
    for dma in platform.dma:
        taken |= dict.fromkeys(dma.interrupts, dma.name)
    for number, component in enumerate(platform.mpam.components if platform.mpam is not None else ()):
        for key in ("error_interrupt", "overflow_interrupt"):
            intid: int | None = getattr(component, key)
            path: KeyPath = ("mpam", "components", number, key)
            if intid is None:
                continue
            if intid in taken:
                cause = f"INTID {intid} is already used by '{taken[intid]}'"
                yield Finding(path, "duplicate-name", cause, "each interrupt once")
            elif not _is_shared(intid):
                yield from _not_shared(path, intid)
            elif key == "overflow_interrupt" and intid == component.error_interrupt:
                cause = f"INTID {intid} is already used for error interrupts"
                yield Finding(path, "duplicate-name", cause, "another interrupt")


def _device_interrupts(platform: Platform) -> Findings:
    seen = _uart_user(platform)
    if platform.pmu is not None:
        seen |= dict.fromkeys(platform.pmu.interrupts, "pmu")
    for component in platform.mpam.components if platform.mpam is not None else ():
        lines = (component.error_interrupt, component.overflow_interrupt)
        seen |= {intid: component.name for intid in lines if intid is not None}
    engines = {intid: dma.name for dma in platform.dma for intid in dma.interrupts}
    for number, iommu in enumerate(platform.iommus):
        if iommu.driven:
            yield from _iommu_interrupts(("iommus", number, "interrupts"), iommu, seen | engines)
        seen |= dict.fromkeys(iommu.interrupts, iommu.name)
    yield from _pci_interrupts(platform, seen | engines)
    seen |= dict.fromkeys(platform.pci.interrupts if platform.pci is not None else (), "pci")
    for index, device in enumerate(platform.devices):
        for number, intid in enumerate(device.interrupts):
            path: KeyPath = ("devices", index, "interrupts", number)
            if not _is_shared(intid):
                yield from _not_shared(path, intid, " that a guest can have")
            elif intid in seen:
                cause = f"INTID {intid} is already used by '{seen[intid]}'"
                yield Finding(path, "duplicate-name", cause, "each interrupt once")
            seen.setdefault(intid, device.name)


def _iommu_interrupts(path: KeyPath, iommu: Iommu, taken: Mapping[int, str]) -> Findings:
    for number, intid in enumerate(iommu.interrupts):
        if not _is_shared(intid):
            yield from _not_shared((*path, number), intid)
        elif intid in taken or intid in iommu.interrupts[:number]:
            cause = f"INTID {intid} is already used by '{taken.get(intid, iommu.name)}'"
            yield Finding((*path, number), "duplicate-name", cause, "each interrupt once")


def _pci_interrupts(platform: Platform, taken: Mapping[int, str]) -> Findings:
    """The four lines of a host bridge, which functions share by slot and pin."""
    if platform.pci is None:
        return
    lines = platform.pci.interrupts
    path: KeyPath = ("pci", "interrupts")
    for number, intid in enumerate(lines):
        if not _is_shared(intid):
            yield from _not_shared((*path, number), intid, " that a guest can have")
        elif intid in taken or intid in lines[:number]:
            cause = f"INTID {intid} is already used by '{taken.get(intid, 'pci')}'"
            yield Finding((*path, number), "duplicate-name", cause, "each interrupt once")


def _first_shared() -> int:
    return limits()["first_shared_intid"]


def _is_shared(intid: int) -> bool:
    """Whether the hypervisor can use it, for itself or for a guest."""
    return _first_shared() <= intid < limits()["max_intid"]


def _not_shared(path: KeyPath, intid: int, use: str = "") -> Findings:
    """The interrupt is not shared, or beyond those that a virtual interrupt controller keeps the state of.
    A physical one can have shared interrupts up to 1019."""
    first, last = _first_shared(), limits()["max_intid"] - 1
    if last < intid < limits()["first_special_intid"]:
        cause = f"INTID {intid} is too high: the hypervisor keeps the state of interrupts up to {last}"
        yield Finding(path, "out-of-range", cause, f"{first} to {last}")
    elif not _is_shared(intid):
        cause = f"INTID {intid} is not a shared interrupt{use}"
        yield Finding(path, "out-of-range", cause, f"{first} to {last}")


def _private_users(platform: Platform) -> dict[int, str]:
    return {getattr(platform.timers, key): key for key in TIMERS}


def _uart_user(platform: Platform) -> dict[int, str]:
    return {platform.uart.interrupt: "uart"} if platform.uart is not None else {}
