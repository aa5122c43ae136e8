# SPDX-License-Identifier: Apache-2.0
"""The measured facts to which machines may be fitted, as runs that repeat the measurement on a board.

Each fact of a platform file's `calibration` has its measurement here, by name. Free parameters may be set by
these only. A fact without a measurement is not modelled by the machine yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from bulkhead.config.platform import Platform
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.job import Job

MIB = 1 << 20
MB = 10**6
PS_PER_S = 10**12
WARM_PS = 2_000_000_000  # before counting: then the caches are full of dirty lines
WINDOW_PS = 1_000_000_000  # counted time
KERNEL_MEMORY = 192 * MIB
PERIOD_PS = 30_000_000  # of the published budgets
LINE_REFILL = "l2d_refill"


@dataclass(frozen=True)
class Measurement:
    job: Callable[[Platform], Job]
    value: Callable[[PointAnswer], float]


def sequential_writes(platform: Platform) -> Job:
    """MemBomb: one core stores to far more memory than its caches hold, in the order of addresses.

    Four instructions a line, as in memset's loop, two of them stores of 32 bytes. A core that writes 2321
    MB/s at 0.15 instructions a cycle, and fetches nothing, executes that many. So the bandwidth is a fact
    here, and the instructions a cycle follow from it.
    """
    return _steady(platform, [_membomb(0)])


def writes_of_all(platform: Platform) -> Job:
    """MemBomb on every core."""
    return _steady(platform, [_membomb(core) for core in range(platform.cores.count)])


def same_bank_writes(platform: Platform) -> Job:
    """ustress on all cores: stores to lines in different rows of one bank."""
    parts = [
        _part(f"ustress-{core}", core, MIB, pattern="same-bank", kind="write", walks=0, instructions=4)
        for core in range(platform.cores.count)
    ]
    return _steady(platform, parts)


def dependent_loads(platform: Platform) -> Job:
    """Dependent loads: each returns the address of the next; all lines are in the L1 cache."""
    return _job(platform, [_part("chase", 0, 4096, kind="chase", walks=200, instructions=1)])


def untranslated_loads(platform: Platform) -> Job:
    """Dependent loads with a TLB flush before each, which also removes the instructions' page.

    Programs are still translated by the platform's tables (two levels on a Cortex-A9); here these are in
    uncached memory and map pages.
    """
    tables = {"translation": "pages", "tables": "uncached", "flush_tlb": True}
    return _job(platform, [_part("chase", 0, 4096, kind="chase", walks=20, instructions=1, **tables)])


# Workloads whose published programs were measured alone, with the published sizes. Parameters that only
# repeat the same work on the same memory for minutes are reduced: disparities, rounds of cutting.
KERNELS: dict[str, dict[str, int]] = {
    "ndt_mapping": {},
    "multi_ncut": {"rounds": 1},
    "disparity": {"shifts": 8},
    "tracking": {},
    "mser": {},
    "euclidean_cluster": {},
    "points2image": {},
    "sift": {},
    "stitch": {},
    "texture_synthesis": {},
}


@cache
def alone(workload: str) -> Callable[[Platform], Job]:
    """A workload alone on the first core, for one iteration, without its preparation."""

    def job(platform: Platform) -> Job:
        part = _part(workload, 0, KERNEL_MEMORY, workload=workload, params=KERNELS[workload])
        return {**_job(platform, [part]), "iterations": 1, "from_iterations": True}

    return job


def bandwidth(result: PointAnswer) -> float:
    """Traffic of the DRAM in MB/s."""
    dram = result["dram"]
    return float((dram["read_bytes"] + dram["written_bytes"]) / MB * PS_PER_S / result["simulated_ps"])


def instructions_per_cycle(result: PointAnswer) -> float:
    core = result["cores"][0]
    return float(core["instructions"] / core["cycles"])


def refills_per_period(result: PointAnswer) -> float:
    """Refills of all cores in 30 us."""
    refills = sum(core["events"][LINE_REFILL] for core in result["cores"])
    return float(refills * PERIOD_PS / result["simulated_ps"])


def _cycles_per_load(frequency_hz: int) -> Callable[[PointAnswer], float]:
    def value(result: PointAnswer) -> float:
        walk = result["walks"][0]
        return float(walk["walk_ps"][-1] * frequency_hz / walk["places"] / PS_PER_S)

    return value


def measurement(platform: Platform, fact: str) -> Measurement | None:
    """The measurement of a fact on the machine; None if the machine does not model it."""
    cycles_per_load = _cycles_per_load(platform.cores.frequency or 1)
    found = {
        "membomb-bandwidth": Measurement(sequential_writes, bandwidth),
        "membomb-ipc": Measurement(sequential_writes, instructions_per_cycle),
        "saturation": Measurement(writes_of_all, bandwidth),
        "guaranteed": Measurement(same_bank_writes, bandwidth),
        "ustress-saturation": Measurement(same_bank_writes, bandwidth),
        "ustress-refills": Measurement(same_bank_writes, refills_per_period),
        "load-hit": Measurement(dependent_loads, cycles_per_load),
        **{f"{name}-bandwidth": Measurement(alone(name), bandwidth) for name in KERNELS},
        **{f"{name}-ipc": Measurement(alone(name), instructions_per_cycle) for name in KERNELS},
    }
    if platform.cores.tlb is not None:
        found["load-tlb-miss"] = Measurement(untranslated_loads, cycles_per_load)
    return found.get(fact)


def runs_workloads(platform: Platform) -> bool:
    """Whether some facts need the workloads' image."""
    return any(fact.fact.rpartition("-")[0] in KERNELS for fact in platform.calibration)


def _job(platform: Platform, parts: list[Job]) -> Job:
    return {"platform": platform.name, "parts": parts}


def _steady(platform: Platform, parts: list[Job]) -> Job:
    """A job with endless parts, counted after the start with empty caches."""
    return {**_job(platform, parts), "from_ps": WARM_PS, "until_ps": WARM_PS + WINDOW_PS}


def _membomb(core: int) -> Job:
    stores = {"stride_bytes": 32, "access_bytes": 32, "instructions": 2}
    return _part(f"membomb-{core}", core, 4 * MIB, kind="write", walks=0, **stores)


def _part(name: str, core: int, nbytes: int, **walk: Any) -> Job:
    return {"name": name, "core": core, "memory_bytes": nbytes, **walk}
