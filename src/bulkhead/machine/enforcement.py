# SPDX-License-Identifier: Apache-2.0
"""The shortest period and the smallest budget that regulation still enforces (B10): nominal compared with
measured bandwidth.

`bulkhead limits` uses it. Every core reads as fast as it can, each with the same budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bulkhead.config.platform import Platform
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.facts import MB, PS_PER_S
from bulkhead.machine.job import Job
from bulkhead.machine.regulation import EVENTS, counted_as, line_bytes
from bulkhead.results.limits import EnforcedResult

Run = Callable[[Sequence[Job]], list[PointAnswer]]

TOLERANCE = 0.05  # of the nominal bandwidth, in both directions
PERIODS_NS = (1_000_000, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000)
BUDGETS = (5_000, 2_000, 1_000, 500, 200, 100, 50, 20, 10, 5, 2, 1)
PERIOD_NS = 1_000_000  # period while budgets are varied
SHARE = 0.5  # of the guaranteed bandwidth: sum of all budgets while periods are varied
WARM_PS = 2_000_000_000
WINDOW_PS = 20_000_000_000
MEMORY = 4 << 20


@dataclass(frozen=True)
class Enforced:
    """A budget of all cores and the measured bandwidth, per core."""

    events: int
    period_ns: int
    nominal_mb_s: float
    measured_mb_s: float

    @property
    def held(self) -> bool:
        return abs(self.measured_mb_s - self.nominal_mb_s) <= TOLERANCE * self.nominal_mb_s

    def json(self) -> EnforcedResult:
        return {
            "events": self.events,
            "period_ns": self.period_ns,
            "nominal_mb_s": self.nominal_mb_s,
            "measured_mb_s": self.measured_mb_s,
            "held": self.held,
        }


def periods(platform: Platform, run: Run, guaranteed_mb_s: float) -> list[Enforced]:
    """The same bandwidth in shorter and shorter periods."""
    rate = guaranteed_mb_s * MB * SHARE / platform.cores.count
    wanted = [(round(rate * period / 1e9 / event_bytes(platform)), period) for period in PERIODS_NS]
    return _measured(platform, run, [(events, period) for events, period in wanted if events > 0])


def budgets(platform: Platform, run: Run, guaranteed_mb_s: float) -> list[Enforced]:
    """Smaller and smaller budgets in periods of 1 ms, from the largest that the memory can serve to all
    cores."""
    most = guaranteed_mb_s * MB * PERIOD_NS / 1e9 / event_bytes(platform) / platform.cores.count
    return _measured(platform, run, [(events, PERIOD_NS) for events in BUDGETS if events <= most])


def smallest(tried: Sequence[Enforced]) -> Enforced | None:
    """The last enforced value before the first that is not; values become smaller."""
    found = None
    for one in tried:
        if not one.held:
            break
        found = one
    return found


def event_of(platform: Platform) -> str:
    """The event that stands for lines that a core reads from memory."""
    traffic = platform.pmu.traffic_event if platform.pmu is not None else None
    if traffic is not None and str(traffic.name) in EVENTS:
        return str(traffic.name)
    return "BUS_ACCESS"


def event_bytes(platform: Platform) -> int:
    """Bytes of memory traffic for each of these events."""
    return counted_as(platform, event_of(platform), "limits")[1]


def _measured(platform: Platform, run: Run, wanted: Sequence[tuple[int, int]]) -> list[Enforced]:
    results = run([_job(platform, events, period) for events, period in wanted])
    counted, size = counted_as(platform, event_of(platform), "limits")
    found = []
    for (events, period), result in zip(wanted, results, strict=True):
        mean = sum(core["events"][counted] for core in result["cores"]) / platform.cores.count
        found.append(
            Enforced(
                events,
                period,
                events * size / period * 1e9 / MB,
                mean * size / MB * PS_PER_S / result["simulated_ps"],
            )
        )
    return found


def _job(platform: Platform, events: int, period: int) -> Job:
    bandwidth = {"events": events, "period": f"{period} ns", "event": event_of(platform)}
    parts = [
        {
            "name": f"core-{core}",
            "core": core,
            "memory_bytes": min(
                MEMORY, sum(ram.size for ram in platform.memory) // (2 * platform.cores.count)
            ),
            "kind": "read",
            "stride_bytes": line_bytes(platform),
            "instructions": 2,
            "walks": 0,
            "bandwidth": bandwidth,
        }
        for core in range(platform.cores.count)
    ]
    return {
        "platform": platform.name,
        "parts": parts,
        "from_ps": WARM_PS,
        "until_ps": WARM_PS + WINDOW_PS,
        "regulation": {"policy": "static", "samples": False},
    }
