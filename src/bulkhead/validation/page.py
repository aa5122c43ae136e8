# SPDX-License-Identifier: Apache-2.0
"""The page of a validation: for each board the machine's curves together with the published ones, and all
points.

Called by the command `validate` when all points are done. Plots are also written as SVG and PNG files.
"""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from bulkhead.report.style import PALETTE, svg
from bulkhead.report.templates import page_templates
from bulkhead.units import size_text
from bulkhead.validation.compare import MEDIAN_LIMIT, WORST_LIMIT, Compared, Summary, of_role, summary
from bulkhead.validation.groups import name_of
from bulkhead.validation.published import points_file

_INCHES = (6.4, 3.6)
_DPI = 150
_PUBLISHED = 0.45  # opacity of published bars: colors are kinds of access, as in the curves


def write_page(
    compared: Sequence[Compared], directory: Path, command: Sequence[str], facts: dict[str, str]
) -> list[Path]:
    """The page first, then the table and the plots."""
    directory.mkdir(parents=True, exist_ok=True)
    table = directory / "points.csv"
    _write_table(compared, table)
    files = [table]
    boards = []
    for name in dict.fromkeys(one.point.board.board for one in compared):
        own = [one for one in compared if one.point.board.board == name]
        board = own[0].point.board
        files.append(directory / points_file(name))
        _write_table(own, files[-1])
        pictures = []
        for title, draw, file in _drawings(own):
            picture = svg(draw, _INCHES)
            files += _images(draw, picture, directory / f"{name}-{file}")
            pictures.append({"title": title, "svg": Markup(picture)})  # noqa: S704
        boards.append(
            {
                "name": name,
                "role": board.role,
                "measured": board.measured,
                "explanations": board.explanations,
                "pictures": pictures,
                "total": _text(summary(own)),
                "rows": [_row(one) for one in own],
            }
        )
    page = directory / "report.html"
    text = (
        page_templates()
        .get_template("validation.html.j2")
        .render(
            command=shlex.join(command),
            facts=facts,
            boards=boards,
            validation=_text(summary(of_role(compared, "validation"))),
            calibration=_text(summary(of_role(compared, "calibration"))),
            limits=f"{MEDIAN_LIMIT:.0%} and {WORST_LIMIT:.0%}",
        )
    )
    page.write_text(text, encoding="utf-8")
    return [page, *files]


def _drawings(own: Sequence[Compared]) -> list[tuple[str, Callable[[Figure], None], str]]:
    """Title, drawing and file name of a board's plots."""
    times = [time for one in own if one.point.unit == "ns" for time in (one.point.published, one.predicted)]
    made = [
        (
            f"Random reads, {'4 KiB' if pages == 'small' else '2 MiB'} pages",
            _curves(curve, max(times)),
            f"latency-{pages}",
        )
        for pages in ("small", "huge")
        if (curve := [one for one in own if one.point.unit == "ns" and one.point.pages == pages])
    ]
    rates = [one for one in own if one.point.unit == "MB/s"]
    if rates:
        made.append(("Rates", _bars(rates), "rates"))
    return made


def _curves(curve: Sequence[Compared], most_ns: float) -> Callable[[Figure], None]:
    """The curves on a scale up to `most_ns`, which is the same for both sizes of pages."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for kind, color in (("single", PALETTE[0]), ("dual", PALETTE[1])):
            own = [one for one in curve if one.point.kind == kind]
            sizes = [one.point.size for one in own]
            reads = "one read" if kind == "single" else "two reads"
            axes.plot(
                sizes,
                [one.point.published for one in own],
                "o",
                color=color,
                markersize=4,
                label=f"{reads}, published",
            )
            axes.plot(
                sizes,
                [one.predicted for one in own],
                "-",
                color=color,
                linewidth=1.3,
                label=f"{reads}, machine",
            )
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: size_text(int(size))))
        axes.set_xlabel("block")
        axes.set_ylabel("ns beyond a hit in L1")
        axes.set_ylim(0, 1.05 * most_ns)
        axes.grid(axis="y")
        axes.legend(fontsize=8.5)

    return draw


def _bars(rates: Sequence[Compared]) -> Callable[[Figure], None]:
    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        places = range(len(rates))
        axes.bar(
            [x - 0.2 for x in places],
            [one.point.published for one in rates],
            0.38,
            color=PALETTE[2],
            alpha=_PUBLISHED,
            label="published",
        )
        axes.bar(
            [x + 0.2 for x in places],
            [one.predicted for one in rates],
            0.38,
            color=PALETTE[2],
            label="machine",
        )
        axes.set_xticks(places, [_bar(one) for one in rates])
        axes.set_ylabel("MB/s")
        axes.grid(axis="y")
        axes.legend(fontsize=8.5)

    return draw


def _bar(one: Compared) -> str:
    beside = f" x{one.point.processes}" if one.point.processes > 1 else ""
    return f"{one.point.kind}{beside}"


def _images(draw: Callable[[Figure], None], picture: str, base: Path) -> list[Path]:
    vector, pixels = base.with_suffix(".svg"), base.with_suffix(".png")
    vector.write_text(picture.replace("currentColor", "#1d2329"), encoding="utf-8")
    figure = Figure(figsize=_INCHES, layout="constrained")
    draw(figure)
    figure.savefig(pixels, dpi=_DPI, metadata={"Software": None})
    return [vector, pixels]


def _row(one: Compared) -> dict[str, Any]:
    size = size_text(one.point.size) if one.point.unit == "ns" else "–"
    return {
        "figure": name_of(one.point),
        "size": size,
        "published": f"{one.point.published:g}",
        "machine": f"{one.predicted:.4g}",
        "error": f"{one.error:+.0%}",
        "far": abs(one.error) > WORST_LIMIT,
    }


def _write_table(compared: Sequence[Compared], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["board", "role", "figure", "bytes", "published", "machine", "error"])
        for one in compared:
            point = one.point
            values = [point.published, f"{one.predicted:.2f}", f"{one.error:.4f}"]
            rows.writerow([point.board.board, point.board.role, name_of(point), point.size, *values])


def _text(total: Summary) -> str:
    if total.points == 0:
        return "none was run"
    return f"{total.points} points, median error {total.median:.0%}, worst {total.worst:.0%}"
