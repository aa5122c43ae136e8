# SPDX-License-Identifier: Apache-2.0
"""Time series of an experiment's points: a table of all intervals, and plots over time.

Called by output.py. machine/regulation/recorder.h defines the values of an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars
from matplotlib.figure import Figure

from bulkhead.experiments.model import PointJob
from bulkhead.experiments.regulated import Series, is_at
from bulkhead.experiments.said import Sheet
from bulkhead.machine.answer import PointAnswer
from bulkhead.report.style import PALETTE, plain_text

MB = 10**6
PS_PER_S = 10**12
PS_PER_MS = 10**9


def table_of(points: Sequence[PointJob], results: Sequence[PointAnswer]) -> polars.DataFrame | None:
    """A row for each core with a part, in each interval of each point; None without intervals."""
    tables = [
        _of_point(one, result)
        for one, result in zip(points, results, strict=False)
        if result.get("regulation", {}).get("intervals", {}).get("end_ps")
    ]
    return polars.concat(tables, how="diagonal_relaxed") if tables else None


def write_series(
    sheet: Sheet, points: Sequence[PointJob], table: polars.DataFrame, directory: Path
) -> list[Path]:
    """Writes all rows as Parquet, and the rows that plots show as CSV."""
    parquet, csv = directory / "series.parquet", directory / "series.csv"
    table.write_parquet(parquet)
    drawn = [one.key for one in points if any(is_at(plot.where, one.point) for plot in sheet.series)]
    if not drawn:
        return [parquet]
    table.filter(polars.col("point").is_in(drawn)).write_csv(csv)
    return [parquet, csv]


def drawing(
    plot: Series, points: Sequence[PointJob], table: polars.DataFrame
) -> Callable[[Figure], None] | None:
    """Draws one line for each selected point; None if there is none."""
    meant = [one for one in points if is_at(plot.where, one.point)]
    lines = [(one, _line(plot, table.filter(polars.col("point") == one.key))) for one in meant]
    lines = [(one, line) for one, line in lines if line.height]
    if not lines:
        return None

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for index, (one, line) in enumerate(lines):
            label = plain_text(", ".join(str(one.point[name]) for name in plot.series))
            color = PALETTE[index % len(PALETTE)]
            axes.plot(line["end_ms"].to_list(), line[plot.y].to_list(), color=color, label=label, linewidth=1)
        axes.set_xlabel("time, ms")
        axes.set_ylabel(plain_text(plot.y_label))
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        if plot.series:
            axes.legend(fontsize=8.5, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4)

    return draw


def _line(plot: Series, own: polars.DataFrame) -> polars.DataFrame:
    if not own.height:
        return own
    core = own["core"].min() if plot.core is None else plot.core
    own = own.filter(polars.col("core") == core)
    return own if plot.until_ms is None else own.filter(polars.col("end_ms") <= plot.until_ms)


def _of_point(one: PointJob, result: PointAnswer) -> polars.DataFrame:
    intervals, line_bytes = result["regulation"]["intervals"], result["line_bytes"]
    ends = [end - result["regulation"]["start_ps"] for end in intervals["end_ps"]]
    lengths = [after - before for before, after in zip([0, *ends], ends, strict=False)]
    moved = [
        read + written
        for read, written in zip(intervals["read_bytes"], intervals["written_bytes"], strict=True)
    ]
    tables = []
    for part in one.job["parts"]:
        core = intervals["cores"][part["core"]]
        tables.append(
            {
                "end_ms": [end / PS_PER_MS for end in ends],
                "utilization": [
                    busy / cycles if cycles else 0.0
                    for busy, cycles in zip(intervals["busy_cycles"], intervals["cycles"], strict=True)
                ],
                "mb_s": _rates(moved, lengths),
                "part": [part["name"]] * len(ends),
                "core": [part["core"]] * len(ends),
                "lines_mb_s": _rates([lines * line_bytes for lines in core["lines"]], lengths),
                "limit_mb_s": [
                    None if limit is None else limit * line_bytes / MB * PS_PER_S / length
                    for limit, length in zip(core["limit"], lengths, strict=True)
                ],
                "events": core["used"],
                "limit_events": core["limit"],
                "throttled": [
                    time / length for time, length in zip(core["throttled_ps"], lengths, strict=True)
                ],
            }
        )
    values = {key: _word(value) for key, value in one.point.items()}
    return polars.concat(
        [
            polars.DataFrame(table, infer_schema_length=None).select(
                polars.lit(one.key).alias("point"),
                *(polars.lit(value).alias(key) for key, value in values.items()),
                polars.all(),
            )
            for table in tables
        ],
        how="diagonal_relaxed",
    )


def _rates(amounts: Sequence[int], lengths: Sequence[int]) -> list[float]:
    return [amount / MB * PS_PER_S / length for amount, length in zip(amounts, lengths, strict=True)]


def _word(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value
