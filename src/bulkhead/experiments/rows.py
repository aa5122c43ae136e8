# SPDX-License-Identifier: Apache-2.0
"""From what the machine counted to the rows of an experiment: one for each point, its keys fixed.

Pure arithmetic on results; a row begins with the point's values and ends with the run's digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bulkhead.experiments.model import Experiment, PointJob, measured_part

Row = dict[str, Any]

PS_PER_NS = 1000


def rows_of(
    experiment: Experiment, points: Sequence[PointJob], results: Sequence[dict[str, Any]]
) -> list[Row]:
    """One row for each point, in their order."""
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
