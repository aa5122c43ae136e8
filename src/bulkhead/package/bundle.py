# SPDX-License-Identifier: Apache-2.0
"""The boot package: hypervisor, manifest and images in one load area, as ELF file and as raw image.

Called by `build` with all data placed in guest-physical memory. Decides the order in the load area and which
images are loaded directly to their memory. Equal images are stored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bulkhead.config.problem import Finding
from bulkhead.package.elfout import ElfChunk, write_elf
from bulkhead.package.errors import PackageError
from bulkhead.package.hypervisor import HypervisorImage, patched
from bulkhead.package.manifest import PlacedPiece, pack_manifest
from bulkhead.package.memory import LoadedMemory, LoadPiece, align_up, copied
from bulkhead.planning.budgets import CountedEvent
from bulkhead.planning.model import DomainPlan, Plan
from bulkhead.schema import Layout


@dataclass(frozen=True)
class Package:
    manifest: bytes
    manifest_offset: int  # relative to the load address
    flat: bytes  # contents of the load area from its start
    elf: bytes
    in_place: bool  # some images are only in the ELF file, so `flat` does not boot


@dataclass
class _LoadArea:
    """Data at page-aligned offsets, in the order in which they are added."""

    size: int
    data: list[bytes] = field(default_factory=list)
    offset_of: dict[bytes, int] = field(default_factory=dict)

    def add(self, data: bytes) -> int:
        if data not in self.offset_of:
            self.offset_of[data] = self.size
            self.data.append(data)
            self.size = align_up(self.size + len(data))
        return self.offset_of[data]


@dataclass(frozen=True)
class LaidOut:
    """The layout of a package, before its bytes are joined."""

    manifest: bytes
    manifest_offset: int
    package_bytes: int
    data: tuple[bytes, ...]  # contents of the load area after the manifest
    in_place: tuple[tuple[DomainPlan, tuple[LoadPiece, ...]], ...]  # images outside the load area


def lay_out(
    plan: Plan,
    loaded: Sequence[LoadedMemory],
    hypervisor: HypervisorImage,
    layout: Layout,
    *,
    run_for_ns: int = 0,
    in_place: bool = True,
    event: CountedEvent | None = None,
    emulated: bool = False,
) -> LaidOut:
    """Decides all places and packs the manifest. Raises PackageError if it does not fit.

    With `in_place`, images of uncolored domains are loaded directly to their memory. `event`: the event that
    budgets count. `emulated`: for the emulator.
    """
    pieces = [copied(images.pieces) for images in loaded]
    at_home = [in_place and _can_stay(plan, domain) for domain in plan.domains]
    manifest_offset = align_up(len(hypervisor.flat))

    def manifest_with(placed: list[list[PlacedPiece]]) -> bytes:
        return pack_manifest(
            plan, loaded, placed, layout, run_for_ns=run_for_ns, event=event, emulated=emulated
        )

    # The manifest's size depends on the number of images only: pack it once to learn the size, then with the
    # places.
    draft = manifest_with([[PlacedPiece(p.ipa, len(p.data), 0) for p in own] for own in pieces])
    area = _LoadArea(align_up(manifest_offset + len(draft)))
    placed = [
        [PlacedPiece(p.ipa, len(p.data), 0 if home else area.add(p.data), in_place=home) for p in own]
        for own, home in zip(pieces, at_home, strict=True)
    ]
    manifest = manifest_with(placed)
    _check_sizes(plan, hypervisor, area.size, len(manifest))
    stay = tuple(
        (domain, own) for domain, own, home in zip(plan.domains, pieces, at_home, strict=True) if home
    )
    return LaidOut(manifest, manifest_offset, area.size, tuple(area.data), stay)


def bundle(
    plan: Plan,
    loaded: Sequence[LoadedMemory],
    hypervisor: HypervisorImage,
    layout: Layout,
    *,
    run_for_ns: int = 0,
    in_place: bool = True,
    event: CountedEvent | None = None,
    emulated: bool = False,
) -> Package:
    """The complete package with the layout of lay_out()."""
    found = lay_out(
        plan,
        loaded,
        hypervisor,
        layout,
        run_for_ns=run_for_ns,
        in_place=in_place,
        event=event,
        emulated=emulated,
    )
    place = (found.manifest_offset, len(found.manifest))
    head = patched(hypervisor, layout, manifest=place, package_bytes=found.package_bytes)
    flat = b"".join(_padded(part) for part in (head, found.manifest, *found.data))
    chunks = [ElfChunk(plan.load_area[0], flat)]
    for domain, pieces in found.in_place:
        chunks += _chunks_at_home(domain, pieces)
    elf = write_elf(plan.load_area[0], chunks)
    return Package(found.manifest, found.manifest_offset, flat, elf, bool(found.in_place))


def _can_stay(plan: Plan, domain: DomainPlan) -> bool:
    """Whether images can be loaded directly: the memory is contiguous, and the domain never restarts, since a
    restart needs an unchanged source."""
    configured = plan.system.domain(domain.name)
    restarts = configured is not None and configured.restart != "never"
    return not restarts and all(segment.colors is None for segment in domain.segments)


def _chunks_at_home(domain: DomainPlan, pieces: Sequence[LoadPiece]) -> list[ElfChunk]:
    """The pieces as ELF chunks at their physical addresses."""
    chunks: list[ElfChunk] = []
    for piece in pieces:
        end = piece.ipa + len(piece.data)
        for segment in domain.segments:
            start, stop = max(piece.ipa, segment.ipa), min(end, segment.ipa + segment.bytes)
            if start < stop:
                data = piece.data[start - piece.ipa : stop - piece.ipa]
                chunks.append(ElfChunk(segment.pa + start - segment.ipa, data))
    return chunks


def _check_sizes(plan: Plan, hypervisor: HypervisorImage, package_bytes: int, manifest_bytes: int) -> None:
    pa, area_bytes = plan.load_area
    if package_bytes > area_bytes:
        cause = (
            f"the package has {package_bytes} bytes (hypervisor {len(hypervisor.flat)}, manifest"
            f" {manifest_bytes}, the rest images), but the platform's load area at {pa:#x} has only "
            f"{area_bytes}"
        )
        raise PackageError(Finding(("platform",), "out-of-range", cause))
    needed = align_up(len(hypervisor.flat)) + align_up(manifest_bytes)
    if needed > plan.pool.bytes:
        cause = (
            f"the hypervisor's image and manifest need {needed} bytes, but its memory has {plan.pool.bytes}"
        )
        raise PackageError(Finding(("hypervisor", "memory"), "out-of-range", cause, f"at least {needed} B"))


def _padded(data: bytes) -> bytes:
    return data.ljust(align_up(len(data)), b"\0")
