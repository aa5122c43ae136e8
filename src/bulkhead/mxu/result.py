# SPDX-License-Identifier: Apache-2.0
"""What was admitted of a system of components, as the object that `check --json` and `run --json` print."""

from __future__ import annotations

from typing import Literal

from bulkhead.mxu import native
from bulkhead.mxu.costs import refill_cycles
from bulkhead.mxu.model import MxuAdmission
from bulkhead.results.admitted import AdmittedResult, RefillCyclesResult

# enum mxu_independence
INDEPENDENCE: tuple[Literal["no"], Literal["in part"], Literal["fully"]] = ("no", "in part", "fully")


def components_json(found: MxuAdmission) -> AdmittedResult:
    return {
        "checker": "mmu" if found.checker.mmu else "mpu",
        "eviction": None if found.checker.mmu else found.checker.policy_name,
        "refill": None if found.checker.mmu else _refill(found),
        "components": [
            {
                "name": name,
                "dynamic_regions": found.slots.get(name),
                "static_regions_left": None if found.checker.mmu else found.slots[name] - 1,
                "memory": [
                    {
                        "name": one.name,
                        "at": one.at,
                        "size": one.nbytes,
                        "spec": list(one.spec),
                        "shared": one.shared,
                        "hardware": hardware_name(one.mechanism),
                        "independent": INDEPENDENCE[one.independence],
                        "regions": None if found.checker.mmu else one.ranges,
                        "check": None if one.cost is None else one.cost.json(),
                    }
                    for one in found.of(name)
                ],
            }
            for name in (one.name for one in found.system.components)
        ],
        "jobs": [
            {
                "component": job.component,
                "period_ns": job.period_ns,
                "budget_ns": job.budget_ns,
                "wcet_ns": job.wcet_ns,
                "misses": job.misses,
                "misses_ns": job.cost_ns,
                "wcet_with_misses_ns": job.wcet_with_misses_ns,
                "phases": [
                    {
                        "ranges": list(one.names),
                        "regions": one.ranges,
                        "at_once": one.touch,
                        "changes": one.changes,
                    }
                    for one in job.phases
                ],
            }
            for job in found.jobs
        ],
        "left": [
            {"resource": one.name, "limit": one.limit, "left": one.left, "holders": dict(one.holders)}
            for one in found.resources
        ],
    }


def _refill(found: MxuAdmission) -> RefillCyclesResult:
    """Cycles of a refill: the file's figure, the computed bound if there is one, the value for admission."""
    mpu = found.platform.cores.mpu
    assert mpu is not None
    return {"file": mpu.fault, "bound": mpu.bound, "admitted": refill_cycles(found.platform)}


def hardware_name(mechanism: int) -> str:
    return native.mxu().mechanism_name(mechanism)
