# SPDX-License-Identifier: Apache-2.0
"""Places a bare-metal program: its segments where it says, its device tree at the top of its first region.

Called by `images` for domains with `image: { elf: ... }`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bulkhead.package.elf import Hosted, read_elf
from bulkhead.package.errors import PackageError
from bulkhead.package.memory import Loaded, Piece, Region, align_down, check_pieces

HOSTED_FIRST_IPA = 0x40000000  # machine/hosted/system.cpp: where the window of a hosted guest begins


def load_bare_metal(
    path: Path, memory: Sequence[Region], device_tree: bytes, *, hosted: bool = False
) -> Loaded:
    """The program of `path` in `memory`. Raises PackageError without the names of domain and file."""
    program = read_elf(path, hosted=Hosted(HOSTED_FIRST_IPA, entry="_start") if hosted else None)
    pieces = [
        Piece(f"segment {segment.index}", segment.physical, segment.data, segment.memory_bytes)
        for segment in program.segments
    ]
    first = memory[0]
    tree_ipa = align_down(first.end - len(device_tree))
    if tree_ipa < first.start:
        raise PackageError(f"the device tree ({len(device_tree)} bytes) does not fit into {first}")
    pieces.append(Piece("device tree", tree_ipa, device_tree, first.end - tree_ipa))
    check_pieces(pieces, memory)
    if not any(piece.region.holds(program.entry, 4) for piece in pieces[:-1]):
        raise PackageError(f"entry {program.entry:#x} lies in none of its segments")
    if program.entry % 4:
        raise PackageError(f"entry {program.entry:#x} is not a multiple of 4")
    return Loaded(tuple(p for p in pieces if p.data), program.entry, tree_ipa, device_tree)
