# SPDX-License-Identifier: Apache-2.0
"""Guest-physical memory for the image loaders: regions, and pieces of data placed in them.

Made from a domain's plan; used by the loaders of programs and kernels. There are no physical addresses here:
the manifest has the frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bulkhead.geometry import PAGE_BYTES
from bulkhead.package.errors import PackageError
from bulkhead.planning.model import DomainPlan, Segment

COPY_BYTES = 16  # ipa and bytes of manifest_image are multiples of it


@dataclass(frozen=True)
class LoadRegion:
    """[start, start + bytes) of guest-physical memory."""

    start: int
    bytes: int

    @property
    def end(self) -> int:
        return self.start + self.bytes

    def holds(self, start: int, nbytes: int) -> bool:
        return self.start <= start and start + nbytes <= self.end

    def __str__(self) -> str:
        return f"[{self.start:#x}, {self.end:#x})"


@dataclass(frozen=True)
class LoadPiece:
    """Data that must be at `ipa` when the domain starts."""

    name: str  # for messages: "segment 0", "kernel", "device tree"
    ipa: int
    data: bytes
    memory_bytes: int  # memory that it takes, at least len(data)

    @property
    def region(self) -> LoadRegion:
        return LoadRegion(self.ipa, self.memory_bytes)


@dataclass(frozen=True)
class LoadedMemory:
    """A domain's images in memory: the pieces to copy, and the start of its first VCPU."""

    pieces: tuple[LoadPiece, ...]
    entry_ipa: int
    device_tree_ipa: int
    device_tree: bytes


def regions_of(domain: DomainPlan) -> tuple[LoadRegion, ...]:
    """The domain's memory for images: without flash and the pool of its socket device, in ascending order;
    adjacent segments are merged."""
    return _merged(_region(one) for one in domain.segments if not one.read_only and not one.socket_pool)


def socket_pool_of(domain: DomainPlan) -> LoadRegion | None:
    """The pool of the domain's socket device; None: it has none."""
    return next(iter(_merged(_region(one) for one in domain.segments if one.socket_pool)), None)


def ram_of(memory: Iterable[LoadRegion], pool: LoadRegion | None) -> tuple[LoadRegion, ...]:
    """All RAM of the guest: memory for images, and the pool."""
    return _merged(memory if pool is None else (*memory, pool))


def _region(segment: Segment) -> LoadRegion:
    return LoadRegion(segment.ipa, segment.bytes)


def _merged(regions: Iterable[LoadRegion]) -> tuple[LoadRegion, ...]:
    merged: list[LoadRegion] = []
    for region in sorted(regions, key=lambda one: one.start):
        if merged and merged[-1].end == region.start:
            merged[-1] = LoadRegion(merged[-1].start, merged[-1].bytes + region.bytes)
        else:
            merged.append(region)
    return tuple(merged)


def check_pieces(pieces: Sequence[LoadPiece], memory: Iterable[LoadRegion]) -> None:
    """Checks that every piece lies in one region and that no pieces overlap. Raises PackageError."""
    regions = tuple(memory)
    reasons = [
        f"{piece.name} at {piece.region} lies outside the domain's memory ({', '.join(map(str, regions))})"
        for piece in pieces
        if not any(region.holds(piece.ipa, piece.memory_bytes) for region in regions)
    ]
    ordered = sorted((p for p in pieces if p.memory_bytes), key=lambda piece: piece.ipa)
    for before, after in pairwise(ordered):
        if before.region.end > after.ipa:
            reasons.append(f"{before.name} at {before.region} overlaps {after.name} at {after.region}")
    if reasons:
        raise PackageError(*reasons)


def copied(pieces: Iterable[LoadPiece]) -> tuple[LoadPiece, ...]:
    """The pieces as the hypervisor copies them: whole 16-byte blocks, each block in one piece only.

    Zeros fill the first and the last block; pieces that share a block are merged.
    """
    result: list[LoadPiece] = []
    for piece in sorted((p for p in pieces if p.data), key=lambda p: p.ipa):
        start = align_down(piece.ipa, COPY_BYTES)
        end = align_up(piece.ipa + len(piece.data), COPY_BYTES)
        data = bytes(piece.ipa - start) + piece.data
        name = piece.name
        if result and result[-1].ipa + len(result[-1].data) > start:
            before = result.pop()
            name, joined = f"{before.name} and {name}", bytearray(before.data)
            joined[piece.ipa - before.ipa :] = piece.data
            start, data = before.ipa, bytes(joined)
        data = data.ljust(end - start, b"\0")
        result.append(LoadPiece(name, start, data, len(data)))
    return tuple(result)


def align_up(value: int, alignment: int = PAGE_BYTES) -> int:
    return -(-value // alignment) * alignment


def align_down(value: int, alignment: int = PAGE_BYTES) -> int:
    return value // alignment * alignment
