# SPDX-License-Identifier: Apache-2.0
"""What a plan is: which frames back which address of which domain, and where the hypervisor lives.

The planner makes these; the builder, the runner and the evidence read them. They are values: nothing
here decides or changes anything.
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
    """[ipa, ipa + bytes) of a domain, backed as `manifest_segment` in schema/manifest.yaml says."""

    ipa: int
    bytes: int
    pa: int
    colors: frozenset[int] | None  # None: contiguous
    tables_placed: bool = False  # its stage-2 tables are in the domain's memory for tables
    read_only: bool = False  # its guest cannot write it: flash
    programmable: bool = False  # but for commands, and it is told

    def pages(self, space: ColorSpace) -> Frames:
        """Physical address of each 4 KiB page, in the order of their guest-physical addresses."""
        return space.frames(self.pa, self.bytes, self.colors)


@dataclass(frozen=True)
class DomainPlan:
    """One domain, with everything that was left open decided."""

    name: str
    index: int
    cpus: tuple[int, ...]
    criticality: str  # "rt" or "best-effort"
    colors: frozenset[int] | None  # combined colors that were promised; None: not colored
    segments: tuple[Segment, ...]  # ascending ipa
    premap: bool
    maps: int = 0  # physically contiguous pieces, as C2 counts them
    tables: Where = "pool"  # where its stage-2 tables are, those of marked segments at least
    fragmented_bytes: int = 0  # in color periods that are used in part, at the ends of regions

    @property
    def realtime(self) -> bool:
        return self.criticality == "rt"

    @property
    def bytes(self) -> int:
        return sum(segment.bytes for segment in self.segments)


@dataclass(frozen=True)
class Pool:
    """The hypervisor's memory: `bytes` in granules of `colors` at or after `pa`, without a break."""

    pa: int
    bytes: int
    colors: frozenset[int] | None

    def pages(self, space: ColorSpace) -> Frames:
        return space.frames(self.pa, self.bytes, self.colors)


@dataclass(frozen=True)
class TableMemory:
    """Memory for stage-2 tables with a specification: where it is, and who has it."""

    plan: TablePlan
    on_chip_pa: int = 0
    colored: Pool | None = None

    def on_chip_pages(self) -> Frames:
        end = self.on_chip_pa + self.plan.on_chip_bytes
        return np.arange(self.on_chip_pa, end, PAGE_BYTES, dtype=np.uint64)


@dataclass(frozen=True)
class Choice:
    """One decision of the planner and its reason, for `bulkhead plan`."""

    key: str
    value: str
    reason: str


@dataclass(frozen=True)
class Usage:
    """Memory of one owner's colors: what there is, what this owner uses, what it could have more."""

    owner: str
    colors: frozenset[int] | None
    capacity_bytes: int
    used_bytes: int
    free_bytes: int  # in one region more; whoever shares the colors shares this


@dataclass(frozen=True)
class Hooks:
    """Test hooks: what is to be wrong on purpose, so that witnesses are seen to notice. Domains by name."""

    miscolor: str | None = None  # "domain" or "domain:page" (miscolor.py)
    mislabel: str | None = None  # mislabel.py
    misprogram: str | None = None
    misplace: str | None = None  # misplace.py


@dataclass(frozen=True)
class Plan:
    """A system with nothing left open."""

    system: System
    platform: Platform
    space: ColorSpace
    pool: Pool
    domains: tuple[DomainPlan, ...]
    load_area: tuple[int, int]  # (pa, bytes): where the boot package is loaded
    choices: tuple[Choice, ...] = ()
    miscolored_pa: int | None = None  # the one frame that the test hook put wrong, if asked to
    flows: FlowPlan | None = None  # None: there are none
    mpam: MpamPlan | None = None  # None: the platform has none
    tables: TableMemory | None = None  # None: no region has a specification
    # With stage-2 tables elsewhere than planned: what EL2 gets instead, if a test hook asked for that.
    wrong_domains: tuple[DomainPlan, ...] | None = None
    wrong_mpam: MpamPlan | None = None  # what EL2 gets instead, if a test hook asked for that
    # What left.py makes its account of; None: it was not planned here.
    placed: Placed | None = field(default=None, compare=False, repr=False)
