# SPDX-License-Identifier: Apache-2.0
"""A run in the emulator: the system is built and run, and its promises are checked.

Called by `run_system` with a system without problems.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from bulkhead import __version__
from bulkhead.admission.load import Loaded
from bulkhead.env import native, paths
from bulkhead.env.commit import commit
from bulkhead.env.qemu import qemu_binary
from bulkhead.machine.request import board_of
from bulkhead.machine.settings import NotSimulated
from bulkhead.package.build import BuildOptions, build_system
from bulkhead.package.errors import PackageError
from bulkhead.planning.plan import PlanningError
from bulkhead.results.run import RunResult
from bulkhead.results.times import rated_ns
from bulkhead.run.boot import NotBootable, in_one_piece
from bulkhead.run.conclude import conclude
from bulkhead.run.debug import BadDebugger, gdb_command
from bulkhead.run.keys import HELP
from bulkhead.run.live import Live
from bulkhead.run.not_run import NotRun
from bulkhead.run.prepare import debugger_script, frames_of, make_target, registers_of
from bulkhead.run.session import RunOutcome, SessionPlan, run_session
from bulkhead.run.target import RunOptions, Target
from bulkhead.run.view import AttachedView, WatchingView
from bulkhead.run.watcher import Watcher

# Wall time that a run may take before it counts as hung: for building up, and per second of guest time.
# The emulator's clock is the host's, unless instructions are counted: then it is as slow as the work is.
_BOOT_ALLOWANCE_S = 120.0
_WALL_PER_GUEST_S = 5.0
_WALL_PER_GUEST_S_ICOUNT = 100.0


def run_on_emulator(loaded: Loaded, options: RunOptions, directory: Path, watcher: Watcher) -> RunResult:
    """Build and run the system. Raises NotRun if that is not possible."""
    target = _prepare(loaded, options, directory, watcher)
    live = Live(target)
    outcome = _session(target, live, watcher)
    result = conclude(target, outcome, version=__version__, commit=commit())
    if outcome.image is not None:
        live.conclude(outcome.image.bytes_at, rated_ns(result))
    return result


def _prepare(loaded: Loaded, options: RunOptions, directory: Path, watcher: Watcher) -> Target:
    """The prepared run. Raises NotRun with the reasons why the system cannot be run."""
    assert loaded.platform is not None
    if loaded.platform.emulator is None:
        cause = f"platform '{loaded.platform.name}' is not a board of the emulator"
        raise NotRun([cause + _instead(loaded)])
    binary = qemu_binary()
    native.ensure_built(["target"])
    plugin = None
    if options.observe:
        native.ensure_built(["host"], ["observe"])
        plugin = paths.host_dir() / "observe" / "libobserve.so"
    wanted = BuildOptions(
        seed=options.seed, run_for_ns=options.for_ns or 0, in_place=not in_one_piece(options.boot)
    )
    try:
        built = build_system(loaded, directory / "package", wanted, options.hooks)
        target = make_target(loaded, built, options, binary=binary, plugin=plugin, directory=directory)
        script = debugger_script(target, built, Path(loaded.file).parent)
    except PlanningError as error:
        raise NotRun([loaded.locate(finding).text() for finding in error.findings]) from error
    except PackageError as error:
        raise NotRun([f"{loaded.file}: {reason}" for reason in error.reasons]) from error
    except (NotBootable, BadDebugger) as error:
        raise NotRun([str(error)]) from error
    if script is not None:
        watcher.say(f"the machine waits for a debugger: {gdb_command(script)}")
    return target


def _instead(loaded: Loaded) -> str:
    """Hint for a board that the emulator does not have: the simulated machine."""
    assert loaded.platform is not None
    try:
        board_of(loaded.platform)
    except NotSimulated:
        return ""
    return f": it is simulated, `bulkhead run {shlex.quote(loaded.file)} --on machine`"


def _session(target: Target, live: Live, watcher: Watcher) -> RunOutcome:
    assert target.machine is not None
    at_terminal = watcher.attach and sys.stdin.isatty() and sys.stdout.isatty()
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
        registers=tuple(registers_of(target)),
    )
    view: AbstractContextManager[AttachedView | WatchingView]
    if at_terminal:
        watcher.say(HELP)
        view = AttachedView(raw=target.raw_domain is not None)
    else:
        view = WatchingView(target.system, target.options.for_ns, show_lines=watcher.lines)
    with view as shown:
        return run_session(plan, shown)


def _timeout_s(options: RunOptions) -> float | None:
    if options.timeout_s is not None or options.for_ns is None or options.debugger is not None:
        return options.timeout_s
    factor = _WALL_PER_GUEST_S_ICOUNT if options.icount else _WALL_PER_GUEST_S
    return _BOOT_ALLOWANCE_S + factor * options.for_ns / 1e9
