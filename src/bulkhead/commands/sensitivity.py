# SPDX-License-Identifier: Apache-2.0
"""`bulkhead sensitivity NAME`: vary assumed parameters and show how an experiment's headline changes."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson, Cluster, Jobs, Seeds, engine_of
from bulkhead.commands.output import console, print_json, reported
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.results.experiment import SensitivityResult, SensitivityRowResult

SHOWN = 16  # rows: they come with what moves the headline most first


def register(app: typer.Typer) -> None:
    app.command("sensitivity")(sensitivity)


def sensitivity(
    name: Annotated[str, typer.Argument(help="Name of an experiment, or path of its file.")],
    by: Annotated[
        int,
        typer.Option(
            min=1,
            max=90,
            metavar="PERCENT",
            help="Percentage by which each parameter is decreased and increased.",
        ),
    ] = 25,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a value of the experiment (repeatable), as for `experiment`.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="PARAMETER",
            help="Vary only this parameter (repeatable). Without it, all assumed parameters are varied.",
            show_default=False,
        ),
    ] = None,
    seeds: Seeds = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    again: Annotated[
        bool, typer.Option("--again", help="Run points again that already have results.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show how much each assumed parameter of the platform changes an experiment's headline figure."""
    from bulkhead.experiments.model import BadSetting
    from bulkhead.experiments.sensitivity_run import SensitivityRequest, perform_sensitivity

    begin = time.monotonic()
    engine = engine_of(jobs, cluster)
    command = ["./bulkhead", "sensitivity", name, "--by", str(by)]
    command += [word for setting in settings or () for word in ("--set", setting)]
    with reported("sensitivity", as_json=as_json, on="machine"):
        request = SensitivityRequest(
            name, Fraction(by, 100), engine, command, settings or (), only or (), seeds, again
        )
        try:
            found = perform_sensitivity(request)
        except BadSetting as error:
            raise typer.BadParameter(str(error)) from error
    seconds = round(time.monotonic() - begin, 1)
    if as_json:
        result: SensitivityResult = {
            **result_object("sensitivity", platform=found.platform, on="machine", verdict="ok"),
            "experiment": found.experiment,
            "headline": found.headline,
            "rows": found.rows,
            "files": [str(file) for file in found.files],
            "seconds": seconds,
        }
        print_json(result)
        return
    console().print(found.headline, style="bold")
    _show(found.rows)
    varied = f"{found.experiment}: {len(found.rows) - 1} variations"
    console().print(f"{varied} in {seconds:.0f} s, {found.files[0]}", style="green")


def _show(rows: list[SensitivityRowResult]) -> None:
    """Print the first rows with each parameter's effect on the headline. In a narrow terminal names are
    folded first, figures last."""
    from rich.table import Table

    from bulkhead.commands.experiment import cell, value_and_interval

    table = Table()
    table.add_column("parameter", overflow="fold")
    table.add_column("value", justify="right", overflow="fold", max_width=18)
    table.add_column("headline", justify="right", overflow="fold", max_width=18)
    table.add_column("change", justify="right", no_wrap=True)
    for row in rows[:SHOWN]:
        change = row["change_percent"]
        table.add_row(
            row["parameter"],
            f"{row['value']} → {row['to']}" if row["to"] else row["value"],
            "cannot be" if row["refused"] else cell(value_and_interval(dict(row), "headline")),
            "–" if change is None else f"{change:+.1f} %",
        )
    console().print(table)
    if len(rows) > SHOWN:
        console().print(f"{SHOWN} of {len(rows)} rows: all are in rows.csv")
