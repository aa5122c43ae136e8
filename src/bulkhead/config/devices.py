# SPDX-License-Identifier: Apache-2.0
"""Devices of a platform file: registers, interrupts, whether they master memory, and the IOMMU in front of
them.

platform.py holds these. crosscheck_devices.py checks the description. admission/ checks which domain may have
which device, and tells which devices no IOMMU confines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from bulkhead.config.base import Name, Text
from bulkhead.config.quantity import Address, Bytes, BytesPerS, Nanoseconds
from bulkhead.config.timing import IommuTiming, Picoseconds, Section
from bulkhead.geometry import PAGE_BYTES
from bulkhead.schema import load_layout

IntId = Annotated[int, Field(ge=16, le=1019)]
STREAM_BITS = {"smmuv2": 16, "smmuv3": 32}
StreamId = Annotated[int, Field(ge=0, le=(1 << 32) - 1)]


@dataclass(frozen=True)
class Window:
    """A range of guest-physical addresses that a device occupies."""

    name: str
    at: int
    bytes: int

    @property
    def end(self) -> int:
        return self.at + self.bytes


class Registers(Section):
    """Something with registers. They may begin and end within a page; a domain that owns them gets whole
    pages."""

    name: Name
    at: Address
    size: Bytes | None = None  # None: one page

    @property
    def end(self) -> int:
        return self.at + (PAGE_BYTES if self.size is None else self.size)

    @property
    def pages(self) -> Window:
        """The whole pages around the registers, as stage 2 maps them."""
        first = self.at // PAGE_BYTES * PAGE_BYTES
        return Window(self.name, first, -(-self.end // PAGE_BYTES) * PAGE_BYTES - first)

    @property
    def windows(self) -> tuple[Window, ...]:
        """The pieces of `pages` that belong to it: all, unless it is a PCI function with several BARs."""
        return (self.pages,)


class Iommu(Registers):
    """An IOMMU, which can translate the accesses of devices. It is never given to a domain. The hypervisor
    drives one, on boards whose program has the driver for its type."""

    type: Literal["smmuv2", "smmuv3"]
    size: Bytes
    interrupts: tuple[IntId, ...] = ()  # of a driven SMMUv3: of refused accesses, of global errors
    driven: bool = False  # the hypervisor of this platform's board has a driver for it
    stream_bits: Annotated[int, Field(ge=1, le=32)] | None = None  # None: as many as its type can have
    stream_entries: Annotated[int, Field(ge=1, le=128)] | None = (
        None  # of an SMMUv2: streams that it can match
    )
    context_banks: Annotated[int, Field(ge=1, le=128)] | None = None  # of an SMMUv2: domains behind it
    timing: IommuTiming | None = None  # None: the simulated machine translates no device behind it

    @property
    def stream_ids(self) -> int:
        """Number of stream ids that a device can have. The table of a driven one has fewer."""
        most = STREAM_BITS[self.type] if self.stream_bits is None else self.stream_bits
        return 1 << (min(most, load_layout().constant("max_stream_bits")) if self.driven else most)


class DeviceReset(Section):
    """A register of the chip with bits that hold a device in reset. It belongs to the hypervisor, which
    resets the device at its own start, and when the domain that has the device has stopped."""

    at: Address  # of the register
    mask: Annotated[int, Field(ge=1, le=(1 << 32) - 1)]  # bits of the device
    held: Literal["ones", "zeros"] = "ones"  # their value that holds it in reset
    hold: Nanoseconds = 1000  # how long it is held

    @property
    def page(self) -> int:
        return self.at // PAGE_BYTES * PAGE_BYTES


class Master(Registers):
    """A device that may master memory. `streams`: stream ids of its accesses at the IOMMU."""

    interrupts: tuple[IntId, ...] = ()  # shared interrupts (SPIs), level-triggered
    iommu: Name | None = None  # None: its accesses pass no IOMMU
    streams: tuple[StreamId, ...] = ()
    coherent: bool = False  # its accesses are coherent with the cores' caches
    rate: BytesPerS | None = None  # the most that it moves, reads and writes together; None: not known
    qos: Address | None = (
        None  # page of the registers of a QoS-400 regulator that it alone passes; None: none
    )
    reset: DeviceReset | None = None  # None: the hypervisor cannot reset it


class Dma(Master):
    """A DMA engine. It masters memory, whoever programs it."""

    type: Text
    channels: Annotated[int, Field(ge=1, le=256)] = 1
    start: Picoseconds | None = None  # from being enabled to its first access
    finish: Picoseconds | None = None  # from its last write to its interrupt
    per_line: Picoseconds | None = None  # duration of a line on its bus, in each direction

    @property
    def masters_memory(self) -> bool:
        return True


class Device(Master):
    """Registers and interrupts that can be given to a domain."""

    size: Bytes
    dma: bool = Field(description="true if it masters memory or if that is not known, else false")
    compatible: tuple[Text, ...] = ()  # for the guest's device tree; none: the guest has to know its address

    @property
    def masters_memory(self) -> bool:
        return self.dma
