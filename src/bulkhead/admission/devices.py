# SPDX-License-Identifier: Apache-2.0
"""Refusals and notices about the memory bandwidth of devices (D5).

admission/bandwidth.py compares the sum of budgets and devices with what the memory sustains.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.system import Domain, System
from bulkhead.planning.demands import admission_of
from bulkhead.planning.device_rates import STATE_RATE, DeviceRate, rates_of
from bulkhead.schema import load_layout

MB = 10**6


def check_device_rates(at: KeyPath, system: System, domain: Domain, platform: Platform) -> Iterator[Finding]:
    """Each declared rate is of a device of the domain that masters memory, the hardware can reach it, and a
    regulator in front of the device can hold it."""
    masters = {one.device: one for one in rates_of(system, domain, platform)}
    for name, declared in domain.device_rates.items():
        path: KeyPath = (*at, "device_rates", name)
        if name not in masters:
            cause = f"'{domain.name}' has no device {quoted(name)} that masters memory"
            yield Finding(
                path, "unknown-name", cause, ", ".join(masters) or "none", nearest_of(name, list(masters))
            )
            continue
        most = masters[name].most
        if most is not None and declared > most:
            cause = f"is more than the {_mb(most)} that '{name}' moves at most (`rate` of '{platform.name}')"
            yield Finding(path, "out-of-range", cause, f"at most {_mb(most)}")
        register = masters[name].register
        if register is not None and register.value == 0:
            cause = f"is less than the regulator in front of '{name}' can hold"
            yield Finding(path, "out-of-range", cause, f"at least {_mb(register.least)}")


def check_regulators(system: System, platform: Platform) -> Iterator[Finding]:
    """The hypervisor programs a limited number of regulators in front of devices."""
    most = load_layout().constant("max_device_regulators")
    held = [
        (index, one)
        for index, domain in enumerate(system.domains)
        for one in rates_of(system, domain, platform)
        if one.register is not None
    ]
    for index, one in held[most:]:
        cause = f"'{one.device}' is behind a regulator, and {most} other devices are already regulated"
        yield Finding(
            ("domains", index, "device_rates", one.device), "out-of-range", cause, f"{most} in a system"
        )


def unregulated(system: System, platform: Platform) -> Iterator[Finding]:
    """A notice for each declared rate that nothing enforces, and for each device that admission cannot
    count."""
    promises = bool(admission_of(system, platform).budgets)
    for index, domain in enumerate(system.domains):
        for one in rates_of(system, domain, platform):
            if one.register is not None:
                continue
            if one.declared is not None and one.declared != one.most:
                path: KeyPath = ("domains", index, "device_rates", one.device)
                yield Finding(path, "not-enforced", _not_enforced(one, promises))
            elif one.charged is None and promises:
                cause = (
                    f"nothing limits the traffic of '{one.device}', and no file states a rate of it: budgets "
                    "of domains are compared with the bandwidth of memory without this device"
                )
                yield Finding(("domains", index, "devices"), "unbounded", cause, STATE_RATE)


def _not_enforced(one: DeviceRate, promises: bool) -> str:
    assert one.declared is not None
    nothing = f"nothing limits '{one.device}' to {_mb(one.declared)}"
    if not promises:
        return nothing
    if one.most is None:
        return f"{nothing}: admission counts this rate, and budgets hold only if the device keeps it"
    return f"{nothing}: admission counts the {_mb(one.most)} that it moves at most"


def _mb(bytes_per_s: int) -> str:
    return f"{bytes_per_s / MB:g} MB/s"
