# SPDX-License-Identifier: Apache-2.0
"""What a board's self-test says about its platform file: each measured figure beside the stated one, and the
lines for the file.

The command `self-test` shows both. Sizes and latencies of caches are read from the curve of random reads:
if a block is larger than a cache, the cache holds the part that fits, and the other reads take the time of
the next level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bulkhead.config.platform import Platform
from bulkhead.planning.budgets import EVENT_NUMBERS
from bulkhead.planning.delays import share_a_cluster
from bulkhead.units import size_text
from bulkhead.validation.self_test import PatternName, SelfTest
from bulkhead.validation.self_test_levels import rate_within, three_levels_of

MB, MHZ, GHZ = 10**6, 10**6, 10**9
LINE = 64  # bytes that the program's patterns count as a line
SOURCE = '"measured on the board: examples/self-test.yaml"'
# A block that is larger than the first level: its reads take this part of a hit's time longer, on average.
MISSED = 0.75
# A block that is larger than the last level: its reads take more than this part of the way from that level's
# latency to that of the largest block. Half of the reads of a block of twice the size go to memory.
BEHIND = 0.25
SAME_BANK: tuple[PatternName, ...] = ("same-bank reads", "same-bank writes", "same-bank updates")


@dataclass(frozen=True)
class MeasuredFigure:
    """A figure of the board. `key`: its key in the platform file; None: the file has none."""

    what: str
    unit: str
    measured: float | None  # None: the measurement does not show it
    stated: float | None = None  # by the platform file
    key: str | None = None
    value: str | None = None  # for the file; None: nothing is to be written
    text: str | None = None  # in place of the number

    @property
    def ratio(self) -> float | None:
        """Measured divided by stated."""
        return self.measured / self.stated if self.measured is not None and self.stated else None


@dataclass(frozen=True)
class Levels:
    """What the curve of random reads shows: sizes in bytes, latencies in ns beyond a hit in the first."""

    first_size: int | None
    last_size: int | None
    last_ns: float | None
    memory_ns: float | None


def levels_of(test: SelfTest) -> Levels:
    """The levels of a board with two levels of caches; of one with three, the last two as one."""
    curve = [(one.size, one.single) for one in test.latency]
    missed = next((size for size, ns in curve if ns > MISSED * test.hit.ns), None)
    if missed is None or missed == curve[0][0]:
        return Levels(None, None, None, None)
    first = missed // 2
    last_ns = _latency_behind(curve, first)
    top = curve[-1][1]
    behind = next((size for size, ns in curve if ns > last_ns + BEHIND * (top - last_ns)), None)
    if behind is None or behind <= 2 * first or top < 2 * last_ns:
        return Levels(first, None, last_ns, None)
    last, size = behind // 2, curve[-1][0]
    within = (last - first) / size * last_ns
    return Levels(first, last, last_ns, (top - within) / (1 - last / size))


def _latency_behind(curve: Sequence[tuple[int, float]], cache: int) -> float:
    """Latency of the level behind a cache: by the block of four times its size, or the largest below that."""
    size, ns = [point for point in curve if cache < point[0] <= 4 * cache][-1]
    return ns / (1 - cache / size)


def figures_of(test: SelfTest, platform: Platform) -> list[MeasuredFigure]:
    return [
        *_clocks(test, platform),
        *_caches(test, platform),
        *_rates(test, platform),
        *_delays(test, platform),
        *_paths(test, platform),
        *_events(test, platform),
    ]


def _clocks(test: SelfTest, platform: Platform) -> Iterator[MeasuredFigure]:
    yield MeasuredFigure("cores", "", test.cores.count, platform.cores.count, "cores.count")
    stated, hz = platform.cores.frequency, test.cores.frequency
    yield MeasuredFigure(
        "frequency of a core",
        "MHz",
        None if hz is None else hz / MHZ,
        None if stated is None else stated / MHZ,
        "cores.frequency",
        None if hz is None else f"{hz / MHZ:g} MHz",
    )
    counter = test.timers.frequency
    yield MeasuredFigure(
        "counter, as CNTFRQ_EL0 says",
        "MHz",
        counter / MHZ,
        platform.timers.frequency / MHZ,
        "timers.frequency",
        f"{counter} Hz",
    )


def _caches(test: SelfTest, platform: Platform) -> Iterator[MeasuredFigure]:
    levels, llc, l1d = levels_of(test), platform.llc_name, platform.l1d
    hz = test.cores.frequency or platform.cores.frequency
    if hz is not None:
        cycles, pipeline = test.hit.ns * hz / GHZ, platform.cores.pipeline
        extra = max(0, round(cycles) - 1)
        yield MeasuredFigure(
            "hit, from load to use",
            "cycles",
            cycles,
            None if pipeline is None else pipeline.load_use + 1,
            "cores.pipeline.load_use",
            None if pipeline is None else str(extra),
        )
    if llc == "l3" and "l2" in platform.caches:
        yield from _three_levels(test, platform, hz)
        return
    if l1d is not None:
        yield _size("first level", "caches.l1d.size", levels.first_size, l1d.size)
    last = platform.llc
    if last is not None and llc is not None:
        yield _size("last level", f"caches.{llc}.size", levels.last_size, last.size)
    if last is not None and llc == "l2" and hz is not None:
        found = None if levels.last_ns is None else levels.last_ns * hz / GHZ
        stated = None if last.latency is None else float(last.latency)
        value = None if found is None else str(round(found))
        yield MeasuredFigure("last level, beyond a hit", "cycles", found, stated, "caches.l2.latency", value)
    yield MeasuredFigure("memory, beyond a hit", "ns", levels.memory_ns)
    if levels.first_size is not None:
        rate = rate_within(test.block_reads, levels.first_size, levels.last_size)
        if levels.last_size is not None:
            yield MeasuredFigure("one core: lines from the last level", "MB/s", rate)
            rate = rate_within(test.block_reads, levels.last_size, None)
            yield MeasuredFigure("one core: lines from memory", "MB/s", rate)


def _three_levels(test: SelfTest, platform: Platform, hz: int | None) -> Iterator[MeasuredFigure]:
    """A second and a third level of caches, apart."""
    found, l1d = three_levels_of(test), platform.l1d
    if l1d is not None:
        yield _size("first level", "caches.l1d.size", None if found is None else found.first_size, l1d.size)
    for what, name, cache, level in (
        ("second level", "l2", platform.caches["l2"], None if found is None else found.second),
        ("third level", "l3", platform.caches["l3"], None if found is None else found.third),
    ):
        yield _size(what, f"caches.{name}.size", None if level is None else level.size, cache.size)
        if hz is None:
            continue
        cycles = None if level is None else level.ns * hz / GHZ
        stated = None if cache.latency is None else float(cache.latency)
        value = None if cycles is None else str(round(cycles))
        key = f"caches.{name}.latency"
        yield MeasuredFigure(f"{what}, beyond a hit", "cycles", cycles, stated, key, value)
    yield MeasuredFigure("memory, beyond a hit", "ns", None if found is None else found.memory_ns)
    if found is None:
        return
    for what, inner, outer in (
        ("the second level", found.first_size, found.second.size),
        ("the third level", found.second.size, found.third.size),
        ("memory", found.third.size, None),
    ):
        rate = rate_within(test.block_reads, inner, outer)
        yield MeasuredFigure(f"one core: lines from {what}", "MB/s", rate)


def _size(what: str, key: str, found: int | None, stated: int) -> MeasuredFigure:
    kib = None if found is None else found / 1024
    value = None if found is None else size_text(found)
    return MeasuredFigure(f"size of the {what}", "KiB", kib, stated / 1024, key, value)


def _rates(test: SelfTest, platform: Platform) -> Iterator[MeasuredFigure]:
    for rate in test.rates:
        yield MeasuredFigure(f"one core: {rate.kind}, {rate.loop}", "MB/s", rate.mb_s)
    for one in test.patterns:
        if one.cores in (1, test.cores.count):
            cores = "one core" if one.cores == 1 else f"{one.cores} cores"
            yield MeasuredFigure(f"{cores}: {one.pattern}", "MB/s", one.mb_s)
    if platform.dram is None:
        return
    rates = [test.rate(name, test.cores.count) for name in SAME_BANK]
    least = min((rate for rate in rates if rate is not None), default=None)
    stated = platform.dram.guaranteed
    yield MeasuredFigure(
        "least same-bank rate of all cores",
        "MB/s",
        least,
        None if stated is None else stated / MB,
        "dram.guaranteed",
        None if least is None else f"{math.floor(least)} MB/s",
    )


def _delays(test: SelfTest, platform: Platform) -> Iterator[MeasuredFigure]:
    if not test.delays or platform.dram is None:
        return
    longest = max(0.0, *(one.beside_ns - one.alone_ns for one in test.delays))
    least = min(one.least_mb_s for one in test.delays)
    stated = platform.dram.delays
    apart = not any(share_a_cluster(platform, core, 0) for core in range(1, platform.cores.count))
    value = f"{{ apart: {max(1, math.ceil(longest))} ns, least: {math.floor(least)} MB/s, source: {SOURCE} }}"
    yield MeasuredFigure(
        "delay of a line by writers",
        "ns",
        longest,
        None if stated is None else float(stated.apart),
        "dram.delays",
        value if apart and least >= 1 else None,
    )
    rate = None if stated is None else stated.least / MB
    yield MeasuredFigure("least rate of a writer", "MB/s", least, rate)


def _paths(test: SelfTest, platform: Platform) -> Iterator[MeasuredFigure]:
    call, costs = test.paths.hypervisor_call, platform.flow_costs
    stated = None if costs is None else costs.hypervisor_call
    # No line for the file: the call is not as long as beside the writers of examples/self-test-flows.yaml.
    yield MeasuredFigure(
        "call of the hypervisor, median",
        "ns",
        call.median,
        None if stated is None or stated.median is None else float(stated.median),
        "flow_costs.hypervisor_call",
    )
    yield MeasuredFigure(
        "call of the hypervisor, longest", "ns", call.max, None if stated is None else float(stated.max)
    )
    for name, path in (
        ("timer interrupt", test.paths.timer_interrupt),
        ("interrupt to itself", test.paths.own_interrupt),
    ):
        yield MeasuredFigure(f"{name}, median", "ns", path.median)
        yield MeasuredFigure(f"{name}, longest", "ns", path.max)


def _events(test: SelfTest, platform: Platform) -> Iterator[MeasuredFigure]:
    """Bytes between caches and memory for each event: what budgets are computed with."""
    pmu = platform.pmu
    if pmu is None:
        return
    causes: tuple[tuple[str, PatternName], ...] = (
        ("traffic_event", "sequential reads"),
        ("writeback_event", "sequential writes"),
    )
    for key, pattern in causes:
        event = getattr(pmu, key)
        if event is None:
            continue
        number = EVENT_NUMBERS.get(event.name)
        found = next((e for e in test.events if (e.event, e.pattern) == (number, pattern)), None)
        measured = None if found is None or found.counted == 0 else found.lines * LINE / found.counted
        stated = None if event.bytes is None else float(event.bytes)
        what = f"{event.name}, bytes of each"
        yield MeasuredFigure(what, "B", measured, stated, f"pmu.{key}.bytes")
