#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seal_system.py SYSTEM.elf`: enters the CRC of a system's description that C has (microkernel/systems).

Run by CMake after each link. The description is section `.system`, laid out by microkernel/kernel/boot.h: its
CRC is the fourth word and is over all that follows it.
"""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

SECTION = b".system"
CRC_AT, CHECKED_FROM = 12, 16
_SECTION = struct.Struct("<10I")


def section(content: bytes | bytearray, wanted: bytes) -> tuple[int, int]:
    """Offset and size of a section of a 32-bit little-endian ELF file."""
    (table,) = struct.unpack_from("<I", content, 32)
    entry, count, names_index = struct.unpack_from("<3H", content, 46)
    names = _SECTION.unpack_from(content, table + names_index * entry)[4]
    for index in range(count):
        fields = _SECTION.unpack_from(content, table + index * entry)
        start = names + fields[0]
        if content[start : content.index(b"\0", start)] == wanted:
            return fields[4], fields[5]
    raise SystemExit(f"no section {wanted.decode()}")


def main() -> None:
    path = Path(sys.argv[1])
    content = bytearray(path.read_bytes())
    offset, size = section(content, SECTION)
    crc = zlib.crc32(content[offset + CHECKED_FROM : offset + size])
    struct.pack_into("<I", content, offset + CRC_AT, crc)
    path.write_bytes(content)


if __name__ == "__main__":
    main()
