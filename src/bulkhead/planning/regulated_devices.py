# SPDX-License-Identifier: Apache-2.0
"""Devices whose rate the dynamic regulator changes, beside the cores that it regulates (B11).

The hypervisor's side is core/regulated_device.h; the conversion between budgets and registers is the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bulkhead.config.platform import Platform
from bulkhead.config.system import Regulation, System
from bulkhead.planning.budgets import NS_PER_S, CountedEvent, events_of_rate
from bulkhead.planning.device_rates import DeviceRate, device_rates
from bulkhead.planning.qos400 import MOST_REGISTER


@dataclass(frozen=True)
class RegulatedDevice:
    """A device in the manifest's regulation, with its regulator's number in order of the plan."""

    name: str
    place: int  # in masks and budgets, behind the cores of the platform
    page: int  # physical address of the regulator's registers
    budget_events: int  # at the start, in an interval
    unit_events: int  # events per s of one unit of both rate registers, rounded up
    most: int  # largest value of these registers
    event_bytes: int

    def least_events(self, interval_ns: int) -> int:
        """The smallest budget that the registers can hold."""
        return -(-self.unit_events * interval_ns // NS_PER_S)

    def rate_at_start(self, interval_ns: int) -> int:
        """The value of both rate registers at the start; 0: they cannot hold the budget."""
        return min(self.most, self.budget_events * NS_PER_S // (self.unit_events * interval_ns))


def regulated_devices(
    system: System, platform: Platform, regulation: Regulation, event: CountedEvent
) -> tuple[RegulatedDevice, ...]:
    """The devices that are behind a regulator each, in the order of the file."""
    assert event.bytes is not None
    found = [one for one in device_rates(system, platform) if one.dynamic and one.register is not None]
    return tuple(
        RegulatedDevice(
            one.device,
            platform.cores.count + number,
            one.register.page,
            events_of_rate(one.charged or 0, regulation.interval, event),
            math.ceil(2 * one.register.step / event.bytes),
            _most(one, platform),
            event.bytes,
        )
        for number, one in enumerate(found)
        if one.register is not None
    )


def _most(one: DeviceRate, platform: Platform) -> int:
    """The register for the most that the device moves, or the data bus, in each direction."""
    assert one.register is not None
    dram = platform.dram
    peak = dram.speed * 10**6 * dram.width * dram.channels // 8 if dram is not None else None
    rates = [rate for rate in (one.most, peak) if rate is not None]
    if not rates:
        return MOST_REGISTER
    return min(MOST_REGISTER, max(1, math.ceil(min(rates) / (2 * one.register.step))))
