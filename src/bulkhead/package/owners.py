# SPDX-License-Identifier: Apache-2.0
"""Owners of frames for the observer: one byte per 4 KiB page of RAM, and the observer's configuration.

Called by `build`. Made from the plan alone, so that the observer's attribution does not depend on the
hypervisor (C5, first witness).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bulkhead.config.platform import Cache, Platform
from bulkhead.config.regions import its_addresses
from bulkhead.geometry import PAGE_BYTES, Frames
from bulkhead.package.errors import PackageError
from bulkhead.planning.model import Plan

NOBODY = 0
HYPERVISOR = 1
FIRST_DOMAIN = 2
WINDOW_ACCESSES = 200_000

Owners = NDArray[np.uint8]


def owner_names(plan: Plan) -> list[str]:
    """The owner's name for each value of the map."""
    return ["nobody", "hypervisor", *(domain.name for domain in plan.domains)]


def owners_map(plan: Plan) -> Owners:
    """One byte per page, for all RAM ranges of the platform in order."""
    frames = sum(r.size for r in plan.platform.memory) // PAGE_BYTES
    owners = np.zeros(frames, dtype=np.uint8)
    _claim(owners, plan.platform, plan.pool.pages(plan.space), HYPERVISOR, "the hypervisor")
    if plan.tables is not None and plan.tables.colored is not None:
        pages = plan.tables.colored.pages(plan.space)
        _claim(owners, plan.platform, pages, HYPERVISOR, "memory for stage-2 tables")
    _claim(owners, plan.platform, _pending_pages(plan.platform), HYPERVISOR, "memory of the redistributors")
    for domain in plan.domains:
        for segment in domain.segments:
            what = f"domain '{domain.name}'"
            _claim(owners, plan.platform, segment.pages(plan.space), FIRST_DOMAIN + domain.index, what)
    return owners


def _pending_pages(platform: Platform) -> Frames:
    """Pages of the redistributors' memory, which the hypervisor clears."""
    its = its_addresses(platform)
    start, end = its["pending_pa"], its["pending_pa"] + its["pending_bytes"]
    return np.arange(start, end, PAGE_BYTES, dtype=np.uint64)


def observe_config(plan: Plan, owners: str, *, start_pa: int, seed: int) -> dict[str, object]:
    """The observer's configuration. `owners`: path of the map, relative to the configuration file."""
    platform = plan.platform
    caches = {"l1d": platform.caches.get("l1d"), "l1i": platform.caches.get("l1i"), "llc": platform.llc}
    its = its_addresses(platform)
    uncached = {"uncached": {"pa": its["pending_pa"], "bytes": its["pending_bytes"]}} if its["pa"] else {}
    pci = platform.pci
    config = {"configuration_space": {"pa": pci.at, "bytes": pci.config_bytes}} if pci else {}
    return {
        "ram": [{"pa": r.at, "bytes": r.size} for r in platform.memory],
        "owners": owners,
        "names": owner_names(plan),
        "cores": platform.cores.count,
        **{name: _cache(cache) for name, cache in caches.items() if cache is not None},
        **uncached,
        **config,
        "seed": seed,
        "start": {"pa": start_pa, "value": 1},
        "window_accesses": WINDOW_ACCESSES,
    }


def _cache(cache: Cache) -> dict[str, object]:
    return {
        "size": cache.size,
        "ways": cache.ways,
        "line": cache.line,
        "replacement": cache.replacement or "lru",
    }


def _claim(owners: Owners, platform: Platform, frames: Frames, owner: int, what: str) -> None:
    """Marks frames with their owner. Raises PackageError if a frame is not RAM or has another owner
    already."""
    index = np.full(frames.shape, -1, dtype=np.int64)
    before = 0
    for ram in platform.memory:
        inside = (frames >= np.uint64(ram.at)) & (frames < np.uint64(ram.end))
        pages = (frames[inside] - np.uint64(ram.at)) // np.uint64(PAGE_BYTES)
        index[inside] = before + pages.astype(np.int64)
        before += ram.size // PAGE_BYTES
    if (index < 0).any():
        raise PackageError(f"{what}: frame {int(frames[index < 0][0]):#x} is not in RAM")
    taken = owners[index] != NOBODY
    if taken.any():
        other = int(owners[index][taken][0])
        raise PackageError(f"{what}: frame {int(frames[taken][0]):#x} already belongs to owner {other}")
    owners[index] = owner
