# SPDX-License-Identifier: Apache-2.0
"""Numbers that a system file gives a component: they replace the defaults in the program's code.

They are at the symbol rt_parameters (microkernel/include/microkernel/parameters.h).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace

from bulkhead.config.problem import nearest_of, quoted
from bulkhead.microkernel.elf32 import Elf32Chunk, Elf32Program
from bulkhead.package.errors import PackageError, located

SYMBOL = "rt_parameters"
_ENTRY = struct.Struct("<12sI")  # struct rt_parameter
MOST = 32  # most entries: a table without an end is invalid


def with_parameters(program: Elf32Program, params: Mapping[str, int]) -> Elf32Program:
    """The program with other values. Raises PackageError at the first name that it does not have."""
    if not params:
        return program
    chunk, offset = _place(program, next(iter(params)))
    entries = dict(_entries(chunk, offset))
    content = bytearray(chunk.data)
    for name, value in params.items():
        with located(name):
            if name not in entries:
                raise PackageError(_unknown(name, tuple(entries)))
        struct.pack_into("<I", content, entries[name] + _ENTRY.size - 4, value)
    chunks = tuple(replace(one, data=bytes(content)) if one is chunk else one for one in program.chunks)
    return replace(program, chunks=chunks)


def _unknown(name: str, known: tuple[str, ...]) -> str:
    nearest = nearest_of(name, known)
    hint = f"; did you mean '{nearest}'?" if nearest else ""
    return f"the program has no parameter {quoted(name)}; it has {', '.join(known) or 'none'}{hint}"


def _place(program: Elf32Program, name: str) -> tuple[Elf32Chunk, int]:
    """The chunk with the table, and the table's offset in it."""
    at = program.symbols.get(SYMBOL)
    chunk = next((one for one in program.chunks if at is not None and one.at <= at < one.end), None)
    if at is None or chunk is None:
        with located(name):
            raise PackageError(f"the program has no parameters: it does not define {SYMBOL}")
    return chunk, at - chunk.at


def _entries(chunk: Elf32Chunk, offset: int) -> Iterator[tuple[str, int]]:
    """Name and offset of each, up to the one without a name."""
    for _ in range(MOST):
        if offset + _ENTRY.size > len(chunk.data):
            break
        name = _ENTRY.unpack_from(chunk.data, offset)[0].rstrip(b"\0")
        if not name:
            return
        yield name.decode("ascii", "replace"), offset
        offset += _ENTRY.size
    raise PackageError(f"{SYMBOL} of the program has no end marker within {MOST} entries")
