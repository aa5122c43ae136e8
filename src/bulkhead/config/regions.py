# SPDX-License-Identifier: Apache-2.0
"""Registers and on-chip memory that the hypervisor keeps, and what guests find at these addresses.

The table is `regions` of schema/manifest.yaml; the hypervisor maps its devices and checks manifests by it.
`check` and the packer of manifests use it. A platform's addresses enter the manifest's header only here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bulkhead.config.devices import DeviceReset, Dma, Master, Window
from bulkhead.config.pci import PciHost, bus_bytes
from bulkhead.config.platform import Its, Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.geometry import PAGE_BYTES
from bulkhead.schema import load_layout

ADDRESS_LIMIT = 1 << 48
MAX_GUEST_ADDRESS = 1 << 39  # stage 2 has one root table

# Fields of the manifest's header, and the keys of the platform file that they come from.
_KEYS: dict[str, KeyPath] = {
    "uart_pa": ("uart", "at"),
    "gicd_pa": ("interrupt_controller", "distributor"),
    "gicr_pa": ("interrupt_controller", "redistributors"),
    "gicr_bytes": ("interrupt_controller", "redistributors_size"),
    "gicc_pa": ("interrupt_controller", "cpu_interface"),
    "gich_pa": ("interrupt_controller", "hypervisor"),
    "gicv_pa": ("interrupt_controller", "virtual_cpu"),
    "messages_pa": ("interrupt_controller", "messages", "at"),
    "messages_bytes": ("interrupt_controller", "messages", "size"),
    "utilization_pa": ("dram", "utilization", "at"),
    "sram_pa": ("ocm", "at"),
    "sram_bytes": ("ocm", "free_bytes"),
}
BROKERS = ("broker", "second_broker")  # of the manifest's header
_PENDING: KeyPath = ("interrupt_controller", "its", "pending")
_OF_A_VERSION = {"gicv2": ("gicr_pa", "gicr_bytes"), "gicv3": ("gicc_pa", "gich_pa", "gicv_pa")}


@dataclass(frozen=True)
class OwnRegion:
    """Physical range [at, end); a guest finds `guest_bytes` of it at the same guest-physical address."""

    name: str
    at: int
    bytes: int
    mapped: bool  # the hypervisor maps it at its physical address
    guest_bytes: int
    key: KeyPath  # key of the platform file

    @property
    def end(self) -> int:
        return self.at + self.bytes


def addresses(platform: Platform) -> dict[str, int]:
    """Fields of a manifest's `platform` with the addresses of the hypervisor's regions; 0: there is none."""
    gic = platform.interrupt_controller
    skipped: tuple[str, ...] = ()
    if gic is not None:
        skipped = _OF_A_VERSION["gicv2" if gic.type == "gicv2" else "gicv3"]
    found = {field: 0 if field in skipped else _value(platform, key) for field, key in _KEYS.items()}
    if found["gicr_pa"] and not found["gicr_bytes"]:
        layout = load_layout()
        found["gicr_bytes"] = 2 * layout.constant("max_cores") * layout.constant("redistributor_bytes")
    return found


def pci_addresses(host: PciHost) -> dict[str, int]:
    """The manifest's record `pci`: the configuration space of the buses that the hypervisor uses, and that of
    the other buses."""
    used = min(host.used_bytes, host.config_bytes)
    others = host.config_bytes - used
    return {
        "config_pa": host.at,
        "config_bytes": used,
        "others_pa": host.at + used if others else 0,
        "others_bytes": others,
    }


def reset_pages(platform: Platform) -> dict[int, KeyPath]:
    """Pages of registers that reset devices, with the key of the first one in each. At most as many as the
    hypervisor maps; crosscheck_devices.py refuses more."""
    found: dict[int, KeyPath] = {}
    for path, _, reset in device_resets(platform):
        found.setdefault(reset.page, path)
    most = load_layout().constant("max_reset_pages")
    return dict(list(found.items())[:most])


def device_resets(platform: Platform) -> list[tuple[KeyPath, str, DeviceReset]]:
    """Resets of devices and DMA engines: key of the register, name of the device, reset."""
    kinds: list[tuple[str, Sequence[Master]]] = [("devices", platform.devices), ("dma", platform.dma)]
    return [
        ((kind, index, "reset", "at"), one.name, one.reset)
        for kind, all_of_it in kinds
        for index, one in enumerate(all_of_it)
        if one.reset is not None
    ]


def its_addresses(platform: Platform) -> dict[str, int]:
    """The manifest's record `its`: registers, and the redistributors' memory. It is zero without a host
    bridge."""
    gic = platform.interrupt_controller
    its = None if gic is None else gic.its
    if its is None or platform.pci is None:
        return {"pa": 0, "pending_pa": 0, "pending_bytes": 0}
    memory = pending_memory(platform.cores.count, its)
    return {"pa": its.at, "pending_pa": memory.at, "pending_bytes": memory.bytes}


def pending_memory(cores: int, its: Its) -> Window:
    """Memory of the redistributors of all cores."""
    return Window("lpi pending", its.pending, cores * load_layout().constant("lpi_pending_bytes"))


def ram_of(platform: Platform) -> list[tuple[int, int]]:
    """Address and size of each range of RAM, without the redistributors' memory."""
    ranges = [(ram.at, ram.end) for ram in platform.memory]
    kept = its_addresses(platform)
    start, end = kept["pending_pa"], kept["pending_pa"] + kept["pending_bytes"]
    if start != end:
        pieces = [piece for at, last in ranges for piece in ((at, min(last, start)), (max(at, end), last))]
        ranges = [(at, last) for at, last in pieces if at < last]
    return [(at, last - at) for at, last in ranges]


def redistributor_sizes(cores: int) -> range:
    """Sizes that the redistributors of a chip with this many cores can have. EL2's tables have room for twice
    as many redistributors as the most cores it supports."""
    layout = load_layout()
    each = layout.constant("redistributor_bytes")
    return range(cores * each, 2 * layout.constant("max_cores") * each + 1, each)


def own_regions(platform: Platform, *engines: Dma) -> list[OwnRegion]:
    """All regions that the hypervisor keeps on this platform. `engines`: DMA engines that it programs for
    brokers."""
    layout = load_layout()
    gic = platform.interrupt_controller
    of_platform: dict[str, int] = addresses(platform)
    of_platform["gic_version"] = 0 if gic is None else layout.enum_value("gic_version", gic.type)
    of_brokers = {name: {"engine_pa": 0, "qos_pa": 0} for name in BROKERS}
    components = [] if platform.mpam is None else list(platform.mpam.components)
    of_mpam = {f"page_{number}": 0 for number in range(layout.constant("max_mpam_components"))}
    keys = {f"platform.{field}": key for field, key in _KEYS.items()}
    for name, engine in zip(BROKERS, engines, strict=False):
        of_brokers[name] = {"engine_pa": engine.at, "qos_pa": engine.qos or 0}
        at: KeyPath = ("dma", platform.dma.index(engine))
        keys |= {f"{name}.engine_pa": (*at, "at"), f"{name}.qos_pa": (*at, "qos")}
    for number, component in enumerate(components[: len(of_mpam)]):
        of_mpam[f"page_{number}"] = component.at
        keys[f"mpam.page_{number}"] = ("mpam", "components", number, "at")
    # The plan decides which devices are regulated; crosscheck_devices.py checks where their regulators are.
    of_regulators = {f"page_{number}": 0 for number in range(layout.constant("max_device_regulators"))}
    of_resets = {f"page_{number}": 0 for number in range(layout.constant("max_reset_pages"))}
    for number, (page, key) in enumerate(reset_pages(platform).items()):
        of_resets[f"page_{number}"] = page
        keys[f"reset_pages.page_{number}"] = key
    # The plan decides how much on-chip memory stage-2 tables use, within the platform's `ocm`.
    of_tables = {"on_chip_pa": 0, "on_chip_bytes": 0}
    driven = platform.driven_iommu
    of_smmu = {"pa": 0 if driven is None else driven.at}
    if driven is not None:
        keys["smmu.pa"] = ("iommus", platform.iommus.index(driven), "at")
    of_pci = dict.fromkeys(("config_pa", "config_bytes", "others_pa", "others_bytes"), 0)
    if platform.pci is not None:
        of_pci = pci_addresses(platform.pci)
        keys |= dict.fromkeys(("pci.config_pa", "pci.others_pa"), ("pci", "at"))
    keys |= {"its.pa": ("interrupt_controller", "its", "at"), "its.pending_pa": _PENDING}
    header = {
        "platform": of_platform,
        **of_brokers,
        "device_regulators": of_regulators,
        "reset_pages": of_resets,
        "mpam": of_mpam,
        "smmu": of_smmu,
        "pci": of_pci,
        "its": its_addresses(platform),
        "tables": of_tables,
    }
    return [
        OwnRegion(kept.name, kept.pa, kept.bytes, kept.mapped, kept.guest_bytes, keys[kept.at])
        for kept in layout.regions(header, platform.cores.count)
    ]


def guest_windows(platform: Platform) -> list[Window]:
    """Where guests find the interrupt controller, the console and their socket device."""
    found = [Window(r.name, r.at, r.guest_bytes) for r in own_regions(platform) if r.guest_bytes]
    if platform.socket is not None:
        found.append(Window("socket device", platform.socket.at, PAGE_BYTES))
    return found


def root_window(platform: Platform) -> Window | None:
    """Where guests with `socket_transport: pci` find the configuration space of their virtual PCI root."""
    if platform.socket is None or platform.socket.root is None:
        return None
    return Window("configuration space of the virtual PCI root", platform.socket.root, bus_bytes())


def gic_window(platform: Platform) -> Window | None:
    """The part of the interrupt controller that stage 2 maps for each domain: the CPU interface of a
    GICv2."""
    gic = platform.interrupt_controller
    if gic is None or gic.type != "gicv2" or gic.cpu_interface is None:
        return None
    return Window("interrupt controller", gic.cpu_interface, load_layout().constant("gicv2_interface_bytes"))


def check_regions(platform: Platform) -> Iterator[Finding]:
    """The hypervisor's registers must be whole pages that it can map, and must overlap neither others nor
    memory.

    On-chip memory is checked in crosscheck_platform.py, which knows its full size.
    """
    regions = [region for region in own_regions(platform) if region.key[0] != "ocm"]
    for number, region in enumerate(regions):
        for code, cause, allowed in _faults(region, regions[:number], platform):
            yield Finding(region.key, code, cause, allowed)


def check_engine(platform: Platform, engine: Dma, path: KeyPath) -> Iterator[Finding]:
    """The same checks for the broker's DMA engine. `path`: the key that selects the engine."""
    driven = platform.driven_iommu
    if driven is not None and engine.iommu == driven.name:
        cause = f"'{engine.name}' is behind the IOMMU '{driven.name}', which refuses accesses for the broker"
        yield Finding(path, "conflict", cause, "cpu-copy")
    regions = own_regions(platform, engine)
    for number, region in enumerate(regions):
        if region.key[0] == "dma":
            for code, cause, _ in _faults(region, regions[:number], platform):
                yield Finding(path, code, f"{cause}, on platform '{platform.name}'", "cpu-copy")


def _faults(region: OwnRegion, others: list[OwnRegion], platform: Platform) -> Iterator[tuple[str, str, str]]:
    """Code, cause and allowed values for each error in the place of a region."""
    most = load_layout().constant("mapped_limit") if region.mapped else ADDRESS_LIMIT
    where = f"'{region.name}', {region.at:#x}..{region.end - 1:#x},"
    if region.at % PAGE_BYTES or region.bytes % PAGE_BYTES:
        yield "alignment", f"{where} is not whole pages", "multiples of 4 KiB"
    if region.end > most:
        yield (
            "out-of-range",
            f"{where} is at an address where the hypervisor cannot map it",
            f"up to {most:#x}",
        )
    taken = [(other.name, other.at, other.end) for other in others]
    if region.key != _PENDING:  # a part of RAM that is reserved
        taken += [(f"memory[{number}]", ram.at, ram.end) for number, ram in enumerate(platform.memory)]
    for name, start, end in taken:
        if region.at < end and start < region.end:
            yield "overlap", f"{where} overlaps '{name}'", "registers of its own"


def _value(platform: Platform, key: KeyPath) -> int:
    value: Any = platform
    for step in key:
        value = None if value is None else getattr(value, str(step))
    return 0 if value is None else int(value)
