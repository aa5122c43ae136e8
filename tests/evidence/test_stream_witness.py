# SPDX-License-Identifier: Apache-2.0
"""D2: the table witness reads the SMMU's stream table, and notices each entry that is wrong.

The table is composed here from the fields of IHI 0070, without the code that reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from bulkhead.evidence.promise import SmmuPromise
from bulkhead.evidence.streams import REGISTERS

from .confined_system import CONTROL, CONTROL_TOO, LINUX, NOBODY, OWNERS, VMIDS, VTCR, ConfinedSystem
from .test_table_witness import kinds, make_system

PA = 0x0905_0000
IDR0, CR0, GERROR_IRQ_CFG0, STRTAB_BASE, STRTAB_BASE_CFG = 0x0, 0x20, 0x68, 0x80, 0x88
ATS = 1 << 10  # of IDR0
CMDQ_BASE, EVENTQ_BASE, EVENTQ_IRQ_CFG0 = 0x90, 0xA0, 0xB0
ABORT, BYPASS, STAGE1, STAGE2 = 0b000, 0b100, 0b101, 0b110
ELSEWHERE = 0x7000_0000  # not in the pool


@dataclass
class Streams(ConfinedSystem):
    """A system whose SMMU is set up as it must be; a test then breaks one thing."""

    level1: int
    leaves: dict[int, int]  # frames by stream id // 64

    def store(self, stream: int, word: int, value: int) -> None:
        self.system.image.store(self.leaves[stream // 64], stream % 64 * 8 + word, value)

    def load(self, stream: int, word: int) -> int:
        return int(self.system.image.frames[self.leaves[stream // 64]][stream % 64 * 8 + word])

    def give(self, stream: int, domain: str, config: int = STAGE2) -> None:
        self.store(stream, 0, 1 | config << 1)
        self.store(stream, 2, VMIDS[domain] | (VTCR & 0x7FFFF) << 32 | 1 << 51 | 1 << 58)
        self.store(stream, 3, self.system.roots[domain])

    def wide(self, offset: int, value: int) -> None:
        self.registers[offset], self.registers[offset + 4] = value & 0xFFFF_FFFF, value >> 32


@pytest.fixture
def streams() -> Streams:
    system = make_system()
    system.promise = replace(
        system.promise,
        smmu=SmmuPromise(PA, OWNERS),
    )
    image = system.image
    level1 = image.table()
    leaves = {index: image.table() for index in (0, CONTROL_TOO // 64)}
    for index, leaf in leaves.items():
        image.store(level1, index, leaf | 7)  # span: 64 entries
    found = Streams(system, dict.fromkeys(REGISTERS, 0), level1, leaves)
    found.registers[IDR0], found.registers[CR0] = ATS, 0b11101
    found.wide(STRTAB_BASE, 1 << 62 | level1)
    found.registers[STRTAB_BASE_CFG] = 1 << 16 | 6 << 6 | 15
    found.wide(CMDQ_BASE, 1 << 62 | image.table() | 8)
    found.wide(EVENTQ_BASE, 1 << 62 | image.table() | 7)
    found.give(CONTROL, "control")
    found.give(CONTROL_TOO, "control", ABORT)  # as of a stopped domain
    found.give(LINUX, "linux")
    return found


def test_d2_a_table_as_promised_holds(streams: Streams) -> None:
    witness = streams.check()
    assert witness.ok and witness.findings == []
    assert witness.streams_checked == 1 << 15
    assert witness.as_json([])["streams_checked"] == 1 << 15


def test_d2_a_table_of_one_level_is_read_too(streams: Streams) -> None:
    streams.system.promise = replace(
        streams.system.promise, smmu=SmmuPromise(PA, {CONTROL: "control", LINUX: "linux"})
    )
    streams.wide(STRTAB_BASE, streams.leaves[0])
    streams.registers[STRTAB_BASE_CFG] = 6
    assert streams.check().ok and streams.check().streams_checked == 64
    streams.store(63, 0, 1 | BYPASS << 1)
    assert kinds(streams.check()) == ["stream_of_nobody"]


def test_d2_without_an_smmu_no_stream_is_checked(streams: Streams) -> None:
    streams.system.promise = replace(streams.system.promise, smmu=None)
    assert streams.check(registers=False).ok and streams.check().streams_checked == 0


BREAKS: dict[str, tuple[Callable[[Streams], None], str, str]] = {
    "foreign root": (
        lambda s: s.store(CONTROL, 3, s.system.roots["linux"]),
        "stream_entry",
        "stream 0x8 of domain control: its tables are at PA",
    ),
    "foreign root of a stopped domain": (
        lambda s: s.store(CONTROL_TOO, 3, s.system.roots["linux"]),
        "stream_entry",
        "stream 0x100 of domain control: its tables are at PA",
    ),
    "foreign VMID": (
        lambda s: s.store(LINUX, 2, s.load(LINUX, 2) ^ 3),
        "stream_entry",
        "its VMID is 1, that of the domain 2",
    ),
    "other format": (
        lambda s: s.store(LINUX, 2, s.load(LINUX, 2) ^ 1 << 32),
        "stream_entry",
        "its format of tables",
    ),
    "tables of AArch32": (
        lambda s: s.store(LINUX, 2, s.load(LINUX, 2) ^ 1 << 51),
        "stream_entry",
        "its format of tables",
    ),
    "bypass": (lambda s: s.store(CONTROL, 0, 1 | BYPASS << 1), "stream_entry", "its entry lets pass"),
    "stage 1": (lambda s: s.store(CONTROL, 0, 1 | STAGE1 << 1), "stream_entry", "its entry lets pass"),
    "invalid": (lambda s: s.store(CONTROL, 0, STAGE2 << 1), "stream_entry", "its entry is invalid"),
    "ATS": (lambda s: s.store(CONTROL, 1, 1 << 28), "stream_entry", "translated pass"),
    "bypass of nobody": (
        lambda s: s.store(NOBODY, 0, 1 | BYPASS << 1),
        "stream_of_nobody",
        "stream 0xa, which no domain has: its entry lets pass",
    ),
    "tables of nobody": (
        lambda s: s.give(NOBODY, "linux"),
        "stream_of_nobody",
        "stream 0xa, which no domain has: its entry translates by stage 2",
    ),
    "no entry": (
        lambda s: s.system.image.store(s.level1, CONTROL_TOO // 64, 0),
        "stream_without_entry",
        "stream 0x100 of domain control has no entry",
    ),
    "leaf elsewhere": (
        lambda s: s.system.image.store(s.level1, 5, ELSEWHERE | 7),
        "smmu_outside_pool",
        f"its stream table is at PA {ELSEWHERE:#x}",
    ),
    "table elsewhere": (
        lambda s: s.wide(STRTAB_BASE, ELSEWHERE),
        "smmu_outside_pool",
        f"its stream table is at PA {ELSEWHERE:#x}",
    ),
    "events elsewhere": (
        lambda s: s.wide(EVENTQ_BASE, ELSEWHERE | 7),
        "smmu_outside_pool",
        f"its event queue is at PA {ELSEWHERE:#x}",
    ),
    "commands elsewhere": (
        lambda s: s.wide(CMDQ_BASE, ELSEWHERE | 8),
        "smmu_outside_pool",
        f"its command queue is at PA {ELSEWHERE:#x}",
    ),
    "messages of events": (
        lambda s: s.wide(EVENTQ_IRQ_CFG0, ELSEWHERE),
        "smmu_outside_pool",
        f"it writes messages of events to PA {ELSEWHERE:#x}",
    ),
    "messages of errors": (
        lambda s: s.wide(GERROR_IRQ_CFG0, ELSEWHERE),
        "smmu_outside_pool",
        f"it writes messages of global errors to PA {ELSEWHERE:#x}",
    ),
    "disabled": (lambda s: s.registers.update({CR0: 0b11100}), "smmu_disabled", "it is not enabled"),
    "translated accesses unchecked": (
        lambda s: s.registers.update({CR0: 0b1101}),
        "smmu_unchecked",
        "accesses that devices say are translated pass unchecked",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
def test_d2_one_thing_that_is_wrong_is_found(streams: Streams, what: str) -> None:
    break_it, kind, text = BREAKS[what]
    break_it(streams)
    witness = streams.check()
    assert kinds(witness) == [kind], witness.findings
    assert text in witness.findings[0].text and not witness.ok


def test_d2_an_smmu_without_ats_has_no_check_of_translated_accesses(streams: Streams) -> None:
    streams.registers.update({IDR0: 0, CR0: 0b1101})
    assert streams.check().ok


def test_d2_registers_that_were_not_read_are_a_finding(streams: Streams) -> None:
    assert kinds(streams.check(registers=False)) == ["smmu_unreadable"]


@pytest.mark.parametrize("left", [(), REGISTERS[1:]])
def test_d2_registers_of_which_some_were_not_read_are_a_finding(
    streams: Streams, left: tuple[int, ...]
) -> None:
    streams.registers = {offset: streams.registers[offset] for offset in left}
    assert kinds(streams.check()) == ["smmu_unreadable"]
