# SPDX-License-Identifier: Apache-2.0
"""Experiment `flows`, the memory's part (F3): what stressing cores and a DMA engine take of one DRAM.

Jobs for the simulated machine and what is made of their results. `ustress`: stores whose lines lie in other
rows of one bank, as calibration has them; budgets are of refills in each regulation period.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bulkhead.machine.engines import rate_of
from bulkhead.machine.facts import LINE_REFILL, MB, MIB, PS_PER_S, bandwidth
from bulkhead.machine.point import job_platform

Job = dict[str, Any]
Row = dict[str, Any]
Run = Callable[[Sequence[tuple[str, Job]]], list[dict[str, Any]]]

PLATFORM = "zcu102"
ENGINE = "adma"
PERIOD = "30 us"
PERIOD_PS = 30_000_000
WARM_PS = 600_000_000  # twenty periods: caches are full of lines that must go back
WINDOW_PS = 900_000_000  # thirty periods that are counted
ENGINE_MEMORY = 16 * MIB
BUDGETS = (10, 20, 30, 40, 50, 60, 70, 80, 100, 120, 150, 200, 250)
CHUNKS_ALONE = 64
CHUNKS_KIB = (4, 8, 16, 32, 64)
REGISTERS = (1, 2, 5, 10, 20, 32, 64, 100, 128, 160, 205, 0)  # 0: the regulator is off
TABLE_BUDGETS = (50, 55, 60, 65, 70, 75)
TABLE_CORES = 3
TABLE_CHUNK_KIB = 4
MOST_REGISTER = 206  # beyond what the engine does itself
UNAFFECTED = 0.99  # of the refills that the cores get without the engine


def ustress_jobs(cores: Sequence[int] = (1, 2, 3, 4), budgets: Sequence[int] = BUDGETS) -> list[Row]:
    """Points with their jobs: so many cores, each with so many refills in a period."""
    return [
        {"cores": count, "refills": budget, "key": f"ustress-{count}-{budget}", "job": _stress(count, budget)}
        for count in cores
        for budget in budgets
    ]


def ustress_rows(points: Sequence[Row], results: Sequence[dict[str, Any]]) -> list[Row]:
    return [
        {
            "cores": one["cores"],
            "refills": one["refills"],
            "refills_of_all": one["cores"] * one["refills"],
            "mb_s": bandwidth(result),
            "refills_got": _refills(result),
            "dram_utilization": result["dram"]["utilization"],
            "digest": f"{result['digest']:016x}",
        }
        for one, result in zip(points, results, strict=True)
    ]


def dma_jobs(chunks: Sequence[int] = CHUNKS_KIB, registers: Sequence[int] = REGISTERS) -> list[Row]:
    """The engine alone, chunk after chunk."""
    return [
        {
            "chunk_kib": chunk,
            "register": register,
            "key": f"dma-{chunk}-{register}",
            "job": {"platform": PLATFORM, "parts": [], **_engine(chunk, register, CHUNKS_ALONE)},
        }
        for chunk in chunks
        for register in registers
    ]


def dma_rows(points: Sequence[Row], results: Sequence[dict[str, Any]]) -> list[Row]:
    return [
        {
            "chunk_kib": one["chunk_kib"],
            "register": one["register"],
            "regulated": one["register"] != 0,
            "allowed_mb_s": _allowed(one["register"]) if one["register"] else None,
            "mb_s": _alone_mb_s(result),
            "digest": f"{result['digest']:016x}",
        }
        for one, result in zip(points, results, strict=True)
    ]


def rate_rows(run: Run, budgets: Sequence[int] = TABLE_BUDGETS) -> list[Row]:
    """For each budget the largest rate beside which the cores keep their refills: by halves, all budgets at
    once. A rate that does not matter leaves lower ones that do not, either."""
    alone = run([(f"alone-{budget}", _stress(TABLE_CORES, budget)) for budget in budgets])
    wanted = [UNAFFECTED * _refills(one) for one in alone]
    low, high = dict.fromkeys(budgets, 0), dict.fromkeys(budgets, MOST_REGISTER)
    seen: dict[tuple[int, int], dict[str, Any]] = {}
    while open_ := [budget for budget in budgets if high[budget] - low[budget] > 1]:
        middle = {budget: (low[budget] + high[budget]) // 2 for budget in open_}
        jobs = [(f"rates-{one}-{middle[one]}", _beside(one, middle[one])) for one in open_]
        for budget, result in zip(open_, run(jobs), strict=True):
            seen[budget, middle[budget]] = result
            if _refills(result) >= wanted[budgets.index(budget)]:
                low[budget] = middle[budget]
            else:
                high[budget] = middle[budget]
    rows = []
    for number, budget in enumerate(budgets):
        found = seen.get((budget, low[budget]))
        rows.append(
            {
                "refills": budget,
                "register": low[budget],
                "rate_mb_s": _allowed(low[budget]),
                "dma_mb_s": _engine_mb_s(found) if found is not None else 0.0,
                "refills_alone": _refills(alone[number]),
                "refills_beside": _refills(found) if found is not None else None,
                "curve_mb_s": curve_mb_s(budget),
            }
        )
    return rows


def curve_mb_s(budget: int) -> float:
    """What the sum of utilizations leaves the engine, by the platform's curves."""
    curves = job_platform(_empty()).memory_budget
    assert curves is not None
    used = TABLE_CORES * curves.core_utilization(_bytes_per_s(budget))
    return max(0.0, float((1 - used) * curves.engine_rate(TABLE_CHUNK_KIB * 1024)) / MB)


def _bytes_per_s(budget: int) -> Any:
    from fractions import Fraction

    return Fraction(budget * 64 * PS_PER_S, PERIOD_PS)


def _empty() -> Job:
    return {"platform": PLATFORM, "parts": [], "from_ps": WARM_PS, "until_ps": WARM_PS + WINDOW_PS}


def _stress(cores: int, budget: int) -> Job:
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
    return {**_empty(), "parts": parts, "regulation": {"policy": "static", "interval": PERIOD}}


def _engine(chunk_kib: int, register: int, chunks: int = 0) -> Job:
    """Without end where no number of chunks is said."""
    engine = {
        "engine": ENGINE,
        "memory_bytes": ENGINE_MEMORY,
        "chunk_bytes": chunk_kib * 1024,
        "chunks": chunks,
    }
    return {"engines": [engine], "qos": {ENGINE: {"rate": register, "burst": 1}}}


def _beside(budget: int, register: int) -> Job:
    return {**_stress(TABLE_CORES, budget), **_engine(TABLE_CHUNK_KIB, register)}


def _allowed(register: int) -> float:
    interconnect = job_platform(_empty()).interconnect
    assert interconnect is not None
    return rate_of(interconnect.regulators[0], register) / MB


def _refills(result: dict[str, Any]) -> float:
    """Of all cores, in a period."""
    refills = sum(core["events"][LINE_REFILL] for core in result["cores"])
    return float(refills * PERIOD_PS / result["simulated_ps"])


def _alone_mb_s(result: dict[str, Any]) -> float:
    """From its first start to its last interrupt."""
    [engine] = result["engines"]
    return float(engine["bytes"] * PS_PER_S / (engine["last_ps"] - engine["first_ps"]) / MB)


def _engine_mb_s(result: dict[str, Any]) -> float:
    return float(result["engines"][0]["bytes"] * PS_PER_S / WINDOW_PS / MB)  # without end
