# SPDX-License-Identifier: Apache-2.0
"""What a platform's memory can sustain (B10): by pattern and number of cores, and at worst.

`bulkhead limits` calls it. Measured on the machine, so all of it is prediction; the search for budgets needs
regulators that the machine does not run yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bulkhead.config.platform import Platform
from bulkhead.machine.facts import bandwidth
from bulkhead.machine.settings import settings_of

Run = Callable[[Sequence[dict[str, Any]]], list[dict[str, Any]]]

WARM_PS = 2_000_000_000  # until the caches are full of lines that must go back
WINDOW_PS = 300_000_000
BYTES_PER_CORE = 2 << 20

# Name, what a generator does (machine/generator.h).
PATTERNS: dict[str, dict[str, Any]] = {
    "sequential reads": {"kind": "read", "stride_bytes": 64},
    "sequential writes": {"kind": "write", "stride_bytes": 64},
    "random reads": {"kind": "read", "stride_bytes": 64, "shuffled": True},
    "random writes": {"kind": "write", "stride_bytes": 64, "shuffled": True},
    "same-bank reads": {"kind": "read", "pattern": "same-bank"},
    "same-bank writes": {"kind": "write", "pattern": "same-bank"},
}


@dataclass(frozen=True)
class Sustained:
    pattern: str
    cores: int
    mb_per_s: float
    utilization: float


def sustained(platform: Platform, run: Run) -> list[Sustained]:
    """Bandwidth of each pattern on one core, two, and so on: the saturation curve."""
    cases = [(name, count) for name in PATTERNS for count in range(1, platform.cores.count + 1)]
    results = run([_job(platform, PATTERNS[name], count) for name, count in cases])
    return [
        Sustained(name, count, bandwidth(result), result["dram"]["utilization"])
        for (name, count), result in zip(cases, results, strict=True)
    ]


def peak_mb_per_s(platform: Platform) -> float:
    """Of the data bus."""
    dram = platform.dram
    assert dram is not None
    return dram.speed * dram.width * dram.channels / 8


def guaranteed(found: Sequence[Sustained], cores: int) -> Sustained:
    """The worst pattern with all cores at it: no other leaves them less."""
    return min((one for one in found if one.cores == cores), key=lambda one: one.mb_per_s)


def _job(platform: Platform, pattern: dict[str, Any], count: int) -> dict[str, Any]:
    line = int(settings_of(platform)["cores"][0]["l1d"]["line_bytes"])
    room = sum(ram.size for ram in platform.memory) // (2 * platform.cores.count)
    strided = {**pattern, "stride_bytes": line} if "stride_bytes" in pattern else pattern
    parts = [
        {
            "name": f"core-{core}",
            "core": core,
            "memory_bytes": min(BYTES_PER_CORE, room),
            "instructions": 2,
            "walks": 0,
            **strided,
        }
        for core in range(count)
    ]
    return {"platform": platform.name, "parts": parts, "from_ps": WARM_PS, "until_ps": WARM_PS + WINDOW_PS}
