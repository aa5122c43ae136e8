# SPDX-License-Identifier: Apache-2.0
"""Refusals about devices that a dynamic regulator changes (`regulation.devices`, B11).

crosscheck.py calls this. admission/devices.py checks the rates at the start.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding, KeyPath, nearest_of, quoted
from bulkhead.config.system import Regulation, System
from bulkhead.planning.budgets import counted_event
from bulkhead.planning.delays import POLICY as DELAY
from bulkhead.planning.device_rates import DeviceRate, device_rates
from bulkhead.planning.qos400 import regulator_before
from bulkhead.planning.regulation import RegulatorPlan, is_dynamic, regulator_of
from bulkhead.schema import load_layout

Findings = Iterator[Finding]
MB = 10**6
NS_PER_S = 10**9
_AT: KeyPath = ("regulation", "devices")


def check_regulated_devices(system: System, platform: Platform) -> Findings:
    regulation = system.regulation
    if regulation is None or not regulation.devices:
        return
    masters = {one.device: one for one in device_rates(system, platform)}
    wrong = [*_names(system, platform, regulation, masters)]
    yield from wrong
    if wrong or not is_dynamic(system):
        return
    yield from _system(system, platform, regulation)
    found = regulator_of(system, platform, counted_event(platform, emulated=False))
    if found is not None:
        yield from _budgets(regulation, found)


def _names(
    system: System, platform: Platform, regulation: Regulation, masters: dict[str, DeviceRate]
) -> Findings:
    for number, name in enumerate(regulation.devices):
        path: KeyPath = (*_AT, number)
        if name not in masters:
            cause = f"no domain has a device {quoted(name)} that masters memory"
            known = list(masters)
            yield Finding(path, "unknown-name", cause, ", ".join(known) or "none", nearest_of(name, known))
            continue
        if name in regulation.devices[:number]:
            yield Finding(path, "duplicate-name", f"'{name}' is named twice", "each name once")
        owner = system.domain(masters[name].domain)
        if owner is not None and owner.criticality == "rt":
            cause = f"'{name}' belongs to the real-time domain '{owner.name}', which is not regulated"
            yield Finding(path, "conflict", cause, "devices of best-effort domains")
        if platform.passable()[name].qos is None or regulator_before(platform, name) is None:
            cause = f"no regulator of the interconnect is in front of '{name}' on '{platform.name}'"
            yield Finding(path, "not-on-platform", cause, "devices with `qos` in the platform file")


def _system(system: System, platform: Platform, regulation: Regulation) -> Findings:
    room = load_layout().constant("max_cores") - platform.cores.count
    if len(regulation.devices) > room:
        cause = f"the regulator has room for {room} devices beside the cores of '{platform.name}'"
        yield Finding(_AT, "out-of-range", cause, f"at most {room}")
    if system.flows and platform.memory_budget is not None:
        cause = (
            f"flows are admitted by curves of '{platform.name}' (`memory_budget`), which do not say what a "
            "device with a changing rate leaves the broker"
        )
        yield Finding(_AT, "conflict", cause, "`device_rates` alone, or no flows")
    if regulation.policy == DELAY and regulation.delay is None:
        cause = f"'{DELAY}' needs the key 'delay': `dram.delays` is measured beside cores, not beside devices"
        yield Finding(("regulation",), "missing-key", cause, "the longest delay of a line beside the device")


def _budgets(regulation: Regulation, found: RegulatorPlan) -> Findings:
    """The floor, and the budget at the start, are rates that the registers can hold."""
    for number, one in enumerate(found.devices):
        least = one.least_events(regulation.interval)
        mb = -(-least * one.event_bytes * NS_PER_S // regulation.interval) / MB
        if found.floor_events < least:
            cause = f"is less than the regulator in front of '{one.name}' can hold"
            yield Finding(("regulation", "floor"), "out-of-range", cause, f"at least {mb:.6g} MB/s")
        elif one.budget_events < found.floor_events:
            cause = f"'{one.name}' has a smaller rate at the start (`device_rates`) than `regulation.floor`"
            yield Finding((*_AT, number), "out-of-range", cause, "a higher rate, or a lower floor")
