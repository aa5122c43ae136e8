# SPDX-License-Identifier: Apache-2.0
"""Searches static budgets for the points of an experiment that need them.

The runs of the search are kept and reused like those of points. The command `experiment` calls this before
the points can be made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

from bulkhead.experiments.model import Experiment, PointJob, measured_part, unlimited
from bulkhead.experiments.regulated import NRT_BUDGET, RT_BUDGET, is_at, rate_text
from bulkhead.experiments.row import Point
from bulkhead.experiments.sweep import key_of
from bulkhead.machine.budget_search import Run, Searched, smallest_budgets
from bulkhead.machine.job import Job


def find_budgets(
    experiment: Experiment, points: Sequence[PointJob], run: Run
) -> Callable[[Point], Job] | None:
    """A function from a point to its budgets, as found by the search; None if no point needs a search."""
    search = experiment.search
    wanted = [one for one in points if search is not None and is_at(search.when, one.point)]
    if search is None or not wanted:
        return None
    programs = {_name(_measured(experiment, one.job)): _alone(experiment, one.job) for one in wanted}
    found = smallest_budgets(
        programs, run, bound=float(search.slowdown), step=search.step, below=search.guaranteed - search.step
    )
    of_point = {one.key: found[_name(_measured(experiment, one.job))] for one in wanted}
    axes = list(experiment.sweep)
    others = {one.key: len(one.job["parts"]) - 1 for one in wanted}

    def budgets(point: Point) -> Job:
        key = key_of([point[axis] for axis in axes])
        return _shared(of_point[key], search.guaranteed, search.step, others[key])

    return budgets


def _shared(found: Searched, guaranteed: int, step: int, others: int) -> Job:
    """Budgets at a point. If no budget is within the bound, the real-time part gets all but one step, which
    the others share."""
    rate = found.budget if found.budget is not None else guaranteed - step
    return {RT_BUDGET: rate_text(rate), NRT_BUDGET: rate_text((guaranteed - rate) // max(1, others))}


def _measured(experiment: Experiment, job: Job) -> Job:
    name = measured_part(experiment)
    return next(part for part in job["parts"] if part["name"] == name)


def _alone(experiment: Experiment, job: Job) -> Job:
    """The job with the measured part only, without the amount of its budget."""
    part = _measured(experiment, job)
    given = part.get("bandwidth")
    rest = {key: value for key, value in given.items() if key != "budget"} if isinstance(given, dict) else {}
    kept = {key: value for key, value in job.items() if key != "regulation"}
    return {**kept, "parts": [{**part, "bandwidth": rest}]}


def _name(part: Job) -> str:
    digest = hashlib.sha256(json.dumps(unlimited(part), sort_keys=True).encode()).hexdigest()[:8]
    return f"{key_of([part['workload']])}-{digest}"
