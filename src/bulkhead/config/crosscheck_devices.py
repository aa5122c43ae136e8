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

STREAMS = {"smmuv2": 1 << 16, "smmuv3": 1 << 32}

Findings = Iterator[Finding]


def check_devices(platform: Platform) -> Findings:
    """Checks devices of a platform file: names, IOMMUs, overlaps with memory."""
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


def _described(platform: Platform) -> list[tuple[KeyPath, Device | Dma | Iommu]]:
    found: list[tuple[KeyPath, Device | Dma | Iommu]] = []
    found += [(("devices", index), one) for index, one in enumerate(platform.devices)]
    found += [(("dma", index), one) for index, one in enumerate(platform.dma)]
    found += [(("iommus", index), one) for index, one in enumerate(platform.iommus)]
    return found


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
        if stream >= STREAMS[iommu.type]:
            cause = f"{stream:#x} is not a stream number of an {iommu.type}"
            yield Finding(at, "out-of-range", cause, f"0 to {STREAMS[iommu.type] - 1:#x}")
        elif stream in device.streams[:number]:
            yield Finding(at, "duplicate-name", f"stream {stream:#x} is listed twice", "each stream once")
