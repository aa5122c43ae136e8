# SPDX-License-Identifier: Apache-2.0
"""`bulkhead crosscheck DIRECTORY`: compare the machine's DRAM model with DRAMsim3 on the same requests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson
from bulkhead.commands.output import complain_of, console, print_json
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.results.crosscheck import CrosscheckResult, MixResult
    from bulkhead.results.envelope import Verdict
    from bulkhead.validation.peer import PeerBeside


def register(app: typer.Typer) -> None:
    app.command("crosscheck")(crosscheck)


def crosscheck(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIRECTORY",
            help="Directory of DRAMsim3. It has the directory `configs`, and `dramsim3main` is in it or in "
            "its `build`.",
            exists=True,
            file_okay=False,
        ),
    ],
    configurations: Annotated[
        list[str] | None,
        typer.Option(
            "--configuration",
            metavar="NAME",
            help="Name of a file in `configs` of the memory to compare (repeatable).",
            show_default="four of them",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the DRAM model of the simulated machine with DRAMsim3 under the same requests and policy.

    The exit code is 1 if bandwidth or latency differs by more than 5 %.
    """
    from bulkhead.env.progress import progress
    from bulkhead.machine.native import built_machine
    from bulkhead.validation.peer import CONFIGURATIONS, LIMIT, PeerFailed, compared

    binary = _binary(directory)
    files = [directory / "configs" / f"{name}.ini" for name in configurations or CONFIGURATIONS]
    try:
        built_machine()
        with progress("crosscheck") as update:
            found = compared(binary, files, update)
    except PeerFailed as error:
        if as_json:
            print_json(result_object("crosscheck", on="machine", verdict="error", reasons=[str(error)]))
        else:
            complain_of(error)
        raise typer.Exit(1) from error
    missed = [one for one in found if not one.holds]
    reasons = [f"{one.memory}, {one.mix.name}: {one.error:+.1%}, of at most {LIMIT:.0%}" for one in missed]
    if as_json:
        verdict: Verdict = "failed" if missed else "ok"
        common = result_object("crosscheck", on="machine", verdict=verdict, reasons=reasons)
        result: CrosscheckResult = {**common, "mixes": [_row(one) for one in found]}
        print_json(result)
    else:
        _show(found)
        for reason in reasons:
            console().print(reason, style="red")
        if not missed:
            console().print(f"ok: what both serve by the same policy is within {LIMIT:.0%}", style="green")
    if missed:
        raise typer.Exit(1)


def _binary(directory: Path) -> Path:
    for place in (directory, directory / "build"):
        if (place / "dramsim3main").is_file():
            return (place / "dramsim3main").resolve()
    raise typer.BadParameter(
        f"no dramsim3main in {directory} or its build: make it as its README says", param_hint="DIRECTORY"
    )


def _row(one: PeerBeside) -> MixResult:
    return {
        "memory": one.memory,
        "mix": one.mix.name,
        "judged": one.mix.judged,
        "peak_bytes_per_s": round(one.peak_bytes_per_s),
        "bytes_per_s": round(one.ours.bytes_per_s),
        "peer_bytes_per_s": round(one.theirs.bytes_per_s),
        "read_clocks": None if one.mix.saturates else round(one.ours.read_clocks, 2),
        "peer_read_clocks": None if one.mix.saturates else round(one.theirs.read_clocks, 2),
        "error": round(one.error, 4),
    }


def _show(found: list[PeerBeside]) -> None:
    from rich.table import Table

    table = Table()
    for heading in ("memory", "requests", "", "machine", "DRAMsim3", "error"):
        table.add_column(heading, justify="right" if heading in ("machine", "DRAMsim3", "error") else "left")
    for one in found:
        if one.mix.saturates:
            values = ("GB/s", f"{one.ours.bytes_per_s / 1e9:.2f}", f"{one.theirs.bytes_per_s / 1e9:.2f}")
        else:
            values = ("clocks", f"{one.ours.read_clocks:.1f}", f"{one.theirs.read_clocks:.1f}")
        error = f"{one.error:+.1%}" + ("" if one.mix.judged else ", turns differ")
        table.add_row(one.memory, one.mix.name, *values, error)
    console().print(table)
