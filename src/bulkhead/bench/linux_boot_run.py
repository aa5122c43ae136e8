# SPDX-License-Identifier: Apache-2.0
"""Compares a boot of Linux under the hypervisor with a boot on the bare emulator: loads, builds and runs.

Called by the command `bench linux-boot`. linux_boot.py evaluates the runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.admission.load import Loaded, load_system
from bulkhead.bench.counted import CountError
from bulkhead.bench.linux_boot import ONE_VCPU, SYSTEM, BootComparison, measure, prepare
from bulkhead.bench.not_measured import NotMeasured, require_emulated
from bulkhead.env import native, paths
from bulkhead.env.progress import progress
from bulkhead.env.qemu import qemu_binary
from bulkhead.package.build import BuildOptions, build_system
from bulkhead.package.errors import PackageError
from bulkhead.planning.plan import PlanningError
from bulkhead.run.directory import run_directory


def load_linux_system(overrides: Sequence[str]) -> Loaded:
    return load_system(str(paths.repository("`bench linux-boot`") / SYSTEM), [ONE_VCPU, *overrides])


def measure_linux_boot(loaded: Loaded, runs: int, seed: int) -> BootComparison:
    """Compare the instructions of both boots, up to the shell prompt. Raises NotMeasured."""
    require_emulated(loaded)
    binary = qemu_binary()
    native.ensure_built(["target"])
    native.ensure_built(["host"], ["count"])
    counter = paths.host_dir() / "observe" / "libcount.so"
    try:
        with (
            run_directory(paths.build_dir() / "run", "bench-linux-boot") as place,
            progress("boot Linux, bare and under the hypervisor") as update,
        ):
            built = build_system(loaded, place / "package", BuildOptions(seed=seed))
            setup = prepare(loaded, built, binary=binary, counter=counter, directory=place)
            return measure(setup, place, runs, lambda n: update(n / runs, f"run {n} of {runs}"))
    except PlanningError as error:
        raise NotMeasured([loaded.locate(finding).text() for finding in error.findings]) from error
    except PackageError as error:
        raise NotMeasured([f"{loaded.file}: {reason}" for reason in error.reasons]) from error
    except CountError as error:
        raise NotMeasured([str(error)]) from error
