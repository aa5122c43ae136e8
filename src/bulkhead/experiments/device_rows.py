# SPDX-License-Identifier: Apache-2.0
"""Experiment `devices`: a real-time core beside a device that masters memory (D5).

`contention`: what the device takes from the core, with and without a limit of its QoS-400 regulator, by how
its SMMU maps the memory. `tlb`: the same against the assumed sizes of the SMMU's TLBs. Jobs for the simulated
machine, and rows from their results.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from bulkhead.config.parameters import Parameter
from bulkhead.experiments.flow_memory import PLATFORM, allowed_mb_s
from bulkhead.experiments.intervals import combined
from bulkhead.experiments.means import Means
from bulkhead.experiments.row import Point, Row
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.assumed import Assumed, varied
from bulkhead.machine.bus_devices import SHARED as DEFAULTS
from bulkhead.machine.facts import MB, MIB, PS_PER_S
from bulkhead.machine.job import Job

PORT = "adma"
REGISTERS = (0, 20)  # of the regulator's rate; 0: off
TRANSLATIONS = ("none", "blocks", "pages")
TLB_ENTRIES = (8, 16, 32, 64, 128)
MAIN_ENTRIES = (128, 512, 2048)
LEFT_OUT = 1  # walks of the core, in which its caches fill
WALKS = 4
DEVICES: dict[str, Row] = {
    "disk": {"kind": "disk", "memory_bytes": 32 * MIB, "rate_bytes_per_s": 2_000_000_000},
    "disk-unpaced": {"kind": "disk", "memory_bytes": 32 * MIB},  # as fast as its bus: the worst neighbour
    "network": {"kind": "network", "line_rate_bytes_per_s": 1_250_000_000},
}
CONTENTION: dict[str, Sequence[str | int]] = {
    "device": tuple(DEVICES),
    "translation": TRANSLATIONS,
    "register": REGISTERS,
}
TLB: dict[str, Sequence[str | int]] = {
    "device": tuple(DEVICES),
    "tlb_entries": TLB_ENTRIES,
    "main_entries": MAIN_ENTRIES,
}
ASSUMED = ("outstanding_lines", "line_ps")  # keys of a device whose defaults are assumed
WITH_INTERVAL = ("slowdown", "mb_s", "walk_ns")
PS_PER_NS = 1000

CONTENTION_COLUMNS = ("device", "translation", "register", "allowed_mb_s", *WITH_INTERVAL, "misses_per_kib")
TLB_COLUMNS = ("device", "tlb_entries", "main_entries", *WITH_INTERVAL, "misses_per_kib")


def points_of(axes: Mapping[str, Sequence[str | int]]) -> list[Point]:
    """A point for each combination of the axes' values."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def alone(seed: int) -> Job:
    reader = {"name": "rt", "core": 0, "memory_bytes": 8 * MIB, "kind": "read", "shuffled": True}
    return {"platform": PLATFORM, "seed": seed, "parts": [{**reader, "walks": WALKS, "seed": seed}]}


def beside(point: Point, seed: int) -> Job:
    """The job of a point of either section."""
    device = DEVICES[point["device"]] | {
        "port": PORT,
        "translation": point.get("translation", "pages"),
        "seed": seed,
    }
    made: Job = {**alone(seed), "devices": [device]}
    if register := point.get("register", 0):
        made["qos"] = {PORT: {"rate": register, "burst": 1}}
    if "tlb_entries" in point:
        timing = "iommus.smmu.timing"
        made["platform_set"] = [
            f"{timing}.tlb.entries={point['tlb_entries']}",
            f"{timing}.main.entries={point['main_entries']}",
        ]
    return made


def pair_of(point: Point, seed: int) -> list[tuple[str, Job]]:
    """The jobs of one row: the core alone, and beside the device."""
    name = "-".join([*map(str, point.values()), str(seed)])
    return [(f"alone-{seed}", alone(seed)), (name, beside(point, seed))]


def pair_row(point: Point, results: Sequence[PointAnswer]) -> Row:
    """The row of a point from the results of `pair_of`."""
    reference, result = results
    return row_of(point, result, reference)


def assumed_of(share: Fraction) -> list[Assumed]:
    """The devices' assumed parameters, which no platform file has."""
    known = [Parameter(f"device.{key}", DEFAULTS[key], str(DEFAULTS[key]), "", "assumed") for key in ASSUMED]
    return [varied(one, share) for one in known]


def changed(job: Job, setting: str) -> Job:
    """The job with another value of a parameter, in the form `device.KEY=VALUE` of `assumed_of`, or of the
    platform."""
    key, _, value = setting.partition("=")
    if not key.startswith("device."):
        return {**job, "platform_set": [*job.get("platform_set", ()), setting]}
    own = {key.removeprefix("device."): int(value)}
    return {**job, "devices": [device | own for device in job["devices"]]} if "devices" in job else job


def row_of(point: Point, result: PointAnswer, reference: PointAnswer) -> Row:
    [device] = result["devices"]
    register = point.get("register", 0)
    allowed = {"allowed_mb_s": allowed_mb_s(register) if register else None} if "register" in point else {}
    return {
        **point,
        **allowed,
        "slowdown": mean_walk_ps(result, LEFT_OUT) / mean_walk_ps(reference, LEFT_OUT),
        "mb_s": device["bytes"] * PS_PER_S / result["simulated_ps"] / MB,
        "misses_per_kib": device["misses"] * 1024 / device["bytes"],
        "walks": device["walks"],
        "walk_ns": device["walk_ps"] / device["walks"] / PS_PER_NS if device["walks"] else None,
        "dropped": device["dropped"],
        "dram_utilization": result["dram"]["utilization"],
        "digest": f"{result['digest']:016x}",
    }


def rows(points: list[Point], means: Means, what: str) -> list[Row]:
    """One row for each point; with several seeds, means with intervals."""

    def rows_of_seed(seed: int) -> list[Row]:
        names = ["-".join([what, *map(str, point.values()), str(seed)]) for point in points]
        jobs = [(f"alone-{seed}", alone(seed))]
        jobs += [(name, beside(point, seed)) for name, point in zip(names, points, strict=True)]
        reference, *results = means.jobs(jobs, what)
        return [row_of(point, result, reference) for point, result in zip(points, results, strict=True)]

    return means_of_seeds(rows_of_seed, means.seeds, WITH_INTERVAL)


def means_of_seeds(
    rows_of_seed: Callable[[int], list[Row]], seeds: int, with_interval: Sequence[str]
) -> list[Row]:
    """The rows of seed 1, or with several seeds their means; those of the columns `with_interval` have an
    interval."""
    by_seed = [rows_of_seed(seed) for seed in range(1, seeds + 1)]
    return combined(by_seed, with_interval) if seeds > 1 else by_seed[0]


def mean_walk_ps(result: PointAnswer, left_out: int) -> float:
    """The mean time of the real-time core's walks without the first `left_out`."""
    times = result["walks"][0]["walk_ps"][left_out:]
    return sum(times) / len(times)
