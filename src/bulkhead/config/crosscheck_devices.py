# SPDX-License-Identifier: Apache-2.0
"""Checks of devices: a platform describes them without contradiction.

crosscheck_platform.py calls this. Interrupts are checked elsewhere, devices of domains in
admission/crosscheck_passthrough.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.devices import Device, Dma, Iommu
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.regions import device_resets, own_regions, reset_pages
from bulkhead.geometry import PAGE_BYTES
from bulkhead.schema import load_layout

Findings = Iterator[Finding]
_NAMES = {"smmuv2": "SMMUv2", "smmuv3": "SMMUv3"}
_INTERRUPTS = {
    "smmuv2": (1, "one that all context banks and the global faults have together"),
    "smmuv3": (2, "that of refused accesses, that of global errors"),
}


def check_devices(platform: Platform) -> Findings:
    """Checks devices of a platform file: names, IOMMUs, overlaps with memory, resets."""
    yield from _absent(platform)
    yield from _resets(platform)
    seen: set[str] = set()
    for path, one in _described(platform):
        if one.name in seen:
            yield Finding((*path, "name"), "duplicate-name", f"a second device is named '{one.name}'")
        seen.add(one.name)
        for number, ram in enumerate(platform.memory):
            if one.pages.at < ram.end and ram.at < one.pages.end:
                yield Finding(path, "overlap", f"'{one.name}' overlaps memory[{number}] at {ram.at:#x}")
        if not isinstance(one, Iommu):
            yield from _streams(path, one, platform)
            yield from _regulator(path, one, platform)
        elif one.driven:
            yield from _driven(path, one, platform)


def _absent(platform: Platform) -> Findings:
    """In the manifest, address 0 says that the hypervisor drives no such device."""
    gic = platform.interrupt_controller
    places: list[tuple[KeyPath, int, str]] = [
        (("iommus", index), one.at, f"the IOMMU '{one.name}'")
        for index, one in enumerate(platform.iommus)
        if one.driven
    ]
    if platform.pci is not None:
        places.append((("pci",), platform.pci.at, "the host bridge"))
    if gic is not None and gic.its is not None:
        places.append((("interrupt_controller", "its"), gic.its.at, "the ITS"))
    for path, at, what in places:
        if at == 0:
            cause = f"the hypervisor cannot drive {what} at address 0"
            yield Finding((*path, "at"), "out-of-range", cause, "the address of its registers, not 0")


def _resets(platform: Platform) -> Findings:
    """What the hypervisor needs to reset a device, as core/manifest_resets.c checks it. The places of the
    registers' pages are checked by check_regions()."""
    layout = load_layout()
    longest = layout.constant("max_reset_hold_ns")
    pages = reset_pages(platform)
    most = layout.constant("max_resets")
    for path, name, _ in device_resets(platform)[most:]:
        yield Finding(path, "limit", f"'{name}' is one more than {most} devices", f"{most} with a reset")
    before: dict[tuple[int, int], str] = {}  # register and bit: device
    for path, name, reset in device_resets(platform):
        if reset.page == 0:
            cause = f"the hypervisor cannot reset '{name}' by a register of page 0"
            yield Finding(path, "out-of-range", cause, "a register in another page")
        if reset.at % 4:
            yield Finding(path, "alignment", f"{reset.at:#x} is not a multiple of 4", "a register")
        if reset.page not in pages:
            cause = f"registers that reset devices are in more than {len(pages)} pages"
            yield Finding(path, "limit", cause, f"{len(pages)} pages of 4 KiB")
        if reset.hold > longest:
            cause = f"the hypervisor does not hold '{name}' in reset for {reset.hold} ns with interrupts off"
            yield Finding((*path[:-1], "hold"), "out-of-range", cause, f"up to {longest} ns")
        bits = [(reset.at, bit) for bit in range(32) if reset.mask >> bit & 1]
        others = {before[bit] for bit in bits if bit in before}
        for other in sorted(others):
            cause = f"a reset of '{name}' resets '{other}', too"
            yield Finding((*path[:-1], "mask"), "conflict", cause, "bits of this device alone")
        before |= dict.fromkeys(bits, name)
    for _, one in _described(platform):
        for page, key in pages.items():
            if one.pages.at < page + PAGE_BYTES and page < one.pages.end:
                cause = f"'{one.name}' has registers in the page that resets devices, {page:#x}"
                yield Finding(key, "overlap", cause, "a page that belongs to no device")


def _driven(path: KeyPath, iommu: Iommu, platform: Platform) -> Findings:
    """What a driver needs, as core/manifest_smmu.c checks it."""
    yield from _interrupt_controller(path, iommu, platform)
    if iommu is not platform.driven_iommu:
        cause = "the hypervisor drives one IOMMU of a board"
        yield Finding((*path, "driven"), "conflict", cause, "true for one IOMMU")
    size = load_layout().constant("smmu_bytes")
    if iommu.size != size:
        cause = f"registers of an {_NAMES[iommu.type]} take {size:#x} bytes"
        yield Finding((*path, "size"), "out-of-range", cause, f"{size:#x}")
    count, allowed = _INTERRUPTS[iommu.type]
    if len(iommu.interrupts) != count:
        listed = f"'{iommu.name}' has {len(iommu.interrupts)}"
        cause = f"a driven {_NAMES[iommu.type]} has {count} interrupt{'s' if count > 1 else ''}, and {listed}"
        yield Finding((*path, "interrupts"), "conflict", cause, allowed)
    if iommu.stream_bits is None:
        cause = f"the width of stream ids of '{iommu.name}' is not known"
        yield Finding((*path, "driven"), "missing-key", cause, "the key 'stream_bits'")
    if iommu.type == "smmuv2":
        yield from _driven_v2(path, iommu, platform)


def _driven_v2(path: KeyPath, iommu: Iommu, platform: Platform) -> Findings:
    if platform.cores.s2fwb:
        cause = (
            f"tables of '{iommu.name}', an SMMUv2, cannot force how memory is cached, and those of cores do"
        )
        yield Finding((*path, "driven"), "conflict", cause, "false, or `cores.s2fwb: false`")
    most = load_layout().constant("max_stream_bits")
    if iommu.stream_bits is not None and iommu.stream_bits > most:
        cause = f"the hypervisor drives an SMMUv2 with stream ids of at most {most} bits"
        yield Finding((*path, "stream_bits"), "out-of-range", cause, f"up to {most}")
    for key in ("stream_entries", "context_banks"):
        if getattr(iommu, key) is None:
            cause = f"how many streams or domains can be behind '{iommu.name}' is not known"
            yield Finding((*path, "driven"), "missing-key", cause, f"the key '{key}'")


def _interrupt_controller(path: KeyPath, iommu: Iommu, platform: Platform) -> Findings:
    """Beside a GICv2, devices reach addresses below the interrupt registers that stage 2 maps for VCPUs."""
    gic = platform.interrupt_controller
    if gic is None or gic.type == "gicv3":
        return
    if iommu.type == "smmuv3":
        cause = f"the hypervisor drives an SMMUv3 beside a GICv3 only, and '{platform.name}' has another one"
        yield Finding((*path, "driven"), "conflict", cause, "false")
    elif gic.cpu_interface is not None and gic.cpu_interface < 1 << load_layout().constant("smmu_gicv2_bits"):
        cause = (
            f"devices behind '{iommu.name}' could reach interrupt registers of VCPUs, at "
            f"{gic.cpu_interface:#x}"
        )
        yield Finding((*path, "driven"), "conflict", cause, "false")


def _described(platform: Platform) -> list[tuple[KeyPath, Device | Dma | Iommu]]:
    found: list[tuple[KeyPath, Device | Dma | Iommu]] = []
    found += [(("devices", index), one) for index, one in enumerate(platform.devices)]
    found += [(("dma", index), one) for index, one in enumerate(platform.dma)]
    found += [(("iommus", index), one) for index, one in enumerate(platform.iommus)]
    return found


def _regulator(path: KeyPath, device: Device | Dma, platform: Platform) -> Findings:
    """The page of a device's regulator belongs to nothing else, and its clock is known."""
    if device.qos is None:
        return
    at: KeyPath = (*path, "qos")
    end = device.qos + PAGE_BYTES
    if device.qos % PAGE_BYTES:
        yield Finding(at, "alignment", f"{device.qos:#x} is not the address of a page", "a multiple of 4 KiB")
    most = load_layout().constant("mapped_limit")
    if end > most:
        cause = f"the hypervisor cannot map {device.qos:#x}"
        yield Finding(at, "out-of-range", cause, f"up to {most:#x}")
    taken = [(region.name, region.at, region.end) for region in own_regions(platform)]
    taken += [(one.name, one.pages.at, one.pages.end) for one in platform.registers()]
    taken += [
        (f"the regulator of '{other.name}'", other.qos, other.qos + PAGE_BYTES)
        for other in (*platform.devices, *platform.dma)
        if other is not device and other.qos is not None
    ]
    taken += [(f"memory[{number}]", ram.at, ram.end) for number, ram in enumerate(platform.memory)]
    for name, start, last in taken:
        if device.qos < last and start < end:
            yield Finding(at, "overlap", f"the regulator's page overlaps {quoted(name)}", "a page of its own")
    interconnect = platform.interconnect
    if interconnect is None or device.name not in {one.master for one in interconnect.regulators}:
        cause = f"the clock of the regulator of '{device.name}' is not known"
        yield Finding(
            at, "missing-key", cause, f"an entry `master: {device.name}` of `interconnect.regulators`"
        )


def _streams(path: KeyPath, device: Device | Dma, platform: Platform) -> Findings:
    if device.iommu is None:
        if device.streams:
            cause = f"'{device.name}' has streams, but no IOMMU that receives them"
            yield Finding((*path, "streams"), "conflict", cause, "the key 'iommu', or no streams")
        return
    if not device.masters_memory:
        cause = f"'{device.name}' does not access memory itself, so no IOMMU translates for it"
        yield Finding((*path, "iommu"), "conflict", cause, "`dma: true`, or no IOMMU")
    known = {iommu.name: iommu for iommu in platform.iommus}
    iommu = known.get(device.iommu)
    if iommu is None:
        cause = f"there is no IOMMU {quoted(device.iommu)}"
        near = nearest_of(device.iommu, known)
        yield Finding((*path, "iommu"), "unknown-name", cause, ", ".join(known) or "none", near)
        return
    if not device.streams:
        cause = f"the IOMMU '{iommu.name}' identifies devices by stream, and '{device.name}' has no stream"
        yield Finding((*path, "iommu"), "missing-key", cause, "the key 'streams'")
    for number, stream in enumerate(device.streams):
        at: KeyPath = (*path, "streams", number)
        if stream >= iommu.stream_ids:
            cause = f"the IOMMU '{iommu.name}' has no stream {stream:#x}"
            yield Finding(at, "out-of-range", cause, f"0 to {iommu.stream_ids - 1:#x}")
        elif stream in device.streams[:number]:
            yield Finding(at, "duplicate-name", f"stream {stream:#x} is listed twice", "each stream once")
