# SPDX-License-Identifier: Apache-2.0
"""`bulkhead trace RUN`: write what a run's cores did in each period, and its packets, to a file for Perfetto.

Reads the samples that `bulkhead run` has written, in the emulator or on the simulated machine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson, refuse_no_file
from bulkhead.commands.output import complain, console, print_json
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.results.trace import TraceResult


def register(app: typer.Typer) -> None:
    app.command("trace")(trace)


def trace(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="SYSTEM|RUN", help="Directory of a run, or a system file whose latest run is taken."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to which the trace is written.",
            show_default="trace.json in the run's directory",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a trace that shows which VCPUs ran and which were throttled, for https://ui.perfetto.dev."""
    from bulkhead.report.trace import trace_of
    from bulkhead.run.find import NoRun, find_run
    from bulkhead.run.samples import SAMPLES_FILE, NoSamples, read_samples

    refuse_no_file(output, "--output")
    errors: list[str] = []
    page: Path | None = None
    content: dict[str, object] = {}
    count = dropped = packets = dropped_packets = 0
    try:
        directory = find_run(target, SAMPLES_FILE)
        run = read_samples(directory)
        count = len(run["samples"])
        dropped = sum(run["dropped"].values())
        packets, dropped_packets = len(run["packets"]), run["dropped_packets"]
        page = output or directory / "trace.json"
        content = trace_of(run)
        page.write_text(json.dumps(content) + "\n", encoding="utf-8")
    except (NoRun, NoSamples) as error:
        errors += str(error).splitlines()
    except OSError as error:
        errors.append(f"{page}: cannot be written: {error.strerror}")
    if as_json:
        result: TraceResult = {
            **result_object("trace", verdict="error" if errors else "ok", reasons=errors),
            "samples": count,
            "dropped": dropped,
            "packets": packets,
            "dropped_packets": dropped_packets,
            "files": [] if errors else [str(page)],
        }
        print_json(result)
    for text in errors if not as_json else ():
        complain(f"error: {text}")
    if errors:
        raise typer.Exit(1)
    if not as_json:
        shown = [_counted(count, "periods", dropped)] if count or not packets else []
        shown += [_counted(packets, "packets", dropped_packets)] if packets else []
        from bulkhead.report.terminal import shown_path

        assert page is not None
        console().print(f"trace: {shown_path(page)}, {', '.join(shown)}; open it at https://ui.perfetto.dev")


def _counted(count: int, what: str, dropped: int) -> str:
    return f"{count} {what}" + (
        f" ({dropped} more were overwritten before they were read)" if dropped else ""
    )
