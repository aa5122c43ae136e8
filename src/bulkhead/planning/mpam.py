# SPDX-License-Identifier: Apache-2.0
"""What MPAM is to do for a system: whose PARTID is which, and what each partition gets of each resource.

The planner makes an MpamPlan, `check` and `plan` print it, and the manifest carries it to EL2. `Settings`
mirrors struct mpam_settings (core/mpam_settings.h): what is None is not asked for, and EL2 writes for it
what limits nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction

HYPERVISOR_PARTID = 1
BROKER_PARTID = 2  # where there are flows
FIRST_DOMAIN_PARTID = 3  # in the order of the file


@dataclass(frozen=True)
class Settings:
    """Of one partition, of one resource instance. Bitmaps have portion n at bit n; shares are exact."""

    cache_portions: int | None = None
    cmax: Fraction | None = None
    cmax_soft: bool = False
    cmin: Fraction | None = None
    associativity: Fraction | None = None
    mbw_min: Fraction | None = None
    mbw_max: Fraction | None = None
    mbw_max_hard: bool = False
    bandwidth_portions: int | None = None
    stride: int | None = None
    internal_priority: int | None = None  # a larger one is served first
    downstream_priority: int | None = None
    window_us: int | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of what is asked for."""
        return tuple(one.name for one in fields(self) if getattr(self, one.name) not in (None, False))

    @property
    def bitmap_words(self) -> int:
        """Of 32 bits each, that its bitmaps take in a manifest."""
        return sum(
            -(-(one or 0).bit_length() // 32) for one in (self.cache_portions, self.bandwidth_portions)
        )


@dataclass(frozen=True)
class Partition:
    """PARTIDs `partid` to `partid + count - 1`, and a monitoring group, of one owner."""

    owner: str  # "hypervisor", or a domain's name (the broker is one)
    partid: int
    count: int = 1  # more than 1: a range of virtual PARTIDs
    pmg: int = 0


@dataclass(frozen=True)
class ComponentSettings:
    """What a partition gets of resource instance `ris` of a component, by its name in the platform file."""

    component: str
    ris: int
    partid: int
    settings: Settings


@dataclass(frozen=True)
class MpamPlan:
    """Every PARTID that has an owner has settings of every resource instance, in the order of components,
    then instances, then PARTIDs. PARTIDs that have none get those of the hypervisor."""

    partitions: tuple[Partition, ...]
    settings: tuple[ComponentSettings, ...]

    def partition(self, owner: str) -> Partition | None:
        return next((one for one in self.partitions if one.owner == owner), None)
