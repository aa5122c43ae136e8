# SPDX-License-Identifier: Apache-2.0
"""The style of all plots, and the conversion of a figure to SVG.

Used by `plots`. Text and lines take the color of the surrounding page, so that a picture suits light and dark
themes. Needs no display and does not change Matplotlib's global state.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

TEXT = "#010203"  # placeholder for the page's text color, replaced in the SVG
# Each has a contrast of at least 3 with the pages of both color schemes, and none is close to WRONG.
PALETTE = ("#0f8b8d", "#e07a1f", "#8661c1", "#3a7d44", "#b0569b", "#4a7bd0", "#a68a12", "#96705f")
WRONG = "#d1495b"
_HYPERVISOR, _NOBODY = "#8a8f98", "#c9ccd1"
_RAISED = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
HEAT = LinearSegmentedColormap.from_list("heat", ["#f3b27a", "#d1495b", "#6b1e3c"])
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bulkhead",  # equal plots give equal bytes
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": TEXT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "legend.frameon": False,
    "grid.color": TEXT,
    "grid.alpha": 0.12,
    "axes.axisbelow": True,
}


def plain_text(text: str) -> str:
    """Text of a user's file for a figure. Matplotlib would typeset what is between two dollar signs as a
    formula."""
    return text.replace("$", r"\$")


def owner_color(names: Sequence[str], name: str) -> str:
    """Color of an owner, the same in all plots of a page."""
    if name == "hypervisor":
        return _HYPERVISOR
    domains = [n for n in names if n not in ("hypervisor", "nobody")]
    return PALETTE[domains.index(name) % len(PALETTE)] if name in domains else _NOBODY


def text_on(color: str) -> str:
    """Black or white, whichever has the higher contrast on `color` (WCAG 2.2, relative luminance)."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "#000000" if luminance > 0.179 else "#ffffff"


def power_of_ten(value: float, _place: float = 0) -> str:
    """The label of a tick on a logarithmic axis, as plain text. Matplotlib's own label is a formula, whose
    typesetting takes a third of the time of a page, and which an SVG has in pieces."""
    exponent = math.log10(abs(value)) if value else 0.5
    if not exponent.is_integer():
        return f"{value:g}"
    return ("\N{MINUS SIGN}" if value < 0 else "") + "10" + f"{exponent:.0f}".translate(_RAISED)


def svg(draw: Callable[[Figure], None], inches: tuple[float, float]) -> str:
    """The figure of the given size that `draw` fills, as an `<svg>` element that scales with the page."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure)
        for axes in figure.axes:
            axes.tick_params(width=0.6)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r'\1 width="100%"', text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    return text.replace(TEXT, "currentColor")
