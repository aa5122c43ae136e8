# SPDX-License-Identifier: Apache-2.0
"""`bulkhead limits PLATFORM`: what its memory sustains, by pattern and cores, and guarantees (B10)."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bulkhead.commands.calibrate import load_named
from bulkhead.commands.options import AsJson
from bulkhead.commands.output import complain, console, print_json, result_object


def register(app: typer.Typer) -> None:
    app.command("limits")(limits)


def limits(
    name: Annotated[str, typer.Argument(metavar="PLATFORM", help="A platform's name, or a path.")],
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes.", show_default="one for each core")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure on the simulated machine what a platform's memory can sustain."""
    from bulkhead.experiments.runner import PointFailed, run_jobs
    from bulkhead.machine import limits as library
    from bulkhead.machine.native import built_machine

    _, platform, reasons = load_named(name)
    if platform is None:
        if as_json:
            print_json(result_object("limits", platform=name, verdict="error", reasons=reasons))
        for reason in () if as_json else reasons:
            complain(f"error: {reason}")
        raise typer.Exit(1)
    built_machine()

    def run(wanted: Any) -> list[dict[str, Any]]:
        return run_jobs(
            [(f"{number}", job) for number, job in enumerate(wanted)], None, jobs, f"limits {name}"
        )

    try:
        found = library.sustained(platform, run)
    except (PointFailed, ValueError) as error:
        if as_json:
            print_json(result_object("limits", platform=name, verdict="error", reasons=[str(error)]))
        else:
            complain(f"error: {error}")
        raise typer.Exit(1) from error
    peak = library.peak_mb_per_s(platform)
    worst = library.guaranteed(found, platform.cores.count)
    if as_json:
        rows = [
            {"pattern": one.pattern, "cores": one.cores, "mb_s": one.mb_per_s, "utilization": one.utilization}
            for one in found
        ]
        print_json(
            result_object(
                "limits",
                platform=platform.name,
                on="machine",
                verdict="ok",
                peak_mb_s=peak,
                guaranteed_mb_s=worst.mb_per_s,
                guaranteed_pattern=worst.pattern,
                guaranteed_cores=worst.cores,
                rows=rows,
            )
        )
        return
    _show(found, platform.cores.count)
    console().print(
        f"peak {peak:,.0f} MB/s; guaranteed {worst.mb_per_s:,.0f} MB/s"
        f" ({worst.pattern}, {worst.cores} core{'s' if worst.cores != 1 else ''} busy)"
    )


def _show(found: list[Any], cores: int) -> None:
    from rich.table import Table

    table = Table(title="MB/s (DRAM utilization) by busy cores", title_justify="left")
    table.add_column("pattern")
    for count in range(1, cores + 1):
        table.add_column(str(count), justify="right")
    for pattern in dict.fromkeys(one.pattern for one in found):
        cells = [f"{one.mb_per_s:,.0f} ({one.utilization:.0%})" for one in found if one.pattern == pattern]
        table.add_row(pattern, *cells)
    console().print(table)
