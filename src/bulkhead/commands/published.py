# SPDX-License-Identifier: Apache-2.0
"""`bulkhead published [BOARD or ID…]`: compare the published figures that the project knows with our own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson, Cluster, Jobs, engine_of
from bulkhead.commands.output import complain_of, console, print_json, reported
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.published.beside import FigureBeside
    from bulkhead.published.figures import Figure, How
    from bulkhead.results.envelope import Verdict
    from bulkhead.results.published import PublishedResult


def register(app: typer.Typer) -> None:
    app.command("published")(published)


def published(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BOARD or ID]...",
            help="Boards, or ids of figures, to show. Without any, all figures are shown.",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Measure our figures first. All of them take an hour or more; finished measurements are "
            "kept.",
        ),
    ] = False,
    jobs: Jobs = None,
    cluster: Cluster = None,
    as_json: AsJson = False,
) -> None:
    """Show published figures beside our own, with their sources and how they were measured.

    Later calls show the results of --measure too. Points of boards that `validate` measures are shown with
    the results of its last run. The exit code does not depend on how far apart the figures are: it is 1 if
    one of our figures could not be measured, else 0.
    """
    from bulkhead.env.paths import build_dir
    from bulkhead.experiments.published_run import kept_figures, measured_figures
    from bulkhead.published.figures import chosen_figures
    from bulkhead.validation.published import figures_of_boards

    engine = engine_of(jobs, cluster)
    with reported("published", as_json=as_json):
        points = figures_of_boards(build_dir() / "run" / "validate")
        of_points = [name for one in points for name in (one.figure.board, one.figure.id)]
        meant = chosen_figures(names or (), of_points)
        points = [one for one in points if not names or {one.figure.board, one.figure.id} & set(names)]
        found, failures = measured_figures(meant, engine) if measure else (kept_figures(meant), [])
    if as_json:
        verdict: Verdict = "failed" if failures else "ok"
        common = result_object("published", on="machine", verdict=verdict, reasons=failures)
        result: PublishedResult = {**common, "figures": [one.json() for one in [*found, *points]]}
        print_json(result)
    else:
        _show([*found, *points] if names else found)
        if not names:
            _summarize(points)
        for failure in failures:
            complain_of(f"not measured: {failure}")
    if failures:
        raise typer.Exit(1)


def _show(found: Sequence[FigureBeside]) -> None:
    """Print a table for each board, with its sources below."""
    for name in dict.fromkeys(one.figure.board for one in found):
        _show_board(name, [one for one in found if one.figure.board == name])
    missing = sum(one.ours is None for one in found)
    console().print(f"{len(found)} figures, {missing} without one of ours (--measure measures what it can)")


def _summarize(points: Sequence[FigureBeside]) -> None:
    """Print a line for each board of `validate`: its points are too many for a list of everything."""
    from statistics import median

    from rich.table import Table

    table = Table(title="boards of ./bulkhead validate", title_justify="left")
    for heading in ("board", "points", "with ours", "median error"):
        table.add_column(heading)
    for name in dict.fromkeys(one.figure.board for one in points):
        own = [one for one in points if one.figure.board == name]
        errors = [abs(one.error) for one in own if one.error is not None]
        middle = f"{median(errors):.1%}" if errors else "–"
        table.add_row(name, str(len(own)), str(len(errors)), middle)
    console().print(table)
    console().print("the points of a board: ./bulkhead published BOARD; ours: ./bulkhead validate")


def _show_board(name: str, found: Sequence[FigureBeside]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=name, title_justify="left", show_lines=True)
    for heading in ("what", "published", "ours"):
        table.add_column(heading, overflow="fold", ratio=1)
    table.add_column("error", justify="right", no_wrap=True)
    sources = list(dict.fromkeys(one.figure.source for one in found))
    for one in found:
        figure = one.figure
        ours = one.origin if one.ours is None else f"{_ours(one)}\n{_beside(figure)}\n{one.origin}"
        table.add_row(
            Text(figure.what),
            Text(f"{figure.text()} [{sources.index(figure.source) + 1}]\n{_how(figure.measured)}"),
            Text(ours),
            "–" if one.error is None else f"{one.error:+.1%}",
        )
    console().print(table)
    for number, source in enumerate(sources, 1):
        console().print(Text(f"[{number}] {source}"))


def _ours(one: FigureBeside) -> str:
    assert one.ours is not None
    if one.low is None or one.high is None:
        return f"{one.ours:.4g}"
    return f"{one.ours:.4g} ({one.low:.4g} to {one.high:.4g})"


def _beside(figure: Figure) -> str:
    """How ours is measured: the same way, or what differs."""
    how = figure.ours.how
    if how is None:
        return "the same way"
    if not figure.differences:
        return f"the same way: {how.by}"
    return f"{_how(how)}\ndiffers in: {', '.join(figure.differences)}"


def _how(how: How) -> str:
    words = {"statistic": how.statistic, "per": f"per {how.per}", "way": how.way, "input": how.input}
    shown = (f"{key} not stated" if word == "not stated" else word for key, word in words.items())
    return ", ".join(word for word in shown if word not in ("-", "per -")) + f": {how.by}"
