# SPDX-License-Identifier: Apache-2.0
"""Ours beside each published figure: from the platform files and from what experiments have left, or
measured now.

The command `published` calls it. What is measured is kept by whoever runs the jobs, so that a second call
is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

from bulkhead.config.quantity import parse
from bulkhead.experiments.intervals import HIGH, LOW
from bulkhead.experiments.model import Experiment, Sectioned, load_experiment
from bulkhead.experiments.regulated import is_at
from bulkhead.experiments.sweep import values_of, word
from bulkhead.machine.facts import measurement
from bulkhead.published.figures import Figure, Row, board

Table = Callable[[Experiment | Sectioned, Sequence[str]], list[dict[str, Any]]]  # rows of these points
Jobs = Callable[[Sequence[tuple[str, dict[str, Any]]]], list[dict[str, Any]]]

_RATES = {"MB/s": 10**6, "B/s": 1}


@dataclass(frozen=True)
class Beside:
    """A figure and what we have for it."""

    figure: Figure
    ours: float | None
    origin: str  # where ours is from; without one, what would make one
    low: float | None = None  # interval of ours, over seeds
    high: float | None = None

    @property
    def error(self) -> float | None:
        return None if self.ours is None else self.figure.error(self.ours)

    def json(self) -> dict[str, Any]:
        """As the command prints it."""
        shown = self.figure.model_dump(exclude={"ours", "given"}, exclude_none=True)
        how = self.figure.ours.how or self.figure.measured
        return {
            **shown,
            "ours": self.ours,
            "ours_low": self.low,
            "ours_high": self.high,
            "ours_from": self.origin,
            "ours_measured": how.model_dump(),
            "measured_alike": self.figure.alike,
            "error": self.error,
        }


def kept(figures: Sequence[Figure], experiments: Path) -> list[Beside]:
    """Without running anything. `experiments`: the directory beneath which experiments leave their rows."""
    return [_kept(figure, experiments) for figure in figures]


def measured(figures: Sequence[Figure], run: Jobs, rows: Table, experiments: Path) -> list[Beside]:
    """All that the machine can measure, measured with the machine as it is."""
    facts = {f.id: _fact_job(f) for f in figures if f.ours.fact is not None}
    jobs = {name: how for name, how in facts.items() if how is not None}
    results = dict(zip(jobs, run([(name, job) for name, (job, _) in jobs.items()]), strict=True))
    found = []
    for figure in figures:
        if figure.id in jobs:
            value = jobs[figure.id][1](results[figure.id])
            found.append(Beside(figure, value, "measured now"))
        elif figure.ours.experiment is not None:
            wanted = figure.ours.experiment
            what = load_experiment(wanted.name)
            found.append(_of_rows(figure, rows(what, _only(what, wanted)), "measured now"))
        else:
            found.append(_kept(figure, experiments))
    return found


def _kept(figure: Figure, experiments: Path) -> Beside:
    wanted = figure.ours.experiment
    if figure.given is not None:
        return Beside(figure, figure.given, f"platforms/{figure.board}.yaml")
    if wanted is None:
        return Beside(figure, None, figure.ours.missing or "the machine has no model for it")
    directory = experiments / wanted.name
    if wanted.section:
        directory /= wanted.section
    command = f"./bulkhead experiment {wanted.name}"
    if wanted.section:
        command += f" --only {wanted.section}"
    try:
        rows = polars.read_parquet(directory / "rows.parquet").to_dicts()
    except (OSError, polars.exceptions.PolarsError):
        return Beside(figure, None, f"not measured yet: {command}")
    return _of_rows(figure, rows, f"last run of {command}")


def _of_rows(figure: Figure, rows: Sequence[dict[str, Any]], origin: str) -> Beside:
    """The first of the rows that the figure means: those that are left have the same."""
    wanted = figure.ours.experiment
    assert wanted is not None
    meant = [row for row in rows if is_at(wanted.where, row)]
    if not meant or meant[0].get(wanted.y) is None:
        return Beside(figure, None, f"no row of {wanted.name} has it: run it again")
    row = meant[0]
    low, high = row.get(wanted.y + LOW), row.get(wanted.y + HIGH)
    return Beside(figure, _number(row[wanted.y], figure.unit), origin, low, high)


def _number(value: Any, unit: str) -> float:
    if isinstance(value, str):  # a rate with its unit, as budgets are
        return float(parse(value, _RATES, "750 MB/s", bare=False)) / _RATES.get(unit, 1)
    return float(value)


def _fact_job(figure: Figure) -> tuple[dict[str, Any], Callable[[dict[str, Any]], float]] | None:
    platform = board(figure.board)
    assert figure.ours.fact is not None
    how = measurement(platform, figure.ours.fact)
    return None if how is None else (how.job(platform), how.value)


def _only(what: Experiment | Sectioned, wanted: Row) -> list[str]:
    """What `--only` would be given for the row."""
    if isinstance(what, Sectioned):
        return [wanted.section]
    return list(_swept(what, wanted.where))


def _swept(what: Experiment, where: dict[str, Any]) -> Iterator[str]:
    for key, value in where.items():
        if key in what.sweep:
            yield from (word(one) for one in values_of(key, value))
