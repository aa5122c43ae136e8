# SPDX-License-Identifier: Apache-2.0
"""Memory bandwidth of devices that master memory, as admission charges it (D5).

The hypervisor limits no device of a domain, so the charge is the most that the hardware moves. If the
platform does not state that, it is the rate that the system file declares. Rates are in bytes per second,
reads and writes together. planning/demands.py adds the charges to budgets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bulkhead.config.platform import Platform
from bulkhead.config.system import Domain, System
from bulkhead.results.device_rate import DeviceRateResult

STATE_RATE = "`device_rates`, or `rate` of the device in the platform file"


@dataclass(frozen=True)
class DeviceRate:
    """The memory bandwidth of one device of a domain."""

    device: str
    domain: str
    declared: int | None  # by the system file
    most: int | None  # by the platform file

    @property
    def charged(self) -> int | None:
        """The rate that admission counts; None: the device has no bound."""
        return self.declared if self.most is None else self.most

    @property
    def note(self) -> str:
        """What limits the device, and what admission counts, for a table."""
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
            "regulated": False,
        }


def device_rates(system: System, platform: Platform) -> tuple[DeviceRate, ...]:
    """All devices of domains that master memory, in the order of the file."""
    return tuple(one for domain in system.domains for one in rates_of(domain, platform))


def rates_of(domain: Domain, platform: Platform) -> tuple[DeviceRate, ...]:
    """The devices of one domain that master memory."""
    known = platform.passable()
    given = [known[name] for name in dict.fromkeys(domain.devices) if name in known]
    return tuple(
        DeviceRate(device.name, domain.name, domain.device_rates.get(device.name), device.rate)
        for device in given
        if device.masters_memory
    )


def charged_together(rates: Iterable[DeviceRate]) -> int:
    """Sum of all charges; unbounded devices have none."""
    return sum(one.charged or 0 for one in rates)
