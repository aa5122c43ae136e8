# SPDX-License-Identifier: Apache-2.0
"""PCI functions of domains: their part of a manifest, and what a guest's device tree says of them.

Called by `manifest` and `images`. Without a host bridge all fields are zero.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bulkhead.config.pci import PciBridge, PciDevice, PciHost, bus_bytes
from bulkhead.config.platform import Platform
from bulkhead.config.regions import its_addresses, pci_addresses
from bulkhead.config.system import Domain
from bulkhead.geometry import PAGE_BYTES
from bulkhead.package.devicetree import TreePci, TreePciPin
from bulkhead.planning.model import DomainPlan, Plan
from bulkhead.schema import Value, load_layout

Row = Mapping[str, Value]

_FLAGS = {None: (), "together": ("multifunction",), "isolated": ("multifunction", "isolated")}


def pci_row(platform: Platform) -> Row:
    """The manifest's record `pci`. The host bridge's functions are turned off even if no domain has one."""
    if platform.pci is None:
        return dict.fromkeys(("config_pa", "config_bytes", "others_pa", "others_bytes"), 0)
    return {**pci_addresses(platform.pci)}


def its_row(platform: Platform) -> Row:
    """The manifest's record `its`. The ITS is driven even if no domain has message interrupts, so that what a
    boot loader left there sends none."""
    return {**its_addresses(platform)}


def functions_of(domain: Domain, platform: Platform) -> list[PciDevice]:
    """The domain's PCI functions."""
    known = platform.passable()
    return [device for name in domain.devices if isinstance(device := known[name], PciDevice)]


@dataclass(frozen=True)
class DomainFunction:
    """A PCI function of a domain, and how many message interrupts the domain sees."""

    domain: DomainPlan
    device: PciDevice
    messages: int


def all_functions(plan: Plan) -> list[DomainFunction]:
    """The functions of all domains, in the order of the manifest."""
    found = []
    shared = plan.system.shared_cores()
    for domain in plan.domains:
        configured = plan.system.domain(domain.name)
        assert configured is not None
        found += [
            DomainFunction(domain, device, _messages(configured, device, shared))
            for device in functions_of(configured, plan.platform)
        ]
    return found


def function_rows(plan: Plan) -> list[Row]:
    """The functions of all domains."""
    return [_row(one.domain.index, one.device, one.messages) for one in all_functions(plan)]


def bridge_rows(plan: Plan) -> list[Row]:
    """The bridges that domains' functions are behind. The hypervisor holds what is behind others in reset."""
    host = plan.platform.pci
    used = {one.device.requester >> 8 for one in all_functions(plan)}
    bridges = () if host is None else tuple(one for one in host.bridges if one.secondary in used)
    return [_bridge_row(host, bridge) for bridge in bridges if host is not None]


def _bridge_row(host: PciHost, bridge: PciBridge) -> Row:
    window = host.window(bridge)
    return {
        "requester": bridge.requester,
        "id": bridge.device << 16 | bridge.vendor,
        "bus": bridge.secondary,
        "reserved": 0,
        "memory_pa": window.at,
        "memory_bytes": window.bytes,
    }


def _messages(domain: Domain, device: PciDevice, shared_cores: Collection[int]) -> int:
    """Message interrupts that the domain sees. It sees none if it shares a core: while one of its VCPUs waits
    for the core, the hypervisor can hold back lines, but no messages."""
    return 0 if set(shared_cores) & set(domain.cpus) else device.messages


def _row(domain: int, device: PciDevice, messages: int) -> Row:
    bars = {bar.number: bar for bar in device.bars}
    layout = load_layout()
    numbers = range(layout.constant("pci_bars"))
    return {
        "domain": domain,
        "requester": device.requester,
        "guest_slot": device.guest_slot,
        "id": device.id,
        "pin": _pin(device),
        "bar_kinds": sum(bar.kind << 4 * bar.number for bar in device.bars),
        "messages": messages,
        "flags": sum(layout.enum_value("function_flag", flag) for flag in _FLAGS[device.multifunction]),
        "bar_pa": [bars[number].at if number in bars else 0 for number in numbers],
        "bar_bytes": [bars[number].size if number in bars else 0 for number in numbers],
    }


def _pin(device: PciDevice) -> int:
    """The register that names the interrupt pin."""
    return 0 if device.pin is None else device.pin + 1


def pci_tree(domain: Domain, platform: Platform, shared_cores: Collection[int]) -> TreePci | None:
    """The host bridge that the domain's guest sees; None: the domain has no function."""
    functions = functions_of(domain, platform)
    if platform.pci is None or not functions:
        return None
    windows = [window for device in functions for window in device.windows]
    return TreePci(
        at=platform.pci.at,
        bytes=bus_bytes(),
        memory=(min(w.at for w in windows), max(w.end for w in windows)),
        pins=tuple(
            TreePciPin(device.guest_slot, _pin(device), device.interrupts[0])
            for device in functions
            if device.pin is not None
        ),
        coherent=platform.pci.coherent,
        its=its_addresses(platform)["pa"] if has_messages(domain, platform, shared_cores) else None,
    )


def socket_root(platform: Platform) -> TreePci:
    """The virtual PCI root with a domain's socket device as function 0 of slot 0. The domain has it whether
    the platform has a host bridge or not."""
    assert platform.socket is not None
    assert platform.socket.root is not None, "`check` refuses a transport without a place"
    return TreePci(
        at=platform.socket.root,
        bytes=bus_bytes(),
        memory=(platform.socket.at, platform.socket.at + PAGE_BYTES),
        pins=(TreePciPin(0, 1, platform.socket.interrupt),),
        coherent=True,
    )


def has_messages(domain: Domain, platform: Platform, shared_cores: Collection[int]) -> bool:
    """Whether the domain has message interrupts, and so an ITS of its own."""
    return any(_messages(domain, device, shared_cores) for device in functions_of(domain, platform))
