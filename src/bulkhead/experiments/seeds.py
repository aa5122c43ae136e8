# SPDX-License-Identifier: Apache-2.0
"""Several runs of each point that differ by random values: the start of each part, replacement in caches, and
the order of shuffled walks. Each is a job with its own key.

If the machine always started in the same way, loops would stay synchronized with each other and with the
refresh, and a maximum would not be meaningful. Each part starts at a time drawn from the seed: uniformly in
the period of its budget or of its regulator, and at least in PHASE_PS, which is many refreshes long, so that
the phase of the refresh is random, too. Parts with the same name start at the same time, whatever else the
point has.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from bulkhead.config.quantity import TIME_UNITS, parse
from bulkhead.machine.job import Job

PHASE_PS = 10**9
_PS_PER_NS = 1000
_SEED_BITS = 32


def seeded_jobs(jobs: Sequence[tuple[str, Job]], seeds: int) -> list[tuple[str, Job]]:
    """All jobs of the first seed, then all of the second, and so on."""
    return [(f"{key}-s{seed}", seeded(job, seed)) for seed in range(1, seeds + 1) for key, job in jobs]


def seeded(job: Job, seed: int) -> Job:
    """The job with this seed."""
    interval = job.get("regulation", {}).get("interval")
    return {**job, "seed": seed, "parts": [_drawn(part, seed, interval) for part in job["parts"]]}


def _drawn(part: Job, seed: int, interval: Any) -> Job:
    chance = Random(f"{seed} {part['name']}")  # noqa: S311
    period = _period_ps(part, interval)
    begin = int(chance.random() * period)
    if part.get("walks", 0) != 0:
        begin += period  # parts with an end start when endless ones have started
    made = {**part, "start_ps": int(part.get("start_ps", 0)) + begin}
    if part.get("shuffled") and "seed" not in part:
        made["seed"] = chance.getrandbits(_SEED_BITS)
    return made


def _period_ps(part: Job, interval: Any) -> int:
    bandwidth = part.get("bandwidth")
    periods = [interval, bandwidth.get("period") if isinstance(bandwidth, dict) else None]
    known = (
        int(parse(one, TIME_UNITS, "1 ms", bare=False)) * _PS_PER_NS for one in periods if one is not None
    )
    return max([PHASE_PS, *known])
