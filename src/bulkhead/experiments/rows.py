# SPDX-License-Identifier: Apache-2.0
"""From what the machine counted to the rows of an experiment: one for each point, its keys fixed.

Pure arithmetic on results; a row begins with the point's values and ends with the run's digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bulkhead.experiments.model import Experiment, PointJob, alone_jobs, alone_key, measured_part
from bulkhead.machine.programs import counted

Row = dict[str, Any]

PS_PER_NS = 1000


def rows_of(
    experiment: Experiment, points: Sequence[PointJob], results: Sequence[dict[str, Any]]
) -> list[Row]:
    """One row for each point, in their order. Behind the points' results are those of what runs alone."""
    if experiment.result == "slowdown":
        names = [key for key, _ in alone_jobs(points)]
        alone = dict(zip(names, results[len(points) :], strict=True))
        return [
            slowdowns(experiment, one, result, alone) for one, result in zip(points, results, strict=False)
        ]
    return [walk_times(experiment, one, result) for one, result in zip(points, results, strict=True)]


def walk_times(experiment: Experiment, one: PointJob, result: dict[str, Any]) -> Row:
    """Maximum and mean time of the measured part's walks, those at first left out."""
    name = measured_part(experiment)
    number = next(i for i, walk in enumerate(result["walks"]) if walk["name"] == name)
    times = result["walks"][number]["walk_ps"][experiment.leave_out :]
    if not times:
        raise ValueError(f"'{name}' makes no more walks than are left out")
    lost = sum(level["owners"][number + 1]["evicted_by_others"] for level in result["levels"].values())
    return {
        **one.point,
        "max_ns": max(times) / PS_PER_NS,
        "mean_ns": sum(times) / len(times) / PS_PER_NS,
        "walks": len(times),
        "evicted_by_others": lost,
        "dram_utilization": result["dram"]["utilization"],
        "simulated_ns": result["simulated_ps"] // PS_PER_NS,
        "digest": f"{result['digest']:016x}",
    }


def slowdowns(
    experiment: Experiment, one: PointJob, result: dict[str, Any], alone: dict[str, dict[str, Any]]
) -> Row:
    """Mean iteration of each workload beside the others, by that of the same workload alone."""
    parts = one.job["parts"]
    rt = next(i for i, part in enumerate(parts) if part["name"] == measured_part(experiment))
    nrt = [i for i in range(len(parts)) if i != rt]
    beside_ns = _mean_ns(experiment, result)
    alone_ns = [_mean_ns(experiment, alone[alone_key(part)])[0] for part in parts]
    slowdown = [beside / by_itself for beside, by_itself in zip(beside_ns, alone_ns, strict=True)]
    return {
        **one.point,
        "rt": parts[rt]["workload"],
        "nrt": [parts[i]["workload"] for i in nrt],
        "rt_slowdown": slowdown[rt],
        "nrt_slowdown": [slowdown[i] for i in nrt],
        "rt_alone_ns": alone_ns[rt],
        "nrt_alone_ns": [alone_ns[i] for i in nrt],
        "dram_utilization": result["dram"]["utilization"],
        "simulated_ns": result["simulated_ps"] // PS_PER_NS,
        "digest": f"{result['digest']:016x}",
    }


def _mean_ns(experiment: Experiment, result: dict[str, Any]) -> list[float]:
    found = counted(result["programs"], experiment.leave_out)
    for program, iterations in zip(result["programs"], found, strict=True):
        if len(iterations) < experiment.iterations:
            raise ValueError(
                f"'{program['name']}' made {len(iterations)} of {experiment.iterations} iterations"
            )
    return [sum(one.time_ps for one in own) / len(own) / PS_PER_NS for own in found]
