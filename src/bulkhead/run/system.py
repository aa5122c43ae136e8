# SPDX-License-Identifier: Apache-2.0
"""One run of a loaded system, from the build to the result: `run_system`.

Called by the command `run`, by benchmarks and by experiments. It prints nothing itself; a caller that shows
the run passes a watcher.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bulkhead.admission.load import Loaded
from bulkhead.env import paths
from bulkhead.envelope import result_object
from bulkhead.planning.mechanism import choices
from bulkhead.results.run import NotRunResult, RunResult
from bulkhead.run.directory import NotUsable, run_directory
from bulkhead.run.not_run import NotRun
from bulkhead.run.on_emulator import run_on_emulator
from bulkhead.run.on_machine import run_on_machine
from bulkhead.run.target import MACHINE, RunOptions
from bulkhead.run.watcher import Watcher


@dataclass(frozen=True)
class RunRequest:
    """The system to run, the options of the run, and the directory for its files."""

    loaded: Loaded
    options: RunOptions
    directory: Path | None = None  # None: beneath the build directory, named after the system
    solo: bool = False  # on the simulated machine: each domain also alone, to compare times


@dataclass(frozen=True)
class Ran:
    """The result, as `run --json` prints it."""

    result: RunResult | NotRunResult
    started: bool  # False: the system could not be run, for the result's reasons


def run_system(request: RunRequest, watcher: Watcher | None = None) -> Ran:
    """Build and run a loaded system, and check its promises. A missing tool raises EnvironmentLacks."""
    loaded, options = request.loaded, request.options
    try:
        return Ran(_run(request, watcher or Watcher()), started=True)
    except NotRun as error:
        return Ran(_not_run(loaded, options, error.reasons), started=False)


def run_quietly(loaded: Loaded, options: RunOptions, directory: Path) -> RunResult | NotRunResult:
    """The result that `run --json --no-page` prints, for callers that evaluate many runs.

    No page is written for each of these runs; `bulkhead report DIR` writes one on demand.
    """
    return run_system(RunRequest(loaded, replace(options, page=False), directory)).result


def _run(request: RunRequest, watcher: Watcher) -> RunResult:
    loaded, options = request.loaded, request.options
    if not loaded.ok or loaded.system is None:
        raise NotRun([problem.text() for problem in loaded.problems])
    if options.on != MACHINE:
        paths.repository("`run --on qemu`")
    for line in _mechanism(loaded, unprotected=options.unprotected):
        watcher.say(line)
    given = request.directory
    wanted = given.absolute() if given else paths.build_dir() / "run" / _name(loaded, options)
    try:
        with run_directory(wanted.parent, wanted.name) as place:
            if options.on == MACHINE:
                result = run_on_machine(loaded, options, place, watcher, solo=request.solo)
            else:
                result = run_on_emulator(loaded, options, place, watcher)
            watcher.finished(place)
            return result
    except NotUsable as error:
        if given is None and isinstance(error.__cause__, OSError):
            raise error.__cause__ from None  # the build directory itself: the environment's fault
        raise NotRun([str(error)]) from error


def _mechanism(loaded: Loaded, *, unprotected: bool) -> Sequence[str]:
    """Lines that say what divides the cache and bandwidth on this platform, and why (M1)."""
    if loaded.system is None or loaded.platform is None:
        return ()
    return choices(loaded.system, loaded.platform, unprotected=unprotected).lines


def _name(loaded: Loaded, options: RunOptions) -> str:
    """Name of the run's directory. Runs that are compared get different names, so none replaces another."""
    assert loaded.system is not None
    kind = (
        ("-machine" if options.on == MACHINE else "")
        + ("-unprotected" if options.unprotected else "")
        + ("-miscolored" if options.miscolor else "")
        + ("-mislabelled" if options.mislabel else "")
        + ("-misprogrammed" if options.misprogram else "")
        + ("-misplaced" if options.misplace else "")
    )
    return loaded.system.name + kind


def _not_run(loaded: Loaded, options: RunOptions, reasons: Sequence[str]) -> NotRunResult:
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
