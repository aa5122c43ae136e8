# SPDX-License-Identifier: Apache-2.0
"""What was admitted of a system of components: the same object in the results of `check` and of `run`."""

from __future__ import annotations

from typing import Literal

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED


@with_config(CLOSED)
class RefillCyclesResult(TypedDict):
    """Cycles of a refill of one dynamic region of an MPU."""

    file: int
    """Figure of the platform file (`cores.mpu.fault`)."""
    bound: int | None
    """Computed bound (`cores.mpu.bound`); null if there is none."""
    admitted: int
    """Cycles that jobs were admitted with."""


@with_config(CLOSED)
class CheckCostResult(TypedDict):
    """Cost of the check of one access at worst."""

    cycles: int | None
    """The cost; null: there is no bound."""
    ns: int | None
    """The same in ns, rounded up; null also if the platform does not state its clock."""
    made_of: str
    """Parts of the cost, in words."""
    sources: list[str]
    """Where the figures are from."""


@with_config(CLOSED)
class ComponentMemoryResult(TypedDict):
    """An allocation of a component, and what checks accesses to it."""

    name: str
    """Name in the system file."""
    at: int
    """Address."""
    size: int
    """Size in bytes."""
    spec: list[str]
    """Specification in the system file; empty: best effort."""
    shared: str | None
    """Shared memory that it is part of."""
    hardware: str
    """Mechanism that checks accesses."""
    independent: Literal["no", "in part", "fully"]
    """Whether checks are independent of other components."""
    regions: int | None
    """Number of MPU regions; null on an MMU."""
    check: CheckCostResult | None
    """Cost of a check; null if it was not computed."""


@with_config(CLOSED)
class AdmittedComponentResult(TypedDict):
    """A component."""

    name: str
    """Name in the system file."""
    dynamic_regions: int | None
    """MPU regions that are refilled on demand; null on an MMU."""
    static_regions_left: int | None
    """MPU regions that could still be static; null on an MMU."""
    memory: list[ComponentMemoryResult]
    """Its allocations."""


@with_config(CLOSED)
class JobPhaseResult(TypedDict):
    """A part of a job."""

    ranges: list[str]
    """Allocations that it accesses."""
    regions: int
    """Number of dynamic regions of these allocations."""
    at_once: int
    """Dynamic regions that one instruction can need."""
    changes: int | None
    """How often accesses change from one region to another at most; null: not stated."""


@with_config(CLOSED)
class AdmittedJobResult(TypedDict):
    """The job of a component. On an MMU, misses are not counted."""

    component: str
    """The component."""
    period_ns: int
    """Time between two releases."""
    budget_ns: int
    """Processor time that each job has."""
    wcet_ns: int | None
    """Longest execution time without misses; null: not known."""
    misses: int | None
    """Misses of a job at most; null: not counted, or there is no bound."""
    misses_ns: int | None
    """Time of these misses."""
    wcet_with_misses_ns: int | None
    """Longest execution time with misses."""
    phases: list[JobPhaseResult]
    """Parts of the job."""


@with_config(CLOSED)
class ResourceLeftResult(TypedDict):
    """A resource, and who holds it."""

    resource: str
    """Name of the resource."""
    limit: int
    """How much there is."""
    left: int
    """How much nobody holds."""
    holders: dict[str, int]
    """How much each holder has."""


@with_config(CLOSED)
class AdmittedResult(TypedDict):
    """What a system of components was admitted with."""

    checker: Literal["mpu", "mmu"]
    """Hardware that checks accesses."""
    eviction: str | None
    """Which dynamic region a refill replaces; null on an MMU."""
    refill: RefillCyclesResult | None
    """Cost of a refill; null on an MMU."""
    components: list[AdmittedComponentResult]
    """The components."""
    jobs: list[AdmittedJobResult]
    """Jobs of components."""
    left: list[ResourceLeftResult]
    """What is left of each resource."""
