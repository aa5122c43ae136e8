# SPDX-License-Identifier: Apache-2.0
"""Experiment `devices`, section `colored`: a device whose memory has the colors of its domain (D5).

A real-time core has half of the colors in all rows. The device's domain has contiguous memory, or memory of
the other half of the colors, or of one of these. `reader`: a core of that domain reads the device's memory,
as a driver and its programs do; without it the device alone accesses this memory. Jobs for the simulated
machine, and rows from their results.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bulkhead.experiments.device_rows import DEVICES, PORT, mean_walk_ps, means_of_seeds
from bulkhead.experiments.flow_memory import PLATFORM
from bulkhead.experiments.means import Means
from bulkhead.experiments.row import Point, Row
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.bus_devices import memory_bytes
from bulkhead.machine.facts import MB, PS_PER_S
from bulkhead.machine.job import Job, JobPart

KIB = 1024
LINE_BYTES = 64
NOTHING = "none"
CORE_KIB = {8192: 4, 256: 200}  # memory of the real-time core, and how often it walks over it
LEFT_OUT = 4  # one of so many walks, at the beginning, is not counted
MEMORY: dict[str, JobPart] = {  # of the device's domain: its colors, and how its SMMU maps it
    "contiguous": {"colors": None, "translation": "blocks"},
    "contiguous-pages": {"colors": None, "translation": "pages"},
    "half": {"colors": "high", "translation": "pages"},
    "one": {"colors": [7], "translation": "pages"},
}
WITH_INTERVAL = ("read_ns", "slowdown", "evicted_per_1000_reads", "mb_s")
COLUMNS = ("device", "memory", "reader", "core_kib", *WITH_INTERVAL, "misses_per_kib")


def points() -> list[Point]:
    """All combinations. Without a device there is a reader, and its memory differs by its place alone."""
    axes = itertools.product((NOTHING, *DEVICES), MEMORY, (False, True), CORE_KIB)
    made = [dict(zip(("device", "memory", "reader", "core_kib"), values, strict=True)) for values in axes]
    return [
        point
        for point in made
        if point["device"] != NOTHING or (point["reader"] and point["memory"] != "contiguous-pages")
    ]


def alone(core_kib: int, seed: int) -> Job:
    core = {
        "name": "rt",
        "core": 0,
        "colors": "low",
        "memory_bytes": core_kib * KIB,
        "kind": "read",
        "shuffled": True,
        "walks": CORE_KIB[core_kib],
        "seed": seed,
    }
    return {"platform": PLATFORM, "seed": seed, "parts": [core]}


def beside(point: Point, seed: int) -> Job:
    made = alone(point["core_kib"], seed)
    wanted = MEMORY[point["memory"]]
    device = DEVICES.get(point["device"])
    if point["reader"]:
        made["parts"].append(
            {
                "name": "reader",
                "core": 1,
                "colors": wanted["colors"],
                "memory_bytes": memory_bytes(device or DEVICES["disk"]),
                "kind": "read",
                "walks": 0,
                "seed": seed,
            }
        )
    if device is not None:
        where = {"memory_of": "reader"} if point["reader"] else {"colors": wanted["colors"]}
        used = {"port": PORT, "translation": wanted["translation"], "seed": seed}
        made["devices"] = [device | used | where]
    return made


def row_of(point: Point, result: PointAnswer, reference: PointAnswer) -> Row:
    reads = point["core_kib"] * KIB // LINE_BYTES
    left_out = CORE_KIB[point["core_kib"]] // LEFT_OUT
    walk_ps = mean_walk_ps(result, left_out)
    [level] = result["levels"].values()
    device = result["devices"][0] if result["devices"] else None
    moved = device["bytes"] if device else 0
    return {
        **point,
        "read_ns": walk_ps / reads / 1000,
        "slowdown": walk_ps / mean_walk_ps(reference, left_out),
        "evicted_per_1000_reads": level["owners"][1]["evicted_by_others"]
        * 1000
        / (reads * len(result["walks"][0]["walk_ps"])),
        "evicted_by_device": level["evictions"][1][len(level["owners"]) - 1] if device else 0,
        "mb_s": moved * PS_PER_S / result["simulated_ps"] / MB if device else None,
        "misses_per_kib": device["misses"] * KIB / moved if device else None,
        "dropped": device["dropped"] if device else None,
        "dram_utilization": result["dram"]["utilization"],
        "digest": f"{result['digest']:016x}",
    }


def rows(points_of: Sequence[Point], means: Means) -> list[Row]:
    """One row for each point; with several seeds, means with intervals."""

    def rows_of_seed(seed: int) -> list[Row]:
        jobs = [(f"half-{size}-{seed}", alone(size, seed)) for size in CORE_KIB]
        names = ["-".join(["colored", *map(str, point.values()), str(seed)]) for point in points_of]
        jobs += [(name, beside(point, seed)) for name, point in zip(names, points_of, strict=True)]
        results = means.jobs(jobs, "colored")
        references = dict(zip(CORE_KIB, results, strict=False))
        found = zip(points_of, results[len(CORE_KIB) :], strict=True)
        return [row_of(point, result, references[point["core_kib"]]) for point, result in found]

    return means_of_seeds(rows_of_seed, means.seeds, WITH_INTERVAL)
