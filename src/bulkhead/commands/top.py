# SPDX-License-Identifier: Apache-2.0
"""`bulkhead top RUN`: a table of what the domains of a running system do, as long as it runs.

Reads the small file that the run itself keeps up to date (`bulkhead.run.live`), so it disturbs nothing.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bulkhead.commands.options import AsJson
from bulkhead.commands.output import complain_of, console, print_json, result_object

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

_REFRESH_S = 0.25
_WIDTH = 80  # columns of the table, where nobody says how many there are


def register(app: typer.Typer) -> None:
    app.command("top")(top)


def top(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="SYSTEM|RUN", help="System file, whose latest run is shown, or directory of a run."
        ),
    ],
    once: Annotated[
        bool, typer.Option("--once", help="Show the state once, also that of a run that has ended.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show events, budgets, throttling and exits of each domain live; Ctrl-C leaves."""
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
        print_json(result_object("top", verdict="ok", reasons=[], **seen))
    elif once or seen["state"] != "running":
        shown = console()
        shown.width = max(shown.width, _WIDTH)
        shown.print(view_of(seen))
    else:
        _follow(file)


def _read(file: Path) -> dict[str, Any]:
    from bulkhead.run.find import NoRun

    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoRun(f"{file}: cannot be read ({error})") from None
    assert isinstance(content, dict)
    return content


def _look(file: Path) -> dict[str, Any]:
    """What the file says, and whether its run still runs, has ended, or was killed: a run that ends writes
    so, and its lock goes with its process, however that ends."""
    from bulkhead.run.directory import is_in_use

    seen = _read(file)
    if not seen["ended"] and not is_in_use(file.parent):
        seen = _read(file)  # it may have ended in between
        if not seen["ended"]:
            return _stopped(seen) | {"state": "killed"}
    return _stopped(seen) | {"state": "ended"} if seen["ended"] else seen | {"state": "running"}


def _stopped(seen: dict[str, Any]) -> dict[str, Any]:
    """Nothing runs any more after the run."""
    rows = [row | {"state": "ran"} if row["state"] == "running" else row for row in seen["domains"]]
    return seen | {"domains": rows}


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


_STATES = {
    "running": "running",
    "ended": "ended, means of the whole run",
    "killed": "killed: its process ended without a result; what was seen last",
}


def view_of(seen: dict[str, Any]) -> Group:
    """The table, and below it what MPAM's monitors say, where there are any."""
    from rich.console import Group
    from rich.text import Text

    from bulkhead.report.monitors import errors_text, monitor_rows, monitor_table

    parts: list[RenderableType] = [table_of(seen)]
    rows = [
        row
        for domain in seen["domains"]
        for row in monitor_rows(domain["domain"], domain.get("mpam") or [], None)
    ]
    if rows:
        parts += [Text(""), monitor_table(rows)]
    if errors := errors_text({"errors": seen.get("mpam_errors")}):
        parts.append(Text(errors, style="red"))
    return Group(*parts)


def table_of(seen: dict[str, Any]) -> Table:
    """At most 80 columns wide with ordinary names and numbers; a long name takes more lines."""
    from rich import box
    from rich.table import Table

    from bulkhead.report.numbers import count, duration

    if seen["state"] != "running":
        seen = _stopped(seen)
    clock = f", {seen['guest_s']:.2f} s" if seen["guest_s"] is not None else ""
    table = Table(
        title=f"{seen['system']} on {seen['on']}{clock}: {_STATES[seen['state']]}",
        box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 0), pad_edge=False, show_edge=False,
    )  # fmt: skip
    table.add_column("domain", overflow="fold")
    table.add_column("cores", overflow="fold")
    table.add_column("state", no_wrap=True)
    for name in ("events", "budget", "period", "MB/s", "stopped", "exits/s"):
        table.add_column(name, justify="right", no_wrap=True)
    regulation = seen.get("regulation")
    if regulation is not None:
        table.caption_justify = "left"
        table.caption = f"regulator: G {count(regulation['global'])} events, load {regulation['load']:.0%}"

    def number(value: float | None) -> str:
        return "–" if value is None else count(round(value))

    for row in seen["domains"]:
        throttled = row.get("throttled")
        table.add_row(
            row["domain"],
            ",".join(str(core) for core in row["cores"]),
            row["state"],
            number(row.get("events_per_period")),
            number(row.get("budget")),
            duration(row["period_ns"]) if "period_ns" in row else "–",
            number(row.get("mb_per_s")),
            "–" if throttled is None else f"{100 * throttled:.1f} %",
            number(row["exits_per_s"]),
        )
    return table
