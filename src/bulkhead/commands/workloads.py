# SPDX-License-Identifier: Apache-2.0
"""`bulkhead workloads`: list the workloads, and compare their instrumented build with their AArch64 build.

Options and output only; the work is in `bulkhead.recording.compare`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson
from bulkhead.commands.output import complain, console, print_json
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.recording.compare import TraceComparison
    from bulkhead.results.envelope import Verdict
    from bulkhead.results.record import WorkloadsCompareResult

app = typer.Typer(
    help="List workloads, and compare their builds. Workloads run on boards and on the simulated machine.",
    no_args_is_help=True,
)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="workloads")


@app.command("list")
def list_all() -> None:
    """List every workload with its parameters and their defaults."""
    from bulkhead.env.native import ensure_built
    from bulkhead.env.paths import host_dir

    ensure_built(["host"], ["workload"])
    program = host_dir() / "workloads" / "workload"
    typer.echo(subprocess.run([program], capture_output=True, text=True, check=True).stdout, nl=False)


@app.command("compare")
def compare_builds(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names of the workloads to compare.", show_default="all")
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PARAMETER=NUMBER",
            help="Set a parameter of the workloads (repeatable).",
            show_default="small=1 iterations=3",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the instrumented and AArch64 builds of workloads; the exit code is 1 if checksums differ."""
    from bulkhead.config.problem import no_such
    from bulkhead.env.progress import progress
    from bulkhead.recording.compare import build, compare, workload_names
    from bulkhead.recording.record import RecordingError

    try:
        given = {name: int(value, 0) for name, _, value in (each.partition("=") for each in parameters or ())}
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from error
    chosen = {"small": 1, "iterations": 3, **given}
    if chosen["iterations"] <= 0:
        raise typer.BadParameter(
            "iterations=0 runs without end: give a number of 1 or more", param_hint="--set"
        )
    build()
    known = workload_names()
    wanted = names or known
    reasons = [no_such("workload", name, known) for name in wanted if name not in known]
    if not reasons:
        _check_parameters(wanted, given)
    rows: list[TraceComparison] = []
    if not reasons:
        try:
            with progress("compare builds") as update:
                for row in compare(wanted, chosen):
                    rows.append(row)
                    update(len(rows) / len(wanted), row.workload)
        except RecordingError as error:
            reasons.append(str(error))
    reasons += [
        f"{row.workload}: the builds give different checksums" for row in rows if not row.same_checksum
    ]
    if as_json:
        verdict: Verdict = "failed" if reasons else "ok"
        common = result_object("workloads compare", verdict=verdict, reasons=reasons)
        result: WorkloadsCompareResult = {**common, "rows": [row.json() for row in rows]}
        print_json(result)
    else:
        _show(rows)
        for reason in reasons:
            complain(f"error: {reason}")
    if reasons:
        raise typer.Exit(1)


def _check_parameters(names: Sequence[str], given: Iterable[str]) -> None:
    """Each workload uses those parameters that it has; one that none of them has is a mistake."""
    from bulkhead.config.problem import no_such
    from bulkhead.config.program_parameters import parameters_of

    known = list(dict.fromkeys(one for name in names for one in parameters_of(name) or ()))
    for parameter in given:
        if parameter not in known:
            raise typer.BadParameter(no_such("parameter", parameter, known), param_hint="--set")


def _show(rows: list[TraceComparison]) -> None:
    from rich.table import Table

    table = Table("workload", "instructions", "error", "reads", "error", "writes", "error")
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        cells = []
        for what in ("instructions", "reads", "writes"):
            cells += [f"{getattr(row.aarch64, what):,}", f"{row.error(what):+.1%}"]
        table.add_row(row.workload, *cells)
    shown = console()
    shown.print(table)
    shown.print("counts of the AArch64 build; error: of the instrumented build against it")
