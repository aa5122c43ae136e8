# SPDX-License-Identifier: Apache-2.0
"""Builds translation tables in a synthetic memory for the tests of the table witness.

Written independently of the walker: descriptors are composed entry by entry from the manual's fields, and
`bulkhead.evidence` is not imported.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

PAGE = 4096
MIB = 1 << 20
S2_NORMAL_RW = (0b1111 << 2) | (0b11 << 6) | (0b11 << 8) | (1 << 10)  # MemAttr, S2AP, SH, AF
S2_DEVICE_RW = (0b0001 << 2) | (0b11 << 6) | (1 << 10)  # Device-nGnRE; S2AP, AF
S1_CODE = (1 << 10) | (0b11 << 8) | (1 << 7)  # AF, SH, read-only
S1_DATA = (1 << 10) | (0b11 << 8) | (1 << 54)  # AF, SH, XN
S1_WRITE_EXEC = (1 << 10) | (0b11 << 8)


class TableImage:
    """A pool of frames with tables in it; frames are handed out in the order given."""

    def __init__(self, pool: list[int]) -> None:
        self.pool = list(pool)
        self._free = list(pool)
        self.frames: dict[int, Words] = {}

    def read_frame(self, pa: int) -> Words | None:
        if pa not in self.pool:
            return None
        return self.frames.get(pa, np.zeros(512, dtype=np.uint64))

    def table(self) -> int:
        pa = self._free.pop(0)
        self.frames[pa] = np.zeros(512, dtype=np.uint64)
        return pa

    def store(self, table: int, index: int, value: int) -> None:
        self.frames[table][index] = value

    def map(self, root: int, source: int, pa: int, attributes: int, size: int = PAGE) -> None:
        """One leaf of 4 KiB, 2 MiB or 1 GiB."""
        leaf_level = {PAGE: 3, 2 * MIB: 2, 1024 * MIB: 1}[size]
        table = root
        for level in range(1, leaf_level):
            index = (source >> (39 - 9 * level)) % 512
            entry = int(self.frames[table][index])
            if entry == 0:
                entry = self.table() | 3
                self.store(table, index, entry)
            table = entry & 0xFFFFFFFFF000
        index = (source >> (39 - 9 * leaf_level)) % 512
        self.store(table, index, pa | attributes | (3 if leaf_level == 3 else 1))

    def leaf_slot(self, root: int, source: int) -> tuple[int, int]:
        """Table and index of the level-3 entry for `source`."""
        table = root
        for level in (1, 2):
            table = int(self.frames[table][(source >> (39 - 9 * level)) % 512]) & 0xFFFFFFFFF000
        return table, (source >> 12) % 512


def colored_frames(base: int, size: int, colors: set[int], color_shift: int, color_count: int) -> list[int]:
    """Frames of [base, base + size) in these colors; colors are `color_shift`.. address bits."""
    return [pa for pa in range(base, base + size, PAGE) if (pa >> color_shift) % color_count in colors]
