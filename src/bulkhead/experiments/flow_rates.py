# SPDX-License-Identifier: Apache-2.0
"""Experiment `flows`, section `rates` (F3): the largest rate of the DMA engine that does not affect the
cores.

Budgets reserve refills in a period, so no core may lose refills in any period; how much longer the cores take
for them is a further column. The least rates of the worst placement, `same-bank`, are those of
`memory_budget.table` in the platform's file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from bulkhead.experiments.flow_memory import (
    PERIOD_PS,
    PLATFORM,
    STARTED_PS,
    WARM_PS,
    allowed_mb_s,
    engine,
    of_seed,
    refills_of,
    started_at_random,
    stress,
)
from bulkhead.experiments.intervals import combined
from bulkhead.experiments.row import Point, Row
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.facts import MB, PS_PER_S
from bulkhead.machine.job import Job
from bulkhead.machine.point import job_platform
from bulkhead.planning.memory_budget import sustained_by
from bulkhead.planning.native import memory

Run = Callable[[Sequence[tuple[str, Job]]], list[PointAnswer]]

WINDOW_PS = 3_000_000_000  # a hundred counted periods
REFILLS_OF_ALL = (120, 135, 150, 165, 180, 195, 210, 225)
CHUNK_KIB = 8  # a row of one bank
MOST_REGISTER = 206  # more than the engine reaches itself
UNAFFECTED = 0.99  # of a core's budget, or of its refills without the engine if these are fewer
PS_PER_US = 1_000_000
WITH_INTERVAL = ("rate_mb_s", "dma_mb_s", "us_alone", "us_beside", "slowdown")
PS_PER_NS = 1_000
BYTES_OF_REFILL = 2 * 64  # with the line that it may write back


@dataclass(frozen=True)
class RatePoint:
    """A number of cores, each with a budget of refills per period, and an engine with memory at this
    placement."""

    placement: str
    cores: int
    refills: int
    seed: int | None = None  # of the start times; None: all start at 0

    def alone(self) -> Job:
        return started_at_random(self._stress(), self.seed)

    def beside(self, register: int) -> Job:
        job = {**self._stress(), **engine(CHUNK_KIB, register, pattern=self.placement)}
        return started_at_random(job, self.seed)

    def key(self, what: object) -> str:
        return f"rates-{self.placement}-{self.cores}-{self.refills}-{what}{of_seed(self.seed)}"

    def _stress(self) -> Job:
        return {**stress(self.cores, self.refills), "until_ps": WARM_PS + WINDOW_PS}


POINTS = tuple(
    RatePoint(placement, cores, refills // cores)
    for placement, cores in (("pages", 3), ("same-bank", 1), ("same-bank", 2), ("same-bank", 3))
    for refills in REFILLS_OF_ALL
)


def rate_rows_of_seeds(run: Run, seeds: int) -> list[Row]:
    """The rows of all points: means over the seeds with intervals, and the least rate of the seeds and of a
    start of all at 0."""
    starts = (None, *range(1, seeds + 1))
    found = rate_rows(run, [replace(point, seed=seed) for seed in starts for point in POINTS])
    by_start = [found[begin : begin + len(POINTS)] for begin in range(0, len(found), len(POINTS))]
    least = [min(row["rate_mb_s"] for row in rows) for rows in zip(*by_start, strict=True)]
    rows = combined(by_start[1:], WITH_INTERVAL)
    return [{**row, "least_rate_mb_s": rate} for row, rate in zip(rows, least, strict=True)]


def rate_rows(run: Run, points: Sequence[RatePoint] = POINTS) -> list[Row]:
    """The largest rate for each point, by bisection of all points at once. If a rate does not affect the
    cores, lower rates do not, either."""
    alone = dict(zip(points, run([(one.key("alone"), one.alone()) for one in points]), strict=True))
    low, high = dict.fromkeys(points, 0), dict.fromkeys(points, MOST_REGISTER)
    beside = dict(alone)
    while open_ := [point for point in points if high[point] - low[point] > 1]:
        middle = {point: (low[point] + high[point]) // 2 for point in open_}
        jobs = [(point.key(middle[point]), point.beside(middle[point])) for point in open_]
        for point, result in zip(open_, run(jobs), strict=True):
            if least_used(point, result) >= UNAFFECTED * min(point.refills, least_used(point, alone[point])):
                low[point], beside[point] = middle[point], result
            else:
                high[point] = middle[point]
    return [_row(point, low[point], alone[point], beside[point]) for point in points]


def headline_points() -> list[Point]:
    """The rows of the platform's table, each at the rate that it has there."""
    budget = job_platform({"platform": PLATFORM}).memory_budget
    assert budget is not None
    return [
        {
            "placement": "same-bank",
            "cores": row.cores,
            "refills": row.refills,
            "register": round(row.rate / MB / allowed_mb_s(1)),
        }
        for row in budget.table
    ]


def headline_pair(point: Point, seed: int) -> list[tuple[str, Job]]:
    """The jobs of one row: the cores without the engine, and beside it."""
    of = replace(_of(point), seed=seed)
    register = int(point["register"])
    return [(of.key("alone"), of.alone()), (of.key(register), of.beside(register))]


def headline_row(point: Point, results: Sequence[PointAnswer]) -> Row:
    """The row of a point from the results of `headline_pair`, at this rate, whatever rate would be the
    largest."""
    alone, beside = results
    return _row(replace(_of(point), seed=1), int(point["register"]), alone, beside)


def _of(point: Point) -> RatePoint:
    return RatePoint(point["placement"], point["cores"], point["refills"])


def _row(point: RatePoint, register: int, alone: PointAnswer, beside: PointAnswer) -> Row:
    """The row of a point; `beside` equals `alone` if no rate was found."""
    return {
        "placement": point.placement,
        "cores": point.cores,
        "refills": point.refills,
        "refills_of_all": point.cores * point.refills,
        "register": register,
        "rate_mb_s": allowed_mb_s(register),
        "dma_mb_s": sum(one["bytes"] for one in beside["engines"]) * PS_PER_S / WINDOW_PS / MB,
        "refills_alone": refills_of(alone),
        "refills_beside": refills_of(beside),
        "least_alone": least_used(point, alone),
        "least_beside": least_used(point, beside),
        "us_alone": _us(point, alone),
        "us_beside": _us(point, beside),
        "slowdown": _us(point, beside) / _us(point, alone),
        "curve_mb_s": curve_mb_s(point),
    }


def curve_mb_s(point: RatePoint) -> float:
    """Rate that the sum of utilizations leaves the engine, in MB/s, by the platform's curves."""
    platform = job_platform({"platform": PLATFORM})
    assert platform.memory_budget is not None
    by_table = sustained_by(platform, platform.memory_budget, 0, "zdma", CHUNK_KIB * 1024)
    capacity = replace(by_table, table=()).capacity()
    rate = memory().rate(point.refills, BYTES_OF_REFILL, 1, PERIOD_PS // PS_PER_NS)
    left, _ = capacity.broker_room([(rate, 1)] * point.cores)
    return left / MB


def least_used(point: RatePoint, result: PointAnswer) -> int:
    """The fewest refills of a core in a counted period."""
    return min(_counted(point, result, "used"))


def _us(point: RatePoint, result: PointAnswer) -> float:
    """Mean time in us from the start of a period until a core has used its refills and is stopped."""
    return fmean(PERIOD_PS - stopped for stopped in _counted(point, result, "throttled_ps")) / PS_PER_US


def _counted(point: RatePoint, result: PointAnswer, what: Literal["used", "throttled_ps"]) -> list[int]:
    """Values of each core in each counted period."""
    intervals = result["regulation"]["intervals"]
    begin = WARM_PS if point.seed is None else WARM_PS + STARTED_PS
    counted = [number for number, end in enumerate(intervals["end_ps"]) if end > begin]
    cores = [core["core"] for core in result["regulation"]["budgets"]]
    return [intervals["cores"][core][what][number] for core in cores for number in counted]
