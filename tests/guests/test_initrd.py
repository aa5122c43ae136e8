# SPDX-License-Identifier: Apache-2.0
"""The Linux guest's initrd: reproducible, complete, and strict about its contents. No emulator is used
here."""

import gzip
import stat
from dataclasses import dataclass

import pytest

from bulkhead.images.initrd import make_initrd

BUSYBOX = b"\x7fELF busybox"
INIT = "#!/bin/busybox sh\n"


@dataclass(frozen=True)
class Member:
    mode: int
    data: bytes
    device: tuple[int, int]


def unpack(initrd: bytes) -> dict[str, Member]:
    """A reader of the format's description (newc), independent of the writer."""
    archive = gzip.decompress(initrd)
    members: dict[str, Member] = {}
    at = 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        name_at = at + 110
        name = archive[name_at : name_at + fields[11] - 1].decode()
        data_at = (name_at + fields[11] + 3) // 4 * 4
        if name == "TRAILER!!!":
            return members
        assert name not in members
        data = archive[data_at : data_at + fields[6]]
        members[name] = Member(fields[1], data, (fields[9], fields[10]))
        at = (data_at + fields[6] + 3) // 4 * 4


def test_same_input_gives_the_same_bytes() -> None:
    first = make_initrd(BUSYBOX, INIT, {"/a": b"1", "/b": b"2"})
    assert make_initrd(BUSYBOX, INIT, {"/b": b"2", "/a": b"1"}) == first
    assert make_initrd(BUSYBOX, INIT, {"/b": b"2", "/a": b"2"}) != first


def test_holds_programs_and_device_nodes() -> None:
    members = unpack(make_initrd(BUSYBOX, INIT))
    assert members["init"] == Member(stat.S_IFREG | 0o755, INIT.encode(), (0, 0))
    assert members["bin/busybox"] == Member(stat.S_IFREG | 0o755, BUSYBOX, (0, 0))
    assert members["dev/console"] == Member(stat.S_IFCHR | 0o600, b"", (5, 1))
    assert members["dev/null"] == Member(stat.S_IFCHR | 0o666, b"", (1, 3))
    for directory in ("dev", "proc", "sys"):
        assert stat.S_ISDIR(members[directory].mode)


def test_extra_files_come_with_their_directories_first() -> None:
    members = unpack(
        make_initrd(BUSYBOX, INIT, {"/lib/modules/x/vsock.ko": b"\x7fELF..", "/etc/motd": b"hi"})
    )
    names = list(members)
    for directory in ("lib", "lib/modules", "lib/modules/x"):
        assert stat.S_ISDIR(members[directory].mode)
        assert names.index(directory) < names.index("lib/modules/x/vsock.ko")
    assert members["etc/motd"] == Member(stat.S_IFREG | 0o644, b"hi", (0, 0))


@pytest.mark.parametrize(
    "path", ["", "/", "relative", "/a/../b", "/..", "/a//b", "/a/", "//a", "/./a", "/a\0b"]
)
def test_refuses_paths_that_are_not_plain(path: str) -> None:
    with pytest.raises(ValueError, match="normalized absolute path"):
        make_initrd(BUSYBOX, INIT, {path: b""})


def test_refuses_to_replace_its_own_files() -> None:
    for path in ("/init", "/bin/busybox", "/dev", "/dev/null"):
        with pytest.raises(ValueError, match="already"):
            make_initrd(BUSYBOX, INIT, {path: b""})
    with pytest.raises(ValueError, match="not a directory"):
        make_initrd(BUSYBOX, INIT, {"/init/below": b""})
