# SPDX-License-Identifier: Apache-2.0
"""Files of an experiment: a table (Parquet, CSV), plots (SVG, PNG), and one page with all of them.

The command `experiment` calls this when all points are done. rows.py has computed the rows.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bulkhead.experiments.intervals import HIGH, LOW
from bulkhead.experiments.model import PointJob
from bulkhead.experiments.regulated import is_at
from bulkhead.experiments.row import Row
from bulkhead.experiments.said import Plot, Sheet
from bulkhead.experiments.series import drawing, table_of, write_series
from bulkhead.experiments.sweep import word
from bulkhead.experiments.tornado import draw_tornado
from bulkhead.machine.answer import PointAnswer
from bulkhead.report.style import PALETTE, plain_text, svg
from bulkhead.report.templates import page_templates

Recorded = tuple[Sequence[PointJob], Sequence[PointAnswer]]

_INCHES = (6.4, 3.6)
_DPI = 150
_BAND = 0.2  # opacity of an interval
_GROUP = 0.8  # width of all bars of a word, as part of the distance between words
_NAMED_INSIDE = 9  # most series named inside the axes; names of more are above, and the figure grows
_LINE_INCHES = 0.19
_ACROSS = 100  # characters of names in a line, with their marks
_LINES = ("-", "--", ":", "-.")  # styles for repeated colors
_POINT, _FEW = "o", 8  # short lines have marks, and a single point needs one
_WORDS = 45  # characters of all words on the axis above which they are rotated


def write_output(
    sheet: Sheet,
    rows: Sequence[Row],
    directory: Path,
    command: Sequence[str],
    facts: dict[str, str],
    recorded: Recorded = ((), ()),
) -> list[Path]:
    """Writes the files. Returns them in the order in which users look at them. `recorded`: points and their
    results."""
    directory.mkdir(parents=True, exist_ok=True)
    table = polars.DataFrame([_flat(row) for row in rows], infer_schema_length=None)
    parquet, csv, page = (directory / name for name in ("rows.parquet", "rows.csv", "report.html"))
    table.write_parquet(parquet)
    table.write_csv(csv)
    figures, images = [], []
    for plot in sheet.plots:
        meant = [row for row in rows if is_at(plot.where, row)]
        if not meant:
            continue
        draw = drawing_of(plot, meant)
        picture = svg(draw, _INCHES)
        title = ", ".join([f"{plot.y_label} over {plot.x_label}", *map(str, _where(plot))])
        figures.append({"title": title, "svg": Markup(picture)})  # noqa: S704
        images += _images(draw, picture, directory / _file_name(plot, sheet.plots))
    series = table_of(*recorded)
    over_time = [] if series is None else write_series(sheet, recorded[0], series, directory)
    for number, timed in enumerate(sheet.series if series is not None else ()):
        assert series is not None
        line = drawing(timed, recorded[0], series)
        if line is not None:
            picture = svg(line, _INCHES)
            title = f"{timed.y_label} over time: {', '.join(str(value) for value in timed.where.values())}"
            figures.append({"title": title, "svg": Markup(picture)})  # noqa: S704
            images += _images(line, picture, directory / f"series-{number + 1}-{timed.y}")
    # A file name in the command can have bytes that are no UTF-8.
    text = _page(sheet, table, figures, command, facts)
    page.write_text(text, encoding="utf-8", errors="backslashreplace")
    return [page, parquet, csv, *over_time, *images]


def _file_name(plot: Plot, plots: Sequence[Plot]) -> str:
    """Name by the drawn column; with the x column and values if that column is drawn more than once."""
    same = [one for one in plots if one.y == plot.y]
    if plot is same[0]:
        return plot.y
    return "-".join([plot.y, word(plot.x), *map(word, _where(plot))]).replace(".", "_")


def _where(plot: Plot) -> list[Any]:
    """Values that select the plot's rows, without empty ones."""
    return [value for value in plot.where.values() if value is not None]


def drawing_of(plot: Plot, rows: Sequence[Row]) -> Callable[[Figure], None]:
    series = series_of(plot, rows)

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        if plot.kind == "tornado":
            draw_tornado(figure, axes, plot, series)
            return
        words = list(dict.fromkeys(_one(row[plot.x]) for row in rows))
        beside = {word: [key for key, own in series.items() if word in _words(plot, own)] for word in words}
        width = _GROUP / max(len(keys) for keys in beside.values())
        for index, (key, own) in enumerate(series.items()):
            names = (_label(name, value) for name, value in zip(plot.series, key, strict=True))
            label = plain_text(", ".join(names))
            color, line = PALETTE[index % len(PALETTE)], _LINES[index // len(PALETTE) % len(_LINES)]
            if plot.kind == "bars":
                # Only the bars of this word, without gaps for other series.
                x = [
                    words.index(at) + (beside[at].index(key) + 0.5 - len(beside[at]) / 2) * width
                    for at in _words(plot, own)
                ]
                known = [(at, row) for at, row in zip(x, own, strict=True) if row[plot.y] is not None]
                x, own = [at for at, _ in known], [row for _, row in known]
                axes.bar(
                    x,
                    [row[plot.y] / plot.scale for row in own],
                    width,
                    yerr=_errors(plot, own),
                    error_kw={"linewidth": 0.8, "ecolor": "#555555"},
                    color=color,
                    label=label,
                )
                continue
            known_rows = (row for row in own if row[plot.x] is not None and row[plot.y] is not None)
            own = sorted(known_rows, key=lambda row: row[plot.x])
            x, y = [row[plot.x] for row in own], [row[plot.y] / plot.scale for row in own]
            axes.plot(
                x, y, line, color=color, label=label, linewidth=1.3, marker=_POINT if len(x) < _FEW else None
            )
            below, above = _errors(plot, own) or ([], [])
            if any(below) or any(above):
                low = [value - by for value, by in zip(y, below, strict=True)]
                high = [value + by for value, by in zip(y, above, strict=True)]
                axes.fill_between(x, low, high, color=color, alpha=_BAND, linewidth=0)
        if plot.kind == "bars":
            long = sum(len(str(one)) for one in words) > _WORDS
            ticks = [plain_text(str(one)) for one in words]
            axes.set_xticks(range(len(words)), ticks, rotation=20 if long else 0)
        axes.set_xlabel(plain_text(plot.x_label))
        axes.set_ylabel(plain_text(plot.y_label))
        axes.set_yscale("log" if plot.log else "linear")
        if not plot.log:
            axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        if plot.series:
            _name(figure, axes, inside=plot.kind == "lines")

    return draw


def _errors(plot: Plot, rows: Sequence[Row]) -> tuple[list[float], list[float]] | None:
    """Distances from the values to both ends of the intervals; None if the rows have no intervals."""
    ends = [(row.get(plot.y + LOW), row.get(plot.y + HIGH)) for row in rows]
    if not ends or any(end is None for both in ends for end in both):
        return None
    values = [row[plot.y] for row in rows]
    below = [(value - low) / plot.scale for value, (low, _) in zip(values, ends, strict=True)]
    above = [(high - value) / plot.scale for value, (_, high) in zip(values, ends, strict=True)]
    return below, above


def series_of(plot: Plot, rows: Sequence[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by series. For lines, a series in which all rows come from the same run is left out."""
    series: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        series.setdefault(tuple(_one(row[key]) for key in plot.series), []).append(row)
    if plot.kind == "bars":
        return series
    moved = {key: own for key, own in series.items() if len(own) == 1 or len(_points(own)) > 1}
    return moved or series


def _points(rows: Sequence[Row]) -> set[Any]:
    """The runs that the rows come from."""
    return {row.get("digest", number) for number, row in enumerate(rows)}


def _words(plot: Plot, rows: Sequence[Row]) -> list[Any]:
    return [_one(row[plot.x]) for row in rows]


def _name(figure: Figure, axes: Axes, *, inside: bool) -> None:
    """Names of the series: in a corner, or above the axes if bars or many lines leave no corner free."""
    names = axes.get_legend_handles_labels()[1]
    if inside and len(names) <= _NAMED_INSIDE:
        axes.legend(fontsize=8.5)
        return
    columns = max(1, min(4, _ACROSS // (8 + max(map(len, names)))))
    lines = -(-len(names) // columns)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + max(0, lines - 2) * _LINE_INCHES)
    figure.legend(fontsize=7.5, loc="outside upper center", ncols=columns, frameon=False)


def _one(value: Any) -> Any:
    """A list as one word, by which series and bars are distinguished."""
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _label(name: str, value: Any) -> str:
    return f"{'' if value else 'no '}{name}" if isinstance(value, bool) else str(value)


def _images(draw: Callable[[Figure], None], picture: str, base: Path) -> list[Path]:
    """The picture as SVG for pages and as PNG for papers."""
    vector, pixels = base.with_suffix(".svg"), base.with_suffix(".png")
    vector.write_text(picture.replace("currentColor", "#1d2329"), encoding="utf-8")
    figure = Figure(figsize=_INCHES, layout="constrained")
    draw(figure)
    figure.savefig(pixels, dpi=_DPI, metadata={"Software": None})
    return [vector, pixels]


def _page(
    sheet: Sheet,
    table: polars.DataFrame,
    figures: list[dict[str, Any]],
    command: Sequence[str],
    facts: dict[str, str],
) -> str:
    return (
        page_templates()
        .get_template("experiment.html.j2")
        .render(
            title=sheet.title,
            name=sheet.name,
            platform=sheet.platform,
            about=sheet.about,
            command=shlex.join(command),
            facts=facts,
            figures=figures,
            columns=table.columns,
            rows=[[_cell(value) for value in row] for row in table.iter_rows()],
        )
    )


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (
        f"{value:,.4g}"
        if isinstance(value, float) and abs(value) < 1000
        else (f"{value:,.0f}" if isinstance(value, float) else "–" if value is None else str(value))
    )


def _flat(row: Row) -> Row:
    """Lists as text: a cell of a table has one value."""
    return {key: _one(value) for key, value in row.items()}
