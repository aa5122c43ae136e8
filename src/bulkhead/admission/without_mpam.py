# SPDX-License-Identifier: Apache-2.0
"""Notices of `check` and `run`: what shares of bandwidth mean on a platform without MPAM (M7)."""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.system import Domain, System
from bulkhead.planning.mechanism import bandwidth_by_mpam
from bulkhead.planning.reserved import guaranteed_of, is_reserved, reserved_rate
from bulkhead.units import duration, percent_text

MB = 10**6


def without_mpam(system: System, platform: Platform) -> Iterator[Finding]:
    """One notice for each key whose meaning differs without MPAM."""
    if bandwidth_by_mpam(platform):
        return
    for index, domain in enumerate(system.domains):
        at: KeyPath = ("domains", index, "bandwidth")
        if is_reserved(domain, platform) and guaranteed_of(platform) is not None:
            yield from _shares(at, domain, platform)
        if domain.bandwidth.priority is not None:
            cause = f"has no effect on '{platform.name}': its memory has no MPAM and serves all cores alike"
            yield Finding((*at, "priority"), "differs", cause)


def _shares(at: KeyPath, domain: Domain, platform: Platform) -> Iterator[Finding]:
    bandwidth = domain.bandwidth

    def of(share: str, rate: int) -> str:
        guaranteed = (guaranteed_of(platform) or 0) / MB
        return f"{share} of the {guaranteed:.0f} MB/s that '{platform.name}' guarantees, {rate / MB:.1f} MB/s"

    if bandwidth.max is not None:
        rate = of(percent_text(bandwidth.max), reserved_rate(bandwidth.max, platform))
        cause = f"is done by reservation: {rate}; at this limit the domain stops until its period of "
        cause += f"{duration(bandwidth.period)} ends"
        if not bandwidth.hard:
            cause += ", also while no other domain uses memory"
        yield Finding((*at, "max"), "differs", cause)
    if bandwidth.min is not None:
        rate = of(percent_text(bandwidth.min), reserved_rate(bandwidth.min, platform))
        cause = f"is done by reservation: the limits of all other domains leave it {rate}"
        yield Finding((*at, "min"), "differs", cause)
