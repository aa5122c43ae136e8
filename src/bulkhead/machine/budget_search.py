# SPDX-License-Identifier: Apache-2.0
"""The smallest static budget that leaves a program's slowdown within a bound (B10), by bisection.

`limits --rt` and experiments with static budgets call it. It asks for runs in rounds, so that the programs of
a round run side by side, and whoever runs them can keep each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bulkhead.machine.programs import counted

Job = dict[str, Any]
Run = Callable[[Sequence[tuple[str, Job]]], list[dict[str, Any]]]

MB = 10**6


@dataclass
class Searched:
    """Of one program; rates are in bytes per s."""

    name: str
    alone_ns: float
    slowdowns: dict[int, float] = field(default_factory=dict)  # by budget, of what was tried
    budget: int | None = None  # None: none below the limit is enough


def smallest_budgets(
    programs: dict[str, Job], run: Run, *, bound: float, step: int, below: int
) -> dict[str, Searched]:
    """`programs`: a job of one part each, by a name for keys; budgets are multiples of `step` up to `below`.

    The job's part gets its budget as `bandwidth.budget`; what else it says of bandwidth stays.
    """
    names = list(programs)
    alone = run([(f"alone-{name}", _without_budget(programs[name])) for name in names])
    found = {name: Searched(name, _mean_ns(result)) for name, result in zip(names, alone, strict=True)}
    most = below // step
    ranges = dict.fromkeys(names, (0, most + 1))  # too little, enough (beyond: not known to be)
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


def _mean_ns(result: dict[str, Any]) -> float:
    (own,) = counted(result["programs"], 0)
    return sum(one.time_ps for one in own) / len(own) / 1000
