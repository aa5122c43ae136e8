# SPDX-License-Identifier: Apache-2.0
"""Devices of a platform file: their registers and interrupts, and whether and past what they master memory.

platform.py holds these. Whose device may be whose is checked in crosscheck_devices.py; which of them nothing
confines is said by masters.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from bulkhead.config.base import Name, Text
from bulkhead.config.quantity import Address, Bytes, BytesPerS
from bulkhead.config.timing import Picoseconds, Section
from bulkhead.geometry import PAGE_BYTES

IntId = Annotated[int, Field(ge=16, le=1019)]
StreamId = Annotated[int, Field(ge=0, le=(1 << 32) - 1)]


@dataclass(frozen=True)
class Window:
    """A piece of guest-physical space that a device takes."""

    name: str
    at: int
    bytes: int

    @property
    def end(self) -> int:
        return self.at + self.bytes


class Registers(Section):
    """Something with registers. They may begin and end within a page; who is given them gets whole pages."""

    name: Name
    at: Address
    size: Bytes | None = None  # None: one page

    @property
    def end(self) -> int:
        return self.at + (PAGE_BYTES if self.size is None else self.size)

    @property
    def pages(self) -> Window:
        """The pages that the registers touch: what stage 2 maps."""
        first = self.at // PAGE_BYTES * PAGE_BYTES
        return Window(self.name, first, -(-self.end // PAGE_BYTES) * PAGE_BYTES - first)


class Iommu(Registers):
    """What can translate the accesses of devices. Nobody is given it."""

    type: Literal["smmuv2", "smmuv3"]
    size: Bytes
    interrupts: tuple[IntId, ...] = ()


class Master(Registers):
    """A device that may master memory. `streams`: how its accesses arrive at the IOMMU."""

    interrupts: tuple[IntId, ...] = ()  # shared ones, level-triggered
    iommu: Name | None = None  # None: its accesses meet none
    streams: tuple[StreamId, ...] = ()
    coherent: bool = False  # what it reads and writes is what the cores' caches have


class Dma(Master):
    """A DMA engine. It masters memory, whatever it is programmed by."""

    type: Text
    channels: Annotated[int, Field(ge=1, le=256)] = 1
    qos: Address | None = None
    rate: BytesPerS | None = None
    start: Picoseconds | None = None  # from being enabled to its first access
    finish: Picoseconds | None = None  # from its last write to its interrupt
    per_line: Picoseconds | None = None  # of its bus, in each direction

    @property
    def masters_memory(self) -> bool:
        return True


class Device(Master):
    """Registers and interrupts that can be passed to a domain."""

    size: Bytes
    dma: bool = Field(description="true if it masters memory or if that is not known, else false")
    compatible: tuple[Text, ...] = ()  # in a guest's device tree; none: the guest must know where it is

    @property
    def masters_memory(self) -> bool:
        return self.dma
