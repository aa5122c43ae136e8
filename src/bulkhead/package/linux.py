# SPDX-License-Identifier: Apache-2.0
"""Places a Linux kernel according to the arm64 boot protocol (Documentation/arch/arm64/booting.rst).

Called by `images` for domains with `image: { kernel: ... }`. In the first region, from low to high addresses:
the kernel with all memory that it requires, the device tree in a 2 MiB block of its own, the initial RAM
disk.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bulkhead.images.unpack import UnpackError, unpacked, zboot_payload
from bulkhead.package.errors import PackageError, prefixed
from bulkhead.package.files import MAX_IMAGE_BYTES, read_image
from bulkhead.package.memory import LoadedMemory, LoadPiece, LoadRegion, align_up, check_pieces

BLOCK_BYTES = 2 << 20  # alignment of the kernel's base, and the largest device tree
_INSTRUCTION_BYTES = 4  # an Image starts with an instruction
_HEADER = struct.Struct("<8xQQQ24x4s4x")  # text_offset, image_size, flags, magic
_MAGIC = b"ARM\x64"
_FLAG_BIG_ENDIAN = 1

MakeDeviceTree = Callable[[tuple[int, int] | None], bytes]
"""Takes the RAM disk's (start, end), or None without one; returns the device tree that announces it."""


@dataclass(frozen=True)
class Kernel:
    """A decompressed arm64 Image."""

    data: bytes
    text_offset: int  # from a base at a multiple of 2 MiB; only the memory limits it
    image_bytes: int  # size in memory, including what the kernel zeroes itself


def parse_kernel(content: bytes) -> Kernel:
    """The kernel in `content`: an Image, plain or compressed, or an EFI image that decompresses itself.
    Raises PackageError."""
    try:
        content = unpacked(zboot_payload(content) or content, MAX_IMAGE_BYTES)
    except UnpackError as error:
        raise PackageError(str(error)) from error
    if len(content) < _HEADER.size:
        raise PackageError(f"is not an arm64 Image: it has {len(content)} bytes, less than the header")
    text_offset, image_bytes, flags, magic = _HEADER.unpack_from(content)
    if magic != _MAGIC:
        raise PackageError(
            f"is not an arm64 Image: its magic is {magic.hex()} at offset 56 instead of {_MAGIC.hex()}"
        )
    if flags & _FLAG_BIG_ENDIAN:
        raise PackageError("is a big-endian kernel")
    if image_bytes == 0:
        raise PackageError(
            "does not state how much memory it needs (its image_size is 0: a kernel older than 3.17)"
        )
    if text_offset % _INSTRUCTION_BYTES:
        raise PackageError(f"text_offset {text_offset:#x} is not a multiple of {_INSTRUCTION_BYTES}")
    return Kernel(content, text_offset, max(image_bytes, len(content)))


def load_linux(
    kernel_path: Path,
    initrd: bytes | None,
    memory: Sequence[LoadRegion],
    make_device_tree: MakeDeviceTree,
    tree_at: int | None = None,
) -> LoadedMemory:
    """Places kernel, device tree and RAM disk in `memory[0]`, the tree at `tree_at` if given. Raises
    PackageError without the domain's name."""
    with prefixed(str(kernel_path)):
        kernel = parse_kernel(read_image(kernel_path))
    region = memory[0]
    kernel_ipa = align_up(region.start, BLOCK_BYTES) + kernel.text_offset
    tree_ipa = align_up(kernel_ipa + kernel.image_bytes, BLOCK_BYTES)
    initrd_ipa = tree_ipa + BLOCK_BYTES
    end = initrd_ipa + len(initrd or b"")
    if end > region.end:
        raise PackageError(
            f"needs {end - region.start:#x} bytes from {region.start:#x} on (kernel {kernel.image_bytes:#x}"
            f" at {kernel_ipa:#x}, device tree at {tree_ipa:#x}, RAM disk {len(initrd or b''):#x} at "
            f"{initrd_ipa:#x}), but its first region has {region.bytes:#x}"
        )
    tree = make_device_tree((initrd_ipa, end) if initrd is not None else None)
    if len(tree) > BLOCK_BYTES:
        raise PackageError(f"the device tree has {len(tree)} bytes, and at most {BLOCK_BYTES} are allowed")
    tree_ipa, tree_bytes = (tree_ipa, BLOCK_BYTES) if tree_at is None else (tree_at, len(tree))
    if tree_ipa % 8:
        raise PackageError(f"the device tree at {tree_ipa:#x} is not at a multiple of 8")
    pieces = [
        LoadPiece("kernel", kernel_ipa, kernel.data, kernel.image_bytes),
        LoadPiece("device tree", tree_ipa, tree, tree_bytes),
    ]
    if initrd:
        pieces.append(LoadPiece("RAM disk", initrd_ipa, initrd, len(initrd)))
    check_pieces(pieces, memory)
    return LoadedMemory(tuple(pieces), kernel_ipa, tree_ipa, tree)
