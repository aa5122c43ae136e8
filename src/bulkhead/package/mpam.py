# SPDX-License-Identifier: Apache-2.0
"""MPAM's part of a manifest: the platform's components, and the planned settings of partitions.

Called by `manifest`. Without an MPAM plan all fields are zero: components stay as firmware left them, and all
accesses use partition 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from bulkhead.config.mpam import Mpam, MpamComponent, Resource
from bulkhead.package.errors import PackageError
from bulkhead.planning.model import Plan
from bulkhead.planning.mpam import MpamPlan, Partition, Settings
from bulkhead.schema import Layout, Value

Row = Mapping[str, Value]

HYPERVISOR = "hypervisor"
_PAGES = tuple(f"page_{number}" for number in range(4))
_HEADER = (*_PAGES, "partid_max", "pmg_max", "virtual_partids", "firmware_allows", "partid", "pmg")
_PS_PER_NS = 1000
_WORD_BITS = 32
# Control bits of core/mpam_settings.h, by the field of `Settings` that requests the control.
_CONTROLS = {
    "cache_portions": 1 << 0,
    "cmax": 1 << 1,
    "cmax_soft": 1 << 2,
    "cmin": 1 << 3,
    "associativity": 1 << 4,
    "mbw_min": 1 << 5,
    "mbw_max": 1 << 6,
    "mbw_max_hard": 1 << 7,
    "bandwidth_portions": 1 << 8,
    "stride": 1 << 9,
    "internal_priority": 1 << 10,
    "downstream_priority": 1 << 11,
    "window_us": 1 << 12,
}
_SHARES = ("cmax", "cmin", "associativity", "mbw_min", "mbw_max")
_NUMBERS = ("stride", "internal_priority", "downstream_priority", "window_us")


def mpam_of(plan: Plan) -> tuple[Mpam, MpamPlan] | None:
    """The platform's MPAM and the plan that EL2 gets; None: there is none."""
    if plan.mpam is None:
        return None
    assert plan.platform.mpam is not None, "nothing is planned for a platform that has none"
    return plan.platform.mpam, plan.wrong_mpam or plan.mpam


def mpam_row(plan: Plan) -> Row:
    """The manifest's record `mpam`."""
    found = mpam_of(plan)
    if found is None:
        return dict.fromkeys(_HEADER, 0)
    mpam, planned = found
    if len(mpam.components) > len(_PAGES):
        raise PackageError(
            f"manifest: {len(mpam.components)} MPAM components, at most {len(_PAGES)} are possible"
        )
    own = planned.partition(HYPERVISOR)
    if own is None:
        raise PackageError("manifest: the hypervisor has no PARTID of its own")
    pages = [component.at for component in mpam.components]
    return {
        **dict(zip(_PAGES, [*pages, *[0] * (len(_PAGES) - len(pages))], strict=True)),
        "partid_max": mpam.partids - 1,
        "pmg_max": mpam.monitor_groups - 1,
        "virtual_partids": mpam.virtual_partids,
        "firmware_allows": int(mpam.firmware == "allows"),
        "partid": own.partid,
        "pmg": own.pmg,
    }


def mpam_of_domain(plan: Plan, name: str) -> Row:
    """MPAM's fields of a domain's record."""
    partition: Partition | None = None
    found = mpam_of(plan)
    if found is not None:
        partition = found[1].partition(name)
        if partition is None:
            raise PackageError(f"manifest: domain '{name}' has no PARTID")
    if partition is None:
        return {"mpam_partid": 0, "mpam_virtual": 0, "mpam_pmg": 0}
    return {
        "mpam_partid": partition.partid,
        "mpam_virtual": partition.count if partition.count > 1 else 0,
        "mpam_pmg": partition.pmg,
    }


def mpam_tables(plan: Plan, layout: Layout) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {
        name: [] for name in ("mpam_components", "mpam_instances", "mpam_settings", "mpam_words")
    }
    found = mpam_of(plan)
    if found is None:
        return tables
    mpam, planned = found
    number = {component.name: index for index, component in enumerate(mpam.components)}
    for component in mpam.components:
        tables["mpam_components"].append(_component(component))
        tables["mpam_instances"] += [_instance(component, one, layout) for one in component.resources]
    rows = sorted((number[one.component], one.ris, one.partid, one.settings) for one in planned.settings)
    for place, ris, partid, settings in rows:
        row = _setting(settings, tables["mpam_words"])
        if row["asked"]:
            tables["mpam_settings"].append({"component": place, "instance": ris, "partid": partid, **row})
    return tables


def _component(component: MpamComponent) -> Row:
    major, minor = (int(part) for part in component.version.split("."))
    narrowed = component.internal_partids
    return {
        "version": major << 4 | minor,
        "instance_count": len(component.resources),
        "error_irq": component.error_interrupt or 0,
        "overflow_irq": component.overflow_interrupt or 0,
        "not_ready_ns": -(-component.not_ready // _PS_PER_NS),
        "intpartid_max": 0 if narrowed is None else narrowed - 1,
    }


def _instance(component: MpamComponent, resource: Resource, layout: Layout) -> Row:
    capacity, bandwidth, priority = resource.capacity, resource.bandwidth, resource.priority
    storage, moved = resource.storage_monitors, resource.bandwidth_monitors
    internal = priority.internal if priority else None
    downstream = priority.downstream if priority else None
    offers = {
        "cmax": capacity is not None and capacity.maximum,
        "cmax_soft": capacity is not None and capacity.soft,
        "cmin": capacity is not None and capacity.minimum,
        "mbw_min": bandwidth is not None and bandwidth.min,
        "mbw_max": bandwidth is not None and bandwidth.max,
        "proportional": bandwidth is not None and bandwidth.proportional,
        "window": bandwidth is not None and bandwidth.window_writable,
        "internal_zero_is_low": internal is not None and priority is not None and priority.zero_is_low,
        "downstream_zero_is_low": downstream is not None and priority is not None and priority.zero_is_low,
        "storage_capture": storage is not None and storage.capture,
        "bandwidth_capture": moved is not None and moved.capture,
        "by_direction": moved is not None and moved.by_direction,
        "narrowing": component.internal_partids is not None,
    }
    return {
        "resource": layout.enum_value("mpam_resource", "cache" if resource.cache else "memory"),
        "offers": sum(layout.enum_value("mpam_offer", name) for name, there in offers.items() if there),
        "cache_portions": resource.portions or 0,
        "capacity_bits": capacity.bits if capacity else 0,
        "associativity_bits": resource.associativity.bits if resource.associativity else 0,
        "bandwidth_bits": (bandwidth.bits if bandwidth else None) or 0,
        "bandwidth_portions": (bandwidth.portions if bandwidth else None) or 0,
        "internal_bits": internal or 0,
        "downstream_bits": downstream or 0,
        "storage_monitors": storage.count if storage else 0,
        "bandwidth_monitors": moved.count if moved else 0,
        "bandwidth_value_bits": moved.bits if moved else 0,
    }


def _setting(settings: Settings, words: list[Row]) -> dict[str, Value]:
    """One row of settings without its keys (component, instance, PARTID); bitmaps are appended to `words`."""
    row: dict[str, Value] = {"asked": sum(_CONTROLS[name] for name in settings.asked)}
    for name in _SHARES:
        share: Fraction | None = getattr(settings, name)
        row[f"{name}_part"] = 0 if share is None else share.numerator
        row[f"{name}_of"] = 0 if share is None else share.denominator
    for name in _NUMBERS:
        row[name] = getattr(settings, name) or 0
    row["first_word"] = len(words)
    for name, field in (("cache_portions", "cache_words"), ("bandwidth_portions", "bandwidth_words")):
        bitmap: int = getattr(settings, name) or 0
        parts = [bitmap >> low & 0xFFFFFFFF for low in range(0, bitmap.bit_length(), _WORD_BITS)]
        words += [{"bits": part, "reserved": 0} for part in parts]
        row[field] = len(parts)
    return row
