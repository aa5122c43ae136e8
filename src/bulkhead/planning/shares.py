# SPDX-License-Identifier: Apache-2.0
"""Each owner's request for cache and bandwidth, the control that provides it, and the rounded share.

`check` and `plan` print these rows. With MPAM, core/ decodes them from the register writes that EL2 makes;
else they are colors and budgets as planned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from bulkhead.config.mpam import Resource
from bulkhead.config.shares import Bandwidth, Llc
from bulkhead.config.system import Domain, Hypervisor, System
from bulkhead.planning.broker import is_broker
from bulkhead.planning.mechanism import (
    Instance,
    bandwidth_by_mpam,
    instances,
    is_llc,
    llc_mechanism,
)
from bulkhead.planning.model import Plan
from bulkhead.planning.mpam import ComponentSettings, MpamPlan, Partition, Settings
from bulkhead.planning.mpam_native import got
from bulkhead.planning.reserved import guaranteed_of, is_reserved, reserved_rate
from bulkhead.results.share import ShareResult
from bulkhead.units import mask_text, percent_text, size_text

MB = 10**6


@dataclass(frozen=True)
class ShareRow:
    """One share and the control that keeps it."""

    owner: str
    resource: str  # name of a component or of the cache, or `dram`
    asked: str
    control: str
    got: str
    note: str = ""

    def json(self) -> ShareResult:
        return {
            "owner": self.owner,
            "resource": self.resource,
            "asked": self.asked,
            "control": self.control,
            "got": self.got,
            "note": self.note,
        }


def rows_of(plan: Plan) -> tuple[ShareRow, ...]:
    """All rows, by owner, then resource. Without MPAM and without a requested share: none."""
    if plan.mpam is not None:
        return tuple(_by_mpam(plan, plan.mpam))
    return tuple(_by_reservation(plan)) if _asks(plan.system) else ()


def _asks(system: System) -> bool:
    """Whether an owner requests a share that both mechanisms can provide."""
    holders: list[Hypervisor | Domain] = [system.hypervisor, *system.domains]
    of_cache = any(one.llc.share is not None or one.llc.size is not None for one in holders)
    keys = ("min", "max", "priority")
    return of_cache or any(getattr(one.bandwidth, key) is not None for one in system.domains for key in keys)


def asked_of_llc(llc: Llc) -> str:
    """The request in the terms of the file."""
    parts = []
    if llc.colors is not None:
        parts.append("colors " + ", ".join(str(color) for color in llc.colors))
    if llc.share is not None:
        parts.append(percent_text(llc.share))
    if llc.size is not None:
        parts.append(size_text(llc.size))
    if llc.portions is not None:
        parts.append(f"portions {mask_text(llc.portions)}" + (" shared" if llc.shared else ""))
    for key in ("min", "max", "associativity"):
        if (share := getattr(llc, key)) is not None:
            parts.append(f"{key} {percent_text(share)}")
    return ", ".join(parts + (["soft"] if llc.soft else [])) or "auto"


def asked_of_bandwidth(bandwidth: Bandwidth) -> str:
    parts = []
    for key in ("min", "max"):
        if (share := getattr(bandwidth, key)) is not None:
            parts.append(f"{key} {percent_text(share)}")
    parts += ["hard"] if bandwidth.hard else []
    if bandwidth.portions is not None:
        parts.append(f"portions {mask_text(bandwidth.portions)}")
    for key in ("priority", "stride"):
        if (number := getattr(bandwidth, key)) is not None:
            parts.append(f"{key} {number}")
    if bandwidth.window is not None:
        parts.append(f"window {bandwidth.window} ns")
    return ", ".join(parts)


def _by_mpam(plan: Plan, planned: MpamPlan) -> Iterator[ShareRow]:
    system, platform = plan.system, plan.platform
    found = {(one.component, one.ris, one.partid): one for one in planned.settings}
    for partition in planned.partitions:
        domain = system.domain(partition.owner)
        for instance in instances(platform):
            key = (instance.component.name, instance.ris, partition.partid)
            if is_llc(instance, platform) and llc_mechanism(system, platform) == "mpam":
                llc = system.hypervisor.llc if domain is None else domain.llc
                asked = asked_of_llc(llc)
            elif instance.resource.memory is not None and bandwidth_by_mpam(platform):
                asked = asked_of_bandwidth(domain.bandwidth) if domain is not None else ""
            else:
                continue
            if asked:
                yield _row(partition, instance, asked, found[key])
    if not bandwidth_by_mpam(platform):
        yield from _reservations(plan)


def _row(partition: Partition, instance: Instance, asked: str, planned: ComponentSettings) -> ShareRow:
    controls = described(planned.settings, instance.resource)
    note = f"each of {partition.count} PARTIDs" if partition.count > 1 else ""
    return ShareRow(
        partition.owner,
        instance.name,
        asked,
        "; ".join(name for name, _ in controls),
        "; ".join(value for _, value in controls),
        note,
    )


def described(settings: Settings, resource: Resource) -> list[tuple[str, str]]:
    """The requested controls, each with the value that the hardware realizes."""
    made = got(resource, settings)
    found: list[tuple[str, str]] = []

    def share(name: str, asked: Fraction | None, value: Fraction | None, mark: str = "") -> None:
        if asked is not None and value is not None:
            found.append((name, percent_text(value) + mark))

    if settings.cache_portions is not None and made.cache_portions is not None:
        found.append(("CPBM", _portions(made.cache_portions, resource.portions or 0)))
    share("CMAX", settings.cmax, made.cmax, " soft" if made.cmax_soft else "")
    share("CMIN", settings.cmin, made.cmin)
    share("CASSOC", settings.associativity, made.associativity)
    share("MBW_MIN", settings.mbw_min, made.mbw_min)
    share("MBW_MAX", settings.mbw_max, made.mbw_max, " hard" if made.mbw_max_hard else " soft")
    if settings.bandwidth_portions is not None and made.bandwidth_portions is not None:
        count = (resource.bandwidth.portions if resource.bandwidth else None) or 0
        found.append(("MBW_PBM", _portions(made.bandwidth_portions, count)))
    if settings.stride is not None:
        found.append(("MBW_PROP", f"1/{made.stride}"))
    for name in ("internal_priority", "downstream_priority"):
        if getattr(settings, name) is not None:
            largest = (1 << _bits(resource, name)) - 1
            found.append(("PRI", f"{getattr(made, name)} ({largest} is served first)"))
    if settings.window_us is not None:
        found.append(("MBW_WINWD", f"{made.window_us} us, or what the component rounds it to"))
    return found


def _bits(resource: Resource, name: str) -> int:
    assert resource.priority is not None
    return (resource.priority.internal if name.startswith("internal") else resource.priority.downstream) or 0


def _portions(bitmap: int, count: int) -> str:
    share = Fraction(bitmap.bit_count(), count)
    return f"{mask_text(bitmap)}: {bitmap.bit_count()} of {count}, {percent_text(share)}"


def _by_reservation(plan: Plan) -> Iterator[ShareRow]:
    system, platform = plan.system, plan.platform
    if llc_mechanism(system, platform) == "coloring":
        colors = {"hypervisor": plan.pool.colors} | {one.name: one.colors for one in plan.domains}
        holders: dict[str, Hypervisor | Domain] = {"hypervisor": system.hypervisor}
        holders |= {one.name: one for one in system.domains if not is_broker(system, one.name)}
        for owner, holder in holders.items():
            given = {plan.space.llc_color_of(color) for color in colors[owner] or ()}
            if not given:
                continue
            count = 1 << len(plan.space.llc_bits)
            share = percent_text(Fraction(len(given), count))
            yield ShareRow(
                owner,
                platform.llc_name or "",
                asked_of_llc(holder.llc),
                "coloring",
                f"{len(given)} of {count} colors, {share}",
                "and only memory of these colors",
            )
    yield from _reservations(plan)


def _reservations(plan: Plan) -> Iterator[ShareRow]:
    platform = plan.platform
    for domain in plan.system.domains:
        bandwidth = domain.bandwidth
        if is_reserved(domain, platform):
            parts, controls = [], []
            if bandwidth.max is not None:
                controls.append("budget")
                parts.append(f"{reserved_rate(bandwidth.max, platform) / MB:.1f} MB/s")
            if bandwidth.min is not None:
                controls.append("limits of others")
                parts.append(f"{reserved_rate(bandwidth.min, platform) / MB:.1f} MB/s")
            note = f"of the guaranteed {(guaranteed_of(platform) or 0) / MB:.0f} MB/s"
            asked = asked_of_bandwidth(bandwidth)
            yield ShareRow(domain.name, "dram", asked, "; ".join(controls), "; ".join(parts), note)
        elif bandwidth.priority is not None:
            asked = asked_of_bandwidth(bandwidth)
            yield ShareRow(domain.name, "dram", asked, "none", "no effect", "")
