# SPDX-License-Identifier: Apache-2.0
"""Our value for each published figure: from the platform files and from results of experiments, or measured
now.

The command `published` calls it. Each measured figure is kept at once, and shown by later calls until an
experiment has a newer row. Results of jobs are kept, so that a second measurement is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars

from bulkhead.campaign.points import PointFailed, keep_result, kept_result
from bulkhead.config.quantity import parse
from bulkhead.experiments.intervals import HIGH, LOW
from bulkhead.experiments.model import BadExperiment, Experiment, Sectioned, load_experiment
from bulkhead.experiments.regulated import is_at
from bulkhead.experiments.row import Row
from bulkhead.experiments.sweep import values_of, word
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.facts import measurement
from bulkhead.machine.job import Job
from bulkhead.published.beside import FigureBeside
from bulkhead.published.figures import Figure, FigureRow, board

# Each with a title for whoever waits.
Table = Callable[[Experiment | Sectioned, Sequence[str], str], list[Row]]  # rows of these points
Jobs = Callable[[Sequence[tuple[str, Job]], str], list[PointAnswer]]

NOW = "measured now"

_RATES = {"MB/s": 10**6, "B/s": 1}


@dataclass(frozen=True)
class FigurePlaces:
    """Places of our results."""

    experiments: Path  # their rows, by name
    measured: Path  # what `measured` found, by figure


@dataclass(frozen=True)
class Batch:
    """Figures that are measured together."""

    title: str
    figures: tuple[Figure, ...]
    what: Experiment | Sectioned | None = None  # none: facts of a board
    only: tuple[str, ...] = ()


def kept(figures: Sequence[Figure], places: FigurePlaces) -> list[FigureBeside]:
    """Our kept values; nothing is run."""
    return [_kept(figure, places) for figure in figures]


def measured(
    figures: Sequence[Figure], run: Jobs, rows: Table, places: FigurePlaces
) -> tuple[list[FigureBeside], list[str]]:
    """Everything that the machine can measure, measured with the present machine, and what could not be
    measured: a failure does not stop the other measurements. Each result is kept in `places` at once."""
    own: dict[str, FigureBeside] = {}
    failures = []
    batches = batches_of(figures)
    for number, batch in enumerate(batches, 1):
        title = f"published, {number} of {len(batches)}: {batch.title}"
        try:
            found = _measured(batch, run, rows, title)
        except (PointFailed, BadExperiment, ValueError) as error:
            failures.append(f"{batch.title}: {error}")
            found = [FigureBeside(figure, None, f"not measured: {error}") for figure in batch.figures]
        for one in found:
            own[one.figure.id] = one
            _keep(one, places)
    return [own.get(figure.id) or _kept(figure, places) for figure in figures], failures


def batches_of(figures: Sequence[Figure]) -> list[Batch]:
    """Measurements for these figures, in their order: facts of a board together, and rows of the same points
    or of the same section."""
    found: dict[tuple[str, ...], Batch] = {}
    for figure in figures:
        wanted = figure.ours.experiment
        if wanted is not None:
            what = load_experiment(wanted.name)
            only = tuple(_only(what, wanted))
            title = f"{what.name} ({', '.join(only)})" if only else what.name
            added = Batch(title, (figure,), what, only)
        elif _fact_job(figure) is not None:
            added = Batch(f"facts of {figure.board}", (figure,))
        else:
            continue
        key = (added.title, *added.only)
        before = found.get(key)
        found[key] = added if before is None else replace(before, figures=(*before.figures, figure))
    return list(found.values())


def _measured(batch: Batch, run: Jobs, rows: Table, title: str) -> list[FigureBeside]:
    if batch.what is not None:
        table = rows(batch.what, batch.only, title)
        return [_of_rows(figure, table, NOW) for figure in batch.figures]
    jobs = [(figure, how) for figure in batch.figures if (how := _fact_job(figure)) is not None]
    results = run([(figure.id, job) for figure, (job, _) in jobs], title)
    return [
        FigureBeside(figure, value(result), NOW)
        for (figure, (_, value)), result in zip(jobs, results, strict=True)
    ]


def _keep(one: FigureBeside, places: FigurePlaces) -> None:
    """For facts, the value in the platform's file is used."""
    if one.figure.ours.experiment is not None and one.ours is not None:
        result = {"ours": one.ours, "low": one.low, "high": one.high}
        keep_result(_place(one.figure, places), _meaning(one.figure), result)


def _kept(figure: Figure, places: FigurePlaces) -> FigureBeside:
    if figure.given is not None:
        return FigureBeside(figure, figure.given, f"platforms/{figure.board}.yaml")
    wanted = figure.ours.experiment
    if wanted is None:
        return FigureBeside(figure, None, figure.ours.missing or "the machine has no model for it")
    file = places.experiments / wanted.name / wanted.section / "rows.parquet"
    last = _of_last_run(figure, wanted, file)
    own = _place(figure, places)
    found = kept_result(own, _meaning(figure))
    if found is None or (last.ours is not None and file.stat().st_mtime_ns > own.stat().st_mtime_ns):
        return last
    return FigureBeside(figure, found["ours"], "last --measure", found["low"], found["high"])


def _of_last_run(figure: Figure, wanted: FigureRow, file: Path) -> FigureBeside:
    command = f"./bulkhead experiment {wanted.name}"
    if wanted.section:
        command += f" --only {wanted.section}"
    try:
        rows = polars.read_parquet(file).to_dicts()
    except (OSError, polars.exceptions.PolarsError):
        return FigureBeside(figure, None, f"not measured yet: {command}")
    return _of_rows(figure, rows, f"last run of {command}")


def _place(figure: Figure, places: FigurePlaces) -> Path:
    return places.measured / f"{figure.id}.json"


def _meaning(figure: Figure) -> str:
    """Hash of the definition of our row: a value that was kept for another row is not used."""
    return f"{figure.unit} {figure.ours.model_dump_json()}"


def _of_rows(figure: Figure, rows: Sequence[Row], origin: str) -> FigureBeside:
    """The first matching row: all matching rows have the same value."""
    wanted = figure.ours.experiment
    assert wanted is not None
    meant = [row for row in rows if is_at(wanted.where, row)]
    if not meant or meant[0].get(wanted.y) is None:
        return FigureBeside(
            figure, None, f"no row of {wanted.name} has this figure: run the experiment again"
        )
    row = meant[0]
    low, high = row.get(wanted.y + LOW), row.get(wanted.y + HIGH)
    return FigureBeside(figure, _number(row[wanted.y], figure.unit), origin, low, high)


def _number(value: Any, unit: str) -> float:
    if isinstance(value, str):  # a rate with its unit, as budgets are
        return float(parse(value, _RATES, "750 MB/s", bare=False)) / _RATES.get(unit, 1)
    return float(value)


def _fact_job(figure: Figure) -> tuple[Job, Callable[[PointAnswer], float]] | None:
    if figure.ours.fact is None:
        return None
    platform = board(figure.board)
    how = measurement(platform, figure.ours.fact)
    return None if how is None else (how.job(platform), how.value)


def _only(what: Experiment | Sectioned, wanted: FigureRow) -> list[str]:
    """The value of `--only` for the row."""
    if isinstance(what, Sectioned):
        return [wanted.section]
    return list(_swept(what, wanted.where))


def _swept(what: Experiment, where: dict[str, Any]) -> Iterator[str]:
    for key, value in where.items():
        if key in what.sweep:
            yield from (word(one) for one in values_of(key, value))
