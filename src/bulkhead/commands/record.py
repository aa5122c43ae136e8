# SPDX-License-Identifier: Apache-2.0
"""`bulkhead record PROGRAM -o TRACE`: record data accesses of an AArch64 program for the simulated machine.

Options and output only; the work is in `bulkhead.recording`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson
from bulkhead.commands.output import complain, console, print_json
from bulkhead.env.paths import repository
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.recording.record import Counts, RecordedProgram
    from bulkhead.results.envelope import Envelope
    from bulkhead.results.record import RecordedKeys, RecordResult


def _find(name: str, package: str | None) -> RecordedProgram | str:
    """The program, or the reason why it cannot be recorded."""
    from bulkhead.env.qemu_user import PACKAGE_NAME
    from bulkhead.recording.known import program_in
    from bulkhead.recording.record import RecordedProgram

    if package is None:
        file = Path(name)
        return RecordedProgram(file.absolute()) if file.is_file() else f"{name}: no such file"
    if not PACKAGE_NAME.fullmatch(package):
        return f"'{package}' is not the name of a package"
    return program_in(package, name) or f"package {package} has no program '{name}'"


def record(
    program: Annotated[
        str,
        typer.Argument(
            help="AArch64 program to record: path of a file, or with --package the "
            "program's name in the package."
        ),
    ],
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments that the program gets.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="TRACE",
            help="File to which the trace is written.",
            show_default="build/traces/PROGRAM.trace",
        ),
    ] = None,
    package: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Debian package, which is fetched, that has the program.", show_default=False
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Stop recording after N instructions. Without it, the whole run is recorded.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Record the data accesses of a program under the emulator; the exit code is 1 if there is no trace."""
    from bulkhead.config.named import TRACE_SUFFIX
    from bulkhead.recording.known import trace_directory
    from bulkhead.recording.record import RecordedProgram, RecordingError, describe, run, trace_info

    repository("`record`")
    found = _find(program, package)
    reasons: list[str] = []
    own: RecordedKeys | None = None
    if output is None:
        output = trace_directory() / f"{Path(program).name}{TRACE_SUFFIX}"
        output.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(found, str):
        reasons = [found]
    else:
        with_arguments = RecordedProgram(found.file, tuple(arguments or ()), found.root)
        try:
            about = describe(with_arguments, package)
            code, counts = run(
                with_arguments,
                trace=output.absolute(),
                about=about,
                limit=limit,
                output=[] if as_json else None,
            )
            own = {
                "trace": str(output),
                "bytes": output.stat().st_size,
                "exit_code": code,
                **trace_info(output),
                "unseen_zeroings": counts.unseen_zeroings,
                "threads_left_out": counts.threads_left_out,
            }
            _warn(counts, code)
        except RecordingError as error:
            reasons = str(error).splitlines()
    if as_json:
        common = result_object("record", verdict="error" if reasons else "ok", reasons=reasons)
        print_json(common if own is None else _json(common, own))
    elif own is not None:
        _show(own)
    for reason in reasons:
        complain(f"error: {reason}")
    if reasons:
        raise typer.Exit(1)


def _json(common: Envelope, own: RecordedKeys) -> RecordResult:
    return {**common, **own}


def _warn(counts: Counts, code: int) -> None:
    if counts.threads_left_out:
        complain("notice: the program has several threads; the first one was recorded")
    if code != 0:
        complain(f"notice: the program ended with {code}")


def _show(own: RecordedKeys) -> None:
    console().print(
        f"{own['trace']}: {own['instructions']:,} instructions, {own['reads']:,} reads, "
        f"{own['writes']:,} writes in {own['pages']:,} pages; {own['bytes']:,} bytes"
    )


def register(app: typer.Typer) -> None:
    app.command(context_settings={"allow_interspersed_args": False})(record)
