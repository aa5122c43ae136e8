# SPDX-License-Identifier: Apache-2.0
"""Checks of colors: they exist on the platform, and no color is promised to two owners.

crosscheck.py calls this. The planner decides which colors `auto` and `share` become.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.config.shares import Colored
from bulkhead.config.system import Broker, System
from bulkhead.geometry import GeometryError, color_space
from bulkhead.planning.mechanism import llc_mechanism
from bulkhead.planning.space import (
    banks_colored,
    llc_colored,
    platform_bank_bits,
    platform_llc_bits,
)

Owner = tuple[str, KeyPath, Colored, frozenset[int]]  # name, path of the key, the key's value, cores


def check_colors(system: System, platform: Platform) -> list[Finding]:
    """Findings about `llc` and `banks` of all domains and of the hypervisor."""
    findings: list[Finding] = []
    llc_on = llc_colored(system, platform)
    llc = banks = None
    try:
        llc = platform_llc_bits(platform, color_l1=system.isolation.color_l1)
    except GeometryError as error:
        if llc_on:
            findings.append(
                _geometry("llc", platform, error, "none, or a platform whose cache index is plain")
            )
    try:
        banks = platform_bank_bits(platform)
    except GeometryError as error:
        if banks_colored(system):
            findings.append(_geometry("banks", platform, error, "none, or a platform with plain bank bits"))
    if findings:
        return findings
    of_llc = llc or () if llc_on else ()
    of_banks = banks or () if banks_colored(system) else ()
    for key, llc_bits, bank_bits, allowed in (
        ("llc", of_llc, (), "none, or a platform whose cache has fewer colors"),
        ("banks", (), of_banks, "none, or a platform whose banks have fewer colors"),
        ("banks", of_llc, of_banks, "none: the last-level cache alone can be colored"),
    ):
        try:
            color_space(llc_bits, bank_bits)
        except GeometryError as error:
            return [_geometry(key, platform, error, allowed)]
    # With MPAM, colors stand for cache portions; overlapping colors mean overlapping portions.
    findings += _one_mechanism(system, "llc", llc, llc_mechanism(system, platform) != "none")
    findings += _one_mechanism(system, "banks", banks, banks_colored(system))
    return findings


def _geometry(key: str, platform: Platform, error: GeometryError, allowed: str) -> Finding:
    return Finding(
        ("isolation", key), "geometry", f"platform '{platform.name}' cannot be colored: {error}", allowed
    )


def _one_mechanism(system: System, key: str, bits: tuple[int, ...] | None, on: bool) -> Iterator[Finding]:
    owners: list[Owner] = [
        ("the hypervisor", ("hypervisor", key), getattr(system.hypervisor, key), frozenset()),
        *(
            (f"'{domain.name}'", ("domains", index, key), getattr(domain, key), frozenset(domain.cpus))
            for index, domain in enumerate(system.domains)
        ),
    ]
    brokers: list[tuple[str, KeyPath, Broker]] = [
        (f"broker '{name}'", ("brokers", name), broker) for name, broker in system.brokers.items()
    ]
    if system.broker is not None:
        brokers.append(("the broker", ("broker",), system.broker))
    for name, at, broker in brokers:
        if (own := getattr(broker, key)) is not None:
            cores = frozenset() if broker.cpu is None else frozenset({broker.cpu})
            owners.append((name, (*at, key), own, cores))
    if key == "llc" and system.hypervisor.tables.colors is not None:
        tables = Colored(colors=system.hypervisor.tables.colors)
        owners.append(("memory for stage-2 tables", ("hypervisor", "tables"), tables, frozenset()))
    what = "LLC" if key == "llc" else "bank"
    for _, path, promise, _ in owners:
        yield from _range(path, promise, None if bits is None else 1 << len(bits), what)
    if not on:
        return
    for (name, _, one, cores), (other_name, path, other, other_cores) in combinations(owners, 2):
        both = set(one.colors or ()) & set(other.colors or ())
        for_hypervisor = name == "the hypervisor" and path[0] in ("broker", "brokers")  # it acts for it
        if both and not cores & other_cores and not for_hypervisor:
            listed = ", ".join(str(color) for color in sorted(both))
            cause = f"{other_name} shares {what} color{'s' if len(both) > 1 else ''} {listed} with {name}"
            allowed = f"disjoint colors, or isolation.{key}: none"
            yield Finding((*path, "colors"), "color-overlap", cause, allowed)


def _range(path: KeyPath, promise: Colored, count: int | None, what: str) -> Iterator[Finding]:
    for number, color in enumerate(promise.colors or ()):
        at: KeyPath = (*path, "colors", number)
        if count is not None and color >= count:
            yield Finding(at, "color-range", f"there is no {what} color {color}", f"0 to {count - 1}")
        elif promise.colors is not None and color in promise.colors[:number]:
            yield Finding(at, "duplicate-name", f"color {color} is listed twice", "each color once")
