# SPDX-License-Identifier: Apache-2.0
"""`bulkhead top RUN`: show the activity of a running system's domains in tables, until the run ends.

Reads a small file that the run updates itself (`bulkhead.run.live`), so it does not disturb the run.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson
from bulkhead.commands.output import complain_of, console, print_json
from bulkhead.commands.top_view import stopped, view_of
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.results.top import LiveSeen, LiveState, TopResult

_REFRESH_S = 0.25
_WIDTH = 80  # columns of the table, where nobody says how many there are


def register(app: typer.Typer) -> None:
    app.command("top")(top)


def top(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="SYSTEM|RUN", help="Directory of a run, or a system file whose latest run is shown."
        ),
    ],
    once: Annotated[
        bool, typer.Option("--once", help="Print the state once and end; the run may have ended, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show live the events, budgets, throttling and CPU time of domains, and the deadlines of flows.

    Ctrl-C leaves the display; the run goes on.
    """
    from bulkhead.run.find import NoRun, find_run
    from bulkhead.run.live import LIVE_FILE

    try:
        file = find_run(target, LIVE_FILE) / LIVE_FILE
        seen = _look(file)
    except NoRun as error:
        if as_json:
            print_json(result_object("top", verdict="error", reasons=str(error).splitlines()))
        else:
            complain_of(error)
        raise typer.Exit(1) from None
    if as_json:
        common = result_object("top", system=seen["system"], on=seen["on"], verdict="ok")
        result: TopResult = {**seen, **common}
        print_json(result)
    elif once or seen["state"] != "running":
        shown = console()
        shown.width = max(shown.width, _WIDTH)
        shown.print(view_of(seen))
    else:
        _follow(file)


def _read(file: Path) -> LiveState:
    from pydantic import TypeAdapter

    from bulkhead.results.top import LiveState
    from bulkhead.run.find import NoRun

    try:
        return TypeAdapter(LiveState).validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoRun(f"{file}: cannot be read ({error})") from None


def _look(file: Path) -> LiveSeen:
    """The state from the file, and whether the run goes on, has ended, or was killed. A run that ends
    writes so to the file, and the lock of the run is released whenever its process ends."""
    from bulkhead.run.directory import is_in_use

    seen = _read(file)
    if not seen["ended"] and not is_in_use(file.parent):
        seen = _read(file)  # it may have ended in between
        if not seen["ended"]:
            return stopped({**seen, "state": "killed"})
    return stopped({**seen, "state": "ended"}) if seen["ended"] else {**seen, "state": "running"}


def _follow(file: Path) -> None:
    from rich.live import Live

    from bulkhead.run.find import NoRun

    shown = console()
    with Live(view_of(_look(file)), console=shown, auto_refresh=False) as live:
        while True:
            try:
                seen = _look(file)
            except NoRun:
                return
            live.update(view_of(seen), refresh=True)
            if seen["state"] != "running":
                return
            time.sleep(_REFRESH_S)
