# SPDX-License-Identifier: Apache-2.0
"""What the plan promised about memory, in the terms in which the table witness checks it.

Filled from the resolved plan by `bulkhead.run.target`; it knows nothing of the hypervisor's tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

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
    """Where a domain's stage-2 tables are if they have a specification."""

    frames: Words  # physical addresses, ascending; those of other domains with the same memory among them
    marked: tuple[range, ...]  # guest-physical addresses whose walks read tables there alone
    on_chip: bool  # all tables are there
    cached: bool = True  # walks may use the caches

    def holds(self, span: range) -> bool:
        """Whether the table for these addresses has to be there."""
        return self.on_chip or any(one.start < span.stop and span.start < one.stop for one in self.marked)


@dataclass(frozen=True)
class DomainPromise:
    """One domain: its colors, the frames that are its own, and the devices that it may touch."""

    name: str
    colors: frozenset[int]
    frames: Words  # physical addresses, ascending
    devices: tuple[PromisedWindow, ...] = ()
    tables: TablePromise | None = None  # None: in the hypervisor's pool
    flash: tuple[range, ...] = ()  # guest-physical addresses that the guest cannot write
    own_attributes: bool = False  # where stage 2 could force write-back, its memory is as it maps it


@dataclass(frozen=True)
class Exchange:
    """What flows between domains need: broker and hypervisor reach the memory of their ends."""

    broker: str  # a domain
    window: int  # guest-physical address there of physical address 0
    frames: Words  # of all ends, ascending
    broker_frames: Words  # its own: the hypervisor wakes it by a word there


@dataclass(frozen=True)
class Promise:
    """The whole system. With `color_bits` = 0 memory is not colored, and only ownership is checked."""

    color_bits: int
    domains: tuple[DomainPromise, ...]
    hypervisor_colors: frozenset[int]
    pool_frames: Words  # physical addresses, ascending
    ram: tuple[PromisedWindow, ...]
    load_area: PromisedWindow | None
    hypervisor_devices: tuple[PromisedWindow, ...]
    exchange: Exchange | None = None
    # Memory for stage-2 tables in RAM, in colors that nothing else is in.
    table_frames: Words = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    table_colors: frozenset[int] = frozenset()
    cache_colored: bool = True  # color bits are the last cache's, too: not only of DRAM banks
    s2fwb: bool = False  # stage 2 forces guests' memory to be write-back (FEAT_S2FWB)


def within(addresses: Words, windows: tuple[PromisedWindow, ...]) -> NDArray[np.bool_]:
    """Which addresses lie in any of the windows."""
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
    """Lookup table: is color c one of `colors`."""
    table = np.zeros(1 << color_bits.bit_count(), dtype=np.bool_)
    table[sorted(colors)] = True
    return table
