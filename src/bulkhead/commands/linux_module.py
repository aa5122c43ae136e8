# SPDX-License-Identifier: Apache-2.0
"""`bulkhead linux-module`: build the kernel module bulkhead.ko for the kernel version that guests boot.

Fetches the headers of that kernel if they are missing. The module is not loaded.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import AsJson
from bulkhead.commands.output import complain, console, print_json
from bulkhead.envelope import result_object

if TYPE_CHECKING:
    from bulkhead.results.build import LinuxModuleResult
    from bulkhead.results.envelope import Verdict


def register(app: typer.Typer) -> None:
    app.command("linux-module")(linux_module)


def linux_module(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to which the module is written.",
            show_default="build/linux/bulkhead.ko",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build the Linux kernel module that gives the CPUs of a Linux host budgets and regulators."""
    from bulkhead.env.linux_headers import kernel_release
    from bulkhead.package.linux_module import build_linux_module

    module = build_linux_module()
    reasons = _copy(module, output) if output is not None else []
    made = output if output is not None and not reasons else module
    if as_json:
        verdict: Verdict = "error" if reasons else "ok"
        common = result_object("linux-module", verdict=verdict, reasons=reasons)
        result: LinuxModuleResult = {**common, "module": str(made), "kernel": kernel_release()}
        print_json(result)
    for reason in () if as_json else reasons:
        complain(f"error: {reason}")
    if reasons:
        raise typer.Exit(1)
    if not as_json:
        console().print(f"built {made} for Linux {kernel_release()}", style="green")


def _copy(module: Path, output: Path) -> list[str]:
    try:
        shutil.copyfile(module, output)
    except shutil.SameFileError:
        return []
    except OSError as error:
        return [f"{output}: cannot be written: {error.strerror}"]
    return []
