# SPDX-License-Identifier: Apache-2.0
"""Limits of the simulated machine, which machine/machine.cpp and machine/dram/ check again by other names.

crosscheck_machine.py calls this. They apply to a platform that describes its cores' pipeline or its DRAM's
timing; of other boards only the shape is used, and hardware may be larger.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config import dram as drams
from bulkhead.config.platform import Cache, Dram, Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.timing import Pipeline

Findings = Iterator[Finding]

# machine/machine.cpp, check_core(); the slowest clock leaves 10^9 fs for a cycle
SLOWEST_HZ, FASTEST_HZ = 10**6, 10**10
# Arm's system counters: typically 1 to 50 MHz, and 1 GHz from Armv8.6 on (DDI 0487, the Generic Timer)
SLOWEST_COUNTER_HZ, FASTEST_COUNTER_HZ = 10**6, 10**9
MOST_CYCLES_PER_INSTRUCTION = 100
MOST_MISSES = 28  # core::max_misses, without what the core needs itself
SHORTEST_LINE, LONGEST_LINE, MOST_WAYS = 4, 4096, 64  # machine/cache_geometry.cpp
# machine/dram/organization.cpp
MOST_OF_DRAM = {"channels": 16, "ranks": 16, "bank_groups": 16, "banks": 64}
SHORTEST_BURST, LONGEST_BURST = 8, 256  # bytes
MOST_BURSTS_IN_A_ROW = 1 << 16


def check_simulated(platform: Platform) -> Findings:
    """What the simulated machine cannot be built from."""
    counter = platform.timers.frequency
    if not SLOWEST_COUNTER_HZ <= counter <= FASTEST_COUNTER_HZ:
        yield Finding(("timers", "frequency"), "out-of-range", f"is {counter} Hz", "1 MHz to 1 GHz")
    if platform.cores.pipeline is not None:
        yield from _clock(platform)
        yield from _pipeline(platform.cores.pipeline)
        yield from _lines(platform)
    if platform.dram is not None and platform.dram.timing is not None:
        yield from _dram(platform.dram)


def _clock(platform: Platform) -> Findings:
    frequency = platform.cores.frequency
    if frequency is not None and not SLOWEST_HZ <= frequency <= FASTEST_HZ:
        yield Finding(("cores", "frequency"), "out-of-range", f"is {frequency} Hz", "1 MHz to 10 GHz")


def _pipeline(pipeline: Pipeline) -> Findings:
    path: KeyPath = ("cores", "pipeline")
    cycles = pipeline.cycles_per_instruction
    if not round(cycles * 1000) * pipeline.width / 1000 >= 1 or cycles > MOST_CYCLES_PER_INSTRUCTION:
        cause = f"is {float(cycles):g}, and a core completes at most {pipeline.width} in a cycle (`width`)"
        allowed = f"1/{pipeline.width} to {MOST_CYCLES_PER_INSTRUCTION}"
        yield Finding((*path, "cycles_per_instruction"), "out-of-range", cause, allowed)
    if pipeline.outstanding_misses + pipeline.store_buffer > MOST_MISSES:
        cause = f"is {pipeline.outstanding_misses}, beside a `store_buffer` of {pipeline.store_buffer}"
        allowed = f"at most {MOST_MISSES} together"
        yield Finding((*path, "outstanding_misses"), "limit", cause, allowed)


def _lines(platform: Platform) -> Findings:
    """Caches of data have lines of one size; an instruction cache may have shorter ones."""
    data = platform.caches.get("l1d")
    for name, cache in platform.caches.items():
        path: KeyPath = ("caches", name)
        yield from _cache(path, cache)
        if data is None or cache.line == data.line or (name == "l1i" and cache.line < data.line):
            continue
        if name != "l1i" and cache.line < data.line:
            continue  # crosscheck_machine.py reports an outer level with shorter lines
        cause = f"lines of {cache.line} bytes, and those of l1d have {data.line}"
        allowed = (
            f"at most {data.line}" if name == "l1i" else f"{data.line}: all levels have lines of one size"
        )
        yield Finding((*path, "line"), "geometry", cause, allowed)


def _cache(path: KeyPath, cache: Cache) -> Findings:
    if not SHORTEST_LINE <= cache.line <= LONGEST_LINE:
        allowed = f"{SHORTEST_LINE} to {LONGEST_LINE}"
        yield Finding((*path, "line"), "out-of-range", f"lines of {cache.line} bytes", allowed)
    if cache.ways > MOST_WAYS:
        yield Finding((*path, "ways"), "limit", f"is {cache.ways}", f"at most {MOST_WAYS}")


def _dram(dram: Dram) -> Findings:
    path: KeyPath = ("dram",)
    for key, most in MOST_OF_DRAM.items():
        if getattr(dram, key) > most:
            yield Finding((*path, key), "limit", f"is {getattr(dram, key)}", f"at most {most}")
    burst = drams.burst_bytes(dram)
    if not SHORTEST_BURST <= burst <= LONGEST_BURST:
        cause = (
            f"a burst of {dram.burst or drams.STANDARD_BURST} beats of {dram.width} bits has {burst} bytes"
        )
        allowed = f"bursts of {SHORTEST_BURST} to {LONGEST_BURST} bytes (`width` and `burst`)"
        yield Finding((*path, "width"), "out-of-range", cause, allowed)
    elif dram.page is not None and dram.page // burst > MOST_BURSTS_IN_A_ROW:
        allowed = f"at most {MOST_BURSTS_IN_A_ROW * burst} bytes, {MOST_BURSTS_IN_A_ROW} bursts"
        yield Finding((*path, "page"), "limit", f"a row has {dram.page} bytes", allowed)
