# SPDX-License-Identifier: Apache-2.0
"""Memory bandwidth of devices that master memory, as admission charges it (D5).

A device behind a QoS-400 regulator is limited to the rate that the system file declares, half of it in each
direction, and the charge is what the registers allow. Nothing limits another device, so its charge is the
most that the hardware moves; if the platform does not state that, it is the declared rate. A device that a
dynamic regulator changes (planning/regulated_devices.py) is charged like a regulated core: with its rate at
the start. Rates are in bytes per second, reads and writes together. planning/demands.py adds the charges to
budgets; package/device_regulators.py has the registers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from bulkhead.config.devices import Device, Dma
from bulkhead.config.platform import Platform
from bulkhead.config.system import Domain, System
from bulkhead.planning.broker import is_broker
from bulkhead.planning.qos400 import MOST_REGISTER, regulator_before, step_of
from bulkhead.results.device_rate import DeviceRateResult

INITIAL_BYTES_PER_S = 50 * 10**6  # of a regulated core or device for which the file states no rate
STATE_RATE = "`device_rates`, or `rate` of the device in the platform file"


@dataclass(frozen=True)
class RateRegister:
    """The setting of the regulator in front of a device, for its reads and for its writes."""

    page: int  # physical address of the regulator's registers
    value: int  # 0: the declared rate is below the least that the regulator can hold
    step: Fraction  # bytes/s of one unit

    @property
    def bytes_per_s(self) -> int:
        """Of reads and writes together, rounded up: it is charged."""
        return math.ceil(2 * self.value * self.step)

    @property
    def least(self) -> int:
        """The smallest rate of reads and writes together that the regulator can hold, in bytes/s."""
        return math.ceil(2 * self.step)


@dataclass(frozen=True)
class DeviceRate:
    """The memory bandwidth of one device of a domain."""

    device: str
    domain: str
    declared: int | None  # by the system file
    most: int | None  # by the platform file
    register: RateRegister | None = None  # None: no regulator, or no rate for it
    is_emulated: bool = False  # on the emulator, whose machines have no regulators
    dynamic: bool = False  # a dynamic regulator changes the rate

    @property
    def charged(self) -> int | None:
        """The rate that admission counts; None: the device has no bound."""
        if self.dynamic:
            return self.declared if self.declared is not None else INITIAL_BYTES_PER_S
        bounds = [self.most, None if self.register is None else self.register.bytes_per_s]
        return min((one for one in bounds if one is not None), default=self.declared)

    @property
    def note(self) -> str:
        """What limits the device, and what admission counts, for a table."""
        if self.dynamic:
            return "at the start: regulated, not on the emulator"
        if self.register is not None:
            return "regulated by QoS-400, not on the emulator"
        if self.most is not None:
            return "unregulated: charged in full"
        if self.declared is not None:
            return "unregulated: charged as declared"
        return "unregulated: no rate is known"

    def json(self) -> DeviceRateResult:
        return {
            "name": self.device,
            "charged_bytes_per_s": self.charged,
            "declared_bytes_per_s": self.declared,
            "most_bytes_per_s": self.most,
            "regulated": self.register is not None and not self.is_emulated,
            "dynamic": self.dynamic and not self.is_emulated,
        }


def device_rates(system: System, platform: Platform) -> tuple[DeviceRate, ...]:
    """All devices of domains that master memory, in the order of the file. The rate of the broker's engine is
    admitted with the flows."""
    domains = (domain for domain in system.domains if not is_broker(system, domain.name))
    return tuple(one for domain in domains for one in rates_of(system, domain, platform))


def constant_rates(system: System, platform: Platform) -> tuple[DeviceRate, ...]:
    """Those of device_rates() whose rate no regulator changes."""
    return tuple(one for one in device_rates(system, platform) if not one.dynamic)


def rates_of(system: System, domain: Domain, platform: Platform) -> tuple[DeviceRate, ...]:
    """The devices of one domain that master memory."""
    known = platform.passable()
    given = [known[name] for name in dict.fromkeys(domain.devices) if name in known]
    return tuple(
        DeviceRate(
            device.name,
            domain.name,
            declared,
            device.rate,
            _register(device, INITIAL_BYTES_PER_S if declared is None and dynamic else declared, platform),
            dynamic=dynamic,
        )
        for device in given
        if device.masters_memory
        for declared in (domain.device_rates.get(device.name),)
        for dynamic in (device.name in _dynamic(system),)
    )


def _dynamic(system: System) -> tuple[str, ...]:
    """Devices that a dynamic policy changes; without such a policy their rates are constant."""
    regulation = system.regulation
    return () if regulation is None or regulation.policy in ("none", "static") else regulation.devices


def _register(device: Device | Dma, rate: int | None, platform: Platform) -> RateRegister | None:
    """The largest setting that allows no more than the rate."""
    regulator = regulator_before(platform, device.name)
    if rate is None or device.qos is None or regulator is None:
        return None
    step = step_of(regulator)
    return RateRegister(device.qos, min(MOST_REGISTER, math.floor(rate / (2 * step))), step)


def charged_together(rates: Iterable[DeviceRate]) -> int:
    """Sum of all charges; unbounded devices have none."""
    return sum(one.charged or 0 for one in rates)
