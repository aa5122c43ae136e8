# SPDX-License-Identifier: Apache-2.0
"""A plan's promises for MPAM's witnesses: the settings that components must hold, and the portions of the
last-level cache in which each domain's lines may be.

prepare.py calls this for each run. The promise follows the plan, also if a test hook makes EL2 program other
settings.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from bulkhead.evidence.mpam_promise import MpamPromise
from bulkhead.evidence.portions import PortionPromise
from bulkhead.package.mpam import HYPERVISOR
from bulkhead.planning.broker_parts import number_of, parts_of
from bulkhead.planning.mechanism import llc_instances, llc_mechanism
from bulkhead.planning.model import Plan


def mpam_promise(plan: Plan) -> MpamPromise | None:
    """The settings that components must hold according to the plan; None: there is no MPAM plan."""
    if plan.mpam is None or plan.platform.mpam is None:
        return None
    return MpamPromise(plan.platform.mpam, plan.mpam)


def portion_promise(plan: Plan) -> PortionPromise | None:
    """Portions of the last-level cache for each domain's lines; None: the cache is not divided by portions. A
    domain's lines may also be in the portions of the hypervisor and of its broker, which access its memory
    under their own labels."""
    found = llc_instances(plan.platform)
    divided = plan.mpam is not None and llc_mechanism(plan.system, plan.platform) == "mpam"
    if not divided or len(found) != 1 or found[0].resource.portions is None:
        return None
    assert plan.mpam is not None
    settings = {
        one.partid: one.settings.cache_portions
        for one in plan.mpam.settings
        if (one.component, one.ris) == (found[0].component.name, found[0].ris)
    }
    every = (1 << found[0].resource.portions) - 1

    def of(owner: str) -> int:
        one = plan.mpam.partition(owner) if plan.mpam is not None else None
        partids = range(one.partid, one.partid + one.count) if one is not None else ()
        given = [settings.get(partid) for partid in partids]
        return reduce(or_, (every if bitmap is None else bitmap for bitmap in given), 0)

    own = {name: of(name) for name in (HYPERVISOR, *(domain.name for domain in plan.domains))}
    brokers = [part.name for part in parts_of(plan.system)]

    def others(name: str) -> int:
        number = number_of(plan.system, name)
        return own[HYPERVISOR] | (0 if number is None else own[brokers[number]])

    return PortionPromise(
        level=found[0].resource.name,
        resource=found[0].resource,
        domains={name: bitmap | others(name) for name, bitmap in own.items() if name != HYPERVISOR},
        own=own,
    )
