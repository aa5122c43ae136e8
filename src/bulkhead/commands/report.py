# SPDX-License-Identifier: Apache-2.0
"""`bulkhead report RUN...`: one page of HTML for one run, or for several side by side.

Reads the directories that `bulkhead run` left; runs nothing and changes none of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bulkhead.commands.options import AsJson
from bulkhead.commands.output import complain, console, print_json, result_object


def register(app: typer.Typer) -> None:
    app.command("report")(report)


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Directories of runs, or report.json files.", show_default=False
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The page.", show_default="beside the last run"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show runs in the terminal and write a page that compares them."""
    from bulkhead.report.html import write_html
    from bulkhead.report.load import NotARun, Run, load_run
    from bulkhead.report.terminal import show_run

    loaded: list[Run] = []
    errors: list[str] = []
    for path in runs:
        try:
            loaded.append(load_run(path))
        except NotARun as error:
            errors.append(str(error))
    page = output or (loaded[-1].directory.parent / "report.html" if loaded else Path("report.html"))
    if not errors:
        try:
            page.parent.mkdir(parents=True, exist_ok=True)
            write_html(loaded, page)
        except OSError as error:
            errors.append(f"{page}: cannot be written: {error.strerror}")
    if as_json:
        result = result_object(
            "report",
            verdict="error" if errors else "ok",
            reasons=errors,
            runs=[run.report for run in loaded],
            files=[] if errors else [str(page)],
        )
        print_json(result)
    else:
        for run in loaded:
            show_run(run)
        for text in errors:
            complain(f"error: {text}")
        if not errors:
            console().print(f"report: {page}")
    if errors:
        raise typer.Exit(1)
