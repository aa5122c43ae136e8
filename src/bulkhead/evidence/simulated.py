# SPDX-License-Identifier: Apache-2.0
"""Third witness (C5) and times: counts of the simulated machine, which include table walks and DMA.

Reads the counts of machine/python/results.h, which begin when the hypervisor reports that all domains have
started. Used by the results; counts of caches have the observer's form, so that both are shown alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bulkhead.evidence.observer import ObserverResult
from bulkhead.evidence.portions import PortionWitness
from bulkhead.results.run import ActivityResult, DramResult

Json = dict[str, Any]

PS_PER_NS = 1000


@dataclass(frozen=True)
class Activity:
    """Activity of one domain's cores while they did not wait for interrupts, including time at EL2."""

    instructions: int
    busy_ps: int
    idle_ps: int
    stall_ps: dict[str, int]  # part of busy_ps, by cause
    bus_accesses: int

    @property
    def ps_per_instruction(self) -> float | None:
        return self.busy_ps / self.instructions if self.instructions else None

    def as_json(self) -> ActivityResult:
        return {
            "instructions": self.instructions,
            "busy_ns": self.busy_ps // PS_PER_NS,
            "idle_ns": self.idle_ps // PS_PER_NS,
            "stall_ns": {cause: ps // PS_PER_NS for cause, ps in self.stall_ps.items()},
            "bus_accesses": self.bus_accesses,
        }


@dataclass(frozen=True)
class SimulatedResult:
    """One run of the simulated machine."""

    caches: ObserverResult
    digest: str
    simulated_ns: int
    dram: DramResult
    cores: tuple[Activity, ...]
    portions: PortionWitness | None = None  # None: MPAM does not divide the last-level cache by portions

    def activity(self, cores: tuple[int, ...]) -> Activity:
        """Sums over several cores."""
        own = [self.cores[number] for number in cores]
        return Activity(
            instructions=sum(core.instructions for core in own),
            busy_ps=sum(core.busy_ps for core in own),
            idle_ps=sum(core.idle_ps for core in own),
            stall_ps={cause: sum(core.stall_ps[cause] for core in own) for cause in own[0].stall_ps},
            bus_accesses=sum(core.bus_accesses for core in own),
        )


def read_simulated(answer: Json, request: Json, owners: list[str]) -> SimulatedResult:
    """The result in the machine's answer to `request`; `owners`: names of its owners."""
    return SimulatedResult(
        caches=_caches(answer, request, owners),
        digest=str(answer["digest"]),
        simulated_ns=int(answer["simulated_ps"]) // PS_PER_NS,
        dram={
            "utilization": answer["dram"]["utilization"],
            "read_bytes": answer["dram"]["read_bytes"],
            "written_bytes": answer["dram"]["written_bytes"],
        },
        cores=tuple(_activity(core) for core in answer["cores"]),
    )


def _activity(core: Json) -> Activity:
    return Activity(
        instructions=core["instructions"],
        busy_ps=core["clock_ps"] - core["idle_ps"],
        idle_ps=core["idle_ps"],
        stall_ps=dict(core["stall_ps"]),
        bus_accesses=core["events"]["bus_access"],
    )


def _caches(answer: Json, request: Json, owners: list[str]) -> ObserverResult:
    """Counts of the last-level cache; sums if each cluster of cores has one."""
    last = sorted({core["path"][-1] for core in request["settings"]["cores"] if core["path"]})
    levels = [answer["levels"][name] for name in last]
    evictions = sum(np.array(level["evictions"], dtype=np.int64) for level in levels)
    settings = {level["name"]: level["cache"] for level in request["settings"]["levels"]}

    def of(key: str) -> list[int]:
        return [sum(level["owners"][number][key] for level in levels) for number in range(len(owners))]

    return ObserverResult(
        owners=owners,
        accesses=of("accesses"),
        misses=of("misses"),
        evictions=np.asarray(evictions).tolist(),
        windows=[],
        caches={"llc": settings[last[0]], "l1d": request["settings"]["cores"][0]["l1d"]},
        unattributed={},
        started=answer["started_ps"] is not None,
        verified=True,  # the machine knows the address of each access
    )
