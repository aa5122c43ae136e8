# SPDX-License-Identifier: Apache-2.0
"""Reads 32-bit Arm ELF files: the kernel, linked components, objects of users; and writes the image of a
system.

Nothing in a file is trusted: every error is a PackageError.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path

from elftools.elf.elffile import ELFFile

from bulkhead.package.elf import BROKEN, symbols_of
from bulkhead.package.errors import PackageError
from bulkhead.package.files import read_image

ARCHIVE = b"!<arch>\n"
ELF = b"\x7fELF"
_LIMIT = 1 << 32
_IDENT = ELF + bytes([1, 1, 1]) + bytes(9)  # 32-bit, little-endian, version 1
_HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
_PROGRAM = struct.Struct("<8I")
_ET_EXEC, _EM_ARM, _PT_LOAD, _EABI5 = 2, 40, 1, 0x05000000
_READ_WRITE_EXECUTE = 7
_ALIGNED = 16


@dataclass(frozen=True)
class Elf32Chunk:
    """Bytes that a loader puts at an address."""

    at: int
    data: bytes

    @property
    def end(self) -> int:
        return self.at + len(self.data)


@dataclass(frozen=True)
class Elf32Program:
    entry: int
    chunks: tuple[Elf32Chunk, ...]
    symbols: dict[str, int]


def check_object(path: Path) -> None:
    """A file that a component can be linked from."""
    content = read_image(path)
    if content.startswith(ARCHIVE):
        return  # the linker checks the contents
    try:
        elf = _arm(content)
        kind = elf["e_type"]
    except BROKEN as error:
        raise PackageError(f"is a broken ELF file: {error or type(error).__name__}") from error
    if kind != "ET_REL":
        raise PackageError(
            f"has type {kind}: a component must be an object (compiled with -c, or linked with -r) or an "
            "archive of objects, because the build links it to its final address"
        )


def read_program(path: Path) -> Elf32Program:
    """A linked program: its chunks by physical address."""
    content = read_image(path)
    try:
        elf = _arm(content)
        if elf["e_type"] != "ET_EXEC":
            raise PackageError(f"has type {elf['e_type']}, not ET_EXEC")
        return Elf32Program(int(elf["e_entry"]), _chunks(elf, content), symbols_of(elf))
    except BROKEN as error:
        raise PackageError(f"is a broken ELF file: {error or type(error).__name__}") from error


def _arm(content: bytes) -> ELFFile:
    if content[:4] != ELF:
        raise PackageError(
            f"is neither an ELF file nor an archive (it starts with {content[:4].hex() or 'nothing'})"
        )
    elf = ELFFile(BytesIO(content))
    if elf.elfclass != 32 or not elf.little_endian or elf["e_machine"] != "EM_ARM":
        raise PackageError(
            f"is for machine {elf['e_machine']} with {elf.elfclass} bits, not for 32-bit Arm: compile it "
            "with arm-none-eabi-gcc"
        )
    return elf


def _chunks(elf: ELFFile, content: bytes) -> tuple[Elf32Chunk, ...]:
    found = []
    for index in range(elf.num_segments()):
        header = elf._get_segment_header(index)
        offset, nbytes, at = header["p_offset"], header["p_filesz"], header["p_paddr"]
        if header["p_type"] != "PT_LOAD" or nbytes == 0:
            continue
        if offset + nbytes > len(content) or at + nbytes > _LIMIT:
            raise PackageError(
                f"is truncated: segment {index} needs bytes {offset:#x} to {offset + nbytes:#x}"
            )
        found.append(Elf32Chunk(at, content[offset : offset + nbytes]))
    if not found:
        raise PackageError("has no segment to load")
    return tuple(sorted(found, key=lambda one: one.at))


def write_image(entry: int, chunks: Sequence[Elf32Chunk]) -> bytes:
    """An executable that loads `chunks` and starts at `entry`. They must not overlap."""
    ordered = sorted(chunks, key=lambda one: one.at)
    for one, other in pairwise(ordered):
        if one.end > other.at:
            raise PackageError(f"the segment at {one.at:#x} overlaps the segment at {other.at:#x}")
    shape = (_HEADER.size, _PROGRAM.size, len(ordered), 40, 0, 0)
    header = _HEADER.pack(_IDENT, _ET_EXEC, _EM_ARM, 1, entry, _HEADER.size, 0, _EABI5, *shape)
    start = _HEADER.size + _PROGRAM.size * len(ordered)
    table, body = b"", bytearray()
    for one in ordered:
        body += bytes((one.at - start - len(body)) % _ALIGNED)  # congruent to the address
        size = len(one.data)
        table += _PROGRAM.pack(
            _PT_LOAD, start + len(body), one.at, one.at, size, size, _READ_WRITE_EXECUTE, _ALIGNED
        )
        body += one.data
    return header + table + bytes(body)
