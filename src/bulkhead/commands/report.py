# SPDX-License-Identifier: Apache-2.0
"""`bulkhead report RUN...`: write an HTML page about one run, or about several in comparison.

Reads the directories that `bulkhead run` has written, and does not change them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson
from bulkhead.commands.output import complain, console, print_json
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.results.envelope import Verdict
    from bulkhead.results.report import ReportResult

PAGE = "report.html"


def register(app: typer.Typer) -> None:
    app.command("report")(report)


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Directories of runs, or their report.json files. Several runs are compared.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to which the page is written.",
            show_default="beside the last run",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show runs in the terminal, and write an HTML page that compares them."""
    from bulkhead.report.components import is_components_run

    make = _of_components if all(is_components_run(path) for path in runs) else _of_domains
    made = make(runs)
    page = output or made.page
    errors = made.errors or _written(page, made)
    if as_json:
        verdict: Verdict = "error" if errors else "ok"
        common = result_object("report", verdict=verdict, reasons=errors)
        result: ReportResult = {**common, "runs": made.results, "files": [] if errors else [str(page)]}
        print_json(result)
    else:
        errors = _shown(made, errors)
        for text in errors:
            complain(f"error: {text}")
        if not errors:
            console().print(f"report: {page}")
    if errors:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Report:
    """How runs of one kind are printed, and how their page is written."""

    results: list[dict[str, object]]
    show: Callable[[], None]
    write: Callable[[Path], None]
    places: list[Path]  # of each run
    page: Path  # where nothing else is asked for
    errors: list[str]


def _of_domains(runs: list[Path]) -> _Report:
    from bulkhead.report.html import write_html
    from bulkhead.report.load import LoadedRun, NotARun, load_run
    from bulkhead.report.terminal import show_run

    loaded: list[LoadedRun] = []
    errors: list[str] = []
    for path in runs:
        try:
            loaded.append(load_run(path))
        except NotARun as error:
            errors.append(str(error))

    def show() -> None:
        for run in loaded:
            show_run(run)

    page = loaded[-1].directory.parent / PAGE if loaded else Path(PAGE)
    results, places = [run.report for run in loaded], [run.directory for run in loaded]
    return _Report(results, show, lambda file: write_html(loaded, file), places, page, errors)


def _of_components(runs: list[Path]) -> _Report:
    """The report for runs of components, whose page shows jobs and memory."""
    from bulkhead.report.components import read_run, show_components_run, write_components_page

    found = [read_run(path) for path in runs]

    def show() -> None:
        for directory, result, _ in found:
            show_components_run(directory, result)

    page = found[-1][0].parent / PAGE
    results = [dict(result) for _, result, _ in found]
    places = [directory for directory, _, _ in found]
    return _Report(results, show, lambda file: write_components_page(found, file), places, page, [])


def _written(page: Path, made: _Report) -> list[str]:
    from bulkhead.report.form import readable
    from bulkhead.report.load import NotARun

    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        with readable(list(zip(made.places, made.results, strict=True))):
            made.write(page)
    except OSError as error:
        return [f"{page}: cannot be written: {error.strerror}"]
    except NotARun as error:
        return [str(error)]
    return []


def _shown(made: _Report, errors: list[str]) -> list[str]:
    """Prints the runs. Returns `errors`, with that of a run that cannot be shown."""
    from bulkhead.report.form import readable
    from bulkhead.report.load import NotARun

    try:
        with readable(list(zip(made.places, made.results, strict=True))):
            made.show()
    except NotARun as error:
        return list(dict.fromkeys([*errors, str(error)]))
    return errors
