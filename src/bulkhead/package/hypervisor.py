# SPDX-License-Identifier: Apache-2.0
"""The hypervisor's ELF file as the flat image at the start of the package, with its two patched headers.

At offset 0 is an arm64 Image header, whose first instruction branches to the code; at offset 64 is the
package descriptor. `bundle` patches these fields; the rest of the image stays as it was linked.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from bulkhead.geometry import PAGE_BYTES
from bulkhead.package.elf import ElfSegment, Hosted, read_elf
from bulkhead.package.errors import PackageError, prefixed
from bulkhead.schema import Layout

_IMAGE_MAGIC = b"ARM\x64"
_IMAGE_MAGIC_OFFSET = 56
_IMAGE_SIZE_OFFSET = 16
_STATUS_SYMBOL = "status_pages"
_LARGEST_BYTES = 16 << 20  # far above any hypervisor; limits the output of a wrong link script


@dataclass(frozen=True)
class HypervisorImage:
    """A hypervisor's flat image."""

    flat: bytes  # all that the linker placed, zeroed data included; the hypervisor copies it as a whole
    status_offset: int  # offset of statistics page 0 from the link base


def read_hypervisor(path: Path, layout: Layout, cores: int, *, hosted: bool = False) -> HypervisorImage:
    """Flattens and checks the hypervisor's ELF file. Raises PackageError with its path."""
    with prefixed(f"hypervisor {path}"):
        if not path.is_file():
            boards = sorted(built.parent.name for built in path.parent.parent.glob(f"*/{path.name}"))
            if boards:
                known = f"boards with support are {', '.join(boards)} (docs/guide/adding-a-board.md)"
                raise PackageError(f"does not exist: {known}")
            raise PackageError("does not exist: build the preset `target` first")
        program = read_elf(path, symbols=True, hosted=Hosted(0) if hosted else None)
        base = min(segment.virtual for segment in program.segments)
        size = max(s.virtual + s.memory_bytes for s in program.segments) - base
        if size > _LARGEST_BYTES:
            raise PackageError(
                f"spans {size:#x} bytes of addresses, and more than {_LARGEST_BYTES:#x} cannot be right"
            )
        flat = _flatten(program.segments, base)
        _check_headers(flat, layout)
        status = program.symbols.get(_STATUS_SYMBOL)
        if status is None:
            raise PackageError(f"has no symbol '{_STATUS_SYMBOL}'")
        offset = status - base
        needed = (1 + cores) * PAGE_BYTES
        if offset % PAGE_BYTES or not 0 <= offset <= len(flat) - needed:
            raise PackageError(
                f"'{_STATUS_SYMBOL}' at offset {offset:#x} is not {1 + cores} whole pages"
                f" of the image's {len(flat):#x} bytes"
            )
    return HypervisorImage(flat, offset)


def patched(
    image: HypervisorImage, layout: Layout, *, manifest: tuple[int, int], package_bytes: int
) -> bytes:
    """The flat image with both headers filled in; `manifest` is its (offset, bytes)."""
    descriptor = layout.pack(
        "package_descriptor",
        {
            "magic": layout.constant("package_magic"),
            "version": layout.constant("package_version"),
            "manifest_offset": manifest[0],
            "manifest_bytes": manifest[1],
            "package_bytes": package_bytes,
        },
    )
    flat = bytearray(image.flat)
    place = layout.constant("package_descriptor_offset")
    flat[place : place + len(descriptor)] = descriptor
    struct.pack_into("<Q", flat, _IMAGE_SIZE_OFFSET, package_bytes)
    return bytes(flat)


def _flatten(segments: tuple[ElfSegment, ...], base: int) -> bytes:
    flat = bytearray()
    for segment in sorted(segments, key=lambda s: s.virtual):
        offset = segment.virtual - base
        if offset < len(flat):
            raise PackageError(f"segment {segment.index} at {segment.virtual:#x} overlaps the one before")
        flat += bytes(offset - len(flat))
        flat += segment.data.ljust(segment.memory_bytes, b"\0")
    return bytes(flat)


def _check_headers(flat: bytes, layout: Layout) -> None:
    place = layout.constant("package_descriptor_offset")
    if len(flat) < place + layout.size("package_descriptor"):
        raise PackageError(f"has {len(flat)} bytes, too few for its headers")
    magic = flat[_IMAGE_MAGIC_OFFSET : _IMAGE_MAGIC_OFFSET + 4]
    if magic != _IMAGE_MAGIC:
        raise PackageError(f"has no arm64 Image header (magic {magic.hex()} at offset {_IMAGE_MAGIC_OFFSET})")
    descriptor = layout.unpack("package_descriptor", flat, place)
    for field in ("magic", "version"):
        wanted = layout.constant(f"package_{field}")
        if descriptor[field] != wanted:
            raise PackageError(f"package descriptor: {field} is {descriptor[field]:#x}, not {wanted:#x}")
