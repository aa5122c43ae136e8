# SPDX-License-Identifier: Apache-2.0
"""Cost of a campaign's point besides its simulation, and its consequences for large campaigns.

Points that simulate a single walk over a page are run as every campaign runs its points: hashed, dispatched,
run in a process of their own, kept. The command's own share of a point is its processor time: it is spent one
point after the other, and bounds how many points a second a campaign can have. The rest is spent by workers.
"""

from __future__ import annotations

import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bulkhead.campaign.engine import Engine
from bulkhead.campaign.points import run_jobs
from bulkhead.machine.job import Job
from bulkhead.machine.native import built_machine
from bulkhead.results.bench import PointCostKeys

PLATFORM = "rpi2"
CAMPAIGN_POINTS = 100_000
WORKERS = (2, 16, 64, 256)
POINTS_S = (0.1, 1.0, 10.0, 60.0)  # how long a point simulates
S_PER_HOUR = 3600


@dataclass(frozen=True)
class PointCost:
    """Means over `points` points at `workers` workers."""

    points: int
    workers: int
    wall_ms: float
    client_ms: float  # processor time of the command
    kept_ms: float  # time of a point whose result is kept, and that is not run
    client_kib: float  # memory of the command

    @property
    def worker_ms(self) -> float:
        """Time of a worker for a point."""
        return self.wall_ms * self.workers

    def hours(self, workers: int, point_s: float, points: int = CAMPAIGN_POINTS) -> float:
        """How long a campaign takes: limited by its workers, or by the command if that has more to do."""
        at_workers_s = (point_s + self.worker_ms / 1000) / workers
        return points * max(at_workers_s, self.client_ms / 1000) / S_PER_HOUR

    def json(self) -> PointCostKeys:
        return {
            "points": self.points,
            "workers": self.workers,
            "wall_ms": self.wall_ms,
            "client_ms": self.client_ms,
            "kept_ms": self.kept_ms,
            "client_kib": self.client_kib,
            "worker_ms": self.worker_ms,
            "campaign_points": CAMPAIGN_POINTS,
            "projected": [
                {"workers": workers, "point_s": point_s, "hours": self.hours(workers, point_s)}
                for point_s in POINTS_S
                for workers in WORKERS
            ],
        }


def measure(engine: Engine, points: int) -> PointCost:
    """Raises PointFailed, BuildFailed, MissingTool, NoCluster."""
    built_machine()
    workers = engine.workers()
    jobs = [(f"{number}", _job(number)) for number in range(points)]
    run_jobs(jobs[: 2 * workers], None, engine, "start workers")
    with tempfile.TemporaryDirectory() as place:
        before = _memory_kib()
        wall, client = time.monotonic(), time.process_time()
        results = run_jobs(jobs, Path(place), engine, "small points")
        wall, client = time.monotonic() - wall, time.process_time() - client
        memory = (_memory_kib() - before) / len(results)
        kept = time.monotonic()
        run_jobs(jobs, Path(place), engine, "kept points")
        kept = time.monotonic() - kept
    return PointCost(
        points,
        workers,
        wall_ms=1000 * wall / points,
        client_ms=1000 * client / points,
        kept_ms=1000 * kept / points,
        client_kib=memory,
    )


def _memory_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _job(number: int) -> Job:
    part = {"name": "one", "core": 0, "memory_bytes": 4096, "kind": "read", "walks": 1}
    return {"platform": PLATFORM, "parts": [part], "seed": number}
