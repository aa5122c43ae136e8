# SPDX-License-Identifier: Apache-2.0
"""The plot of a sensitivity analysis: for each parameter a bar to each side of 0, the longest on top.

Called by output.py. It computes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bulkhead.experiments.row import Row
from bulkhead.experiments.said import Plot
from bulkhead.report.style import PALETTE, plain_text

_MOST = 20  # most parameters; the others have no visible effect
_LINE_INCHES = 0.22
_HEIGHT = 0.38  # height of a bar; each parameter has two


def draw_tornado(
    figure: Figure, axes: Axes, plot: Plot, series: Mapping[tuple[Any, ...], Sequence[Row]]
) -> None:
    """Draws the bars. Rows without a value are left out, and the row without a side, which shows the
    unchanged headline."""
    reach: dict[str, float] = {}
    for key, rows in series.items():
        if any(key):  # the row of the unchanged headline has no side
            for row in rows:
                if row[plot.y] is not None:
                    reach[row[plot.x]] = max(reach.get(row[plot.x], 0.0), abs(row[plot.y]))
    words = sorted(reach, key=lambda word: -reach[word])[:_MOST]
    place = {word: number for number, word in enumerate(words)}
    for index, (key, rows) in enumerate((key, rows) for key, rows in series.items() if any(key)):
        own = [row for row in rows if row[plot.x] in place and row[plot.y] is not None]
        axes.barh(
            [place[row[plot.x]] + (index - 0.5) * _HEIGHT for row in own],
            [row[plot.y] / plot.scale for row in own],
            _HEIGHT,
            color=PALETTE[index % len(PALETTE)],
            label=plain_text(", ".join(map(str, key))),
        )
    axes.set_yticks(range(len(words)), [plain_text(word) for word in words], fontsize=7.5)
    axes.invert_yaxis()
    axes.axvline(0, color="#555555", linewidth=0.8)
    axes.set_xlabel(plain_text(plot.y_label))
    axes.grid(axis="x")
    axes.legend(fontsize=8.5)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, max(height, 1.2 + len(words) * _LINE_INCHES))
