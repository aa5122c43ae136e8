# SPDX-License-Identifier: Apache-2.0
"""Checks the tables of an ITS and the memory of redistributors against the promise.

Called by the table witness. What registers and tables contain is read by `translations`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bulkhead.evidence.promise import ItsPromise, PromisedMessages
from bulkhead.evidence.streams import UnreadableTable
from bulkhead.evidence.translations import (
    FIRST_LPI,
    REDISTRIBUTOR_BYTES,
    Event,
    ItsRegisters,
    ItsTable,
    MappedDevice,
    ReadFrame,
    Redistributor,
    device_leaves,
    devices,
    events,
    its_of,
    redistributor_of,
    target,
)


@dataclass(frozen=True)
class MessageFinding:
    """One thing that is not as promised."""

    kind: str
    pa: int
    text: str


@dataclass
class CheckedMessages:
    """The findings, the messages that were looked up, and the frames of the pool with tables."""

    checked: int = 0
    findings: list[MessageFinding] = field(default_factory=list)
    frames: set[int] = field(default_factory=set)


def check_messages(
    promise: ItsPromise, registers: Mapping[int, int], read_pool: ReadFrame
) -> CheckedMessages:
    """`registers`: words of 32 bits by address. `read_pool` returns the words of a frame of the hypervisor's
    pool, and None for any other frame."""
    checker = _MessageChecker(promise, its_of(promise.registers, registers), read_pool)
    bases = [promise.redistributors + core * REDISTRIBUTOR_BYTES for core in range(promise.cores)]
    checker.redistributors({base: redistributor_of(base, registers) for base in bases})
    checker.its()
    return checker.found


class _MessageChecker:
    def __init__(self, promise: ItsPromise, its: ItsRegisters, read_pool: ReadFrame) -> None:
        self.found = CheckedMessages()
        self._promise = promise
        self._its = its
        self._read_pool = read_pool
        self._by_affinity: dict[int, Redistributor] = {}

    def redistributors(self, every: Mapping[int, Redistributor]) -> None:
        """Each one whose LPIs are enabled uses the memory that is meant for it. Without LPIs enabled it
        accesses no memory."""
        users: dict[int, int] = {}
        for number, (base, one) in enumerate(every.items()):
            self._by_affinity[one.affinity] = one
            if one.has_virtual_lpis or one.last != (number == len(every) - 1):
                self._wrong("its_layout", base, f"{base:#x} is not a redistributor of these cores")
            if one.enabled:
                self._properties(base, one)
                self._pending(base, one, users)

    def its(self) -> None:
        for text in self._its.unknown:
            self._wrong("its_layout", self._promise.registers, text)
        if not self._its.enabled:
            self._wrong("its_disabled", self._promise.registers, "it is not enabled")
        for table in self._its.tables:
            self._in_pool(table, f"its {table.name}")
        if self._its.unknown:
            return
        left = {function.device: function for function in self._promise.functions}
        try:
            for leaf in device_leaves(self._its, self._read_pool).values():
                self._in_pool(leaf, f"its {leaf.name}")
            for device in devices(self._its, self._read_pool):
                self._device(device, left.pop(device.id, None))
        except UnreadableTable:
            return  # the table's place is a finding already
        for function in left.values():
            text = f"{_name(function)} is not mapped"
            self._wrong("its_device", self._promise.registers, text)

    def _device(self, device: MappedDevice, function: PromisedMessages | None) -> None:
        if function is None:
            text = f"device {device.id:#x}, which has no messages, is mapped"
            self._wrong("its_device", device.pa, text)
            return
        if not self._in_pool(device.events, f"the table of events of {_name(function)}"):
            return
        found = {event.id: event for event in events(device, self._read_pool)}
        for number in range(function.count):
            self.found.checked += 1
            event = found.pop(number, None)
            if event is None:
                text = f"event {number} of {_name(function)} is not mapped"
                self._wrong("its_event", device.events.pa, text)
            else:
                self._event(function, event)
        for event in found.values():
            text = f"event {event.id} of {_name(function)} is mapped, which has {function.count} messages"
            self._wrong("its_event", event.pa, text)

    def _event(self, function: PromisedMessages, event: Event) -> None:
        about = f"event {event.id} of {_name(function)}"
        if not event.physical:
            self._wrong("its_event", event.pa, f"{about} is a virtual interrupt")
        expected = function.first_lpi + event.id
        if event.lpi != expected:
            self._wrong("its_event", event.pa, f"{about} is LPI {event.lpi}, not {expected}")
        core = self._by_affinity.get(_affinity(function.mpidr))
        if core is None or not core.enabled:
            self._wrong("its_event", event.pa, f"{about}: LPIs of its core are not enabled")
            return
        number = target(self._its, event.collection, self._read_pool)
        if number != core.number:
            where = "no redistributor" if number is None else f"redistributor {number}"
            self._wrong("its_event", event.pa, f"{about} goes to {where}, not to {core.number}")

    def _properties(self, base: int, one: Redistributor) -> None:
        """The redistributor reads the byte of an LPI when the LPI arrives, so those of mapped ones count."""
        for function in self._promise.functions:
            first = one.properties + function.first_lpi - FIRST_LPI
            table = ItsTable("", first, function.count)
            if not self._in_pool(table, f"the table of properties of the redistributor {base:#x}"):
                return

    def _pending(self, base: int, one: Redistributor, users: dict[int, int]) -> None:
        memory = self._promise.pending
        table = one.pending
        if table.pa < memory.pa or table.pa + table.bytes > memory.pa + memory.bytes:
            text = f"the {table.name} of the redistributor {base:#x} is at PA {table.pa:#x}: not in the "
            self._wrong("its_pending", table.pa, text + "memory that is reserved for it")
        if (other := users.setdefault(table.pa, base)) != base:
            text = f"the redistributors {other:#x} and {base:#x} have the same {table.name}"
            self._wrong("its_pending", table.pa, text)

    def _in_pool(self, table: ItsTable, name: str) -> bool:
        outside = [pa for pa in table.frames() if self._read_pool(pa) is None]
        self.found.frames.update(table.frames())
        if outside:
            self.found.frames.difference_update(outside)
            self._wrong("its_outside_pool", outside[0], f"{name} is at PA {outside[0]:#x}: not in the pool")
        return not outside

    def _wrong(self, kind: str, pa: int, text: str) -> None:
        self.found.findings.append(MessageFinding(kind, pa, f"ITS: {text}"))


def _name(function: PromisedMessages) -> str:
    return f"device {function.device:#x} of domain {function.domain}"


def _affinity(mpidr: int) -> int:
    """As GICR_TYPER has it, where Aff3 follows Aff2."""
    return mpidr & 0xFF_FFFF | (mpidr >> 32 & 0xFF) << 24
