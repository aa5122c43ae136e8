# SPDX-License-Identifier: Apache-2.0
"""Measures the speed of the simulated machine: builds its program, and runs it and another simulator.

Called by the command `bench machine`. machine.py has the goals and evaluates the runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bulkhead.bench.machine import GOALS, PROGRAM, TARGET, MachineError, Speeds, measure, time_peer
from bulkhead.bench.not_measured import NotMeasured
from bulkhead.env import native, paths
from bulkhead.env.progress import progress
from bulkhead.run.directory import run_directory


@dataclass(frozen=True)
class SpeedRequest:
    """Amount of measurements, and the other simulator that is timed too."""

    against: str | None = None  # command of another DRAM simulator
    trace_format: str = "dramsim3"
    repeat: int = 5
    share_percent: int = 100


def measure_machine(request: SpeedRequest) -> Speeds:
    """Measure the speed of the simulated machine. Raises NotMeasured."""
    native.ensure_built(["host"], [TARGET])
    program = paths.host_dir() / PROGRAM
    total = request.repeat * len(GOALS)
    amount = {"repeat": request.repeat, "share_percent": request.share_percent}
    try:
        with (
            run_directory(paths.build_dir() / "run", "bench-machine") as place,
            progress("measure the machine") as update,
        ):
            speeds = measure(program, done=lambda n: update(n / total, f"{n} of {total}"), **amount)
            if request.against is None:
                return speeds
            update(1.0, request.against)
            peer = time_peer(program, request.against, request.trace_format, place, **amount)
            return replace(speeds, peer=peer)
    except MachineError as error:
        raise NotMeasured([str(error)]) from error
