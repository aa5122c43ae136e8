# SPDX-License-Identifier: Apache-2.0
"""Writes a minimal ELF64 file that a loader accepts: a header, PT_LOADs, and their bytes.

Called by `bundle`. A linker would need relocatable input and a script to write the 64 bytes of header.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from bulkhead.geometry import PAGE_BYTES
from bulkhead.package.memory import align_up

_IDENT = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)  # 64-bit, little-endian, version 1, System V
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_PROGRAM = struct.Struct("<IIQQQQQQ")
_ET_EXEC, _EM_AARCH64, _PT_LOAD = 2, 183, 1
_READ_WRITE_EXECUTE = 7


@dataclass(frozen=True)
class ElfChunk:
    """Bytes that a loader places at a physical address."""

    pa: int
    data: bytes


def write_elf(entry: int, chunks: Sequence[ElfChunk]) -> bytes:
    """An executable that loads `chunks` to their addresses and starts at `entry`."""
    shape = (_HEADER.size, _PROGRAM.size, len(chunks), 64, 0, 0)
    header = _HEADER.pack(_IDENT, _ET_EXEC, _EM_AARCH64, 1, entry, _HEADER.size, 0, 0, *shape)
    offset = align_up(_HEADER.size + _PROGRAM.size * len(chunks))
    table, body = b"", bytearray()
    for chunk in chunks:
        place = offset + len(body) + chunk.pa % PAGE_BYTES  # congruent to the address, as PT_LOAD requires
        addresses, sizes = (chunk.pa, chunk.pa), (len(chunk.data), len(chunk.data))
        table += _PROGRAM.pack(_PT_LOAD, _READ_WRITE_EXECUTE, place, *addresses, *sizes, PAGE_BYTES)
        body += bytes(chunk.pa % PAGE_BYTES) + chunk.data
        body += bytes(align_up(len(body)) - len(body))
    return (header + table).ljust(offset, b"\0") + bytes(body)
