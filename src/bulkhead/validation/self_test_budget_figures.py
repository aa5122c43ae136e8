# SPDX-License-Identifier: Apache-2.0
"""What a board's self-tests of budgets and of the memory's utilization measured, beside the platform file.

The smallest period and budget are found as `bulkhead limits` finds them: the last one that holds before the
first one that does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bulkhead.config.platform import Platform
from bulkhead.validation.self_test import (
    BudgetSelfTest,
    PathTime,
    TriedBudget,
    UtilizationSelfTest,
)
from bulkhead.validation.self_test_figures import MeasuredFigure

NS_PER_US = 1000


def budget_figures_of(test: BudgetSelfTest, platform: Platform) -> Iterator[MeasuredFigure]:
    yield MeasuredFigure("cores", "", test.cores.count, platform.cores.count, "cores.count")
    stated = platform.memory_budget
    period, budget = smallest(test.periods), smallest(test.budgets)
    yield MeasuredFigure(
        "shortest period that is enforced",
        "us",
        None if period is None else period.period / NS_PER_US,
        None if stated is None else stated.shortest_period / NS_PER_US,
        None if stated is None else "memory_budget.shortest_period",
        None if stated is None or period is None else f"{period.period} ns",
    )
    yield MeasuredFigure(
        "smallest budget that is enforced",
        "events",
        None if budget is None else budget.events,
        None if stated is None else stated.smallest_budget,
        None if stated is None else "memory_budget.smallest_budget",
        None if stated is None or budget is None else f"{budget.events}",
    )
    for what, time in (
        ("interrupt of a period", test.interruptions.period),
        ("interrupt of an overflow", test.interruptions.overflow),
    ):
        yield from _times(what, time)


def smallest(tried: Sequence[TriedBudget]) -> TriedBudget | None:
    """The last one that holds before the first one that does not; values become smaller."""
    found = None
    for one in tried:
        if not one.held:
            break
        found = one
    return found


def _times(what: str, time: PathTime | None) -> Iterator[MeasuredFigure]:
    yield MeasuredFigure(f"{what}, median", "ns", None if time is None else time.median)
    yield MeasuredFigure(f"{what}, longest", "ns", None if time is None else time.max)


def utilization_figures_of(test: UtilizationSelfTest, platform: Platform) -> Iterator[MeasuredFigure]:
    yield MeasuredFigure("cores", "", test.cores.count, platform.cores.count, "cores.count")
    for one in test.utilization:
        cores = "one core" if one.cores == 1 else f"{one.cores} cores"
        yield MeasuredFigure(f"{cores}: {one.pattern}", "MB/s", one.mb_s)
        yield MeasuredFigure(f"{cores}: {one.pattern}, memory busy", "%", one.busy_percent)
