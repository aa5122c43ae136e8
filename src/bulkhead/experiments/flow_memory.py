# SPDX-License-Identifier: Apache-2.0
"""Experiment `flows`, the memory's part (F3): the use of one DRAM by stressing cores and a DMA engine.

Jobs for the simulated machine, and rows from their results. `ustress`: stores to lines in different rows of
one bank, as in calibration; budgets are refills in each regulation period.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from bulkhead.experiments.row import Row
from bulkhead.experiments.seeds import PHASE_PS, seeded
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.engines import rate_of
from bulkhead.machine.facts import LINE_REFILL, MB, MIB, PS_PER_S, bandwidth
from bulkhead.machine.job import Job
from bulkhead.machine.point import job_platform

PLATFORM = "zcu102"
ENGINE = "adma"
PERIOD = "30 us"
PERIOD_PS = 30_000_000
WARM_PS = 600_000_000  # twenty periods: caches are then full of dirty lines
WINDOW_PS = 900_000_000  # thirty counted periods
STARTED_PS = -(-PHASE_PS // PERIOD_PS) * PERIOD_PS  # with a seed, each core has started after these periods
ENGINE_MEMORY = 16 * MIB
BUDGETS = (10, 20, 30, 40, 50, 60, 70, 80, 100, 120, 150, 200, 250)
CHUNKS_ALONE = 64
CHUNKS_KIB = (4, 8, 16, 32, 64)
REGISTERS = (1, 2, 5, 10, 20, 32, 64, 100, 128, 160, 205, 0)  # 0: the regulator is off


def ustress_jobs(
    cores: Sequence[int] = (1, 2, 3, 4), budgets: Sequence[int] = BUDGETS, seed: int | None = None
) -> list[Row]:
    """Points with their jobs: a number of cores, each with a budget of refills per period."""
    return [
        {
            "cores": count,
            "refills": budget,
            "key": f"ustress-{count}-{budget}{of_seed(seed)}",
            "job": started_at_random(stress(count, budget), seed),
        }
        for count in cores
        for budget in budgets
    ]


def ustress_rows(points: Sequence[Row], results: Sequence[PointAnswer]) -> list[Row]:
    return [
        {
            "cores": one["cores"],
            "refills": one["refills"],
            "refills_of_all": one["cores"] * one["refills"],
            "mb_s": bandwidth(result),
            "refills_got": refills_of(result),
            "dram_utilization": result["dram"]["utilization"],
            "digest": f"{result['digest']:016x}",
        }
        for one, result in zip(points, results, strict=True)
    ]


def dma_jobs(chunks: Sequence[int] = CHUNKS_KIB, registers: Sequence[int] = REGISTERS) -> list[Row]:
    """Points with the engine alone, which copies chunk after chunk."""
    return [
        {
            "chunk_kib": chunk,
            "register": register,
            "key": f"dma-{chunk}-{register}",
            "job": {"platform": PLATFORM, "parts": [], **engine(chunk, register, CHUNKS_ALONE)},
        }
        for chunk in chunks
        for register in registers
    ]


def dma_rows(points: Sequence[Row], results: Sequence[PointAnswer]) -> list[Row]:
    return [
        {
            "chunk_kib": one["chunk_kib"],
            "register": one["register"],
            "regulated": one["register"] != 0,
            "allowed_mb_s": allowed_mb_s(one["register"]) if one["register"] else None,
            "mb_s": _alone_mb_s(result),
            "digest": f"{result['digest']:016x}",
        }
        for one, result in zip(points, results, strict=True)
    ]


def of_seed(seed: int | None) -> str:
    """Suffix of a job's key."""
    return "" if seed is None else f"-s{seed}"


def started_at_random(job: Job, seed: int | None) -> Job:
    """The job with random start times of its cores and engines; it is measured when all have started. Without
    a seed all start at 0."""
    if seed is None:
        return job
    made = seeded(job, seed)
    chance = Random(f"{seed} engines")  # noqa: S311
    engines = [{**one, "start_at_ps": int(chance.random() * PHASE_PS)} for one in job.get("engines", ())]
    window = {key: job[key] + STARTED_PS for key in ("from_ps", "until_ps")}
    return {**made, **window, **({"engines": engines} if engines else {})}


def empty() -> Job:
    return {"platform": PLATFORM, "parts": [], "from_ps": WARM_PS, "until_ps": WARM_PS + WINDOW_PS}


def stress(cores: int, budget: int) -> Job:
    """A job with cores that stress one bank, each with a budget of refills per period."""
    parts = [
        {
            "name": f"ustress-{core}",
            "core": core,
            "memory_bytes": MIB,
            "pattern": "same-bank",
            "kind": "write",
            "walks": 0,
            "instructions": 4,
            "bandwidth": {"events": budget, "period": PERIOD},
        }
        for core in range(cores)
    ]
    return {**empty(), "parts": parts, "regulation": {"policy": "static", "interval": PERIOD}}


def engine(chunk_kib: int, register: int, chunks: int = 0, pattern: str = "pages") -> Job:
    """The engine's part of a job; without `chunks` it copies until the run ends."""
    part = {
        "engine": ENGINE,
        "memory_bytes": ENGINE_MEMORY,
        "chunk_bytes": chunk_kib * 1024,
        "chunks": chunks,
        "pattern": pattern,
    }
    return {"engines": [part], "qos": {ENGINE: {"rate": register, "burst": 1}}}


def allowed_mb_s(register: int) -> float:
    interconnect = job_platform(empty()).interconnect
    assert interconnect is not None
    return rate_of(interconnect.regulators[0], register) / MB


def refills_of(result: PointAnswer) -> float:
    """Refills of all cores per period."""
    refills = sum(core["events"][LINE_REFILL] for core in result["cores"])
    return float(refills * PERIOD_PS / result["simulated_ps"])


def _alone_mb_s(result: PointAnswer) -> float:
    """The engine's rate in MB/s, from its first start to its last interrupt."""
    [engine] = result["engines"]
    return float(engine["bytes"] * PS_PER_S / (engine["last_ps"] - engine["first_ps"]) / MB)
