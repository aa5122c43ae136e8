# SPDX-License-Identifier: Apache-2.0
"""`bulkhead run SYSTEM`: build a system, run it in the emulator or on the simulated machine, and say
whether its promises held.

This module has the options only; the work is in `bulkhead.run`, the witnesses are in `bulkhead.evidence`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead.commands.options import (
    AsJson,
    Miscolor,
    Mislabel,
    Misplace,
    Misprogram,
    Overrides,
    Seed,
    SystemFile,
    Unprotected,
    words_given,
)
from bulkhead.commands.output import complain, print_json, print_problems

if TYPE_CHECKING:
    from bulkhead.admission.load import Loaded
    from bulkhead.microkernel.run import ComponentRunRequest
    from bulkhead.results.components_run import ComponentsNotRunResult, ComponentsRunResult
    from bulkhead.results.run import NotRunResult, RunResult
    from bulkhead.run.debug import Debugger
    from bulkhead.run.target import RunOptions

# Options that change what is shown and where results go, but not the run: the command that repeats it has all
# others.
SHOWN_ONLY = frozenset({"as_json", "attach", "directory", "page"})


def register(app: typer.Typer) -> None:
    app.command("run")(run)


def run(
    context: typer.Context,
    system: SystemFile,
    on: Annotated[
        str,
        typer.Option(
            metavar="qemu|machine",
            help="Run in the emulator (`qemu`) or on the simulated machine (`machine`).",
        ),
    ] = "qemu",
    observe: Annotated[
        bool,
        typer.Option(
            "--observe",
            help="Follow every memory access through a model of the cache, and "
            "count which domain evicts whose lines. The simulated machine "
            "always counts them.",
        ),
    ] = False,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="T",
            help="Guest time after which the run ends, as `20s`.",
            show_default="`run.for` of the system file, else until all domains end or Ctrl-C",
        ),
    ] = None,
    unprotected: Unprotected = False,
    miscolor: Miscolor = None,
    mislabel: Mislabel = None,
    misprogram: Misprogram = None,
    misplace: Misplace = None,
    seed: Seed = 0,
    overrides: Overrides = None,
    as_json: AsJson = False,
    icount: Annotated[
        bool | None,
        typer.Option(
            "--icount/--no-icount",
            help="Derive guest time from counted instructions: every run is the same, and one core runs at "
            "a time.",
            show_default="`run.icount` of the system file",
        ),
    ] = None,
    boot: Annotated[
        str,
        typer.Option(
            metavar="elf|image|u-boot|firmware",
            help="How the emulator starts the hypervisor: as an ELF file, as a raw image, by U-Boot, or by "
            "firmware at EL3.",
        ),
    ] = "elf",
    gdb: Annotated[
        str | None,
        typer.Option(
            "--gdb",
            metavar="DOMAIN[:PORT]",
            help="Wait for GDB at the port (default 1234), and write a GDB script for debugging the domain.",
            show_default=False,
        ),
    ] = None,
    solo: Annotated[
        bool,
        typer.Option(
            "--solo",
            help="With --on machine: also run each domain alone, and report its slowdown beside the others.",
        ),
    ] = False,
    attach: Annotated[
        bool,
        typer.Option(
            "--attach/--no-attach",
            help="Connect this terminal to the consoles of the domains; Ctrl-A x ends the run.",
        ),
    ] = True,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=1,
            metavar="S",
            help="Wall time in seconds after which the run is ended as hung. Without it, a run in the "
            "emulator with limited guest time has a limit that grows with that time.",
            show_default=False,
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--directory",
            metavar="DIR",
            help="Directory to which the results are written.",
            show_default="build/run/SYSTEM",
        ),
    ] = None,
    page: Annotated[
        bool,
        typer.Option(
            "--page/--no-page", help="Write the HTML page at the end; `bulkhead report DIR` writes it later."
        ),
    ] = True,
) -> None:
    """Run a system and check its promises.

    The exit code is 0 if every promise held; else it is 1, and the reasons are printed.
    """
    from bulkhead.admission.load import load_system
    from bulkhead.admission.load_components import has_components
    from bulkhead.commands.run_view import TerminalWatcher
    from bulkhead.run.defaults import counted_time, duration_ns
    from bulkhead.run.system import RunRequest, run_system
    from bulkhead.run.target import MACHINE, QEMU, RunOptions

    _refuse_wrong_usage(on, observe, icount is True, boot, solo)
    debugger = _debugger(gdb, on)
    for_ns = None if for_ is None else _time(for_)
    repeat = words_given(context, SHOWN_ONLY)
    if has_components(system):
        from bulkhead.microkernel.run import ComponentRunRequest

        _refuse_of_domains(
            observe=observe, miscolor=miscolor, mislabel=mislabel, misprogram=misprogram, solo=solo, gdb=gdb
        )
        _run_components(
            ComponentRunRequest(
                system,
                on,
                for_ns=for_ns,
                unprotected=unprotected,
                overrides=tuple(overrides or ()),
                timeout_s=timeout,
                directory=directory,
                repeat=repeat,
            ),
            page=page,
            as_json=as_json,
        )
        return
    loaded = load_system(system, tuple(overrides or ()), unprotected=unprotected, emulated=on == QEMU)
    options = RunOptions(
        observe=observe and on == QEMU,
        for_ns=duration_ns(for_ns, loaded, simulated=on == MACHINE),
        unprotected=unprotected,
        miscolor=miscolor,
        mislabel=mislabel,
        misprogram=misprogram,
        misplace=misplace,
        seed=seed,
        icount=on == QEMU and counted_time(icount, observe, loaded),
        boot=boot,
        debugger=debugger,
        timeout_s=timeout,
        overrides=tuple(overrides or ()),
        on=on,
        repeat=repeat,
        page=page,
    )
    _refuse_uncounted(loaded, options)
    print_problems(loaded.notices, kind="notice")
    watcher = TerminalWatcher(as_json=as_json, attach=attach, page=page)
    ran = run_system(RunRequest(loaded, options, directory, solo), watcher)
    _end(loaded.file, ran.result, started=ran.started, as_json=as_json)


def _run_components(request: ComponentRunRequest, *, page: bool, as_json: bool) -> None:
    from bulkhead.commands.run_view import ComponentsWatcher
    from bulkhead.microkernel.run import run_components

    ran = run_components(request, ComponentsWatcher(as_json=as_json, page=page))
    _end(ran.file, ran.result, started=ran.started, as_json=as_json)


def _debugger(text: str | None, on: str) -> Debugger | None:
    from bulkhead.run.debug import BadDebugger, parse_debugger

    if text is None:
        return None
    if on == "machine":
        raise typer.BadParameter("only the emulator (--on qemu) can wait for a debugger", param_hint="--gdb")
    try:
        return parse_debugger(text)
    except BadDebugger as error:
        raise typer.BadParameter(str(error), param_hint="--gdb") from None


def _end(
    file: str,
    result: RunResult | NotRunResult | ComponentsRunResult | ComponentsNotRunResult,
    *,
    started: bool,
    as_json: bool,
) -> None:
    if as_json:
        print_json(result)
    elif not started:
        _say_not_run(file, result["reasons"])
    if result["verdict"] != "ok":
        raise typer.Exit(1)


def _say_not_run(file: str, reasons: Sequence[str]) -> None:
    for reason in reasons:
        complain(f"error: {reason}")
    complain(f"{file}: not run, {len(reasons)} error{'s' if len(reasons) != 1 else ''}")


def _refuse_of_domains(**given: object) -> None:
    """Refuse options that have no meaning for a system of components."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter("is for systems of domains", param_hint=f"--{name}")


def _refuse_wrong_usage(on: str, observe: bool, icount: bool, boot: str, solo: bool) -> None:
    from bulkhead.run.boot import ELF, WAYS

    if on not in ("qemu", "machine"):
        raise typer.BadParameter(f"'{on}' is neither qemu nor machine", param_hint="--on")
    if boot not in WAYS:
        raise typer.BadParameter(f"'{boot}' is not one of {', '.join(WAYS)}", param_hint="--boot")
    if on == "machine" and boot != ELF:
        raise typer.BadParameter(
            "the simulated machine has no boot loaders: only `elf` is possible", param_hint="--boot"
        )
    if on != "machine" and solo:
        raise typer.BadParameter(
            "only runs on the simulated machine (--on machine) have times that can be compared",
            param_hint="--solo",
        )
    if observe and icount:
        raise typer.BadParameter(
            "cannot be combined with --icount: the witness can tell cores apart only if each has its own "
            "thread",
            param_hint="--observe",
        )


def _refuse_uncounted(loaded: Loaded, options: RunOptions) -> None:
    """Refuse --observe together with budgets. The emulator counts the instructions that budgets need only in
    counted time, and counted time runs all cores in one thread."""
    from bulkhead.run.defaults import budgets_on_emulator

    if options.observe and (limited := budgets_on_emulator(loaded)):
        raise typer.BadParameter(
            f"cannot be combined with the budget of {', '.join(limited)}: the emulator counts the "
            "instructions that replace memory events only with --icount, and then cores cannot be told "
            "apart. "
            "Leave budgets out (`--set domains.NAME.bandwidth=unlimited`), or use --on machine, where "
            "evictions are always counted",
            param_hint="--observe",
        )


def _time(text: str) -> int:
    from pydantic import TypeAdapter, ValidationError

    from bulkhead.config.quantity import Nanoseconds

    try:
        return TypeAdapter[int](Nanoseconds).validate_python(text)
    except ValidationError as error:
        first = error.errors()[0]
        allowed = first.get("ctx", {}).get("allowed") or "a time, as `20 s`"
        raise typer.BadParameter(f"{first['msg']} (allowed: {allowed})", param_hint="--for") from None
