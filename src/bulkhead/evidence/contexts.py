# SPDX-License-Identifier: Apache-2.0
"""Reads the entries of streams and the context banks of an SMMUv2 from its registers.

Used by the table witness only. Written from Arm IHI 0062 (global register spaces 0 and 1, stage 2 translation
context banks), it must never share code or constants with the hypervisor whose entries it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

_CR0, _CR2, _IDR0, _IDR1 = 0x000, 0x008, 0x020, 0x024
_SMR, _S2CR = 0x800, 0xC00  # arrays of words
_CBAR, _CBA2R = 0x000, 0x800  # likewise, in register space 1
_CB_SCTLR, _CB_TTBR0, _CB_TCR = 0x00, 0x20, 0x30
_PAGE_BYTES = 4 << 10

_CLIENTPD, _EXIDENABLE, _USFCFG, _SMCFCFG, _VMID16EN = 1 << 0, 1 << 3, 1 << 10, 1 << 21, 1 << 31  # of sCR0
_SMS, _EXSMRGS = 1 << 27, 1 << 15  # of IDR0: streams are matched, not an index; more entries elsewhere
_EXSMRGENABLE = 1 << 31  # of sCR2: those are used
_PAGES_OF_64K, _SMCD = 1 << 31, 1 << 15  # of IDR1; SMCD: each conflict of matches is detected
_VALID, _MASK_SHIFT, _ID = 1 << 31, 16, 0x7FFF  # of SMR
_TRANSLATES, _FAULT = 0, 2  # S2CR.TYPE; the others are a bypass and a reserved value
_VA64 = 1 << 0  # of CBA2R: tables of AArch64
_STAGES = {0: "stage 2 alone", 1: "stage 1 alone", 2: "stage 1, and faults", 3: "two stages"}  # CBAR.TYPE
_ENABLED, _BIG_ENDIAN = 1 << 0, 1 << 4  # SCTLR.M and .E
_ROOT = 0xFFFF_FFFF_FFF0  # of TTBR0


class UnreadableMapping(Exception):
    """The registers do not say what a stream does. `why` is a sentence without its subject, the SMMU."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True)
class Places:
    """Where the platform file says that registers are: `size` bytes in two halves, global registers and
    context banks, in pages of 4 KiB. `entries` of streams and `banks` are used."""

    size: int
    entries: int
    banks: int

    def registers(self) -> tuple[int, ...]:
        """Offsets of the words of 32 bits that this module reads."""
        entries = range(0, 4 * self.entries, 4)
        banks = range(self.banks)
        return (
            *(_CR0, _CR2, _IDR0, _IDR1),
            *(array + word for array in (_SMR, _S2CR) for word in entries),
            *(_PAGE_BYTES + array + 4 * bank for array in (_CBAR, _CBA2R) for bank in banks),
            *(
                self.bank(bank) + offset
                for bank in banks
                for offset in (_CB_SCTLR, _CB_TTBR0, _CB_TTBR0 + 4, _CB_TCR)
            ),
        )

    def bank(self, number: int) -> int:
        """Offset of the page of a context bank."""
        return self.size // 2 + number * _PAGE_BYTES


class ContextKind(Enum):
    """What an entry does with an access of its streams."""

    TRANSLATES = "translates"
    FAULT = "is a fault"
    OTHER = "lets pass"


@dataclass(frozen=True)
class Context:
    """A context bank."""

    stages: str
    stage2_alone: bool
    enabled: bool  # otherwise an access passes
    aarch64: bool
    big_endian: bool  # walks read descriptors of the other byte order
    vmid: int
    root: int
    tcr: int

    @property
    def input_bits(self) -> int:
        return 64 - (self.tcr & 0x3F)

    @property
    def walks(self) -> int:
        """First level, attributes of walks and granule: bits 15:6, as in VTCR_EL2."""
        return self.tcr & 0xFFC0


@dataclass(frozen=True)
class StreamMatch:
    """An entry of streams that is valid."""

    number: int
    kind: ContextKind
    id: int
    mask: int  # bits of a stream id that are not compared
    context: Context | None  # of ContextKind.TRANSLATES

    def matches(self, stream: int) -> bool:
        return (stream ^ self.id) & ~self.mask & _ID == 0

    def streams(self) -> Iterator[int]:
        """All streams that it matches, in ascending order."""
        return (stream for stream in range(_ID + 1) if self.matches(stream)) if self.mask else iter([self.id])


@dataclass(frozen=True)
class StreamMapping:
    """What the registers say."""

    enabled: bool
    others_fault: bool  # streams without an entry; otherwise they pass
    matches_fault: bool  # streams with two entries; otherwise either entry counts
    stream_ids: int
    entries: tuple[StreamMatch, ...]


def stream_mapping(registers: Mapping[int, int], places: Places) -> StreamMapping:
    """From words of 32 bits, by offset: `Places.registers`. Raises UnreadableMapping."""
    cr0, idr0, idr1 = registers[_CR0], registers[_IDR0], registers[_IDR1]
    if not idr0 & _SMS or cr0 & _EXIDENABLE:
        raise UnreadableMapping("does not match streams of 15 bits")
    if idr0 & _EXSMRGS and registers[_CR2] & _EXSMRGENABLE:
        raise UnreadableMapping("uses extended entries of streams, which are in other registers")
    if idr1 & _PAGES_OF_64K or 2 * (2 << (idr1 >> 28 & 7)) * _PAGE_BYTES != places.size:
        raise UnreadableMapping("has its registers at other places than the platform file says")
    if idr0 & 0xFF != places.entries or idr1 & 0xFF != places.banks:
        raise UnreadableMapping(
            f"has {idr0 & 0xFF} entries of streams and {idr1 & 0xFF} context banks, "
            f"the platform file has {places.entries} and {places.banks}"
        )
    return StreamMapping(
        enabled=not cr0 & _CLIENTPD,
        others_fault=bool(cr0 & _USFCFG),
        matches_fault=bool(cr0 & _SMCFCFG and idr1 & _SMCD),
        stream_ids=1 << min(15, idr0 >> 9 & 0xF),
        entries=tuple(
            _entry(registers, places, number)
            for number in range(places.entries)
            if registers[_SMR + 4 * number] & _VALID
        ),
    )


def _entry(registers: Mapping[int, int], places: Places, number: int) -> StreamMatch:
    match, does = registers[_SMR + 4 * number], registers[_S2CR + 4 * number]
    type_, bank = does >> 16 & 3, does & 0xFF
    kind = {_TRANSLATES: ContextKind.TRANSLATES, _FAULT: ContextKind.FAULT}.get(type_, ContextKind.OTHER)
    context = None
    if kind is ContextKind.TRANSLATES and bank < places.banks:
        context = _context(registers, places, bank)
    return StreamMatch(number, kind, match & _ID, match >> _MASK_SHIFT & _ID, context)


def _context(registers: Mapping[int, int], places: Places, bank: int) -> Context:
    cbar = registers[_PAGE_BYTES + _CBAR + 4 * bank]
    cba2r = registers[_PAGE_BYTES + _CBA2R + 4 * bank]
    page = places.bank(bank)
    return Context(
        stages=_STAGES[cbar >> 16 & 3],
        stage2_alone=cbar >> 16 & 3 == 0,
        enabled=bool(registers[page + _CB_SCTLR] & _ENABLED),
        aarch64=bool(cba2r & _VA64),
        big_endian=bool(registers[page + _CB_SCTLR] & _BIG_ENDIAN),
        vmid=cba2r >> 16 if registers[_CR0] & _VMID16EN else cbar & 0xFF,
        root=(registers[page + _CB_TTBR0] | registers[page + _CB_TTBR0 + 4] << 32) & _ROOT,
        tcr=registers[page + _CB_TCR],
    )
