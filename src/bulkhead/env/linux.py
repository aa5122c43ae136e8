# SPDX-License-Identifier: Apache-2.0
"""The unmodified Linux that guests run: Debian's arm64 kernel with its modules, and a static busybox.

Called by the builder of images. Both are packages of a foreign architecture; a private apt fetches them, and
they are only unpacked and not changed.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bulkhead.env import aptroot, store
from bulkhead.env.lock import LockedPackage
from bulkhead.env.progress import Update

# The release of the guests' kernel, independent of the machine's, so that measurements stay comparable.
SUITE = "bookworm"
KERNEL_METAPACKAGE = "linux-image-arm64"
BUSYBOX_PACKAGE = "busybox-static"


def _foreign_root(request: store.FetchRequest, what: str, update: Update) -> aptroot.AptRoot:
    root = aptroot.create(request.apt, [SUITE], "arm64", like_machine=False, what=what, pins=request.pins)
    root.update_lists(update)
    return root


def _image_package(root: aptroot.AptRoot, pins: Sequence[LockedPackage]) -> str:
    """The pinned kernel package (its name contains the version) if the mirror still has it; else the
    newest."""
    for pin in pins:
        if pin.name.startswith("linux-image-") and root.offers(pin):
            return pin.name
    images = [name for name in root.dependencies(KERNEL_METAPACKAGE) if name.startswith("linux-image-")]
    if not images:
        raise aptroot.AptFailed(f"{KERNEL_METAPACKAGE} names no kernel")
    return images[0]


def _fill_kernel(request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
    root = _foreign_root(request, KERNEL_METAPACKAGE, update)
    return store.unpack(root.download(_image_package(root, request.pins), update), content, update)


def _fill_busybox(request: store.FetchRequest, content: Path, update: Update) -> list[LockedPackage]:
    root = _foreign_root(request, BUSYBOX_PACKAGE, update)
    return store.unpack(root.download(BUSYBOX_PACKAGE, update), content, update)


def _kernel_files(directory: Path) -> list[Path]:
    return sorted(directory.glob("boot/vmlinuz-*"))[:1]


def _busybox_files(directory: Path) -> list[Path]:
    return sorted(directory.glob("**/bin/busybox"))[:1]


@cache
def _kernel_directory() -> Path:
    return store.obtain(store.Fetch("linux", KERNEL_METAPACKAGE, _kernel_files, _fill_kernel))


@cache
def _busybox_directory() -> Path:
    return store.obtain(store.Fetch("busybox", BUSYBOX_PACKAGE, _busybox_files, _fill_busybox))


def kernel_is_here() -> bool:
    """Whether the kernel and its modules are in the cache; they may still be damaged."""
    return store.find("linux") is not None


def busybox_is_here() -> bool:
    return store.find("busybox") is not None


def linux_kernel() -> Path:
    """The kernel (a raw arm64 Image); fetched on first use. Raises MissingTool."""
    return _kernel_files(_kernel_directory())[0]


def linux_modules() -> Path:
    """The directory `lib/modules/VERSION` of the same kernel. Raises MissingTool."""
    directory = _kernel_directory()
    return next(
        path for pattern in ("lib/modules/*", "usr/lib/modules/*") for path in directory.glob(pattern)
    )


def linux_board_trees() -> Path:
    """The directory of the same kernel's device trees, one directory for each vendor. Raises MissingTool."""
    return next(_kernel_directory().glob("usr/lib/linux-image-*"))


def busybox() -> Path:
    """The static arm64 busybox; fetched on first use. Raises MissingTool."""
    return _busybox_files(_busybox_directory())[0]
