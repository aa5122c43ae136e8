# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the manual into docs/pictures: the chip, colors, a budget's periods, a packet's path,
a regulator's loop, how a run becomes evidence, the tree of the repository.

    PYTHONPATH=src:scripts build/venv/bin/python scripts/pictures.py [--check]

`--check` draws nothing, and ends 1 if a picture is not what would be drawn. Text stays text, so that it can
be searched and read by a screen reader.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from generated import ROOT, write_or_check

PICTURES = ROOT / "docs/pictures"
# A color has one meaning in all pictures; text on each of them has a contrast of at least 4.5.
REAL_TIME, BEST_EFFORT, HYPERVISOR, SHARED, PLAIN = "#bfe3d0", "#f6d2b3", "#cdd5f3", "#e4e4e4", "#ffffff"
LINE, WARNING = "#333333", "#a3241b"
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bulkhead",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
}


def _canvas(width: float, height: float) -> Axes:
    figure = pyplot.figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    return axes


def _box(axes: Axes, x: float, y: float, width: float, height: float, text: str, color: str = PLAIN) -> None:
    axes.add_patch(Rectangle((x, y), width, height, facecolor=color, edgecolor=LINE, linewidth=1))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", color=LINE)


def _arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str = "", style: str = "-|>"
) -> None:
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle=style, mutation_scale=10, color=LINE, linewidth=1))
    if text:
        x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        axes.text(x, y + 0.08, text, ha="center", va="bottom", color=LINE)


def chip() -> Axes:
    """Cores with their own caches, and the shared parts."""
    axes = _canvas(7.2, 4.0)
    owners = [("control", REAL_TIME), ("Linux", BEST_EFFORT), ("Linux", BEST_EFFORT), ("hog", BEST_EFFORT)]
    for i, (name, color) in enumerate(owners):
        x = 0.3 + i * 1.7
        _box(axes, x, 3.3, 1.5, 0.5, name, color)
        _box(axes, x, 2.7, 1.5, 0.5, f"core {i}")
        _box(axes, x, 2.3, 1.5, 0.35, "L1 caches, TLB")
        _arrow(axes, (x + 0.75, 2.3), (x + 0.75, 2.0), style="<|-|>")
    _box(axes, 0.3, 1.5, 6.6, 0.5, "last-level cache (LLC): shared", SHARED)
    _arrow(axes, (3.6, 1.5), (3.6, 1.2), style="<|-|>")
    _box(axes, 0.3, 0.75, 6.6, 0.45, "interconnect and DRAM controller: shared", SHARED)
    for i in range(8):
        _box(axes, 0.3 + i * 0.825, 0.2, 0.825, 0.4, f"bank {i}", SHARED)
    return axes


def colors() -> Axes:
    """Two guests' pages, the choice of frames in stage 2, and the parts of the cache that the frames use."""
    axes = _canvas(7.2, 3.7)
    axes.text(0.2, 3.5, "guest-physical pages", color=LINE)
    guests = [("control", REAL_TIME, (0, 1)), ("hog", BEST_EFFORT, (2, 3))]
    for i, (name, fill, own) in enumerate(guests):
        for page in range(4):
            y = 3.05 - (i * 4 + page) * 0.4
            _box(axes, 0.2, y, 1.4, 0.4, f"{name}, page {page}", fill)
            frame = (page // 2) * 4 + own[page % 2]
            _arrow(axes, (1.6, y + 0.2), (2.95, 3.25 - frame * 0.4))
    axes.text(2.95, 3.5, "physical frames", color=LINE)
    axes.text(5.2, 3.5, "LLC, by color", color=LINE)
    owner = {0: REAL_TIME, 1: REAL_TIME, 2: BEST_EFFORT, 3: BEST_EFFORT}
    for frame in range(8):
        of_frame = frame % 4
        y = 3.05 - frame * 0.4
        _box(axes, 2.95, y, 1.0, 0.4, f"color {of_frame}", owner[of_frame])
        _arrow(axes, (3.95, y + 0.2), (5.2, 2.85 - of_frame * 0.75))
    for place, color in owner.items():
        _box(axes, 5.2, 2.55 - place * 0.75, 1.8, 0.6, f"sets of color {place}", color)
    return axes


def budget() -> Axes:
    """The rest of a budget over three periods, and the times at which the domain is stopped."""
    axes = _canvas(7.2, 2.9)
    left, bottom, period, height = 0.9, 0.9, 1.9, 1.4
    _arrow(axes, (left, bottom), (7.0, bottom))
    _arrow(axes, (left, bottom), (left, 2.7))
    axes.text(7.0, bottom - 0.22, "time", ha="right", color=LINE)
    axes.text(0.1, 2.5, "events\nleft", va="center", color=LINE)
    spent_after = (1.1, 1.9, 0.6)
    for i, spent in enumerate(spent_after):
        x = left + i * period
        end = min(spent, period)
        rest = bottom if spent < period else bottom + 0.25
        axes.plot([x, x], [bottom, bottom + height], color=LINE, linewidth=1)
        axes.plot([x, x + end], [bottom + height, rest], color=LINE, linewidth=1.5)
        if spent < period:
            stopped = Rectangle((x + end, bottom), period - end, 0.28, facecolor=BEST_EFFORT, edgecolor=LINE)
            axes.add_patch(stopped)
            axes.text(x + (end + period) / 2, bottom + 0.14, "stopped", ha="center", va="center", color=LINE)
            axes.text(x + end, bottom + 0.36, "overflow", color=WARNING)
    for i in range(len(spent_after) + 1):
        axes.plot([left + i * period] * 2, [bottom - 0.08, bottom + 0.08], color=LINE, linewidth=1)
    for i in range(len(spent_after)):
        axes.text(left + (i + 0.5) * period, bottom - 0.3, f"period {i + 1}", ha="center", color=LINE)
    axes.text(left + 0.05, bottom + height + 0.1, "budget", color=LINE)
    axes.text(
        0.2,
        0.15,
        "A timer fills the budget at the beginning of each period; the counter's overflow stops the domain.",
    )
    return axes


def packet() -> Axes:
    """From the sender's buffer to the receiver's."""
    axes = _canvas(7.2, 2.9)
    _box(axes, 0.2, 1.7, 1.7, 0.9, "sender\n(its memory:\npacket)", BEST_EFFORT)
    _box(axes, 2.75, 1.7, 1.7, 0.9, "broker\n(earliest deadline\nfirst)", SHARED)
    _box(axes, 5.3, 1.7, 1.7, 0.9, "receiver\n(its memory:\nbuffer)", REAL_TIME)
    _arrow(axes, (1.9, 2.15), (2.75, 2.15), "chunks")
    _arrow(axes, (4.45, 2.15), (5.3, 2.15), "chunks")
    _box(axes, 0.2, 0.4, 6.8, 0.6, "hypervisor: doorbell, interrupt, memory map", HYPERVISOR)
    _arrow(axes, (1.05, 1.7), (1.05, 1.0))
    axes.text(1.12, 1.32, "1 notify", color=LINE)
    _arrow(axes, (3.4, 1.0), (3.4, 1.7))
    axes.text(3.47, 1.32, "2 doorbell", color=LINE)
    _arrow(axes, (6.15, 1.0), (6.15, 1.7))
    axes.text(6.08, 1.32, "3 interrupt", ha="right", color=LINE)
    axes.text(0.2, 0.1, "The two domains share no memory; only the broker sees both buffers.")
    return axes


def feedback() -> Axes:
    """A regulator's loop."""
    axes = _canvas(7.2, 2.3)
    _box(axes, 0.2, 1.2, 1.7, 0.8, "best-effort cores,\neach with a budget", BEST_EFFORT)
    _box(axes, 2.75, 1.2, 1.7, 0.8, "DRAM and\nreal-time cores", REAL_TIME)
    _box(axes, 5.3, 1.2, 1.7, 0.8, "regulator\n(once an interval)", HYPERVISOR)
    _arrow(axes, (1.9, 1.6), (2.75, 1.6), "load")
    _arrow(axes, (4.45, 1.6), (5.3, 1.6), "sample")
    for start, end, style in (
        ((6.15, 1.2), (6.15, 0.6), "-"),
        ((6.15, 0.6), (1.05, 0.6), "-"),
        ((1.05, 0.6), (1.05, 1.2), "-|>"),
    ):
        axes.add_patch(
            FancyArrowPatch(start, end, arrowstyle=style, mutation_scale=10, color=LINE, shrinkA=0, shrinkB=0)
        )
    axes.text(3.6, 0.35, "budgets of the next interval", ha="center", color=LINE)
    return axes


def evidence() -> Axes:
    """From a system file to a verdict."""
    axes = _canvas(7.2, 3.5)
    _box(axes, 0.2, 2.6, 1.5, 0.7, "system file,\nplatform file")
    _box(axes, 2.3, 2.6, 1.9, 0.7, "tool: check, plan,\nmanifest, images", SHARED)
    _box(axes, 4.9, 2.6, 2.1, 0.7, "hypervisor and domains,\non a machine", HYPERVISOR)
    _arrow(axes, (1.7, 2.95), (2.3, 2.95))
    _arrow(axes, (4.2, 2.95), (4.9, 2.95))
    _box(axes, 0.2, 1.2, 1.9, 0.8, "plan:\nwhat is promised", SHARED)
    _box(axes, 2.5, 1.2, 2.1, 0.8, "counts of the hypervisor,\nreports of guests", HYPERVISOR)
    _box(axes, 4.9, 1.2, 2.1, 0.8, "witnesses: caches of\nthe machine, tables", REAL_TIME)
    _arrow(axes, (2.7, 2.6), (1.6, 2.0))
    _arrow(axes, (5.2, 2.6), (4.2, 2.0))
    _arrow(axes, (5.95, 2.6), (5.95, 2.0))
    _box(axes, 2.1, 0.2, 3.0, 0.5, "verdict: ok, or the promises that broke")
    _arrow(axes, (1.15, 1.2), (2.3, 0.7))
    _arrow(axes, (3.55, 1.2), (3.55, 0.7))
    _arrow(axes, (5.95, 1.2), (4.9, 0.7))
    return axes


def tree() -> Axes:
    """Directories, and which use which."""
    axes = _canvas(7.2, 3.3)
    _box(axes, 0.2, 2.6, 6.8, 0.5, "src/bulkhead: the tool plans, builds, runs, judges")
    users = [
        ("hypervisor", HYPERVISOR),
        ("linux", HYPERVISOR),
        ("microkernel", HYPERVISOR),
        ("machine,\nobserve", SHARED),
        ("bindings", SHARED),
    ]
    for i, (name, color) in enumerate(users):
        x = 0.2 + i * 1.38
        _box(axes, x, 1.7, 1.28, 0.6, name, color)
        _arrow(axes, (x + 0.64, 2.6), (x + 0.64, 2.3))
        _arrow(axes, (x + 0.64, 1.7), (x + 0.64, 1.4))
    _box(axes, 0.2, 0.95, 6.8, 0.45, "core: all policy, without hardware", REAL_TIME)
    _arrow(axes, (3.6, 0.95), (3.6, 0.7))
    _box(axes, 0.2, 0.3, 6.8, 0.4, "schema: binary structures of the tool and the hypervisor")
    axes.text(0.2, 0.1, "An arrow leads to what a part uses.", color=LINE)
    return axes


DRAWN: dict[str, Callable[[], Axes]] = {
    "chip": chip,
    "colors": colors,
    "budget": budget,
    "packet": packet,
    "feedback": feedback,
    "evidence": evidence,
    "tree": tree,
}


def svg_of(name: str) -> str:
    """The picture as SVG: always the same text."""
    with matplotlib.rc_context(STYLE):
        figure = DRAWN[name]().get_figure(root=True)
        assert figure is not None
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close("all")
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


if __name__ == "__main__":
    matplotlib.use("svg")
    sys.exit(write_or_check({PICTURES / f"{name}.svg": svg_of(name) for name in DRAWN}, __doc__))
