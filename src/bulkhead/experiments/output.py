# SPDX-License-Identifier: Apache-2.0
"""What an experiment leaves: a table (Parquet, CSV), plots (SVG, PNG), and one page with all of it.

Called by the command `experiment` when all points are there. It computes nothing: rows.py did.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from bulkhead.experiments.model import Experiment, Plot, PointJob
from bulkhead.experiments.regulated import is_at
from bulkhead.experiments.rows import Row
from bulkhead.experiments.series import drawing, table_of, write_series
from bulkhead.experiments.sweep import word
from bulkhead.report.style import PALETTE, svg

Recorded = tuple[Sequence[PointJob], Sequence[dict[str, Any]]]

_INCHES = (6.4, 3.6)
_DPI = 150
_GROUP = 0.8  # of the room between two words on the axis: what all their bars take


def write_output(
    experiment: Experiment,
    rows: Sequence[Row],
    directory: Path,
    command: Sequence[str],
    facts: dict[str, str],
    recorded: Recorded = ((), ()),
) -> list[Path]:
    """The files, in the order in which people look at them. `recorded`: points, and their results."""
    directory.mkdir(parents=True, exist_ok=True)
    table = polars.DataFrame([_flat(row) for row in rows], infer_schema_length=None)
    parquet, csv, page = (directory / name for name in ("rows.parquet", "rows.csv", "report.html"))
    table.write_parquet(parquet)
    table.write_csv(csv)
    figures, images = [], []
    for plot in experiment.plots:
        meant = [row for row in rows if is_at(plot.where, row)]
        if not meant:
            continue
        draw = _drawing(plot, meant)
        picture = svg(draw, _INCHES)
        title = ", ".join([f"{plot.y_label} over {plot.x_label}", *map(str, plot.where.values())])
        figures.append({"title": title, "svg": Markup(picture)})  # noqa: S704
        images += _images(draw, picture, directory / _file_name(plot, experiment.plots))
    series = table_of(*recorded)
    over_time = [] if series is None else write_series(experiment, recorded[0], series, directory)
    for number, timed in enumerate(experiment.series if series is not None else ()):
        assert series is not None
        line = drawing(timed, recorded[0], series)
        if line is not None:
            picture = svg(line, _INCHES)
            title = f"{timed.y_label} over time: {', '.join(str(value) for value in timed.where.values())}"
            figures.append({"title": title, "svg": Markup(picture)})  # noqa: S704
            images += _images(line, picture, directory / f"series-{number + 1}-{timed.y}")
    page.write_text(_page(experiment, table, figures, command, facts), encoding="utf-8")
    return [page, parquet, csv, *over_time, *images]


def _file_name(plot: Plot, plots: Sequence[Plot]) -> str:
    """By what is drawn, and over what where that is drawn more than once."""
    same = [one for one in plots if one.y == plot.y]
    if plot is same[0]:
        return plot.y
    return "-".join([plot.y, word(plot.x), *map(word, plot.where.values())]).replace(".", "_")


def _drawing(plot: Plot, rows: Sequence[Row]) -> Callable[[Figure], None]:
    series: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        series.setdefault(tuple(_one(row[key]) for key in plot.series), []).append(row)

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        words = list(dict.fromkeys(_one(row[plot.x]) for row in rows))
        for index, (key, own) in enumerate(series.items()):
            label = ", ".join(_label(name, value) for name, value in zip(plot.series, key, strict=True))
            color = PALETTE[index % len(PALETTE)]
            if plot.kind == "bars":
                width = _GROUP / len(series)
                x = [words.index(_one(row[plot.x])) + (index + 0.5) * width - _GROUP / 2 for row in own]
                axes.bar(x, [row[plot.y] / plot.scale for row in own], width, color=color, label=label)
                continue
            own = sorted(own, key=lambda row: row[plot.x])
            x, y = [row[plot.x] for row in own], [row[plot.y] / plot.scale for row in own]
            axes.plot(x, y, color=color, label=label, linewidth=1.3)
        if plot.kind == "bars":
            axes.set_xticks(range(len(words)), words)
        axes.set_xlabel(plot.x_label)
        axes.set_ylabel(plot.y_label)
        axes.set_yscale("log" if plot.log else "linear")
        if not plot.log:
            axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        if plot.series and plot.kind == "bars":  # above: bars leave no corner free
            axes.legend(fontsize=8.5, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
        elif plot.series:
            axes.legend(fontsize=8.5)

    return draw


def _one(value: Any) -> Any:
    """A list as one word: series and bars are told apart by what they are called."""
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _label(name: str, value: Any) -> str:
    return f"{'' if value else 'no '}{name}" if isinstance(value, bool) else str(value)


def _images(draw: Callable[[Figure], None], picture: str, base: Path) -> list[Path]:
    """The picture for a page and for a paper."""
    vector, pixels = base.with_suffix(".svg"), base.with_suffix(".png")
    vector.write_text(picture.replace("currentColor", "#1d2329"), encoding="utf-8")
    figure = Figure(figsize=_INCHES, layout="constrained")
    draw(figure)
    figure.savefig(pixels, dpi=_DPI, metadata={"Software": None})
    return [vector, pixels]


def _page(
    experiment: Experiment,
    table: polars.DataFrame,
    figures: list[dict[str, Any]],
    command: Sequence[str],
    facts: dict[str, str],
) -> str:
    environment = Environment(
        loader=PackageLoader("bulkhead.report", ""), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("experiment.html.j2").render(
        title=experiment.title,
        name=experiment.name,
        platform=experiment.platform,
        about=experiment.about,
        command=shlex.join(command),
        facts=facts,
        figures=figures,
        columns=table.columns,
        rows=[[_cell(value) for value in row] for row in table.iter_rows()],
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
    """Lists as text: a table has one value in a cell."""
    return {key: _one(value) for key, value in row.items()}
