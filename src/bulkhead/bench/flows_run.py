# SPDX-License-Identifier: Apache-2.0
"""Measures the parts of a packet's path on a platform, and writes their costs into its file if wanted.

Called by the command `bench flows`. flows.py has the systems and evaluates the runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.bench.flow_costs_file import contain, write_costs
from bulkhead.bench.flows import WRITTEN_ROUNDS, FlowsNotMeasured, MeasuredFlows, Systems, load, measure
from bulkhead.bench.not_measured import NotMeasured
from bulkhead.config.flow_costs import ISOLATED, PLAIN
from bulkhead.config.locate import platform_path
from bulkhead.env.paths import platforms_dir, repository
from bulkhead.geometry import GeometryError
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
    isolated: bool = False  # the costs of systems within the limits of `flow_costs_isolated`


def load_flow_systems(request: PathRequest) -> Systems:
    """The systems to measure. Raises NotMeasured."""
    if request.on == QEMU:
        repository("`bench flows --on qemu`")
    path = platform_path(request.platform)
    if request.write and path is not None and path.is_relative_to(platforms_dir()):
        repository("`--write` to a platform's own file")
    settings = [f"platform={request.platform}", *request.overrides]
    try:
        return load(settings, request.on, isolated=request.isolated)
    except GeometryError as error:
        raise NotMeasured([str(error)]) from error


def measure_flows(request: PathRequest, systems: Systems) -> MeasuredFlows:
    """Measure the parts of a packet's path. Raises NotMeasured."""
    rounds = WRITTEN_ROUNDS if request.write else 1
    try:
        measured = measure(systems, request.on, request.seed, run_quietly, rounds)
        if request.write:
            platform = systems.on.platform
            assert platform is not None, "it was measured"
            kept = platform.flow_costs_isolated if request.isolated else platform.flow_costs
            section = ISOLATED if request.isolated else PLAIN
            write_costs(request.platform, section, measured, None if request.anew else kept)
            contain(request.platform)
    except FlowsNotMeasured as error:
        raise NotMeasured(str(error).split("\n")) from error
    return measured
