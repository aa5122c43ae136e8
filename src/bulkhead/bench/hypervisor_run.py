# SPDX-License-Identifier: Apache-2.0
"""Measures the paths into the hypervisor and back: loads, builds and runs the systems in the emulator.

Called by the command `bench hypervisor`. hypervisor.py evaluates the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bulkhead.admission.load import Loaded, load_system
from bulkhead.bench.flows import FlowsNotMeasured, load, measure, packet_of
from bulkhead.bench.hypervisor import (
    BUDGET,
    ONE_VCPU,
    SHARED,
    SYSTEM,
    HypervisorCosts,
    PathsError,
    has_budget,
    one_core,
)
from bulkhead.bench.hypervisor import measure as measure_paths
from bulkhead.bench.not_measured import NotMeasured, require_emulated
from bulkhead.env import native, paths
from bulkhead.env.progress import progress
from bulkhead.env.qemu import qemu_binary
from bulkhead.package.errors import PackageError
from bulkhead.planning.plan import PlanningError
from bulkhead.run.directory import run_directory
from bulkhead.run.system import run_quietly
from bulkhead.run.target import QEMU


@dataclass(frozen=True)
class PathSystems:
    """Systems in which the paths are measured."""

    one: Loaded  # one VCPU
    two: Loaded  # two VCPUs on a core each
    budget: Loaded  # the same with a budget
    shared: Loaded  # two VCPUs that share a core, with a budget


def load_path_systems(platform: str | None, overrides: Sequence[str]) -> PathSystems:
    checkout = paths.repository("`bench hypervisor`")
    given = [*overrides, *((f"platform={platform}",) if platform else ())]
    file = str(checkout / SYSTEM)
    return PathSystems(
        two=load_system(file, given),
        one=load_system(file, [*ONE_VCPU, *given]),
        budget=load_system(file, [*BUDGET, *given]),
        shared=load_system(str(checkout / SHARED), given),
    )


def measure_hypervisor(systems: PathSystems, seed: int) -> HypervisorCosts:
    """Count the instructions of each path. Raises NotMeasured."""
    measured = _measure(systems, seed)
    platform = systems.two.platform
    return measured if platform is None else replace(measured, packet=_measure_packet(platform.name, seed))


def _measure(systems: PathSystems, seed: int) -> HypervisorCosts:
    for loaded in (systems.one, systems.two, systems.budget, systems.shared):
        require_emulated(loaded)
    binary = qemu_binary()
    native.ensure_built(["target"])
    two = systems.two
    try:
        with (
            run_directory(paths.build_dir() / "run", "bench-hypervisor") as place,
            progress("measure the paths into the hypervisor") as update,
        ):
            budgets = [systems.budget, one_core(systems.shared)] if has_budget(systems.budget) else []
            measured = (one_core(systems.one), two, *budgets)
            return measure_paths(
                measured,
                binary=binary,
                directory=place,
                seed=seed,
                done=lambda n: update(n / len(measured), f"run {n} of {len(measured)}"),
            )
    except PlanningError as error:
        raise NotMeasured([two.locate(finding).text() for finding in error.findings]) from error
    except PackageError as error:
        raise NotMeasured([f"{two.file}: {reason}" for reason in error.reasons]) from error
    except PathsError as error:
        raise NotMeasured([str(error)]) from error


def _measure_packet(platform: str, seed: int) -> int | None:
    """Costs of a packet of a flow; empty on a board where flows cannot be measured."""
    try:
        return packet_of(measure(load([f"platform={platform}"], QEMU), QEMU, seed, run_quietly))
    except FlowsNotMeasured:
        return None
