# SPDX-License-Identifier: Apache-2.0
"""Models of an experiment's file, and its points: one job for each.

The files are in experiments/. A value `$name` of a part is replaced by the point's value. Nothing here runs
anything.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from pydantic_core import PydanticCustomError

from bulkhead.config.base import FormatVersion, Model, Name, Text
from bulkhead.config.locate import is_path
from bulkhead.config.problem import nearest_of, no_such
from bulkhead.config.quantity import BYTE_UNITS, parse
from bulkhead.config.source import read_file
from bulkhead.config.validate import locate, validate
from bulkhead.env.files import is_file
from bulkhead.env.paths import experiments_dir
from bulkhead.errors import InvalidInput
from bulkhead.experiments.check import findings_of, findings_of_sections, is_left_out, unmatched_headline
from bulkhead.experiments.limits import MOST_ITERATIONS, MOST_SEEDS
from bulkhead.experiments.partitioned import Change, PartitionChoice, changes_at, labelled, partitions_at
from bulkhead.experiments.parts import REFERENCE, Part, problems_of
from bulkhead.experiments.regulated import RegulationChoice, Search, choice_at, is_at, with_budgets
from bulkhead.experiments.row import Point
from bulkhead.experiments.said import Headline, Published, Relative, Sheet, SheetSection
from bulkhead.experiments.sweep import MAX_POINTS, key_of, plain, values_of, word
from bulkhead.machine.job import Job, JobPart
from bulkhead.machine.point import job_platform
from bulkhead.machine.regulation import BadRegulation, is_limited, unenforceable, without_no_budget
from bulkhead.machine.regulation import problems_of as regulation_problems

SEEDS = 3  # default of a file
_CHOSEN = ("colors", "banks", "bandwidth")  # keys of a part that may apply to some points only
_NOT_IN_JOBS = ("when", "memory", "measured", *(f"{key}_when" for key in _CHOSEN))


class Experiment(Sheet):
    """An experiment whose points are runs of the simulated machine."""

    experiment: FormatVersion
    name: Name
    sweep: dict[str, Any]
    fixed: dict[str, Any] = {}
    differ: tuple[Text, ...] = ()  # points with equal values of two of these keys are left out
    parts: tuple[Part, ...] = Field(min_length=1, max_length=64)
    partitions: tuple[PartitionChoice, ...] = ()  # for MPAM
    changes: tuple[Change, ...] = ()  # of the machine's settings
    result: Literal["walk-times", "slowdown", "phases", "partitions"]
    leave_out: int = Field(
        0, ge=0, le=MOST_ITERATIONS
    )  # first walks or iterations, which are not counted: caches are still cold
    iterations: int = Field(0, ge=0, le=MOST_ITERATIONS)  # counted ones of each workload, for slowdowns
    wait_for: Literal["all", "measured"] = "all"  # parts whose iterations end a point
    seeds: int = Field(SEEDS, ge=1, le=MOST_SEEDS)  # runs of each point (seeds.py)
    relative: Relative | None = None  # adds a column to rows
    headline: Headline | None = None  # the number that `sensitivity` varies
    regulation: tuple[RegulationChoice, ...] = ()  # the first that applies to a point is used
    search: Search | None = None  # of static budgets
    without: tuple[dict[Text, Any], ...] = ()  # points with these values are left out
    quick: dict[Text, Any] = {}  # values that replace others for a run of seconds
    published: tuple[Published, ...] = ()


class Sectioned(Model):
    """An experiment whose sections are measured in different ways (sections.py), each named after its way, or
    are experiments of their own."""

    experiment: FormatVersion
    name: Name
    title: Text
    platform: Text
    sections: dict[Text, SheetSection] = Field(min_length=1)
    seeds: int | None = Field(None, ge=1, le=MOST_SEEDS)  # replaces those of the sections' experiments
    size: Literal["usual", "quick", "full"] = "usual"  # amount of work of the sections

    def sheet(self, section: str) -> Sheet:
        shown = self.sections[section]
        return Sheet(
            name=f"{self.name}-{section}",
            title=shown.title,
            platform=self.platform,
            plots=shown.plots,
            table=shown.table,
            about=shown.about,
        )


class BadExperiment(InvalidInput):
    """The file, or a setting on the command line, is not valid."""


class BadSetting(BadExperiment):
    """The value of `--set` is no setting for any experiment: wrong usage."""


@dataclass(frozen=True)
class PointJob:
    key: str  # name of the file that keeps the result
    point: Point
    job: Job


def experiment_names() -> list[str]:
    return sorted(path.stem for path in experiments_dir().glob("*.yaml"))


def load_experiment(name: str) -> Experiment | Sectioned:
    """An experiment of experiments/, or a user's file. Raises BadExperiment with all problems."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else experiments_dir() / f"{name}.yaml"
    if not is_file(path):
        raise BadExperiment(no_such("experiment", name, experiment_names()))
    source = read_file(path, str(path))
    problems = list(source.problems)
    loaded: Experiment | Sectioned | None = None
    if source.root is not None:
        sectioned = isinstance(source.root.value, dict) and "sections" in source.root.value
        kind: type[Experiment | Sectioned] = Sectioned if sectioned else Experiment
        loaded, _, found = validate(source.root, kind, str(path))
        problems += found
    if loaded is not None:
        loaded = _with_own_platforms(loaded, path.parent)
        if isinstance(loaded, Experiment):
            wrong = findings_of(loaded)
            wrong += () if wrong else unmatched_headline(loaded)
        else:
            wrong = findings_of_sections(loaded)
        problems += [locate(finding, source.root, str(path)) for finding in wrong]
    if problems or loaded is None:
        raise BadExperiment("\n".join(problem.text() for problem in problems))
    return loaded


def _with_own_platforms(loaded: Experiment | Sectioned, beside: Path) -> Experiment | Sectioned:
    """With paths of platform files that are relative to the experiment's file made relative to the current
    directory."""

    def found(platform: Any) -> Any:
        if not isinstance(platform, str) or not is_path(platform) or Path(platform).is_absolute():
            return platform
        made = str(beside / platform)
        return made if is_path(made) else f"./{made}"

    changed: dict[str, Any] = {"platform": found(loaded.platform)}
    for key in ("sweep", "fixed") if isinstance(loaded, Experiment) else ():
        values = getattr(loaded, key)
        if isinstance(given := values.get("platform"), tuple):
            changed[key] = {**values, "platform": tuple(map(found, given))}
        elif given is not None:
            changed[key] = {**values, "platform": found(given)}
    return loaded.model_copy(update=changed)


def points_of(
    experiment: Experiment,
    only: Sequence[str] = (),
    budgets: Callable[[Point], Job] | None = None,
) -> list[PointJob]:
    """All points in the order of the file. `only`: values that a point must have. `budgets`: returns the
    static budgets that the search found for a point (experiments/regulated.py). Raises BadExperiment."""
    axes = {key: values_of(key, value) for key, value in experiment.sweep.items()}
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > MAX_POINTS:
        raise BadExperiment(f"{count} points are too many: at most {MAX_POINTS} are possible")
    wanted = _alternatives(only, {key: [word(value) for value in values] for key, values in axes.items()})
    found = []
    for chosen in itertools.product(*axes.values()):
        point = {
            key: plain(v) for key, v in {**experiment.fixed, **dict(zip(axes, chosen, strict=True))}.items()
        }
        if is_left_out(experiment, point):
            continue
        if all(these & {word(point[key]) for key in axes} for these in wanted):
            key = key_of([point[axis] for axis in axes])
            point = with_budgets(experiment.search, point, budgets)
            found.append(PointJob(key, point, _job(experiment, key, point)))
    if not found:
        given = " ".join(f"--only {one}" for one in only)
        raise BadExperiment(f"{given}: no point has all of these values" if given else "there are no points")
    return found


def _alternatives(only: Sequence[str], axes: Mapping[str, list[str]]) -> list[set[str]]:
    """Sets of values; a point must have a value of each set. A point has one value for each key, so values
    that only one key can have are alternatives."""
    by_key: dict[str, set[str]] = {}
    several: list[set[str]] = []
    for given in only:
        wanted = word(given)
        keys = [key for key, values in axes.items() if wanted in values]
        if not keys:
            known = dict.fromkeys(one for values in axes.values() for one in values)
            words = [one for one in known if not one.isdecimal()]
            numbers = ", or a swept number" if len(words) < len(known) else ""
            near = nearest_of(wanted, words)
            hint = f"; did you mean '{near}'?" if near else ""
            raise BadExperiment(
                f"--only {given}: no point has this value{hint} (known: {', '.join(words)}{numbers})"
            )
        if len(keys) == 1:
            by_key.setdefault(keys[0], set()).add(wanted)
        else:
            several.append({wanted})
    return [*by_key.values(), *several]


def alone_jobs(points: Sequence[PointJob]) -> list[tuple[str, Job]]:
    """Jobs that slowdowns refer to: each workload alone, once, with its key."""
    found = {
        alone_key(part): alone_job(one.job, part)
        for one in points
        for part in one.job["parts"]
        if "workload" in part
    }
    return list(found.items())


def alone_job(job: Job, part: Job) -> Job:
    limits = ("regulation", "iterations_of", "partitions")
    rest = {key: value for key, value in job.items() if key not in limits}
    return {**rest, "parts": [unlimited(part)]}


def unlimited(part: Job) -> Job:
    """The part without limits."""
    limits = ("bandwidth", "criticality", "partition", "start_ps")
    return {key: value for key, value in part.items() if key not in limits}


def alone_key(part: Job) -> str:
    """Key of a part's run alone; it contains a hash of all of the part's keys."""
    digest = hashlib.sha256(json.dumps(unlimited(part), sort_keys=True).encode()).hexdigest()[:8]
    return f"alone-{key_of([part['workload']])}-{digest}"


def measured_part(experiment: Experiment) -> str:
    return next(part.name for part in experiment.parts if part.measured)


def _job(experiment: Experiment, key: str, point: Point) -> Job:
    parts = [_point_part(part, key, point) for part in experiment.parts if _wanted(part, point)]
    more: Job = {}
    if experiment.result == "slowdown":
        waited_for = [
            part
            for part in parts
            if experiment.wait_for == "all" or part["name"] == measured_part(experiment)
        ]
        if experiment.iterations == 0 or not all("workload" in part for part in waited_for):
            raise BadExperiment(
                "slowdowns need `iterations`, and a workload in each part (with `wait_for: measured` in the"
                " measured part)"
            )
        more = {
            "iterations": experiment.iterations,
            "leave_out": experiment.leave_out,
            "from_iterations": True,
        }
        if experiment.wait_for == "measured":
            more["iterations_of"] = [measured_part(experiment)]
    choice = choice_at(experiment.regulation, point)
    if choice is not None:
        given = {name: value for name, value in choice.given().items() if name != "when"}
        more["regulation"] = _filled(given, point)
    partitions = partitions_at(experiment.partitions, point, _filled)
    parts = labelled(parts, partitions)
    if partitions:
        more["partitions"] = partitions
    if changes := changes_at(experiment.changes, point, _filled):
        more["set"] = changes
    if experiment.result == "partitions":
        more["from_part"] = measured_part(experiment)  # traffic is counted while it runs
    if choice is None or not str(more["regulation"]["policy"]).startswith("dynamic"):
        parts = [without_no_budget(part) for part in parts]  # only a dynamic regulator gives such a part one
    made = {"platform": platform_of(experiment, point), "parts": parts, **more}
    wrong = [f"point {key}, {what}" for what in _regulation_problems(made)]
    if wrong:
        raise BadExperiment("\n".join(wrong))
    return made


def _regulation_problems(job: Job) -> list[str]:
    found = regulation_problems(job)
    if found or not is_limited(job):
        return found
    try:
        return unenforceable(job, job_platform(job))
    except BadRegulation as error:
        return [str(error)]


def platform_of(experiment: Experiment, point: Point) -> str:
    """The point's platform if the file sweeps platforms, else the file's."""
    return str(point.get("platform", experiment.platform))


def _wanted(part: Part, point: Point) -> bool:
    return is_at(part.when, point)


def _point_part(part: Part, key: str, point: Point) -> JobPart:
    try:
        made = dict(_part(part, point))
    except PydanticCustomError as error:  # the quantity is not valid
        raise BadExperiment(f"point {key}, part '{part.name}', memory: {error.message()}") from error
    wrong = [f"point {key}, part '{part.name}', {what}" for what in problems_of(made)]
    if wrong:
        raise BadExperiment("\n".join(wrong))
    return made


def _part(part: Part, point: Point) -> Iterator[tuple[str, Any]]:
    for key, value in part.given().items():
        if key == "colors" and not point.get("coloring", True):
            continue
        if key in _CHOSEN and not is_at(getattr(part, f"{key}_when"), point):
            continue
        if key not in _NOT_IN_JOBS:
            yield key, _filled(value, point)
    amount = _filled(part.memory, point)
    yield "memory_bytes", int(parse(amount, BYTE_UNITS, "64 KiB", bare=True))


def _filled(value: Any, point: Point) -> Any:
    if isinstance(value, (list, tuple)):
        return [_filled(item, point) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, point) for key, item in value.items()}
    if not isinstance(value, str):
        return plain(value)
    if value.startswith("$") and value[1:] in point:
        return point[value[1:]]
    return REFERENCE.sub(lambda found: str(point[found[1]]), value)
