# SPDX-License-Identifier: Apache-2.0
"""The kernel modules with which a Linux guest drives its socket device and its PCI functions, always for the
guest's own kernel.

Called by `images` for the RAM disk `busybox` of domains with such devices. A guest refuses a module of
another kernel ("invalid module format"), so that the device would do nothing.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from bulkhead.images import modules
from bulkhead.package.errors import PackageError, prefixed
from bulkhead.package.files import read_image
from bulkhead.package.linux import parse_kernel

# By transport. The module of the transport is first: it finds the device.
MODULES = {
    "mmio": ("virtio_mmio", "vmw_vsock_virtio_transport"),
    "pci": ("virtio_pci", "vmw_vsock_virtio_transport"),
}
_OPTIONS = {  # of kernels that have the module built in
    "virtio_mmio": "CONFIG_VIRTIO_MMIO=y",
    "virtio_pci": "CONFIG_VIRTIO_PCI=y",
    "vmw_vsock_virtio_transport": "CONFIG_VIRTIO_VSOCKETS=y",
}
_POOL_OPTION = "CONFIG_DMA_RESTRICTED_POOL=y"
_BANNER = re.compile(rb"Linux version (\d[!-~]*) ")
_CONFIGURATION = b"IKCFG_ST"  # CONFIG_IKCONFIG: the kernel's configuration follows, compressed by gzip


def modules_of_debian(names: tuple[str, ...] = MODULES["mmio"]) -> list[modules.Module]:
    """The modules `names` of the kernel that the tool fetches, in load order. Raises MissingTool."""
    from bulkhead.env.linux import linux_modules

    return _ordered(linux_modules(), names)


def modules_of(kernel: Path, names: tuple[str, ...] = MODULES["mmio"]) -> list[modules.Module]:
    """The modules `names` of a user's own kernel, in load order: from `lib/modules/RELEASE` in the kernel's
    directory or its parent, or the tool's own if the release is the same. Without those of the socket device
    if they are built in. Raises PackageError."""
    with prefixed(str(kernel)):
        data = parse_kernel(read_image(kernel)).data
        instead = _instead(names)
        names = _without_built_in(names, data)
        if not names:
            return []
        banner = _BANNER.search(data)
        if banner is None:
            raise PackageError(
                "does not state its release, so the modules that its devices need (initrd busybox) cannot be "
                "found: use an initrd of your own that loads the drivers"
            )
        release = banner[1].decode()
        places = [base / "lib" / "modules" / release for base in (kernel.parent, kernel.parent.parent)]
        found = next((place for place in places if place.is_dir()), None) or _debian(release)
        if found is None:
            raise PackageError(
                f"is Linux {release}, and its modules, which its devices need (initrd busybox), are not in "
                f"{' or '.join(map(str, places))}: {instead}"
            )
        order = _ordered(found, names)
        for module in order:
            built_for = modules.release_of(module.content)
            if built_for != release:
                raise PackageError(
                    f"is Linux {release}, but {module.path} is a module of Linux {built_for or 'unknown'}: "
                    + instead
                )
        return order


def _ordered(directory: Path, names: tuple[str, ...]) -> list[modules.Module]:
    try:
        return modules.load_order(directory, names)
    except OSError as error:
        raise PackageError(f"the kernel lacks a driver of a device: {error}") from error


def _debian(release: str) -> Path | None:
    """Module directory of the kernel that the tool fetches, if it is on this machine and of this release;
    else None."""
    from bulkhead.env.linux import kernel_is_here, linux_modules

    if not kernel_is_here():
        return None
    directory = linux_modules()
    return directory if directory.name == release else None


def _instead(names: tuple[str, ...]) -> str:
    options = " and ".join(_OPTIONS[name] for name in names if name in _OPTIONS)
    inside = f"a kernel with {options} and its configuration inside (CONFIG_IKCONFIG=y), " if options else ""
    return (
        f"put the kernel's modules there, or use the kernel linux:debian, {inside}"
        "or an initrd of your own that loads the driver"
    )


def _without_built_in(names: tuple[str, ...], kernel: bytes) -> tuple[str, ...]:
    """The modules `names` without those of the socket device, if all of these are built into the kernel."""
    of_socket = next((set(pair) for pair in MODULES.values() if set(pair) <= set(names)), set())
    if {_OPTIONS[name] for name in of_socket} <= _configuration(kernel):
        return tuple(name for name in names if name not in of_socket)
    return names


def check_pool(kernel: Path) -> None:
    """Refuses a kernel that says that it does not know `restricted-dma-pool`: it would keep its buffers
    outside of its socket device's pool. Raises PackageError."""
    with prefixed(str(kernel)):
        configuration = _configuration(parse_kernel(read_image(kernel)).data)
        if configuration and _POOL_OPTION not in configuration:
            raise PackageError(
                f"is built without {_POOL_OPTION}, so its driver would not keep its buffers in the domain's "
                "`socket_pool`"
            )


def _configuration(kernel: bytes) -> set[str]:
    """Lines of the kernel's configuration; empty: the kernel does not contain it."""
    _, found, rest = kernel.partition(_CONFIGURATION)
    if not found:
        return set()
    try:
        return set(zlib.decompressobj(wbits=31).decompress(rest).decode(errors="replace").splitlines())
    except zlib.error:
        return set()
