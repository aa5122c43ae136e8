# SPDX-License-Identifier: Apache-2.0
"""Searches by bisection the smallest static budget that keeps a program's slowdown within a bound (B10).

`limits --rt` and experiments with static budgets use it. Runs are requested in rounds, so that those of
several programs run side by side and the caller can keep each result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.job import Job
from bulkhead.machine.programs import counted

Run = Callable[[Sequence[tuple[str, Job]]], list[PointAnswer]]

MB = 10**6


@dataclass
class Searched:
    """PointAnswer for one program; rates are in bytes per s."""

    name: str
    alone_ns: float
    slowdowns: dict[int, float] = field(default_factory=dict)  # by budget that was tried
    budget: int | None = None  # None: no budget below the limit suffices


def smallest_budgets(
    programs: dict[str, Job], run: Run, *, bound: float, step: int, below: int
) -> dict[str, Searched]:
    """The smallest budgets. `programs`: by name, a job with a single part; budgets are multiples of `step` up
    to `below`.

    The part's budget is set as `bandwidth.budget`; its other keys of bandwidth stay.
    """
    names = list(programs)
    alone = run([(f"alone-{name}", _without_budget(programs[name])) for name in names])
    found = {name: Searched(name, _mean_ns(result)) for name, result in zip(names, alone, strict=True)}
    most = below // step
    ranges = dict.fromkeys(names, (0, most + 1))  # steps: too small, sufficient (most + 1: not known)
    while waiting := [name for name in names if ranges[name][1] - ranges[name][0] > 1]:
        tried = {name: sum(ranges[name]) // 2 * step for name in waiting}
        jobs = [
            (f"budget-{name}-{rate // MB}", _with_budget(programs[name], rate))
            for name, rate in tried.items()
        ]
        for (name, rate), result in zip(tried.items(), run(jobs), strict=True):
            slowdown = _mean_ns(result) / found[name].alone_ns
            found[name].slowdowns[rate] = slowdown
            low, high = ranges[name]
            ranges[name] = (low, rate // step) if slowdown <= 1 + bound else (rate // step, high)
    for name in names:
        enough = ranges[name][1]
        found[name].budget = enough * step if enough <= most else None
    return found


def _with_budget(job: Job, rate: int) -> Job:
    (part,) = job["parts"]
    bandwidth = {**part.get("bandwidth", {}), "budget": f"{rate} B/s"}
    return {
        **job,
        "parts": [{**part, "criticality": "rt", "bandwidth": bandwidth}],
        "regulation": {"policy": "static", "samples": False},
    }


def _without_budget(job: Job) -> Job:
    (part,) = job["parts"]
    rest = {key: value for key, value in part.items() if key not in ("bandwidth", "criticality")}
    return {key: value for key, value in {**job, "parts": [rest]}.items() if key != "regulation"}


def _mean_ns(result: PointAnswer) -> float:
    (own,) = counted(result["programs"], 0)
    return sum(one.time_ps for one in own) / len(own) / 1000
