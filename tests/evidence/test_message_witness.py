# SPDX-License-Identifier: Apache-2.0
"""D4: the table witness reads the tables of the ITS, and notices each entry and register that is wrong.

The tables are composed here from the fields of IHI 0069 and of the emulator's source, without the code that
reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from bulkhead.evidence.promise import ItsPromise, PromisedMessages, PromisedWindow
from bulkhead.evidence.tables import TableWitness, check_tables
from bulkhead.evidence.translations import its_registers

from .table_image import PAGE, Words
from .test_table_witness import System, kinds, make_system

PA, REDISTRIBUTORS, EACH, CORES = 0x0808_0000, 0x080A_0000, 0x2_0000, 4
PENDING, PENDING_EACH = 0x7010_0000, 0x1_0000
ELSEWHERE = 0x7000_0000  # neither in the pool nor reserved
GITS_CTLR, GITS_TYPER, GITS_CBASER, GITS_BASER = PA, PA + 8, PA + 0x80, PA + 0x100
DISK, CARD, NOBODY = 0x10, 0x30, 0x18
FIRST, COUNT = 8192, {DISK: 3, CARD: 32}
PLACE = {DISK: FIRST, CARD: FIRST + 64}  # the second function of the system has no messages
CORE = {DISK: 1, CARD: 3}
NUMBER = [7, 5, 6, 4]  # of the redistributors of cores 0 to 3
ITE_BYTES = 12


def gicr(core: int, offset: int) -> int:
    return REDISTRIBUTORS + core * EACH + offset


@dataclass
class Messages:
    """A system whose ITS is set up as it must be; a test then breaks one thing."""

    system: System
    registers: dict[int, int]
    devices: int
    collections: int
    events: int  # frame with the events of both functions
    properties: int

    def wide(self, address: int, value: int) -> None:
        self.registers[address], self.registers[address + 4] = value & 0xFFFF_FFFF, value >> 32

    def load(self, address: int) -> int:
        return self.registers[address] | self.registers[address + 4] << 32

    def place(self, device: int) -> int:
        return self.events + (0 if device == DISK else 512)

    def map_device(self, device: int, events: int, bits: int = 5) -> None:
        self.system.image.store(self.devices, device, 1 | (bits - 1) << 1 | (events >> 8) << 6)

    def map_event(self, device: int, event: int, lpi: int, collection: int, low_bits: int = 0b11) -> None:
        entry = low_bits | lpi << 2 | collection << 32 | 1023 << 64
        self.write(self.place(device) % PAGE + event * ITE_BYTES, entry)

    def write(self, offset: int, entry: int) -> None:
        frame = self.system.image.frames[self.events]
        frame.view("u1")[offset : offset + ITE_BYTES] = list(entry.to_bytes(ITE_BYTES, "little"))

    def map_collection(self, collection: int, number: int, valid: int = 1) -> None:
        self.system.image.store(self.collections, collection, valid | number << 1)

    def check(self, registers: bool = True) -> TableWitness:
        return check_tables(
            self.system.promise,
            self.system.image.read_frame,
            {name: root | 7 << 48 | 1 for name, root in self.system.roots.items()},
            self.system.el2_root | 1,
            its=self.registers if registers else None,
        )


def set_up(colored: bool = True) -> Messages:
    system = make_system(colored=colored)
    functions = tuple(
        PromisedMessages(name, device, PLACE[device], COUNT[device], CORE[device])
        for name, device in (("control", DISK), ("linux", CARD))
    )
    memory = PromisedWindow(PENDING, CORES * PENDING_EACH)
    system.promise = replace(system.promise, its=ItsPromise(PA, REDISTRIBUTORS, CORES, memory, functions))
    image = system.image
    found = Messages(
        system,
        dict.fromkeys(its_registers(PA, REDISTRIBUTORS, CORES), 0),
        *(image.table() for _ in range(4)),
    )
    found.registers[GITS_CTLR] = 1 << 31 | 1
    found.wide(GITS_TYPER, 1 | (ITE_BYTES - 1) << 4 | 15 << 8 | 15 << 13)
    found.wide(GITS_CBASER, 1 << 63 | image.table())
    found.wide(GITS_BASER, 1 << 63 | 1 << 56 | 7 << 48 | found.devices)
    found.wide(GITS_BASER + 8, 1 << 63 | 4 << 56 | 7 << 48 | found.collections)
    for core in range(CORES):
        found.registers[gicr(core, 0)] = 1
        last = int(core == CORES - 1)
        found.wide(gicr(core, 8), core << 32 | NUMBER[core] << 8 | last << 4 | 1)
        found.wide(gicr(core, 0x70), 7 << 7 | found.properties | 13)
        found.wide(gicr(core, 0x78), 1 << 7 | PENDING + core * PENDING_EACH)
        found.map_collection(core, NUMBER[core])
    for device, count in COUNT.items():
        found.map_device(device, found.place(device))
        for event in range(count):
            found.map_event(device, event, PLACE[device] + event, CORE[device])
    return found


@pytest.fixture
def messages() -> Messages:
    return set_up()


def test_d4_tables_as_promised_hold(messages: Messages) -> None:
    witness = messages.check()
    assert witness.ok and witness.findings == []
    assert witness.messages_checked == sum(COUNT.values())
    assert witness.as_json([])["messages_checked"] == sum(COUNT.values())


def test_d4_without_an_its_no_message_is_checked(messages: Messages) -> None:
    messages.system.promise = replace(messages.system.promise, its=None)
    assert messages.check(registers=False).ok and messages.check().messages_checked == 0


def test_d4_a_redistributor_without_lpis_accesses_no_memory(messages: Messages) -> None:
    messages.registers[gicr(0, 0)] = 0
    messages.wide(gicr(0, 0x70), ELSEWHERE | 13)
    messages.wide(gicr(0, 0x78), ELSEWHERE)
    assert messages.check().ok


BREAKS: dict[str, tuple[Callable[[Messages], None], str, str]] = {
    "disabled": (
        lambda m: m.registers.update({GITS_CTLR: 1 << 31}),
        "its_disabled",
        "it is not enabled",
    ),
    "device of nobody": (
        lambda m: m.map_device(NOBODY, m.events + 1024),
        "its_device",
        "device 0x18, which has no messages, is mapped",
    ),
    "device not mapped": (
        lambda m: m.system.image.store(m.devices, DISK, 0),
        "its_device",
        "device 0x10 of domain control is not mapped",
    ),
    "no table of devices": (
        lambda m: m.wide(GITS_BASER, m.load(GITS_BASER) & ~(1 << 63)),
        "its_device",
        "device 0x10 of domain control is not mapped",
    ),
    "event not mapped": (
        lambda m: m.write(ITE_BYTES, 0),
        "its_event",
        "event 1 of device 0x10 of domain control is not mapped",
    ),
    "event beyond the function's": (
        lambda m: m.map_event(DISK, 3, PLACE[DISK] + 3, 1),
        "its_event",
        "event 3 of device 0x10 of domain control is mapped, which has 3 messages",
    ),
    "LPI of another function": (
        lambda m: m.map_event(DISK, 2, PLACE[CARD], 1),
        "its_event",
        f"event 2 of device 0x10 of domain control is LPI {PLACE[CARD]}, not {PLACE[DISK] + 2}",
    ),
    "LPI of another event": (
        lambda m: m.map_event(CARD, 31, PLACE[CARD], 3),
        "its_event",
        f"event 31 of device 0x30 of domain linux is LPI {PLACE[CARD]}, not {PLACE[CARD] + 31}",
    ),
    "virtual": (
        lambda m: m.map_event(DISK, 0, PLACE[DISK], 1, low_bits=0b01),
        "its_event",
        "event 0 of device 0x10 of domain control is a virtual interrupt",
    ),
    "core of another domain": (
        lambda m: m.map_event(DISK, 0, PLACE[DISK], 3),
        "its_event",
        f"goes to redistributor {NUMBER[3]}, not to {NUMBER[1]}",
    ),
    "no collection": (
        lambda m: m.map_event(DISK, 0, PLACE[DISK], 9),
        "its_event",
        "goes to no redistributor",
    ),
    "collection beyond the table": (
        lambda m: m.map_event(DISK, 0, PLACE[DISK], 512),
        "its_event",
        "goes to no redistributor",
    ),
    "table of devices elsewhere": (
        lambda m: m.wide(GITS_BASER, 1 << 63 | 1 << 56 | 7 << 48 | ELSEWHERE),
        "its_outside_pool",
        f"its device table is at PA {ELSEWHERE:#x}: not in the pool",
    ),
    "commands elsewhere": (
        lambda m: m.wide(GITS_CBASER, 1 << 63 | ELSEWHERE),
        "its_outside_pool",
        f"its command queue is at PA {ELSEWHERE:#x}",
    ),
    "more commands than the pool has": (
        lambda m: m.wide(GITS_CBASER, m.load(GITS_CBASER) | 0xFF),
        "its_outside_pool",
        "its command queue is at PA",
    ),
    "another table elsewhere": (
        lambda m: m.wide(GITS_BASER + 16, 1 << 63 | 4 << 56 | 7 << 48 | ELSEWHERE),
        "its_outside_pool",
        f"its collection table is at PA {ELSEWHERE:#x}",
    ),
    "events elsewhere": (
        lambda m: m.map_device(DISK, ELSEWHERE),
        "its_outside_pool",
        f"the table of events of device 0x10 of domain control is at PA {ELSEWHERE:#x}",
    ),
    "properties elsewhere": (
        lambda m: m.wide(gicr(2, 0x70), ELSEWHERE | 13),
        "its_outside_pool",
        f"the table of properties of the redistributor {gicr(2, 0):#x} is at PA {ELSEWHERE:#x}",
    ),
    "pending elsewhere": (
        lambda m: m.wide(gicr(2, 0x78), ELSEWHERE),
        "its_pending",
        f"the table of pending LPIs of the redistributor {gicr(2, 0):#x} is at PA {ELSEWHERE:#x}",
    ),
    "pending behind the memory": (
        lambda m: m.wide(gicr(2, 0x78), PENDING + CORES * PENDING_EACH),
        "its_pending",
        "not in the memory that is reserved for it",
    ),
    "pending of two": (
        lambda m: m.wide(gicr(2, 0x78), PENDING),
        "its_pending",
        f"the redistributors {gicr(0, 0):#x} and {gicr(2, 0):#x} have the same table of pending LPIs",
    ),
    "two levels": (  # entries of devices are not what the first of two levels has
        lambda m: m.wide(GITS_BASER, m.load(GITS_BASER) | 1 << 62),
        "its_device",
        "device 0x10 of domain control is not mapped",
    ),
    "collections in two levels": (
        lambda m: m.wide(GITS_BASER + 8, m.load(GITS_BASER + 8) | 1 << 62),
        "its_layout",
        "the layout of its collection table is not known",
    ),
    "pages of 64 KiB": (
        lambda m: m.wide(GITS_BASER + 8, m.load(GITS_BASER + 8) | 1 << 9),
        "its_layout",
        "the layout of its collection table is not known",
    ),
    "longer entries": (
        lambda m: m.wide(GITS_BASER, m.load(GITS_BASER) | 8 << 48),
        "its_layout",
        "the layout of its device table is not known",
    ),
    "a table of another kind": (
        lambda m: m.wide(GITS_BASER + 16, 1 << 63 | 2 << 56 | 7 << 48 | m.devices),
        "its_layout",
        "the layout of its table 2 is not known",
    ),
    "longer entries for events": (
        lambda m: m.wide(GITS_TYPER, m.load(GITS_TYPER) | 15 << 4),
        "its_layout",
        "the size of entries for events is not known",
    ),
    "redistributors with virtual LPIs": (
        lambda m: m.wide(gicr(2, 8), m.load(gicr(2, 8)) | 2),
        "its_layout",
        f"{gicr(2, 0):#x} is not a redistributor of these cores",
    ),
    "fewer redistributors": (
        lambda m: m.wide(gicr(2, 8), m.load(gicr(2, 8)) | 1 << 4),
        "its_layout",
        f"{gicr(2, 0):#x} is not a redistributor of these cores",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
def test_d4_one_thing_that_is_wrong_is_found(messages: Messages, what: str) -> None:
    break_it, kind, text = BREAKS[what]
    break_it(messages)
    witness = messages.check()
    assert set(kinds(witness)) == {kind}, witness.findings
    assert text in witness.findings[0].text and not witness.ok


def test_d4_lpis_of_a_function_must_be_enabled_at_its_core(messages: Messages) -> None:
    messages.registers[gicr(1, 0)] = 0
    witness = messages.check()
    assert kinds(witness) == ["its_event"] * COUNT[DISK]
    assert "LPIs of its core are not enabled" in witness.findings[0].text


def test_d4_a_collection_that_names_another_core_is_found(messages: Messages) -> None:
    messages.map_collection(1, NUMBER[2])
    witness = messages.check()
    assert set(kinds(witness)) == {"its_event"} and witness.findings_total == COUNT[DISK]
    assert f"goes to redistributor {NUMBER[2]}, not to {NUMBER[1]}" in witness.findings[0].text


def test_d4_a_table_of_another_color_is_found(messages: Messages) -> None:
    """As if the plan had put a frame of another color into the pool."""
    wrong = messages.system.image.pool[0] + (1 << 13)
    promise = messages.system.promise
    messages.system.image.pool.append(wrong)
    messages.system.promise = replace(promise, pool_frames=_with(promise.pool_frames, wrong))
    messages.wide(GITS_CBASER, 1 << 63 | wrong)
    witness = messages.check()
    assert kinds(witness) == ["table_color"]
    assert witness.findings[0].text.startswith(f"ITS: table at PA {wrong:#x}: color 0")


def test_d4_registers_that_were_not_read_are_a_finding(messages: Messages) -> None:
    assert kinds(messages.check(registers=False)) == ["its_unreadable"]
    messages.registers = {}
    assert kinds(messages.check()) == ["its_unreadable"]


def _with(frames: Words, pa: int) -> Words:
    return np.sort(np.append(frames, np.uint64(pa)))
