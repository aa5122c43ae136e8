# SPDX-License-Identifier: Apache-2.0
"""The initial RAM disk of the Linux guest: a gzip-compressed cpio archive, the same bytes for the same input.

Called by the image builder and by tests. Needs no root (device nodes are entries of the archive) and never
reads the file system.
"""

import gzip
import posixpath
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_DIRECTORY = stat.S_IFDIR | 0o755
_EXECUTABLE = stat.S_IFREG | 0o755
_PLAIN = stat.S_IFREG | 0o644
_CHARACTER_DEVICE = stat.S_IFCHR

# Mount points and directories that the init script needs.
_DIRECTORIES = ("bin", "dev", "etc", "proc", "sys", "tmp")
# The shell's user: it writes this home as `~` in its prompt.
_PASSWD = b"root:x:0:0:root:/:/bin/sh\n"
_MAGIC = b"070701"
_TRAILER = "TRAILER!!!"
_BLOCK_BYTES = 512


@dataclass(frozen=True)
class _Entry:
    """One file of the archive; `device` is (major, minor) of a device node."""

    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def make_initrd(busybox: bytes, init: str, extra: Mapping[str, bytes] | None = None) -> bytes:
    """Make an initrd of a static busybox as /bin/busybox, the script `init` as /init and `extra` files.

    `extra` maps absolute paths to contents; directories on the way are made, and contents that start like a
    script or an ELF program are executable. Raises ValueError for a path that is not plain and absolute, or
    that is already used.
    """
    entries = {path: _Entry(_DIRECTORY) for path in _DIRECTORIES}
    entries["dev/console"] = _Entry(_CHARACTER_DEVICE | 0o600, device=(5, 1))
    entries["dev/null"] = _Entry(_CHARACTER_DEVICE | 0o666, device=(1, 3))
    entries["bin/busybox"] = _Entry(_EXECUTABLE, busybox)
    entries["etc/passwd"] = _Entry(_PLAIN, _PASSWD)
    entries["init"] = _Entry(_EXECUTABLE, init.encode())
    for path, data in (extra or {}).items():
        _add_file(entries, path, data)
    return _compressed(_archive(entries))


# Domains have a few RAM disks, with and without the modules of each kind of device. Compressing one takes
# most of a tenth of a second. The best level takes twice the time of this one, for 0.2 % less.
@lru_cache(maxsize=8)
def _compressed(archive: bytes) -> bytes:
    return gzip.compress(archive, compresslevel=6, mtime=0)


def _add_file(entries: dict[str, _Entry], path: str, data: bytes) -> None:
    name = path.removeprefix("/")
    plain = path.startswith("/") and name == posixpath.normpath(name) and name != "." and "\0" not in name
    if not plain or name.startswith(("/", "..")):
        raise ValueError(f"{path!r} is not a normalized absolute path")
    if name in entries:
        raise ValueError(f"{path!r} is already in the initrd")
    parts = name.split("/")
    for depth in range(1, len(parts)):
        parent = "/".join(parts[:depth])
        if entries.setdefault(parent, _Entry(_DIRECTORY)).mode != _DIRECTORY:
            raise ValueError(f"{path!r}: {parent!r} is not a directory")
    executable = data.startswith((b"#!", b"\x7fELF"))
    entries[name] = _Entry(_EXECUTABLE if executable else _PLAIN, data)


def _archive(entries: Mapping[str, _Entry]) -> bytes:
    """The entries as a cpio archive of format newc; sorting puts directories before their contents."""
    records = [_record(number, name, entries[name]) for number, name in enumerate(sorted(entries), start=1)]
    records.append(_record(0, _TRAILER, _Entry(0)))
    return _padded(b"".join(records), _BLOCK_BYTES)


def _record(number: int, name: str, entry: _Entry) -> bytes:
    encoded = name.encode() + b"\0"
    fields = (
        number,
        entry.mode,
        0,  # uid
        0,  # gid
        2 if stat.S_ISDIR(entry.mode) else 1,  # links
        0,  # modification time
        len(entry.data),
        0,  # device that the file was on: major, minor
        0,
        *entry.device,
        len(encoded),
        0,  # checksum, unused in this format
    )
    header = _MAGIC + b"".join(b"%08X" % field for field in fields)
    return _padded(header + encoded, 4) + _padded(entry.data, 4)


def _padded(data: bytes, to: int) -> bytes:
    return data + bytes(-len(data) % to)
