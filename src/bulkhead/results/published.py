# SPDX-License-Identifier: Apache-2.0
"""Result of `published`."""

from __future__ import annotations

from typing import Literal, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope


@with_config(CLOSED)
class MeasuredHowResult(TypedDict):
    """How a number was measured."""

    statistic: str
    """Statistic: `mean`, `max` …"""
    way: str
    """`one way`, `round trip`, `both directions`; `-`: does not apply."""
    per: str
    """Unit of work that it is of, as `line`; `-`: does not apply."""
    input: str
    """Its data: how many, how large, in which memory; `-`: it has none, or it is the same for all."""
    by: str
    """Program or tool that measured it."""


@with_config(CLOSED)
class FigureResult(TypedDict):
    """A published figure, a value or a range, and ours."""

    id: str
    """Name of the figure."""
    board: str
    """The board: a platform."""
    what: str
    """What was measured."""
    value: NotRequired[float]
    """The published value, if it is a single one."""
    low: NotRequired[float]
    """Lower end of the published range, if it is a range."""
    high: NotRequired[float]
    """Upper end of the published range, if it is a range."""
    unit: str
    """Its unit."""
    source: str
    """Document that it is from."""
    measured: MeasuredHowResult
    """How it was measured."""
    used: str
    """What it is used for: `fitted`, `compared`, `follows` (from another figure), `admission` or `-`."""
    ours: float | None
    """Our number; null: there is none."""
    ours_low: float | None
    """Lower end of its interval over seeds; null: there is none."""
    ours_high: float | None
    """Upper end of its interval over seeds; null: there is none."""
    ours_from: str
    """Where ours is from; without one, what would make one."""
    ours_measured: MeasuredHowResult
    """How ours was measured."""
    measured_alike: bool
    """Both are the same statistic of the same quantity, of the same input."""
    differences: list[Literal["statistic", "way", "per", "input"]]
    """What they differ in; empty if they are measured alike."""
    error: float | None
    """Relative error of ours; null if there is none."""


@with_config(CLOSED)
class PublishedResult(Envelope):
    """Published figures beside ours."""

    figures: list[FigureResult]
    """The figures."""
