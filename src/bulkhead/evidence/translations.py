# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of an interrupt translation service (ITS) from registers and a memory image.

Used by the table witness only. It must never share code or constants with the hypervisor whose tables it
reads. Registers are those of Arm IHI 0069 (12.11 redistributors, 12.19 ITS). The architecture does not define
what the tables contain. The formats here are the emulator's: QEMU 10.0.2, hw/intc/gicv3_internal.h (DTE,
ITE_L, CTE) and hw/intc/arm_gicv3_its.c (get_dte, get_ite, get_cte, table_entry_addr).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from bulkhead.evidence.streams import UnreadableTable
from bulkhead.evidence.vmsa import FRAME_BYTES, Words

_GITS_CTLR, _GITS_TYPER, _GITS_CBASER, _GITS_BASER = 0x0, 0x8, 0x80, 0x100
_TABLES = 8
_GICR_CTLR, _GICR_TYPER, _GICR_PROPBASER, _GICR_PENDBASER = 0x0, 0x8, 0x70, 0x78
REDISTRIBUTOR_BYTES = 0x2_0000  # without virtual LPIs

_VALID = 1 << 63  # of GITS_BASER<n> and GITS_CBASER
_INDIRECT = 1 << 62
_ADDRESS = 0x0000_FFFF_FFFF_F000
_PENDING_ADDRESS = 0x000F_FFFF_FFFF_0000
_PAGE_SIZE = 0b11 << 8  # 0: 4 KiB
_DEVICES, _COLLECTIONS = 1, 4

_DEVICE_BYTES, _EVENT_BYTES, _COLLECTION_BYTES = 8, 12, 8
_FRAME_ADDRESS_BYTES = 8
FIRST_LPI = 8192

ReadFrame = Callable[[int], Words | None]


def its_registers(its: int, redistributors: int, cores: int) -> list[int]:
    """Addresses of the words of 32 bits that the functions below need."""
    wide = (_GITS_TYPER, _GITS_CBASER, *(_GITS_BASER + 8 * n for n in range(_TABLES)))
    found = [its + _GITS_CTLR, *(its + offset + half for offset in wide for half in (0, 4))]
    for core in range(cores):
        base = redistributors + core * REDISTRIBUTOR_BYTES
        found.append(base + _GICR_CTLR)
        wide = (_GICR_TYPER, _GICR_PROPBASER, _GICR_PENDBASER)
        found += [base + offset + half for offset in wide for half in (0, 4)]
    return found


@dataclass(frozen=True)
class ItsTable:
    """Memory that GITS_BASER<n> or GITS_CBASER names."""

    name: str
    pa: int
    bytes: int
    indirect: bool = False  # it has the addresses of frames with entries

    def frames(self) -> range:
        return range(self.pa - self.pa % FRAME_BYTES, self.pa + self.bytes, FRAME_BYTES)


@dataclass(frozen=True)
class ItsRegisters:
    """What the registers of the ITS say."""

    enabled: bool
    tables: tuple[ItsTable, ...]  # all valid ones, and the command queue
    device_ids: int  # how many the ITS has
    unknown: tuple[str, ...]  # settings for which the tables cannot be read

    def named(self, name: str) -> ItsTable | None:
        return next((table for table in self.tables if table.name == name), None)


@dataclass(frozen=True)
class Redistributor:
    """What the registers of one redistributor say. The tables count only if LPIs are enabled."""

    enabled: bool
    affinity: int  # of its core
    number: int  # by which collections name it
    last: bool
    has_virtual_lpis: bool
    properties: int
    pending: ItsTable


@dataclass(frozen=True)
class Event:
    """A valid entry of a device's table of events."""

    id: int
    pa: int
    physical: bool
    lpi: int
    collection: int


@dataclass(frozen=True)
class MappedDevice:
    """A valid entry of the table of devices."""

    id: int
    pa: int
    events: ItsTable
    event_ids: int


def its_of(base: int, registers: Mapping[int, int]) -> ItsRegisters:
    """From words of 32 bits, by address."""
    typer = _wide(registers, base + _GITS_TYPER)
    tables, unknown = [], []
    for number in range(_TABLES):
        value = _wide(registers, base + _GITS_BASER + 8 * number)
        if not value & _VALID:
            continue
        kind = {_DEVICES: "device table", _COLLECTIONS: "collection table"}.get(value >> 56 & 0b111)
        name = kind or f"table {number}"
        indirect = bool(value & _INDIRECT)
        tables.append(ItsTable(name, value & _ADDRESS, ((value & 0xFF) + 1) * FRAME_BYTES, indirect))
        expected = {_DEVICES: _DEVICE_BYTES, _COLLECTIONS: _COLLECTION_BYTES}.get(value >> 56 & 0b111)
        if (
            (indirect and kind != "device table")
            or value & _PAGE_SIZE
            or (value >> 48 & 0x1F) + 1 != expected
        ):
            unknown.append(f"the layout of its {name} is not known (GITS_BASER{number} {value:#x})")
    if (typer >> 4 & 0xF) + 1 != _EVENT_BYTES:
        unknown.append(f"the size of entries for events is not known (GITS_TYPER {typer:#x})")
    queue = _wide(registers, base + _GITS_CBASER)
    if queue & _VALID:
        tables.append(ItsTable("command queue", queue & _ADDRESS, ((queue & 0xFF) + 1) * FRAME_BYTES))
    return ItsRegisters(
        enabled=bool(registers[base + _GITS_CTLR] & 1),
        tables=tuple(tables),
        device_ids=1 << (typer >> 13 & 0x1F) + 1,
        unknown=tuple(unknown),
    )


def redistributor_of(base: int, registers: Mapping[int, int]) -> Redistributor:
    """From words of 32 bits, by address."""
    typer = _wide(registers, base + _GICR_TYPER)
    properties = _wide(registers, base + _GICR_PROPBASER)
    interrupts = 1 << (properties & 0x1F) + 1
    pending = _wide(registers, base + _GICR_PENDBASER) & _PENDING_ADDRESS
    return Redistributor(
        enabled=bool(registers[base + _GICR_CTLR] & 1),
        affinity=typer >> 32,
        number=typer >> 8 & 0xFFFF,
        last=bool(typer >> 4 & 1),
        has_virtual_lpis=bool(typer >> 1 & 1),
        properties=properties & _ADDRESS,
        pending=ItsTable("table of pending LPIs", pending, interrupts // 8),
    )


def device_leaves(its: ItsRegisters, read_frame: ReadFrame) -> dict[int, ItsTable]:
    """The parts of the table of devices, by the first device id of each. Raises UnreadableTable."""
    table = its.named("device table")
    if table is None:
        return {}
    if not table.indirect:
        return {0: table}
    found = {}
    for number in range(table.bytes // _FRAME_ADDRESS_BYTES):
        value = _number(table.pa + number * _FRAME_ADDRESS_BYTES, _FRAME_ADDRESS_BYTES, read_frame)
        if value & _VALID:
            first = number * (FRAME_BYTES // _DEVICE_BYTES)
            found[first] = ItsTable("frame of the device table", value & _ADDRESS, FRAME_BYTES)
    return found


def devices(its: ItsRegisters, read_frame: ReadFrame) -> list[MappedDevice]:
    """All valid entries of the table of devices. Raises UnreadableTable."""
    return [
        device
        for first, leaf in device_leaves(its, read_frame).items()
        for device in _devices_of(first, leaf, its.device_ids, read_frame)
    ]


def _devices_of(first: int, leaf: ItsTable, device_ids: int, read_frame: ReadFrame) -> Iterator[MappedDevice]:
    for number in range(min(device_ids - first, leaf.bytes // _DEVICE_BYTES)):
        pa = leaf.pa + number * _DEVICE_BYTES
        entry = _number(pa, _DEVICE_BYTES, read_frame)
        if entry & 1:
            events = 1 << (entry >> 1 & 0x1F) + 1
            at = (entry >> 6 & (1 << 44) - 1) << 8
            table = ItsTable("table of events", at, events * _EVENT_BYTES)
            yield MappedDevice(first + number, pa, table, events)


def events(device: MappedDevice, read_frame: ReadFrame) -> list[Event]:
    """All valid entries of a device's table. Raises UnreadableTable."""
    found = []
    for number in range(device.event_ids):
        pa = device.events.pa + number * _EVENT_BYTES
        entry = _number(pa, _EVENT_BYTES, read_frame)
        if entry & 1:
            found.append(
                Event(
                    id=number,
                    pa=pa,
                    physical=bool(entry >> 1 & 1),
                    lpi=entry >> 2 & 0xFF_FFFF,
                    collection=entry >> 32 & 0xFFFF,
                )
            )
    return found


def target(its: ItsRegisters, collection: int, read_frame: ReadFrame) -> int | None:
    """The number of the redistributor that a collection names; None: the ITS drops its messages. Raises
    UnreadableTable."""
    table = its.named("collection table")
    if table is None or (collection + 1) * _COLLECTION_BYTES > table.bytes:
        return None
    entry = _number(table.pa + collection * _COLLECTION_BYTES, _COLLECTION_BYTES, read_frame)
    return entry >> 1 & 0xFFFF if entry & 1 else None


def _wide(registers: Mapping[int, int], address: int) -> int:
    return registers[address] | registers[address + 4] << 32


def _number(pa: int, size: int, read_frame: ReadFrame) -> int:
    """A little-endian number, which may be in two frames."""
    found = b""
    while len(found) < size:
        at = pa + len(found)
        frame = read_frame(at - at % FRAME_BYTES)
        if frame is None:
            raise UnreadableTable(at)
        offset = at % FRAME_BYTES
        found += frame.tobytes()[offset : offset + size - len(found)]
    return int.from_bytes(found, "little")
