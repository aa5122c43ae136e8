# SPDX-License-Identifier: Apache-2.0
"""Checks of PCI: the hypervisor can give each function to a domain and keep the others apart.

crosscheck_platform.py calls this. Bridges are checked in crosscheck_bridges.py, interrupts in
crosscheck_interrupts.py, functions of domains in admission/crosscheck_passthrough.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.crosscheck_bridges import check_behind, check_bridges, free_slot
from bulkhead.config.pci import SLOTS, PciBar, PciFunction, PciHost
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.regions import guest_windows, own_regions, root_window
from bulkhead.geometry import PAGE_BYTES

Findings = Iterator[Finding]

_NARROW_LIMIT, _LAST_BAR, _NO_VENDOR = 1 << 32, 5, 0xFFFF


def check_pci(platform: Platform) -> Findings:
    host = platform.pci
    if host is None:
        return
    yield from _iommu(host, platform)
    yield from _memory(host, platform)
    names = {one.name for one in platform.registers()}
    yield from check_bridges(host, names)
    names |= {bridge.name for bridge in host.bridges}
    places = {bridge.requester: bridge.name for bridge in host.bridges}
    for index, function in enumerate(host.functions):
        path: KeyPath = ("pci", "functions", index)
        if function.name in names:
            yield Finding((*path, "name"), "duplicate-name", f"a second device is named '{function.name}'")
        names.add(function.name)
        yield from _place(path, function, host, places)
        if function.vendor == _NO_VENDOR:
            cause = f"'{function.name}' has vendor 0xffff, which says that no function is there"
            yield Finding((*path, "vendor"), "out-of-range", cause, "0 to 0xfffe")
        yield from _bars(path, function)
    placed = all(function.bus == 0 or host.bridge_of(function) is not None for function in host.functions)
    if placed and all(_fits(bar) for function in host.functions for bar in function.bars):
        yield from _window(host)
    if len(host.functions) >= SLOTS:
        cause = f"{len(host.functions)} functions; a guest sees each in a slot of its own on one bus"
        yield Finding(("pci", "functions"), "out-of-range", cause, f"up to {SLOTS - 1} functions")


def _iommu(host: PciHost, platform: Platform) -> Findings:
    driven = platform.driven_iommu
    if driven is None or host.iommu != driven.name:
        known = [] if driven is None else [driven.name]
        cause = f"the hypervisor drives no IOMMU {quoted(host.iommu)}, which has to confine PCI functions"
        near = nearest_of(host.iommu, known)
        yield Finding(("pci", "iommu"), "unknown-name", cause, ", ".join(known) or "a driven IOMMU", near)
        return
    if driven.type != "smmuv3":
        cause = f"the hypervisor confines PCI functions by an SMMUv3 only, and '{driven.name}' is another one"
        yield Finding(("pci", "iommu"), "conflict", cause, "no `pci`")
    for index, function in enumerate(host.functions):
        if function.requester >= driven.stream_ids:
            cause = f"the IOMMU '{driven.name}' has no stream {function.requester:#x} for '{function.name}'"
            last = driven.stream_ids - 1
            allowed = f"00:01.0 to {last >> 8:02x}:{last >> 3 & (SLOTS - 1):02x}.0"
            yield Finding(("pci", "functions", index, "at"), "out-of-range", cause, allowed)


def _memory(host: PciHost, platform: Platform) -> Findings:
    """The window for BARs holds nothing else."""
    window = host.memory
    path: KeyPath = ("pci", "memory")
    if window.at % PAGE_BYTES or window.size % PAGE_BYTES:
        yield Finding(path, "alignment", "the memory window is not whole pages", "multiples of 4 KiB")
    taken = [(f"memory[{number}]", ram.at, ram.end) for number, ram in enumerate(platform.memory)]
    taken += [(f"'{region.name}'", region.at, region.end) for region in own_regions(platform)]
    taken += [(f"'{one.name}'", one.pages.at, one.pages.end) for one in platform.registers()]
    taken += [(f"the {one.name}", one.at, one.end) for one in guest_windows(platform)]
    root = root_window(platform)
    taken += [] if root is None else [(f"the {root.name}", root.at, root.end)]
    for name, start, end in taken:
        if window.at < end and start < window.end:
            cause = f"the memory window, {window.at:#x}..{window.end - 1:#x}, overlaps {name} at {start:#x}"
            yield Finding(path, "overlap", cause, "addresses that only PCI functions use")


def _place(path: KeyPath, function: PciFunction, host: PciHost, places: dict[int, str]) -> Findings:
    at: KeyPath = (*path, "at")
    example = free_slot(host)
    if function.bus != 0:
        yield from check_behind(at, function, host)
    elif function.slot == 0:
        cause = f"'{function.name}' is in slot 0, where the host bridge is"
        yield Finding(at, "not-isolated", cause, f"a slot of its own{example}")
    if function.requester in places:
        cause = f"'{places[function.requester]}' is at {function.at}, too"
        yield Finding(at, "duplicate-name", cause, f"a slot of its own{example}")
    elif beside := [one for one in host.bridges if (one.bus, one.slot) == (function.bus, function.slot)]:
        cause = (
            f"'{beside[0].name}' is a bridge of the same device, which is not kept apart from its functions"
        )
        yield Finding(at, "not-isolated", cause, f"a slot of its own{example}")
    elif function.multifunction is None:
        yield from _alone(at, function, host)
    places.setdefault(function.requester, function.name)


def _alone(path: KeyPath, function: PciFunction, host: PciHost) -> Findings:
    """The platform file does not say that the function's device has several functions."""
    place = function.at[:-1]
    same = [one for one in host.functions if one.at.startswith(place) and one.at != function.at]
    if function.number != 0:
        cause = (
            f"'{function.name}' is function {function.number} of its device, which may not keep its "
            "functions apart"
        )
        allowed = f"`multifunction`, or a device with one function, {place}0"
        yield Finding(path, "not-isolated", cause, allowed)
    elif same:
        cause = f"'{same[0].name}' is a function of the same device, which may not keep its functions apart"
        yield Finding(path, "not-isolated", cause, "`multifunction`, or a slot of its own" + free_slot(host))


def _fits(bar: PciBar) -> bool:
    return bar.size >= PAGE_BYTES and bar.size & (bar.size - 1) == 0


def _bars(path: KeyPath, function: PciFunction) -> Findings:
    taken: set[int] = set()
    for number, bar in enumerate(function.bars):
        at: KeyPath = (*path, "bars", number)
        if not _fits(bar):
            cause = f"a BAR of {bar.size} bytes"
            if bar.size < PAGE_BYTES:
                cause += ": its domain could access the rest of the page, where nothing answers"
            allowed = "a power of two from 4 KiB on; a function with a smaller BAR cannot be given"
            yield Finding((*at, "size"), "out-of-range", cause, allowed)
        uses = {bar.number, bar.number + 1} if bar.wide else {bar.number}
        if uses & taken:
            cause = f"BAR {bar.number} uses a register of another one"
            yield Finding((*at, "number"), "duplicate-name", cause, "a BAR of 64 bits has two registers")
        elif max(uses) > _LAST_BAR:
            cause = f"BAR {bar.number} of 64 bits has no second register"
            yield Finding((*at, "wide"), "out-of-range", cause, f"BARs of 64 bits up to {_LAST_BAR - 1}")
        taken |= uses


def _window(host: PciHost) -> Findings:
    for index, device in enumerate(host.devices()):
        for bar in device.bars:
            path: KeyPath = ("pci", "functions", index, "bars")
            if bar.end > host.memory.end:
                cause = (
                    f"BAR {bar.number} of '{device.name}' would end at {bar.end:#x}, "
                    f"beyond the memory window, which ends at {host.memory.end:#x}"
                )
                yield Finding(path, "out-of-range", cause, "a larger `pci.memory`, or fewer functions")
            elif bar.end > _NARROW_LIMIT and host.functions[index].bus != 0:
                cause = (
                    f"BAR {bar.number} of '{device.name}' would be above 4 GiB, where the window of its "
                    "bridge cannot be"
                )
                yield Finding(path, "out-of-range", cause, "a memory window below 4 GiB")
            elif bar.end > _NARROW_LIMIT and not bar.kind & 4:
                cause = f"BAR {bar.number} of '{device.name}' has 32 bits and would be above 4 GiB"
                yield Finding(path, "out-of-range", cause, "a memory window below 4 GiB")
