# SPDX-License-Identifier: Apache-2.0
"""The tool's own RAM disk: the socket's modules are in those of domains with a socket, and in no other."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bulkhead.config.platform import Platform
from bulkhead.config.system import Domain
from bulkhead.env import linux
from bulkhead.env.paths import repository
from bulkhead.images import modules
from bulkhead.images.initrd import make_initrd
from bulkhead.package.images import SOCKET_PROGRAM, Surroundings, load_domain
from bulkhead.package.memory import Region

RAM, BYTES = 0x4000_0000, 16 << 20
BUSYBOX, MODULE = b"\x7fELF busybox", b"\x7fELF module"

InitrdOf = Callable[[str, Mapping[str, int]], bytes]


@pytest.fixture
def initrd_of(
    tmp_path: Path,
    make_kernel: Callable[..., bytes],
    platform: Platform,
    monkeypatch: pytest.MonkeyPatch,
) -> InitrdOf:
    """Of a domain by its name, in a system in which these domains have sockets."""
    contents = {
        "Image": make_kernel(b"k" * 100),
        "busybox": BUSYBOX,
        "vsock.ko": MODULE,
        f"guests/{SOCKET_PROGRAM}": b"\x7fELF program",
    }
    (tmp_path / "guests").mkdir()
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(linux, "busybox", lambda: tmp_path / "busybox")
    monkeypatch.setattr(linux, "linux_modules", lambda: tmp_path)
    monkeypatch.setattr(modules, "load_order", lambda _directory, _names: [tmp_path / "vsock.ko"])

    def made(name: str, cids: Mapping[str, int]) -> bytes:
        image = {"kernel": "Image", "initrd": "busybox", "cmdline": "quiet"}
        domain = Domain.model_validate(
            {"name": name, "cpus": (1,), "image": image, "memory": ({"at": RAM, "size": BYTES},)}
        )
        around = Surroundings(platform, tmp_path, tmp_path, 0, "system", cids=cids)
        return load_domain(domain, (Region(RAM, BYTES),), around).pieces[-1].data

    return made


def test_without_a_socket_it_is_the_same_to_the_byte_as_without_flows(initrd_of: InitrdOf) -> None:
    plain = make_initrd(BUSYBOX, (repository() / "guests" / "linux" / "init").read_text())
    assert initrd_of("alone", {}) == plain
    assert initrd_of("alone", {"sender": 3, "receiver": 4}) == plain
    assert MODULE not in gzip.decompress(plain)


def test_with_a_socket_it_has_the_driver_and_says_what_to_load(initrd_of: InitrdOf) -> None:
    archive = gzip.decompress(initrd_of("sender", {"sender": 3, "receiver": 4}))
    assert MODULE in archive
    assert b"/lib/modules/vsock.ko\n" in archive
