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
from bulkhead.images.initrd import make_initrd
from bulkhead.package.errors import PackageError
from bulkhead.package.images import SOCKET_PROGRAM, Surroundings, load_domain
from bulkhead.package.memory import LoadRegion
from bulkhead.package.socket_driver import MODULES, _without_built_in

RAM, BYTES = 0x4000_0000, 16 << 20
BUSYBOX = b"\x7fELF busybox"
OWN, OTHER = "6.1.0-own", "6.1.0-13-arm64"
BANNER = f"Linux version {OWN} (somebody@somewhere) #1 SMP".encode()

InitrdOf = Callable[..., bytes]


def add_modules(directory: Path, release: str, *, built_for: str | None = None) -> Path:
    """A directory lib/modules/RELEASE with the driver; its modules name the kernel that they are for."""
    place = directory / "lib" / "modules" / release
    (place / "kernel").mkdir(parents=True)
    for name in ("virtio_mmio", "virtio_pci", "vmw_vsock_virtio_transport"):
        text = f"\x7fELF {name} of {release}\0depends=\0vermagic={built_for or release} SMP aarch64\0"
        (place / "kernel" / f"{name}.ko").write_bytes(text.encode())
    return place


@pytest.fixture
def initrd_of(
    tmp_path: Path,
    make_kernel: Callable[..., bytes],
    platform: Platform,
    monkeypatch: pytest.MonkeyPatch,
) -> InitrdOf:
    """The RAM disk of a domain by its name, in a system in which these domains have sockets; `kernel`: text
    in its own."""
    (tmp_path / "system" / "guests").mkdir(parents=True)
    (tmp_path / "busybox").write_bytes(BUSYBOX)
    (tmp_path / "system" / "guests" / SOCKET_PROGRAM).write_bytes(b"\x7fELF program")
    (tmp_path / "debian").write_bytes(make_kernel(b"k" * 100))
    debian = add_modules(tmp_path / "debian-package", OTHER)
    monkeypatch.setattr(linux, "busybox", lambda: tmp_path / "busybox")
    monkeypatch.setattr(linux, "linux_kernel", lambda: tmp_path / "debian")
    monkeypatch.setattr(linux, "linux_modules", lambda: debian)
    monkeypatch.setattr(linux, "kernel_is_here", lambda: True)

    def made(
        name: str, cids: Mapping[str, int], kernel: bytes | None = BANNER, transport: str = "mmio"
    ) -> bytes:
        (tmp_path / "system" / "Image").write_bytes(make_kernel(b"k" * 100 + (kernel or b"") + b" k"))
        image = {
            "kernel": "linux:debian" if kernel is None else "Image",
            "initrd": "busybox",
            "cmdline": "quiet",
        }
        domain = Domain.model_validate(
            {
                "name": name,
                "cpus": (1,),
                "image": image,
                "memory": ({"at": RAM, "size": BYTES},),
                "socket_transport": transport,
            }
        )
        around = Surroundings(platform, tmp_path / "system", tmp_path, 0, "system", cids=cids)
        return load_domain(domain, (LoadRegion(RAM, BYTES),), around).pieces[-1].data

    return made


CIDS = {"sender": 3, "receiver": 4}


def test_without_a_socket_it_is_the_same_to_the_byte_as_without_flows(initrd_of: InitrdOf) -> None:
    plain = make_initrd(BUSYBOX, (repository() / "guests" / "linux" / "init").read_text())
    assert initrd_of("alone", {}) == plain
    assert initrd_of("alone", CIDS) == plain
    assert b"virtio_mmio" not in gzip.decompress(plain)


def test_with_a_socket_it_has_the_driver_and_says_what_to_load(initrd_of: InitrdOf) -> None:
    archive = gzip.decompress(initrd_of("sender", CIDS, kernel=None))
    assert f"virtio_mmio of {OTHER}".encode() in archive
    assert b"/lib/modules/virtio_mmio.ko\n/lib/modules/vmw_vsock_virtio_transport.ko\n" in archive


def test_d3_with_a_socket_on_pci_it_has_the_driver_of_that_transport(initrd_of: InitrdOf) -> None:
    archive = gzip.decompress(initrd_of("sender", CIDS, kernel=None, transport="pci"))
    assert b"/lib/modules/virtio_pci.ko\n/lib/modules/vmw_vsock_virtio_transport.ko\n" in archive
    assert b"virtio_mmio" not in archive


@pytest.mark.parametrize("place", ["system", "."])
def test_a_kernel_of_ones_own_gets_the_modules_beside_it(
    initrd_of: InitrdOf, tmp_path: Path, place: str
) -> None:
    add_modules(tmp_path / place, OWN)
    archive = gzip.decompress(initrd_of("sender", CIDS))
    assert f"virtio_mmio of {OWN}".encode() in archive
    assert OTHER.encode() not in archive


def test_a_copy_of_the_tools_kernel_gets_the_tools_modules(initrd_of: InitrdOf) -> None:
    archive = gzip.decompress(initrd_of("sender", CIDS, BANNER.replace(OWN.encode(), OTHER.encode())))
    assert f"virtio_mmio of {OTHER}".encode() in archive


def test_modules_of_another_kernel_are_refused_with_what_to_do(initrd_of: InitrdOf, tmp_path: Path) -> None:
    with pytest.raises(PackageError) as missing:
        initrd_of("sender", CIDS)
    (text,) = missing.value.reasons
    assert f"Image: is Linux {OWN}" in text and f"{tmp_path}/system/lib/modules/{OWN}" in text
    assert "put the kernel's modules there, or use the kernel linux:debian" in text
    add_modules(tmp_path, OWN, built_for=OTHER)
    with pytest.raises(PackageError, match=f"is a module of Linux {OTHER}"):
        initrd_of("sender", CIDS)


def test_a_kernel_that_does_not_say_its_release_is_refused(initrd_of: InitrdOf) -> None:
    with pytest.raises(PackageError, match="does not state its release"):
        initrd_of("sender", CIDS, b"no banner")


def test_a_kernel_with_the_driver_inside_needs_no_modules(initrd_of: InitrdOf) -> None:
    options = b"CONFIG_VIRTIO_MMIO=y\nCONFIG_VIRTIO_VSOCKETS=y\n"
    archive = gzip.decompress(initrd_of("sender", CIDS, b"IKCFG_ST" + gzip.compress(options) + b"IKCFG_ED"))
    assert b"virtio_mmio" not in archive
    as_module = gzip.compress(options.replace(b"VSOCKETS=y", b"VSOCKETS=m"))
    with pytest.raises(PackageError, match="does not state its release"):
        initrd_of("sender", CIDS, b"IKCFG_ST" + as_module + b"IKCFG_ED")


def test_a_built_in_driver_of_the_socket_leaves_the_modules_of_other_devices() -> None:
    """A PCI function's driver may be that of the socket's other transport."""
    options = b"CONFIG_VIRTIO_MMIO=y\nCONFIG_VIRTIO_VSOCKETS=y\n"
    kernel = b"IKCFG_ST" + gzip.compress(options) + b"IKCFG_ED"
    names = (*MODULES["mmio"], "virtio_pci", "virtio_net")
    assert _without_built_in(names, kernel) == ("virtio_pci", "virtio_net")
    assert _without_built_in((*MODULES["pci"], "nvme"), kernel) == (*MODULES["pci"], "nvme")
