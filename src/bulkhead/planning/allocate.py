# SPDX-License-Identifier: Apache-2.0
"""First-fit allocation of physical memory, by colors or contiguous (C2).

The planner has one `AllocatedMemory` per plan. Allocated memory is not given again; memory outside the given
ranges is never used. This module decides where memory is allocated, not for which owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bulkhead.geometry import PAGE_BYTES, ColorSpace

BLOCK_BYTES = 2 << 20

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class AllocatedPiece:
    """Memory of a segment: `bytes` in granules of the requested colors, from `pa` on."""

    pa: int
    bytes: int


@dataclass(frozen=True)
class Taken:
    """The pieces of one region, in order, with the number of maps and the bytes lost to fragmentation."""

    pieces: tuple[AllocatedPiece, ...]
    maps: int
    fragmented_bytes: int


class AllocatedMemory:
    """Free memory of a platform, in granules of a color space."""

    def __init__(
        self, space: ColorSpace, ranges: Iterable[tuple[int, int]], holes: Iterable[tuple[int, int]] = ()
    ) -> None:
        """`ranges` and `holes` are (pa, bytes). A granule that overlaps a hole is not free."""
        self.space = space
        self._blocks = [_Block(space, pa, nbytes) for pa, nbytes in _merged(ranges)]
        for pa, nbytes in holes:
            for block in self._blocks:
                block.punch(pa, nbytes)
        self.capacity = self._per_color()

    def capacity_of(self, colors: frozenset[int] | None) -> int:
        """Bytes of these colors that were free at the beginning. None: of all colors."""
        wanted = range(self.space.count) if colors is None else colors
        return int(sum(self.capacity[color] for color in wanted)) * self.space.granule

    def free_of(self, colors: frozenset[int] | None) -> int:
        """Bytes of these colors that are still free. None: of all colors."""
        free = self._per_color()
        wanted = range(self.space.count) if colors is None else colors
        return int(sum(free[color] for color in wanted)) * self.space.granule

    def copy(self) -> AllocatedMemory:
        """A copy with the same free memory; allocations from one do not change the other."""
        same = object.__new__(AllocatedMemory)
        same.space, same.capacity = self.space, self.capacity
        same._blocks = [block.copy() for block in self._blocks]
        return same

    def largest_free(self, colors: frozenset[int] | None) -> int:
        """Bytes of the largest region of these colors that could be allocated now. None: contiguous."""
        if colors is not None:
            return sum(block.whole_maps(colors) for block in self._blocks) * self.space.granule
        runs = (block.largest_run(max(1, BLOCK_BYTES // self.space.granule)) for block in self._blocks)
        return max(runs, default=0) * self.space.granule

    def take(
        self, nbytes: int, colors: frozenset[int] | None, ipa: int = 0, *, unbroken: bool = False
    ) -> Taken | None:
        """Allocates memory of these colors. `colors` None: contiguous, with the same alignment offset as
        `ipa`. Returns None if there is not enough."""
        if colors is None:
            return self.take_contiguous(nbytes, ipa)
        return self.take_colored(nbytes, colors, unbroken=unbroken)

    def take_colored(self, nbytes: int, colors: frozenset[int], *, unbroken: bool = False) -> Taken | None:
        """Allocates whole maps, first-fit; None if the colors do not have enough. `unbroken`: in one
        piece."""
        need = -(-nbytes // self.space.granule)
        picks: list[tuple[_Block, Ints, _Maps]] = []
        left = need
        for block in self._blocks:
            maps = block.maps(colors)
            picked = _stretch(maps, left) if unbroken else _first(maps, left)
            if unbroken and picked.size and int(maps.length[picked].sum()) < need:
                continue
            if picked.size:
                picks.append((block, picked, maps))
                left -= int(maps.length[picked].sum())
            if left <= 0:
                return self._commit(picks, nbytes, need)
        return None

    def take_contiguous(self, nbytes: int, ipa: int = 0) -> Taken | None:
        """Allocates one contiguous range; None if there is none. From 2 MiB on, `ipa` and the physical
        address have the same offset within 2 MiB, so that block entries can map the range."""
        align = BLOCK_BYTES if nbytes >= BLOCK_BYTES else max(self.space.granule, PAGE_BYTES)
        for block in self._blocks:
            pa = block.take_run(nbytes, align, ipa % align)
            if pa is not None:
                return Taken((AllocatedPiece(pa, nbytes),), 1, 0)
        return None

    def largest_free_run(self) -> int:
        """Bytes of the largest contiguous free range."""
        return max((block.largest_run() for block in self._blocks), default=0) * self.space.granule

    def take_granule(self, colors: frozenset[int]) -> int | None:
        """Allocates a single granule of these colors, even from a map that is not completely free. Returns
        its address."""
        for block in self._blocks:
            found = np.flatnonzero(block.free & block.has(colors))
            if found.size:
                block.free[found[0]] = False
                return block.address(int(found[0]))
        return None

    def give_granule(self, pa: int) -> None:
        for block in self._blocks:
            index = (pa - block.base) // self.space.granule
            if 0 <= index < block.free.size:
                block.free[index] = True

    def _per_color(self) -> Ints:
        total = np.zeros(self.space.count, dtype=np.int64)
        for block in self._blocks:
            total += np.bincount(block.color[block.free], minlength=self.space.count)
        return total

    def _commit(self, picks: Sequence[tuple[_Block, Ints, _Maps]], nbytes: int, need: int) -> Taken:
        """Mark the picked maps as used and return them as pieces."""
        pieces: list[AllocatedPiece] = []
        count = used = offered = 0
        for block, picked, maps in picks:
            breaks = np.flatnonzero(np.diff(picked) != 1) + 1
            for group in np.split(picked, breaks):
                granules = int(maps.length[group].sum())
                offered += granules
                granules = min(granules, need - used)
                block.use(maps, group, granules)
                pa, done = block.address(int(maps.start[group[0]])), used * self.space.granule
                pieces.append(AllocatedPiece(pa, min(granules * self.space.granule, nbytes - done)))
                used += granules
                count += group.size
        return Taken(tuple(pieces), count, offered * self.space.granule - nbytes)


@dataclass(frozen=True)
class _Maps:
    """Maps in a block: runs of granules with contiguous colors; their start, their length, and whether all is
    free."""

    start: Ints
    length: Ints
    whole: Bools


class _Block:
    """A contiguous range of RAM. Its arrays extend to whole color periods; granules outside the RAM are not
    free."""

    def __init__(self, space: ColorSpace, pa: int, nbytes: int) -> None:
        granule, period = space.granule, space.period
        self.granule = granule
        self.base = pa - pa % period
        end = -(-(pa + nbytes) // period) * period
        numbers = np.arange((end - self.base) // granule, dtype=np.uint64)
        self.color = space.colors_of(np.uint64(self.base) + numbers * np.uint64(granule)).astype(np.uint8)
        self.free: Bools = np.zeros(numbers.size, dtype=np.bool_)
        self.free[-(-(pa - self.base) // granule) : (pa + nbytes - self.base) // granule] = True

    def address(self, index: int) -> int:
        return self.base + index * self.granule

    def punch(self, pa: int, nbytes: int) -> None:
        low = max(0, (pa - self.base) // self.granule)
        high = max(0, -(-(pa + nbytes - self.base) // self.granule))
        self.free[low:high] = False

    def has(self, colors: frozenset[int]) -> Bools:
        allowed = np.zeros(256, dtype=np.bool_)
        allowed[list(colors)] = True
        found: Bools = allowed[self.color]
        return found

    def maps(self, colors: frozenset[int]) -> _Maps:
        """All maps of these colors: contiguous colors form one map, and each period begins a new map."""
        allowed = self.has(colors)
        numbers = np.flatnonzero(allowed).astype(np.int64)
        color = self.color[numbers].astype(np.int64)
        begins = np.ones(numbers.size, dtype=np.bool_)
        begins[1:] = (np.diff(numbers) != 1) | (np.diff(color) != 1)
        first = np.flatnonzero(begins)
        length = np.diff(np.append(first, numbers.size)).astype(np.int64)
        start = numbers[first]
        usable = np.concatenate(([0], np.cumsum(self.free & allowed, dtype=np.int64)))
        return _Maps(start, length, usable[start + length] - usable[start] == length)

    def use(self, maps: _Maps, group: Ints, granules: int) -> None:
        start, length = maps.start[group], maps.length[group]
        before = np.cumsum(length) - length
        index = np.repeat(start - before, length) + np.arange(int(length.sum()), dtype=np.int64)
        self.free[index[:granules]] = False

    def take_run(self, nbytes: int, align: int, offset: int) -> int | None:
        granules = -(-nbytes // self.granule)
        for low, high in self._runs():
            pa = self.address(low)
            pa += (offset - pa) % align
            index = (pa - self.base) // self.granule
            if index + granules <= high:
                self.free[index : index + granules] = False
                return pa
        return None

    def largest_run(self, align: int = 1) -> int:
        """Granules of the largest free run that begins at an address aligned to `align` granules."""
        first = self.base // self.granule
        runs = ((low + -(first + low) % align, high) for low, high in self._runs())
        return max((high - low for low, high in runs), default=0)

    def whole_maps(self, colors: frozenset[int]) -> int:
        """Granules in completely free maps of these colors."""
        maps = self.maps(colors)
        return int(maps.length[maps.whole].sum())

    def copy(self) -> _Block:
        same = object.__new__(_Block)
        same.granule, same.base, same.color = self.granule, self.base, self.color
        same.free = self.free.copy()
        return same

    def _runs(self) -> list[tuple[int, int]]:
        edges = np.flatnonzero(np.diff(np.concatenate(([0], self.free.astype(np.int8), [0]))))
        return [(int(low), int(high)) for low, high in zip(edges[::2], edges[1::2], strict=True)]


def _first(maps: _Maps, need: int) -> Ints:
    """The first free maps with at least `need` granules together, or all if there are not enough."""
    whole = np.flatnonzero(maps.whole).astype(np.int64)
    reach = np.cumsum(maps.length[whole])
    picked: Ints = whole[: int(np.searchsorted(reach, need)) + 1]
    return picked


def _stretch(maps: _Maps, need: int) -> Ints:
    """The first consecutive free maps with at least `need` granules together; empty if there are none."""
    whole = np.flatnonzero(maps.whole).astype(np.int64)
    for group in np.split(whole, np.flatnonzero(np.diff(whole) != 1) + 1):
        if int(maps.length[group].sum()) >= need:
            reach = np.cumsum(maps.length[group])
            stretch: Ints = group[: int(np.searchsorted(reach, need)) + 1]
            return stretch
    return whole[:0]


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in ascending order, with adjacent ones merged."""
    merged: list[tuple[int, int]] = []
    for pa, nbytes in sorted(ranges):
        if merged and merged[-1][0] + merged[-1][1] == pa:
            merged[-1] = (merged[-1][0], merged[-1][1] + nbytes)
        else:
            merged.append((pa, nbytes))
    return merged
