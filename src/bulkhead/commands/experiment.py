# SPDX-License-Identifier: Apache-2.0
"""`bulkhead experiment [NAME]`: list the experiments, or run one on the simulated machine.

Points run in parallel, each in a process of its own. Results are kept, and finished points are not run again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bulkhead.commands.options import AsJson, Cluster, Jobs, engine_of
from bulkhead.commands.output import (
    commit,
    console,
    print_json,
    reported,
    result_object,
    version_text,
)

if TYPE_CHECKING:
    from bulkhead.campaign.engine import Engine
    from bulkhead.experiments.model import Experiment, Sectioned
    from bulkhead.experiments.row import Row
    from bulkhead.experiments.run import Table
    from bulkhead.results.experiment import ExperimentEntryResult, ExperimentResult, ExperimentsResult

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
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of times that each point is run, each time with another seed.",
            show_default="the file's",
        ),
    ] = None,
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
    from bulkhead.experiments.model import BadSetting, load_experiment
    from bulkhead.experiments.override import full, quick, with_seeds, with_settings

    if name is None:
        _list(as_json)
        return
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
        try:
            loaded = load_experiment(name)
            sized = quick(loaded) if small else full(loaded) if large else loaded
            what = with_seeds(with_settings(sized, settings or ()), seeds)
            found = _run(what, only or (), engine, again, ["./bulkhead", "experiment", name, *given])
        except BadSetting as error:
            raise typer.BadParameter(str(error)) from error
    seconds = time.monotonic() - begin
    if as_json:
        print_json(_json(what, found, seconds))
    else:
        _show(what, found, seconds)


Written = list[tuple["Table", list[str]]]  # with the files of each


def _run(
    what: Experiment | Sectioned, only: Sequence[str], engine: Engine, again: bool, command: list[str]
) -> Written:
    """Run the experiment and return its tables; each is written as soon as it is complete."""
    from bulkhead.commands.run import run_quietly
    from bulkhead.env.paths import build_dir
    from bulkhead.experiments.means import Means
    from bulkhead.experiments.output import write_output
    from bulkhead.experiments.run import tables_of

    means = Means(what.name, build_dir() / "run" / "experiments" / what.name, engine, run_quietly)
    found: Written = []
    for table in tables_of(what, only, means, again=again):
        shown = table_facts(table)
        files = write_output(table.sheet, table.rows, table.directory, command, shown, table.recorded)
        found.append((table, [str(file) for file in files]))
    return found


def table_facts(table: Table) -> dict[str, str]:
    """Platform, versions and settings that a table's page states."""
    import hashlib

    from bulkhead.config.locate import platform_path

    names = dict.fromkeys(str(row.get("platform", table.sheet.platform)) for row in table.rows)
    hashes = {}
    for name in names:
        path = platform_path(name)
        assert path is not None, "it was run"
        of = f" {name}" if len(names) > 1 else ""
        hashes[f"platform file{of}, SHA-256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return {
        "version": version_text(),
        "commit": commit(),
        **hashes,
        "points": str(len(table.rows)),
        **_seeds(table),
        **{f"recorded program {trace.name}": trace.text() for trace in table.traces},
    }


def _seeds(table: Table) -> dict[str, str]:
    from bulkhead.experiments.intervals import CONFIDENCE

    seeds = table.rows[0].get("seeds")
    if seeds is None:
        return {}
    return {"seeds of each point": f"{seeds}; intervals: Student's, {CONFIDENCE:.0%}, of the mean over seeds"}


def _json(what: Experiment | Sectioned, found: Written, seconds: float) -> ExperimentResult:
    """Print all rows as JSON; each has its section if the experiment has sections."""
    tables = [table for table, _ in found]
    return {
        **result_object("experiment", platform=what.platform, on="machine", verdict="ok"),
        "experiment": what.name,
        "rows": [
            {"section": table.section, **row} if table.section else row
            for table in tables
            for row in table.rows
        ],
        "files": [file for _, files in found for file in files],
        "traces": [trace.json() for table in tables for trace in table.traces],
        "seconds": round(seconds, 1),
    }


def _show(what: Experiment | Sectioned, found: Written, seconds: float) -> None:
    for table, _ in found:
        if table.section:
            console().print(f"{table.section}:", style="bold")
        _show_table(table)
        for trace in table.traces:
            console().print(f"{trace.name}: recorded {trace.text()}")
    sections = ", ".join(table.section for table, _ in found if table.section)
    done = sections or f"{len(found[0][0].rows)} points on {what.platform}"
    pages = ", ".join(files[0] for _, files in found)
    console().print(f"{what.name}: {done} in {seconds:.0f} s, {pages}", style="green")


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
