# SPDX-License-Identifier: Apache-2.0
"""Rows of an experiment from the machine's counts: one for each point, with fixed keys.

Pure arithmetic on results. A row begins with the point's values and ends with the run's digest.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.experiments.model import Experiment, PointJob, alone_jobs, alone_key, measured_part
from bulkhead.experiments.partition_rows import partition_columns
from bulkhead.experiments.phases import phases
from bulkhead.experiments.regulated import is_at
from bulkhead.experiments.row import Row
from bulkhead.experiments.said import Relative
from bulkhead.experiments.sweep import word
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.facts import MB, PS_PER_S, bandwidth
from bulkhead.machine.job import JobPart
from bulkhead.machine.programs import counted
from bulkhead.published.figures import figures

PS_PER_NS = 1000


def rows_of(experiment: Experiment, points: Sequence[PointJob], results: Sequence[PointAnswer]) -> list[Row]:
    """One row for each point, in their order. `results` has the points' results, then those of parts that ran
    alone."""
    rows = _measured(experiment, points, results)
    if experiment.relative is not None:
        rows = _related(experiment.relative, list(experiment.sweep), rows)
    return [_beside_published(experiment, row) for row in rows]


def _related(wanted: Relative, axes: Sequence[str], rows: Sequence[Row]) -> list[Row]:
    """The rows with the column `relative`, which is None if the row that it refers to does not exist."""

    def place(row: Row) -> tuple[str, ...]:
        return tuple(word(row[axis]) for axis in axes)

    found = {place(row): row[wanted.y] for row in rows}

    def related(row: Row) -> Row:
        value = _by(row[wanted.y], found.get(place({**row, **wanted.to})))
        return {**{axis: row[axis] for axis in axes}, "relative": value, **row}

    return [related(row) for row in rows]


def _by(value: float | None, other: float | None) -> float | None:
    return None if value is None or not other else value / other


def _beside_published(experiment: Experiment, row: Row) -> Row:
    found: Row = {f"published_{one.y}": None for one in experiment.published}
    for one in experiment.published:
        if is_at(one.where, row):
            found[f"published_{one.y}"] = figures()[one.figure].text()
    return {**row, **found}


def _measured(
    experiment: Experiment, points: Sequence[PointJob], results: Sequence[PointAnswer]
) -> list[Row]:
    if experiment.result == "slowdown":
        names = [key for key, _ in alone_jobs(points)]
        alone = dict(zip(names, results[len(points) :], strict=True))
        return [
            slowdowns(experiment, one, result, alone) for one, result in zip(points, results, strict=False)
        ]
    if experiment.result == "phases":
        return [phase_row(one, result) for one, result in zip(points, results, strict=True)]
    if experiment.result == "partitions":
        return [partition_row(experiment, one, result) for one, result in zip(points, results, strict=True)]
    return [walk_times(experiment, one, result) for one, result in zip(points, results, strict=True)]


def walk_times(experiment: Experiment, one: PointJob, result: PointAnswer) -> Row:
    """Maximum and mean time of the measured part's walks, without the first ones. Raises ValueError if none
    is left."""
    name = measured_part(experiment)
    number = next(i for i, walk in enumerate(result["walks"]) if walk["name"] == name)
    times = result["walks"][number]["walk_ps"][experiment.leave_out :]
    if not times:
        raise ValueError(
            f"'{name}' makes no more walks than the first {experiment.leave_out}, which are skipped"
        )
    lost = sum(level["owners"][number + 1]["evicted_by_others"] for level in result["levels"].values())
    core = result["cores"][result["walks"][number]["core"]]
    all_walks = len(result["walks"][number]["walk_ps"])
    return {
        **one.point,
        "max_ns": max(times) / PS_PER_NS,
        "mean_ns": sum(times) / len(times) / PS_PER_NS,
        "min_ns": min(times) / PS_PER_NS,
        "p99_ns": sorted(times)[-(-len(times) * 99 // 100) - 1] / PS_PER_NS,
        "walks": len(times),
        "evicted_by_others": lost,
        # Means per walk, over all walks: misses of the main TLB, and time of translation.
        "tlb_misses": core["events"]["l2_tlb_refill"] / all_walks,
        "translation_ns": core["stall_ps"]["walk"] / all_walks / PS_PER_NS,
        "miss_ns": _by(core["stall_ps"]["walk"] / PS_PER_NS, core["events"]["l2_tlb_refill"]),
        "dram_utilization": result["dram"]["utilization"],
        "simulated_ns": result["simulated_ps"] // PS_PER_NS,
        "digest": f"{result['digest']:016x}",
    }


def partition_row(experiment: Experiment, one: PointJob, result: PointAnswer) -> Row:
    """Walk times, and each partition's use of cache and memory."""
    name = measured_part(experiment)
    owner = next(number for number, part in enumerate(one.job["parts"], 1) if part["name"] == name)
    last = list(result["levels"])[-1]
    return {**walk_times(experiment, one, result), **partition_columns(result, owner, last)}


def phase_row(one: PointJob, result: PointAnswer) -> Row:
    """The row of a point whose result is `phases`."""
    return {
        **one.point,
        **phases(result),
        "dram_utilization": result["dram"]["utilization"],
        "simulated_ns": result["simulated_ps"] // PS_PER_NS,
        "digest": f"{result['digest']:016x}",
    }


def slowdowns(
    experiment: Experiment, one: PointJob, result: PointAnswer, alone: dict[str, PointAnswer]
) -> Row:
    """Mean time of an iteration of each workload, divided by that of the same workload alone. A generator has
    no iterations, and does not run alone."""
    parts = one.job["parts"]
    rt = next(i for i, part in enumerate(parts) if part["name"] == measured_part(experiment))
    nrt = [i for i in range(len(parts)) if i != rt]
    by_name = _mean_ns(experiment, result)
    beside_ns = [by_name.get(part["name"]) for part in parts]
    alone_mb_s = bandwidth(alone[alone_key(parts[rt])])
    alone_ns = [
        _mean_ns(experiment, alone[alone_key(part)])[part["name"]] if "workload" in part else None
        for part in parts
    ]
    slowdown = [
        None if beside is None or by_itself is None else beside / by_itself
        for beside, by_itself in zip(beside_ns, alone_ns, strict=True)
    ]
    nrt_slowdown = [slowdown[i] for i in nrt]
    known = [one for one in nrt_slowdown if one is not None]
    return {
        **one.point,
        "rt": parts[rt]["workload"],
        "nrt": [parts[i].get("workload", parts[i].get("kind")) for i in nrt],
        "rt_slowdown": slowdown[rt],
        "nrt_slowdown": nrt_slowdown,
        "nrt_slowdown_mean": sum(known) / len(known) if known else None,
        "nrt_traffic_slowdown": _traffic(result, [parts[i] for i in nrt], alone),
        "rt_alone_ns": alone_ns[rt],
        "rt_alone_mb_s": alone_mb_s,
        "nrt_alone_ns": [alone_ns[i] for i in nrt],
        "rt_mb_s": _core_mb_s(result, parts[rt]["core"]),
        "nrt_mb_s": sum(_core_mb_s(result, parts[i]["core"]) for i in nrt),
        "interrupt_ns": _interrupt_ns(result, parts[rt]["core"]),
        "throttled": [_throttled(result, part["core"]) for part in parts],
        "dram_utilization": result["dram"]["utilization"],
        "simulated_ns": result["simulated_ps"] // PS_PER_NS,
        "digest": f"{result['digest']:016x}",
    }


def _traffic(result: PointAnswer, parts: Sequence[JobPart], alone: dict[str, PointAnswer]) -> float | None:
    """Slowdown of the other parts by traffic, which also counts unfinished iterations: their traffic per
    second alone, divided by that together with the measured part, for all of them together. None if one of
    them is a generator."""
    if not all("workload" in part for part in parts):
        return None
    by_themselves = sum(_core_mb_s(alone[alone_key(part)], part["core"]) for part in parts)
    beside = sum(_core_mb_s(result, part["core"]) for part in parts)
    return by_themselves / beside if parts and beside else None


def _core_mb_s(result: PointAnswer, core: int) -> float:
    """Rate in MB/s of all lines that a core fetched or wrote back."""
    lines = result["cores"][core]["events"]["bus_access"]
    return float(lines * result["line_bytes"] / MB * PS_PER_S / result["simulated_ps"])


def _interrupt_ns(result: PointAnswer, core: int) -> float | None:
    """Mean duration in ns of an interrupt of the core's budget; None if there was none."""
    for one in result.get("regulation", {}).get("budgets", []):
        taken = one["interrupts"]
        count = taken["overflows"] + taken["periods"] + taken["messages"]
        if one["core"] == core and count:
            return float(taken["time_ps"] / count / PS_PER_NS)
    return None


def _throttled(result: PointAnswer, core: int) -> float:
    """Share of the time in which a core waited for its next period."""
    budgets = result.get("regulation", {}).get("budgets", [])
    stopped = sum(one["throttled_ps"] for one in budgets if one["core"] == core)
    return float(stopped / result["simulated_ps"])


def _mean_ns(experiment: Experiment, result: PointAnswer) -> dict[str, float | None]:
    """Mean time of an iteration for each program, by its part's name; None without iterations, if nothing
    waits for them. Raises ValueError."""
    found = counted(result["programs"], experiment.leave_out)
    for program, iterations in zip(result["programs"], found, strict=True):
        waited_for = experiment.wait_for == "all" or program["name"] == measured_part(experiment)
        if waited_for and len(iterations) < experiment.iterations:
            raise ValueError(
                f"'{program['name']}' made {len(iterations)} of {experiment.iterations} iterations"
            )
    return {
        program["name"]: sum(one.time_ps for one in own) / len(own) / PS_PER_NS if own else None
        for program, own in zip(result["programs"], found, strict=True)
    }
