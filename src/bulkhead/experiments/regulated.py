# SPDX-License-Identifier: Apache-2.0
"""Keys of an experiment's file about budgets and regulators: the policy of points, the search of static
budgets, and time series to draw.

model.py puts them into jobs; machine/regulation.py defines the values. Nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from bulkhead.config.base import Model, Text
from bulkhead.config.quantity import SHARE_UNITS, BytesPerS, parse, problem
from bulkhead.experiments.parts import Value
from bulkhead.experiments.row import Point
from bulkhead.experiments.sweep import values_of, word
from bulkhead.machine.job import Job

MB = 10**6

RT_BUDGET, NRT_BUDGET = "budget.rt", "budget.nrt"  # values of a point that the search sets


def _margin(value: object) -> object:
    amount = parse(value, SHARE_UNITS, "5 %", bare=False)
    if not 0 < amount <= 10:
        raise problem("out-of-range", f"'{value}' is out of range", "more than 0 % up to 1000 %")
    return amount


class RegulationChoice(Model):
    """`regulation` of a job, at points with these values."""

    when: dict[Text, Any] = {}
    policy: Value
    interval: Value = None
    threshold: Value = None
    step: Value = None
    hold: Value = None
    floor: Value = None
    ceiling: Value = None
    saturation: Value = None
    horizon: Value = None
    delay: Value = None
    cluster_delay: Value = None
    least: Value = None
    samples: Value = None

    def given(self) -> Job:
        return {
            key: getattr(self, key) for key in RegulationChoice.model_fields if key in self.model_fields_set
        }


class Search(Model):
    """A search for the smallest static budget of the measured part that keeps its slowdown alone within a
    bound; the others share the rest of the guaranteed bandwidth."""

    when: dict[Text, Any] = {}
    guaranteed: BytesPerS
    slowdown: Annotated[Fraction, BeforeValidator(_margin)]  # largest slowdown
    step: BytesPerS


class Series(Model):
    """A plot over time with a line for each point that has these values."""

    where: dict[Text, Any]
    y: Literal["utilization", "mb_s", "lines_mb_s", "limit_mb_s", "throttled"]
    y_label: Text
    core: Annotated[int, Field(ge=0, lt=64)] | None = None  # of y; none: the first core with a part
    series: tuple[Text, ...] = ()
    until_ms: Annotated[int, Field(gt=0)] | None = None


def is_at(when: Point, point: Point) -> bool:
    """Whether the point or row has one of the wanted values for each key. Both the wanted value and the row's
    may be lists (a row's `nrt`: the other workloads)."""

    def words(values: list[Any]) -> set[str]:
        return {word(one) for one in values}

    return all(
        words(values_of(key, wanted)) & words(point[key] if isinstance(point[key], list) else [point[key]])
        for key, wanted in when.items()
        if key in point
    )


def rate_text(rate: int) -> str:
    return f"{rate // MB} MB/s" if rate % MB == 0 else f"{rate} B/s"


def choice_at(choices: Sequence[RegulationChoice], point: Point) -> RegulationChoice | None:
    """The first choice that applies to the point."""
    return next((one for one in choices if is_at(one.when, point)), None)


def with_budgets(search: Search | None, point: Point, find: Callable[[Point], Job] | None) -> Point:
    """The point with the budgets that the search found. Before the search has run (`find` is None), they are
    placeholders."""
    if search is None:
        return point
    if not is_at(search.when, point):
        return {**point, RT_BUDGET: None, NRT_BUDGET: None}
    if find is None:
        return {**point, **dict.fromkeys((RT_BUDGET, NRT_BUDGET), rate_text(search.guaranteed))}
    return {**point, **find(point)}
