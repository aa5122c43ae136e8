# SPDX-License-Identifier: Apache-2.0
"""Delays that the regulator `dynamic-delay` assumes: how much each regulated core delays the other cores.

They come from the system's `regulation`, or else from the platform's `dram.delays`. Used for the manifest,
for checks, and for jobs of the simulated machine.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bulkhead.config.platform import Platform
from bulkhead.config.system import Regulation

POLICY = "dynamic-delay"
MOST_INTERVALS = 65535  # core/regulator.h
PS_PER_NS = 1000


@dataclass(frozen=True)
class DelaysOfCores:
    event_ps: dict[int, int]  # by regulated core or device: delay of an event of a core that is not regulated
    least: int  # bytes per s of a regulated core or device that delays others all the time
    horizon_intervals: int


def missing_key(regulation: Regulation, platform: Platform) -> str | None:
    """The first missing key, if the delays are stated nowhere; else None."""
    of_platform = platform.dram.delays if platform.dram is not None else None
    if of_platform is not None:
        return None
    return next((key for key in ("delay", "least") if getattr(regulation, key) is None), None)


def delays_of(
    regulation: Regulation,
    platform: Platform,
    regulated: Collection[int],
    others: Collection[int],
    devices: Collection[int] = (),
) -> DelaysOfCores | None:
    """The regulator's delays; None if they are stated nowhere (see missing_key()). `devices`: places of
    regulated devices. They have the stated delay, since the platform's is measured beside cores."""
    if missing_key(regulation, platform) is not None:
        return None
    given = platform.dram.delays if platform.dram is not None else None
    apart = regulation.delay if regulation.delay is not None else given.apart if given is not None else 0
    cluster = regulation.cluster_delay
    if cluster is None and given is not None and given.cluster is not None:
        cluster = max(given.cluster, apart)  # a stated `delay` says nothing of a core of the same cluster
    least = regulation.least if regulation.least is not None else given.least if given is not None else 0
    beside = {core for core in regulated if any(share_a_cluster(platform, core, other) for other in others)}
    return DelaysOfCores(
        {
            core: (cluster if core in beside and cluster is not None else apart) * PS_PER_NS
            for core in regulated
        }
        | dict.fromkeys(devices, apart * PS_PER_NS),
        least,
        min(max(1, regulation.horizon // regulation.interval), MOST_INTERVALS),
    )


def share_a_cluster(platform: Platform, core: int, other: int) -> bool:
    """Whether both cores are in one cluster of a machine with several clusters."""
    return any(
        core in cluster and other in cluster
        for cache in platform.caches.values()
        if len(cache.clusters) > 1
        for cluster in cache.clusters
    )
