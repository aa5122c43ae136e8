# SPDX-License-Identifier: Apache-2.0
"""Bandwidth that a platform's memory can sustain (B10): by pattern and number of cores, and in the worst
case.

`bulkhead limits` uses it. The values are measured on the machine, so they are predictions. Counting starts
when the caches are full, since nothing is written back before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bulkhead.config.platform import Platform
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.budget_search import Run as SearchRun
from bulkhead.machine.budget_search import Searched, smallest_budgets
from bulkhead.machine.facts import KERNEL_MEMORY, KERNELS, MB, PS_PER_S
from bulkhead.machine.job import Job, JobPart
from bulkhead.machine.settings import settings_of
from bulkhead.results.limits import StaticBudgetResult, SustainedRateResult

Run = Callable[[Sequence[Job]], list[PointAnswer]]

WINDOW_PS = 300_000_000
BYTES_PER_CORE = 2 << 20
FILL_PS_PER_BYTE = 1200  # time to fill the caches: a little more than the slowest pattern needs
SATURATED = 0.99  # utilization above which more demand brings no more bandwidth

# Name, keys of a generator (machine/generator.h).
PATTERNS: dict[str, JobPart] = {
    "sequential reads": {"kind": "read", "stride_bytes": 64},
    "sequential writes": {"kind": "write", "stride_bytes": 64},
    "random reads": {"kind": "read", "stride_bytes": 64, "shuffled": True},
    "random writes": {"kind": "write", "stride_bytes": 64, "shuffled": True},
    "same-bank reads": {"kind": "read", "pattern": "same-bank"},
    "same-bank writes": {"kind": "write", "pattern": "same-bank"},
    "same-bank updates": {"kind": "update", "pattern": "same-bank"},  # both, so the bus also turns around
}


@dataclass(frozen=True)
class SustainedRate:
    pattern: str
    cores: int
    mb_per_s: float
    utilization: float

    def json(self) -> SustainedRateResult:
        return {
            "pattern": self.pattern,
            "cores": self.cores,
            "mb_s": self.mb_per_s,
            "utilization": self.utilization,
        }


def sustained(platform: Platform, run: Run) -> list[SustainedRate]:
    """Bandwidth of each pattern on one core, two cores, and so on: the saturation curve."""
    cases = [(name, count) for name in PATTERNS for count in range(1, platform.cores.count + 1)]
    results = run([_job(platform, PATTERNS[name], count) for name, count in cases])
    return [
        SustainedRate(name, count, _mb_per_s(result), result["dram"]["utilization"])
        for (name, count), result in zip(cases, results, strict=True)
    ]


def peak_mb_per_s(platform: Platform) -> float:
    """Peak rate of the data bus in MB/s."""
    dram = platform.dram
    assert dram is not None
    return dram.speed * dram.width * dram.channels / 8


def guaranteed(found: Sequence[SustainedRate], cores: int) -> SustainedRate:
    """The lowest bandwidth of a busy DRAM, over all patterns and numbers of cores. If the cores cannot keep
    it busy, the lowest of all cores together."""
    busy = [one for one in found if one.utilization >= SATURATED]
    return min(busy or [one for one in found if one.cores == cores], key=lambda one: one.mb_per_s)


@dataclass(frozen=True)
class StaticBudget:
    """The budget of a real-time workload; others get the rest of the guaranteed bandwidth."""

    workload: str
    bound: float
    guaranteed_mb_s: float
    searched: Searched

    def json(self) -> StaticBudgetResult:
        found = self.searched
        budget = None if found.budget is None else found.budget // MB
        return {
            "workload": self.workload,
            "slowdown_bound": 1 + self.bound,
            "guaranteed_mb_s": self.guaranteed_mb_s,
            "budget_mb_s": budget,
            "others_mb_s": None if budget is None else self.guaranteed_mb_s - budget,
            "alone_ns": found.alone_ns,
            "tried": [
                {"budget_mb_s": rate // MB, "slowdown": slowdown}
                for rate, slowdown in sorted(found.slowdowns.items())
            ],
        }

    def text(self) -> str:
        rates = sorted(self.searched.slowdowns.items())
        tried = ", ".join(f"{rate // MB} MB/s: {slowdown:.3f}" for rate, slowdown in rates)
        if self.searched.budget is None:
            return (
                f"no static budget keeps {self.workload} within {1 + self.bound:g} times its time alone "
                f"({tried})"
            )
        budget = self.searched.budget // MB
        left = f"leaves {self.guaranteed_mb_s - budget:,.0f} of {self.guaranteed_mb_s:,.0f} MB/s"
        bound = f"within {1 + self.bound:g} times its time alone"
        return (
            f"{self.workload} stays {bound} with a budget of {budget:,} MB/s or more, which {left} to "
            f"others ({tried})"
        )


def static_budget(
    platform: Platform,
    workload: str,
    run: SearchRun,
    *,
    bound: float,
    step_mb_s: int,
    guaranteed_mb_s: float,
) -> StaticBudget:
    """The smallest budget that keeps a workload within a bound of its time alone."""
    part = {
        "name": workload,
        "core": 0,
        "memory_bytes": KERNEL_MEMORY,
        "workload": workload,
        "params": KERNELS.get(workload, {}),
        "bandwidth": {"counts": "sum"},
    }
    job = {"platform": platform.name, "parts": [part], "iterations": 1, "from_iterations": True}
    below = int(guaranteed_mb_s) * MB
    found = smallest_budgets({workload: job}, run, bound=bound, step=step_mb_s * MB, below=below)
    return StaticBudget(workload, bound, guaranteed_mb_s, found[workload])


def stated_guarantee(platform: Platform) -> float | None:
    """Guaranteed MB/s of the platform's file, by which `check` admits budgets."""
    stated = platform.dram.guaranteed if platform.dram is not None else None
    return None if stated is None else stated / MB


def _mb_per_s(result: PointAnswer) -> float:
    moved = result["dram"]["read_bytes"] + result["dram"]["written_bytes"]
    return float(moved / MB * PS_PER_S / result["simulated_ps"])


def _cache_bytes(platform: Platform) -> int:
    """Size of all data caches together."""
    found = 0
    for name, cache in platform.caches.items():
        shared = len(cache.clusters) or (1 if cache.shared_by else platform.cores.count)
        found += 0 if name == "l1i" else cache.size * shared
    return found


def _job(platform: Platform, pattern: JobPart, count: int) -> Job:
    return job_beside(platform, pattern, 0, pattern, range(1, count))


def job_beside(
    platform: Platform,
    pattern: JobPart,
    core: int,
    beside: JobPart,
    others: Sequence[int],
) -> Job:
    """A core with a pattern and others with another one, without end; counted when the caches are full."""
    parts = [_part(platform, pattern, core), *(_part(platform, beside, other) for other in others)]
    begin = _cache_bytes(platform) * FILL_PS_PER_BYTE
    return {"platform": platform.name, "parts": parts, "from_ps": begin, "until_ps": begin + WINDOW_PS}


def _part(platform: Platform, pattern: JobPart, core: int) -> JobPart:
    line = int(settings_of(platform)["cores"][0]["l1d"]["line_bytes"])
    room = sum(ram.size for ram in platform.memory) // (2 * platform.cores.count)
    return {
        "name": f"core-{core}",
        "core": core,
        "memory_bytes": min(BYTES_PER_CORE, room),
        "instructions": 2,
        "walks": 0,
        **pattern,
        **({"stride_bytes": line} if "stride_bytes" in pattern and "access_bytes" not in pattern else {}),
    }
