# SPDX-License-Identifier: Apache-2.0
"""Shares of bandwidth on a platform whose memory has no MPAM: a maximum becomes a budget, a minimum is what
the limits of other domains leave.

admission/load.py rewrites a system with `with_reservations`, so that all code for budgets applies. Shares are
of the bandwidth in the worst case (`dram.guaranteed`), counted at the memory: lines fetched and lines
written back.
"""

from __future__ import annotations

from fractions import Fraction

from bulkhead.config.platform import Platform
from bulkhead.config.system import Domain, System
from bulkhead.planning.budgets import counted_event, counts_of
from bulkhead.planning.mechanism import bandwidth_by_mpam


def guaranteed_of(platform: Platform) -> int | None:
    """The bandwidth that shares refer to, in bytes per s; None: the platform does not state it."""
    return platform.dram.guaranteed if platform.dram is not None else None


def is_reserved(domain: Domain, platform: Platform) -> bool:
    """Whether a share of bandwidth is provided by reservation."""
    asks = domain.bandwidth.min is not None or domain.bandwidth.max is not None
    return asks and not bandwidth_by_mpam(platform)


def reserved_rate(share: Fraction, platform: Platform) -> int:
    """Bytes per s of a share, rounded down."""
    guaranteed = guaranteed_of(platform)
    assert guaranteed is not None
    return int(share * guaranteed)


def with_reservations(system: System, platform: Platform) -> System:
    """The system with a budget for each maximum that is provided by reservation."""
    domains = tuple(_reserved(domain, platform) for domain in system.domains)
    if domains == system.domains:
        return system
    return system.model_copy(update={"domains": domains})


def _reserved(domain: Domain, platform: Platform) -> Domain:
    wanted = domain.bandwidth.max
    if wanted is None or not is_reserved(domain, platform) or guaranteed_of(platform) is None:
        return domain
    rate = reserved_rate(wanted, platform)
    event = counted_event(platform, emulated=False)
    if event is not None and counts_of(domain.bandwidth, event) != "sum":
        rate //= 2  # each fetched line may cause a write-back, which is not counted
    bandwidth = domain.bandwidth.model_copy(update={"budget": max(rate, 1)})
    return domain.model_copy(update={"bandwidth": bandwidth})
