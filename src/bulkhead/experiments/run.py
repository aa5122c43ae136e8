# SPDX-License-Identifier: Apache-2.0
"""Runs an experiment and makes its tables: one of all its points, or one for each of its sections.

Called by perform.py, which writes them. Results are kept and reused until an input changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bulkhead.campaign.points import runs_workloads
from bulkhead.experiments.budgets import find_budgets
from bulkhead.experiments.columns import with_interval
from bulkhead.experiments.intervals import combined
from bulkhead.experiments.means import Means
from bulkhead.experiments.model import (
    BadExperiment,
    Experiment,
    PointJob,
    Sectioned,
    alone_jobs,
    load_experiment,
    points_of,
)
from bulkhead.experiments.output import Recorded
from bulkhead.experiments.override import quick, with_seeds
from bulkhead.experiments.row import Row
from bulkhead.experiments.rows import rows_of
from bulkhead.experiments.said import Sheet
from bulkhead.experiments.sections import WAYS
from bulkhead.experiments.seeds import seeded_jobs
from bulkhead.experiments.traces import Trace, with_traces
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.job import Job
from bulkhead.machine.native import built_machine


@dataclass(frozen=True)
class Table:
    """Rows, and how they are shown."""

    sheet: Sheet
    rows: list[Row]
    directory: Path  # for its files
    section: str = ""
    recorded: Recorded = ((), ())
    traces: Sequence[Trace] = ()  # recorded programs that ran


def tables_of(
    what: Experiment | Sectioned, only: Sequence[str], means: Means, *, again: bool
) -> Iterator[Table]:
    """Each table as soon as it is complete. `only`: points with these values, or sections with these names;
    `again`: no kept result is used. Raises BadExperiment, PointFailed, ValueError."""
    if isinstance(what, Experiment):
        yield _of_points(what, only, means, again)
    else:
        yield from _of_sections(what, only, means, again)


def _experiment_of(what: Sectioned, section: str) -> Experiment:
    """The experiment of a section, in the size and with the seeds of this run."""
    found = load_experiment(str(what.sections[section].experiment))
    made = with_seeds(quick(found) if what.size == "quick" else found, what.seeds)
    if not isinstance(made, Experiment):
        raise BadExperiment(f"section '{section}': '{made.name}' has sections itself")
    return made


def count_points(what: Experiment | Sectioned) -> int:
    if isinstance(what, Experiment):
        return len(points_of(what))
    return sum(
        WAYS[name].points() if section.experiment is None else len(points_of(_experiment_of(what, name)))
        for name, section in what.sections.items()
    )


def _of_points(what: Experiment, only: Sequence[str], means: Means, again: bool) -> Table:
    points, traces = with_traces(points_of(what, only))
    built_machine(workloads=any(runs_workloads(one.job) for one in points))
    if again:
        means.forget()
    budgets = find_budgets(what, points, lambda jobs: means.jobs(jobs, "budgets"))
    if budgets is not None:
        points, traces = with_traces(points_of(what, only, budgets))
    rows, first = rows_of_seeds(what, points, means.jobs)
    return Table(what, rows, means.directory, recorded=(points, first), traces=traces)


def rows_of_seeds(
    what: Experiment,
    points: Sequence[PointJob],
    run: Callable[[Sequence[tuple[str, Job]]], list[PointAnswer]],
) -> tuple[list[Row], list[PointAnswer]]:
    """Runs all seeds of all points. Returns a row for each point, and the results of the first seed."""
    jobs = [(one.key, one.job) for one in points]
    if what.result == "slowdown":
        jobs += alone_jobs(points)
    results = run(seeded_jobs(jobs, what.seeds))
    by_seed = [results[begin : begin + len(jobs)] for begin in range(0, len(results), len(jobs))]
    rows = combined([rows_of(what, points, own) for own in by_seed], with_interval(what))
    return rows, by_seed[0]


def _of_sections(what: Sectioned, only: Sequence[str], means: Means, again: bool) -> Iterator[Table]:
    for wanted in only:
        if wanted not in what.sections:
            known = ", ".join(what.sections)
            raise BadExperiment(f"--only {wanted}: no section has this name (known: {known})")
    chosen = {name: section for name, section in what.sections.items() if name in only or not only}
    if not all(name in WAYS and WAYS[name].builds for name in chosen):
        built_machine(workloads=False)
    if again:
        means.forget()
    for name, section in chosen.items():
        if section.experiment is not None:
            part = means.of(section.experiment)
            yield replace(_of_points(_experiment_of(what, name), (), part, again), section=name)
        else:
            way = WAYS[name]
            own = replace(means, seeds=what.seeds or 1, size=what.size)
            yield Table(what.sheet(name), way.rows(own), means.directory / name, section=name)
