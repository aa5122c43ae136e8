# SPDX-License-Identifier: Apache-2.0
"""Shares of a plan as keys of a system file: portions as planned, other controls as requested.

resolve.py calls this. A maximum that is provided by reservation has become a budget already, and stays one.
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml.scalarint import HexCapsInt

from bulkhead.config.shares import Bandwidth
from bulkhead.planning.mechanism import llc_instances
from bulkhead.planning.model import Plan
from bulkhead.planning.mpam import Settings
from bulkhead.units import percent_down


def resolved_llc(plan: Plan, owner: str) -> Any:
    """`llc` with the portions of the first slice, or the requested keys if slices have different portions."""
    settings = _settings_of(plan, owner)
    asked = plan.system.hypervisor.llc
    if owner != "hypervisor":
        domain = plan.system.domain(owner)
        assert domain is not None
        asked = domain.llc
    given: dict[str, Any] = {}
    bitmaps = {one.cache_portions for one in settings}
    if len(bitmaps) == 1 and (bitmap := bitmaps.pop()) is not None:
        given["portions"] = HexCapsInt(bitmap)
        if asked.shared or asked.colors is not None:
            given["shared"] = True
    elif asked.share is not None:
        given["share"] = percent_down(asked.share)
    elif asked.size is not None:
        given["size"] = f"{asked.size} B"
    elif asked.colors is not None:
        given["colors"] = list(asked.colors)
    for key in ("max", "min", "associativity"):
        if (share := getattr(asked, key)) is not None:
            given[key] = percent_down(share)
    if asked.soft:
        given["soft"] = True
    return given or "auto"


def resolved_bandwidth(bandwidth: Bandwidth) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if bandwidth.min is not None:
        given["min"] = percent_down(bandwidth.min)
    if bandwidth.max is not None and bandwidth.budget is None:
        given["max"] = percent_down(bandwidth.max)
        given |= {"hard": True} if bandwidth.hard else {}
    if bandwidth.portions is not None:
        given["portions"] = HexCapsInt(bandwidth.portions)
    for key in ("priority", "stride"):
        if (number := getattr(bandwidth, key)) is not None:
            given[key] = number
    if bandwidth.window is not None:
        given["window"] = f"{bandwidth.window} ns"
    return given


def _settings_of(plan: Plan, owner: str) -> list[Settings]:
    """Settings of an owner's first PARTID, in each slice of the last-level cache."""
    assert plan.mpam is not None
    partition = plan.mpam.partition(owner)
    assert partition is not None
    slices = {(one.component.name, one.ris) for one in llc_instances(plan.platform)}
    return [
        one.settings
        for one in plan.mpam.settings
        if (one.component, one.ris) in slices and one.partid == partition.partid
    ]
