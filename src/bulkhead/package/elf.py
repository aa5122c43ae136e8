# SPDX-License-Identifier: Apache-2.0
"""Reads statically linked AArch64 ELF programs: segments, entry, symbols. Also reads the hosted images that
replace them on the simulated machine.

Used for bare-metal guests and for the hypervisor. Nothing in the file is trusted; a file that cannot be
loaded raises PackageError and no other exception.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bulkhead.package.errors import PackageError
from bulkhead.package.files import read_image

_MEMORY_LIMIT = 1 << 40
_SHN_UNDEF = 0
# Exceptions of the library for broken files that it does not detect itself.
BROKEN = (ELFError, ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, MemoryError)


@dataclass(frozen=True)
class ElfSegment:
    """A PT_LOAD segment."""

    index: int
    virtual: int
    physical: int
    data: bytes
    memory_bytes: int


@dataclass(frozen=True)
class ElfProgram:
    entry: int
    segments: tuple[ElfSegment, ...]  # those with memory_bytes > 0, in the file's order
    symbols: dict[str, int]
    movable: bool = False  # type DYN: it relocates itself to its load address


@dataclass(frozen=True)
class Hosted:
    """How to read an image for the simulated machine (cmake/instrumented.cmake). Text and constants stay
    outside; data from address `window` on in the file are in the domain's memory from `first` on."""

    first: int
    window: int = 0x11000000  # as link_window in machine/program/image.h
    entry: str | None = None  # symbol of the entry point; None: not needed


def read_elf(
    path: Path, *, symbols: bool = False, hosted: Hosted | None = None, movable: bool = False
) -> ElfProgram:
    """Checks and reads a program. `movable`: type DYN is allowed. Raises PackageError without the file's
    name, which callers add."""
    return parse_elf(read_image(path), symbols=symbols, hosted=hosted, movable=movable)


# One `check` of a system lays out its package several times, with the same hypervisor and programs.
@lru_cache(maxsize=8)
def parse_elf(
    content: bytes, *, symbols: bool = False, hosted: Hosted | None = None, movable: bool = False
) -> ElfProgram:
    if content[:4] != b"\x7fELF":
        raise PackageError(f"is not an ELF file (it starts with {content[:4].hex() or 'nothing'})")
    try:
        elf = ELFFile(BytesIO(content))
        if hosted is not None:
            return _hosted_program(elf, content, hosted)
        moves = _check_kind(elf, movable)
        segments = _segments(elf, content, dynamic=moves)
        found = symbols_of(elf) if symbols else {}
        entry = int(elf["e_entry"])
    except BROKEN as error:
        raise PackageError(f"is a broken ELF file: {error or type(error).__name__}") from error
    return ElfProgram(entry, segments, found, moves)


def _hosted_program(elf: ELFFile, content: bytes, how: Hosted) -> ElfProgram:
    if (elf["e_machine"], elf["e_type"]) != ("EM_X86_64", "ET_DYN"):
        raise PackageError(f"is not a hosted image (machine {elf['e_machine']}, type {elf['e_type']})")
    offset = how.first - how.window
    segments = tuple(
        ElfSegment(s.index, s.virtual + offset, s.physical + offset, s.data, s.memory_bytes)
        for s in _segments(elf, content, dynamic=True)
        if s.virtual >= how.window
    )
    found = {name: value + offset for name, value in symbols_of(elf).items()}
    if how.entry is not None and how.entry not in found:
        raise PackageError(f"has no entry point '{how.entry}'")
    return ElfProgram(found[how.entry] if how.entry is not None else 0, segments, found)


def _check_kind(elf: ELFFile, movable: bool) -> bool:
    """Whether the program is position independent (type DYN). Raises PackageError."""
    if elf.elfclass != 64:
        raise PackageError(f"is a {elf.elfclass}-bit program, not a 64-bit one")
    if not elf.little_endian:
        raise PackageError("is big-endian, not little-endian")
    if elf["e_machine"] != "EM_AARCH64":
        raise PackageError(f"is for machine {elf['e_machine']}, not for AArch64")
    if elf["e_type"] == "ET_DYN" and movable:
        return True
    if elf["e_type"] != "ET_EXEC":
        wanted = "a static program (ET_EXEC or ET_DYN)" if movable else "ET_EXEC, with fixed addresses,"
        raise PackageError(f"has type {elf['e_type']}: {wanted} can be loaded")
    return False


def _segments(elf: ELFFile, content: bytes, *, dynamic: bool = False) -> tuple[ElfSegment, ...]:
    found: list[ElfSegment] = []
    for index in range(elf.num_segments()):
        # Only the header: the library's segment objects read sections, which may be broken.
        header = elf._get_segment_header(index)
        kind = header["p_type"]
        if (kind == "PT_DYNAMIC" and not dynamic) or kind == "PT_INTERP":
            raise PackageError(f"is dynamically linked (segment {index} is {kind}): link it with -static")
        if kind != "PT_LOAD" or header["p_memsz"] == 0:
            continue
        offset, file_bytes, memory_bytes = header["p_offset"], header["p_filesz"], header["p_memsz"]
        if offset + file_bytes > len(content):
            wanted = f"segment {index} needs bytes {offset:#x} to {offset + file_bytes:#x}"
            raise PackageError(f"is truncated: {wanted}, but the file has {len(content):#x}")
        if file_bytes > memory_bytes:
            sizes = f"{file_bytes:#x} bytes in the file, {memory_bytes:#x} in memory"
            raise PackageError(f"segment {index}: {sizes}")
        if memory_bytes > _MEMORY_LIMIT or max(header["p_paddr"], header["p_vaddr"]) >= 1 << 64:
            raise PackageError(f"segment {index}: {memory_bytes:#x} bytes of memory are not possible")
        data = content[offset : offset + file_bytes]
        found.append(ElfSegment(index, header["p_vaddr"], header["p_paddr"], data, memory_bytes))
    if not found:
        raise PackageError("has nothing to load (no PT_LOAD segment)")
    return tuple(found)


def symbols_of(elf: ELFFile) -> dict[str, int]:
    """Symbols that a program defines, with their values; also for 32-bit programs. May raise one of BROKEN.

    The library's symbol objects take twenty times as long, which was a fifth of the time of a whole `check`.
    """
    order = "<" if elf.little_endian else ">"
    wide = elf.elfclass == 64
    entry = struct.Struct(order + ("IBBHQQ" if wide else "IIIBBH"))
    found: dict[str, int] = {}
    for section in elf.iter_sections():
        if not isinstance(section, SymbolTableSection):
            continue
        names: bytes = section.stringtable.data()
        table: bytes = section.data()
        for symbol in entry.iter_unpack(table[: len(table) - len(table) % entry.size]):
            name_at, section_index, value = symbol[0], symbol[3 if wide else 5], symbol[4 if wide else 1]
            if section_index != _SHN_UNDEF and (
                name := names[name_at : names.index(b"\0", name_at)].decode(errors="replace")
            ):
                found[name] = value
    return found
