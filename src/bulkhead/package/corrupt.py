# SPDX-License-Identifier: Apache-2.0
"""Damages a manifest deliberately, so that tests can show how the hypervisor refuses it.

Only tests use it. With `seal`, the checksum is corrected, so that a later check has to find the damage.
"""

from __future__ import annotations

import struct
from pathlib import Path

from bulkhead.package.manifest import manifest_crc
from bulkhead.schema import Layout


def patched_field(manifest: bytes, layout: Layout, path: str, value: int, *, seal: bool = True) -> bytes:
    """`manifest` with one integer field changed, e.g. `hypervisor.pool_pa` or `domains/1.entry_ipa`.

    A path starts at the header; `table/row.field` goes through a table.
    """
    offset, size = field_place(manifest, layout, path)
    damaged = manifest[:offset] + value.to_bytes(size, "little") + manifest[offset + size :]
    return sealed(damaged, layout) if seal else damaged


def flipped_bit(manifest: bytes, layout: Layout, offset: int, bit: int, *, seal: bool = False) -> bytes:
    """`manifest` with one bit of the byte at `offset` inverted."""
    damaged = bytearray(manifest)
    damaged[offset] ^= 1 << bit
    return sealed(bytes(damaged), layout) if seal else bytes(damaged)


def sealed(manifest: bytes, layout: Layout) -> bytes:
    """`manifest` with a correct checksum."""
    place = layout.offset("manifest_header", "crc32")
    return manifest[:place] + struct.pack("<I", manifest_crc(manifest, layout)) + manifest[place + 4 :]


def field_place(manifest: bytes, layout: Layout, path: str) -> tuple[int, int]:
    """(offset, bytes) of a field in this manifest; `path` as in patched_field()."""
    table, slash, rest = path.partition("/")
    if not slash:
        offset, field = layout.locate("manifest_header", path)
        return offset, field.element_bytes
    row, _, name = rest.partition(".")
    reference = layout.offset("manifest_header", f"{table}.offset")
    start = int.from_bytes(manifest[reference : reference + 4], "little")
    record = "color_set_record" if table == "color_sets" else f"manifest_{table.removesuffix('s')}"
    record = "manifest_ram" if table == "ram" else record
    offset, field = layout.locate(record, name)
    return start + int(row) * layout.size(record) + offset, field.element_bytes


def with_manifest(package_elf: bytes, original: bytes, replacement: bytes) -> bytes:
    """A bootable package in which the manifest `original` is replaced by one of the same length. Raises
    ValueError."""
    if len(original) != len(replacement) or package_elf.count(original) != 1:
        raise ValueError("the package does not contain this manifest exactly once, or the lengths differ")
    return package_elf.replace(original, replacement)


def write_with_manifest(package: Path, out: Path, original: bytes, replacement: bytes) -> None:
    """`with_manifest` for files."""
    out.write_bytes(with_manifest(package.read_bytes(), original, replacement))
