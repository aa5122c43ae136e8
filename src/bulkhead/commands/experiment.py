# SPDX-License-Identifier: Apache-2.0
"""`bulkhead experiment [NAME]`: list the experiments, or run one on the simulated machine.

Points run in parallel, each in a process of its own. Results are kept, and finished points are not run again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bulkhead.commands.options import AsJson, Cluster, Jobs, Seeds, engine_of
from bulkhead.commands.output import console, print_json, reported
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.experiments.perform import Performed
    from bulkhead.experiments.row import Row
    from bulkhead.experiments.run import Table
    from bulkhead.results.experiment import ExperimentEntryResult, ExperimentsResult

SHOWN_ROWS = 16
WIDEST = 14  # column, in characters: longer words are folded


def register(app: typer.Typer) -> None:
    app.command("experiment")(experiment)


def experiment(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of an experiment, or path of its file. Without it, all experiments are listed.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a value of the experiment (repeatable). KEY=a..b..step sweeps over a range.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="VALUE",
            help="Run only points that have this value (repeatable). Several values of one key are "
            "alternatives.",
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    seeds: Seeds = None,
    small: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Run fewer points and seeds: those that the experiment file gives as `quick`.",
            show_default=False,
        ),
    ] = False,
    large: Annotated[
        bool,
        typer.Option(
            "--full", help="Run as many points as were published; this takes hours.", show_default=False
        ),
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Run points again that already have results.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the experiments, or run one and write its rows, a table, plots and a page."""
    if name is None:
        _list(as_json)
        return
    from bulkhead.experiments.model import BadSetting
    from bulkhead.experiments.perform import ExperimentRequest, perform

    if small and large:
        raise typer.BadParameter("--quick and --full exclude each other: give one of the two")
    given = [
        *(("--quick",) if small else ()),
        *(("--full",) if large else ()),
        *(word for s in settings or () for word in ("--set", s)),
        *(w for o in only or () for w in ("--only", o)),
        *(("--seeds", str(seeds)) if seeds is not None else ()),
    ]
    begin, engine = time.monotonic(), engine_of(jobs, cluster)
    with reported("experiment", as_json=as_json, on="machine"):
        request = ExperimentRequest(
            name,
            engine,
            ["./bulkhead", "experiment", name, *given],
            settings=settings or (),
            only=only or (),
            size="quick" if small else "full" if large else "usual",
            seeds=seeds,
            again=again,
        )
        try:
            done = perform(request)
        except BadSetting as error:
            raise typer.BadParameter(str(error)) from error
    seconds = time.monotonic() - begin
    if as_json:
        print_json(done.json(seconds))
    else:
        _show(done, seconds)


def _show(done: Performed, seconds: float) -> None:
    what, tables = done.what, [one.table for one in done.written]
    for table in tables:
        if table.section:
            console().print(f"{table.section}:", style="bold")
        _show_table(table)
        for trace in table.traces:
            console().print(f"{trace.name}: recorded {trace.text()}")
    sections = ", ".join(table.section for table in tables if table.section)
    shown = sections or f"{len(tables[0].rows)} points on {what.platform}"
    pages = ", ".join(str(one.files[0]) for one in done.written)
    console().print(f"{what.name}: {shown} in {seconds:.0f} s, {pages}", style="green")


def _show_table(table: Table) -> None:
    from bulkhead.experiments.regulated import is_at

    printed = table.sheet.table
    if printed is None:
        show_rows(table.rows)
        return
    rows = [row for row in table.rows if is_at(printed.where, row)]
    chosen = [{key: row.get(key) for key in _with_ends(printed.columns, row)} for row in rows or table.rows]
    show_rows(chosen, of=(len(table.rows), len(table.rows[0])))


def _with_ends(columns: Sequence[str], row: Row) -> list[str]:
    from bulkhead.experiments.intervals import HIGH, LOW

    return [end for key in columns for end in (key, key + LOW, key + HIGH) if end in row]


def _list(as_json: bool) -> None:
    from rich.table import Table

    from bulkhead.experiments.model import experiment_names, load_experiment
    from bulkhead.experiments.run import count_points

    found: list[ExperimentEntryResult] = []
    for name in experiment_names():
        one = load_experiment(name)
        found.append(
            {"name": name, "platform": one.platform, "points": count_points(one), "title": one.title}
        )
    if as_json:
        result: ExperimentsResult = {**result_object("experiment", verdict="ok"), "experiments": found}
        print_json(result)
        return
    table = Table()
    for heading in ("name", "platform", "points", "title"):
        table.add_column(heading)
    for row in found:
        table.add_row(*(str(value) for value in row.values()))
    console().print(table)


def show_rows(rows: list[Row], *, of: tuple[int, int] | None = None) -> None:
    """Some rows, evenly: a terminal is no place for hundreds. Nor for all columns: those that tell the rows
    apart, as many as fit. `of`: how many rows and columns there are, where these are chosen ones: then a
    column is shown also if it is the same in all rows."""
    from rich.table import Table

    from bulkhead.experiments.intervals import HIGH, LOW

    columns = [key for key in rows[0] if key != "digest" and not key.endswith((LOW, HIGH))]
    rows = [{key: value_and_interval(row, key) for key in columns} for row in rows]
    step = max(1, -(-len(rows) // SHOWN_ROWS))
    shown = rows[::step][:SHOWN_ROWS]
    keys = [key for key in columns if of is not None or len({cell(row[key]) for row in rows}) > 1]
    keys = keys or columns
    keys.sort(key=lambda key: any(row[key] is None for row in rows))  # what only some rows have comes last
    table, left = Table(), console().width - 1
    for number, key in enumerate(keys):
        left -= 3 + min(WIDEST, max(len(key), *(len(cell(row[key])) for row in shown)))
        if left < 0 and number > 0:
            keys = keys[:number]
            break
        table.add_column(key, justify="right", max_width=WIDEST, overflow="fold")
    for row in shown:
        table.add_row(*(cell(row[key]) for key in keys))
    console().print(table)
    all_rows, all_columns = of or (len(rows), len(rows[0]))
    if len(keys) < all_columns or len(shown) < all_rows:
        console().print(
            f"{len(shown)} of {all_rows} rows, {len(keys)} of {all_columns} columns: all are in rows.csv"
        )


def value_and_interval(row: Row, key: str) -> Any:
    """The value, followed by half the width of its confidence interval."""
    from bulkhead.experiments.intervals import HIGH, LOW

    low, high = row.get(key + LOW), row.get(key + HIGH)
    if low is None or high is None or low == high:
        return row[key]
    return f"{cell(row[key])} ±{(high - low) / 2:.2g}"


def cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 100 else f"{value:,.0f}"
    return str(value)
