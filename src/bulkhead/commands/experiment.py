# SPDX-License-Identifier: Apache-2.0
"""`bulkhead experiment [NAME]`: list the experiments, or run one on the simulated machine.

Points run side by side, each in a process of its own; what is done is kept, and not run again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bulkhead.commands.options import AsJson
from bulkhead.commands.output import commit, complain_of, console, print_json, result_object, version_text

if TYPE_CHECKING:
    from bulkhead.experiments.model import Experiment, PointJob
    from bulkhead.experiments.traces import Trace

SHOWN_ROWS = 16
WIDEST = 10  # column, in characters: longer words are folded


def register(app: typer.Typer) -> None:
    app.command("experiment")(experiment)


def experiment(
    name: Annotated[
        str | None, typer.Argument(help="An experiment's name, or a file.", show_default=False)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A swept or fixed value; a..b..step.", show_default=False
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="VALUE", help="Only points with this value.", show_default=False),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes.", show_default="one for each core")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also run points that are done.")] = False,
    as_json: AsJson = False,
) -> None:
    """List experiments, or run one: all rows, a table, plots and a page."""
    from bulkhead.commands import experiment_flows
    from bulkhead.experiments.model import BadExperiment, load_experiment, points_of
    from bulkhead.experiments.override import with_settings
    from bulkhead.experiments.runner import PointFailed

    if name is None:
        _list(as_json)
        return
    given = [
        *(word for s in settings or () for word in ("--set", s)),
        *(w for o in only or () for w in ("--only", o)),
    ]
    if name == experiment_flows.NAME:
        _flows(settings or (), only or (), jobs, again, [name, *given], as_json)
        return
    try:
        what = with_settings(load_experiment(name), settings or ())
        points = points_of(what, only or ())
        rows, files, seconds, traces = _run(what, points, only or (), jobs, again, [name, *given])
    except (BadExperiment, PointFailed, ValueError) as error:
        _say_why_not(error, as_json)
        raise typer.Exit(1) from error
    if as_json:
        found: dict[str, Any] = {
            "experiment": what.name,
            "rows": rows,
            "files": files,
            "traces": [trace.json() for trace in traces],
            "seconds": round(seconds, 1),
        }
        print_json(result_object("experiment", platform=what.platform, on="machine", verdict="ok", **found))
        return
    show_rows(rows)
    for trace in traces:
        console().print(f"{trace.name}: recorded {trace.text()}")
    console().print(
        f"{what.name}: {len(rows)} points on {what.platform} in {seconds:.0f} s, {files[0]}", style="green"
    )


def _say_why_not(error: Exception, as_json: bool) -> None:
    if as_json:
        print_json(result_object("experiment", on="machine", verdict="error", reasons=str(error).split("\n")))
    else:
        complain_of(error)


def _flows(
    settings: Sequence[str],
    only: Sequence[str],
    workers: int | None,
    again: bool,
    arguments: list[str],
    as_json: bool,
) -> None:
    """The one whose sections are of different kinds."""
    from bulkhead.commands.experiment_flows import NAME, PLATFORM, run_flows
    from bulkhead.experiments.model import BadExperiment
    from bulkhead.experiments.runner import PointFailed

    try:
        if settings:
            raise BadExperiment(f"--set {settings[0]}: '{NAME}' has sections (--only), no values to set")
        rows, files, seconds = run_flows(only, workers, again, arguments)
    except (BadExperiment, PointFailed, ValueError) as error:
        _say_why_not(error, as_json)
        raise typer.Exit(1) from error
    if as_json:
        found: dict[str, Any] = {"experiment": NAME, "sections": rows, "files": files}
        found["seconds"] = round(seconds, 1)
        print_json(result_object("experiment", platform=PLATFORM, on="machine", verdict="ok", **found))
        return
    for name, own in rows.items():
        console().print(f"{name}:", style="bold")
        show_rows(own)
    console().print(f"{NAME}: {', '.join(rows)} in {seconds:.0f} s, {files[0]}", style="green")


def _run(
    what: Experiment,
    points: list[PointJob],
    only: Sequence[str],
    workers: int | None,
    again: bool,
    arguments: list[str],
) -> tuple[list[dict[str, Any]], list[str], float, list[Trace]]:
    import hashlib
    import shutil

    from bulkhead.config.locate import platform_path
    from bulkhead.env.paths import build_dir
    from bulkhead.experiments.budgets import find_budgets
    from bulkhead.experiments.model import alone_jobs, points_of
    from bulkhead.experiments.output import write_output
    from bulkhead.experiments.rows import rows_of
    from bulkhead.experiments.runner import run_jobs, runs_workloads
    from bulkhead.experiments.traces import with_traces
    from bulkhead.machine.native import built_machine

    points, traces = with_traces(points)
    built_machine(workloads=any(runs_workloads(one.job) for one in points))
    directory = build_dir() / "run" / "experiments" / what.name
    if again:
        shutil.rmtree(directory / "points", ignore_errors=True)
    begin = time.monotonic()
    keep = directory / "points"

    def search(wanted: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        return run_jobs(wanted, keep, workers, f"{what.name}, budgets")

    budgets = find_budgets(what, points, search)
    if budgets is not None:
        points, traces = with_traces(points_of(what, only, budgets))
    jobs = [(one.key, one.job) for one in points]
    if what.result == "slowdown":
        jobs += alone_jobs(points)
    results = run_jobs(jobs, keep, workers, what.name)
    rows = rows_of(what, points, results)
    seconds = time.monotonic() - begin
    path = platform_path(what.platform)
    assert path is not None, "its points were run"
    facts = {
        "version": version_text(),
        "commit": commit(),
        "platform file, SHA-256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "points": str(len(rows)),
        **{f"recorded program {trace.name}": trace.text() for trace in traces},
    }
    command = ["./bulkhead", "experiment", *arguments]
    files = write_output(what, rows, directory, command, facts, (points, results))
    return rows, [str(file) for file in files], seconds, traces


def _list(as_json: bool) -> None:
    from rich.table import Table

    from bulkhead.commands import experiment_flows
    from bulkhead.experiments.model import experiment_names, load_experiment, points_of

    found = []
    for name in experiment_names():
        one = load_experiment(name)
        found.append(
            {"name": name, "platform": one.platform, "points": len(points_of(one)), "title": one.title}
        )
    of_flows = {"name": experiment_flows.NAME, "platform": experiment_flows.PLATFORM}
    found.append(of_flows | {"points": experiment_flows.count_points(), "title": experiment_flows.TITLE})
    found.sort(key=lambda one: str(one["name"]))
    if as_json:
        print_json(result_object("experiment", verdict="ok", experiments=found))
        return
    table = Table()
    for heading in ("name", "platform", "points", "title"):
        table.add_column(heading)
    for row in found:
        table.add_row(*(str(value) for value in row.values()))
    console().print(table)


def show_rows(rows: list[dict[str, Any]]) -> None:
    """Some of the rows, evenly: a terminal is no place for hundreds. Nor for all columns: those that tell the
    rows apart, as many as fit."""
    from rich.table import Table

    step = max(1, -(-len(rows) // SHOWN_ROWS))
    shown = rows[::step]
    keys = [key for key in rows[0] if key != "digest" and len({_cell(row[key]) for row in rows}) > 1]
    keys = keys or [key for key in rows[0] if key != "digest"]
    keys.sort(key=lambda key: any(row[key] is None for row in rows))  # what only some rows have comes last
    table, left = Table(), console().width - 1
    for number, key in enumerate(keys):
        left -= 3 + min(WIDEST, max(len(key), *(len(_cell(row[key])) for row in shown)))
        if left < 0 and number > 0:
            keys = keys[:number]
            break
        table.add_column(key, justify="right", max_width=WIDEST, overflow="fold")
    for row in shown:
        table.add_row(*(_cell(row[key]) for key in keys))
    console().print(table)
    if len(keys) < len(rows[0]) or step > 1:
        console().print(
            f"{len(shown)} of {len(rows)} rows, {len(keys)} of {len(rows[0])} columns: all are in rows.csv"
        )


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 100 else f"{value:,.0f}"
    return str(value)
