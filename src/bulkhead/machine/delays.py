# SPDX-License-Identifier: Apache-2.0
"""By how much a core delays a line that another one reads, for the regulator `dynamic-delay` (B11).

`bulkhead limits` calls it. One core reads line by line beside cores that write without end, in several ways:
those of other clusters, and all. Measured on the machine, so all of it is prediction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bulkhead.config.platform import Platform
from bulkhead.machine.facts import MB, PS_PER_S
from bulkhead.machine.limits import job_beside
from bulkhead.planning.delays import share_a_cluster

Run = Callable[[Sequence[dict[str, Any]]], list[dict[str, Any]]]

_READS = {"kind": "read", "stride_bytes": 64}
# Whole lines, which are not fetched, as membomb; lines at random; lines of other rows of one bank.
_WRITES: dict[str, dict[str, Any]] = {
    "whole lines": {"kind": "write", "stride_bytes": 32, "access_bytes": 32},
    "random lines": {"kind": "write", "stride_bytes": 64, "shuffled": True},
    "lines of one bank": {"kind": "write", "pattern": "same-bank"},
}


@dataclass(frozen=True)
class MeasuredDelay:
    pattern: str
    cores: tuple[int, ...]  # that write
    delay_ns: float  # of a line that core 0 reads
    least_mb_s: float  # that one of them moves beside that, in both directions
    cluster: bool  # one of them shares a last level with core 0, and others do not


def measured_delays(platform: Platform, run: Run) -> list[MeasuredDelay]:
    """Of each pattern beside one core of another cluster, all of these, and all cores."""
    others = range(1, platform.cores.count)
    near = {core for core in others if share_a_cluster(platform, core, 0)}
    far = [core for core in others if core not in near]
    sets = list(dict.fromkeys(tuple(one) for one in (far[:1], far, list(others)) if one))
    cases = [(name, cores) for name in _WRITES for cores in sets]
    alone, *beside = run(
        [
            job_beside(platform, _READS, 0, {}, ()),
            *(job_beside(platform, _READS, 0, _WRITES[name], cores) for name, cores in cases),
        ]
    )
    return [
        MeasuredDelay(
            name,
            cores,
            _ns_per_line(result) - _ns_per_line(alone),
            min(_moved(result, core) for core in cores),
            not near.isdisjoint(cores),
        )
        for (name, cores), result in zip(cases, beside, strict=True)
    ]


def _ns_per_line(result: dict[str, Any]) -> float:
    return float(result["simulated_ps"] / 1000 / result["cores"][0]["events"]["l2d_refill"])


def _moved(result: dict[str, Any], core: int) -> float:
    events = result["cores"][core]["events"]
    lines = events["l2d_refill"] + events["l2d_write_back"]
    return float(lines * result["line_bytes"] / MB * PS_PER_S / result["simulated_ps"])


def text(found: Sequence[MeasuredDelay]) -> list[str]:
    """What was measured, and the line of a platform's file that says it."""
    lines = []
    for one in found:
        cores = f"core{'s' if len(one.cores) > 1 else ''} {', '.join(map(str, one.cores))}"
        beside = f"beside writes of {one.pattern} by {cores}, of which each moves {one.least_mb_s:,.0f} MB/s"
        lines.append(f"a line that core 0 reads waits {one.delay_ns:.1f} ns longer {beside}")
    return [*lines, f"dram.delays: {{ {stated(found)} }}"] if found else []


def stated(found: Sequence[MeasuredDelay]) -> str:
    """What the platform's file would say: the longest delays, and the least that goes with them."""
    apart = max((one.delay_ns for one in found if not one.cluster), default=0)
    cluster = max((one.delay_ns for one in found if one.cluster), default=0)
    said = f"apart: {_up(apart or cluster)} ns"
    said += f", cluster: {_up(cluster)} ns" if cluster and apart else ""
    return f"{said}, least: {math.floor(min(one.least_mb_s for one in found))} MB/s"


def _up(ns: float) -> int:
    return max(1, math.ceil(ns))
