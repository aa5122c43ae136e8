# SPDX-License-Identifier: Apache-2.0
"""Selects one of a board's two hypervisors. The smaller one has no budgets, regulation of cores or devices,
shared cores, samples, performance monitors of guests, flows, MPAM, memory for stage-2 tables, calls to
firmware, flash that takes commands and an SMMU, and refuses a manifest that asks for one of these.

Called by `build`. hypervisor/CMakeLists.txt defines the contents of both.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

from bulkhead.planning.budgets import CountedEvent
from bulkhead.planning.device_rates import device_rates
from bulkhead.planning.model import Plan
from bulkhead.planning.regulation import budget_in, regulator_of

Program = Literal["full", "space"]

FULL: Program = "full"
SPACE: Program = "space"
FILES: dict[Program, str] = {FULL: "bulkhead.elf", SPACE: "bulkhead-space.elf"}


def smallest_program(plan: Plan, event: CountedEvent | None) -> Program:
    """The smallest hypervisor with all features that the manifest of `plan` needs. `event`: the event that
    budgets count."""
    calls = any(domain.firmware for domain in plan.system.domains)
    flash = any(domain.programmable is not None for domain in plan.system.domains)
    rest = plan.system.flows or plan.mpam is not None or plan.tables is not None or calls or flash
    rest = rest or plan.platform.driven_iommu is not None
    rest = rest or any(one.register is not None for one in device_rates(plan.system, plan.platform))
    return FULL if rest or _asks_for_time(plan, event) else SPACE


def _asks_for_time(plan: Plan, event: CountedEvent | None) -> bool:
    system = plan.system
    vcpus = Counter(core for domain in plan.domains for core in domain.cpus)
    return (
        any(domain.pmu or budget_in(system, domain, event) is not None for domain in system.domains)
        or regulator_of(system, plan.platform, event) is not None
        or any(count > 1 for count in vcpus.values())
    )
