# SPDX-License-Identifier: Apache-2.0
"""Share of random sets of flows that is schedulable, by utilization, and duration of the analysis (F6).

Sets are drawn as usual for such curves: utilizations by UUniFast, periods from U_i = (C / b) / P_i, senders
uniformly, deadlines equal to periods. Flows have no reserved control packets. Equal seeds give equal sets,
independent of the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bulkhead.config.flow_costs import FlowCosts
from bulkhead.flows.native import Analysis, analysis
from bulkhead.results.flows import AnalysisTimeResult, SweepPointResult

NS_PER_S = 10**9
SETS_AT_ONCE = 100
Z_95 = 1.959964  # quantile of the normal distribution for a 95 % interval


@dataclass(frozen=True)
class Sweep:
    """Parameters of the random sets, and their number."""

    costs: FlowCosts
    domains: int
    flows: int
    packet_bytes: int
    bytes_per_s: int
    sets: int  # for each point
    chunk_bytes: int
    utilizations: tuple[float, ...]
    seed: int


@dataclass(frozen=True)
class Took:
    """Processor time of transformation and test of a set, in us, over many sets."""

    median: float
    mean: float
    p95: float
    max: float

    def json(self) -> AnalysisTimeResult:
        return {"median": self.median, "mean": self.mean, "p95": self.p95, "max": self.max}

    @classmethod
    def of(cls, results: Sequence[dict[str, NDArray[Any]]]) -> Took:
        us = np.concatenate([one["analysis_ns"] for one in results]) / 1000
        return cls(float(np.median(us)), float(us.mean()), float(np.percentile(us, 95)), float(us.max()))


@dataclass(frozen=True)
class SweepPoint:
    """Results of all sets of one utilization."""

    utilization: float
    sets: int
    schedulable: int
    undecided: int
    low: float  # 95 % interval of the ratio
    high: float
    took: Took

    @property
    def ratio(self) -> float:
        """Share of schedulable sets."""
        return self.schedulable / self.sets

    def json(self) -> SweepPointResult:
        return {
            "utilization": self.utilization,
            "sets": self.sets,
            "schedulable": self.schedulable,
            "undecided": self.undecided,
            "ratio": self.ratio,
            "ratio_low": self.low,
            "ratio_high": self.high,
            "analysis_us": self.took.json(),
        }


@dataclass(frozen=True)
class Swept:
    """All points, and the duration of the analysis of a set."""

    points: tuple[SweepPoint, ...]
    took: Took


def run(sweep: Sweep, workers: int, report: Callable[[float, str], None]) -> Swept:
    """Analyzes all points. Raises ValueError for settings that no set can have."""
    import joblib

    core = analysis()
    _check(sweep, core)
    parts = [
        (number, first)
        for number in range(len(sweep.utilizations))
        for first in range(0, sweep.sets, SETS_AT_ONCE)
    ]
    # core/ runs without Python's lock: threads suffice, and start at once.
    pool = joblib.Parallel(n_jobs=workers, prefer="threads", return_as="generator_unordered")
    found: dict[int, list[dict[str, NDArray[Any]]]] = {
        number: [] for number in range(len(sweep.utilizations))
    }
    results = pool(joblib.delayed(_part)(core, sweep, *part) for part in parts)
    for done, (number, result) in enumerate(results, 1):
        found[number].append(result)
        report(done / len(parts), f"utilization {sweep.utilizations[number]:g}")
    points = tuple(_point(sweep, number, rows) for number, rows in found.items())
    return Swept(points, Took.of([row for rows in found.values() for row in rows]))


def draw(sweep: Sweep, number: int, first: int, count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Periods in ns (rounded down) and senders of some sets of one point, a row for each set."""
    random = np.random.default_rng((sweep.seed, number, first))
    shares = uunifast(random, count, sweep.flows, sweep.utilizations[number])
    with np.errstate(divide="ignore"):
        exact = sweep.packet_bytes / sweep.bytes_per_s * NS_PER_S / shares
    periods = np.clip(exact, 1, analysis().MAX_NS).astype(np.uint64)
    senders = random.integers(0, sweep.domains, periods.shape).astype(np.uint64)
    return periods, senders


def uunifast(random: np.random.Generator, sets: int, tasks: int, total: float) -> NDArray[np.float64]:
    """Utilizations that add up to `total`, uniformly distributed.

    Bini and Buttazzo, Measuring the performance of schedulability tests, Real-Time Systems 30, 2005.
    """
    left = np.full(sets, total)
    shares = np.empty((sets, tasks))
    for task in range(tasks - 1):
        after = left * random.random(sets) ** (1 / (tasks - 1 - task))
        shares[:, task] = left - after
        left = after
    shares[:, -1] = left
    return shares


def _part(core: Analysis, sweep: Sweep, number: int, first: int) -> tuple[int, dict[str, NDArray[Any]]]:
    periods, senders = draw(sweep, number, first, min(SETS_AT_ONCE, sweep.sets - first))
    found = core.test_batch(
        np.full(periods.shape, sweep.packet_bytes, dtype=np.uint64),
        periods,
        periods,
        senders,
        costs=sweep.costs.analyzed(),
        senders=sweep.domains,
        chunk_bytes=sweep.chunk_bytes,
        bytes_per_s=sweep.bytes_per_s,
    )
    return number, found


def _point(sweep: Sweep, number: int, rows: list[dict[str, NDArray[Any]]]) -> SweepPoint:
    schedulable = int(sum(int(row["schedulable"].sum()) for row in rows))
    undecided = int(sum(int(row["undecided"].sum()) for row in rows))
    low, high = interval(schedulable, sweep.sets)
    return SweepPoint(
        sweep.utilizations[number], sweep.sets, schedulable, undecided, low, high, Took.of(rows)
    )


def interval(hits: int, tries: int) -> tuple[float, float]:
    """95 % interval by Wilson's score, which is valid at 0 and 1, too."""
    ratio, square = hits / tries, Z_95**2
    middle = (ratio + square / (2 * tries)) / (1 + square / tries)
    half = Z_95 / (1 + square / tries) * sqrt(ratio * (1 - ratio) / tries + square / (4 * tries**2))
    return (middle - half if hits else 0.0), (middle + half if hits < tries else 1.0)


def _check(sweep: Sweep, core: Analysis) -> None:
    for what, value, most in (
        ("flows", sweep.flows, core.MAX_FLOWS),
        ("domains", sweep.domains, core.MAX_DOMAINS),
        ("bytes of a packet", sweep.packet_bytes, core.MAX_BYTES),
        ("bytes/s", sweep.bytes_per_s, core.MAX_BYTES_PER_S),
    ):
        if not 1 <= value <= most:
            raise ValueError(f"{value} {what} are out of range (allowed: 1 to {most})")
    copying_ns = sweep.packet_bytes * NS_PER_S / sweep.bytes_per_s
    longest_ns = copying_ns * sweep.flows / min(sweep.utilizations)  # of flows that share it evenly
    shortest_ns = copying_ns / max(sweep.utilizations)  # period of a flow with the whole utilization
    if longest_ns > core.MAX_NS or shortest_ns < 1:  # `draw` would clip periods and change the utilization
        what = "longer than 18 minutes" if longest_ns > core.MAX_NS else "shorter than 1 ns"
        raise ValueError(f"{sweep.packet_bytes} bytes at {sweep.bytes_per_s} bytes/s lead to periods {what}")
