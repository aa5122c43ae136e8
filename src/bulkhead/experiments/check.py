# SPDX-License-Identifier: Apache-2.0
"""Checks of an experiment that span keys, for example unknown names.

model.py calls these after reading a file and after each `--set`. Values of single points are not checked
here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bulkhead.config.load import load_platform
from bulkhead.config.locate import is_path, platform_names, platform_path
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.program_parameters import ALL_WORKLOADS, parameters_of, parameters_of_workload
from bulkhead.config.quantity import described
from bulkhead.experiments.columns import COUNTED_AGAIN, DRAWN, SEEDS_DRAWN, WORDS, drawn_of, taken_names
from bulkhead.experiments.parts import references
from bulkhead.experiments.regulated import NRT_BUDGET, RT_BUDGET, is_at
from bulkhead.experiments.sweep import MAX_POINTS, BadRange, is_value, plain, values_of, word
from bulkhead.published.figures import figures

if TYPE_CHECKING:
    from bulkhead.experiments.model import Experiment, Sectioned
    from bulkhead.experiments.row import Point
    from bulkhead.experiments.said import Plot, SheetSection
    from bulkhead.experiments.sections import SectionWay

Findings = Iterator[Finding]


def findings_of(experiment: Experiment) -> list[Finding]:
    """Findings about an experiment whose points are runs of the machine."""
    drawn = (*drawn_of(experiment), *SEEDS_DRAWN[experiment.result])
    words = (*_names(experiment), *WORDS[experiment.result])
    return [
        *_platform(experiment),
        *_values(experiment),
        *_taken(experiment),
        *_parts(experiment),
        *_parameters(experiment),
        *_regulation(experiment),
        *_partitions(experiment),
        *_search(experiment),
        *_said(experiment),
        *_plots((), experiment.plots, drawn, words),
        *_lines(experiment),
    ]


def findings_of_sections(what: Sectioned) -> list[Finding]:
    """Findings about an experiment with sections."""
    from bulkhead.experiments.sections import WAYS

    found = []
    platforms = {WAYS[name].platform for name in what.sections if name in WAYS}
    if platforms and platforms != {what.platform}:
        cause = f"{quoted(what.platform)}: sections are measured on one platform alone"
        found.append(Finding(("platform",), "not-on-platform", cause, ", ".join(sorted(platforms))))
    for name, section in what.sections.items():
        if section.experiment is not None:
            found += _of_experiment(name, section)
            continue
        if name not in WAYS:
            found.append(_unknown(("sections", name), "section", name, list(WAYS)))
            continue
        columns = WAYS[name].columns
        found += _plots(("sections", name), section.plots, columns, columns)
        for number, plot in enumerate(section.plots):
            path: KeyPath = ("sections", name, "plots", number, "where")
            found += [
                _unknown((*path, key), "value", key, columns) for key in plot.where if key not in columns
            ]
        found += _section_headline(("sections", name, "headline"), section, WAYS[name])
    for name in [name for name, section in what.sections.items() if section.headline is not None][1:]:
        cause = "another section has a headline, and an experiment has one"
        found.append(Finding(("sections", name, "headline"), "conflict", cause, "one of the two"))
    return found


def _section_headline(path: KeyPath, section: SheetSection, way: SectionWay) -> Findings:
    if section.headline is None:
        return
    if way.headline is None:
        yield Finding(path, "not-supported", "a section of this kind has no headline", "no `headline`")
        return
    if section.headline.y not in way.headline.columns:
        yield _unknown((*path, "y"), "result", section.headline.y, way.headline.columns)
    meant = [point for point in way.headline.points() if is_at(section.headline.where, point)]
    if len(meant) != 1:
        cause = f"{len(meant)} points have these values, but exactly one must"
        yield Finding((*path, "where"), "not-one", cause, "values of one point")


def _of_experiment(name: str, section: SheetSection) -> Findings:
    """Checks a section that is an experiment of its own, whose file has the plots."""
    from bulkhead.experiments.model import experiment_names

    if section.experiment not in experiment_names():
        path: KeyPath = ("sections", name, "experiment")
        yield _unknown(path, "experiment", section.experiment, experiment_names())
    if section.plots:
        yield Finding(("sections", name, "plots"), "conflict", "these are those of its experiment")


def _platform(experiment: Experiment) -> Findings:
    yield from _one_platform(("platform",), experiment.platform)
    for where, values in (("sweep", experiment.sweep), ("fixed", experiment.fixed)):
        for name in values_of("platform", values["platform"]) if "platform" in values else ():
            yield from _one_platform((where, "platform"), name)


def _one_platform(key: KeyPath, name: Any) -> Findings:
    """Checks that a platform can be loaded. Those of the tool can."""
    path = platform_path(name) if isinstance(name, str) else None
    if path is None:
        yield _unknown(key, "platform", name, [*platform_names(), "a path"])
    elif is_path(name):
        for problem in load_platform(path)[2]:
            yield Finding(key, problem.code, f"platform file {quoted(name)}: {problem.text()}")


def _values(experiment: Experiment) -> Findings:
    for key, given in experiment.sweep.items():
        path: KeyPath = ("sweep", key)
        try:
            values = values_of(key, given)
        except BadRange as error:
            yield Finding(path, "out-of-range", str(error), "low..high..step")
            continue
        if not values:
            yield Finding(
                path, "missing-value", "has no values, so there would be no point to run", "one or more"
            )
        for value in values:
            if not is_value(value):
                yield Finding(path, "wrong-type", f"has a value that is {described(value)}", "words, numbers")
        if key in experiment.fixed:
            yield Finding(("fixed", key), "conflict", "is swept, too", "one of the two")
    for key, value in experiment.fixed.items():
        if not is_value(value):
            yield Finding(("fixed", key), "wrong-type", f"is {described(value)}", "a word, a number")
    known = _own_names(experiment)  # the search's values are not known yet where points are left out
    for number, name in enumerate(experiment.differ):
        if name not in known:
            yield _unknown(("differ", number), "value", name, known)


def _taken(experiment: Experiment) -> Findings:
    """Names of values that are columns of the results, too."""
    taken = taken_names(experiment)
    for where, values in (("sweep", experiment.sweep), ("fixed", experiment.fixed)):
        for key in values:
            counted = key == COUNTED_AGAIN and (where == "fixed" or experiment.leave_out == 0)
            if key in taken and not counted:
                yield Finding((where, key), "bad-name", f"{quoted(key)} is {taken[key]}", "another name")


def _parts(experiment: Experiment) -> Findings:
    known = _names(experiment)
    for number, part in enumerate(experiment.parts):
        for key, value in part.given().items():
            path: KeyPath = ("parts", number, key)
            if key.endswith("when"):
                for name in value:
                    if name not in known:
                        yield _unknown((*path, name), "value", name, known)
                continue
            for name in dict.fromkeys(references(value)):
                if name not in known:
                    yield _unknown(path, "value", f"${name}", [f"${one}" for one in known])
        if part.name in [other.name for other in experiment.parts[:number]]:
            yield Finding(
                ("parts", number, "name"),
                "duplicate-name",
                f"{quoted(part.name)} is the name of another part",
            )
        if part.measured and part.when:
            yield Finding(("parts", number, "when"), "conflict", "the measured part must be in every point")
    measured = sum(part.measured for part in experiment.parts)
    if measured != 1:
        cause = f"{measured or 'no'} part{'s' if measured != 1 else ''} with `measured: true`"
        yield Finding(("parts",), "conflict", cause, "exactly one")


def _parameters(experiment: Experiment) -> Findings:
    """Parameters that a part's workload does not read. Where the workload is a value of the point, which
    `--set` may replace, each uses those of `params` that it has, so any workload's are right."""
    for number, part in enumerate(experiment.parts):
        named = part.workload if isinstance(part.workload, str) else ""
        of_point = any(references(named))
        known = parameters_of(ALL_WORKLOADS) if of_point else parameters_of_workload(named)
        if known is None:
            continue  # there is no such workload, which is an error of the point
        for name in part.params:
            if name not in known:
                reader = "no workload reads a" if of_point else f"{quoted(named)} reads no"
                cause = f"{reader} parameter {quoted(name)}"
                path: KeyPath = ("parts", number, "params", name)
                yield Finding(path, "unknown-name", cause, ", ".join(known), nearest_of(name, known))


def _regulation(experiment: Experiment) -> Findings:
    """Checks names in regulation, and in keys that select points."""
    known = _names(experiment)
    for number, choice in enumerate(experiment.regulation):
        for key, value in choice.given().items():
            names = choice.when if key == "when" else dict.fromkeys(references(value))
            for name in names:
                if name not in known:
                    yield _unknown(("regulation", number, key), "value", name, known)
    chosen = [("search", experiment.search.when)] if experiment.search is not None else []
    chosen += [(f"without[{number}]", these) for number, these in enumerate(experiment.without)]
    chosen += [(f"plots[{number}].where", plot.where) for number, plot in enumerate(experiment.plots)]
    chosen += [(f"published[{number}].where", one.where) for number, one in enumerate(experiment.published)]
    if experiment.table is not None:
        chosen.append(("table.where", experiment.table.where))
    chosen += [(f"changes[{number}].when", one.when) for number, one in enumerate(experiment.changes)]
    if experiment.relative is not None:
        chosen.append(("relative.to", experiment.relative.to))
    if experiment.headline is not None:
        chosen.append(("headline.where", experiment.headline.where))
    chosen += [(f"series[{number}].where", timed.where) for number, timed in enumerate(experiment.series)]
    for where, values in chosen:
        for name in values:
            if name not in known:
                yield _unknown((where,), "value", name, known)


def _partitions(experiment: Experiment) -> Findings:
    known = _names(experiment)
    for number, partition in enumerate(experiment.partitions):
        for key in ("when", "llc", "bandwidth"):
            value = getattr(partition, key)
            for name in value if key == "when" else dict.fromkeys(references(value)):
                if name not in known:
                    yield _unknown(("partitions", number, key), "value", name, known)
    named = {one.name for one in experiment.partitions}
    for number, part in enumerate(experiment.parts):
        if part.partition is not None and part.partition not in named:
            yield _unknown(("parts", number, "partition"), "partition", part.partition, sorted(named))


def _search(experiment: Experiment) -> Findings:
    measured = next((part for part in experiment.parts if part.measured), None)
    if experiment.search is None or measured is None:
        return
    if experiment.result != "slowdown" or measured.workload is None:
        cause = "needs `result: slowdown`, and a `workload` in the measured part"
        yield Finding(("search",), "conflict", cause, "no `search`")


def unmatched_headline(experiment: Experiment) -> Findings:
    """A headline that no point of the file has. `--set` may leave its point out, so this is not checked
    again."""
    if experiment.headline is None:
        return
    where, given = experiment.headline.where, {**experiment.fixed, **experiment.sweep}
    try:
        axes = {key: [plain(one) for one in values_of(key, value)] for key, value in given.items()}
    except BadRange:
        return  # reported where the value is
    fitting = {key: [one for one in values if is_at(where, {key: one})] for key, values in axes.items()}
    for key, values in fitting.items():
        if not values and axes[key]:
            cause = f"no point has this value of {quoted(key)}"
            yield Finding(("headline", "where", key), "not-one", cause, _listed(axes[key]))
            return
    if math.prod(map(len, fitting.values())) > MAX_POINTS:
        return  # so are the file's points, which is reported when they are made
    points = (dict(zip(axes, chosen, strict=True)) for chosen in itertools.product(*fitting.values()))
    if all(is_left_out(experiment, point) for point in points):
        cause = "the points with these values are left out by `differ` or `without`"
        yield Finding(("headline", "where"), "not-one", cause, "values of a point")


def _listed(values: Sequence[Any], most: int = 20) -> str:
    more = ", ..." if len(values) > most else ""
    return ", ".join(word(one) for one in values[:most]) + more


def is_left_out(experiment: Experiment, point: Point) -> bool:
    """Whether the file leaves out this combination of values."""
    differing = [point[key] for key in experiment.differ if key in point]
    return len(set(differing)) < len(differing) or any(is_at(these, point) for these in experiment.without)


def _said(experiment: Experiment) -> Findings:
    """Checks names in what the file shows of its rows."""
    drawn = drawn_of(experiment)
    if experiment.relative is not None and experiment.relative.y not in DRAWN[experiment.result]:
        yield _unknown(("relative", "y"), "result", experiment.relative.y, DRAWN[experiment.result])
    if experiment.table is not None:
        words = (*_names(experiment), *SEEDS_DRAWN[experiment.result], *WORDS[experiment.result])
        for number, name in enumerate(experiment.table.columns):
            if name not in drawn and name not in words:
                yield _unknown(("table", "columns", number), "column", name, (*words, *drawn))
    if experiment.headline is not None and experiment.headline.y not in drawn:
        yield _unknown(("headline", "y"), "result", experiment.headline.y, drawn)
    names = _names(experiment)
    for number, timed in enumerate(experiment.series):
        for place, name in enumerate(timed.series):
            if name not in names:
                yield _unknown(("series", number, "series", place), "value", name, names)
    known = figures()
    for number, one in enumerate(experiment.published):
        if one.figure not in known:
            yield _unknown(("published", number, "figure"), "figure", one.figure, list(known))


def _plots(at: KeyPath, plots: Sequence[Plot], drawn: Sequence[str], words: Sequence[str]) -> Findings:
    """Checks plots. `drawn`: numeric columns; `words`: columns that distinguish rows."""
    for number, plot in enumerate(plots):
        path: KeyPath = (*at, "plots", number)
        if plot.y not in drawn:
            yield _unknown((*path, "y"), "result", plot.y, drawn)
        if plot.x not in words and (plot.kind != "lines" or plot.x not in drawn):
            yield _unknown((*path, "x"), "value", plot.x, words)
        for place, name in enumerate(plot.series):
            if name not in words:
                yield _unknown((*path, "series", place), "value", name, words)
        if plot.scale <= 0:
            yield Finding(
                (*path, "scale"),
                "out-of-range",
                "is not a possible divisor of the plot's values",
                "more than 0",
            )


def _lines(experiment: Experiment) -> Findings:
    """Checks that lines are over numbers, or over words."""
    given = {**experiment.fixed, **experiment.sweep}
    for number, plot in enumerate(experiment.plots):
        if plot.kind != "lines" or plot.x not in given:
            continue
        try:
            values = [plain(one) for one in values_of(plot.x, given[plot.x]) if is_value(one)]
        except BadRange:
            continue  # reported where the value is
        drawn = [one for one in values if is_at(plot.where, {plot.x: one})]
        if not any(all(isinstance(one, kind) for one in drawn) for kind in ((int, float), str)):
            cause = f"the values of {quoted(plot.x)} are not all numbers or all words, so they have no order"
            yield Finding(("plots", number, "x"), "wrong-type", cause, "`kind: bars`, or a `where`")


def _names(experiment: Experiment) -> list[str]:
    """Names of all of a point's values."""
    found = [RT_BUDGET, NRT_BUDGET] if experiment.search is not None else []
    return [*_own_names(experiment), *found]


def _own_names(experiment: Experiment) -> list[str]:
    """Names of the values that the file gives."""
    return [*experiment.sweep, *(key for key in experiment.fixed if key not in experiment.sweep)]


def _unknown(path: KeyPath, what: str, name: Any, known: Sequence[str]) -> Finding:
    cause = f"there is no {what} {quoted(str(name))}"
    return Finding(path, "unknown-name", cause, ", ".join(known), nearest_of(str(name), known))
