# SPDX-License-Identifier: Apache-2.0
"""By how much a core delays a line that another one reads, for the regulator `dynamic-delay` (B11).

`bulkhead limits` calls it. One core reads line by line beside cores that write whole lines without end: those
of other clusters, and all. Measured on the machine, so all of it is prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bulkhead.config.platform import Platform
from bulkhead.machine.facts import MB, PS_PER_S
from bulkhead.machine.limits import job_beside
from bulkhead.planning.delays import share_a_cluster

Run = Callable[[Sequence[dict[str, Any]]], list[dict[str, Any]]]

_READS = {"kind": "read", "stride_bytes": 64}
_WRITES = {"kind": "write", "stride_bytes": 32, "access_bytes": 32}  # as membomb: lines that are not fetched


@dataclass(frozen=True)
class MeasuredDelay:
    cores: tuple[int, ...]  # that write
    delay_ns: float  # of a line that core 0 reads
    written_mb_s: float  # by all of them, beside that
    cluster: bool  # one of them shares a last level with core 0, and others do not


def measured_delays(platform: Platform, run: Run) -> tuple[list[MeasuredDelay], float]:
    """Beside one core of another cluster, all of these, and all cores; and what one writes alone, MB/s."""
    others = range(1, platform.cores.count)
    near = [core for core in others if share_a_cluster(platform, core, 0)]
    far = [core for core in others if core not in near]
    cases = list(dict.fromkeys(tuple(case) for case in (far[:1], far, list(others)) if case))
    jobs = [job_beside(platform, _READS, 0, _WRITES, case) for case in [(), *cases]]
    writer = job_beside(platform, _WRITES, 0, _WRITES, ())
    alone, *beside, full = run([*jobs, writer])
    found = [
        MeasuredDelay(
            case,
            _ns_per_line(result) - _ns_per_line(alone),
            _written(result, case),
            bool(near) and bool(set(near) & set(case)),
        )
        for case, result in zip(cases, beside, strict=True)
    ]
    return found, _written(full, (0,))


def _ns_per_line(result: dict[str, Any]) -> float:
    return float(result["simulated_ps"] / 1000 / result["cores"][0]["events"]["l2d_refill"])


def _written(result: dict[str, Any], cores: Sequence[int]) -> float:
    lines = sum(
        result["cores"][core]["events"][one] for core in cores for one in ("l2d_refill", "l2d_write_back")
    )
    return float(lines * result["line_bytes"] / MB * PS_PER_S / result["simulated_ps"])


def text(found: Sequence[MeasuredDelay], full_mb_s: float) -> list[str]:
    """In the form of a platform's `dram.delays`, after what was measured."""
    lines = []
    for one in found:
        cores = f"core{'s' if len(one.cores) > 1 else ''} {', '.join(map(str, one.cores))}"
        beside = f"beside writes of {cores} ({one.written_mb_s:,.0f} MB/s)"
        lines.append(f"a line that core 0 reads waits {one.delay_ns:.1f} ns longer {beside}")
    return [*lines, f"dram.delays: {{ {stated(found, full_mb_s)} }}"] if found else []


def stated(found: Sequence[MeasuredDelay], full_mb_s: float) -> str:
    """What the platform's file would say."""
    apart = max((one.delay_ns for one in found if not one.cluster), default=0)
    cluster = max((one.delay_ns for one in found if one.cluster), default=0)
    said = f"apart: {_up(apart or cluster)} ns"
    said += f", cluster: {_up(cluster)} ns" if cluster and apart else ""
    return f"{said}, full: {full_mb_s:.0f} MB/s"


def _up(ns: float) -> int:
    return max(1, int(-(-ns // 1)))
