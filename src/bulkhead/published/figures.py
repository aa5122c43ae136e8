# SPDX-License-Identifier: Apache-2.0
"""The figures of published/figures.yaml: what was measured on a board, how, and which figure of ours is
compared.

Experiments name the figures by id, and the command `published` shows all of them. A figure that is in a
platform's file (a fact of its calibration, costs of a packet's path) is taken from there, so that it is
written once. The points with which the machine is validated are in validation/*.yaml (validation/model.py).
Nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from bulkhead.config.base import FormatVersion, Model, Name, Text
from bulkhead.config.load import load_platform
from bulkhead.config.locate import platform_path
from bulkhead.config.platform import Platform
from bulkhead.config.problem import no_such
from bulkhead.config.quantity import problem
from bulkhead.config.source import read_file
from bulkhead.config.timing import Fact, Ratio
from bulkhead.config.validate import validate
from bulkhead.env.paths import published_file
from bulkhead.errors import InvalidInput
from bulkhead.results.published import MeasuredHowResult

STATISTICS = ("min", "avg", "max", "median")  # parts of a packet's path, in the order of the table of costs

# Keys of How that decide whether two numbers are comparable.
Compared = Literal["statistic", "way", "per", "input"]
COMPARED: tuple[Compared, ...] = get_args(Compared)

Statistic = Literal["min", "mean", "median", "max", "slope", "least that works", "not stated"]
Way = Literal["one way", "round trip", "both directions", "-"]
Use = Literal["fitted", "compared", "follows", "admission", "-"]  # `follows`: from another figure
Per = Literal["line", "word", "access", "chunk", "part", "period", "program", "interval", "instruction", "-"]


class BadFigures(InvalidInput):
    """The file of figures is not valid."""


class How(Model):
    """How a number was measured: two numbers that differ in one of these are different quantities."""

    statistic: Statistic
    way: Way = "-"
    per: Per = "-"
    input: Text = "-"  # its data: how many, how large, in which memory; for ours only if it differs
    by: Text  # the program, the tool

    def shown(self) -> MeasuredHowResult:
        return {
            "statistic": self.statistic,
            "way": self.way,
            "per": self.per,
            "input": self.input,
            "by": self.by,
        }


class FigureRow(Model):
    """The row and column of an experiment's table that is our figure."""

    name: Name
    section: Text = ""
    where: dict[Text, Any]
    y: Text


class Ours(Model):
    """Source of our number: exactly one of these."""

    fact: Text | None = None  # of the board's calibration
    experiment: FigureRow | None = None
    missing: Text | None = None  # why we have none
    how: How | None = None  # if none: as the published one

    @model_validator(mode="after")
    def _one(self) -> Ours:
        if sum(one is not None for one in (self.fact, self.experiment, self.missing)) != 1:
            raise problem("conflict", "needs exactly one of fact, experiment, missing")
        return self


class Entry(Model):
    """An entry as in the file."""

    id: Text
    board: Name  # a platform
    what: Text
    value: Ratio | None = None  # or
    low: Ratio | None = None  # a range; neither if `ours` is a fact: then the value is in the platform's file
    high: Ratio | None = None
    unit: Text | None = None
    source: Text | None = None
    measured: How
    ours: Ours
    used: Use | None = None  # none: `compared`; if `ours` is a fact: its marks in the platform's file say it


class Path(Model):
    """Parts of a packet's path: `published` is a platform with the published costs, `ours` one with ours."""

    published: Name
    ours: Name
    measured: How
    how: How


class FiguresFile(Model):
    published: FormatVersion
    figures: tuple[Entry, ...] = Field(min_length=1)
    paths: tuple[Path, ...] = ()


class Figure(Model):
    """One figure, complete."""

    id: Text
    board: Text
    what: Text
    value: float | None
    low: float | None
    high: float | None
    unit: Text
    source: Text
    measured: How
    ours: Ours
    used: Text
    given: Annotated[float | None, Field()] = None  # our value, if a file has it

    def text(self) -> str:
        """Value and unit."""
        amount = f"{self.value:g}" if self.value is not None else f"{self.low:g} to {self.high:g}"
        return f"{amount} {self.unit}"

    def error(self, ours: float) -> float | None:
        """Relative error: for a range, relative to its nearer end."""
        low, high = self.low or self.value, self.high or self.value
        if low is None or high is None:
            return None
        nearest = min(max(ours, low), high)
        return (ours - nearest) / nearest

    @property
    def differences(self) -> list[Compared]:
        """What makes ours another quantity, regardless of the program."""
        how = self.ours.how
        if how is None:
            return []
        return [key for key in COMPARED if getattr(how, key) != getattr(self.measured, key)]


@cache
def figures() -> dict[str, Figure]:
    """All figures, by id, in the order of the file. Raises BadFigures with all problems."""
    path = published_file()
    source = read_file(path, str(path))
    problems = [one.text() for one in source.problems]
    file: FiguresFile | None = None
    if source.root is not None:
        file, _, found = validate(source.root, FiguresFile, str(path))
        problems += [one.text() for one in found]
    if problems or file is None:
        raise BadFigures("\n".join(problems))
    made = [*map(_complete, file.figures), *(one for path_of in file.paths for one in _of_path(path_of))]
    by_id = {one.id: one for one in made}
    if len(by_id) < len(made):
        twice = next(one.id for one in made if sum(other.id == one.id for other in made) > 1)
        raise BadFigures(f"{path}: '{twice}' is the id of two figures")
    return by_id


def chosen_figures(names: Sequence[str], others: Collection[str] = ()) -> list[Figure]:
    """Figures with these ids or of these boards; all figures if there are no names. `others`: names of
    figures that are not in the file. Raises BadFigures."""
    known = figures()
    boards = dict.fromkeys(one.board for one in known.values())
    for name in names:
        if name not in known and name not in boards and name not in others:
            raise BadFigures(no_such("board or figure", name, [*boards, *known, *others]))
    return [one for one in known.values() if not names or one.id in names or one.board in names]


def fact_of(platform: str, name: str) -> Fact:
    """Raises BadFigures."""
    facts = {fact.fact: fact for fact in board(platform).calibration}
    if name not in facts:
        raise BadFigures(f"{platform}: {no_such('fact', name, list(facts))}")
    return facts[name]


@cache
def board(name: str) -> Platform:
    """Raises BadFigures."""
    path = platform_path(name)
    loaded = load_platform(path)[0] if path is not None else None
    if loaded is None:
        raise BadFigures(f"{published_file()}: there is no platform '{name}'")
    return loaded


def _complete(entry: Entry) -> Figure:
    values = (entry.value, entry.low, entry.high)
    unit, source, given = entry.unit, entry.source, None
    used = entry.used or "compared"
    if entry.ours.fact is not None:
        fact = fact_of(entry.board, entry.ours.fact)
        if any(one is not None for one in values) or unit is not None:
            raise BadFigures(f"{entry.id}: value and unit are those of the fact '{fact.fact}'")
        values, unit = (fact.target, fact.low, fact.high), fact.unit
        if entry.used is not None:
            raise BadFigures(f"{entry.id}: `used` is what the fact '{fact.fact}' is marked as")
        source, given, used = source or fact.source, fact.measured, use_of(fact)
    if unit is None or source is None or not any(one is not None for one in values):
        raise BadFigures(f"{entry.id}: a figure has a value or a range, a unit and a source")
    return Figure(
        id=entry.id,
        board=entry.board,
        what=entry.what,
        **dict(zip(("value", "low", "high"), map(_float, values), strict=True)),
        unit=unit,
        source=source,
        measured=entry.measured,
        ours=entry.ours,
        used=used,
        given=_float(given),
    )


def use_of(fact: Fact) -> Use:
    """What the project does with a fact, by its marks in the platform's file. One that follows from another
    confirms nothing, whatever it is compared with."""
    if fact.follows is not None:
        return "follows"
    return "compared" if fact.compared else "fitted"


def _of_path(path: Path) -> Iterator[Figure]:
    """Each statistic of each part."""
    theirs, ours = board(path.published).flow_costs, board(path.ours).flow_costs
    assert theirs is not None
    assert ours is not None
    own = ours.parts()
    for name, part in theirs.parts().items():
        for key in STATISTICS:
            value = getattr(part, key)
            if value is None or (value == 0 and part.max == 0):  # not in the published table
                continue
            statistic = {"avg": "mean"}.get(key, key)
            yield Figure(
                id=f"{path.ours}-path-{name}-{key}",
                board=path.ours,
                what=f"{name.replace('_', ' ')}, part of a packet's path",
                value=float(value),
                low=None,
                high=None,
                unit="ns",
                source=theirs.source or "-",
                measured=path.measured.model_copy(update={"statistic": statistic}),
                ours=Ours(
                    missing="in the platform's file", how=path.how.model_copy(update={"statistic": statistic})
                ),
                used="compared",
                given=float(getattr(own[name], key)) if name in own else None,
            )


def _float(value: Any) -> float | None:
    return None if value is None else float(Decimal(value) if isinstance(value, Decimal) else value)
