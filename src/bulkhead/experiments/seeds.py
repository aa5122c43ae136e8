# SPDX-License-Identifier: Apache-2.0
"""Several runs of each point that differ by chance alone: when each part begins, what caches replace, and
the order of shuffled walks. Each is a job of its own, with a key of its own.

A machine that always begins in the same way keeps its loops locked to each other and to the refresh, and a
maximum of it says nothing. Parts begin at a time that is drawn from the seed: uniform in the period of
their budget or of their regulator, and in PHASE_PS at least, which is many refreshes long, so that it is
the phase of the refresh as well. A part of the same name begins at the same time, whatever else is in the
point.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from bulkhead.config.quantity import TIME_UNITS, parse

Job = dict[str, Any]

PHASE_PS = 10**9
_PS_PER_NS = 1000
_SEED_BITS = 32


def seeded_jobs(jobs: Sequence[tuple[str, Job]], seeds: int) -> list[tuple[str, Job]]:
    """All jobs of the first seed, then all of the second, and so on."""
    return [(f"{key}-s{seed}", seeded(job, seed)) for seed in range(1, seeds + 1) for key, job in jobs]


def seeded(job: Job, seed: int) -> Job:
    """The job as this seed has it."""
    interval = job.get("regulation", {}).get("interval")
    return {**job, "seed": seed, "parts": [_drawn(part, seed, interval) for part in job["parts"]]}


def _drawn(part: Job, seed: int, interval: Any) -> Job:
    chance = Random(f"{seed} {part['name']}")  # noqa: S311
    period = _period_ps(part, interval)
    begin = int(chance.random() * period)
    if part.get("walks", 0) != 0:
        begin += period  # what has an end begins when what has none has begun
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
