# SPDX-License-Identifier: Apache-2.0
"""A run on the simulated machine: the same system, hypervisor and programs as on the emulator.

Called by `run_system` with a system that has no problems. With `solo`, each domain also runs alone (these
runs are parallel as far as there are cores), and times per instruction are compared.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from bulkhead import __version__
from bulkhead.admission.load import Loaded
from bulkhead.env import native
from bulkhead.env.commit import commit
from bulkhead.env.errors import BuildFailed, NeedsCheckout
from bulkhead.env.paths import host_dir
from bulkhead.evidence.simulated import SimulatedResult
from bulkhead.machine.request import board_of
from bulkhead.machine.settings import NotSimulated
from bulkhead.machine.stand_in import alone, on_machine, programs_of
from bulkhead.package.build import BuildOptions, build_system
from bulkhead.package.build import programs_of as images_of
from bulkhead.package.errors import PackageError
from bulkhead.package.images import HOSTED_PROGRAM, NOTHING_KNOWN
from bulkhead.planning.plan import PlanningError
from bulkhead.results.run import RunResult
from bulkhead.results.times import rated_ns
from bulkhead.run.conclude import conclude, simulated_result
from bulkhead.run.live import Live
from bulkhead.run.not_run import NotRun
from bulkhead.run.prepare import make_simulated_target
from bulkhead.run.simulator import SimulatedPlan, run_simulation, run_simulations
from bulkhead.run.target import RunOptions, Target
from bulkhead.run.view import WatchingView
from bulkhead.run.watcher import Watcher

_UNKNOWN_PROGRAM = re.compile(rf"unknown target '{HOSTED_PROGRAM}([^']*)'")


def run_on_machine(
    loaded: Loaded, options: RunOptions, directory: Path, watcher: Watcher, *, solo: bool
) -> RunResult:
    """Build and run the system. Raises NotRun if that is not possible."""
    assert loaded.system is not None
    loaded = replace(loaded, system=on_machine(loaded.system))
    target = _prepare(loaded, options, directory)
    with WatchingView(target.system, options.for_ns, show_lines=watcher.lines) as view:
        outcome = run_simulation(_plan(target), view)
    found: dict[str, SimulatedResult] = {}
    if solo and outcome.simulated is not None:
        found = _alone(loaded, options, directory)
    result = conclude(target, outcome, version=__version__, commit=commit(), solo=found)
    if outcome.image is not None:
        Live(target).conclude(outcome.image.bytes_at, rated_ns(result))
    return result


def _prepare(loaded: Loaded, options: RunOptions, directory: Path) -> Target:
    """The prepared run. Raises NotRun with the reasons why the system cannot be run."""
    assert loaded.system is not None and loaded.platform is not None and loaded.path is not None
    try:
        board_of(loaded.platform)
    except NotSimulated as error:
        raise NotRun([str(error)]) from error
    programs = [f"{HOSTED_PROGRAM}{name}" for name in programs_of(loaded.system)]
    try:
        native.ensure_built(["host"], ["hosted_run", f"hosted_hypervisor_{loaded.platform.board}", *programs])
    except BuildFailed as error:
        if unknown := _UNKNOWN_PROGRAM.search(str(error)):
            raise NotRun([f"{loaded.file}: '{unknown[1]}' is {NOTHING_KNOWN}"]) from error
        raise
    except NeedsCheckout as error:
        if error.target.startswith(HOSTED_PROGRAM):
            name = error.target.removeprefix(HOSTED_PROGRAM)
            raise NotRun([f"{loaded.file}: '{name}' is {NOTHING_KNOWN}"]) from error
        raise
    wanted = BuildOptions(seed=options.seed, run_for_ns=options.for_ns or 0, hosted=True)
    try:
        built = build_system(loaded, directory / "package", wanted, options.hooks)
        images = images_of(built, loaded.path.parent, wanted)
        return make_simulated_target(loaded, built, options, images, directory)
    except PlanningError as error:
        raise NotRun([loaded.locate(finding).text() for finding in error.findings]) from error
    except PackageError as error:
        raise NotRun([f"{loaded.file}: {reason}" for reason in error.reasons]) from error
    except NotSimulated as error:
        raise NotRun([str(error)]) from error


def _plan(target: Target) -> SimulatedPlan:
    return SimulatedPlan(
        program=host_dir() / "machine" / "hosted" / "hosted_run",
        request=target.request,
        directory=target.directory,
        domain_names=tuple(domain.name for domain in target.domains),
        timeout_s=target.options.timeout_s,
        raw_domain=target.raw_domain,
        watched=target.watched,
    )


def _alone(loaded: Loaded, options: RunOptions, directory: Path) -> dict[str, SimulatedResult]:
    """Run each domain alone. Raises NotRun if one could not be run."""
    assert loaded.system is not None
    targets: list[Target] = []
    for domain in loaded.system.domains:
        place = directory / "solo" / domain.name
        place.mkdir(parents=True, exist_ok=True)
        target = _prepare(replace(loaded, system=alone(loaded.system, domain.name)), options, place)
        targets.append(target)
    with WatchingView("each domain alone", options.for_ns, show_lines=False) as view:
        outcomes = run_simulations([_plan(target) for target in targets], view, jobs=os.cpu_count() or 1)
    names = [domain.name for domain in loaded.system.domains]
    found: dict[str, SimulatedResult] = {}
    for name, target, outcome in zip(names, targets, outcomes, strict=True):
        result = simulated_result(target, outcome)
        if result is None:
            raise NotRun([f"{name} alone: {outcome.detail}"])
        found[name] = result
    return found
