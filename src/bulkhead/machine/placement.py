# SPDX-License-Identifier: Apache-2.0
"""Places the memory of parts on the machine by the planner's arithmetic for domains.

Colors, first-fit allocation and frames are the same as for a system that boots (planning/), but no memory is
needed for a hypervisor.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

from bulkhead.config.platform import Platform
from bulkhead.errors import InvalidInput
from bulkhead.geometry import PAGE_BYTES, UNCOLORED, ColorSpace, color_space
from bulkhead.machine.job import JobPart
from bulkhead.machine.spaces import ANY, CHIP, CHIP_CACHED, POOL
from bulkhead.planning.allocate import BLOCK_BYTES, AllocatedMemory
from bulkhead.planning.model import Segment
from bulkhead.planning.space import platform_bank_bits, platform_llc_bits

# In place of a list of colors: those whose highest bit is clear, or set. The number of colors depends on the
# platform.
HALVES = ("low", "high")

Colors = Sequence[int] | str | None


class DoesNotFit(InvalidInput):
    """A part asks for more memory than its colors have, or for colors that do not exist."""


class PlacedMemory(NamedTuple):
    """Memory of a part."""

    pages: list[int]
    mapped: int  # bytes; more than those of the pages if the part has whole blocks


class Placement:
    """Memory of one machine, allocated in the order of requests."""

    def __init__(self, platform: Platform, *, colored: bool, banked: bool = False) -> None:
        """`colored`: some part has colors of the last-level cache; `banked`: some part has DRAM banks."""
        self.platform = platform
        self.space: ColorSpace = UNCOLORED
        if colored or banked:
            self.space = color_space(
                platform_llc_bits(platform, color_l1=False) if colored else (),
                platform_bank_bits(platform) if banked else (),
            )
        self._on_chip_used = 0
        self._memory = AllocatedMemory(self.space, ((ram.at, ram.size) for ram in platform.memory))

    @classmethod
    def of_parts(cls, platform: Platform, parts: Sequence[JobPart]) -> Placement:
        """The placement for all parts of a job."""
        return cls(
            platform,
            colored=any(part.get("colors") is not None for part in parts),
            banked=any(part.get("banks") is not None for part in parts),
        )

    def region(self, name: str, nbytes: int, colors: Colors, banks: Colors = None) -> PlacedMemory:
        """Like `pages`; contiguous memory is allocated in whole blocks, like a domain's, while there is
        enough."""
        if self._is_contiguous(colors, banks) and nbytes % BLOCK_BYTES:
            whole = -(-nbytes // BLOCK_BYTES) * BLOCK_BYTES
            with contextlib.suppress(DoesNotFit):
                begin = self.pages(name, whole, None)[0]
                return PlacedMemory(list(range(begin, begin + nbytes, PAGE_BYTES)), whole)
        return PlacedMemory(self.pages(name, nbytes, colors, banks), nbytes)

    def pages(self, name: str, nbytes: int, colors: Colors, banks: Colors = None) -> list[int]:
        """Physical address of each 4 KiB page of a part, in the order of the part's addresses. Raises
        DoesNotFit."""
        wanted = None
        if self._is_contiguous(colors, banks):
            taken = self._memory.take_contiguous(nbytes)
        else:
            wanted = self.space.combine(
                self._chosen(name, "colors", colors, self.space.llc_bits),
                self._chosen(name, "bank colors", banks, self.space.bank_bits),
            )
            if not wanted:
                raise DoesNotFit(
                    f"'{name}': no memory has both its colors and its banks, because they share address bits"
                )
            taken = self._memory.take_colored(nbytes, wanted)
        if taken is None:
            raise DoesNotFit(f"'{name}' needs {nbytes} bytes, but less is left of its memory")
        found: list[int] = []
        for piece in taken.pieces:
            found += (int(pa) for pa in Segment(0, piece.bytes, piece.pa, wanted).pages(self.space))
        return found

    def stage2_tables(self, name: str, nbytes: int, where: str) -> list[int]:
        """Frames for stage-2 tables, by a part's `stage2_tables`. The hypervisor has the highest color, as in
        the planner, and tables with a specification the one below. Raises DoesNotFit."""
        count = 1 << len(self.space.llc_bits)
        if where in (CHIP, CHIP_CACHED):
            return self._on_chip(name, nbytes)
        if where == ANY:
            return self.pages(name, nbytes, range(count) if count > 1 else None)
        if count < 4:
            raise DoesNotFit(f"'{name}': stage-2 tables in '{where}' are only possible if parts have colors")
        return self.pages(name, nbytes, [count - 1 if where == POOL else count - 2])

    def _on_chip(self, name: str, nbytes: int) -> list[int]:
        ocm = self.platform.ocm
        first, end = self._on_chip_used, self._on_chip_used + nbytes
        if ocm is None or end > ocm.free_bytes:
            raise DoesNotFit(
                f"'{name}' needs {nbytes} bytes of on-chip memory, but '{self.platform.name}' has less left"
            )
        self._on_chip_used = end
        return list(range(ocm.at + first, ocm.at + end, PAGE_BYTES))

    def _is_contiguous(self, colors: Colors, banks: Colors) -> bool:
        return (colors is None and banks is None) or not self.space.bits

    def _chosen(self, name: str, what: str, colors: Colors, bits: Sequence[int]) -> frozenset[int] | None:
        """Colors of one mechanism; None: any. Raises DoesNotFit."""
        if colors is None:
            return None
        count = 1 << len(bits)
        if isinstance(colors, str):
            if colors not in HALVES or count < 2:
                raise DoesNotFit(f"'{name}': {what} '{colors}': a list, or one of {', '.join(HALVES)}")
            half = range(count // 2) if colors == HALVES[0] else range(count // 2, count)
            return frozenset(half)
        chosen = frozenset(colors)
        if not chosen or not all(0 <= color < count for color in chosen):
            raise DoesNotFit(f"'{name}': platform '{self.platform.name}' has {what} 0 to {count - 1}")
        return chosen
