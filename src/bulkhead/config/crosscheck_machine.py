# SPDX-License-Identifier: Apache-2.0
"""Checks of what the simulated machine is configured from: caches, DRAM, its controller, fitted facts.

crosscheck_platform.py calls this for each platform file. Rules about a single key are in the models.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config import dram as drams
from bulkhead.config.crosscheck_simulated import check_simulated
from bulkhead.config.platform import Cache, Dram, Platform
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.timing import BY_TURNS, WATERMARKS, TlbLevel
from bulkhead.geometry import PAGE_BYTES

Findings = Iterator[Finding]

STANDARDS = ("SDR", "DDR3", "DDR4", "LPDDR2", "LPDDR3", "LPDDR4")
LEVELS = ("l1d", "l2", "l3")
PS_PER_S = 10**12


def check_machine(platform: Platform) -> list[Finding]:
    """All findings that span keys and concern only the simulated machine."""
    findings = [
        *_shared_by(platform),
        *_clusters(platform),
        *_levels(platform),
        *_translation(platform),
        *_iommus(platform),
        *_maintenance(platform),
        *_facts(platform),
        *check_simulated(platform),
    ]
    if platform.dram is not None:
        findings += _dram(platform.dram, platform)
    return findings


def _maintenance(platform: Platform) -> Findings:
    """A broadcast stops other cores. It must count at least as many events in a budget as the DRAM could
    serve in that time."""
    costs, dram = platform.maintenance, platform.dram
    event = platform.pmu.traffic_event if platform.pmu is not None else None
    if costs is None or dram is None or dram.guaranteed is None or event is None:
        return
    least = -(-costs.stall * dram.guaranteed // (event.bytes * PS_PER_S))
    if costs.events < least:
        cause = f"is {costs.events} events, but the stall of the other cores takes as long as {least} events"
        yield Finding(("maintenance", "events"), "out-of-range", cause, f"{least} or more")
    if costs.icache_events < costs.events:
        cause = "is less than `maintenance.events`"
        yield Finding(("maintenance", "icache_events"), "out-of-range", cause, f"{costs.events} or more")


def _shared_by(platform: Platform) -> Findings:
    """One cache of a level that all cores share: a core that is left out would have none of this level."""
    every = list(range(platform.cores.count))
    for name, cache in platform.caches.items():
        path: KeyPath = ("caches", name, "shared_by")
        wrong = False
        for number, core in enumerate(cache.shared_by):
            if core not in every:
                cause = f"there is no core {core}"
                yield Finding((*path, number), "out-of-range", cause, f"0 to {every[-1]}")
            elif core in cache.shared_by[:number]:
                cause = f"core {core} is listed twice"
                yield Finding((*path, number), "duplicate-name", cause, "each core once")
            else:
                continue
            wrong = True
        missing = [str(core) for core in every if core not in cache.shared_by]
        if cache.shared_by and missing and not wrong:
            cause = f"leaves out core{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
            allowed = f"cores 0 to {every[-1]}, or `clusters` with one list for each cache of this level"
            yield Finding(path, "conflict", cause, allowed)
        if name not in LEVELS[1:] and (cache.shared_by or cache.clusters) and len(every) > 1:
            key = "shared_by" if cache.shared_by else "clusters"
            cause = "each core has a first-level cache of its own"
            yield Finding(("caches", name, key), "conflict", cause, "leave it out")


def _nested(inner: Cache, outer: Cache, count: int) -> bool:
    """Whether cores that share an inner cache share the outer cache behind it, too. Lists that do not name
    each core once are reported elsewhere."""
    near, far = _groups(inner, count), _groups(outer, count)
    if any(sorted(core for one in groups for core in one) != list(range(count)) for groups in (near, far)):
        return True
    return all(any(one <= other for other in far) for one in near)


def _groups(cache: Cache, count: int) -> list[frozenset[int]]:
    shared = cache.clusters or ((cache.shared_by,) if cache.shared_by else ())
    return [frozenset(one) for one in shared] or [frozenset({core}) for core in range(count)]


def _clusters(platform: Platform) -> Findings:
    for name, cache in platform.caches.items():
        path: KeyPath = ("caches", name, "clusters")
        cores = [core for cluster in cache.clusters for core in cluster]
        if cache.clusters and cache.shared_by:
            yield Finding(path, "conflict", "cannot be combined with shared_by", "one of the two")
        if cache.clusters and sorted(cores) != list(range(platform.cores.count)):
            cause = "do not name each core exactly once"
            yield Finding(path, "conflict", cause, f"cores 0 to {platform.cores.count - 1}, each once")
        if cache.lockable_ways > cache.ways:
            cause = f"has only {cache.ways} ways"
            yield Finding(("caches", name, "lockable_ways"), "out-of-range", cause, f"0 to {cache.ways}")
        if cache.portions and cache.ways % cache.portions and cache.portions % cache.ways:
            cause = f"{cache.portions} is neither a divisor nor a multiple of the {cache.ways} ways"
            yield Finding(
                ("caches", name, "portions"), "geometry", cause, "a divisor or multiple of the ways"
            )


def _levels(platform: Platform) -> Findings:
    """An outer cache level is slower than the inner one, and its lines are not shorter."""
    near: tuple[str, Cache] | None = None
    for name in LEVELS:
        cache = platform.caches.get(name)  # type: ignore[call-overload]
        if cache is None:
            continue
        if near is not None:
            above, other = near
            if cache.latency is not None and other.latency is not None and cache.latency <= other.latency:
                cause = f"a hit takes {cache.latency} cycles, no more than one in {above} ({other.latency})"
                yield Finding(("caches", name, "latency"), "conflict", cause, f"more than {other.latency}")
            if cache.line < other.line:
                cause = f"lines of {cache.line} bytes are shorter than those of {above} ({other.line})"
                yield Finding(("caches", name, "line"), "geometry", cause, f"at least {other.line}")
            if not _nested(other, cache, platform.cores.count):
                key = "clusters" if cache.clusters else "shared_by"
                cause = f"cores that share {above} do not share the {name} behind it"
                yield Finding(("caches", name, key), "conflict", cause, f"whole groups of cores of {above}")
        near = name, cache


def _translation(platform: Platform) -> Findings:
    tlb, mpu = platform.cores.tlb, platform.cores.mpu
    if tlb is not None and mpu is not None:
        yield Finding(
            ("cores", "mpu"), "conflict", "cannot be combined with `tlb`: a core has an MMU or an MPU"
        )
    if tlb is None:
        return
    if tlb.l1.hit:
        yield Finding(
            ("cores", "tlb", "l1", "hit"),
            "conflict",
            "the first level has no latency of its own: its hit is part of the access",
        )
    for name in ("l1", "l2", "ipa", "walk_cache"):
        level = getattr(tlb, name)
        for size in () if level is None else level.pages:
            if size < PAGE_BYTES or size & (size - 1):
                cause = f"{size} bytes are not a power of two of at least 4 KiB"
                yield Finding(("cores", "tlb", name, "pages"), "bad-value", cause)
        yield from _sets(("cores", "tlb", name), level)


def _iommus(platform: Platform) -> Findings:
    for number, iommu in enumerate(platform.iommus):
        for name in ("tlb", "main", "walk_cache") if iommu.timing is not None else ():
            yield from _sets(("iommus", number, "timing", name), getattr(iommu.timing, name))


def _sets(path: KeyPath, level: TlbLevel | None) -> Findings:
    ways = None if level is None else level.ways
    if level is None or ways is None:
        return
    if level.entries % ways or (level.entries // ways) & (level.entries // ways - 1):
        cause = f"{level.entries} entries cannot be divided into {ways} ways of a power of two"
        yield Finding((*path, "ways"), "geometry", cause, "entries = sets * ways")


def _facts(platform: Platform) -> Findings:
    for number, fact in enumerate(platform.calibration):
        path: KeyPath = ("calibration", number)
        bounded = fact.low is not None and fact.high is not None
        if (fact.target is None) == (not bounded):
            yield Finding(path, "conflict", "a fact needs either a target, or both low and high")
        elif fact.low is not None and fact.high is not None and fact.low > fact.high:
            yield Finding((*path, "low"), "conflict", "low is above high")
        others = [one.fact for one in platform.calibration if one is not fact and one.follows is None]
        if fact.follows is not None and fact.follows not in others:
            cause = f"{quoted(fact.follows)} is not another fact that follows none itself"
            near = nearest_of(fact.follows, others)
            yield Finding((*path, "follows"), "unknown-name", cause, ", ".join(others), near)


def _dram(dram: Dram, platform: Platform) -> Findings:
    path: KeyPath = ("dram",)
    if dram.timing is not None and dram.standard not in STANDARDS:
        cause = f"no timing rules are known for '{dram.standard}'"
        yield Finding((*path, "standard"), "bad-value", cause, ", ".join(STANDARDS))
        return
    shape = list(_shape(dram))
    yield from shape
    if shape:
        return
    if dram.timing is not None:
        for key, cause in drams.contradictions(dram, dram.timing):
            yield Finding((*path, "timing", key), "timing", cause)
    for key, cause in drams.mapping_errors(dram):
        yield Finding((*path, "mapping", key), "geometry", cause)
    yield from _controller(dram)
    size = drams.size_bytes(dram)
    memory = sum(ram.size for ram in platform.memory)
    if size is not None and size < memory:
        cause = f"holds {size} bytes, less than the platform's memory of {memory} bytes"
        yield Finding((*path, "rows"), "conflict", cause)


def _shape(dram: Dram) -> Findings:
    for key in ("channels", "ranks", "bank_groups", "banks", "width", "page", "rows"):
        value = getattr(dram, key)
        if value is not None and value & (value - 1):
            yield Finding(("dram", key), "geometry", f"{value} is not a power of two")
    if (drams.burst_bytes(dram)) & (drams.burst_bytes(dram) - 1):
        yield Finding(("dram", "burst"), "geometry", "the bytes of a burst are not a power of two")
    elif dram.page is not None and dram.page < drams.burst_bytes(dram):
        cause = f"a row of {dram.page} bytes is shorter than a burst of {drams.burst_bytes(dram)}"
        yield Finding(("dram", "page"), "geometry", cause)
    banks = dram.ranks * dram.bank_groups * dram.banks
    if banks > drams.BANK_BITS_MAX:
        cause = f"{banks} banks in a channel are more than the simulated machine can model"
        yield Finding(("dram", "banks"), "limit", cause, f"at most {drams.BANK_BITS_MAX}")


def _controller(dram: Dram) -> Findings:
    how = dram.controller
    if how.arbitration is not None and how.stores is not None:
        cause = "cannot be combined with arbitration by score"
        yield Finding(("dram", "controller", "stores"), "conflict", cause, "leave one out")
    without: tuple[str, ...] = () if how.stores is None else WATERMARKS
    kind = "a controller with transaction stores has no watermarks"
    if how.arbitration is not None:
        without, kind = BY_TURNS, "arbitration by score does not alternate between reads and writes"
    for key in without:
        if key in how.model_fields_set:
            yield Finding(("dram", "controller", key), "conflict", f"has no effect: {kind}", "leave it out")
    if without:
        return
    if not how.write_low < how.write_high <= how.write_queue:
        cause = (
            f"watermarks {how.write_low} and {how.write_high} do not fit a queue of {how.write_queue} writes"
        )
        yield Finding(("dram", "controller", "write_high"), "conflict", cause, "low < high <= write_queue")
