# SPDX-License-Identifier: Apache-2.0
"""`bulkhead run SYSTEM --on machine`: the same system, hypervisor and programs on the simulated machine.

The command `run` calls it with a system that has no problems. With `solo`, each domain also runs alone (these
runs are parallel as far as there are cores), and times per instruction are compared.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bulkhead import __version__
from bulkhead.commands.output import commit

if TYPE_CHECKING:
    from bulkhead.admission.load import Loaded
    from bulkhead.evidence.simulated import SimulatedResult
    from bulkhead.results.run import RunResult
    from bulkhead.run.simulator import SimulatedPlan
    from bulkhead.run.target import RunOptions, Target

Json = dict[str, Any]

_PROGRAM = "hosted_guest_"  # of the build's targets
_UNKNOWN_PROGRAM = re.compile(rf"unknown target '{_PROGRAM}([^']*)'")
_NOTHING_KNOWN = "neither a program nor a workload of the simulated machine (see `bulkhead workloads list`)"


def run_on_machine(
    loaded: Loaded, options: RunOptions, directory: Path, *, solo: bool, as_json: bool
) -> RunResult | list[str]:
    """Build and run the system; a list as the result holds the reasons why that is not possible."""
    from bulkhead.commands.run import show
    from bulkhead.machine.stand_in import on_machine
    from bulkhead.report.load import rated_ns
    from bulkhead.run.conclude import conclude
    from bulkhead.run.live import Live
    from bulkhead.run.simulator import run_simulation
    from bulkhead.run.view import WatchingView

    assert loaded.system is not None
    loaded = replace(loaded, system=on_machine(loaded.system))
    target = _prepare(loaded, options, directory)
    if isinstance(target, list):
        return target
    with WatchingView(target.system, options.for_ns, show_lines=not as_json) as view:
        outcome = run_simulation(_plan(target), view)
    alone: dict[str, SimulatedResult] = {}
    if solo and outcome.simulated is not None:
        found = _alone(loaded, options, directory)
        if isinstance(found, list):
            return found
        alone = found
    result = conclude(target, outcome, version=__version__, commit=commit(), solo=alone)
    if outcome.image is not None:
        Live(target).conclude(outcome.image.bytes_at, rated_ns(result))
    show(target, as_json=as_json)
    return result


def _prepare(loaded: Loaded, options: RunOptions, directory: Path) -> Target | list[str]:
    from bulkhead.env.errors import BuildFailed, NeedsCheckout
    from bulkhead.env.native import ensure_built
    from bulkhead.machine.request import board_of
    from bulkhead.machine.settings import NotSimulated
    from bulkhead.machine.stand_in import programs_of
    from bulkhead.package.build import BuildOptions, build_system
    from bulkhead.package.build import programs_of as images_of
    from bulkhead.package.errors import PackageError
    from bulkhead.planning.plan import PlanningError
    from bulkhead.run.prepare import make_simulated_target

    assert loaded.system is not None and loaded.platform is not None and loaded.path is not None
    try:
        board_of(loaded.platform)
    except NotSimulated as error:
        return [str(error)]
    programs = [f"{_PROGRAM}{name}" for name in programs_of(loaded.system)]
    try:
        ensure_built(["host"], ["hosted_run", f"hosted_hypervisor_{loaded.platform.board}", *programs])
    except BuildFailed as error:
        if unknown := _UNKNOWN_PROGRAM.search(str(error)):
            return [f"{loaded.file}: '{unknown[1]}' is {_NOTHING_KNOWN}"]
        raise
    except NeedsCheckout as error:
        if error.target.startswith(_PROGRAM):
            return [f"{loaded.file}: '{error.target.removeprefix(_PROGRAM)}' is {_NOTHING_KNOWN}"]
        raise
    wanted = BuildOptions(seed=options.seed, run_for_ns=options.for_ns or 0, hosted=True)
    try:
        built = build_system(loaded, directory / "package", wanted, options.hooks)
        images = images_of(built, loaded.path.parent, wanted)
        return make_simulated_target(loaded, built, options, images, directory)
    except PlanningError as error:
        return [loaded.locate(finding).text() for finding in error.findings]
    except PackageError as error:
        return [f"{loaded.file}: {reason}" for reason in error.reasons]
    except NotSimulated as error:
        return [str(error)]


def _plan(target: Target) -> SimulatedPlan:
    from bulkhead.env.paths import host_dir
    from bulkhead.run.simulator import SimulatedPlan

    return SimulatedPlan(
        program=host_dir() / "machine" / "hosted" / "hosted_run",
        request=target.request,
        directory=target.directory,
        domain_names=tuple(domain.name for domain in target.domains),
        timeout_s=target.options.timeout_s,
        raw_domain=target.raw_domain,
        watched=target.watched,
    )


def _alone(loaded: Loaded, options: RunOptions, directory: Path) -> dict[str, SimulatedResult] | list[str]:
    """Run each domain alone; a list as the result holds the reasons why one could not be run."""
    from bulkhead.machine.stand_in import alone
    from bulkhead.run.conclude import simulated_result
    from bulkhead.run.simulator import run_simulations
    from bulkhead.run.view import WatchingView

    assert loaded.system is not None
    targets: list[Target] = []
    for domain in loaded.system.domains:
        place = directory / "solo" / domain.name
        place.mkdir(parents=True, exist_ok=True)
        target = _prepare(replace(loaded, system=alone(loaded.system, domain.name)), options, place)
        if isinstance(target, list):
            return target
        targets.append(target)
    with WatchingView("each domain alone", options.for_ns, show_lines=False) as view:
        outcomes = run_simulations([_plan(target) for target in targets], view, jobs=os.cpu_count() or 1)
    names = [domain.name for domain in loaded.system.domains]
    found: dict[str, SimulatedResult] = {}
    for name, target, outcome in zip(names, targets, outcomes, strict=True):
        result = simulated_result(target, outcome)
        if result is None:
            return [f"{name} alone: {outcome.detail}"]
        found[name] = result
    return found
