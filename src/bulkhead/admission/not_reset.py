# SPDX-License-Identifier: Apache-2.0
"""Notices about devices that the hypervisor cannot reset when their domain starts or restarts.

admission/load.py shows them. PCI functions are left out: their own capabilities say whether they can be
reset, and the hypervisor reads these at its start. hypervisor/run/device_reset.c resets other devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.devices import Device, Dma
from bulkhead.config.pci import PciDevice
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding
from bulkhead.config.system import Domain, System


def not_reset(system: System, platform: Platform) -> Iterator[Finding]:
    """A notice for each device without a reset that masters memory, or whose domain is restarted by the
    hypervisor or by a manager."""
    known = platform.passable()
    managed = any(domain.manager for domain in system.domains)
    for index, domain in enumerate(system.domains):
        restarts = managed or domain.restart == "on-failure"
        for number, name in enumerate(domain.devices):
            device = known.get(name)
            if device is None or device.reset is not None or isinstance(device, PciDevice):
                continue
            if device.masters_memory or restarts:
                then = _then(device, domain, platform)
                cause = f"platform '{platform.name}' has no `reset` of '{name}': {then}"
                yield Finding(("domains", index, "devices", number), "not-reset", cause)


def _then(device: Device | Dma, domain: Domain, platform: Platform) -> str:
    """What a device without a reset does when its domain starts or restarts."""
    if not device.masters_memory:
        return (
            f"after a restart '{domain.name}' finds the device as it was when the domain stopped, until its "
            "driver resets it"
        )
    until = (
        f"the device goes on with what a boot loader, or '{domain.name}' before a restart, has started, "
        f"until a driver of '{domain.name}' resets it"
    )
    if platform.confines(device):
        return (
            f"{until}. The IOMMU aborts its accesses while '{domain.name}' does not run. When "
            f"'{domain.name}' runs again, the device can overwrite the memory of '{domain.name}'"
        )
    return (
        f"{until}. No IOMMU stops its accesses, also while '{domain.name}' does not run: it can overwrite "
        "what the hypervisor loads at its start and at a restart"
    )
