# SPDX-License-Identifier: Apache-2.0
"""Rows of experiment `mxu` from the machine's counts between two marks of a program: time, the part taken by
the check of accesses, and the cost of single misses.

Pure arithmetic. A miss is a walk of the MMU for the benchmark's own data and code, or the refill of an MPU
region, from the fault until the instruction is executed again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bulkhead.errors import InvalidInput
from bulkhead.experiments.row import Row

Json = dict[str, Any]
Costs = dict[int, int]  # number of misses by cycles

MARK_BEGIN, MARK_END = 1, 2  # as in microkernel/programs/apps/app.h
OWN_ASID = 3  # of a system file's first component: memory manager and scheduler have 1 and 2
NEAR_CYCLES = 20  # most cycles of a walk whose descriptors are all in the L1 cache
PS_PER_S = 10**12
NOTHING: Row = {"mean": None, "deviation": None, "p99": None, "max": None}


class ProgramNotMeasured(InvalidInput):
    """The program did not end, or failed."""


def cost_row(costs: Costs) -> Row:
    """Mean, standard deviation, 99th percentile and maximum, in cycles."""
    if not costs:
        return dict(NOTHING)
    cycles, times = (np.array(values) for values in zip(*sorted(costs.items()), strict=True))
    mean = np.average(cycles, weights=times)
    square = np.average((cycles - mean) ** 2, weights=times)
    p99 = np.quantile(cycles, 0.99, weights=times, method="inverted_cdf")
    return {"mean": float(mean), "deviation": math.sqrt(square), "p99": int(p99), "max": max(costs)}


def between(begin: Json, end: Json) -> Costs:
    """The benchmark's misses between two counts."""
    return _difference(_own(begin), _own(end))


def _difference(begin: Sequence[Sequence[int]], end: Sequence[Sequence[int]]) -> Costs:
    before = {one[0]: one[1] for one in begin}
    return {cycles: left for cycles, times in end if (left := times - before.get(cycles, 0)) > 0}


def _own(counts: Json) -> list[list[int]]:
    if "mpu" in counts:
        found: list[list[int]] = counts["mpu"]["miss_costs"]
        return found
    return _of_spaces(counts).get(OWN_ASID, [])


def _of_spaces(counts: Json) -> dict[int, list[list[int]]]:
    return {one["asid"]: one["costs"] for one in counts["walk_costs"]}


def total(costs: Costs) -> int:
    """Sum of all cycles."""
    return sum(cycles * times for cycles, times in costs.items())


def measured_row(marks: Sequence[Json], report: Json, frequency_hz: int) -> Row:
    """The row. `marks`: from the machine; `report`: from the program. Raises ProgramNotMeasured."""
    if "error" in report:
        raise ProgramNotMeasured(f"{report['program']}: {report['error']}")
    begin, end = (_of(marks, which) for which in (MARK_BEGIN, MARK_END))
    costs = between(begin, end)
    core = [one["cores"][0] for one in (begin, end)]
    cycles = _cycles(core[1]["clock_ps"] - core[0]["clock_ps"], frequency_hz)
    check = _check_cycles(begin, end, costs, frequency_hz)
    misses = sum(costs.values())
    return {
        "cycles": cycles,
        "check_cycles": check,
        "check_share": check / cycles,
        "misses": misses,
        **{f"miss_{key}": value for key, value in cost_row(costs).items()},
        **_parts(begin, end, check, costs),
        "instructions": core[1]["instructions"] - core[0]["instructions"],
        "disturbed": report["disturbed"],
        "between_us": _between_us(report),
    }


def _parts(begin: Json, end: Json, check: float, own: Costs) -> Row:
    """For an MMU: the share of the benchmark's walks that no placement makes cheaper (`near`), and the shares
    of `check_cycles` that are not its own walks: walks of the kernel, of other components, and hits in the
    main TLB."""
    if "mpu" in end or check == 0:
        return dict.fromkeys(("near", "of_kernel", "of_others", "of_hits"))
    kernel = total(_difference(begin["kernel_walk_costs"], end["kernel_walk_costs"]))
    before = _of_spaces(begin)
    by_space = {
        asid: total(_difference(before.get(asid, []), costs)) for asid, costs in _of_spaces(end).items()
    }
    others = sum(cycles for asid, cycles in by_space.items() if asid != OWN_ASID)
    hits = check - kernel - sum(by_space.values())
    near = sum(times for cycles, times in own.items() if cycles <= NEAR_CYCLES)
    return {
        "near": near / sum(own.values()) if own else None,
        "of_kernel": kernel / check,
        "of_others": others / check,
        "of_hits": hits / check,
    }


def per_access(row: Row, accesses: int) -> Row:
    """The row's values per access."""
    return {
        "cycles_an_access": row["cycles"] / accesses,
        "check_an_access": row["check_cycles"] / accesses,
        "misses_an_access": row["misses"] / accesses,
    }


def _of(marks: Sequence[Json], which: int) -> Json:
    for one in marks:
        if one["mark"] == which:
            counts: Json = one["counts"]
            return counts
    raise ProgramNotMeasured(f"the program did not reach its mark {which}")


def _between_us(report: Json) -> float | None:
    """Mean time between acts of the adversary in the component, in us."""
    if not report["disturbed"]:
        return None
    return float(report["clocks"]) / float(report["clock_hz"]) / int(report["disturbed"]) * 1e6


def _check_cycles(begin: Json, end: Json, costs: Costs, frequency_hz: int) -> float:
    """Cycles of the check. MMU: time in which accesses waited for translations, including hits of the main
    TLB. MPU: the refills."""
    if "mpu" in end:
        return float(total(costs))
    stalled = [one["cores"][0]["stall_ps"]["walk"] for one in (begin, end)]
    return _cycles(stalled[1] - stalled[0], frequency_hz)


def _cycles(time_ps: int, frequency_hz: int) -> float:
    return time_ps * frequency_hz / PS_PER_S
