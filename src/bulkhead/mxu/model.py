# SPDX-License-Identifier: Apache-2.0
"""Results of the admission of a system of components, for `check` and for building an image."""

from __future__ import annotations

from dataclasses import dataclass

from bulkhead.config.components import ComponentSystem
from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath
from bulkhead.mxu import native
from bulkhead.mxu.costs import Cost
from bulkhead.mxu.hardware import Checker
from bulkhead.mxu.layout import MxuLayout


@dataclass(frozen=True)
class Served:
    """An allocation that was admitted, and the hardware that it has."""

    component: str
    name: str
    path: KeyPath
    spec: tuple[str, ...]
    at: int
    nbytes: int
    shared: str | None
    mechanism: int
    independence: int
    ranges: int  # ranges in its component's trie; with an MPU: regions
    entries: int  # locked entries of the TLB that it has
    asked: int  # bytes, before rounding to frames
    rights: str
    shared_id: int
    fixed: bool  # its address comes from the file or the layout
    admitted: int  # mechanism that the memory manager returns when it is allocated
    cost: Cost | None = None  # cost of the check of one access

    @property
    def is_static(self) -> bool:
        return self.mechanism == native.BY_STATIC_REGION

    @property
    def is_dynamic(self) -> bool:
        return self.mechanism == native.BY_DYNAMIC_REGION


@dataclass(frozen=True)
class PhaseRanges:
    """Dynamic ranges that a part of a job accesses: by allocation, and how many one instruction can need."""

    path: KeyPath
    names: tuple[str, ...]
    ranges: int
    touch: int
    changes: int | None


@dataclass(frozen=True)
class Job:
    """Misses of a component's job. With an MMU they are not counted: `misses` is None."""

    component: str
    period_ns: int
    budget_ns: int
    wcet_ns: int | None
    slots: int = 0
    phases: tuple[PhaseRanges, ...] = ()
    misses: int | None = None
    cost_ns: int | None = None
    wcet_with_misses_ns: int | None = None


@dataclass(frozen=True)
class MxuResource:
    """Total of one resource, and its owners."""

    number: int
    name: str
    limit: int
    left: int
    holders: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class MxuAdmission:
    system: ComponentSystem
    platform: Platform
    checker: Checker
    layout: MxuLayout
    served: tuple[Served, ...]
    jobs: tuple[Job, ...]
    slots: dict[str, int]  # MPU: dynamic regions of each component
    resources: tuple[MxuResource, ...]
    findings: tuple[Finding, ...]

    def of(self, component: str) -> list[Served]:
        return [one for one in self.served if one.component == component]
