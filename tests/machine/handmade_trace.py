# SPDX-License-Identifier: Apache-2.0
"""Traces written according to docs/guide/traces.md, valid ones and crafted ones: the tests' own writer.

It shares no code with the recorder's, and can write traces that the recorder never would.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

READ, WRITE = 0, 1
INLINE_GAPS = 15
WRAP = 1 << 64


class Record(NamedTuple):
    kind: int
    size_log2: int
    instructions: int  # from the record before
    address: int


class Block(NamedTuple):
    """Encoded records; the given sizes may be false."""

    raw: bytes
    records: int
    raw_size: int | None = None


def varint(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])


def encoded(records: Sequence[Record]) -> bytes:
    last = [0, 0]
    made = bytearray()
    for one in records:
        gap = min(one.instructions, INLINE_GAPS)
        made.append(one.kind | one.size_log2 << 1 | gap << 4)
        if gap == INLINE_GAPS:
            made += varint(one.instructions - INLINE_GAPS)
        distance = (one.address - last[one.kind]) % WRAP
        made += varint((distance << 1 ^ (WRAP - 1 if distance >> 63 else 0)) % WRAP)
        last[one.kind] = one.address
    return bytes(made)


def compressed(data: bytes) -> bytes:
    name = ctypes.util.find_library("zstd")
    assert name is not None
    library = ctypes.CDLL(name)
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    room = library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(room)
    size = library.ZSTD_compress(out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), 3)
    return out.raw[:size]


def with_crc(data: bytes) -> bytes:
    return data + struct.pack("<I", zlib.crc32(data))


def header(about: bytes) -> bytes:
    return with_crc(b"BHTRACE\n" + struct.pack("<II", 1, len(about)) + about)


def block(one: Block) -> bytes:
    packed = compressed(one.raw)
    size = len(one.raw) if one.raw_size is None else one.raw_size
    head = b"BLK1" + struct.pack("<III", len(packed), size, one.records)
    return head + struct.pack("<I", zlib.crc32(head + packed)) + packed


def end(blocks: int, records: int, instructions: int, reads: int, writes: int) -> bytes:
    return with_crc(b"END1" + struct.pack("<IQQQQ", blocks, records, instructions, reads, writes))


def write_trace(path: Path, records: Sequence[Record], *, more: int = 0, about: Any = None) -> Path:
    """A complete trace of one block, or of none."""
    reads = sum(one.kind == READ for one in records)
    total = sum(one.instructions for one in records) + more
    blocks = [block(Block(encoded(records), len(records)))] if records else []
    parts = [
        header(json.dumps(about or {"program": "made"}).encode()),
        *blocks,
        end(len(blocks), len(records), total % WRAP, reads, len(records) - reads),
    ]
    path.write_bytes(b"".join(parts))
    return path
