# SPDX-License-Identifier: Apache-2.0
"""Measures EL2's work in an interval of each regulator: loads, builds and runs the systems in the emulator.

Called by the command `bench regulators`. regulators.py evaluates the runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.admission.load import Loaded, load_system
from bulkhead.bench.counted import CountError
from bulkhead.bench.not_measured import NotMeasured, require_emulated
from bulkhead.bench.regulators import POLICIES, SYSTEM, PolicyCosts, measure, overrides
from bulkhead.env import native, paths
from bulkhead.env.progress import progress
from bulkhead.env.qemu import qemu_binary
from bulkhead.package.errors import PackageError
from bulkhead.planning.plan import PlanningError
from bulkhead.run.directory import run_directory


def load_regulator_systems(policies: Sequence[str]) -> dict[str, tuple[Loaded, Loaded]]:
    """The systems of these policies, in which best-effort cores compete, and in which they sleep."""
    file = str(paths.repository("`bench regulators`") / SYSTEM)
    return {
        policy: (
            load_system(file, overrides(policy, competing=True)),
            load_system(file, overrides(policy, competing=False)),
        )
        for policy in policies or POLICIES
    }


def measure_regulators(systems: dict[str, tuple[Loaded, Loaded]], seed: int) -> list[PolicyCosts]:
    """Count EL2's instructions and interrupts under each policy. Raises NotMeasured."""
    runs = [loaded for pair in systems.values() for loaded in pair]
    for loaded in runs:
        require_emulated(loaded)
    binary = qemu_binary()
    native.ensure_built(["target"])
    native.ensure_built(["host"], ["count"])
    counter = paths.host_dir() / "observe" / "libcount.so"
    try:
        with (
            run_directory(paths.build_dir() / "run", "bench-regulators") as place,
            progress("measure the regulators") as update,
        ):
            return measure(
                systems,
                binary=binary,
                counter=counter,
                directory=place,
                seed=seed,
                done=lambda n: update(n / len(runs), f"run {n} of {len(runs)}"),
            )
    except PlanningError as error:
        raise NotMeasured([runs[0].locate(finding).text() for finding in error.findings]) from error
    except PackageError as error:
        raise NotMeasured([f"{runs[0].file}: {reason}" for reason in error.reasons]) from error
    except CountError as error:
        raise NotMeasured([str(error)]) from error
