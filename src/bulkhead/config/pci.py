# SPDX-License-Identifier: Apache-2.0
"""PCI of a platform file: the host bridge, and the functions that can be given to domains.

platform.py holds these. `PciHost.devices()` places the BARs of all functions and returns the functions as
devices, so that a system file gives them to domains like other devices. crosscheck_pci.py checks the
description. The hypervisor writes the places into the hardware (hypervisor/pci/).
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

    slot: int
    id: int
    pin: int | None  # 0 is INTA
    messages: int  # message interrupts that its domain sees; 0: none
    bars: tuple[PlacedBar, ...]
    modules: tuple[str, ...]

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


class PciFunction(Section):
    """A PCI function that can be given to a domain."""

    name: Name
    at: Place
    vendor: Word
    device: Word
    bars: tuple[PciBar, ...] = Field(min_length=1)
    pin: Literal["A", "B", "C", "D"] | None = None
    messages: Annotated[int, Field(ge=1, le=32)] | None = None
    modules: tuple[Text, ...] = ()  # of Linux
    rate: BytesPerS | None = None  # the most that it moves, reads and writes together; None: not known
    emulated: PciEmulated | None = None

    @property
    def bus(self) -> int:
        return int(self.at[:2], 16)

    @property
    def slot(self) -> int:
        return int(self.at[3:5], 16)

    @property
    def number(self) -> int:
        return int(self.at[6:])


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
    functions: tuple[PciFunction, ...] = ()

    @property
    def config_bytes(self) -> int:
        """Size of the configuration space of all buses."""
        return self.buses * bus_bytes()

    @property
    def disks(self) -> tuple[str, ...]:
        """Functions that have a disk on the emulator."""
        return tuple(one.name for one in self.functions if one.emulated and one.emulated.disk is not None)

    def line(self, slot: int, pin: int) -> int:
        """INTID of an interrupt pin: the pins of successive slots are connected in turn."""
        return self.interrupts[(slot + pin) % len(PINS)]

    def devices(self) -> tuple[PciDevice, ...]:
        """All functions, with their BARs placed one after the other from the start of the window. The places
        depend on the platform alone, so that a change of a system moves no BAR of its other domains."""
        found = []
        at = self.memory.at
        for function in self.functions:
            bars = []
            for bar in sorted(function.bars, key=lambda bar: -bar.size):
                start = _aligned(at, max(bar.size, PAGE_BYTES))
                kind = BAR_WIDE * bar.wide + BAR_PREFETCHABLE * bar.prefetchable
                bars.append(PlacedBar(bar.number, start, bar.size, kind))
                at = start + bar.size
            found.append(self._device(function, tuple(bars), at))
        return tuple(found)

    def _device(self, function: PciFunction, bars: tuple[PlacedBar, ...], end: int) -> PciDevice:
        pin = None if function.pin is None else PINS.index(function.pin)
        found = PciDevice(
            name=function.name,
            at=bars[0].at,
            size=end - bars[0].at,
            interrupts=() if pin is None else (self.line(function.slot, pin),),
            iommu=self.iommu,
            streams=(function.slot << 3,),
            coherent=self.coherent,
            dma=True,
            slot=function.slot,
            id=function.device << 16 | function.vendor,
            pin=pin,
            messages=function.messages or 0,
            bars=bars,
            modules=function.modules,
        )
        return found.model_copy(update={"rate": function.rate})  # a number without a unit is not validated


def bus_bytes() -> int:
    """Size of the configuration space of a bus."""
    return load_layout().constant("pci_bus_bytes")


def _aligned(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment
