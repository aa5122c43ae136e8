# SPDX-License-Identifier: Apache-2.0
"""`bulkhead run SYSTEM`: build a system, run it in the emulator or on the simulated machine, and say
whether its promises held.

This module has the options only; the work is in `bulkhead.run`, the witnesses are in `bulkhead.evidence`.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bulkhead import __version__
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
from bulkhead.commands.output import commit, complain, print_json, print_problems, result_object

if TYPE_CHECKING:
    from bulkhead.admission.load import Loaded
    from bulkhead.package.build import Build
    from bulkhead.results.components_run import ComponentsNotRunResult, ComponentsRunResult
    from bulkhead.results.run import NotRunResult, RunResult
    from bulkhead.run.debug import Debugger
    from bulkhead.run.live import Live
    from bulkhead.run.session import RunOutcome
    from bulkhead.run.target import RunOptions, Target
    from bulkhead.run.view import AttachedView, WatchingView

# Wall time that a run may take before it counts as hung: for building up, and per second of guest time.
# The emulator's clock is the host's, unless instructions are counted: then it is as slow as the work is.
_BOOT_ALLOWANCE_S = 120.0
_WALL_PER_GUEST_S = 5.0
_WALL_PER_GUEST_S_ICOUNT = 100.0

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
    from bulkhead.commands.run_components import ComponentRunOptions, run_components
    from bulkhead.run.target import MACHINE, QEMU, RunOptions

    _refuse_wrong_usage(on, observe, icount is True, boot, solo)
    debugger = _debugger(gdb, on)
    if has_components(system):
        _refuse_of_domains(
            observe=observe, miscolor=miscolor, mislabel=mislabel, misprogram=misprogram, solo=solo, gdb=gdb
        )
        done = run_components(
            system,
            ComponentRunOptions(
                on=on,
                for_ns=None if for_ is None else _time(for_),
                unprotected=unprotected,
                overrides=tuple(overrides or ()),
                timeout_s=timeout,
                directory=directory,
                page=page,
                as_json=as_json,
                repeat=words_given(context, SHOWN_ONLY),
            ),
        )
        _end(done, as_json=as_json)
        return
    loaded = load_system(system, tuple(overrides or ()), unprotected=unprotected, emulated=on == QEMU)
    options = RunOptions(
        observe=observe and on == QEMU,
        for_ns=_duration(for_, loaded, simulated=on == MACHINE),
        unprotected=unprotected,
        miscolor=miscolor,
        mislabel=mislabel,
        misprogram=misprogram,
        misplace=misplace,
        seed=seed,
        icount=on == QEMU and _counted(icount, observe, loaded),
        boot=boot,
        debugger=debugger,
        timeout_s=timeout,
        overrides=tuple(overrides or ()),
        on=on,
        repeat=words_given(context, SHOWN_ONLY),
        page=page,
    )
    _refuse_uncounted(loaded, options)
    print_problems(loaded.notices, kind="notice")
    result = _run(loaded, options, directory, as_json=as_json, attach=attach and not as_json, solo=solo)
    _end(result, as_json=as_json)


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
    result: RunResult | NotRunResult | ComponentsRunResult | ComponentsNotRunResult, *, as_json: bool
) -> None:
    if as_json:
        print_json(result)
    if result["verdict"] != "ok":
        raise typer.Exit(1)


def _refuse_of_domains(**given: object) -> None:
    """Refuse options that have no meaning for a system of components."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter("is for systems of domains", param_hint=f"--{name}")


def _say_mechanism(loaded: Loaded, *, unprotected: bool) -> None:
    """Print what divides the cache and bandwidth on this platform, and why (M1)."""
    from bulkhead.planning.mechanism import choices

    if loaded.system is not None and loaded.platform is not None:
        for line in choices(loaded.system, loaded.platform, unprotected=unprotected).lines:
            complain(line)


def run_quietly(loaded: Loaded, options: RunOptions, directory: Path) -> RunResult | NotRunResult:
    """The result that `run --json --no-page` prints, for commands that evaluate many runs.

    No page is written for each of these runs; `bulkhead report DIR` writes one on demand.
    """
    unseen = replace(options, page=False)
    return _run(loaded, unseen, directory, as_json=True, attach=False, solo=False, quiet=True)


def _counted(wanted: bool | None, observe: bool, loaded: Loaded) -> bool:
    """--icount of the command line, else `run.icount` of the system file where that is possible."""
    if wanted is not None:
        return wanted
    return loaded.system is not None and loaded.system.run.icount and not observe


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
    from bulkhead.planning.budgets import counted_event
    from bulkhead.planning.regulation import budget_in

    if not options.observe or loaded.system is None or loaded.platform is None:
        return
    event = counted_event(loaded.platform, emulated=True)
    limited = [one.name for one in loaded.system.domains if budget_in(loaded.system, one, event) is not None]
    if limited:
        raise typer.BadParameter(
            f"cannot be combined with the budget of {', '.join(limited)}: the emulator counts the "
            "instructions that replace memory events only with --icount, and then cores cannot be told "
            "apart. "
            "Leave budgets out (`--set domains.NAME.bandwidth=unlimited`), or use --on machine, where "
            "evictions are always counted",
            param_hint="--observe",
        )


def _duration(text: str | None, loaded: Loaded, *, simulated: bool) -> int | None:
    """--for of the command line, else the duration in the system file."""
    if text is None:
        return loaded.system.run.duration(simulated=simulated) if loaded.system is not None else None
    return _time(text)


def _time(text: str) -> int:
    from pydantic import TypeAdapter, ValidationError

    from bulkhead.config.quantity import Nanoseconds

    try:
        return TypeAdapter[int](Nanoseconds).validate_python(text)
    except ValidationError as error:
        first = error.errors()[0]
        allowed = first.get("ctx", {}).get("allowed") or "a time, as `20 s`"
        raise typer.BadParameter(f"{first['msg']} (allowed: {allowed})", param_hint="--for") from None


def _run(
    loaded: Loaded,
    options: RunOptions,
    directory: Path | None,
    *,
    as_json: bool,
    attach: bool,
    solo: bool,
    quiet: bool = False,
) -> RunResult | NotRunResult:
    """Build and run a loaded system. The result is shown, unless it will be printed as JSON."""
    from bulkhead.commands.run_machine import run_on_machine
    from bulkhead.env.paths import build_dir, repository
    from bulkhead.run.directory import NotUsable, run_directory
    from bulkhead.run.target import MACHINE

    if not loaded.ok or loaded.system is None:
        return _not_run(loaded, options, [problem.text() for problem in loaded.problems], as_json)
    if options.on != MACHINE:
        repository("`run --on qemu`")
    if not quiet:
        _say_mechanism(loaded, unprotected=options.unprotected)
    wanted = directory.absolute() if directory else build_dir() / "run" / _name(loaded, options)
    try:
        with run_directory(wanted.parent, wanted.name) as place:
            if options.on == MACHINE:
                result = run_on_machine(loaded, options, place, solo=solo, as_json=as_json)
                if not isinstance(result, list):
                    return result
                return _not_run(loaded, options, result, as_json)
            target = _prepare(loaded, options, place)
            if not isinstance(target, list):
                return _execute(target, as_json=as_json, attach=attach)
    except NotUsable as error:
        if directory is None and isinstance(error.__cause__, OSError):
            raise error.__cause__ from None  # the build directory itself: the environment's fault
        target = [str(error)]
    return _not_run(loaded, options, target, as_json)


def _name(loaded: Loaded, options: RunOptions) -> str:
    """Name of the run's directory. Runs that are compared get different names, so none replaces another."""
    assert loaded.system is not None
    kind = (
        ("-machine" if options.on == "machine" else "")
        + ("-unprotected" if options.unprotected else "")
        + ("-miscolored" if options.miscolor else "")
        + ("-mislabelled" if options.mislabel else "")
        + ("-misprogrammed" if options.misprogram else "")
        + ("-misplaced" if options.misplace else "")
    )
    return loaded.system.name + kind


def _prepare(loaded: Loaded, options: RunOptions, directory: Path) -> Target | list[str]:
    """The prepared run, or a list of the reasons why the system cannot be run."""
    from bulkhead.env.native import ensure_built
    from bulkhead.env.paths import host_dir
    from bulkhead.env.qemu import qemu_binary
    from bulkhead.package.build import BuildOptions, build_system
    from bulkhead.package.errors import PackageError
    from bulkhead.planning.plan import PlanningError
    from bulkhead.run.boot import NotBootable, in_one_piece
    from bulkhead.run.debug import BadDebugger, gdb_command
    from bulkhead.run.prepare import debugger_script, make_target

    assert loaded.platform is not None
    if loaded.platform.emulator is None:
        return [f"platform '{loaded.platform.name}' is not a board of the emulator" + _instead(loaded)]
    binary = qemu_binary()
    ensure_built(["target"])
    plugin = None
    if options.observe:
        ensure_built(["host"], ["observe"])
        plugin = host_dir() / "observe" / "libobserve.so"
    try:
        built: Build = build_system(
            loaded,
            directory / "package",
            BuildOptions(
                seed=options.seed, run_for_ns=options.for_ns or 0, in_place=not in_one_piece(options.boot)
            ),
            options.hooks,
        )
    except PlanningError as error:
        return [loaded.locate(finding).text() for finding in error.findings]
    except PackageError as error:
        return [f"{loaded.file}: {reason}" for reason in error.reasons]
    try:
        target = make_target(loaded, built, options, binary=binary, plugin=plugin, directory=directory)
        script = debugger_script(target, built, Path(loaded.file).parent)
    except (NotBootable, BadDebugger) as error:
        return [str(error)]
    if script is not None:
        complain(f"the machine waits for a debugger: {gdb_command(script)}")
    return target


def _instead(loaded: Loaded) -> str:
    """Hint for a board that the emulator does not have: the simulated machine."""
    from bulkhead.machine.request import board_of
    from bulkhead.machine.settings import NotSimulated

    assert loaded.platform is not None
    try:
        board_of(loaded.platform)
    except NotSimulated:
        return ""
    return f": it is simulated, `bulkhead run {shlex.quote(loaded.file)} --on machine`"


def _execute(target: Target, *, as_json: bool, attach: bool) -> RunResult:
    from bulkhead.report.load import rated_ns
    from bulkhead.run.conclude import conclude
    from bulkhead.run.live import Live

    live = Live(target)
    outcome = _session(target, live, as_json=as_json, attach=attach)
    result = conclude(target, outcome, version=__version__, commit=commit())
    if outcome.image is not None:
        live.conclude(outcome.image.bytes_at, rated_ns(result))
    show(target, as_json=as_json)
    return result


def show(target: Target, *, as_json: bool) -> None:
    """Show the run in the target's directory: write its page if wanted, print it unless JSON is printed."""
    from bulkhead.report.load import load_run
    from bulkhead.report.terminal import show_run

    run_shown = load_run(target.directory)
    if target.options.page:
        from bulkhead.report.html import write_html

        write_html([run_shown], target.directory / "index.html")
    if not as_json:
        show_run(run_shown)


def _session(target: Target, live: Live, *, as_json: bool, attach: bool) -> RunOutcome:
    from bulkhead.run.prepare import frames_of
    from bulkhead.run.session import SessionPlan, run_session
    from bulkhead.run.view import AttachedView, WatchingView

    assert target.machine is not None
    at_terminal = attach and sys.stdin.isatty() and sys.stdout.isatty()
    plan = SessionPlan(
        machine=target.machine,
        directory=target.directory,
        domain_names=tuple(domain.name for domain in target.domains),
        frames=tuple(frames_of(target)),
        timeout_s=_timeout_s(target.options),
        attach=at_terminal,
        # It takes time from a machine whose instructions count: only where there is something to follow.
        look=live.look if live.has_rings else None,
        raw_domain=target.raw_domain,
        watched=target.watched,
    )
    view: AbstractContextManager[AttachedView | WatchingView]
    if at_terminal:
        from bulkhead.run.keys import HELP

        complain(HELP)
        view = AttachedView(raw=target.raw_domain is not None)
    else:
        view = WatchingView(target.system, target.options.for_ns, show_lines=not as_json)
    with view as shown:
        return run_session(plan, shown)


def _timeout_s(options: RunOptions) -> float | None:
    if options.timeout_s is not None or options.for_ns is None or options.debugger is not None:
        return options.timeout_s
    factor = _WALL_PER_GUEST_S_ICOUNT if options.icount else _WALL_PER_GUEST_S
    return _BOOT_ALLOWANCE_S + factor * options.for_ns / 1e9


def _not_run(loaded: Loaded, options: RunOptions, reasons: list[str], as_json: bool) -> NotRunResult:
    if not as_json:
        for reason in reasons:
            complain(f"error: {reason}")
        complain(f"{loaded.file}: not run, {len(reasons)} error{'s' if len(reasons) != 1 else ''}")
    common = result_object(
        "run",
        system=loaded.system.name if loaded.system else None,
        platform=loaded.platform.name if loaded.platform else None,
        on=options.on,
        seed=options.seed,
        verdict="error",
        reasons=reasons,
        platform_sha256=loaded.platform_sha256,
    )
    return {**common, "notices": [notice.json() for notice in loaded.notices], "domains": []}
