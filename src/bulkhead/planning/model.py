# SPDX-License-Identifier: Apache-2.0
"""A plan: which frames back each address of each domain, and where the hypervisor is.

The planner makes these values; the builder, the runner and the evidence read them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bulkhead.config.platform import Platform
from bulkhead.config.system import System
from bulkhead.geometry import PAGE_BYTES, ColorSpace, Frames
from bulkhead.planning.table_memory import TablePlan, Where

if TYPE_CHECKING:
    from bulkhead.planning.flows import FlowPlan
    from bulkhead.planning.left import Placed
    from bulkhead.planning.mpam import MpamPlan

__all__ = ["Choice", "ColorSpace", "DomainPlan", "Plan", "Pool", "Segment", "Usage"]


@dataclass(frozen=True)
class Segment:
    """[ipa, ipa + bytes) of a domain, backed as described by `manifest_segment` in schema/manifest.yaml."""

    ipa: int
    bytes: int
    pa: int
    colors: frozenset[int] | None  # None: contiguous
    tables_placed: bool = False  # its stage-2 tables are in the domain's memory for tables
    read_only: bool = False  # its guest cannot write it: flash
    programmable: bool = False  # the guest writes it by commands of flash, and finds it in its device tree
    socket_pool: bool = False  # the broker reaches it; of a domain with such segments, it reaches no others

    def pages(self, space: ColorSpace) -> Frames:
        """Physical address of each 4 KiB page, in the order of guest-physical addresses."""
        return space.frames(self.pa, self.bytes, self.colors)


@dataclass(frozen=True)
class DomainPlan:
    """The plan of one domain."""

    name: str
    index: int
    cpus: tuple[int, ...]
    criticality: str  # "rt" or "best-effort"
    colors: frozenset[int] | None  # combined colors of its memory; None: not colored
    segments: tuple[Segment, ...]  # ascending ipa
    premap: bool
    maps: int = 0  # physically contiguous pieces (C2)
    tables: Where = "pool"  # place of its stage-2 tables, at least of those of marked segments
    fragmented_bytes: int = 0  # lost in partly used color periods, at the ends of regions

    @property
    def realtime(self) -> bool:
        return self.criticality == "rt"

    @property
    def bytes(self) -> int:
        return sum(segment.bytes for segment in self.segments)

    @property
    def reached_segments(self) -> tuple[Segment, ...]:
        """What the broker reaches if the domain has a socket: its pool, or all memory that it can write."""
        pool = tuple(one for one in self.segments if one.socket_pool)
        return pool or tuple(one for one in self.segments if not one.read_only)


@dataclass(frozen=True)
class Pool:
    """The hypervisor's memory: `bytes` in consecutive granules of `colors` from `pa` on."""

    pa: int
    bytes: int
    colors: frozenset[int] | None

    def pages(self, space: ColorSpace) -> Frames:
        return space.frames(self.pa, self.bytes, self.colors)


@dataclass(frozen=True)
class TableMemory:
    """Memory for stage-2 tables with a specification: its place and its users."""

    plan: TablePlan
    on_chip_pa: int = 0
    colored: Pool | None = None

    def on_chip_pages(self) -> Frames:
        end = self.on_chip_pa + self.plan.on_chip_bytes
        return np.arange(self.on_chip_pa, end, PAGE_BYTES, dtype=np.uint64)


@dataclass(frozen=True)
class Choice:
    """One decision of the planner with its reason, for `bulkhead plan`."""

    key: str
    value: str
    reason: str


@dataclass(frozen=True)
class Usage:
    """Memory of one owner's colors: capacity, used bytes, and what the owner could have in addition."""

    owner: str
    colors: frozenset[int] | None
    capacity_bytes: int
    used_bytes: int
    free_bytes: int  # in one additional region; owners with the same colors share it


@dataclass(frozen=True)
class Hooks:
    """Test hooks: deliberate errors that the witnesses have to detect. Values are names of domains."""

    miscolor: str | None = None  # "domain" or "domain:page" (miscolor.py)
    mislabel: str | None = None  # mislabel.py
    misprogram: str | None = None
    misplace: str | None = None  # misplace.py


@dataclass(frozen=True)
class Plan:
    """The complete plan of a system."""

    system: System
    platform: Platform
    space: ColorSpace
    pool: Pool
    domains: tuple[DomainPlan, ...]
    load_area: tuple[int, int]  # (pa, bytes): where the boot package is loaded
    choices: tuple[Choice, ...] = ()
    miscolored_pa: int | None = None  # the misplaced frame, if the test hook was used
    brokers: tuple[FlowPlan, ...] = ()  # with their flows, in the order of their numbers; none: no flows
    mpam: MpamPlan | None = None  # None: the platform has none
    tables: TableMemory | None = None  # None: no region has a specification
    # If a test hook misplaces stage-2 tables: the domains that EL2 gets instead.
    wrong_domains: tuple[DomainPlan, ...] | None = None
    wrong_mpam: MpamPlan | None = None  # what EL2 gets instead, if a test hook is used
    # Input of left.py for its account; None: the plan was not made by the planner.
    placed: Placed | None = field(default=None, compare=False, repr=False)

    @property
    def flows(self) -> FlowPlan | None:
        """The plan of the first broker; None: there are no flows."""
        return self.brokers[0] if self.brokers else None
