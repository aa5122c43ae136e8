# SPDX-License-Identifier: Apache-2.0
"""PCI of a platform file: the host bridge, bridges, and the functions that can be given to domains.

platform.py holds these. `PciHost.devices()` places the BARs of all functions and returns the functions as
devices, so that a system file gives them to domains like other devices. crosscheck_pci.py checks the
description. The hypervisor writes the places into the hardware (hypervisor/pci/).

A guest sees each function as function 0 of a slot on bus 0, without bridges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from bulkhead.config.base import Name, Text
from bulkhead.config.devices import Device, IntId, Window
from bulkhead.config.quantity import Address, Bytes, BytesPerS
from bulkhead.config.timing import Section
from bulkhead.geometry import PAGE_BYTES
from bulkhead.schema import load_layout

PINS = ("A", "B", "C", "D")
SLOTS = 32
BAR_WIDE, BAR_PREFETCHABLE = 4, 8

Multifunction = Literal["isolated", "together"]

Word = Annotated[int, Field(ge=0, le=0xFFFF)]
Place = Annotated[str, Field(pattern=r"^[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$")]


@dataclass(frozen=True)
class PlacedBar:
    """A BAR at its place. `kind`: the lowest four bits of its register."""

    number: int
    at: int
    size: int
    kind: int

    @property
    def end(self) -> int:
        return self.at + self.size


class PciDevice(Device):
    """A function as a device. `at` and `size` span its BARs, without those of any other function."""

    requester: int  # requester id: bus, slot and function
    guest_slot: int  # where its guest sees it, on bus 0
    multifunction: Multifunction | None
    id: int
    pin: int | None  # 0 is INTA
    messages: int  # message interrupts that its domain sees; 0: none
    bars: tuple[PlacedBar, ...]
    modules: tuple[str, ...]
    engine: Literal["edu"] | None = None

    @property
    def windows(self) -> tuple[Window, ...]:
        return tuple(Window(self.name, bar.at, bar.size) for bar in self.bars)


class PciBar(Section):
    number: Annotated[int, Field(ge=0, le=5)]
    size: Bytes
    wide: bool = False
    prefetchable: bool = False


class PciEmulated(Section):
    """How the emulator gets the function."""

    device: Text  # model and properties, as for `-device`, without its place
    disk: Bytes | None = None  # size of the disk behind it; None: it has no disk
    netdev: Text | None = None  # the network behind it, as for `-netdev`, without its id; None: it has none


class PciPlaced(Section):
    """What has a place on a bus."""

    name: Name
    at: Place
    vendor: Word
    device: Word

    @property
    def bus(self) -> int:
        return int(self.at[:2], 16)

    @property
    def slot(self) -> int:
        return int(self.at[3:5], 16)

    @property
    def number(self) -> int:
        return int(self.at[6:])

    @property
    def requester(self) -> int:
        """Requester id."""
        return self.bus << 8 | self.slot << 3 | self.number


class PciBridgeEmulated(Section):
    """How the emulator gets the bridge."""

    device: Text  # model and properties, as for `-device`, without its place


class PciBridge(PciPlaced):
    """A bridge, for example a root port, with functions behind it."""

    secondary: Annotated[int, Field(ge=1, le=255)]
    isolates: bool
    emulated: PciBridgeEmulated | None = None


class PciFunction(PciPlaced):
    """A PCI function that can be given to a domain."""

    multifunction: Multifunction | None = None  # None: its device has no other function
    bars: tuple[PciBar, ...] = Field(min_length=1)
    pin: Literal["A", "B", "C", "D"] | None = None
    messages: Annotated[int, Field(ge=1, le=32)] | None = None
    modules: tuple[Text, ...] = ()  # of Linux
    rate: BytesPerS | None = None  # the most that it moves, reads and writes together; None: not known
    engine: Literal["edu"] | None = None  # its kind, if it is a DMA engine that a broker can program
    emulated: PciEmulated | None = None


class PciMemory(Section):
    """Addresses of memory that the host bridge passes to functions at the same addresses."""

    at: Address
    size: Bytes

    @property
    def end(self) -> int:
        return self.at + self.size


class PciHost(Section):
    """The PCI host bridge, whose configuration space the hypervisor keeps."""

    at: Address
    buses: Annotated[int, Field(ge=1, le=256)]
    memory: PciMemory
    interrupts: tuple[IntId, ...] = Field(min_length=4, max_length=4)
    iommu: Name
    coherent: bool = False
    bridges: tuple[PciBridge, ...] = ()
    functions: tuple[PciFunction, ...] = ()

    @property
    def config_bytes(self) -> int:
        """Size of the configuration space of all buses."""
        return self.buses * bus_bytes()

    @property
    def disks(self) -> tuple[str, ...]:
        """Functions that have a disk on the emulator."""
        return tuple(one.name for one in self.functions if one.emulated and one.emulated.disk is not None)

    @property
    def used_bytes(self) -> int:
        """Size of the configuration space of bus 0 and of the following buses up to the last bridge's."""
        return (1 + max((bridge.secondary for bridge in self.bridges), default=0)) * bus_bytes()

    def line(self, slot: int, pin: int) -> int:
        """INTID of an interrupt pin on bus 0: the pins of successive slots are connected in turn."""
        return self.interrupts[(slot + pin) % len(PINS)]

    def bridge_of(self, function: PciPlaced) -> PciBridge | None:
        """The bridge that the function is behind."""
        return next((bridge for bridge in self.bridges if bridge.secondary == function.bus), None)

    def devices(self) -> tuple[PciDevice, ...]:
        """All functions, in the order of the file. The places of BARs and the guests' slots depend on the
        platform alone, so that a change of a system moves nothing of its other domains."""
        bars = self._bars()
        slots = self._guest_slots()
        return tuple(
            self._device(function, bars[number], slots[number])
            for number, function in enumerate(self.functions)
        )

    def window(self, bridge: PciBridge) -> Window:
        """The addresses that a bridge passes on: whole units around the BARs behind it."""
        behind = [one for one in self.devices() if one.requester >> 8 == bridge.secondary]
        start = min(one.at for one in behind)
        end = max(one.at + one.size for one in behind)
        start -= start % window_bytes()
        return Window(bridge.name, start, _aligned(end, window_bytes()) - start)

    def _bars(self) -> dict[int, tuple[PlacedBar, ...]]:
        """BARs of each function, by its index: first those on bus 0, one after the other from the start of
        the window, then those behind each bridge, from a multiple of a bridge's window on."""
        found = {}
        at = self.memory.at
        for bus in (0, *sorted({function.bus for function in self.functions} - {0})):
            at = at if bus == 0 else _aligned(at, window_bytes())
            for number, function in enumerate(self.functions):
                if function.bus == bus:
                    found[number] = _placed(function, at)
                    at = found[number][-1].end
        return found

    def _guest_slots(self) -> dict[int, int]:
        """A slot of each function, by its index: its own on bus 0, otherwise the lowest that is left."""
        found = {n: one.slot for n, one in enumerate(self.functions) if one.bus == 0 and one.number == 0}
        left = (slot for slot in range(1, SLOTS) if slot not in found.values())
        others = (number for number in range(len(self.functions)) if number not in found)
        return found | {number: next(left, 0) for number in list(others)}

    def _pin(self, function: PciFunction) -> tuple[int, ...]:
        """INTIDs of its interrupts. A bridge connects the pins behind it in turn, too."""
        if function.pin is None:
            return ()
        pin = PINS.index(function.pin)
        bridge = self.bridge_of(function)
        if bridge is None:
            return (self.line(function.slot, pin),)
        return (self.line(bridge.slot, (function.slot + pin) % len(PINS)),)

    def _device(self, function: PciFunction, bars: tuple[PlacedBar, ...], guest_slot: int) -> PciDevice:
        pin = None if function.pin is None else PINS.index(function.pin)
        found = PciDevice(
            name=function.name,
            at=bars[0].at,
            size=bars[-1].end - bars[0].at,
            interrupts=self._pin(function),
            iommu=self.iommu,
            streams=(function.requester,),
            coherent=self.coherent,
            dma=True,
            requester=function.requester,
            guest_slot=guest_slot,
            multifunction=function.multifunction,
            id=function.device << 16 | function.vendor,
            pin=pin,
            messages=function.messages or 0,
            bars=bars,
            modules=function.modules,
            engine=function.engine,
        )
        return found.model_copy(update={"rate": function.rate})  # a number without a unit is not validated


def bus_bytes() -> int:
    """Size of the configuration space of a bus."""
    return load_layout().constant("pci_bus_bytes")


def window_bytes() -> int:
    """Granularity and alignment of a bridge's window."""
    return load_layout().constant("pci_window_bytes")


def _placed(function: PciFunction, at: int) -> tuple[PlacedBar, ...]:
    """The function's BARs from `at` on, the largest first."""
    bars: list[PlacedBar] = []
    for bar in sorted(function.bars, key=lambda bar: -bar.size):
        start = _aligned(bars[-1].end if bars else at, max(bar.size, PAGE_BYTES))
        kind = BAR_WIDE * bar.wide + BAR_PREFETCHABLE * bar.prefetchable
        bars.append(PlacedBar(bar.number, start, bar.size, kind))
    return tuple(bars)


def _aligned(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment
