# SPDX-License-Identifier: Apache-2.0
"""`bulkhead published [BOARD or ID…]`: compare the published figures that the project knows with our own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson, Cluster, Jobs, engine_of
from bulkhead.commands.output import complain_of, console, print_json, reported, result_object

if TYPE_CHECKING:
    from bulkhead.campaign.engine import Engine
    from bulkhead.experiments.model import Experiment, Sectioned
    from bulkhead.experiments.published import FigureBeside, FigurePlaces
    from bulkhead.experiments.row import Row
    from bulkhead.machine.answer import PointAnswer
    from bulkhead.machine.job import Job
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

    Later calls show the results of --measure too. The exit code does not depend on how far apart the figures
    are: it is 1 if one of our figures could not be measured, else 0.
    """
    engine = engine_of(jobs, cluster)
    with reported("published", as_json=as_json):
        meant = _meant(names or ())
        found, failures = _measured(meant, engine) if measure else (_kept(meant), [])
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


def _meant(names: Sequence[str]) -> list[Figure]:
    from bulkhead.config.problem import no_such
    from bulkhead.published.figures import BadFigures, figures

    known = figures()
    boards = dict.fromkeys(one.board for one in known.values())
    for name in names:
        if name not in known and name not in boards:
            raise BadFigures(no_such("board or figure", name, [*boards, *known]))
    return [one for one in known.values() if not names or one.id in names or one.board in names]


def _places() -> FigurePlaces:
    from bulkhead.env.paths import build_dir
    from bulkhead.experiments.published import FigurePlaces

    run = build_dir() / "run"
    return FigurePlaces(run / "experiments", run / "published" / "figures")


def _kept(meant: Sequence[Figure]) -> list[FigureBeside]:
    from bulkhead.experiments.published import kept

    return kept(meant, _places())


def _measured(meant: Sequence[Figure], engine: Engine) -> tuple[list[FigureBeside], list[str]]:
    """The measured figures, and the reasons why others could not be measured."""
    from bulkhead.commands.run import run_quietly
    from bulkhead.experiments.means import Means
    from bulkhead.experiments.published import measured
    from bulkhead.experiments.run import tables_of
    from bulkhead.machine.native import built_machine

    built_machine(workloads=True)
    places = _places()
    run = places.experiments.parent

    def facts(asked: Sequence[tuple[str, Job]], title: str) -> list[PointAnswer]:
        return Means(title, run / "published", engine, run_quietly).jobs(asked)

    def rows(what: Experiment | Sectioned, only: Sequence[str], title: str) -> list[Row]:
        means = Means(title, places.experiments / what.name, engine, run_quietly)
        return [row for table in tables_of(what, only, means, again=False) for row in table.rows]

    return measured(meant, facts, rows, places)


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
