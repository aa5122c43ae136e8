# SPDX-License-Identifier: Apache-2.0
"""The counts with which a run of the simulated machine answers (machine/python/results.h, and the headers
named below). The machine is part of this program, so its answers are not checked."""

from __future__ import annotations

from typing_extensions import TypedDict

from bulkhead.results.components_run import CoreCounts, MpuCounts


class OwnerCounts(TypedDict):
    """Of an owner of memory in a shared level, in lines."""

    accesses: int
    misses: int
    write_backs: int
    evicted_by_others: int


class LevelCounts(TypedDict, total=False):
    """Of a shared level, by owner."""

    owners: list[OwnerCounts]
    evictions: list[list[int]]  # [victim][evictor]
    placed: list[list[list[int]]]  # [owner][way][part of the sets]; only if asked for


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
