# SPDX-License-Identifier: Apache-2.0
"""Shares of caches and banks as planned: colors or portions in place of the amount that was asked for.

resolve.py calls this. The other controls of a share are not the planner's choice and stay as they are.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from bulkhead.config.shares import Banks, Colored, Llc
from bulkhead.planning.mechanism import llc_instances, llc_mechanism
from bulkhead.planning.model import Plan

C = TypeVar("C", bound=Colored)


class Holder(Protocol):
    """The hypervisor, or a domain."""

    @property
    def llc(self) -> Llc: ...

    @property
    def banks(self) -> Banks: ...


def resolved_shares(
    plan: Plan, holder: Holder, owner: str, colors: frozenset[int] | None
) -> dict[str, Colored]:
    """`llc` and `banks` of an owner, where a mechanism divides them. `colors`: of the owner's memory."""
    found: dict[str, Colored] = {}
    if llc_mechanism(plan.system, plan.platform) == "mpam":
        portions = _portions(plan).get(owner)
        if portions is not None:
            shared = holder.llc.shared or holder.llc.colors is not None
            found["llc"] = _exactly(holder.llc, portions=portions, **({"shared": True} if shared else {}))
    if colors is None:
        return found
    if plan.space.llc_bits:
        of_llc = sorted({plan.space.llc_color_of(color) for color in colors})
        found["llc"] = _exactly(holder.llc, colors=tuple(of_llc))
    if plan.space.bank_bits:
        of_banks = sorted({plan.space.bank_color_of(color) for color in colors})
        found["banks"] = _exactly(holder.banks, colors=tuple(of_banks))
    return found


def _exactly(asked: C, **amount: object) -> C:
    """The share with this amount in place of the one that was asked for."""
    return asked.model_copy(update={**dict.fromkeys(asked.one_of), **amount})


def _portions(plan: Plan) -> dict[str, int]:
    """Bitmap of each owner's portions of the last-level cache. Empty if the cache has no portions, or if an
    owner has different ones in different slices: a file can only name the same portions for all slices."""
    assert plan.mpam is not None
    slices = {(one.component.name, one.ris) for one in llc_instances(plan.platform)}
    found: dict[str, int] = {}
    for partition in plan.mpam.partitions:
        bitmaps = {
            one.settings.cache_portions
            for one in plan.mpam.settings
            if (one.component, one.ris) in slices and one.partid == partition.partid
        }
        if len(bitmaps) != 1 or None in bitmaps:
            return {}
        found[partition.owner] = next(iter(bitmaps)) or 0
    return found
