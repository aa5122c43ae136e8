# SPDX-License-Identifier: Apache-2.0
"""How long a core's writes delay a line that another core reads, for the regulator `dynamic-delay` (B11).

`bulkhead limits` uses it. One core reads line by line while other cores write continuously in several
patterns: those of other clusters, and all others. The values are measured on the machine, so they are
predictions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bulkhead.config.platform import Platform
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.facts import MB, PS_PER_S
from bulkhead.machine.job import Job, JobPart
from bulkhead.machine.limits import job_beside
from bulkhead.planning.delays import share_a_cluster
from bulkhead.results.limits import DelayResult

Run = Callable[[Sequence[Job]], list[PointAnswer]]

_READS = {"kind": "read", "stride_bytes": 64}
# Whole lines, which are not fetched, as membomb does; random lines; lines in different rows of one bank.
_WRITES: dict[str, JobPart] = {
    "whole lines": {"kind": "write", "stride_bytes": 32, "access_bytes": 32},
    "random lines": {"kind": "write", "stride_bytes": 64, "shuffled": True},
    "lines of one bank": {"kind": "write", "pattern": "same-bank"},
}


@dataclass(frozen=True)
class MeasuredDelay:
    pattern: str
    cores: tuple[int, ...]  # writing cores
    delay_ns: float  # additional time of a line that core 0 reads
    least_mb_s: float  # least rate of a writing core meanwhile, in both directions
    cluster: bool  # a writer shares core 0's last-level cache, in a machine where not all cores do

    def json(self) -> DelayResult:
        return {
            "pattern": self.pattern,
            "cores": list(self.cores),
            "delay_ns": self.delay_ns,
            "least_mb_s": self.least_mb_s,
        }


def measured_delays(platform: Platform, run: Run) -> list[MeasuredDelay]:
    """Delays by each pattern on one core of another cluster, on all of those, and on all other cores."""
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


def _ns_per_line(result: PointAnswer) -> float:
    return float(result["simulated_ps"] / 1000 / result["cores"][0]["events"]["l2d_refill"])


def _moved(result: PointAnswer, core: int) -> float:
    events = result["cores"][core]["events"]
    lines = events["l2d_refill"] + events["l2d_write_back"]
    return float(lines * result["line_bytes"] / MB * PS_PER_S / result["simulated_ps"])


def text(found: Sequence[MeasuredDelay]) -> list[str]:
    """The measurements as text, and the line for the platform's file."""
    lines = []
    for one in found:
        cores = f"core{'s' if len(one.cores) > 1 else ''} {', '.join(map(str, one.cores))}"
        beside = (
            f"beside writes of {one.pattern} by {cores}, each of which transfers {one.least_mb_s:,.0f} MB/s"
        )
        lines.append(f"a line that core 0 reads waits {one.delay_ns:.1f} ns longer {beside}")
    return [*lines, f"dram.delays: {{ {stated(found)} }}"] if found else []


def stated(found: Sequence[MeasuredDelay]) -> str:
    """Values for the platform's file: the longest delays, and the least rate."""
    apart = max((one.delay_ns for one in found if not one.cluster), default=0)
    cluster = max((one.delay_ns for one in found if one.cluster), default=0)
    said = f"apart: {_up(apart or cluster)} ns"
    said += f", cluster: {_up(cluster)} ns" if cluster and apart else ""
    return f"{said}, least: {math.floor(min(one.least_mb_s for one in found))} MB/s"


def _up(ns: float) -> int:
    return max(1, math.ceil(ns))
