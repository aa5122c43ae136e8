# SPDX-License-Identifier: Apache-2.0
"""Arm MPAM in a platform file: memory-system components, and which controls and monitors each one has.

platform.py holds `mpam`. The planner looks up controls here; the simulated machine's settings are made from
it. A component's registers state the same: EL2 refuses a plan that contradicts them. Widths and limits are
those of the architecture (IHI 0099) and of core/mpam_features.h.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bulkhead.config.base import Name
from bulkhead.config.devices import IntId
from bulkhead.config.quantity import Address, problem
from bulkhead.config.timing import Picoseconds, Section

PAGE_BYTES = 1 << 16  # size of a component's feature page
MOST_PORTIONS = 1024  # the same as in core/mpam_portions.h
MOST_INSTANCES = 16  # MPAMF_IDR.RIS_MAX has four bits

CacheLevel = Literal["l1i", "l1d", "l2", "l3"]
FractionBits = Annotated[int, Field(ge=1, le=16)]
Portions = Annotated[int, Field(ge=1, le=MOST_PORTIONS)]
PriorityBits = Annotated[int, Field(ge=1, le=16)]
MonitorCount = Annotated[int, Field(ge=1, le=(1 << 16) - 1)]  # NUM_MON has 16 bits


class Capacity(Section):
    """Controls of a cache's capacity as fractions: MPAMCFG_CMAX and MPAMCFG_CMIN."""

    bits: FractionBits
    maximum: bool = True
    minimum: bool = False
    soft: bool = False  # CMAX.SOFTLIM: it may take more while no other partition needs the capacity


class Associativity(Section):
    bits: FractionBits


class BandwidthControls(Section):
    bits: FractionBits | None = None  # fraction bits of minimum, maximum and proportional stride
    min: bool = False
    max: bool = False
    portions: Portions | None = None  # bits of MPAMCFG_MBW_PBM
    proportional: bool = False
    window: Picoseconds | None = None  # time over which bandwidth is accounted
    window_writable: bool = False  # MPAMCFG_MBW_WINWD sets a window for each partition

    @model_validator(mode="after")
    def _with_bits(self) -> Self:
        if self.bits is None and (self.min or self.max or self.proportional):
            raise problem("missing-key", "has fractions, but their width is not given", "`bits`, 1 to 16")
        return self


class PriorityControls(Section):
    internal: PriorityBits | None = None  # bits; absent: no such control
    downstream: PriorityBits | None = None
    zero_is_low: bool = True


class Monitors(Section):
    count: MonitorCount
    capture: bool = False


class StorageMonitors(Monitors):
    """Cache-storage usage monitors (MSMON_CSU)."""


class BandwidthMonitors(Monitors):
    """Memory-bandwidth usage monitors (MSMON_MBWU)."""

    bits: Literal[31, 44, 63] = 31  # bits of the counter's value; 44 and 63: long counter
    by_direction: bool = False  # a filter can count reads and writes separately


class Resource(Section):
    """A resource instance (RIS): one cache, or one memory."""

    cache: CacheLevel | None = None
    memory: Literal["dram"] | None = None
    portions: Portions | None = None  # bits of MPAMCFG_CPBM; absent: no such control
    portions_are: Literal["ways", "sets"] = "ways"
    capacity: Capacity | None = None
    associativity: Associativity | None = None
    bandwidth: BandwidthControls | None = None
    priority: PriorityControls | None = None
    storage_monitors: StorageMonitors | None = None
    bandwidth_monitors: BandwidthMonitors | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.cache is None) == (self.memory is None):
            given = "has both cache and memory" if self.cache else "has neither cache nor memory"
            raise problem("conflict", f"has {given}", "one of them")
        of_cache = ("portions", "capacity", "associativity", "storage_monitors")
        stray = [key for key in of_cache if self.memory is not None and getattr(self, key) is not None]
        if stray:
            raise problem("conflict", f"memory has no {' and no '.join(stray)}", "bandwidth and priority")
        return self

    @property
    def name(self) -> str:
        """The name of the cache or of the memory."""
        return self.cache or self.memory or ""


class MpamComponent(Section):
    """A memory-system component (MSC)."""

    name: Name
    at: Address  # of its feature page
    version: Literal["1.0", "1.1"]  # MPAMF_AIDR; 1.0 has no resource instances
    error_interrupt: IntId | None = None
    overflow_interrupt: IntId | None = None
    not_ready: Picoseconds = 0  # how long a monitor is not ready after its configuration changed
    resources: tuple[Resource, ...] = Field(min_length=1, max_length=MOST_INSTANCES)
    internal_partids: Annotated[int, Field(ge=1, le=1 << 16)] | None = None  # narrowing; None: there is none

    @property
    def end(self) -> int:
        return self.at + PAGE_BYTES


class Mpam(Section):
    partids: Annotated[int, Field(ge=1, le=1 << 16)]  # MPAMIDR_EL1.PARTID_MAX + 1
    monitor_groups: Annotated[int, Field(ge=1, le=1 << 8)] = 1  # MPAMIDR_EL1.PMG_MAX + 1
    # Entries of MPAMVPM<n>_EL2; 0: MPAMIDR_EL1.HAS_HCR is 0.
    virtual_partids: Annotated[int, Field(ge=0, le=32, multiple_of=4)] = 0
    # Whether EL3, if present, lets EL2 use MPAM (MPAM3_EL3.TRAPLOWER is 0). `unknown`: EL2 tries it.
    firmware: Literal["allows", "unknown"] = "unknown"
    components: tuple[MpamComponent, ...] = Field(min_length=1)
