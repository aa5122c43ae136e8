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
    from bulkhead.experiments.published import FigureBeside
    from bulkhead.published.figures import How
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

    Later calls show the results of --measure too. The exit code does not depend on how far apart the figures
    are: it is 1 if one of our figures could not be measured, else 0.
    """
    from bulkhead.experiments.published_run import kept_figures, measured_figures
    from bulkhead.published.figures import chosen_figures

    engine = engine_of(jobs, cluster)
    with reported("published", as_json=as_json):
        meant = chosen_figures(names or ())
        found, failures = measured_figures(meant, engine) if measure else (kept_figures(meant), [])
    if as_json:
        verdict: Verdict = "failed" if failures else "ok"
        common = result_object("published", on="machine", verdict=verdict, reasons=failures)
        result: PublishedResult = {**common, "figures": [one.json() for one in found]}
        print_json(result)
    else:
        _show(found)
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
        own = figure.ours.how
        how = _how(own) if own is not None else "the same way"
        how = f"the same way: {own.by}" if own is not None and figure.alike else how
        ours = one.origin if one.ours is None else f"{_ours(one)}\n{how}\n{one.origin}"
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


def _how(how: How) -> str:
    return (
        ", ".join(
            word
            for word in (how.statistic, f"per {how.per}" if how.per != "-" else "", how.way)
            if word not in ("", "-")
        )
        + f": {how.by}"
    )
