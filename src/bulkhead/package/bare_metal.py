# SPDX-License-Identifier: Apache-2.0
"""Places the image of a domain that boots no kernel: an ELF file, bytes at an address, or an entry in flash;
and its device tree, by default at the end of its first region.

Called by `images`. Raises PackageError without the names of domain and file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bulkhead.geometry import PAGE_BYTES
from bulkhead.package.elf import ElfProgram, Hosted, read_elf
from bulkhead.package.errors import PackageError
from bulkhead.package.files import read_image
from bulkhead.package.memory import LoadedMemory, LoadPiece, LoadRegion, align_down, align_up, check_pieces

HOSTED_FIRST_IPA = 0x40000000  # as in machine/hosted/system.cpp: start of a hosted guest's window
BLOCK_BYTES = 2 << 20
_INSTRUCTION_BYTES = 4


@dataclass(frozen=True)
class Program:
    """Pieces in memory, and the address of the first instruction."""

    pieces: tuple[LoadPiece, ...]
    entry: int


def elf_program(
    path: Path, memory: Sequence[LoadRegion], at: int | None = None, *, hosted: bool = False
) -> Program:
    """An ELF file. A file of type DYN, which relocates itself, gets `at` as its lowest address. Default: its
    own addresses if they are in the domain's memory, else the first region, with the same offset to a
    multiple of 2 MiB."""
    how = Hosted(HOSTED_FIRST_IPA, entry="_start") if hosted else None
    program = read_elf(path, hosted=how, movable=True)
    if at is not None and not program.movable:
        raise PackageError("has fixed addresses (type EXEC), and `at` needs a movable file (type DYN)")
    moved = _moved_by(program, memory, at) if program.movable else 0
    pieces = tuple(
        LoadPiece(f"segment {segment.index}", segment.physical + moved, segment.data, segment.memory_bytes)
        for segment in program.segments
    )
    return Program(pieces, program.entry + moved)


def _moved_by(program: ElfProgram, memory: Sequence[LoadRegion], at: int | None) -> int:
    lowest = min(segment.physical for segment in program.segments)
    if at is not None:
        if (at - lowest) % PAGE_BYTES:
            raise PackageError(
                f"its lowest address {lowest:#x} cannot be moved to {at:#x}: the offset in a page must be "
                "the same"
            )
        return at - lowest
    if all(any(r.holds(s.physical, s.memory_bytes) for r in memory) for s in program.segments):
        return 0
    return align_up(memory[0].start, BLOCK_BYTES) - align_down(lowest, BLOCK_BYTES)


def raw_program(path: Path, at: int, entry: int | None = None) -> Program:
    """The bytes of a file at `at`. The first instruction is at `entry`, by default at `at`."""
    content = read_image(path)
    if not content:
        raise PackageError("is empty")
    return Program((LoadPiece("image", at, content, len(content)),), at if entry is None else entry)


def load_program(
    program: Program,
    memory: Sequence[LoadRegion],
    flash: Sequence[LoadRegion],
    tree: bytes,
    tree_at: int | None = None,
) -> LoadedMemory:
    """Places the program and its device tree in `memory`. The first instruction may be in `flash`."""
    first = memory[0]
    tree_ipa = align_down(first.end - len(tree)) if tree_at is None else tree_at
    if tree_ipa < first.start and tree_at is None:
        raise PackageError(f"the device tree ({len(tree)} bytes) does not fit into {first}")
    if tree_ipa % 8:
        raise PackageError(f"the device tree at {tree_ipa:#x} is not at a multiple of 8")
    tree_bytes = first.end - tree_ipa if tree_at is None else len(tree)
    pieces = (*program.pieces, LoadPiece("device tree", tree_ipa, tree, tree_bytes))
    check_pieces(pieces, memory)
    code = (*(piece.region for piece in program.pieces), *flash)
    if not any(region.holds(program.entry, _INSTRUCTION_BYTES) for region in code):
        where = "in none of its segments" if program.pieces else "in no flash"
        raise PackageError(f"entry {program.entry:#x} lies {where}")
    if program.entry % _INSTRUCTION_BYTES:
        raise PackageError(f"entry {program.entry:#x} is not a multiple of {_INSTRUCTION_BYTES}")
    return LoadedMemory(tuple(p for p in pieces if p.data), program.entry, tree_ipa, tree)
