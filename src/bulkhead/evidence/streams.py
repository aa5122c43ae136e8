# SPDX-License-Identifier: Apache-2.0
"""Reads the stream table of an SMMUv3 from its registers and a memory image.

Used by the table witness only. Written from Arm IHI 0070 (5.2 "Stream Table Entry", 6.3 "Register
descriptions"), it must never share code or constants with the hypervisor whose table it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from bulkhead.evidence.vmsa import FRAME_BYTES, Words

_IDR0, _IDR0_ATS = 0x0, 1 << 10
_CR0, _CR0_SMMUEN, _CR0_ATSCHK = 0x20, 1 << 0, 1 << 4
_STRTAB_BASE, _STRTAB_BASE_CFG = 0x80, 0x88
_QUEUES = {"command": 0x90, "event": 0xA0}  # bases of the queues
_MESSAGES = {"global errors": 0x68, "events": 0xB0}  # where message interrupts are written; 0: none
# The registers that this needs, by offset, in words of 32 bits.
REGISTERS = tuple(
    offset + word
    for offset, words in (
        (_IDR0, 1),
        (_CR0, 1),
        (_STRTAB_BASE_CFG, 1),
        *((wide, 2) for wide in (_STRTAB_BASE, *_QUEUES.values(), *_MESSAGES.values())),
    )
    for word in range(0, 4 * words, 4)
)

_TWO_LEVELS = 0b01  # STRTAB_BASE_CFG.FMT
_ADDRESS = 0x000F_FFFF_FFFF_FFFF
_ENTRY_BYTES, _DESCRIPTOR_BYTES = 64, 8
_VALID = 1 << 0
_CONFIG_ABORT, _CONFIG_STAGE2 = 0b000, 0b110
_S2AA64 = 1 << 51
_EATS = 0b11 << 28  # of the second word: accesses that a device has translated itself


class Kind(Enum):
    """What an entry does with an access."""

    ABORT = "aborts"
    STAGE2 = "translates by stage 2"
    OTHER = "lets pass, or translates otherwise"


@dataclass(frozen=True)
class StreamEntry:
    """An entry of the stream table. Of an invalid one only the kind counts."""

    pa: int
    kind: Kind
    valid: bool
    root: int  # S2TTB
    vmid: int
    vtcr: int  # bits 18:0, as in VTCR_EL2
    aarch64: bool
    takes_translated: bool  # accesses that a device says it has translated


@dataclass(frozen=True)
class StreamTable:
    """What the registers say about the table."""

    enabled: bool
    trusts_translated: bool  # accesses that a device says it has translated pass, whatever the entry says
    base: int
    log2size: int
    split: int | None  # of a table of two levels
    queues: Mapping[str, int]  # physical addresses
    messages: Mapping[str, int]

    @property
    def stream_ids(self) -> int:
        """The number of stream ids that have a place in the table; the SMMU aborts all others."""
        return 1 << self.log2size


def stream_table(registers: Mapping[int, int]) -> StreamTable:
    """From words of 32 bits, by offset: `REGISTERS`."""

    def wide(offset: int) -> int:
        return registers[offset] | registers[offset + 4] << 32

    layout = registers[_STRTAB_BASE_CFG]
    takes_ats = bool(registers[_IDR0] & _IDR0_ATS)  # without ATS the bit that checks is reserved
    return StreamTable(
        enabled=bool(registers[_CR0] & _CR0_SMMUEN),
        trusts_translated=takes_ats and not registers[_CR0] & _CR0_ATSCHK,
        base=wide(_STRTAB_BASE) & _ADDRESS & ~0x3F,
        log2size=layout & 0x3F,
        split=layout >> 6 & 0x1F if layout >> 16 & 0b11 == _TWO_LEVELS else None,
        queues={name: wide(offset) & _ADDRESS & ~0x1F for name, offset in _QUEUES.items()},
        messages={name: wide(offset) & _ADDRESS & ~0b11 for name, offset in _MESSAGES.items()},
    )


class UnreadableTable(Exception):
    """A part of the table is at `pa`, where no table may be."""

    def __init__(self, pa: int) -> None:
        super().__init__(f"{pa:#x}")
        self.pa = pa


def entries(
    table: StreamTable, read_frame: Callable[[int], Words | None]
) -> Iterator[tuple[int, StreamEntry]]:
    """Each stream id with an entry, in ascending order. Ids below an invalid descriptor of level 1 have
    none. Raises UnreadableTable."""
    if table.split is None:
        yield from _leaf(table.base, 0, table.stream_ids, read_frame)
        return
    for index in range(max(1, table.stream_ids >> table.split)):
        (descriptor,) = _words(table.base + index * _DESCRIPTOR_BYTES, 1, read_frame)
        if span := descriptor & 0x1F:
            count = min(1 << (span - 1), 1 << table.split)
            yield from _leaf(descriptor & _ADDRESS & ~0x3F, index << table.split, count, read_frame)


def _leaf(
    pa: int, first: int, count: int, read_frame: Callable[[int], Words | None]
) -> Iterator[tuple[int, StreamEntry]]:
    for index in range(count):
        at = pa + index * _ENTRY_BYTES
        yield first + index, _entry(at, _words(at, 4, read_frame))


def _words(pa: int, count: int, read_frame: Callable[[int], Words | None]) -> list[int]:
    """Words of 64 bits in one frame."""
    frame = read_frame(pa - pa % FRAME_BYTES)
    if frame is None:
        raise UnreadableTable(pa)
    start = pa % FRAME_BYTES // 8
    return [int(word) for word in frame[start : start + count]]


def _entry(pa: int, words: list[int]) -> StreamEntry:
    valid = bool(words[0] & _VALID)
    config = words[0] >> 1 & 0b111
    if not valid or config == _CONFIG_ABORT:
        kind = Kind.ABORT
    else:
        kind = Kind.STAGE2 if config == _CONFIG_STAGE2 else Kind.OTHER
    return StreamEntry(
        pa=pa,
        kind=kind,
        valid=valid,
        root=words[3] & _ADDRESS & ~0xF,
        vmid=words[2] & 0xFFFF,
        vtcr=words[2] >> 32 & 0x7FFFF,
        aarch64=bool(words[2] & _S2AA64),
        takes_translated=bool(words[1] & _EATS),
    )
