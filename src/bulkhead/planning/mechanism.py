# SPDX-License-Identifier: Apache-2.0
"""Which mechanism divides the last-level cache and bandwidth on a platform: MPAM, or coloring and budgets.

Cross-checks, the planner and reports use these functions, so that they agree (M1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bulkhead.config.mpam import MpamComponent, Resource
from bulkhead.config.platform import Platform
from bulkhead.config.system import System

Mechanism = Literal["mpam", "coloring", "none"]


@dataclass(frozen=True)
class Instance:
    """A resource instance (RIS) of a component."""

    component: MpamComponent
    ris: int
    resource: Resource

    @property
    def name(self) -> str:
        """The component's name, with the instance's number if there are several."""
        alone = len(self.component.resources) == 1
        return self.component.name if alone else f"{self.component.name}.{self.ris}"


def instances(platform: Platform) -> tuple[Instance, ...]:
    """All resource instances of a platform, in the order of its file."""
    components = platform.mpam.components if platform.mpam is not None else ()
    return tuple(Instance(one, ris, of) for one in components for ris, of in enumerate(one.resources))


def is_llc(instance: Instance, platform: Platform) -> bool:
    return instance.resource.cache is not None and instance.resource.cache == platform.llc_name


def can_divide(resource: Resource) -> bool:
    """Whether a cache has a control that gives each owner a part of its own."""
    return resource.portions is not None or (resource.capacity is not None and resource.capacity.maximum)


def llc_instances(platform: Platform) -> tuple[Instance, ...]:
    """Instances of the last-level cache; several if the cache has slices."""
    return tuple(one for one in instances(platform) if is_llc(one, platform))


def memory_instances(platform: Platform) -> tuple[Instance, ...]:
    return tuple(one for one in instances(platform) if one.resource.memory is not None)


def llc_by_mpam(platform: Platform) -> bool:
    """Whether MPAM can divide all slices of the last-level cache."""
    found = llc_instances(platform)
    return bool(found) and all(can_divide(one.resource) for one in found)


def bandwidth_by_mpam(platform: Platform) -> bool:
    """Whether MPAM provides shares of bandwidth. A missing control is then an error and not replaced by a
    reservation."""
    return any(one.resource.bandwidth or one.resource.priority for one in memory_instances(platform))


def llc_mechanism(system: System, platform: Platform) -> Mechanism:
    wanted = system.isolation.llc
    if wanted == "auto":
        return "mpam" if llc_by_mpam(platform) and not system.isolation.color_l1 else "coloring"
    return wanted


def llc_reason(system: System, platform: Platform) -> str:
    """Why `auto` means MPAM or coloring on this platform."""
    if llc_by_mpam(platform):
        if system.isolation.color_l1:
            return "`color_l1` asks for colors"
        names = ", ".join(dict.fromkeys(one.component.name for one in llc_instances(platform)))
        return f"MPAM component {names} divides the last-level cache"
    if platform.mpam is None:
        return "the platform has no MPAM"
    return "no MPAM component divides the last-level cache"


@dataclass(frozen=True)
class Choices:
    """The mechanisms that divide the last-level cache and memory bandwidth in a run, with reasons (M1)."""

    llc: Mechanism
    llc_reason: str
    bandwidth: Literal["mpam", "reservations", "none"]
    bandwidth_reason: str

    @property
    def lines(self) -> tuple[str, ...]:
        """Two lines for the terminal when a run starts."""
        llc = {"mpam": "by MPAM", "coloring": "by coloring", "none": "not divided"}
        bandwidth = {"mpam": "by MPAM", "reservations": "by reservations", "none": "not divided"}
        return (
            f"last-level cache {llc[self.llc]}: {self.llc_reason}",
            f"bandwidth {bandwidth[self.bandwidth]}: {self.bandwidth_reason}",
        )


def choices(system: System, platform: Platform, *, unprotected: bool = False) -> Choices:
    """The mechanisms of a system, each with its reason. `unprotected`: `run` has turned isolation off."""
    if unprotected:
        return Choices("none", "`--unprotected`", "none", "`--unprotected`")
    llc = llc_mechanism(system, platform)
    asked = system.isolation.llc != "auto"
    bandwidth, why = _bandwidth_choice(system, platform)
    return Choices(
        llc, "`isolation.llc` asks for it" if asked else llc_reason(system, platform), bandwidth, why
    )


def _bandwidth_choice(
    system: System, platform: Platform
) -> tuple[Literal["mpam", "reservations", "none"], str]:
    if not any(domain.bandwidth.shares for domain in system.domains):
        return "none", "no domain asks for a share"
    if platform.mpam is None:
        return "reservations", "the platform has no MPAM"
    if not bandwidth_by_mpam(platform):
        return "reservations", "no MPAM component controls memory bandwidth"
    names = dict.fromkeys(one.component.name for one in memory_instances(platform) if _controls(one.resource))
    return "mpam", f"MPAM component {', '.join(names)} controls memory bandwidth"


def _controls(resource: Resource) -> bool:
    return resource.bandwidth is not None or resource.priority is not None
