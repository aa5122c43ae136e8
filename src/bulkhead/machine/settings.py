# SPDX-License-Identifier: Apache-2.0
"""Converts a platform file to the settings of the simulated machine, as plain values for JSON.

machine/settings.h names every field; the machine checks them again. Everything that runs on the machine uses
this module, so that a platform is the same in every experiment. A platform file with missing data is refused.
"""

from __future__ import annotations

from typing import Any

from bulkhead.config import dram as drams
from bulkhead.config.devices import Dma
from bulkhead.config.mpam import MpamComponent, Resource
from bulkhead.config.platform import Cache, Dram, Platform
from bulkhead.config.timing import (
    BY_TURNS,
    MARKS,
    WATERMARKS,
    DramTiming,
    Interconnect,
    Prefetcher,
    TlbLevel,
)
from bulkhead.errors import InvalidInput

PICOSECONDS_PER_S = 10**12
INTERRUPT_PS = 150_000  # default latency: as ZCU102
DEVICE_PS = 150_000
_POLICY = "lru"

Settings = dict[str, Any]


class NotSimulated(InvalidInput):
    """The platform file states too little for the simulated machine."""


def settings_of(platform: Platform, *, seed: int = 1, owners: int = 1) -> Settings:
    """The settings of a machine like `platform`. `owners`: number of owners of memory, including nobody.
    Raises NotSimulated."""
    interconnect, costs = platform.interconnect, platform.costs
    if interconnect is None:
        raise NotSimulated(f"platform '{platform.name}' does not describe its interconnect")
    _refuse_private_l3(platform)
    ports = {_master(platform, number) for number in range(platform.cores.count)}
    return {
        "seed": seed,
        "signals": _signals(platform),
        "device_ps": costs.device or DEVICE_PS,
        "owners": owners,
        "cores": [_core(platform, number) for number in range(platform.cores.count)],
        "levels": _levels(platform),
        "masters": [
            {
                "name": name,
                "request_ps": interconnect.request,
                "answer_ps": interconnect.answer,
                **_qos(interconnect, name),
                **(_port(platform, interconnect) if name in ports else {}),
            }
            for name in _masters(platform)
        ],
        **_coherence(interconnect),
        "regions": _regions(platform),
        "writes_in_flight": interconnect.writes,
        "dram": _dram(platform),
        **_mpam(platform),
    }


def _refuse_private_l3(platform: Platform) -> None:
    """A core has at most two private caches, of which L2 is the second one (machine/core.h)."""
    cache = platform.caches.get("l3")
    if cache is not None and not cache.shared_by and not cache.clusters:
        raise NotSimulated(
            f"platform '{platform.name}': `l3` is private to each core, and the simulated machine models "
            "private caches up to `l2` (allowed: `shared_by` or `clusters` of the cores that share it)"
        )


def _signals(platform: Platform) -> Settings:
    """Latencies of signals from a device or a core to a core. The machine's cores run ahead of each other by
    the smallest of them (machine/engine.h)."""
    costs, maintenance = platform.costs, platform.maintenance
    interrupt = INTERRUPT_PS if costs.interrupt_latency is None else costs.interrupt_latency
    return {
        "interrupt_ps": interrupt,
        "event_ps": interrupt if costs.event_latency is None else costs.event_latency,
        # A core that broadcasts waits for the way there and back.
        "maintenance_ps": interrupt if maintenance is None else maintenance.wait // 2,
    }


def cycles_ps(platform: Platform, cycles: int) -> int:
    """Core cycles in picoseconds, rounded to the nearest."""
    frequency = platform.cores.frequency
    assert frequency is not None
    return (cycles * PICOSECONDS_PER_S + frequency // 2) // frequency


def engine_timing(platform: str, dma: Dma) -> Settings:
    """Timing of an engine's channel. Raises NotSimulated."""
    if dma.type != "zdma":
        raise NotSimulated(f"platform '{platform}': the simulated machine does not model a {dma.type}")
    if dma.start is None or dma.finish is None or dma.per_line is None:
        raise NotSimulated(f"platform '{platform}' does not state the speed of '{dma.name}'")
    return {
        "coherent": dma.coherent,
        "start_ps": dma.start,
        "finish_ps": dma.finish,
        "line_ps": dma.per_line,
    }


def _core(platform: Platform, number: int) -> Settings:
    cores, pipeline = platform.cores, platform.cores.pipeline
    if cores.frequency is None or pipeline is None or platform.l1d is None:
        raise NotSimulated(f"platform '{platform.name}' does not describe its cores' timing")
    streaming = pipeline.write_streaming
    made: Settings = {
        "frequency_hz": cores.frequency,
        "width": pipeline.width,
        "instruction_millicycles": round(pipeline.cycles_per_instruction * 1000),
        "load_use_cycles": pipeline.load_use,
        "loads": pipeline.outstanding_misses,
        "window_instructions": pipeline.window,
        "stores": pipeline.store_buffer,
        "reads": pipeline.outstanding_reads or 0,
        "transfer_ps": _transfer(platform, number),
        "l1d": _cache(platform.l1d),
        "prefetcher": _prefetcher(cores.prefetcher),
        "write_streaming": {
            "lines": streaming.lines if streaming else 0,
            "shared_lines": streaming.shared_lines if streaming else 0,
        },
        "mmu": _mmu(platform),
        "path": [name for name, cores_of in _shared(platform) if number in cores_of],
        "master": _master(platform, number),
    }
    code = platform.caches.get("l1i")
    if code is not None:
        made["l1i"] = _cache(code)
    private = platform.caches.get("l2")
    if private is not None and not private.shared_by and not private.clusters:
        made["l2"] = _cache(private)
        made["l2_latency_ps"] = cycles_ps(platform, private.latency or 0)
    return made


def _transfer(platform: Platform, number: int) -> int:
    """Time in ps for which a line from the nearest shared cache occupies the core's read channel."""
    path = [name for name, cores in _shared(platform) if number in cores]
    if not path:
        return 0
    cache = platform.caches[path[0].split("-")[0]]  # type: ignore[index]
    return cycles_ps(platform, cache.transfer or 0)


def _shared(platform: Platform) -> list[tuple[str, tuple[int, ...]]]:
    """Name and cores of each shared cache, the nearest first."""
    found: list[tuple[str, tuple[int, ...]]] = []
    for name in ("l2", "l3"):
        cache = platform.caches.get(name)
        if cache is None:
            continue
        if cache.clusters:
            found += [(f"{name}-{number}", cluster) for number, cluster in enumerate(cache.clusters)]
        elif cache.shared_by:
            found.append((name, cache.shared_by))
    return found


def _levels(platform: Platform) -> list[Settings]:
    made = []
    for name, _ in _shared(platform):
        cache = platform.caches[name.split("-")[0]]  # type: ignore[index]
        made.append(
            {
                "name": name,
                "cache": _cache(cache),
                "latency_ps": cycles_ps(platform, cache.latency or 0),
                "occupancy_ps": cycles_ps(platform, cache.occupancy or 0),
                "snoop_ps": cycles_ps(platform, cache.snoop or 0),
                **_snooped(platform, cache),
                "misses": cache.outstanding_misses or 0,
                "inclusive": bool(cache.inclusive),
            }
        )
    return made


def _snooped(platform: Platform, cache: Cache) -> Settings:
    took = cache.snooped
    if took is None:
        return {}
    return {
        "snooped_hit_ps": cycles_ps(platform, took.hit),
        "snooped_above_ps": cycles_ps(platform, took.above),
        "snooped_miss_ps": cycles_ps(platform, took.miss),
    }


def _coherence(interconnect: Interconnect) -> Settings:
    how = interconnect.coherence
    return {} if how is None else {"coherence": {"snoop_ps": how.snoop, "speculative": how.speculative}}


def _masters(platform: Platform) -> list[str]:
    names = [_master(platform, number) for number in range(platform.cores.count)]
    return [*dict.fromkeys(names), *(device.name for device in platform.dma)]


def _qos(interconnect: Interconnect, master: str) -> Settings:
    """The regulator of a master, which is off until software or a job sets it."""
    found = next((one for one in interconnect.regulators if one.master == master), None)
    if found is None:
        return {}
    return {"qos": {"clock_ps": found.clock, "transaction_bytes": found.transaction}}


def _port(platform: Platform, interconnect: Interconnect) -> Settings:
    """Rate of a port: it moves one line after the other, at its clock and width."""
    port, frequency = interconnect.port, platform.cores.frequency
    if port is None:
        return {}
    assert frequency is not None
    rate = port.width * frequency // port.divider
    return {way: {"peak_bytes_per_s": rate} for way in ("reads", "writes")}


def _master(platform: Platform, number: int) -> str:
    """Name of the core's master: cores behind one last-level cache share its port."""
    path = [name for name, cores in _shared(platform) if number in cores]
    return f"cores-{path[-1]}" if path else f"core-{number}"


def _regions(platform: Platform) -> list[Settings]:
    ocm = platform.ocm
    if ocm is None:
        return []
    latency = ocm.latency
    if latency is None:
        llc = platform.llc
        latency = cycles_ps(platform, llc.latency) if llc is not None and llc.latency is not None else 0
    region = {"name": "ocm", "base": ocm.at, "size_bytes": ocm.size, "latency_ps": latency}
    return [{**region, "cached": ocm.cached, "beside_levels": ocm.beside_levels}]


def _mpam(platform: Platform) -> Settings:
    """MPAM in the form of machine/mpam/settings.h; nothing if the platform has none."""
    has = platform.mpam
    if has is None:
        return {}
    return {
        "mpam": {
            "partids": has.partids,
            "monitor_groups": has.monitor_groups,
            "virtual_partids": has.virtual_partids,
            "components": [_component(platform, component) for component in has.components],
        }
    }


def _component(platform: Platform, component: MpamComponent) -> Settings:
    return {
        "name": component.name,
        "at": component.at,
        "version": component.version,
        "error_interrupt": component.error_interrupt or 0,
        "overflow_interrupt": component.overflow_interrupt or 0,
        "not_ready_ps": component.not_ready,
        "internal_partids": component.internal_partids or 0,
        "resources": [_resource(platform, component, resource) for resource in component.resources],
    }


def _resource(platform: Platform, component: MpamComponent, resource: Resource) -> Settings:
    made: Settings = {}
    if resource.cache is not None:
        levels = [name for name, _ in _shared(platform) if name.split("-")[0] == resource.cache]
        if len(levels) != 1:
            raise NotSimulated(
                f"component '{component.name}': {resource.cache} is not a single cache that all cores share"
            )
        made["level"] = levels[0]
    if resource.portions is not None:
        made |= {"portions": resource.portions, "portions_are": resource.portions_are}
    for key in ("capacity", "associativity", "priority", "storage_monitors", "bandwidth_monitors"):
        part = getattr(resource, key)
        if part is not None:
            made[key] = _known(part.model_dump(exclude=set(MARKS)))
    if resource.bandwidth is not None:
        of = resource.bandwidth.model_dump(exclude={*MARKS, "window"})
        window = resource.bandwidth.window
        made["bandwidth"] = _known(of) | ({} if window is None else {"window_ps": window})
    return made


def _known(part: Settings) -> Settings:
    """The values that are stated; the machine has defaults for the rest."""
    return {key: value for key, value in part.items() if value is not None}


def _cache(cache: Cache) -> Settings:
    return {
        "size_bytes": cache.size,
        "ways": cache.ways,
        "line_bytes": cache.line,
        "policy": cache.replacement or _POLICY,
        "locked_ways": 0,
        "on_eviction": cache.allocate == "eviction",
    }


def _prefetcher(wanted: Prefetcher | None) -> Settings:
    if wanted is None:
        return {"depth_lines": 0}
    return {
        "streams": wanted.streams,
        "depth_lines": wanted.depth,
        "confirmations": wanted.confirmations,
        "max_stride_lines": wanted.max_stride,
        "outstanding": wanted.outstanding or 0,
    }


def _mmu(platform: Platform) -> Settings:
    tlb = platform.cores.tlb
    if tlb is None:
        return {}
    return {
        "l1": _tlb(tlb.l1),
        "l2": _tlb(tlb.l2),
        "intermediate": _tlb(tlb.ipa),
        "walk_cache": _tlb(tlb.walk_cache),
        "walk_cycles": tlb.walk,
        "walks": tlb.walks,
    }


def _tlb(level: TlbLevel | None) -> Settings:
    if level is None:
        return {"entries": 0}
    return {
        "entries": level.entries,
        "ways": level.ways or level.entries,
        "lockable_entries": level.lockable,
        "hit_cycles": level.hit,
        "page_shifts": [size.bit_length() - 1 for size in level.pages],
    }


def _dram(platform: Platform) -> Settings:
    dram = platform.dram
    if dram is None or dram.timing is None:
        raise NotSimulated(f"platform '{platform.name}' does not describe its DRAM's timing")
    counts, masks = drams.counts(dram), drams.masks(dram)
    if counts is None or masks is None:
        raise NotSimulated(f"platform '{platform.name}' does not describe its DRAM's rows and mapping")
    base = min(ram.at for ram in platform.memory)
    return {
        "shape": {
            "channels": counts["channel"],
            "ranks": counts["rank"],
            "groups": counts["bank_group"],
            "banks": counts["bank"],
            "rows": counts["row"],
            "columns": counts["column"],
            "burst_bytes": drams.burst_bytes(dram),
        },
        "map": {("group" if name == "bank_group" else name): bits for name, bits in masks.items()},
        "base": base,
        "bytes": max(ram.end for ram in platform.memory) - base,  # including gaps, which are not used
        "timings": _timings(dram, dram.timing),
        "how": _controller(dram),
        "request_latency_ps": dram.controller.request,
        "answer_latency_ps": dram.controller.answer,
    }


def _timings(dram: Dram, timing: DramTiming) -> Settings:
    clocks = drams.clocks_of(dram, timing)
    keep = ("burst", "cl", "cwl", "turnaround", "rank_switch")
    made = {name if name in keep else name.removeprefix("t"): value for name, value in clocks.items()}
    made["rp"] += dram.controller.guard
    made["ccd_s"] += dram.controller.spacing
    made["ccd_l"] = max(made["ccd_l"], made["ccd_s"])
    return {"period_fs": round(drams.period_ps(dram) * 1000), **made}


def _controller(dram: Dram) -> Settings:
    how = dram.controller
    made: Settings = {name: getattr(how, name) for name in ("read_queue", "write_queue", "page")}
    if how.arbitration is not None:
        return made | {"arbitration": how.arbitration.model_dump(exclude=set(MARKS))}
    turns = {name: getattr(how, name) for name in BY_TURNS}
    if how.stores is not None:
        turns = {name: value for name, value in turns.items() if name not in WATERMARKS}
        turns["stores"] = how.stores.model_dump(exclude=set(MARKS))
    return made | turns
