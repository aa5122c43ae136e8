# SPDX-License-Identifier: Apache-2.0
"""The MPAM plan of a system: PARTIDs of all owners, and the settings of each partition at each resource.

The planner makes an MpamPlan, `check` and `plan` print it, and the manifest carries it to EL2. `Settings`
mirrors struct mpam_settings (core/mpam_settings.h): None is a setting that was not asked for; EL2 then writes
a value that limits nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction

from bulkhead.results.plan import MpamPlanResult, MpamSettingsResult, PartitionResult

HYPERVISOR_PARTID = 1
BROKER_PARTID = 2  # if there are flows
FIRST_DOMAIN_PARTID = 3  # and the next ones, in the order of the file


@dataclass(frozen=True)
class Settings:
    """Settings of one partition at one resource instance. Portion n of a bitmap is bit n; shares are
    exact."""

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
    internal_priority: int | None = None  # a larger value is more urgent
    downstream_priority: int | None = None
    window_us: int | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the settings that were asked for."""
        return tuple(one.name for one in fields(self) if getattr(self, one.name) not in (None, False))

    @property
    def bitmap_words(self) -> int:
        """32-bit words that the bitmaps take in a manifest."""
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

    def json(self) -> PartitionResult:
        return {"owner": self.owner, "partid": self.partid, "count": self.count, "pmg": self.pmg}


@dataclass(frozen=True)
class ComponentSettings:
    """Settings of a partition at resource instance `ris` of a component, which is given by its name in the
    file."""

    component: str
    ris: int
    partid: int
    settings: Settings

    def json(self) -> MpamSettingsResult:
        of = self.settings
        return {
            "component": self.component,
            "ris": self.ris,
            "partid": self.partid,
            "cache_portions": of.cache_portions,
            "cmax": _text(of.cmax),
            "cmax_soft": of.cmax_soft,
            "cmin": _text(of.cmin),
            "associativity": _text(of.associativity),
            "mbw_min": _text(of.mbw_min),
            "mbw_max": _text(of.mbw_max),
            "mbw_max_hard": of.mbw_max_hard,
            "bandwidth_portions": of.bandwidth_portions,
            "stride": of.stride,
            "internal_priority": of.internal_priority,
            "downstream_priority": of.downstream_priority,
            "window_us": of.window_us,
        }


@dataclass(frozen=True)
class MpamPlan:
    """Settings of all PARTIDs with an owner at all resource instances, ordered by component, instance and
    PARTID. PARTIDs without an owner get the hypervisor's settings."""

    partitions: tuple[Partition, ...]
    settings: tuple[ComponentSettings, ...]

    def partition(self, owner: str) -> Partition | None:
        return next((one for one in self.partitions if one.owner == owner), None)

    def json(self) -> MpamPlanResult:
        """What EL2 is told, with shares as fractions and bitmaps as numbers."""
        return {
            "partitions": [one.json() for one in self.partitions],
            "settings": [one.json() for one in self.settings],
        }


def _text(share: Fraction | None) -> str | None:
    return None if share is None else str(share)
