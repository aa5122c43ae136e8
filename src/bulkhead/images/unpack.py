# SPDX-License-Identifier: Apache-2.0
"""Decompresses files of distributions: gzip, xz or zstd, recognized by the first bytes.

Called for kernels and their modules. An output beyond the limit is an error and does not use memory."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import zlib
from collections.abc import Callable

import zstandard

from bulkhead.errors import BulkheadError


def _gunzip(content: bytes, most_bytes: int) -> bytes:
    with gzip.open(io.BytesIO(content)) as stream:
        return stream.read(most_bytes + 1)


def _unxz(content: bytes, most_bytes: int) -> bytes:
    with lzma.open(io.BytesIO(content)) as stream:
        return stream.read(most_bytes + 1)


def _unzstd(content: bytes, most_bytes: int) -> bytes:
    """In short pieces, because each is decompressed as a whole. The library's stream does not detect a
    missing end."""
    stream = zstandard.ZstdDecompressor().decompressobj()
    plain = bytearray()
    for at in range(0, len(content), _PIECE_BYTES):
        plain += stream.decompress(content[at : at + _PIECE_BYTES])
        if stream.eof or len(plain) > most_bytes:
            return bytes(plain[: most_bytes + 1])
    raise EOFError("the file is truncated")


_PIECE_BYTES = 1024  # become 32 MiB at most
_FORMATS: dict[bytes, tuple[str, Callable[[bytes, int], bytes]]] = {
    b"\x1f\x8b": ("gzip", _gunzip),
    b"\xfd7zXZ\0": ("xz", _unxz),
    b"\x28\xb5\x2f\xfd": ("zstd", _unzstd),
}
FORMATS = tuple(name for name, _ in _FORMATS.values())
_BROKEN = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


class UnpackError(BulkheadError):
    """The content cannot be decompressed."""


def is_packed(content: bytes) -> bool:
    """Whether it begins like a format that `unpacked` supports."""
    return any(content.startswith(magic) for magic in _FORMATS)


def unpacked(content: bytes, most_bytes: int) -> bytes:
    """The decompressed content; `content` itself if it is not compressed. Raises UnpackError, also for more
    than `most_bytes`."""
    for magic, (name, unpack) in _FORMATS.items():
        if content.startswith(magic):
            try:
                plain = unpack(content, most_bytes)
            except _BROKEN as error:
                raise UnpackError(f"is packed with {name} and cannot be unpacked: {error}") from error
            if len(plain) > most_bytes:
                raise UnpackError(f"is packed with {name} and has more than {most_bytes} bytes when unpacked")
            return plain
    return content


_ZBOOT = struct.Struct("<2s2x4sII8x32s")  # drivers/firmware/efi/libstub/zboot-header.S of Linux


def zboot_payload(content: bytes) -> bytes | None:
    """The compressed kernel in an EFI image that decompresses itself (`CONFIG_EFI_ZBOOT`); None if it is not
    such an image."""
    if len(content) < _ZBOOT.size:
        return None
    dos_magic, magic, offset, size, kind = _ZBOOT.unpack_from(content)
    if (dos_magic, magic) != (b"MZ", b"zimg"):
        return None
    payload = content[offset : offset + size]
    if len(payload) != size or not is_packed(payload):
        method = kind.partition(b"\0")[0].decode("ascii", "replace")
        raise UnpackError(
            f"is an EFI image whose kernel is packed with '{method}' (allowed: {', '.join(FORMATS)})"
        )
    return payload
