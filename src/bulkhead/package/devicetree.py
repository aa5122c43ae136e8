# SPDX-License-Identifier: Apache-2.0
"""A domain's device tree: the virtual board that it sees, in the standard bindings.

Called by `images`, once per domain. The board is a reduced version of the emulator's `virt`: the domain's
memory and CPUs, the interrupt controller and the console at the platform's addresses, timers, PSCI by HVC,
pass-through devices, and performance monitors if the domain has them. Equal inputs give equal bytes.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

import fdt

from bulkhead.package.errors import PackageError
from bulkhead.package.memory import LoadRegion
from bulkhead.schema import load_layout

_PHANDLE_GIC = 1
_PHANDLE_CLOCK = 2
_PHANDLE_ITS = 3
_PHANDLE_POOL = 4
_ITS_ADDRESS_CELLS = 2
_SPI, _PPI = 0, 1
_LEVEL_HIGH = 4
_SECURE_TIMER_PPI, _HYPERVISOR_TIMER_PPI = 13, 10
_UART_BYTES = 0x1000
_SOCKET_BYTES = 0x200
_RNG_SEED_BYTES = 64
# The binding of PSCI 0.1 has no fixed function numbers: the tree states them.
_PSCI_OF_0_1 = {"cpu_suspend": 0xC400_0001, "cpu_off": 0x8400_0002, "cpu_on": 0xC400_0003}
_FLASH_WORD_BYTES = 4  # two chips side by side
_PCI_MEMORY_32, _PCI_MEMORY_64 = 0x0200_0000, 0x0300_0000  # first cell of PCI addresses (IEEE 1275 binding)
_PCI_REQUESTERS = 1 << 16
_PCI_SLOT_SHIFT, _PCI_SLOTS, _PCI_PINS = 11, 0xF800, 7  # masks of slot and pin


@dataclass(frozen=True)
class TreeConsole:
    """A PL011."""

    at: int
    intid: int


@dataclass(frozen=True)
class TreeSocket:
    """A virtio socket device with its registers alone: virtio-mmio."""

    at: int
    intid: int


@dataclass(frozen=True)
class PassedDevice:
    """A pass-through device that its platform file describes with `compatible`."""

    name: str
    compatible: tuple[str, ...]
    at: int
    bytes: int
    intids: tuple[int, ...]  # shared, level-triggered


@dataclass(frozen=True)
class TreePciPin:
    """An interrupt pin of a PCI function; 1 is INTA."""

    slot: int
    pin: int
    intid: int


@dataclass(frozen=True)
class TreePci:
    """A PCI host bridge with one bus, whose BARs are placed."""

    at: int  # configuration space
    bytes: int
    memory: tuple[int, int]  # (start, end) of the addresses with the domain's BARs
    pins: tuple[TreePciPin, ...]
    coherent: bool
    its: int | None = None  # registers of the ITS that its functions send messages to; None: they send none


@dataclass(frozen=True)
class GuestBoard:
    """Data of one domain's device tree."""

    memory: tuple[LoadRegion, ...]
    cpus: int
    cpu_type: str  # "cortex-a53"
    gicd: int
    entropy: bytes  # seeds are derived from it; any length
    gicr: int | None = None  # redistributors, for a GICv3
    gicc: int | None = None  # CPU interface, for a GICv2
    console: TreeConsole | None = None
    socket: TreeSocket | None = None
    windows: tuple[LoadRegion, ...] = ()  # for the broker: where it sees the memory of other domains
    devices: tuple[PassedDevice, ...] = ()
    pci: TreePci | None = None
    socket_root: TreePci | None = None  # with the socket device, in place of `socket`
    socket_pool: LoadRegion | None = None  # part of `memory` that the socket device reaches; None: all of it
    flash: LoadRegion | None = None  # flash that takes commands
    pmu: bool = False
    bus_clock_hz: int = 24_000_000  # of the clock that bindings of PrimeCell devices require
    cmdline: str | None = None
    initrd: tuple[int, int] | None = None  # (start, end)
    params: Mapping[str, int] = field(default_factory=dict)


def device_tree(board: GuestBoard) -> bytes:
    """The flattened device tree, padded to a multiple of 8 bytes."""
    root = fdt.Node("/")
    _cells(root, 2, 2)
    _strings(root, "compatible", "bulkhead,domain", "linux,dummy-virt")
    _strings(root, "model", "bulkhead,domain")
    _words(root, "interrupt-parent", _PHANDLE_GIC)
    root.append(_chosen(board))
    for region in (*board.memory, *board.windows):
        root.append(_memory(region))
    if board.socket_pool is not None:
        root.append(_reserved(board.socket_pool))
    root.append(_cpus(board))
    root.append(_psci())
    root.append(_timer(board))
    if board.pmu:
        root.append(_pmu(board))
    root.append(_gic(board))
    if board.console is not None or any(map(_is_primecell, board.devices)):
        root.append(_clock(board.bus_clock_hz))
    if board.console is not None:
        root.append(_uart(board.console))
    if board.socket is not None:
        root.append(_socket(board.socket, board.socket_pool))
    for device in board.devices:
        root.append(_device(device))
    for host in _roots(board):
        node = _pci(host, parent_cells=0 if _its_of(board) is None else _ITS_ADDRESS_CELLS)
        if host is board.socket_root and board.socket_pool is not None:
            _words(node, "memory-region", _PHANDLE_POOL)  # Linux's PCI devices use that of their host bridge
        root.append(node)
    if board.flash is not None:
        root.append(_flash(board.flash))
    root.append(_bulkhead(board.params))
    tree = fdt.FDT()
    tree.root = root
    blob = bytes(tree.to_dtb(version=17))
    return _padded(blob)


def own_device_tree(content: bytes, cmdline: str | None, initrd: tuple[int, int] | None) -> bytes:
    """A user's device tree with the loader's additions to `/chosen`. Raises PackageError."""
    if content[:4] != b"\xd0\x0d\xfe\xed":
        raise PackageError(f"is not a device tree: it starts with {content[:4].hex() or 'nothing'}")
    try:
        tree = fdt.parse_dtb(content)
        if cmdline is None and initrd is None:
            return content
        _choose(tree, cmdline, initrd)
        return _padded(bytes(tree.to_dtb(version=17)))
    except Exception as error:  # the library raises the class Exception itself
        raise PackageError(f"is a broken device tree: {str(error) or type(error).__name__}") from error


def _choose(tree: fdt.FDT, cmdline: str | None, initrd: tuple[int, int] | None) -> None:
    if not tree.exist_node("/chosen"):
        tree.add_item(fdt.Node("chosen"), "/")
    chosen = tree.get_node("/chosen")
    if cmdline is not None:
        chosen.remove_property("bootargs")
        _strings(chosen, "bootargs", cmdline)
    if initrd is not None:
        for name, address in zip(("linux,initrd-start", "linux,initrd-end"), initrd, strict=True):
            chosen.remove_property(name)
            _quads(chosen, name, address)


def _of(constant: str) -> int:
    """A constant of the layout, shared with the hypervisor."""
    return load_layout().constant(constant)


def _ppi(constant: str) -> int:
    """The binding's number of a private interrupt of the layout."""
    return _of(constant) - _of("first_peripheral_intid")


def _spi(intid: int) -> int:
    """The binding's number of a shared interrupt."""
    return intid - _of("first_shared_intid")


def _padded(blob: bytes) -> bytes:
    """Pads a tree to 8 bytes. The header's `totalsize` includes the padding, so that a copy by it stays
    aligned."""
    padded = blob.ljust(-(-len(blob) // 8) * 8, b"\0")
    return padded[:4] + struct.pack(">I", len(padded)) + padded[8:]


def _chosen(board: GuestBoard) -> fdt.Node:
    node = fdt.Node("chosen")
    if board.cmdline is not None:
        _strings(node, "bootargs", board.cmdline)
    if board.console is not None:
        _strings(node, "stdout-path", f"/{_uart_name(board.console)}")
    if board.initrd is not None:
        _quads(node, "linux,initrd-start", board.initrd[0])
        _quads(node, "linux,initrd-end", board.initrd[1])
    if _roots(board):
        _words(node, "linux,pci-probe-only", 1)
    # Linux starts a third slower without early randomness. Fixed seeds make runs repeatable.
    seeds = hashlib.shake_256(b"bulkhead seeds\0" + board.entropy).digest(_RNG_SEED_BYTES + 8)
    node.append(fdt.PropBytes("rng-seed", data=seeds[:_RNG_SEED_BYTES]))
    node.append(fdt.PropBytes("kaslr-seed", data=seeds[_RNG_SEED_BYTES:]))
    return node


def _memory(region: LoadRegion) -> fdt.Node:
    node = fdt.Node(f"memory@{region.start:x}")
    _strings(node, "device_type", "memory")
    _quads(node, "reg", region.start, region.bytes)
    return node


def _reserved(pool: LoadRegion) -> fdt.Node:
    """The pool of the socket device, which Linux's drivers then copy all buffers through (swiotlb)."""
    node = fdt.Node("reserved-memory")
    _cells(node, 2, 2)
    node.append(fdt.Property("ranges"))
    child = fdt.Node(f"socket-pool@{pool.start:x}")
    _strings(child, "compatible", "restricted-dma-pool")
    _quads(child, "reg", pool.start, pool.bytes)
    _words(child, "phandle", _PHANDLE_POOL)
    node.append(child)
    return node


def _cpus(board: GuestBoard) -> fdt.Node:
    node = fdt.Node("cpus")
    _cells(node, 1, 0)
    for index in range(board.cpus):
        cpu = fdt.Node(f"cpu@{index:x}")
        _strings(cpu, "device_type", "cpu")
        _strings(cpu, "compatible", f"arm,{board.cpu_type}")
        _words(cpu, "reg", index)
        _strings(cpu, "enable-method", "psci")
        node.append(cpu)
    return node


def _psci() -> fdt.Node:
    node = fdt.Node("psci")
    _strings(node, "compatible", "arm,psci-1.0", "arm,psci-0.2", "arm,psci")
    _strings(node, "method", "hvc")
    for name, function in _PSCI_OF_0_1.items():
        _words(node, name, function)
    return node


def _timer(board: GuestBoard) -> fdt.Node:
    node = fdt.Node("timer")
    _strings(node, "compatible", "arm,armv8-timer", "arm,armv7-timer")
    flags = _private_flags(board)
    physical, virtual = _ppi("physical_timer_intid"), _ppi("virtual_timer_intid")
    ppis = (_SECURE_TIMER_PPI, physical, virtual, _HYPERVISOR_TIMER_PPI)
    _words(node, "interrupts", *(cell for ppi in ppis for cell in (_PPI, ppi, flags)))
    node.append(fdt.Property("always-on"))  # a waiting VCPU's timer still fires
    return node


def _private_flags(board: GuestBoard) -> int:
    """GICv2's binding includes a mask of CPUs for a private interrupt; GICv3's does not."""
    return _LEVEL_HIGH if board.gicc is None else _LEVEL_HIGH | ((1 << board.cpus) - 1) << 8


def _pmu(board: GuestBoard) -> fdt.Node:
    node = fdt.Node("pmu")
    _strings(node, "compatible", "arm,armv8-pmuv3")
    # A guest always has this interrupt, independent of the board's line.
    _words(node, "interrupts", _PPI, _ppi("guest_pmu_intid"), _private_flags(board))
    return node


def _gic(board: GuestBoard) -> fdt.Node:
    node = fdt.Node(f"interrupt-controller@{board.gicd:x}")
    # The name that QEMU's `virt` has for a GICv2 comes second: small drivers know only that name.
    gicv2 = ("arm,gic-400", "arm,cortex-a15-gic")
    _strings(node, "compatible", *(("arm,gic-v3",) if board.gicc is None else gicv2))
    node.append(fdt.Property("interrupt-controller"))
    _words(node, "#interrupt-cells", 3)
    its = _its_of(board)
    if its is None:
        _words(node, "#address-cells", 0)
    else:
        _cells(node, _ITS_ADDRESS_CELLS, 2)
        node.append(fdt.Property("ranges"))
    if board.gicc is not None:
        distributor_bytes, interface_bytes = _of("gicv2_distributor_bytes"), _of("gicv2_interface_bytes")
        _quads(node, "reg", board.gicd, distributor_bytes, board.gicc, interface_bytes)
    else:
        assert board.gicr is not None
        _words(node, "#redistributor-regions", 1)
        redistributor_bytes = _of("redistributor_bytes") * board.cpus
        _quads(node, "reg", board.gicd, _of("gicv3_distributor_bytes"), board.gicr, redistributor_bytes)
    _words(node, "phandle", _PHANDLE_GIC)
    if its is not None:
        node.append(_its(its))
    return node


def _roots(board: GuestBoard) -> list[TreePci]:
    return [host for host in (board.pci, board.socket_root) if host is not None]


def _its_of(board: GuestBoard) -> int | None:
    return None if board.pci is None else board.pci.its


def _its(at: int) -> fdt.Node:
    node = fdt.Node(f"msi-controller@{at:x}")
    _strings(node, "compatible", "arm,gic-v3-its")
    node.append(fdt.Property("msi-controller"))
    _words(node, "#msi-cells", 1)
    _quads(node, "reg", at, _of("its_bytes"))
    _words(node, "phandle", _PHANDLE_ITS)
    return node


def _clock(rate_hz: int) -> fdt.Node:
    node = fdt.Node("apb-pclk")
    _strings(node, "compatible", "fixed-clock")
    _words(node, "#clock-cells", 0)
    _words(node, "clock-frequency", rate_hz)
    _words(node, "phandle", _PHANDLE_CLOCK)
    return node


def _uart(console: TreeConsole) -> fdt.Node:
    node = fdt.Node(_uart_name(console))
    _strings(node, "compatible", "arm,pl011", "arm,primecell")
    _quads(node, "reg", console.at, _UART_BYTES)
    _words(node, "interrupts", _SPI, _spi(console.intid), _LEVEL_HIGH)
    _words(node, "clocks", _PHANDLE_CLOCK, _PHANDLE_CLOCK)
    _strings(node, "clock-names", "uartclk", "apb_pclk")
    return node


def _socket(socket: TreeSocket, pool: LoadRegion | None) -> fdt.Node:
    node = fdt.Node(f"virtio_mmio@{socket.at:x}")
    _strings(node, "compatible", "virtio,mmio")
    _quads(node, "reg", socket.at, _SOCKET_BYTES)
    _words(node, "interrupts", _SPI, _spi(socket.intid), _LEVEL_HIGH)
    node.append(fdt.Property("dma-coherent"))
    if pool is not None:
        _words(node, "memory-region", _PHANDLE_POOL)
    return node


def _device(device: PassedDevice) -> fdt.Node:
    node = fdt.Node(f"{device.name}@{device.at:x}")
    _strings(node, "compatible", *device.compatible)
    _quads(node, "reg", device.at, device.bytes)
    if device.intids:
        cells = [cell for intid in device.intids for cell in (_SPI, _spi(intid), _LEVEL_HIGH)]
        _words(node, "interrupts", *cells)
    if _is_primecell(device):
        _words(node, "clocks", _PHANDLE_CLOCK)
        _strings(node, "clock-names", "apb_pclk")
    return node


def _flash(region: LoadRegion) -> fdt.Node:
    node = fdt.Node(f"flash@{region.start:x}")
    _strings(node, "compatible", "cfi-flash")
    _quads(node, "reg", region.start, region.bytes)
    _words(node, "bank-width", _FLASH_WORD_BYTES)
    return node


def _pci(host: TreePci, parent_cells: int) -> fdt.Node:
    """The hypervisor has placed the BARs, so the guest must not: `linux,pci-probe-only` in `/chosen`.

    `parent_cells`: of an address at the interrupt controller, which each row of the map has.
    """
    node = fdt.Node(f"pcie@{host.at:x}")
    start, end = host.memory
    _strings(node, "compatible", "pci-host-ecam-generic")
    _strings(node, "device_type", "pci")
    _quads(node, "reg", host.at, host.bytes)
    _words(node, "bus-range", 0, 0)
    _cells(node, 3, 2)
    kind = _PCI_MEMORY_32 if end <= 1 << 32 else _PCI_MEMORY_64
    _words(node, "ranges", kind, *_halves(start), *_halves(start), *_halves(end - start))
    _words(node, "#interrupt-cells", 1)
    if host.pins:
        parent = (_PHANDLE_GIC, *[0] * parent_cells)
        rows = [
            (pin.slot << _PCI_SLOT_SHIFT, 0, 0, pin.pin, *parent, _SPI, _spi(pin.intid), _LEVEL_HIGH)
            for pin in host.pins
        ]
        _words(node, "interrupt-map", *(cell for row in rows for cell in row))
        _words(node, "interrupt-map-mask", _PCI_SLOTS, 0, 0, _PCI_PINS)
    if host.its is not None:  # a function's device id is its requester id, as on the hardware
        _words(node, "msi-map", 0, _PHANDLE_ITS, 0, _PCI_REQUESTERS)
    if host.coherent:
        node.append(fdt.Property("dma-coherent"))
    return node


def _halves(value: int) -> tuple[int, int]:
    return value >> 32, value & 0xFFFF_FFFF


def _is_primecell(device: PassedDevice) -> bool:
    """Whether it is a PrimeCell device: Linux's AMBA bus does not probe such a device without a clock."""
    return "arm,primecell" in device.compatible


def _uart_name(console: TreeConsole) -> str:
    return f"pl011@{console.at:x}"


def _bulkhead(params: Mapping[str, int]) -> fdt.Node:
    node = fdt.Node("bulkhead")
    _strings(node, "compatible", "bulkhead,params")
    for name, value in params.items():
        _quads(node, name, value)
    return node


def _cells(node: fdt.Node, address: int, size: int) -> None:
    _words(node, "#address-cells", address)
    _words(node, "#size-cells", size)


def _strings(node: fdt.Node, name: str, *values: str) -> None:
    # Written as bytes: the library's string property refuses text that is not ASCII, and drops empty strings.
    node.append(fdt.PropBytes(name, data=b"".join(value.encode() + b"\0" for value in values)))


def _words(node: fdt.Node, name: str, *values: int) -> None:
    node.append(fdt.PropWords(name, *values))


def _quads(node: fdt.Node, name: str, *values: int) -> None:
    node.append(fdt.PropBytes(name, data=struct.pack(f">{len(values)}Q", *values)))
