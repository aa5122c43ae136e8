# SPDX-License-Identifier: Apache-2.0
"""Which devices of a domain reach memory past its stage-2 tables, and which notices that requires.

Cross-checks, commands and runs all use these functions. A device that masters memory is confined only if the
hypervisor drives the IOMMU in front of it (`iommus[].driven`). A device behind another IOMMU is as free as
one without. Identity-mapped memory does not confine a device either: a driver's addresses are then correct,
but the device can still use every other address.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.devices import Device, Dma
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding
from bulkhead.config.system import Domain, System
from bulkhead.planning.broker import engine_of, own_engine_of
from bulkhead.planning.broker_parts import parts_of


def unconfined(domain: Domain, platform: Platform) -> list[Device | Dma]:
    """Devices of the domain that can read and write all memory."""
    return [device for device in masters(domain, platform) if not platform.confines(device)]


def masters(domain: Domain, platform: Platform) -> list[Device | Dma]:
    """Devices of the domain that master memory, whether an IOMMU confines them or not."""
    known = platform.passable()
    return [known[name] for name in domain.devices if name in known and known[name].masters_memory]


def incoherent(domain: Domain, platform: Platform) -> list[Device | Dma]:
    """Devices of the domain that master memory and are not coherent with caches. The domain's programs must
    be able to access memory that they share with such a device past the caches."""
    return [device for device in masters(domain, platform) if not device.coherent]


def why_unconfined(device: Device | Dma) -> str:
    """Why a device is not confined, as the end of a sentence about it."""
    if device.iommu is None:
        return "is not behind an IOMMU"
    return f"is behind the IOMMU '{device.iommu}', which the hypervisor does not drive"


def refused(domain: Domain, device: Device | Dma) -> tuple[str, str]:
    """Cause of the refusal, and what is allowed instead, for a domain that is not trusted with the device."""
    cause = (
        f"'{device.name}' masters memory and {why_unconfined(device)}: with it '{domain.name}' could read "
        "and write all memory, whether its own is identity-mapped or not"
    )
    return cause, f"a device that does not master memory, or `dma: trusted` for '{domain.name}'"


def trusted(system: System, platform: Platform) -> Iterator[Finding]:
    """A notice for each domain with `dma: trusted`: isolation depends on that domain."""
    for index, domain in enumerate(system.domains):
        if domain.dma != "trusted":
            continue
        path = ("domains", index, "dma")
        found = unconfined(domain, platform)
        if not found:
            cause = f"'{domain.name}' is trusted, but has no device that masters memory"
            yield Finding(path, "no-effect", cause, "leave it out")
        for device in found:
            cause = (
                f"'{domain.name}' is trusted with '{device.name}', which masters memory and "
                f"{why_unconfined(device)}: it can read and write all memory, also that of the hypervisor "
                f"and of other domains. Statements of reports about isolation hold only if '{domain.name}' "
                "does not misuse the device"
            )
            yield Finding(path, "dma-trusted", cause)


def trusted_broker(system: System, platform: Platform) -> Iterator[Finding]:
    """A notice for each broker with `dma: trusted`: isolation depends on the broker, too."""
    for part in parts_of(system):
        yield from part.in_file(_trusted_broker(part.system, platform))


def _trusted_broker(system: System, platform: Platform) -> Iterator[Finding]:
    if system.broker is None or system.broker.dma != "trusted":
        return
    engine = own_engine_of(system, platform)
    path = ("broker", "dma")
    if engine is None or platform.confines(engine):
        cause = "the broker is trusted, but has no engine of its own that is not confined"
        yield Finding(path, "no-effect", cause, "leave it out")
        return
    cause = (
        f"the broker is trusted with '{engine.name}', which {why_unconfined(engine)}: it can read and write "
        "all memory, also that of the hypervisor and of other domains. Statements of reports about isolation "
        "hold only if nobody has taken over the broker"
    )
    yield Finding(path, "dma-trusted", cause)


def unlabelled(system: System, platform: Platform) -> Iterator[Finding]:
    """A notice for each device whose accesses do not have its domain's PARTID. This version sets no PARTID
    for a device or an IOMMU, so MPAM neither limits these accesses nor counts them for the domain."""
    if platform.mpam is None:
        return
    for index, domain in enumerate(system.domains):
        for device in masters(domain, platform):
            cause = (
                f"accesses of '{device.name}' have a PARTID that the chip sets, not one of "
                f"'{domain.name}': the domain's shares do not limit them, and its monitors do not count them"
            )
            yield Finding(("domains", index, "devices"), "unlabelled", cause)
    for part in parts_of(system):
        engine = engine_of(part.system, platform) or own_engine_of(part.system, platform)
        if engine is not None:
            cause = f"copies of '{engine.name}' have a PARTID that the chip sets, not one of the broker"
            yield Finding((*part.key, "engine"), "unlabelled", cause, "cpu-copy")
