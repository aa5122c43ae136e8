# SPDX-License-Identifier: Apache-2.0
"""`bulkhead validate [BOARD…]`: compare predictions of the simulated machine with measurements on boards.

Points run in parallel, each in a process of its own. Results are kept, and finished points are not run again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson, Cluster, Jobs, engine_of
from bulkhead.commands.output import console, print_json, reported
from bulkhead.env.commit import commit, version_text
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.results.envelope import Verdict
    from bulkhead.results.validate import (
        BoardErrorsResult,
        ErrorsResult,
        ValidateResult,
        ValidationPointResult,
    )
    from bulkhead.validation.compare import Compared, Summary
    from bulkhead.validation.model import Board


def register(app: typer.Typer) -> None:
    app.command("validate")(validate)


def validate(
    boards: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BOARD]...",
            help="Names of the boards to validate. Without any, all boards are validated.",
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    every: Annotated[
        bool, typer.Option("--points", help="Show every point instead of one line for each kind of figure.")
    ] = False,
    as_markdown: Annotated[
        bool,
        typer.Option(
            "--markdown",
            help="Print Markdown tables of the validation boards, as in docs/results/validation.md.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare predictions with published figures; the exit code is 1 if an error exceeds its limit."""
    from bulkhead.campaign.points import run_jobs
    from bulkhead.env.paths import build_dir
    from bulkhead.machine.native import built_machine
    from bulkhead.validation.compare import LEAST_NS, compare, of_role, summary
    from bulkhead.validation.measure import points
    from bulkhead.validation.model import boards_of
    from bulkhead.validation.page import write_page
    from bulkhead.validation.tables import markdown

    begin, engine = time.monotonic(), engine_of(jobs, cluster)
    directory = build_dir() / "run" / "validate"
    with reported("validate", as_json=as_json, on="machine"):
        named = boards_of(boards or [])
        built_machine()
        wanted = [point for board in named for point in points(board, LEAST_NS)]
        compared = compare(wanted, lambda made: run_jobs(made, directory / "points", engine, "validate"))
    judged = of_role(compared, "validation")
    total = summary(judged)
    command = ["./bulkhead", "validate", *(boards or [])]
    files = write_page(compared, directory, command, {"version": version_text(), "commit": commit()})
    verdict: Verdict = "ok" if total.holds else "failed"
    if as_json:
        reasons = [] if total.holds else [_missed(total)]
        result: ValidateResult = {
            **result_object("validate", on="machine", verdict=verdict, reasons=reasons),
            "boards": [_board(board, compared) for board in named],
            "points": [_row(one) for one in compared],
            "validation": _numbers(total),
            "calibration": _numbers(summary(of_role(compared, "calibration"))),
            "files": [str(file) for file in files],
            "seconds": round(time.monotonic() - begin, 1),
        }
        print_json(result)
    elif as_markdown:
        typer.echo(markdown(compared), nl=False)
    else:
        _show(compared, every=every)
        style = "green" if total.holds else "red"
        console().print(f"{_missed(total) if not total.holds else _met(total)}; {files[0]}", style=style)
    if not total.holds:
        raise typer.Exit(1)


def _board(board: Board, compared: list[Compared]) -> BoardErrorsResult:
    from bulkhead.validation.compare import summary

    own = [one for one in compared if one.point.board.board == board.board]
    return {"board": board.board, "role": board.role, **_numbers(summary(own))}


def _row(one: Compared) -> ValidationPointResult:
    point = one.point
    return {
        "board": point.board.board,
        "role": point.board.role,
        "kind": point.kind,
        "pages": point.pages,
        "bytes": point.size,
        "processes": point.processes,
        "unit": point.unit,
        "published": point.published,
        "predicted": round(one.predicted, 2),
        "error": round(one.error, 4),
    }


def _numbers(total: Summary) -> ErrorsResult:
    return {"points": total.points, "median": round(total.median, 4), "worst": round(total.worst, 4)}


def _met(total: Summary) -> str:
    found = f"median error {total.median:.0%}, worst {total.worst:.0%}"
    return f"{total.points} points of validation boards: {found}"


def _missed(total: Summary) -> str:
    from bulkhead.validation.compare import MEDIAN_LIMIT, WORST_LIMIT

    return f"{_met(total)}; the limits are {MEDIAN_LIMIT:.0%} and {WORST_LIMIT:.0%}"


def _show(compared: list[Compared], *, every: bool) -> None:
    """Print a line for each kind of figure of each board, or for each point."""
    from rich.table import Table

    from bulkhead.units import size_text
    from bulkhead.validation.compare import summary
    from bulkhead.validation.groups import grouped

    table = Table()
    for heading in ("board", "", "figure", "published", "machine", "error" if every else "median", "worst"):
        if heading != "worst" or not every:
            table.add_column(heading)
    for group in grouped(compared):
        if every:
            for one in group.compared:
                figure = (
                    f"{group.name}, {size_text(one.point.size)}" if one.point.unit == "ns" else group.name
                )
                values = (f"{one.point.published:g}", f"{one.predicted:.4g}", f"{one.error:+.0%}")
                table.add_row(group.board, group.role, figure, *values)
            continue
        total, last = summary(group.compared), group.compared[-1]
        values = (f"{last.point.published:g}", f"{last.predicted:.4g}", f"{total.median:.0%}")
        worst = max(group.compared, key=lambda one: abs(one.error))
        table.add_row(group.board, group.role, group.name, *values, f"{worst.error:+.0%}")
    console().print(table)
    if not every:
        console().print("published and machine: of the largest block; each point: --points")
