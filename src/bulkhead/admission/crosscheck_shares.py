# SPDX-License-Identifier: Apache-2.0
"""Checks of shares: whether the platform's mechanism has a control for each key of the file (M7).

crosscheck.py calls this for each system file. Which values an MPAM control can have is checked later, by
core/ on behalf of the planner (planning/mpam_planner.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.shares import Llc
from bulkhead.config.system import Domain, System
from bulkhead.geometry import GeometryError
from bulkhead.planning.broker_parts import parts_of
from bulkhead.planning.demands import admission_of
from bulkhead.planning.device_rates import STATE_RATE, charged_together
from bulkhead.planning.mechanism import Mechanism, bandwidth_by_mpam, llc_by_mpam, llc_mechanism
from bulkhead.planning.regulation import is_regulated
from bulkhead.planning.reserved import guaranteed_of, is_reserved, reserved_rate
from bulkhead.planning.space import color_count
from bulkhead.units import percent_down, size_text

MB = 10**6


def check_shares(system: System, platform: Platform) -> Iterator[Finding]:
    yield from _mechanism(system, platform)
    mechanism = llc_mechanism(system, platform)
    yield from _llc(("hypervisor", "llc"), system.hypervisor.llc, platform, mechanism)
    for part in parts_of(system):
        if part.system.broker is not None and part.system.broker.llc is not None:
            yield from _llc((*part.key, "llc"), part.system.broker.llc, platform, mechanism)
    for index, domain in enumerate(system.domains):
        at: KeyPath = ("domains", index)
        yield from _llc((*at, "llc"), domain.llc, platform, mechanism)
        yield from _bandwidth((*at, "bandwidth"), domain, system, platform)
        yield from _virtual((*at, "virtual_partids"), domain, platform)
    yield from _minima(system, platform)


def _mechanism(system: System, platform: Platform) -> Iterator[Finding]:
    if system.isolation.llc != "mpam":
        return
    at: KeyPath = ("isolation", "llc")
    if not llc_by_mpam(platform):
        what = "has no MPAM" if platform.mpam is None else "is not controlled by an MPAM component"
        cause = f"the last-level cache of '{platform.name}' {what}"
        yield Finding(at, "not-on-platform", cause, "auto, coloring, none")
    elif system.isolation.color_l1:
        cause = "`color_l1` asks for colors, and MPAM divides the cache"
        yield Finding(at, "conflict", cause, "coloring, or no `color_l1`")


def _llc(at: KeyPath, llc: Llc, platform: Platform, mechanism: Mechanism) -> Iterator[Finding]:
    if llc.size is not None and platform.llc is not None and llc.size > platform.llc.size:
        cause = f"is more than the {platform.llc_name} of '{platform.name}' has"
        yield Finding((*at, "size"), "out-of-range", cause, f"at most {size_text(platform.llc.size)}")
    if mechanism == "coloring":
        for key in ("portions", "max", "min", "associativity"):
            if getattr(llc, key) is not None:
                cause = f"is a control of MPAM, and coloring divides the cache of '{platform.name}'"
                yield Finding((*at, key), "not-on-platform", cause, "share, size, colors")
    if mechanism == "mpam" and llc.colors is not None:
        try:
            color_count(platform)
        except GeometryError as error:
            cause = f"names colors, but the cache cannot be colored: {error}"
            yield Finding((*at, "colors"), "geometry", cause, "share, size, portions")


def _bandwidth(at: KeyPath, domain: Domain, system: System, platform: Platform) -> Iterator[Finding]:
    bandwidth = domain.bandwidth
    if bandwidth.max is not None and bandwidth.counts in ("writebacks", "each"):
        cause = "a maximum limits refills and write-backs together"
        yield Finding((*at, "counts"), "conflict", cause, "auto, refills, sum")
    if bandwidth_by_mpam(platform):
        if bandwidth.max is not None and bandwidth.per == "vcpu":
            cause = "MPAM limits all VCPUs of a domain together"
            yield Finding((*at, "per"), "conflict", cause, "domain")
        return
    for key in bandwidth.by_mpam_alone:
        cause = f"is a control of MPAM, which the memory of '{platform.name}' does not have"
        yield Finding((*at, key), "not-on-platform", cause, "min, max, budget")
    if not is_reserved(domain, platform):
        return
    given = "max" if bandwidth.max is not None else "min"
    if guaranteed_of(platform) is None:
        cause = (
            f"is a share of the guaranteed bandwidth, and '{platform.name}' states none (`dram.guaranteed`)"
        )
        yield Finding((*at, given), "not-on-platform", cause, "budget")
    elif bandwidth.max is not None and is_regulated(system, domain):
        cause = "cannot be guaranteed, because the regulator changes the domain's budget"
        yield Finding((*at, "max"), "conflict", cause, "budget, or the policy `static`")


def _virtual(at: KeyPath, domain: Domain, platform: Platform) -> Iterator[Finding]:
    if domain.virtual_partids == 0:
        return
    entries = platform.mpam.virtual_partids if platform.mpam is not None else 0
    if entries == 0:
        what = "has no MPAM" if platform.mpam is None else "does not support virtual PARTIDs"
        yield Finding(at, "not-on-platform", f"platform '{platform.name}' {what}", "0")
    elif domain.virtual_partids > entries:
        cause = f"is more than the entries of `MPAMVPM<n>_EL2` on '{platform.name}'"
        yield Finding(at, "out-of-range", cause, f"0 to {entries}")


def _minima(system: System, platform: Platform) -> Iterator[Finding]:
    """Without MPAM, a domain's minimum is what the limits of all other domains leave over."""
    guaranteed = guaranteed_of(platform)
    if guaranteed is None or bandwidth_by_mpam(platform):
        return
    found = admission_of(system, platform)
    rates = {one.domain: None if one.regulated else one.bytes_per_s for one in found.demands}
    for index, domain in enumerate(system.domains):
        wanted = domain.bandwidth.min
        if wanted is None:
            continue
        at: KeyPath = ("domains", index, "bandwidth", "min")
        others = {other.name: rates[other.name] for other in system.domains if other is not domain}
        devices = [one for one in found.devices if one.domain != domain.name]
        open_ones = [f"'{name}'" for name, rate in others.items() if rate is None]
        if open_ones:
            cause = f"is guaranteed by the limits of all other domains, but {', '.join(open_ones)} has none"
            if len(open_ones) > 1:
                cause = cause.removesuffix("has none") + "have none"
            yield Finding(at, "not-kept", cause, "`max` or a budget for each other domain")
            continue
        if unknown := [f"'{one.device}'" for one in devices if one.charged is None]:
            cause = f"is guaranteed by the limits of all others, and no rate of {', '.join(unknown)} is known"
            yield Finding(at, "not-kept", cause, STATE_RATE)
            continue
        taken = sum(rate for rate in others.values() if rate is not None) + charged_together(devices)
        left = max(0, guaranteed - taken)
        if left < reserved_rate(wanted, platform):
            nearest = percent_down(Fraction(left, guaranteed))
            whose = "other domains and their devices" if devices else "other domains"
            cause = (
                f"is {reserved_rate(wanted, platform) / MB:.0f} MB/s, and the limits of {whose} leave "
                f"{left / MB:.0f} of the {guaranteed / MB:.0f} MB/s that '{platform.name}' guarantees"
            )
            yield Finding(at, "overcommit", cause, f"at most {nearest}, or lower limits of others")
