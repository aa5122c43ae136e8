# SPDX-License-Identifier: Apache-2.0
"""Checks of the devices that a system file gives to a domain.

A domain must not reach another device's registers, memory past its stage-2 tables, or another domain's
stream. crosscheck.py calls this for each domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from bulkhead.admission.masters import refused, unconfined
from bulkhead.config.devices import Device, Dma, Iommu, Registers
from bulkhead.config.locate import limits
from bulkhead.config.pci import SLOTS, PciDevice, PciHost
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.references import check_disk
from bulkhead.config.regions import MAX_GUEST_ADDRESS, own_regions
from bulkhead.config.system import Domain, System
from bulkhead.planning.broker import engine_of
from bulkhead.planning.broker_parts import parts_of
from bulkhead.schema import load_layout

Findings = Iterator[Finding]


def check_given(at: KeyPath, domain: Domain, system: System, platform: Platform) -> Findings:
    """Checks the devices that a system file gives to one domain."""
    known = platform.passable()
    free = {device.name for device in unconfined(domain, platform)}
    for number, name in enumerate(domain.devices):
        path: KeyPath = (*at, "devices", number)
        device = known.get(name)
        if device is None:
            cause = f"platform '{platform.name}' has no device {quoted(name)}"
            yield Finding(path, "unknown-name", cause, ", ".join(known) or "none", nearest_of(name, known))
            continue
        holder = next((d.name for d in system.domains if d is not domain and name in d.devices), None)
        if name in domain.devices[:number] or holder is not None:
            yield Finding(path, "duplicate-name", f"device '{name}' is given away twice", "each device once")
        if name in free and domain.dma != "trusted":
            yield Finding(path, "dma-unconfined", *refused(domain, device))
        for region_number, region in enumerate(domain.memory):
            if region.at < device.pages.end and device.pages.at < region.end:
                cause = f"overlaps memory[{region_number}] of '{domain.name}' at {device.at:#x}"
                yield Finding(path, "overlap", f"device '{name}' {cause}")
        yield from _place(path, device, system, platform)
        yield from _shared_pages(path, domain, device, platform)
        yield from _shared_streams(path, domain, device, system, platform)
        if isinstance(device, PciDevice):
            yield from _shared_line(path, domain, device, system, platform)
            yield from _shared_device(path, domain, device, system, platform)
    yield from _beside_functions(at, domain, platform)
    yield from _behind_smmuv2(at, domain, system, platform)
    yield from _disks(at, domain, platform)
    yield from _messages((*at, "devices"), domain, system, platform)


def _beside_functions(at: KeyPath, domain: Domain, platform: Platform) -> Findings:
    """A host bridge can take an access of a function to an address of its own window for one to another
    function, and not pass it to the IOMMU."""
    known, host = platform.passable(), platform.pci
    if host is None or not any(isinstance(known.get(name), PciDevice) for name in domain.devices):
        return
    window = host.memory
    for number, region in enumerate(domain.memory):
        if region.at < window.end and window.at < region.end:
            cause = (
                f"overlaps the addresses of PCI functions, {window.at:#x}..{window.end - 1:#x}: "
                f"the host bridge may not pass accesses of functions of '{domain.name}' to the IOMMU there"
            )
            yield Finding((*at, "memory", number), "overlap", cause, "other addresses")


def _behind_smmuv2(at: KeyPath, domain: Domain, system: System, platform: Platform) -> Findings:
    """A driven SMMUv2 has an entry for each stream and a context bank for each domain. Beside a GICv2 its
    devices have fewer addresses than VCPUs. The domain that goes past a limit reports it."""
    iommu, gic = platform.driven_iommu, platform.interrupt_controller
    confined = platform.confined(domain.devices)
    if iommu is None or iommu.type != "smmuv2" or not confined:
        return
    path: KeyPath = (*at, "devices")
    before = takewhile(lambda one: one is not domain, system.domains)
    owners = [found for one in before if (found := platform.confined(one.devices))]
    streams = {stream for devices in (*owners, confined) for one in devices for stream in one.streams}
    entries, banks = iommu.stream_entries or 0, iommu.context_banks or 0
    if len(streams) > entries:
        cause = f"with '{domain.name}' devices behind '{iommu.name}' have {len(streams)} streams"
        yield Finding(path, "out-of-range", cause, f"devices with up to {entries} streams together")
    if len(owners) >= banks:
        cause = f"with '{domain.name}', {len(owners) + 1} domains have devices behind '{iommu.name}'"
        yield Finding(path, "out-of-range", cause, f"devices behind it for up to {banks} domains")
    limit = 1 << load_layout().constant("smmu_gicv2_bits")
    for number, region in enumerate(domain.memory):
        if gic is not None and gic.type == "gicv2" and region.end > limit:
            cause = (
                f"devices of '{domain.name}' reach guest-physical addresses below {limit:#x} only, "
                f"because '{platform.name}' has interrupt registers of VCPUs above"
            )
            yield Finding(
                (*at, "memory", number), "out-of-range", cause, f"memory that ends at {limit:#x} at most"
            )


def _disks(at: KeyPath, domain: Domain, platform: Platform) -> Findings:
    """A domain gives contents to the emulated disks of its own functions."""
    every = () if platform.pci is None else platform.pci.disks
    own = [name for name in every if name in domain.devices]
    for name, content in domain.disks.items():
        path: KeyPath = (*at, "disks", name)
        if name not in own:
            cause = f"'{domain.name}' has no device {quoted(name)} with a disk on the emulator"
            yield Finding(path, "unknown-name", cause, ", ".join(own) or "none", nearest_of(name, own))
        yield from check_disk(path, content)


def _messages(path: KeyPath, domain: Domain, system: System, platform: Platform) -> Findings:
    """Message interrupts of a domain's functions; on a core that it shares, functions use their pins."""
    known = platform.passable()
    functions = [one for name in domain.devices if isinstance(one := known.get(name), PciDevice)]
    # Linux takes a power of two of them for each function.
    count = sum(1 << (one.messages - 1).bit_length() for one in functions if one.messages)
    most = limits()["guest_lpis"]
    if not system.shared_cores().intersection(domain.cpus):
        if count > most:
            cause = (
                f"the functions of '{domain.name}' have {count} message interrupts together, each number "
                "rounded up to a power of two"
            )
            yield Finding(path, "out-of-range", cause, f"up to {most} in a domain")
        return
    for one in functions:
        if one.messages and one.pin is None:
            cause = f"'{one.name}' has message interrupts and no pin, and '{domain.name}' shares a core"
            yield Finding(path, "conflict", cause, "a core of its own, or a function with an interrupt pin")


def _place(path: KeyPath, device: Device | Dma, system: System, platform: Platform) -> Findings:
    """A device must lie within a guest's addresses and must not overlap the hypervisor's own regions."""
    pages = device.pages
    where = f"'{device.name}', {pages.at:#x}..{pages.end - 1:#x},"
    if pages.end > MAX_GUEST_ADDRESS:
        yield Finding(
            path,
            "out-of-range",
            f"{where} is above the highest address of a guest",
            f"up to {MAX_GUEST_ADDRESS:#x}",
        )
    engines = [engine_of(part.system, platform) for part in parts_of(system)]
    others = [one for one in engines if one is not None and one is not device]
    for region in own_regions(platform, *others):  # a broker's engine is checked in planning/broker.py
        if pages.at < region.end and region.at < pages.end:
            kept = f"'{region.name}', which the hypervisor keeps: {region.at:#x}..{region.end - 1:#x}"
            yield Finding(path, "overlap", f"{where} overlaps {kept}", "a device with pages of its own")


def _shared_pages(path: KeyPath, domain: Domain, device: Device | Dma, platform: Platform) -> Findings:
    """Stage 2 maps whole pages: all registers in a device's pages must belong to the same domain."""
    for other in platform.registers():
        if other.name in domain.devices or not _overlap(device, other):
            continue
        cause = f"the pages of '{device.name}' also hold registers of '{other.name}' at {other.at:#x}"
        both = "" if isinstance(other, Iommu) else f"both devices for '{domain.name}', or "
        yield Finding(path, "shared-page", cause, f"{both}a device with pages of its own")


def _shared_line(
    path: KeyPath, domain: Domain, device: PciDevice, system: System, platform: Platform
) -> Findings:
    """Two domains cannot have functions with one interrupt: while either function asserts it, neither domain
    would get other interrupts of its own function."""
    assert platform.pci is not None
    for owner, other in _of_earlier_domains(domain, system, platform):
        if isinstance(other, PciDevice) and set(other.interrupts) & set(device.interrupts):
            cause = f"'{other.name}' of '{owner}' has the interrupt {device.interrupts[0]}, too"
            yield Finding(path, "shared-interrupt", cause, _slots(domain, device, system, platform.pci))


def _shared_device(
    path: KeyPath, domain: Domain, device: PciDevice, system: System, platform: Platform
) -> Findings:
    """Functions of one device may reach each other's registers past the IOMMU, unless its ACS prevents it."""
    for owner, other in _of_earlier_domains(domain, system, platform):
        if (
            isinstance(other, PciDevice)
            and other.requester != device.requester
            and other.requester >> 3 == device.requester >> 3
            and {other.multifunction, device.multifunction} != {"isolated"}
        ):
            cause = (
                f"'{other.name}' of '{owner}' is a function of the same device, which does not isolate them"
            )
            yield Finding(path, "not-isolated", cause, "both functions for one domain, or only one of them")


def _slots(domain: Domain, device: PciDevice, system: System, host: PciHost) -> str:
    """Where the function would have an interrupt that no other domain has."""
    given = {name for other in system.domains if other is not domain for name in other.devices}
    lines = {intid for other in host.devices() if other.name in given for intid in other.interrupts}
    taken = {one.slot for one in (*host.bridges, *host.functions) if one.bus == 0}
    free = (slot for slot in range(1, SLOTS) if slot not in taken)
    found = next((slot for slot in free if host.line(slot, device.pin or 0) not in lines), None)
    where = "" if found is None else f", for example 00:{found:02x}.0"
    return f"both functions for one domain, or a slot with another interrupt{where}"


def _overlap(device: Registers, other: Registers) -> bool:
    return device.pages.at < other.end and other.at < device.pages.end


def _shared_streams(
    path: KeyPath, domain: Domain, device: Device | Dma, system: System, platform: Platform
) -> Findings:
    """An IOMMU cannot distinguish two devices with the same stream: both would reach both domains' memory. A
    device that no domain has may still run."""
    given = {name for one in system.domains for name in one.devices}
    others = [(f" of '{owner}'", other) for owner, other in _of_earlier_domains(domain, system, platform)]
    free = (other for name, other in platform.passable().items() if name not in given)
    for whose, other in [*others, *((", which no domain has,", other) for other in free)]:
        if other is device or other.iommu is None or other.iommu != device.iommu:
            continue
        if both := sorted(set(other.streams) & set(device.streams)):
            cause = f"'{other.name}'{whose} has stream {both[0]:#x} of '{device.iommu}', too"
            yield Finding(path, "shared-stream", cause, f"both devices for '{domain.name}'")


def _of_earlier_domains(
    domain: Domain, system: System, platform: Platform
) -> Iterator[tuple[str, Device | Dma]]:
    """Devices of the domains before `domain`, with the names of these domains. Of two domains that share
    something, only the later one reports it."""
    known = platform.passable()
    for before in takewhile(lambda one: one is not domain, system.domains):
        yield from ((before.name, known[name]) for name in before.devices if name in known)
