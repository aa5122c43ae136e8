# SPDX-License-Identifier: Apache-2.0
"""The counts with which a run of the simulated machine answers (machine/python/results.h, and the headers
named below). The machine is part of this program, so its answers are not checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from bulkhead.results.components_run import CoreCounts, MpuCounts


class OwnerCounts(TypedDict):
    """Of an owner of memory in a shared level, in lines."""

    accesses: int
    misses: int
    write_backs: int
    evicted_by_others: int


class LevelCounts(TypedDict):
    """Of a shared level, by owner."""

    owners: list[OwnerCounts]
    evictions: list[list[int]]  # [victim][evictor]
    placed: NotRequired[list[list[list[int]]]]  # [owner][way][part of the sets]; only if asked for


class DramCounts(TypedDict):
    cycles: int
    busy_cycles: int
    utilization: float
    read_bytes: int
    written_bytes: int
    peak_bytes_per_s: float


class MachineCounts(TypedDict):
    """What every kind of run answers."""

    digest: int
    simulated_ps: int
    cores: list[CoreCounts]
    levels: dict[str, LevelCounts]
    dram: DramCounts


class Armv7Counts(MachineCounts, total=False):
    """A run of machine code of a 32-bit Arm board (machine/armv7/runner/run.h)."""

    ending: str
    trouble: str
    exceptions: dict[str, int]
    not_implemented: list[str]
    mpu: MpuCounts
    walk_costs: list[dict[str, object]]
    kernel_walk_costs: list[list[int]]
    error: str  # alone, in place of all counts


class WalkAnswer(TypedDict):
    """A generator of accesses (machine/python/module.cpp)."""

    name: str  # of its part
    core: int
    places: int
    walk_ps: list[int]  # time of each walk


class ProgramAnswer(TypedDict):
    """A workload or a recorded program, as `described` of bulkhead.machine.programs makes it."""

    name: str  # of its part
    core: int
    ended: bool
    status: int
    output: str
    trouble: str | None
    first_ps: int | None  # begin of the first iteration
    iterations: Sequence[Sequence[int]]  # begin and time of each


class EngineAnswer(TypedDict):
    """A DMA engine (machine/python/dma_load.cpp)."""

    master: str
    chunks: int
    bytes: int
    busy_ps: int
    longest_ps: int
    first_ps: int
    last_ps: int


class DeviceAnswer(TypedDict):
    """A device that masters memory (machine/python/device_load.cpp)."""

    master: str
    bytes: int
    bytes_read: int
    bytes_written: int
    dropped: int  # packets
    faults: int
    lookups: int  # of its SMMU
    misses: int
    walks: int
    walk_reads: int
    walk_ps: int


class PartitionAnswer(TypedDict):
    """What MPAM's monitors say of a partition."""

    name: str
    partid: int
    owners: list[int]
    held: int
    moved: dict[str, int]  # by direction


class InterruptCounts(TypedDict):
    overflows: int
    periods: int
    messages: int
    time_ps: int


class BudgetAnswer(TypedDict):
    """A core's budget (machine/python/regulation_json.cpp)."""

    core: int
    events: int
    periods: int
    spent_periods: int
    throttled_periods: int
    throttled_ps: int
    overshoot_periods: int
    overshoot_events: int
    overshoot_max_events: int
    period_max_events: int
    interrupts: InterruptCounts


class CoreIntervals(TypedDict):
    """Columns of a core: a value for each interval."""

    lines: list[int]
    limit: list[int | None]
    used: list[int]
    throttled_ps: list[int]


class IntervalColumns(TypedDict):
    """The time series: a value for each interval."""

    end_ps: list[int]
    busy_cycles: list[int]
    cycles: list[int]
    read_bytes: list[int]
    written_bytes: list[int]
    cores: list[CoreIntervals]


class RegulationAnswer(TypedDict):
    start_ps: int
    budgets: list[BudgetAnswer]
    regulator: NotRequired[dict[str, object]]
    intervals: IntervalColumns


class PointAnswer(MachineCounts):
    """The result of a job (bulkhead.machine.point)."""

    ending: str
    line_bytes: int
    held: dict[str, list[int]]  # lines of each owner, by shared level
    walks: list[WalkAnswer]
    programs: list[ProgramAnswer]
    engines: list[EngineAnswer]
    devices: list[DeviceAnswer]
    partitions: list[PartitionAnswer]
    regulation: NotRequired[RegulationAnswer]
