# SPDX-License-Identifier: Apache-2.0
"""Measures the parts of a packet's path on a platform, and writes their costs into its file if wanted.

Called by the command `bench flows`. flows.py has the systems and evaluates the runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.admission.load import Loaded
from bulkhead.bench.flow_costs_file import PLAIN, write_costs
from bulkhead.bench.flows import WRITTEN_ROUNDS, FlowsNotMeasured, MeasuredFlows, load, measure
from bulkhead.bench.not_measured import NotMeasured
from bulkhead.config.locate import platform_path
from bulkhead.env.paths import platforms_dir, repository
from bulkhead.run.system import run_quietly
from bulkhead.run.target import MACHINE, QEMU


@dataclass(frozen=True)
class PathRequest:
    """The platform, and the way in which the parts of a packet's path are measured on it."""

    platform: str = "qemu-virt"
    on: str = MACHINE
    overrides: tuple[str, ...] = ()
    seed: int = 0
    write: bool = False  # write the measured costs into the platform file
    anew: bool = False  # forget the file's extremes; else each is kept if it is further out


def load_flow_systems(request: PathRequest) -> tuple[Loaded, Loaded]:
    if request.on == QEMU:
        repository("`bench flows --on qemu`")
    path = platform_path(request.platform)
    if request.write and path is not None and path.is_relative_to(platforms_dir()):
        repository("`--write` to a platform's own file")
    return load([f"platform={request.platform}", *request.overrides], request.on)


def measure_flows(request: PathRequest, systems: tuple[Loaded, Loaded]) -> MeasuredFlows:
    """Measure the parts of a packet's path. Raises NotMeasured."""
    rounds = WRITTEN_ROUNDS if request.write else 1
    try:
        measured = measure(systems, request.on, request.seed, run_quietly, rounds)
        if request.write:
            platform = systems[0].platform
            kept = None if request.anew or platform is None else platform.flow_costs
            write_costs(request.platform, PLAIN, measured, kept)
    except FlowsNotMeasured as error:
        raise NotMeasured(str(error).split("\n")) from error
    return measured
