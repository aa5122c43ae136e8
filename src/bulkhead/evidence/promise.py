# SPDX-License-Identifier: Apache-2.0
"""The plan's promises about memory, in the form in which the table witness checks them.

`bulkhead.run.prepare` fills it from the resolved plan; it contains nothing about the hypervisor's tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bulkhead.evidence.contexts import Places
from bulkhead.evidence.vmsa import Words


@dataclass(frozen=True)
class PromisedWindow:
    """Physical addresses [pa, pa + bytes)."""

    pa: int
    bytes: int
    name: str = ""

    def contains(self, addresses: Words) -> NDArray[np.bool_]:
        return (addresses >= np.uint64(self.pa)) & (addresses < np.uint64(self.pa + self.bytes))


@dataclass(frozen=True)
class TablePromise:
    """Places of a domain's stage-2 tables that have a specification."""

    frames: Words  # physical addresses, ascending; shared with other domains that use the same memory
    marked: tuple[range, ...]  # guest-physical addresses whose tables must be in `frames`
    on_chip: bool  # all tables must be in `frames`
    cached: bool = True  # walks may use the caches

    def holds(self, span: range) -> bool:
        """Whether the table that translates these addresses must be in `frames`."""
        return self.on_chip or any(one.start < span.stop and span.start < one.stop for one in self.marked)


@dataclass(frozen=True)
class DomainPromise:
    """One domain: its colors, its own frames, and its devices."""

    name: str
    colors: frozenset[int]
    frames: Words  # physical addresses, ascending
    devices: tuple[PromisedWindow, ...] = ()
    tables: TablePromise | None = None  # None: all in the hypervisor's pool
    flash: tuple[range, ...] = ()  # guest-physical addresses that the guest cannot write
    own_attributes: bool = False  # stage 2 leaves its memory attributes unchanged, even with FEAT_S2FWB


@dataclass(frozen=True)
class Exchange:
    """Memory that flows require: a broker and the hypervisor access the memory of the flows' ends."""

    broker: str  # name of a domain
    window: int  # the broker's guest-physical address of physical address 0
    frames: Words  # of all domains that the broker serves, or of their pools, ascending
    broker_frames: Words  # the broker's own; the hypervisor wakes it by a word there


@dataclass(frozen=True)
class SmmuPromise:
    """The SMMUv3 that the hypervisor drives."""

    registers: int  # physical address
    streams: dict[int, str]  # domains by stream id; every other stream is aborted


@dataclass(frozen=True)
class Smmuv2Promise:
    """The SMMUv2 that the hypervisor drives. No emulator has its registers, so only a board's can be
    checked."""

    registers: int  # physical address
    streams: dict[int, str]  # domains by stream id; every other stream is a fault
    places: Places
    input_bits: int  # of addresses that devices can have, at most


@dataclass(frozen=True)
class PromisedMessages:
    """Message interrupts of one PCI function: message m is LPI `first_lpi` + m, at one core."""

    domain: str
    device: int  # requester id of the function
    first_lpi: int
    count: int
    mpidr: int  # affinity fields of the core of the domain's first VCPU


@dataclass(frozen=True)
class ItsPromise:
    """The interrupt translation service that the hypervisor drives, and the redistributors."""

    registers: int  # physical address
    redistributors: int  # likewise, of the first one
    cores: int
    pending: PromisedWindow  # memory for the redistributors' tables of pending LPIs
    functions: tuple[PromisedMessages, ...]  # all other messages are dropped


@dataclass(frozen=True)
class Promise:
    """Promises of the whole system. With `color_bits` = 0 memory is not colored, and only owners are
    checked."""

    color_bits: int
    domains: tuple[DomainPromise, ...]
    hypervisor_colors: frozenset[int]
    pool_frames: Words  # physical addresses, ascending
    ram: tuple[PromisedWindow, ...]
    load_area: PromisedWindow | None
    hypervisor_devices: tuple[PromisedWindow, ...]
    exchanges: tuple[Exchange, ...] = ()  # of each broker
    # Memory for stage-2 tables in RAM, in colors used for nothing else.
    table_frames: Words = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    table_colors: frozenset[int] = frozenset()
    cache_colored: bool = True  # color bits select sets of the last-level cache, not only DRAM banks
    smmu: SmmuPromise | Smmuv2Promise | None = None
    its: ItsPromise | None = None
    s2fwb: bool = False  # stage 2 forces guests' memory to write-back (FEAT_S2FWB)


def within(addresses: Words, windows: tuple[PromisedWindow, ...]) -> NDArray[np.bool_]:
    """Whether each address lies in any of the windows."""
    inside = np.zeros(len(addresses), dtype=np.bool_)
    for window in windows:
        inside |= window.contains(addresses)
    return inside


def colors_of(addresses: Words, color_bits: int) -> NDArray[np.int64]:
    """Color of each address: the bits of `color_bits`, packed, lowest first."""
    color = np.zeros(len(addresses), dtype=np.int64)
    bits = [bit for bit in range(64) if color_bits >> bit & 1]
    for position, bit in enumerate(bits):
        color |= ((addresses >> np.uint64(bit)) & np.uint64(1)).astype(np.int64) << position
    return color


def color_table(colors: frozenset[int], color_bits: int) -> NDArray[np.bool_]:
    """Lookup table: whether color c is one of `colors`."""
    table = np.zeros(1 << color_bits.bit_count(), dtype=np.bool_)
    table[sorted(colors)] = True
    return table
