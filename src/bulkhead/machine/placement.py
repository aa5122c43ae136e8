# SPDX-License-Identifier: Apache-2.0
"""Where the memory of what runs on the machine lies: the planner's arithmetic, for parts instead of domains.

The same colors, first-fit allocation and frames as for a system that boots (planning/); only that nobody
needs room for a hypervisor here.
"""

from __future__ import annotations

from collections.abc import Sequence

from bulkhead.config.platform import Platform
from bulkhead.geometry import UNCOLORED, ColorSpace, color_space
from bulkhead.planning.allocate import Memory
from bulkhead.planning.model import Segment
from bulkhead.planning.space import platform_llc_bits


class DoesNotFit(ValueError):
    """A part asks for more memory than its colors hold."""


class Placement:
    """Memory of one machine, given out in the order of asking."""

    def __init__(self, platform: Platform, *, colored: bool) -> None:
        self.platform = platform
        self.space: ColorSpace = (
            color_space(platform_llc_bits(platform, color_l1=False)) if colored else UNCOLORED
        )
        self._memory = Memory(self.space, ((ram.at, ram.size) for ram in platform.memory))

    def pages(self, name: str, nbytes: int, colors: Sequence[int] | None) -> list[int]:
        """Physical address of each 4 KiB page of a part, in the order in which it sees them."""
        if colors is None or not self.space.bits:
            taken = self._memory.take_contiguous(nbytes)
            wanted = None
        else:
            wanted = frozenset(colors)
            if not wanted or not all(0 <= color < self.space.count for color in wanted):
                raise DoesNotFit(
                    f"'{name}': platform '{self.platform.name}' has colors 0 to {self.space.count - 1}"
                )
            taken = self._memory.take_colored(nbytes, wanted)
        if taken is None:
            raise DoesNotFit(f"'{name}' asks for {nbytes} bytes, more than is left of its memory")
        found: list[int] = []
        for piece in taken.pieces:
            found += (int(pa) for pa in Segment(0, piece.bytes, piece.pa, wanted).pages(self.space))
        return found
