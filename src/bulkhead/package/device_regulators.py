# SPDX-License-Identifier: Apache-2.0
"""The manifest's record of regulators in front of devices of domains.

package/manifest.py calls this. hypervisor/time/device_regulators.c writes the registers and reads them back.
The emulator's machines have no such registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bulkhead.planning.budgets import CountedEvent
from bulkhead.planning.device_rates import device_rates
from bulkhead.planning.model import Plan
from bulkhead.planning.regulation import regulator_of
from bulkhead.schema.layout import Layout, Value

Row = Mapping[str, Value]


@dataclass(frozen=True)
class _Registers:
    page: int = 0
    rate: int = 0
    unit_events: int = 0
    most: int = 0


def device_regulators_row(
    plan: Plan, layout: Layout, event: CountedEvent | None, *, emulated: bool = False
) -> Row:
    """The record `manifest_device_regulators`. `event`: the event that budgets count. `emulated`: for the
    emulator."""
    count = layout.constant("max_device_regulators")
    found = [] if emulated else [*_changing(plan, event), *_constant(plan, event)]
    found += [_Registers()] * (count - len(found))
    return {
        **{f"page_{number}": one.page for number, one in enumerate(found)},
        "reads": [one.rate for one in found],
        "writes": [one.rate for one in found],
        "unit_events": [one.unit_events for one in found],
        "most": [one.most for one in found],
    }


def _changing(plan: Plan, event: CountedEvent | None) -> list[_Registers]:
    """Regulators of the devices that the dynamic regulator changes. Their places in the regulation are those
    of planning/regulated_devices.py, so they come first."""
    found = regulator_of(plan.system, plan.platform, event)
    if found is None:
        return []
    return [
        _Registers(one.page, one.rate_at_start(found.interval_ns), one.unit_events, one.most)
        for one in found.devices
    ]


def _constant(plan: Plan, event: CountedEvent | None) -> list[_Registers]:
    found = regulator_of(plan.system, plan.platform, event)
    changing = {one.page for one in found.devices} if found is not None else set()
    return [
        _Registers(one.register.page, one.register.value)
        for one in device_rates(plan.system, plan.platform)
        if one.register is not None and one.register.page not in changing
    ]
