# SPDX-License-Identifier: Apache-2.0
"""Walks AArch64 translation tables (4 KiB granule, first level 1: 39-bit input addresses) in a memory image.

Used by the table witness only. Written from the Arm ARM (DDI 0487, D8.3 "Translation table descriptor
formats"), it must never share code or constants with the hypervisor whose tables it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

FRAME_BYTES = 4096
_FIRST_LEVEL = 1
_LAST_LEVEL = 3
_SHIFT = {1: 30, 2: 21, 3: 12}  # log2 of the bytes that one entry of a level maps
_OUTPUT_BITS = 0x0000_FFFF_FFFF_F000  # output and table addresses: bits 47:12
_VALID, _TABLE_OR_PAGE = 0b01, 0b11
_TABLE_READ_ONLY, _TABLE_XN = 1 << 62, 1 << 60  # hierarchical permissions, stage 1 only (D8.4.2)
S1_READ_ONLY, S1_XN = 1 << 7, 1 << 54  # AP[2], XN of a single-privilege-level regime such as EL2
S2_WRITE = 1 << 7  # S2AP[1]
_S2_MEMATTR_SHIFT, _S2_MEMATTR = 2, 0b1111
_S2_DEVICE_BITS = 0b1100  # of MemAttr: zero for Device memory; the others are its kind (both encodings)

# MemAttr[3:0] of Normal memory (D8.6). Without HCR_EL2.FWB the more restrictive stage decides, and write-back
# restricts nothing; with it (FEAT_S2FWB, rules R_VRJSW and R_RHWZM) stage 2 decides.
S2_WRITE_BACK = 0b1111
S2_FWB_WRITE_BACK = 0b0110
S2_FWB_AS_STAGE_1 = 0b0111


def stage2_type(descriptor: Words) -> Words:
    """MemAttr[3:0] of stage-2 leaf descriptors."""
    return (descriptor >> np.uint64(_S2_MEMATTR_SHIFT)) & np.uint64(_S2_MEMATTR)


def stage2_device(descriptor: Words) -> NDArray[np.bool_]:
    """Which stage-2 leaf descriptors have a Device memory type."""
    device: NDArray[np.bool_] = (stage2_type(descriptor) & np.uint64(_S2_DEVICE_BITS)) == np.uint64(0)
    return device


def root_address(ttbr: int) -> int:
    """Table address in a TTBR or VTTBR, without VMID or ASID (63:48) and CnP (0)."""
    return ttbr & 0x0000_FFFF_FFFF_FFFE


# Memory type of walks: VTCR_EL2.IRGN0 and ORGN0 (DDI 0487, D19.2), 0b01 write-back, 0b00 uncached.
_VTCR_WALKS, _VTCR_WALKS_CACHED = 0b1111 << 8, 0b0101 << 8


def walks_are(vtcr: int) -> str:
    """Memory type of walks: `cached`, `uncached`, or `cached in part`."""
    known = {_VTCR_WALKS_CACHED: "cached", 0: "uncached"}
    return known.get(vtcr & _VTCR_WALKS, "cached in part")


@dataclass(frozen=True)
class BadTable:
    """A table that could not be read: its address, and the place of the entry that refers to it."""

    table_pa: int
    level: int
    input_address: int


@dataclass
class Translation:
    """All mappings of a tree of tables; the arrays have one element per leaf descriptor."""

    input_address: Words
    output_address: Words
    leaf_bytes: Words
    descriptor: Words  # combined with the hierarchical permissions of the tables above
    tables: list[int] = field(default_factory=list)  # in the order of the walk, with repetitions
    spans: list[range] = field(default_factory=list)  # for each table: the input addresses that it translates
    bad_tables: list[BadTable] = field(default_factory=list)

    def frames(self) -> tuple[Words, Words, Words]:
        """Input address, output address and descriptor of each mapped 4 KiB frame; blocks are split into
        frames."""
        count = (self.leaf_bytes // FRAME_BYTES).astype(np.int64)
        first = np.cumsum(count) - count
        step = np.arange(int(count.sum()), dtype=np.int64) - np.repeat(first, count)
        offset = step.astype(np.uint64) * np.uint64(FRAME_BYTES)
        return (
            np.repeat(self.input_address, count) + offset,
            np.repeat(self.output_address, count) + offset,
            np.repeat(self.descriptor, count),
        )


def walk(read_frame: Callable[[int], Words | None], root_pa: int) -> Translation:
    """Walk the tables from `root_pa`. `read_frame` returns a frame's 512 words, None if no table may be
    there."""
    parts: list[tuple[Words, Words, int, Words]] = []
    tables: list[int] = []
    spans: list[range] = []
    bad: list[BadTable] = []
    todo: list[tuple[int, int, int, int]] = [(root_pa, _FIRST_LEVEL, 0, 0)]
    while todo:
        table_pa, level, base, inherited = todo.pop()
        words = None if table_pa % FRAME_BYTES else read_frame(table_pa)
        if words is None:
            bad.append(BadTable(table_pa, level, base))
            continue
        tables.append(table_pa)
        spans.append(range(base, base + (len(words) << _SHIFT[level])))
        kind = words & np.uint64(0b11)
        shift = _SHIFT[level]
        is_leaf = kind == (_TABLE_OR_PAGE if level == _LAST_LEVEL else _VALID)
        index = np.flatnonzero(is_leaf).astype(np.uint64)
        if index.size:
            descriptor = words[is_leaf]
            output = descriptor & np.uint64(_OUTPUT_BITS & ~((1 << shift) - 1))
            parts.append(
                (
                    np.uint64(base) + (index << np.uint64(shift)),
                    output,
                    1 << shift,
                    descriptor | np.uint64(inherited),
                )
            )
        if level == _LAST_LEVEL:
            continue
        for slot in reversed(np.flatnonzero(kind == _TABLE_OR_PAGE).tolist()):
            word = int(words[slot])
            below = inherited | (S1_READ_ONLY if word & _TABLE_READ_ONLY else 0)
            below |= S1_XN if word & _TABLE_XN else 0
            todo.append((word & _OUTPUT_BITS, level + 1, base + (slot << shift), below))
    return Translation(
        input_address=_joined([p[0] for p in parts]),
        output_address=_joined([p[1] for p in parts]),
        leaf_bytes=_joined([np.full(len(p[0]), p[2], dtype=np.uint64) for p in parts]),
        descriptor=_joined([p[3] for p in parts]),
        tables=tables,
        spans=spans,
        bad_tables=bad,
    )


def _joined(arrays: list[Words]) -> Words:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.uint64)
