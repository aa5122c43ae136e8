# SPDX-License-Identifier: Apache-2.0
"""Physical address bits that select a color, from the shape of caches and the DRAM mapping (C1, C3).

Used by the planner, the builder and the evidence; the hypervisor gets the result as one mask. Nothing is
guessed: an index function that is not known to be plain address bits is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bulkhead.errors import InvalidInput

PAGE_BYTES = 4096
PAGE_BIT = 12
MAX_COLOR_BITS = 8
MAX_COLOR_BIT = 33  # highest address bit that can be part of a color: bounds the planner's tables

Frames = NDArray[np.uint64]


class GeometryError(InvalidInput):
    """The description does not determine where an address falls in a cache or in DRAM."""


@dataclass(frozen=True)
class CacheShape:
    """Properties of a cache that coloring needs. `index` is "plain" if the set index is address bits."""

    bytes: int
    ways: int
    line: int
    index: str = "plain"

    def index_bits(self) -> tuple[int, ...]:
        """Address bits that select the set, ascending."""
        if self.index != "plain":
            raise GeometryError(f"the set index is '{self.index}': only plain address bits can be colored")
        if self.ways <= 0 or self.line <= 0 or self.bytes <= 0 or self.bytes % (self.ways * self.line):
            raise GeometryError(
                f"{self.bytes} bytes cannot be divided into {self.ways} ways of {self.line}-byte lines"
            )
        sets = self.bytes // (self.ways * self.line)
        if sets & (sets - 1) or self.line & (self.line - 1):
            raise GeometryError(f"{sets} sets of {self.line}-byte lines: both must be powers of two")
        low = self.line.bit_length() - 1
        return tuple(range(low, low + sets.bit_length() - 1))


@dataclass(frozen=True)
class ColorSpace:
    """The combined colors of LLC and DRAM banks.

    The color of an address is the address bits of `bits` extracted in ascending order. A granule is the
    largest run of addresses of one color, 2^(lowest color bit) bytes. `bits` = 0: memory is not colored.
    """

    bits: int
    granule: int
    count: int
    llc_bits: tuple[int, ...]
    bank_bits: tuple[int, ...]

    @property
    def positions(self) -> tuple[int, ...]:
        """Color bits, ascending."""
        return _positions(self.bits)

    @property
    def period(self) -> int:
        """Bytes after which the pattern of colors repeats."""
        return 1 << self.bits.bit_length() if self.bits else self.granule

    def color_of(self, pa: int) -> int:
        return _extract(pa, self.positions)

    def colors_of(self, pa: Frames) -> NDArray[np.int64]:
        """`color_of` for an array of addresses."""
        colors = np.zeros(pa.shape, dtype=np.int64)
        for place, bit in enumerate(self.positions):
            colors |= ((pa >> np.uint64(bit)) & np.uint64(1)).astype(np.int64) << place
        return colors

    def llc_color_of(self, color: int) -> int:
        """The LLC's part of a combined color."""
        return self._part(color, self.llc_bits)

    def bank_color_of(self, color: int) -> int:
        """The DRAM banks' part of a combined color."""
        return self._part(color, self.bank_bits)

    def combine(self, llc: Iterable[int] | None, banks: Iterable[int] | None) -> frozenset[int]:
        """Combined colors whose LLC part is in `llc` and whose bank part is in `banks` (None: any).

        Bits that both mechanisms use must agree, so the result can be smaller than the product.
        """
        llc_set = None if llc is None else frozenset(llc)
        bank_set = None if banks is None else frozenset(banks)
        return frozenset(
            color
            for color in range(self.count)
            if (llc_set is None or self.llc_color_of(color) in llc_set)
            and (bank_set is None or self.bank_color_of(color) in bank_set)
        )

    def frames(self, pa: int, nbytes: int, colors: frozenset[int] | None) -> Frames:
        """The 4 KiB frames that `nbytes` occupy from `pa` on, in address order, in granules of `colors`.

        None means contiguous. `pa` must be a granule of the set (see manifest_segment).
        """
        pages = -(-nbytes // PAGE_BYTES)
        if colors is None or not self.bits:
            return np.uint64(pa) + np.arange(pages, dtype=np.uint64) * np.uint64(PAGE_BYTES)
        per_granule = self.granule // PAGE_BYTES
        granules = self.granules(pa, -(-pages // per_granule), colors)
        within = np.arange(per_granule, dtype=np.uint64) * np.uint64(PAGE_BYTES)
        return (granules[:, None] + within[None, :]).reshape(-1)[:pages]

    def granules(self, pa: int, count: int, colors: frozenset[int]) -> Frames:
        """Addresses of the first `count` granules of `colors` at or after `pa`."""
        pattern = _pattern(self.bits, self.granule, colors)
        first = int(np.searchsorted(pattern, -(-(pa % self.period) // self.granule)))
        index = first + np.arange(count, dtype=np.int64)
        base = pa - pa % self.period
        offset = (index // len(pattern)) * self.period + pattern[index % len(pattern)] * self.granule
        return np.uint64(base) + offset.astype(np.uint64)

    def _part(self, color: int, bits: tuple[int, ...]) -> int:
        place_of = {bit: place for place, bit in enumerate(self.positions)}
        return sum(((color >> place_of[bit]) & 1) << out for out, bit in enumerate(bits))


UNCOLORED = ColorSpace(bits=0, granule=PAGE_BYTES, count=1, llc_bits=(), bank_bits=())


def llc_color_bits(llc: CacheShape, l1d: CacheShape | None, *, color_l1: bool = False) -> tuple[int, ...]:
    """LLC set-index bits at or above the page offset, minus the L1 data cache's unless `color_l1`."""
    bits = [bit for bit in llc.index_bits() if bit >= PAGE_BIT]
    if l1d is not None and not color_l1:
        taken = set(l1d.index_bits())
        bits = [bit for bit in bits if bit not in taken]
    return tuple(bits)


def bank_color_bits(mapping: Iterable[object]) -> tuple[int, ...]:
    """DRAM bank bits that software can choose, ascending. Each entry must be one plain address bit."""
    bits: set[int] = set()
    for entry in mapping:
        if isinstance(entry, bool) or not isinstance(entry, int):
            raise GeometryError(
                f"bank bit {entry!r} is a hash of several address bits: only plain bits can be colored"
            )
        if not 0 <= entry <= MAX_COLOR_BIT:
            raise GeometryError(f"bank bit {entry} is outside 0..{MAX_COLOR_BIT}")
        bits.add(entry)
    return tuple(sorted(bit for bit in bits if bit >= PAGE_BIT))


def color_space(llc_bits: Iterable[int] = (), bank_bits: Iterable[int] = ()) -> ColorSpace:
    """The combined space. Bits that are in both are one bit of it."""
    llc, banks = tuple(sorted(set(llc_bits))), tuple(sorted(set(bank_bits)))
    both = sorted(set(llc) | set(banks))
    if not both:
        return UNCOLORED
    if both[0] < PAGE_BIT:
        raise GeometryError(f"address bit {both[0]} is inside a page, so a mapping cannot choose it")
    if both[-1] > MAX_COLOR_BIT:
        raise GeometryError(f"address bit {both[-1]} is above bit {MAX_COLOR_BIT}")
    if len(both) > MAX_COLOR_BITS:
        raise GeometryError(
            f"{len(both)} color bits are too many: at most {MAX_COLOR_BITS} ({1 << MAX_COLOR_BITS} colors)"
        )
    return ColorSpace(
        bits=sum(1 << bit for bit in both),
        granule=1 << both[0],
        count=1 << len(both),
        llc_bits=llc,
        bank_bits=banks,
    )


def runs(colors: Iterable[int]) -> list[range]:
    """Maximal runs of contiguous colors, ascending."""
    found: list[range] = []
    for color in sorted(set(colors)):
        if found and found[-1].stop == color:
            found[-1] = range(found[-1].start, color + 1)
        else:
            found.append(range(color, color + 1))
    return found


def _positions(bits: int) -> tuple[int, ...]:
    return tuple(bit for bit in range(bits.bit_length()) if bits >> bit & 1)


def _extract(value: int, positions: tuple[int, ...]) -> int:
    return sum(((value >> bit) & 1) << place for place, bit in enumerate(positions))


@lru_cache(maxsize=64)
def _pattern(bits: int, granule: int, colors: frozenset[int]) -> NDArray[np.int64]:
    """Granule numbers within one period whose color is in the set."""
    numbers = np.arange((1 << bits.bit_length()) // granule, dtype=np.int64)
    low = granule.bit_length() - 1
    found = np.zeros(numbers.shape, dtype=np.int64)
    for place, bit in enumerate(_positions(bits)):
        found |= ((numbers >> (bit - low)) & 1) << place
    wanted = np.zeros(1 << len(_positions(bits)), dtype=bool)
    wanted[list(colors)] = True
    pattern: NDArray[np.int64] = np.flatnonzero(wanted[found]).astype(np.int64)
    return pattern
