# SPDX-License-Identifier: Apache-2.0
"""A published figure with our value for it. experiments/published.py and validation/published.py make them;
the command `published` shows them."""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.published.figures import Figure
from bulkhead.results.published import FigureResult


@dataclass(frozen=True)
class FigureBeside:
    """A figure and our value for it."""

    figure: Figure
    ours: float | None
    origin: str  # source of ours; if there is none, what would produce it
    low: float | None = None  # confidence interval of ours, over seeds
    high: float | None = None

    @property
    def error(self) -> float | None:
        return None if self.ours is None else self.figure.error(self.ours)

    def json(self) -> FigureResult:
        """As the command prints it."""
        figure = self.figure
        how = figure.ours.how or figure.measured
        shown: FigureResult = {
            "id": figure.id,
            "board": figure.board,
            "what": figure.what,
            "unit": figure.unit,
            "source": figure.source,
            "measured": figure.measured.shown(),
            "used": figure.used,
            "ours": self.ours,
            "ours_low": self.low,
            "ours_high": self.high,
            "ours_from": self.origin,
            "ours_measured": how.shown(),
            "measured_alike": not figure.differences,
            "differences": list(figure.differences),
            "error": self.error,
        }
        if figure.value is not None:
            shown["value"] = figure.value
        if figure.low is not None:
            shown["low"] = figure.low
        if figure.high is not None:
            shown["high"] = figure.high
        return shown
