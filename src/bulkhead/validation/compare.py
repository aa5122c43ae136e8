# SPDX-License-Identifier: Apache-2.0
"""Predictions compared with published figures: errors, and the verdict by the two limits.

The figures of calibration boards are shown but not judged, because parameters were fitted to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.job import Job
from bulkhead.validation.measure import ValidationPoint
from bulkhead.validation.model import Board, NamedPoint, Role

MEDIAN_LIMIT = 0.15
WORST_LIMIT = 0.35
LEAST_NS = 1.0  # latencies below it are not compared: they were published with one digit

Run = Callable[[Sequence[tuple[str, Job]]], list[PointAnswer]]


@dataclass(frozen=True)
class Compared:
    point: ValidationPoint
    predicted: float

    @property
    def error(self) -> float:
        """Error relative to the published figure."""
        return (self.predicted - self.point.published) / self.point.published


@dataclass(frozen=True)
class Summary:
    """Summary of the sizes of errors."""

    points: int
    median: float
    worst: float

    @property
    def holds(self) -> bool:
        return self.median <= MEDIAN_LIMIT and self.worst <= WORST_LIMIT


def compare(wanted: Sequence[ValidationPoint], run: Run) -> list[Compared]:
    """The machine's value of each point. `run` returns the results of jobs; it runs equal jobs once."""
    jobs: list[tuple[str, Job]] = []
    for point in wanted:
        jobs.append((point.key, point.job))
        if point.base is not None:
            jobs.append((f"{point.board.board}-{point.kind}-{point.pages}-L1", point.base))
    results = iter(run(jobs))
    found = []
    for point in wanted:
        result = next(results)
        base = next(results) if point.base is not None else None
        found.append(Compared(point, point.value(result, base)))
    return found


def summary(compared: Sequence[Compared]) -> Summary:
    sizes = [abs(one.error) for one in compared]
    return Summary(len(sizes), median(sizes), max(sizes)) if sizes else Summary(0, 0.0, 0.0)


def beyond_limit(compared: Sequence[Compared]) -> set[str]:
    """Keys of the points whose errors exceed WORST_LIMIT."""
    return {one.point.key for one in compared if abs(one.error) > WORST_LIMIT}


def explained(compared: Sequence[Compared]) -> set[str]:
    """Keys of the points that the files of their boards explain, or call not understood, because their errors
    exceed the limit."""
    return {one.point.key for one in compared if any(map(one.point.is_named, _named(one.point.board)))}


def _named(board: Board) -> list[NamedPoint]:
    return [named for one in board.explanations for named in one.beyond_limit]


def of_role(compared: Sequence[Compared], role: Role) -> list[Compared]:
    return [one for one in compared if one.point.board.role == role]
