# SPDX-License-Identifier: Apache-2.0
"""The headline of an experiment for other values of each assumed parameter of its platform.

Called by sensitivity_run.py. Each variation is a run of the headline's point (and of the point that it
refers to) with all seeds; results are kept like those of points. Nothing is fitted: the result shows how much
the headline depends on an assumption.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.config.problem import no_such
from bulkhead.experiments.budgets import find_budgets
from bulkhead.experiments.columns import with_interval
from bulkhead.experiments.intervals import HIGH, LOW, combined
from bulkhead.experiments.model import (
    BadExperiment,
    Experiment,
    PointJob,
    Sectioned,
    alone_jobs,
    platform_of,
    points_of,
)
from bulkhead.experiments.regulated import is_at
from bulkhead.experiments.row import Row
from bulkhead.experiments.rows import rows_of
from bulkhead.experiments.said import Headline, Plot, Sheet
from bulkhead.experiments.sections import WAYS
from bulkhead.experiments.seeds import seeded_jobs
from bulkhead.experiments.sweep import word
from bulkhead.experiments.traces import with_traces
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.assumed import Assumed, Varied, assumed
from bulkhead.machine.job import Job
from bulkhead.results.experiment import SensitivityRowResult

Run = Callable[[Sequence[tuple[str, Job]]], list[PointAnswer]]

AS_IT_IS = "(as the file has it)"
_GUIDE = "docs/guide/experiments.md, Sensitivity"


def _with_platform_value(job: Job, setting: str) -> Job:
    return {**job, "platform_set": [setting]}


@dataclass(frozen=True)
class AskedHeadline:
    """Input of the analysis: the headline, its jobs with all seeds, the platform, and the parameters to
    vary."""

    name: str  # of the experiment
    headline: Headline
    jobs: list[tuple[str, Job]]
    value: Callable[[Sequence[PointAnswer]], Row]  # the headline's row over all seeds, from results of `jobs`
    changed: Callable[[Job, str], Job]  # a job with another value of a parameter
    platform: str
    parameters: list[Assumed]
    own: frozenset[str]  # keys of those that are not the platform's


def asked(
    experiment: Experiment | Sectioned, share: Fraction, only: Sequence[str], run: Run
) -> AskedHeadline:
    """Prepares the analysis. `only`: keys of parameters. Raises BadExperiment if the experiment has no
    headline."""
    found = _of_sections(experiment) if isinstance(experiment, Sectioned) else _of_points(experiment, run)
    path = platform_path(found.platform)
    platform = load_platform(path)[0] if path is not None else None
    if platform is None:
        raise BadExperiment(
            f"platform '{found.platform}' cannot be read: ./bulkhead platforms {found.platform}"
        )
    own = found.own(share)
    parameters = [*own, *assumed(platform, share)]
    known = [one.key for one in parameters]
    for key in only:
        if key not in known:
            raise BadExperiment(f"--only {key}: {no_such('assumed parameter', key, known)}")
    return AskedHeadline(
        experiment.name,
        found.headline,
        found.jobs,
        found.value,
        found.changed,
        found.platform,
        [one for one in parameters if not only or one.key in only],
        frozenset(one.key for one in own),
    )


@dataclass(frozen=True)
class _Points:
    """What the two kinds of experiments have in common here."""

    headline: Headline
    jobs: list[tuple[str, Job]]
    value: Callable[[Sequence[PointAnswer]], Row]
    platform: str
    changed: Callable[[Job, str], Job] = _with_platform_value
    own: Callable[[Fraction], list[Assumed]] = lambda _: []  # parameters beside those of the platform


def _of_sections(experiment: Sectioned) -> _Points:
    """The headline of the section that has one. Raises BadExperiment."""
    having = [(name, one.headline) for name, one in experiment.sections.items() if one.headline is not None]
    if not having:
        raise BadExperiment(f"no section of '{experiment.name}' states a headline ({_GUIDE})")
    name, headline = having[0]
    way = WAYS[name].headline
    assert way is not None
    point = next(one for one in way.points() if is_at(headline.where, one))
    by_seed = [way.jobs(point, seed) for seed in range(1, (experiment.seeds or 1) + 1)]

    def value(results: Sequence[PointAnswer]) -> Row:
        rows = [[way.row(point, own)] for own in _in_parts(results, len(by_seed))]
        return combined(rows, way.columns)[0]

    jobs = [job for own in by_seed for job in own]
    return _Points(headline, jobs, value, experiment.platform, way.changed, way.assumed)


def _of_points(experiment: Experiment, run: Run) -> _Points:
    """The headline of an experiment of points. Raises BadExperiment."""
    headline = experiment.headline
    if headline is None:
        raise BadExperiment(f"'{experiment.name}' states no headline ({_GUIDE})")
    points = points_of(experiment)
    meant = [one for one in points if is_at(headline.where, one.point)]
    if len(meant) != 1:
        raise BadExperiment(f"headline.where: {len(meant)} points have these values, but exactly one must")
    needed = [*meant, *_related(experiment, points, meant[0])]
    budgets = find_budgets(experiment, needed, run)
    if budgets is not None:
        keys = {one.key for one in needed}
        needed = [one for one in points_of(experiment, (), budgets) if one.key in keys]
    needed, _ = with_traces(needed)
    plain = [(one.key, one.job) for one in needed]
    if experiment.result == "slowdown":
        plain += alone_jobs(needed)

    def value(results: Sequence[PointAnswer]) -> Row:
        rows = [rows_of(experiment, needed, own) for own in _in_parts(results, experiment.seeds)]
        found = combined(rows, with_interval(experiment))
        return next(row for row in found if is_at(headline.where, row))

    jobs = seeded_jobs(plain, experiment.seeds)
    return _Points(headline, jobs, value, platform_of(experiment, meant[0].point))


def _in_parts(results: Sequence[PointAnswer], count: int) -> list[Sequence[PointAnswer]]:
    size = len(results) // count
    return [results[begin : begin + size] for begin in range(0, len(results), size)]


def sensitivity(what: AskedHeadline, run: Run) -> list[SensitivityRowResult]:
    """The headline unchanged, and for both other values of each parameter, sorted by the size of the
    change."""
    variations = [varied for one in what.parameters for varied in (one.low, one.high)]
    refused = {varied.setting: _refusal(what, varied) for varied in variations}
    possible = [None, *(varied for varied in variations if refused[varied.setting] is None)]
    results = run([_varied(what, key, job, varied) for varied in possible for key, job in what.jobs])
    found = {
        varied.setting if varied is not None else "": _headline(what, chunk)
        for varied, chunk in zip(possible, _in_parts(results, len(possible)), strict=True)
    }
    base = found[""]
    rows = [_row(AS_IT_IS, "", "", "", base, base, None)]
    pairs = []
    for one in what.parameters:
        both = [
            _row(
                one.key,
                one.shown,
                varied.other,
                side,
                found.get(varied.setting),
                base,
                refused[varied.setting],
            )
            for side, varied in (("less", one.low), ("more", one.high))
        ]
        pairs.append(both)
    pairs.sort(key=lambda both: -max(abs(row["change_percent"] or 0.0) for row in both))
    return [*rows, *(row for both in pairs for row in both)]


def sheet_of(what: AskedHeadline, share: Fraction) -> Sheet:
    """The sheet with title, plot and text of the result."""
    percent = f"{float(share):.0%}"
    plot = Plot(
        kind="tornado",
        x="parameter",
        y="change_percent",
        x_label="assumed parameter",
        y_label=f"change of the headline, %, for {percent} less and more",
        series=("side",),
    )
    return Sheet(
        name=f"sensitivity-{what.name}",
        title=f"{what.headline.what}, against {percent} less and more of each assumed parameter",
        platform=what.platform,
        plots=(plot,),
        about="A whole number changes by at least one. `refused` says which values are not possible.",
    )


def _related(experiment: Experiment, points: Sequence[PointJob], meant: PointJob) -> list[PointJob]:
    """The point that the headline's point refers to by `relative`. Raises BadExperiment."""
    if experiment.relative is None:
        return []
    wanted = {axis: word(meant.point[axis]) for axis in experiment.sweep}
    wanted |= {key: word(value) for key, value in experiment.relative.to.items()}
    found = [
        one
        for one in points
        if one.key != meant.key and all(word(one.point[key]) == value for key, value in wanted.items())
    ]
    if not found:
        raise BadExperiment("relative.to: no point has these values and those of the headline")
    return found


def _varied(what: AskedHeadline, key: str, job: Job, varied: Varied | None) -> tuple[str, Job]:
    if varied is None:
        return key, job
    return f"{key}-{word(varied.setting)}", what.changed(job, varied.setting)


def _refusal(what: AskedHeadline, varied: Varied) -> str | None:
    """Why the platform cannot have this value; None: it can, or it is no value of the platform."""
    if varied.key in what.own:
        return None
    path = platform_path(what.platform)
    assert path is not None
    changed, _, problems = load_platform(path, overrides=(varied.setting,))
    return None if changed is not None else "; ".join(dict.fromkeys(one.cause for one in problems))


def _headline(what: AskedHeadline, results: Sequence[PointAnswer]) -> Row:
    """The headline over all seeds, with its interval; counts have none."""
    row, y = what.value(results), what.headline.y
    return {"": row[y], LOW: row.get(y + LOW), HIGH: row.get(y + HIGH)}


def _row(
    key: str, value: str, other: str, side: str, found: Row | None, base: Row, refused: str | None
) -> SensitivityRowResult:
    headline = dict.fromkeys(("", LOW, HIGH)) if found is None else found
    change = None if headline[""] is None or not base[""] else (headline[""] / base[""] - 1) * 100
    return {
        "parameter": key,
        "value": value,
        "to": other,
        "side": side,
        "headline": headline[""],
        "headline_low": headline[LOW],
        "headline_high": headline[HIGH],
        "change_percent": change,
        "refused": refused,
    }
