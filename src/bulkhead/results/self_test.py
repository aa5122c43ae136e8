# SPDX-License-Identifier: Apache-2.0
"""Result of `self-test`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope


@with_config(CLOSED)
class MeasuredFigureResult(TypedDict):
    """A figure that a board's self-test measured."""

    figure: str
    """What was measured."""
    unit: str
    """Its unit; empty: a number."""
    measured: float | None
    """Measured value; null: the measurement does not show it."""
    stated: float | None
    """Value in the platform file; null: it states none."""
    ratio: float | None
    """Measured divided by stated; null if there is no such ratio."""
    key: str | None
    """Key of the platform file; null: it has no key for this figure."""
    value: str | None
    """Value for the platform file, as `--write` writes it; null: none is written."""


@with_config(CLOSED)
class SelfTestResult(Envelope):
    """Figures of a board's self-test beside those of its platform file."""

    log: str
    """The console log."""
    figures: list[MeasuredFigureResult]
    """The figures."""
    written: str | None
    """File with lines for the platform file; null without `--write`."""
    consequences: list[str]
    """Problems of other keys of the platform file if it had these lines."""
