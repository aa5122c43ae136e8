# SPDX-License-Identifier: Apache-2.0
"""`bulkhead self-test PLATFORM LOG`: figures that a board measured, beside those of its platform file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from bulkhead.commands.options import AsJson, refuse_no_file
from bulkhead.commands.output import complain, console, print_json, reported
from bulkhead.envelope import platform_sha256, result_object

if TYPE_CHECKING:
    from bulkhead.config.platform import Platform
    from bulkhead.results.self_test import MeasuredFigureResult, SelfTestResult
    from bulkhead.validation.self_test import AnySelfTest
    from bulkhead.validation.self_test_figures import MeasuredFigure


def register(app: typer.Typer) -> None:
    app.command("self-test")(self_test)


def self_test(
    name: Annotated[
        str, typer.Argument(metavar="PLATFORM", help="Name of a platform, or path of a platform file.")
    ],
    log: Annotated[
        Path,
        typer.Argument(
            metavar="LOG",
            help="Console log of a run of one of the examples self-test*.yaml on the board.",
        ),
    ],
    write: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the figures for which the platform file has keys to this file, in its form.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the figures of a board's self-test, from its console log, beside those of the platform file."""
    from bulkhead.config.load import load_named
    from bulkhead.validation.self_test import read_log
    from bulkhead.validation.self_test_lines import Lines, lines_for

    refuse_no_file(write, "--write")
    path, platform, reasons = load_named(name)
    if platform is None or path is None:
        _refuse(name, reasons, as_json)
    test, problems = read_log(log)
    if test is None:
        _refuse(name, [problem.text() for problem in problems], as_json)
    figures = _figures_of(test, platform)
    lines = Lines("", ())
    if write is not None:
        command = f"bulkhead self-test {name} {log.name} --write {write.name}"
        with reported("self-test", as_json=as_json, platform=platform.name):
            lines = lines_for(path, figures, command)
        try:
            write.write_text(lines.text, encoding="utf-8")
        except OSError as error:
            _refuse(name, [f"{write}: cannot be written: {error.strerror}"], as_json)
    if as_json:
        result: SelfTestResult = {
            **result_object(
                "self-test", platform=platform.name, verdict="ok", platform_sha256=platform_sha256(name)
            ),
            "log": str(log),
            "figures": [_row(one) for one in figures],
            "written": None if write is None else str(write),
            "consequences": list(lines.consequences),
        }
        print_json(result)
        return
    _show(figures)
    if write is not None:
        for problem in lines.consequences:
            complain(f"notice: with these lines: {problem}")
        console().print(f"lines for the platform file: {write}")


def _figures_of(test: AnySelfTest, platform: Platform) -> list[MeasuredFigure]:
    from bulkhead.validation.self_test import BudgetSelfTest, FlowSelfTest, UtilizationSelfTest
    from bulkhead.validation.self_test_budget_figures import budget_figures_of, utilization_figures_of
    from bulkhead.validation.self_test_figures import figures_of
    from bulkhead.validation.self_test_flow_figures import flow_figures_of

    if isinstance(test, FlowSelfTest):
        return list(flow_figures_of(test, platform))
    if isinstance(test, BudgetSelfTest):
        return list(budget_figures_of(test, platform))
    if isinstance(test, UtilizationSelfTest):
        return list(utilization_figures_of(test, platform))
    return figures_of(test, platform)


def _refuse(name: str, reasons: Sequence[str], as_json: bool) -> NoReturn:
    if as_json:
        print_json(result_object("self-test", platform=name, verdict="error", reasons=reasons))
    for reason in () if as_json else reasons:
        complain(f"error: {reason}")
    raise typer.Exit(1)


def _row(one: MeasuredFigure) -> MeasuredFigureResult:
    return {
        "figure": one.what,
        "unit": one.unit,
        "measured": one.measured,
        "stated": one.stated,
        "ratio": one.ratio,
        "key": one.key,
        "value": one.value,
    }


def _show(figures: Sequence[MeasuredFigure]) -> None:
    from rich.table import Table

    table = Table(
        "figure", title="measured on the board, and stated in the platform file", title_justify="left"
    )
    for heading in ("measured", "stated", "ratio"):
        table.add_column(heading, justify="right")
    for one in figures:
        ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
        stated = "" if one.stated is None else _number(one.stated, one.unit)
        measured = "not seen" if one.measured is None else _number(one.measured, one.unit)
        table.add_row(one.what, measured, stated, ratio)
    console().print(table)


def _number(value: float, unit: str) -> str:
    """With one digit behind the point if it is not whole."""
    return f"{value:,.0f} {unit}".rstrip() if value == int(value) else f"{value:,.1f} {unit}"
