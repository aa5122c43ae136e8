# SPDX-License-Identifier: Apache-2.0
"""What an experiment's file says, and the points that it makes: one job for each.

The files are in experiments/. A value `$name` of a part is that of the point; nothing here runs anything.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from ruamel.yaml import YAML

from bulkhead.config.base import FormatVersion, Model, Name, Text
from bulkhead.config.load import validate
from bulkhead.config.locate import data_root
from bulkhead.config.problem import nearest_of
from bulkhead.config.quantity import BYTE_UNITS, Empty, parse
from bulkhead.config.source import read_file

Value = int | str | bool
Point = dict[str, Any]
Job = dict[str, Any]

MAX_POINTS = 100_000
_RANGE = re.compile(r"(\d+)\.\.(\d+)(?:\.\.(\d+))?", re.ASCII)
_JOB_KEYS = ("when", "memory", "measured")


class Plot(Model):
    kind: Literal["lines", "bars"] = "lines"  # bars: x is a word
    x: Text
    y: Text
    x_label: Text
    y_label: Text
    series: tuple[Text, ...] = ()
    log: bool = False
    scale: float = 1.0  # what y is divided by


class Experiment(Model):
    experiment: FormatVersion
    name: Name
    title: Text
    platform: Text
    sweep: dict[str, Any]
    fixed: dict[str, Any] = {}
    differ: tuple[Text, ...] = ()  # no point has the same value for two of these
    parts: tuple[dict[str, Any], ...] = Field(min_length=1)
    result: Literal["walk-times", "slowdown"]
    leave_out: int = 0  # first walks or iterations that are not counted: caches are still cold
    iterations: int = Field(0, ge=0)  # of each workload that count; needed for slowdowns
    plots: tuple[Plot, ...] = ()
    about: Text = "-"


class BadExperiment(ValueError):
    """The file, or what was set on the command line, does not make sense."""


@dataclass(frozen=True)
class PointJob:
    key: str  # of the file that keeps the result
    point: Point
    job: Job


def experiment_names() -> list[str]:
    return sorted(path.stem for path in (data_root() / "experiments").glob("*.yaml"))


def load_experiment(name: str) -> Experiment:
    """One of experiments/, or a file of the user's. Raises BadExperiment with all that is wrong."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else data_root() / "experiments" / f"{name}.yaml"
    if not path.is_file():
        near = nearest_of(name, experiment_names())
        hint = f"; did you mean '{near}'?" if near else ""
        raise BadExperiment(f"there is no experiment '{name}'{hint} (known: {', '.join(experiment_names())})")
    source = read_file(path, str(path))
    problems = list(source.problems)
    loaded = None
    if source.root is not None:
        loaded, _, found = validate(source.root, Experiment, str(path))
        problems += found
    if problems or loaded is None:
        raise BadExperiment("\n".join(problem.text() for problem in problems))
    return loaded


def with_settings(experiment: Experiment, settings: Sequence[str]) -> Experiment:
    """`--set key=value`: a swept or fixed value, or the platform; ranges as `8..512..8`."""
    sweep, fixed = dict(experiment.sweep), dict(experiment.fixed)
    changed: dict[str, Any] = {}
    for setting in settings:
        key, separator, text = setting.partition("=")
        value = YAML(typ="safe", pure=True).load(text) if separator else None
        if not separator:
            raise BadExperiment(f"--set {setting}: KEY=VALUE is needed")
        if key in sweep:
            sweep[key] = value
        elif key in fixed:
            fixed[key] = value
        elif key in ("platform", "leave_out", "iterations"):
            changed[key] = value
        else:
            known = [*sweep, *fixed, "platform", "leave_out", "iterations"]
            near = nearest_of(key, known)
            hint = f"; did you mean '{near}'?" if near else ""
            raise BadExperiment(f"--set {key}: the experiment has no such value{hint} ({', '.join(known)})")
    return experiment.model_copy(update={"sweep": sweep, "fixed": fixed, **changed})


def points_of(experiment: Experiment, only: Sequence[str] = ()) -> list[PointJob]:
    """All points in the order of the file. `only`: those that have each of these values somewhere."""
    axes = {key: values_of(key, value) for key, value in experiment.sweep.items()}
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > MAX_POINTS:
        raise BadExperiment(f"{count} points: at most {MAX_POINTS} are possible")
    known = list(dict.fromkeys(_word(value) for values in axes.values() for value in values))
    for word in only:
        if word not in known:
            words = [one for one in known if not one.isdecimal()]
            numbers = ", or a swept number" if len(words) < len(known) else ""
            raise BadExperiment(
                f"--only {word}: no point has this value (known: {', '.join(words)}{numbers})"
            )
    found = []
    for chosen in itertools.product(*axes.values()):
        point = {
            key: _value(v) for key, v in {**experiment.fixed, **dict(zip(axes, chosen, strict=True))}.items()
        }
        differing = [point[key] for key in experiment.differ]
        if len(set(differing)) < len(differing):
            continue
        if all(word in {_word(point[key]) for key in axes} for word in only):
            key = "-".join(_word(point[axis]) for axis in axes)
            found.append(PointJob(key, point, _job(experiment, point)))
    return found


def values_of(key: str, given: Any) -> list[Any]:
    """A list, one value, or a range `low..high..step`, its ends included."""
    if isinstance(given, (list, tuple)):
        return list(given)
    match = _RANGE.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        return [given]
    low, high, step = int(match[1]), int(match[2]), int(match[3] or 1)
    if step == 0 or high < low or (high - low) // step >= MAX_POINTS:
        raise BadExperiment(f"{key}: '{given}' is no range low..high..step")
    return list(range(low, high + 1, step))


def alone_jobs(points: Sequence[PointJob]) -> list[tuple[str, Job]]:
    """What slowdowns are in relation to: each part by itself, once, with its key."""
    found = {alone_key(part): alone_job(one.job, part) for one in points for part in one.job["parts"]}
    return list(found.items())


def alone_job(job: Job, part: Job) -> Job:
    return {**job, "parts": [part]}


def alone_key(part: Job) -> str:
    """Of one part's run by itself; all that the part says is in it."""
    digest = hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:8]
    return f"alone-{_word(part['workload'])}-{digest}"


def measured_part(experiment: Experiment) -> str:
    return next(str(part["name"]) for part in experiment.parts if part.get("measured"))


def _job(experiment: Experiment, point: Point) -> Job:
    parts = [dict(_part(part, point)) for part in experiment.parts if _wanted(part, point)]
    if experiment.result == "slowdown":
        if experiment.iterations == 0 or not all("workload" in part for part in parts):
            raise BadExperiment("slowdowns need iterations, and a workload in each part")
        more = {"iterations": experiment.iterations, "leave_out": experiment.leave_out}
    else:
        more = {}
    return {"platform": experiment.platform, "parts": parts, **more}


def _wanted(part: dict[str, Any], point: Point) -> bool:
    return all(point.get(key) == value for key, value in part.get("when", {}).items())


def _part(part: dict[str, Any], point: Point) -> Iterator[tuple[str, Any]]:
    for key, value in part.items():
        if key == "colors" and not point.get("coloring", True):
            continue
        if key not in _JOB_KEYS:
            yield key, _filled(value, point)
    if "memory" in part:
        yield "memory_bytes", int(parse(_filled(part["memory"], point), BYTE_UNITS, "64 KiB", bare=True))


def _filled(value: Any, point: Point) -> Any:
    if isinstance(value, (list, tuple)):
        return [_filled(item, point) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, point) for key, item in value.items()}
    if isinstance(value, Decimal):
        return float(value)
    if not isinstance(value, str):
        return value
    if value.startswith("$") and value[1:] in point:
        return point[value[1:]]
    return re.sub(r"\$(\w+)", lambda found: str(point[found[1]]), value)


def _value(value: Any) -> Any:
    """As results have it: a number that has a point in the file, a key without a value."""
    return None if isinstance(value, Empty) else float(value) if isinstance(value, Decimal) else value


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return re.sub(r"[^A-Za-z0-9_.]+", "_", str(value))
